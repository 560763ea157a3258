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
        timeout=300,
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
    (tmp_path / "text").chmod(0o755)
    result = call(str(tmp_path / "text"))
    assert result.returncode == 126 and result.stderr.endswith("cannot be run: Exec format error\n")
    result = call("")
    assert result.returncode == 127 and result.stderr == "trencadis.preload: there is no program ''\n"


def test_a_folder_that_cannot_be_preloaded_is_named(monkeypatch):
    monkeypatch.setattr(preload, "path", lambda: "/my programs/libtrencadis_lapack.so")
    with pytest.raises(RuntimeError, match="no path with blanks or colons"):
        preload.environment({})


def test_help_says_how():
    result = call("--help")
    assert result.returncode == 0
    assert "python -m trencadis.preload python my_program.py" in result.stdout


def test_a_folder_with_a_blank_is_found_whole(monkeypatch, tmp_path):
    library = tmp_path / "my programs" / "libtrencadis.so.0"
    maps = (
        f"7f0000000000-7f0000001000 r--p 00000000 00:00 0 \n7f1000000000-7f1000001000 r-xp 00000000 fe:00 12345      {library}\n"
    )
    (tmp_path / "maps").write_text(maps)
    monkeypatch.setattr(preload, "MAPS", tmp_path / "maps")
    assert preload.loaded_library() == library


def test_the_path_is_not_printed_where_it_cannot_be_preloaded(monkeypatch, capsys):
    monkeypatch.setattr(preload, "path", lambda: "/my programs/libtrencadis_lapack.so")
    assert preload.main([]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "no path with blanks or colons" in err
