"""Engine `starpu-mpi` on the command line, as several processes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmread
from trencadis import _core
from waiting import LONG_S, all_below, children_of, cpu_seconds, wait_until

ENGINE = next(row for row in _core.list_engines() if row["name"] == "starpu-mpi")
MPIRUN = shutil.which("mpirun")
COMMAND = [str(Path(sys.executable).parent / "trencadis")]

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not ENGINE["available"], reason=ENGINE.get("why_not", "")),
    pytest.mark.skipif(MPIRUN is None, reason="no mpirun: on Debian and Ubuntu apt install openmpi-bin"),
]


def started(processes, *words):
    mpirun = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(processes)]
    command = (mpirun if processes else []) + COMMAND + list(words)
    environment = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def ended(process, within=LONG_S):
    try:
        out, err = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, out, err


def test_bench_is_one_record_whatever_the_number_of_processes():
    bench = ("bench", "potrf", "--engine", "starpu-mpi", "--n", "300", "--nb", "32", "--repeat", "1", "--check", "--json", "-")
    residuals = {}
    for processes, grid in ((0, "1x1"), (2, "2x1"), (4, "2x2")):
        code, out, err = ended(started(processes, *bench, "--grid", grid))
        assert code == 0, err
        (row,) = map(json.loads, out.splitlines())
        assert (row["grid"], row["processes"]) == (grid, max(processes, 1))
        assert (row["messages"] > 0) == (row["bytes_sent"] > 0) == (processes > 1)
        residuals[processes] = row["residual"]
        assert row["residual"] < 10
    assert max(residuals.values()) < 1.01 * min(residuals.values())  # the operands do not depend on the grid


@pytest.mark.parametrize(
    ("processes", "words", "said"),
    [
        (2, ["--grid", "2x2", "--n", "100"], "2x2 are 4 processes, and there are 2"),
        (2, ["--n", "40", "--nb", "64"], "without a tile"),
        (0, ["--grid", "2x2", "--n", "100"], "there are 1"),
        (2, ["--distribution", "symmetric", "--n", "100"], "symmetric owners are 1, 3, 6"),
        (2, ["--n", "1000000000"], "GB for each of 2 processes"),
        (2, ["--n", "4096", "--nb", "1"], "take at least 9"),
        (2, ["--n", "100", "--bogus"], "No such option: --bogus"),
        (2, ["--n", "many"], "many"),
        (1, ["--n", "100", "--repeat", "2", ":", "-n", "1", *COMMAND, "bench", "potrf", "--engine", "starpu-mpi", "--n", "100"],
         "all processes must make the same call"),
    ],
)
def test_what_does_not_fit_the_processes_is_said_once(processes, words, said):
    code, out, err = ended(started(processes, "bench", "potrf", "--engine", "starpu-mpi", *words))
    assert code == 2
    assert not out
    assert err.count(said) == 1, err
    assert "Traceback" not in err


def test_solve_reads_and_writes_by_tiles(tmp_path):
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((120, 120)), rng.standard_normal((120, 3))
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    names = [str(tmp_path / name) for name in ("A.npy", "b.npy", "x.npy")]
    code, out, err = ended(started(2, "solve", *names[:2], "-o", names[2], "--engine", "starpu-mpi", "--nb", "16"))
    assert code == 0, err
    assert out.count("wrote") == 1
    x = np.load(names[2])
    assert x.shape == b.shape
    np.testing.assert_allclose(A @ x, b, atol=1e-9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.npy", "b.npy", "x.npy"]


@pytest.mark.parametrize(("n", "sides", "suffix"), [(0, 1, ".npy"), (1, 1, ".mtx"), (70, 0, ".npy"), (70, 2, ".mtx")])
def test_solve_of_little_or_nothing_writes_what_one_process_writes(tmp_path, n, sides, suffix):
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((n, n)), rng.standard_normal((n, sides))
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    x = tmp_path / f"x{suffix}"
    words = ("solve", str(tmp_path / "A.npy"), str(tmp_path / "b.npy"), "-o", str(x))
    code, out, err = ended(started(4, *words, "--engine", "starpu-mpi"))
    assert code == 0, err
    assert out.count("wrote") == 1
    found = np.load(x) if suffix == ".npy" else mmread(x)
    assert found.shape == b.shape
    np.testing.assert_allclose(A @ found, b, atol=1e-9)


def test_thousands_of_tiles_of_one_element_are_slow_and_not_stuck():
    words = "bench gesv --engine starpu-mpi --n 64 --nb 1 --repeat 1 --check --json -"
    code, out, err = ended(started(2, *words.split()))
    assert code == 0, err
    assert json.loads(out)["residual"] < 10


def test_what_a_file_does_not_hold_is_said_and_nothing_is_written(tmp_path):
    A = np.eye(64)
    A[50, 3] = np.nan
    np.save(tmp_path / "nan.npy", A)
    (tmp_path / "short.mtx").write_text("%%MatrixMarket matrix coordinate real general\n64 64 3\n1 1 1.0\n")
    np.save(tmp_path / "b.npy", np.ones(64))
    for name, said in (("nan.npy", "element [50, 3] is nan"), ("short.mtx", "has 1 elements, and promises 3")):
        words = ("solve", str(tmp_path / name), str(tmp_path / "b.npy"), "-o", str(tmp_path / "x.npy"))
        code, _, err = ended(started(2, *words, "--engine", "starpu-mpi", "--nb", "16"))
        assert code == 2, err
        assert err.count(said) == 1, err
        assert not (tmp_path / "x.npy").exists()


def test_a_singular_matrix_is_a_numerical_failure_and_writes_nothing(tmp_path):
    np.save(tmp_path / "A.npy", np.zeros((64, 64)))
    np.save(tmp_path / "b.npy", np.ones(64))
    files = str(tmp_path / "A.npy"), str(tmp_path / "b.npy")
    code, _, err = ended(started(2, "solve", *files, "-o", str(tmp_path / "x.npy"), "--engine", "starpu-mpi", "--nb", "16"))
    assert code == 1, err
    assert "singular" in err
    assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_all_end_when_one_is_killed_or_the_user_interrupts(how):
    run = started(2, "bench", "potrf", "--engine", "starpu-mpi", "--n", "3000", "--repeat", "200", "--json", "-")
    wait_until(lambda: run.poll() is not None or sum(cpu_seconds(pid) > 1.5 for pid in all_below(run.pid)) >= 2, "of two")
    assert run.poll() is None
    if how == "killed":
        os.kill(children_of(run.pid)[-1], signal.SIGKILL)
    else:
        os.kill(run.pid, signal.SIGINT)
    code, _, _ = ended(run)
    assert code != 0
