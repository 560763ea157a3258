"""The check of lengths itself: the checkout passes, what is too long is found, and so is an entry that nobody needs any more."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "check_sizes.py"
TABLE = "[line]\nstandard = 130\n{line}\n[file]\nstandard = 450\n{file}\n[function]\nstandard = 45\n{function}\n"


def run(root):
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)


@pytest.fixture
def house(tmp_path):
    """A function that makes a checkout of one file, with these entries in its table."""

    def make(path, text, **entries):
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "sizes.toml").write_text(TABLE.format(**{"line": "", "file": "", "function": "", **entries}))
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return tmp_path

    return make


def function_of(lines, path):
    if path.endswith(".py"):
        return '@cache\ndef f():\n    """What it does,\n    at length."""\n' + "    g()\n" * lines
    return "int f()\n{\n" + "    if (g()) {\n    }\n" * (lines // 2) + "    g();\n" * (lines % 2) + "}\n"


def test_this_checkout_keeps_to_its_table():
    result = run(ROOT)
    assert result.returncode in (0, 1), result.stderr
    assert "; at most" not in result.stdout  # entries that nobody needs any more may stay for a while


@pytest.mark.parametrize("path", ["src/base/a.cpp", "glt/a.h", "python/a.py", "a.cmake", "a/CMakeLists.txt", "scripts/a.sh"])
def test_a_line_may_have_130_columns_and_not_131(house, path):
    root = house(path, "#\n# " + "ä" * 128 + "\n")
    assert run(root).returncode == 0
    (root / path).write_text("#\n# " + "ä" * 129 + "\n")
    result = run(root)
    assert result.returncode == 1
    assert f"{path}:2: a line of 131 columns; at most 130" in result.stdout


def test_a_file_may_have_450_lines_and_not_451(house):
    root = house("src/base/a.cpp", "int a;\n" * 450)
    assert run(root).returncode == 0
    (root / "src/base/a.cpp").write_text("int a;\n" * 451)
    assert "src/base/a.cpp:1: a file of 451 lines; at most 450" in run(root).stdout


@pytest.mark.parametrize("path", ["src/base/a.cpp", "glt/a.c", "python/a.py"])
def test_a_function_may_have_45_lines_and_not_46(house, path):
    root = house(path, function_of(45, path))
    assert run(root).returncode == 0
    (root / path).write_text(function_of(46, path))
    result = run(root)
    assert result.returncode == 1
    assert f"{path}:2: a function of 46 lines; at most 45" in result.stdout


def test_a_method_inside_a_class_is_a_function(house):
    text = "class A {\n" + "\n".join("    " + line for line in function_of(46, "a.cpp").splitlines()) + "\n};\n"
    assert ":3: a function of 46 lines" in run(house("src/base/a.hpp", text)).stdout


def test_an_entry_of_a_folder_or_a_file_allows_more_until_it_is_not_needed(house):
    root = house("src/base/inner/a.cpp", "/" * 140 + "\n", line='"src/base" = 140')
    assert run(root).returncode == 0
    (root / "src/base/inner/a.cpp").write_text("/" * 141 + "\n")
    assert "a line of 141 columns; at most 140" in run(root).stdout
    (root / "src/base/inner/a.cpp").write_text("/" * 130 + "\n")
    result = run(root)
    assert result.returncode == 1
    assert "[line] src/base keeps to the standard of 130 now: take the entry away" in result.stdout


def test_a_table_without_a_standard_is_refused(house):
    root = house("a.py", "")
    (root / "scripts" / "sizes.toml").write_text("[line]\n[file]\n[function]\n")
    result = run(root)
    assert result.returncode == 2
    assert "standard" in result.stderr
