"""python -m trencadis.preload: where the drop-in library is, and programs behind it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trencadis import preload

pytestmark = pytest.mark.skipif(
    not (preload.loaded_library().parent / preload.LIBRARY).exists(), reason="libtrencadis_lapack.so is not built"
)


def call(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "trencadis.preload", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_prints_the_path_of_the_drop_in_library():
    result = call()
    assert result.returncode == 0, result.stderr
    library = Path(result.stdout.strip())
    assert library.name == "libtrencadis_lapack.so"
    assert library.is_file()


def test_a_program_runs_behind_it_with_its_own_exit_status():
    program = "import sys, numpy as np; a = np.ones((500, 500)); a @ a; sys.exit(int(sys.argv[1]))"
    result = call(sys.executable, "-c", program, "7", TRENCADIS_VERBOSE="1")
    assert result.returncode == 7, result.stderr
    loaded = call("cat", "/proc/self/maps").stdout
    assert "libtrencadis_lapack.so" in loaded


def test_what_is_preloaded_already_comes_after_it_and_it_only_once():
    ours = preload.path()
    assert preload.environment({})["LD_PRELOAD"] == ours
    assert preload.environment({"LD_PRELOAD": "a.so b.so"})["LD_PRELOAD"] == f"{ours}:a.so:b.so"
    assert preload.environment({"LD_PRELOAD": f"{ours}:a.so"})["LD_PRELOAD"] == f"{ours}:a.so"


def test_a_program_that_is_not_there_is_named(tmp_path):
    result = call("no-such-program")
    assert (result.returncode, result.stdout) == (127, "")
    assert "there is no program no-such-program" in result.stderr
    (tmp_path / "text").write_text("not a program")
    assert call(str(tmp_path / "text")).returncode == 126


def test_a_folder_that_cannot_be_preloaded_is_named(monkeypatch):
    monkeypatch.setattr(preload, "path", lambda: "/my programs/libtrencadis_lapack.so")
    with pytest.raises(RuntimeError, match="no path with blanks or colons"):
        preload.environment({})


def test_help_says_how():
    result = call("--help")
    assert result.returncode == 0
    assert "python -m trencadis.preload python my_program.py" in result.stdout
