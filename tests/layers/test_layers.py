"""The layer check itself: the checkout passes, and each kind of wrong include is found."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "check_layers.py"


def run(root):
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)


@pytest.fixture
def house(tmp_path):
    """A small house with the real table, and a function that puts a file into it."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "layers.toml").write_text((ROOT / "scripts" / "layers.toml").read_text())

    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return tmp_path

    return put


def test_this_checkout_keeps_to_its_table():
    result = run(ROOT)
    assert result.returncode == 0, result.stdout


def test_includes_downwards_and_within_a_floor_pass(house):
    house("src/engines/native.cpp", '#include "engines/engine.hpp"\n#include "graph/task.hpp"\n#include <vector>\n')
    root = house("include/trencadis/trencadis.hpp", '#include "session/session.hpp"\n#include "trencadis/c.h"\n')
    assert run(root).returncode == 0


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("src/graph/task.hpp", "engines/engine.hpp"),  # upwards
        ("src/algorithms/potrf.cpp", "engines/engine.hpp"),  # from WHAT to HOW
        ("src/engines/native.cpp", "kernels/providers/provider.hpp"),  # from HOW to WHAT
        ("src/algorithms/potrf.cpp", "session/session.hpp"),
        ("src/base/error.hpp", "machine/machine.hpp"),
        ("examples/first.cpp", "graph/task.hpp"),  # not public
        ("src/engines/native.cpp", "glt/primitives/lock.hpp"),  # only threads knows of GLT
        ("src/engines/native.cpp", "trencadis/glt.h"),
        ("include/trencadis/flow.hpp", "trencadis/glt.h"),
        ("glt/src/glt/native/worker.cpp", "base/error.hpp"),  # not its own
        ("glt/src/glt/primitives/lock.hpp", "glt/native/worker.hpp"),  # upwards
        ("glt/tests/suite/load_test.cpp", "glt/native/worker.hpp"),  # its tests see what users see
        ("glt/examples/sum.c", "../../src/base/error.hpp"),
    ],
)
def test_a_wrong_arrow_is_found_with_its_line(house, path, include):
    for there in ("src/base/error.hpp", "glt/src/glt/native/worker.hpp", "include/trencadis/trencadis.h"):
        house(there, "#pragma once\n")
    root = house(path, f'#pragma once\n  # include "{include}"\n')
    (root / "src").mkdir(exist_ok=True)
    result = run(root)
    assert result.returncode == 1
    assert f"{path}:2: " in result.stdout and include in result.stdout


def test_glt_includes_itself_and_the_system_and_not_our_public_headers(house):
    house("glt/include/trencadis/glt.h", "#include <stdio.h>\n")
    house("glt/src/glt/primitives/lock.hpp", "#include <atomic>\n")
    house("glt/src/glt/native/worker.cpp", '#include "glt/primitives/lock.hpp"\n#include "trencadis/glt.h"\n#include <abt.h>\n')
    house("src/threads/lock.hpp", '#include "glt/primitives/lock.hpp"\n')
    root = house("include/trencadis/trencadis.h", "")
    assert run(root).returncode == 0
    house("glt/tests/first.c", "#include <trencadis/trencadis.h>\n")
    result = run(root)
    assert result.returncode == 1
    assert 'glt/tests/first.c:1: "trencadis/trencadis.h" is not in glt/' in result.stdout


def test_an_include_without_its_floor_is_found(house):
    result = run(house("src/graph/task.cpp", '#include "task.hpp"\n'))
    assert result.returncode == 1
    assert "does not begin with a floor" in result.stdout


def test_a_floor_without_a_line_in_the_table_is_found(house):
    result = run(house("src/cellar/wine.cpp", "int bottles;\n"))
    assert result.returncode == 1
    assert "src/cellar: no line" in result.stdout


def test_a_table_with_a_cycle_is_refused(house):
    root = house("src/base/a.hpp", "")
    table = root / "scripts" / "layers.toml"
    table.write_text(table.read_text().replace("base = []", 'base = ["graph"]'))
    result = run(root)
    assert result.returncode == 2
    assert "include each other" in result.stderr
