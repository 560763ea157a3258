"""What the site is made of: links that lead somewhere, and readers of headers and docstrings that miss nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_site"), str(ROOT / "scripts")]

import check_pages  # noqa: E402
import comment_markup  # noqa: E402
import docstring_reader  # noqa: E402
from header_reader import read_header, walk  # noqa: E402

INCLUDE = ROOT / "include" / "trencadis"
CPP_PAGE = (ROOT / "docs" / "reference" / "cpp.rst").read_text()


def test_every_link_of_the_pages_leads_somewhere():
    assert check_pages.mistakes_of_sources(ROOT) == []


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("[a](b.md)", "no such file"),
        ("[a](#there)", "no heading"),
        ("[a](page.md#there)", "no heading"),
        ("![](picture.svg)", "without words"),
        ("![a](lost.svg)", "no such file"),
        ("[a](http://nowhere)", "no such host"),
        ("[a](ftp://example.org/a)", "not an address"),
    ],
)
def test_a_link_that_leads_nowhere_is_told_with_its_line(tmp_path, text, mistake):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "picture.svg").write_text("<svg/>")
    (docs / "page.md").write_text(f"# Here\n\n{text}\n")
    (told,) = check_pages.mistakes_of_sources(tmp_path)
    assert told.startswith("docs/page.md:3: ") and mistake in told


def test_code_is_not_taken_for_links_and_repeated_headings_are_told_apart(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    code = "`[a](b.md)`\n```c\n[a](b.md)\n# no heading\n```\n"
    (docs / "page.md").write_text(f"# A `b`, c\n## A b c\n{code}[a](#a-b-c) [a](#a-b-c-1)\n")
    assert check_pages.mistakes_of_sources(tmp_path) == []


def test_a_page_outside_of_the_navigation_is_told(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A\n```{toctree}\n:glob:\n\n*sta*\nTitle <named>\n```\n")
    for name in ("start", "install", "named", "lost"):
        (docs / f"{name}.md").write_text("# B\n")
    assert check_pages.mistakes_of_sources(tmp_path) == ["docs/lost.md: is not in the navigation of docs/index.md"]


@pytest.mark.parametrize(
    ("html", "mistake"),
    [
        ('<script src="https://example.org/a.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "from elsewhere"),
        ('<a href="lost.html">a</a>', "no such file"),
        ('<a href="#lost">a</a>', "no such place"),
        ('<img src="lost.svg">', "no such file"),
    ],
)
def test_a_built_page_that_loads_from_elsewhere_or_leads_nowhere_is_told(tmp_path, html, mistake):
    (tmp_path / "a.html").write_text(f'<p id="here"><a href="#here">a</a><a href="https://example.org">b</a>{html}')
    (told,) = check_pages.mistakes_of_built(tmp_path)
    assert told.startswith("a.html: ") and mistake in told


def functions(path: Path) -> dict[str, str]:
    """Name and comment of everything called that the reader finds."""
    found = {}
    for entry in walk(read_header(path.read_text())):
        if entry.kind == "function":
            for declaration in entry.declarations:
                found[re.search(r"(~?\w+)\s*\(", declaration)[1]] = entry.comment
    return found


C_HEADERS = [("include/trencadis/trencadis.h", "trc_"), ("glt/include/trencadis/glt.h", "glt_")]


@pytest.mark.parametrize(("header", "prefix"), C_HEADERS)
def test_the_reader_finds_every_function_of_a_c_header(header, prefix):
    text = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(), flags=re.DOTALL)
    declared = set(re.findall(rf"^[\w* ]*?\b({prefix}\w+)\(", text, re.MULTILINE))
    assert len(declared) > 80
    assert declared == {name for name in functions(ROOT / header) if name.startswith(prefix)}


def test_every_function_of_the_c_interface_is_described():
    assert [name for name, comment in functions(INCLUDE / "trencadis.h").items() if not comment] == []


def test_every_routine_of_the_cpp_interface_is_described():
    assert [name for name, comment in functions(ROOT / "src/drivers/linear_algebra.hpp").items() if not comment] == []


def test_the_cpp_page_has_every_installed_header():
    listed = re.search(r"TRC_PUBLIC_HEADERS\n(.*?)\)", (ROOT / "cmake/PublicHeaders.cmake").read_text(), re.DOTALL)[1].split()
    shown = re.findall(r"^\.\. header:: src/(\S+)$", CPP_PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(shown)


def test_operators_are_functions():
    declarations = ["operator const Crew&() const", "int operator()(int i)", "bool operator==(const Thing& other) const"]
    text = "/// A thing.\nclass Thing {\npublic:\n" + "".join(f"    /// It is.\n    {d};\n" for d in declarations) + "};\n"
    (thing,) = (entry for entry in walk(read_header(text)) if entry.name == "Thing")
    assert [(member.kind, *member.declarations) for member in thing.members] == [("function", d) for d in declarations]


def test_what_a_class_keeps_to_itself_is_not_shown():
    text = """\
#pragma once
/// A thing.
class Thing : public Base {
public:
    Thing() : a_(1), b_{2} { work(); }
    Thing(const Thing&) = delete;
    int size() const { return a_; } ///< in bytes
    /// Waits.
    void wait(); void leave();

    // inside >>>
    void secret();
    // <<<
private:
    int a_; ///< hidden
    struct Part;
};
"""
    (thing,) = [entry for entry in read_header(text) if entry.kind == "type"]
    assert (thing.name, thing.comment) == ("Thing", "A thing.")
    assert [(entry.declarations, entry.comment) for entry in thing.members] == [
        (["Thing()"], ""),
        (["int size() const"], "in bytes"),
        (["void wait()"], "Waits."),
        (["void leave()"], ""),
    ]


def test_one_comment_describes_the_four_precisions_and_a_comment_behind_only_its_line():
    text = "/* Solves. */\nint trc_sgesv(int n);\nint trc_dgesv(int n);\n\nenum e {\n    A = 1, /* first */\n    B\n};\n"
    routine, named = read_header(text)
    assert (len(routine.declarations), routine.comment) == (2, "Solves.")
    assert [(entry.name, entry.comment) for entry in named.members] == [("A", "first"), ("B", "")]


def test_formulas_of_comments_read_as_on_paper():
    made = comment_markup.inline("B <- op(A)^-1 B, |a_ij|, B n x nrhs")
    assert made == r"B ← op(A)\ :sup:`−1`\  B, \|a\ :sub:`ij`\ \|, B n × nrhs."
    assert comment_markup.inline("see trc_flow_wait(), *info") == r"See \ ``trc_flow_wait()``\ , \*info."
    assert comment_markup.markup("text:\n\n    code * a\n\nmore")[2:5] == [".. code-block:: text", "", "        code * a"]


def test_docstrings_keep_their_bars_stars_and_code():
    made = comment_markup.docstring_markup("|b - a x| of n^2 and `n^2 |a|`\n>>> 2 * a^b | c\n* item *args")
    assert made == "\\|b - a x\\| of n\\ :sup:`2`\\  and `n^2 |a|`\n>>> 2 * a^b | c\n* item \\*args"


def test_the_reader_finds_what_the_package_shows():
    package = ROOT / "python" / "trencadis"
    found = docstring_reader.public_names(package)
    words = "import trencadis; print(*trencadis.__all__)"
    shown = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=300).stdout.split()
    assert set(shown) - set(found) == {"__version__", "lapack"}  # a string and a module
    assert [name for name, definition in found.items() if not definition.docstring] == []


def test_docstrings_name_parameters_that_there_are():
    for definition in docstring_reader.public_names(ROOT / "python" / "trencadis").values():
        section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", definition.docstring, re.DOTALL)
        for line in re.findall(r"^(\S.*) : ", section[1], re.MULTILINE) if section else []:
            for name in line.split(", "):
                assert re.search(rf"\b{re.escape(name)}\b", definition.signature), (definition.name, name)


def test_the_reader_finds_every_routine_of_the_lapack_module():
    from trencadis import lapack

    rows = docstring_reader.lapack_routines(ROOT / "python" / "trencadis")
    assert {f"d{name}" for name, _, _ in rows} == {name for name in lapack.__all__ if name.startswith("d")}
    assert all(signature.startswith("(") and sentence.endswith(".") for _, signature, sentence in rows)
