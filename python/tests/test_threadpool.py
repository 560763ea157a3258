"""threadpoolctl sees our library and limits its standard session."""

import os
import subprocess
import sys

import numpy as np
import pytest
import threadpoolctl
import trencadis
from trencadis import _core

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
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout.split() in (["True", before or "unset"], [before or "unset", "True"]), run
