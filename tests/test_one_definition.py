"""scripts/one_definition.py on objects of a few lines, in which one name is defined once or in two places."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "one_definition.py"
INLINE = "namespace ours { inline double size(double x) { return x < 0 ? -x : x; } }\n"
ORDINARY = "namespace ours { double size(double x) { return x * x; } }\n"
USE = "double NAME(double x) { return ours::size(x); }\n"


def compiled(folder, sources, target="trc_things"):
    """The objects of `sources`, {file: text}, in a build's folder of `target` or of the target that {file: target} names."""
    for file, text in sources.items():
        (folder / file).write_text(text)
    for file in sources:
        if file.endswith(".cpp"):
            name = f"CMakeFiles/{target if isinstance(target, str) else target[file]}.dir/{file}.o"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["c++", "-O0", "-g1", "-c", folder / file, "-o", folder / name], check=True, timeout=300)
            yield name


def check(folder, *compilation):
    objects = "\n".join(["build.ninja", *compiled(folder, *compilation)])
    return subprocess.run([sys.executable, SCRIPT, folder], input=objects, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("other", [INLINE, ORDINARY], ids=["inline", "ordinary"])
def test_a_name_with_two_definitions_is_told_with_both_places(tmp_path, other):
    header = {"size.hpp": INLINE, "first.cpp": '#include "size.hpp"\n' + USE.replace("NAME", "first")}
    result = check(tmp_path, header | {"second.cpp": "\n" + other + USE.replace("NAME", "second")})
    assert result.returncode == 1, result.stderr
    assert len(result.stdout.splitlines()) == 1
    for part in ("ours::size(double)", "size.hpp:1", "second.cpp:2"):
        assert part in result.stdout


def test_one_header_in_two_objects_is_one_definition(tmp_path):
    uses = {f"{name}.cpp": '#include "size.hpp"\n' + USE.replace("NAME", name) for name in ("first", "second")}
    result = check(tmp_path, {"size.hpp": INLINE} | uses)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_two_test_programs_may_define_one_name_but_not_one_of_the_library(tmp_path):
    sources = {"first.cpp": ORDINARY, "second.cpp": "\n" + ORDINARY}
    apart = check(tmp_path, sources, {"first.cpp": "test_one", "second.cpp": "test_other"})
    assert apart.returncode == 0, apart.stdout
    (tmp_path / "more").mkdir()
    assert check(tmp_path / "more", sources, {"first.cpp": "test_one", "second.cpp": "trc_floor"}).returncode == 1


def test_what_a_source_keeps_to_itself_may_be_in_another(tmp_path):
    sources = {
        name: lines + "namespace { int own() { return 1; } }\nint NAME() { return own(); }\n".replace("NAME", name[0])
        for name, lines in {"a.cpp": "", "b.cpp": "\n"}.items()
    }
    result = check(tmp_path, sources)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_a_list_without_objects_is_told(tmp_path):
    result = check(tmp_path, {})
    assert result.returncode == 1
    assert "no objects" in result.stderr
