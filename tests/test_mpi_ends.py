"""Programs whose MPI ends while one of their threads computes over several processes."""

import time

import pytest
from mpirun import ROOT, mpirun, needs_mpirun

PROGRAM = ROOT / "build" / "bin" / "cxx_sessions"

pytestmark = [
    needs_mpirun,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: it needs libstarpu-dev and libopenmpi-dev"),
]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("how", ["return", "finalise"])
def test_a_program_ends_while_a_thread_of_it_computes(how, processes):
    """Where processes stop between different calls one waits for another that is gone, and all are ended, with a line."""
    begin = time.monotonic()
    done = mpirun(processes, [PROGRAM, how], ours=False, environment={"OMPI_MCA_mpi_yield_when_idle": "1"})
    said = "MPI is finalised while another thread is in a call of several processes"
    assert done.returncode == 0 or (processes > 1 and done.returncode == 2 and said in done.stderr), done.stderr
    assert "signal" not in done.stderr.replace("Forwarding signal", "").lower(), done.stderr
    assert time.monotonic() - begin < 120  # on a machine that others use, too; a hang would be as long as mpirun waits
