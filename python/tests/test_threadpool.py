"""threadpoolctl sees our library and limits its standard session."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
import trencadis
from trencadis import _core, preload

pytestmark = pytest.mark.alone

CORES = len(os.sched_getaffinity(0))


def ours():
    """What threadpoolctl says of us: one entry, whatever libraries bring ours along."""
    (entry,) = [entry for entry in threadpoolctl.threadpool_info() if entry["internal_api"] == "trencadis"]
    return entry


def test_our_library_is_listed_with_its_version_and_threads():
    entry = ours()
    assert entry["user_api"] == "blas" and entry["version"] == trencadis.__version__
    assert entry["num_threads"] == _core.standard_session().workers and "libtrencadis.so" in entry["filepath"]


def test_a_limit_holds_in_its_block_and_is_lifted_after_it():
    before = _core.standard_session().workers
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert ours()["num_threads"] == _core.standard_session().workers == 1
        assert np.allclose(trencadis.matmul(np.eye(200), np.ones((200, 200))), 1)
    assert ours()["num_threads"] == _core.standard_session().workers == before


def test_more_threads_than_cores_are_not_had():
    with threadpoolctl.threadpool_limits({"trencadis": 100_000}):
        assert ours()["num_threads"] == _core.standard_session().workers == CORES


def test_a_session_of_ones_own_keeps_its_workers():
    with trencadis.session(workers=1) as session, threadpoolctl.threadpool_limits(CORES):
        assert session.workers == 1


def test_no_thread_at_all_is_refused():
    controller = threadpoolctl.ThreadpoolController().select(internal_api="trencadis").lib_controllers[0]
    with pytest.raises(ValueError, match="a limit of 0 workers given, must be at least 1"):
        controller.set_num_threads(0)


@pytest.mark.parametrize("before", [None, "FALSE"])
def test_importing_the_package_leaves_the_environment_alone(before):
    environment = {name: value for name, value in os.environ.items() if name != "KMP_DUPLICATE_LIB_OK"}
    if before:
        environment["KMP_DUPLICATE_LIB_OK"] = before
    code = """
import os
before = dict(os.environ)
import trencadis, numpy
trencadis.solve(numpy.eye(3), numpy.ones(3))
print(dict(os.environ) == before)
os.execvp("sh", ["sh", "-c", "echo ${KMP_DUPLICATE_LIB_OK-unset}"]) if not os.fork() else os.wait()
"""
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert run.stdout.split() in (["True", before or "unset"], [before or "unset", "True"]), run


LIBRARY = Path(preload.path())

# The time of the workers tells who computes; a limited session has one of its own. The program knows NumPy and threadpoolctl.
LIMITED = """
import os, sys, threading, time
import numpy as np
import threadpoolctl
def others():
    return [task for task in os.listdir("/proc/self/task") if int(task) != threading.get_native_id()]
def times_of(tasks):
    "Nanoseconds that these threads have run."
    return sum(int(open(f"/proc/self/task/{task}/schedstat").read().split()[0]) for task in tasks)
def ours():
    return [pool for pool in threadpoolctl.threadpool_info() if pool["architecture"] == "trencadis"]
A = np.ones((1000, 1000))
def compute(workers):
    time.sleep(0.02)  # some look for work still, from before
    before = times_of(workers)
    for _ in range(10): A @ A
    return times_of(workers) - before
(before,) = ours()
A @ A
workers = others()
free = compute(workers)
with threadpoolctl.threadpool_limits(1):
    (inside,) = ours()
    limited = compute(workers)
(after,) = ours()
assert not any(name.startswith("trencadis") for name in sys.modules)
print(before["num_threads"], inside["num_threads"], after["num_threads"], free, limited, before["version"], before["user_api"])
"""


def test_a_program_that_knows_nothing_of_us_limits_us_when_preloaded():
    # NumPy's own OpenBLAS has no threads, so that all that run are ours.
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "TRENCADIS_NUM_THREADS": str(CORES), "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", LIMITED], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    before, inside, after, free, limited, version, api = run.stdout.split()
    assert (int(before), int(inside), int(after)) == (CORES, 1, CORES)
    assert (version, api) == (trencadis.__version__, "blas")
    if CORES > 1:
        assert int(free) > 1e6, "nobody else computed without a limit, either"
    assert int(limited) < 1e6


def test_what_threadpoolctl_calls_is_in_nobodys_way():
    """A program that looks for OpenBLAS's functions finds those of its OpenBLAS, and not the names that are for threadpoolctl."""
    code = "import ctypes; print(hasattr(ctypes.CDLL(None), 'openblas_get_config'))"
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout.strip()) == (0, "False"), run
