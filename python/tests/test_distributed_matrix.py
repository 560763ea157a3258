"""Matrices of several processes from Python, in MPI programs of mpi4py's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trencadis import _core

ENGINE = next(row for row in _core.list_engines() if row["name"] == "starpu-mpi")
MPIRUN = shutil.which("mpirun")
PROGRAM = str(Path(__file__).with_name("distributed_program.py"))

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not ENGINE["available"], reason=ENGINE.get("why_not", "")),
    pytest.mark.skipif(MPIRUN is None, reason="no mpirun: on Debian and Ubuntu apt install openmpi-bin"),
]


def run(processes, *words):
    pytest.importorskip("mpi4py", reason="mpi4py is not here: pip install mpi4py")
    program = [sys.executable, "-m", "mpi4py", PROGRAM, *map(str, words)]  # what one raises ends all
    command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(processes), *program]
    environment = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, start_new_session=True)


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_matrices_are_computed_on_moved_and_refused_by_all_processes_together(processes, tmp_path):
    done = run(processes, "all", tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_session_that_outlives_mpi_ends_quietly():
    done = run(2, "exit")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
