"""The site: `make docs` builds it into build/site. What it is made of and why: decisions/0059-the-site.md."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

project = "trencadis"
release = version = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]["version"]
copyright = "the authors of trencadis, Apache-2.0"  # noqa: A001 the name that Sphinx reads
exclude_patterns = ["_site"]

extensions = ["myst_parser", "reference"]
myst_heading_anchors = 4
default_role = "code"
primary_domain = None
highlight_language = "none"
smartquotes_action = "D"  # dashes alone: quotes are often text that a program takes
cpp_index_common_prefix = ["trencadis::", "glt::"]
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "trencadis"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style, pygments_dark_style = "friendly", "github-dark"
