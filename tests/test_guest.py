"""The library as a guest in Python programs, which fork, exit and limit threads as they please. tests/guest does so in C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "build" / "lib" / "libtrencadis_lapack.so"

pytestmark = [pytest.mark.alone, pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not built")]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


# The child leaves as programs do: by the interpreter's own end, not by os._exit.
FORKS = """
import os, sys, numpy as np
{setup}
A = np.eye(400) * 2
def compute(): assert {product}[0, 0] == 4
compute()
for child_computes in (False, True):
    pid = os.fork()
    if pid == 0:
        if child_computes: compute()
        sys.exit(7)
    for _ in range(2000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done: break
        __import__("time").sleep(0.01)
    else:
        os.kill(pid, 9)
    print(os.waitstatus_to_exitcode(status) if done else "hung", flush=True)  # not once more by the next child
"""


def test_a_forked_child_exits_after_import():
    result = run(FORKS.format(setup="import trencadis", product="trencadis.matmul(A, A)"))
    assert result.stdout.split() == ["7", "7"], result


def test_a_forked_child_exits_under_the_preloaded_library():
    result = run(FORKS.format(setup="", product="(A @ A)"), LD_PRELOAD=str(LIBRARY))
    assert result.stdout.split() == ["7", "7"], result


def test_a_forked_child_computes_on_its_cores_where_the_parents_device_stayed_behind():
    words = {"TRENCADIS_DEVICES": "opencl:0,always=yes", "CLBLAST_BUILD_OPTIONS": " -cl-opt-disable ", "TRENCADIS_VERBOSE": "1"}
    result = run(FORKS.format(setup="", product="(A @ A)"), LD_PRELOAD=str(LIBRARY), TRENCADIS_TILE="100", **words)
    if "it was opened before" not in result.stderr:
        pytest.skip(result.stderr.splitlines()[0])
    assert result.stdout.split() == ["7", "7"], result
    assert result.stderr.count("no devices, cores compute without") == 1
    assert result.stderr.count("400x400x400 on tasks") == 2, "the child's too"


def test_a_session_from_before_the_fork_can_be_dropped_in_the_child():
    setup = """
import trencadis
session = trencadis.session(workers=1)
inside = session.__enter__()
"""
    code = FORKS.format(setup=setup, product="trencadis.matmul(A, A)").replace(
        "if child_computes: compute()",
        """session.__exit__(None, None, None)
        del inside, session
        if child_computes: compute()""",
    )
    result = run(code)
    assert result.stdout.split() == ["7", "7"], result


def test_two_limits_of_threadpoolctl_leave_a_child_that_exits():
    setup = """
import trencadis, threadpoolctl
with threadpoolctl.threadpool_limits(1): trencadis.matmul(np.eye(400), np.eye(400))
"""
    result = run(FORKS.format(setup=setup, product="trencadis.matmul(A, A)"))
    assert result.stdout.split() == ["7", "7"], result


LIMITS = """
import time, statistics, numpy as np, trencadis, threadpoolctl
trencadis.matmul(np.eye(400), np.eye(400))
controller = threadpoolctl.ThreadpoolController().select(internal_api="trencadis")
def turn():
    begin = time.perf_counter()
    with controller.limit(limits=1): pass
    return time.perf_counter() - begin
turn()
print(statistics.median(turn() for _ in range(50)))
"""


def test_a_turn_of_limits_reads_no_topology():
    """24 to 32 ms each time that it did; 2 ms are far from that on any machine, and far from what a turn takes."""
    result = run(LIMITS)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 2e-3
