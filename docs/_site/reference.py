"""Directives that put a header's declarations, the package's functions and the list of decisions into a page.

.. header:: src/session/session.hpp
   :without: names that are not shown
.. package:: names of trencadis.__all__; of another module with the option :module:, and by its name with :qualified:
.. other-names:: Title of a section with those that the page does not name
.. lapack-functions::
.. decisions::
"""

from __future__ import annotations

import re
from pathlib import Path

import docstring_reader
from comment_markup import docstring_markup, inline, markup
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from header_reader import Entry, read_header
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "trencadis"


class _Generated(SphinxDirective):
    def parsed(self, lines: list[str], source: Path) -> list[nodes.Node]:
        self.env.note_dependency(str(source))
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, StringList(lines, source=str(source.relative_to(ROOT))), node)
        return node.children


class HeaderDirective(_Generated):
    required_arguments = 1
    option_spec = {"without": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        path = ROOT / self.arguments[0]
        left_out = self.options.get("without", "").split()
        domain = "c" if path.suffix == ".h" else "cpp"
        entries = [entry for entry in read_header(path.read_text()) if entry.name not in left_out]
        return self.parsed([line for entry in entries for line in entry_lines(entry, domain)], path)


def entry_lines(entry: Entry, domain: str, inside: str = "") -> list[str]:
    if entry.kind == "section":
        title, rest = (*re.split(r"[:;]\s*", entry.name, maxsplit=1), "")[:2]
        return ["", title, "-" * len(title), "", *markup(rest[:1].upper() + rest[1:])]
    if entry.kind == "text":
        return ["", *markup(_without_title(entry.comment))]
    if entry.kind == "enum" and not entry.name:
        return ["", *markup(entry.comment), *(line for member in entry.members for line in entry_lines(member, domain))]
    word, signatures = _directive(entry, domain, inside)
    first, *others = signatures
    body = markup(entry.comment)
    for member in entry.members:
        body += entry_lines(member, domain, inside=entry.name)
    head = f".. {domain}:{word}:: "
    return ["", head + first, *(" " * len(head) + other for other in others), "", *("   " + line for line in body), ""]


def _directive(entry: Entry, domain: str, inside: str) -> tuple[str, list[str]]:
    """Its word, and the declarations as Sphinx reads them."""
    declarations = [_bare(text) for text in entry.declarations]
    first = declarations[0]
    if entry.kind == "enum":
        return ("enum-class" if "enum class" in first else "enum"), [re.sub(r"^enum (class )?", "", first)]
    if entry.kind == "type":
        word = re.match(r"(?:template\s*<.*>\s*)?(class|struct)", first)[1]
        return word, [re.sub(rf"\b{word} (?=\w+( :|$))| : public detail::.*", "", first)]
    if entry.kind == "alias" and domain == "c":
        return "type", [first.removeprefix("typedef ") if "(" in first else entry.name]
    if entry.kind == "alias":
        return "type", [re.sub(r"\busing ", "", first)]
    if entry.kind == "concept":
        return "concept", [re.sub(r"\bconcept (\w+).*", r"\1", first)]
    if entry.kind == "object":
        return ("member" if inside else "var"), declarations
    return entry.kind, declarations


def _bare(declaration: str) -> str:
    """Without words that say how something is made."""
    text = re.sub(r"^(inline|explicit) |\binline (?=constexpr)| = default$", "", declaration)
    return text.replace("\\", "\\\\")


def _without_title(text: str) -> str:
    """The first line of a header says its name, which the page says already."""
    return re.sub(r"^(trencadis|GLT): ", "", text)


class PackageDirective(_Generated):
    optional_arguments = 100
    option_spec = {"module": directives.unchanged, "qualified": directives.flag}

    def run(self) -> list[nodes.Node]:
        where = self.options.get("module", "")
        found = docstring_reader.public_names(PACKAGE)
        if where:
            path = PACKAGE / f"{where}.py{'i' if where == '_core' else ''}"
            found = docstring_reader.definitions(docstring_reader.module(path).body)
        scope = f"trencadis.{where}" if "qualified" in self.options else "trencadis"
        lines = [line for name in self.arguments or found for line in _definition_lines(found[name], scope=scope)]
        return self.parsed(lines, PACKAGE / "__init__.py")


class OtherNamesDirective(_Generated):
    """A section of the package's names that no other directive of the page has; nothing where there are none."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        page = Path(self.env.doc2path(self.env.docname)).read_text()
        named = set(" ".join(re.findall(r"^\.\. package::(.*)$", page, re.MULTILINE)).split())
        others = [made for name, made in docstring_reader.public_names(PACKAGE).items() if name not in named]
        if not others:
            return []
        title = self.arguments[0]
        lines = [title, "-" * len(title), "", *(line for made in others for line in _definition_lines(made))]
        return self.parsed(lines, PACKAGE / "__init__.py")


def _definition_lines(made: docstring_reader.Definition, inside: str = "", scope: str = "trencadis") -> list[str]:
    config = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)
    lines = NumpyDocstring(docstring_markup(made.docstring), config, what="function", obj=None, name=made.name).lines()
    for member in made.members:
        lines += _definition_lines(member, inside=made.name)
    word = {"property": "attribute", "function": "method" if inside else "function", "class": "class"}[made.kind]
    name = made.name if inside else f"{scope}.{made.name}"
    signature = "" if made.kind == "property" else made.signature
    return ["", f".. py:{word}:: {name}{signature}", "", *("   " + line for line in lines), ""]


class LapackDirective(_Generated):
    def run(self) -> list[nodes.Node]:
        lines = []
        for name, signature, sentence in docstring_reader.lapack_routines(PACKAGE):
            names = [f"{letter}{name}{signature}" for letter in "sdcz"]
            head = ".. py:function:: "
            lines += ["", head + names[0], *(" " * len(head) + other for other in names[1:]), "", "   " + inline(sentence), ""]
        return self.parsed(lines, PACKAGE / "lapack.py")


class DecisionsDirective(_Generated):
    """Number, title and what was decided, of each."""

    def run(self) -> list[nodes.Node]:
        folder = ROOT / "docs" / "decisions"
        lines = []
        for path in sorted(folder.glob("[0-9]*.md")):
            title, _, body = path.read_text().partition("\n")
            title = title.removeprefix("# ").replace("`", "")
            lines += [f"* {path.stem[:4]} :doc:`{title.replace('<', '')} </decisions/{path.stem}>`"]
        return self.parsed([*lines, ""], folder / "index.rst")


def shorten_contents(app: Sphinx, domain: str, kind: str, content: nodes.Element) -> None:
    """On the right of a page a routine stands once, not for each precision, and without the members of structures."""
    signatures = [node for node in content.parent.children if "_toc_name" in node]
    for signature in signatures if kind in ("member", "enumerator", "var", "attribute", "method") else signatures[1:]:
        signature["_toc_name"] = ""
    if len(signatures) > 1 and (routine := re.match(r"(?:trc_)?[sdcz](\w+)", signatures[0]["_toc_name"])):
        signatures[0]["_toc_name"] = routine[1]


def setup(app: Sphinx) -> dict:
    app.add_directive("header", HeaderDirective)
    app.add_directive("package", PackageDirective)
    app.add_directive("other-names", OtherNamesDirective)
    app.add_directive("lapack-functions", LapackDirective)
    app.add_directive("decisions", DecisionsDirective)
    app.connect("object-description-transform", shorten_contents)
    return {"parallel_read_safe": True}
