"""GLT from the outside: what libglt.so shows, and that docs/threads.md says what the back ends here can do."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "threads.md").read_text()
BUILD = Path(os.environ.get("GLT_BUILD", ROOT.parent / "build"))  # of the house around it, if no other is named


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)


def table(text):
    """{row: {back end: word}} of the table whose first column has no title."""
    header, _, *rows = [line for line in text.splitlines() if line.startswith("| |") or re.match(r"\|-|\| .* \|$", line)]
    names = [cell.strip() for cell in header.split("|")[2:-1]]
    return {
        cells[1].strip(): dict(zip(names, (c.strip() for c in cells[2:-1]), strict=True))
        for cells in (r.split("|") for r in rows)
    }


def test_the_table_of_capabilities_is_what_the_back_ends_say():
    written = table(TEXT[TEXT.index("| | native |") :].split("\n\n")[0])
    result = run([BUILD / "examples" / "glt_capabilities"])
    assert result.returncode == 0, result.stderr
    said = table(result.stdout)
    assert list(said) == list(written)
    for row, words in said.items():
        assert words == {name: written[row][name] for name in words}, row


@pytest.mark.parametrize("form", ["dynamic", "native", "os"])
def test_the_program_of_the_page_works(form, tmp_path):
    (program,) = re.findall(r"^```c\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (tmp_path / "hello.c").write_text("#include <stdio.h>\n" + program)
    flags = {"dynamic": ["-lglt"], "native": ["-DGLT_STATIC=native", "-lglt_native"], "os": ["-DGLT_STATIC=os", "-pthread"]}[form]
    library = BUILD / "lib"
    command = ["cc", "hello.c", f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", *flags, "-o", "hello"]
    compiled = run(command, cwd=tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    result = run([tmp_path / "hello"])
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"a unit on thread \d+\n", result.stdout)


def test_the_lines_of_code_on_the_page_are_those_of_the_programs():
    folder = ROOT / "benchmarks"

    def lines(path):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        return sum(bool(line.strip()) for line in code.splitlines())

    written = dict(re.findall(r"^\| (Argobots|Qthreads|MassiveThreads|GLT)[^|]*\| (\d+) \|$", TEXT, re.MULTILINE))
    assert {name.lower(): int(number) for name, number in written.items()} == {
        name: lines(folder / "faces" / f"{name}.h") for name in ("argobots", "qthreads", "massivethreads", "glt")
    }  # fmt: skip
    programs = [lines(folder / f"{name}.c") for name in ("nqueens", "uts", "uts_threads")]
    said = re.search(r"N-Queens itself is (\d+) lines, Unbalanced Tree Search (\d+),.*?mutex, (\d+)", TEXT, re.DOTALL)
    assert [int(number) for number in said.groups()] == programs


def symbols(library):
    result = run(["nm", "-D", "--defined-only", BUILD / "lib" / library])
    assert result.returncode == 0, result.stderr
    return {line.split()[2] for line in result.stdout.splitlines()}


def test_libglt_shows_the_functions_of_the_list_and_nothing_else():
    text = (ROOT / "include" / "trencadis" / "glt" / "functions.def").read_text()
    names = re.findall(r"^GLT_(?:PROCEDURE\(|FUNCTION\([^,]*, )(\w+),", text, re.MULTILINE)
    assert len(names) > 80
    assert symbols("libglt.so") == {f"glt_{name}" for name in names}
    header = (ROOT / "include" / "trencadis" / "glt.h").read_text()
    assert set(names) == set(re.findall(r"^GLT_API .*?glt_(\w+)\(", header, re.MULTILINE))


@pytest.mark.parametrize("library", sorted(path.name for path in (BUILD / "lib").glob("libglt_*.so")))
def test_a_plugin_shows_its_table_and_our_own_library_what_the_header_only_form_calls(library):
    shown = symbols(library)
    assert "glt_plugin" in shown
    word = library.removeprefix("libglt_").removesuffix(".so")
    assert all(name.startswith(f"glt_{word}_") for name in shown - {"glt_plugin"})
