"""The engines over OpenMP from Python and from the command line: side by side in a process, and what they refuse."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import trencadis
from waiting import soonest

ENGINES = ("openmp-gnu", "openmp-llvm")


@functools.cache
def listed(**environment):
    """Rows of `trencadis list engines` by name, from a process of its own."""
    command = [sys.executable, "-m", "trencadis", "list", "engines", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    return {row["name"]: row for row in map(json.loads, result.stdout.splitlines())}


def of_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )


@pytest.fixture(params=ENGINES)
def engine(request):
    row = listed()[request.param]
    if not row["available"]:
        assert "apt install" in row["why_not"]
        pytest.skip(row["why_not"])
    return request.param


def test_one_process_can_have_all_of_them_in_turn():
    available = [name for name in ENGINES if listed()[name]["available"]]
    if len(available) < 2:
        pytest.skip("one of the runtimes is not here; trencadis list engines says which")
    random = np.random.default_rng(1)
    A, b = random.standard_normal((700, 700)), random.standard_normal(700)
    P = A @ A.T + 700 * np.eye(700)
    for name in ("openmp-gnu", "openmp-llvm", "native", "openmp-gnu", "openmp-llvm"):
        with trencadis.session(engine=name):
            x, L = trencadis.solve(A, b), trencadis.cholesky(P, lower=True)
            Q, R = trencadis.qr(A)
        # Backward errors of LAPACK's size: c n eps with c of some units, for matrices of this condition.
        bound = 30 * 700 * np.finfo(float).eps
        assert np.linalg.norm(A @ x - b) <= bound * np.linalg.norm(A, 2) * np.linalg.norm(x)
        assert np.linalg.norm(L @ L.T - P) <= bound * np.linalg.norm(P)
        assert np.linalg.norm(Q @ R - A) <= bound * np.linalg.norm(A)


def test_a_bad_pivot_is_reported(engine):
    P = np.eye(500)
    P[300, 300] = -1
    with trencadis.session(engine=engine), pytest.raises(scipy.linalg.LinAlgError, match="301"):
        trencadis.cholesky(P, lower=True)


def test_what_they_cannot_do_is_refused_by_name(engine):
    for wish, words in (
        ({"scheduler": "eager"}, "chooses the next task itself"),
        ({"slow": {sorted(os.sched_getaffinity(0))[0]: 0.5}}, "cannot emulate slow cores"),
        ({"workers": 10_000}, "10000"),
    ):
        with pytest.raises((ValueError, RuntimeError), match=words), trencadis.session(engine=engine, **wish):
            pass
    if len(os.sched_getaffinity(0)) > 1:
        code = f"import trencadis; trencadis.session(engine='{engine}', workers=2).__enter__()"
        assert "OMP_THREAD_LIMIT is 1" in of_python(code, OMP_THREAD_LIMIT="1").stderr


def test_a_forked_process_is_refused(engine):
    code = f"""
import os, trencadis, numpy as np
with trencadis.session(engine='{engine}'): trencadis.cholesky(np.eye(600))
if os.fork() == 0:
    try:
        trencadis.session(engine='{engine}').__enter__()
    except Exception as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    result = of_python(code)
    assert "forked" in result.stdout, result


def test_another_runtime_under_the_name_is_refused(tmp_path):
    """As some distributions lay LLVM's runtime under the name of GNU's."""
    if not all(row["available"] for name, row in listed().items() if name in ENGINES):
        pytest.skip("is about libomp under the name of libgomp, and needs both; trencadis list engines says what is missing")
    code = "import trencadis; trencadis.session(engine='openmp-llvm').__enter__(); print(open('/proc/self/maps').read())"
    library = next(word for word in of_python(code).stdout.split() if pathlib.Path(word).name.startswith("libomp"))
    (tmp_path / "libgomp.so.1").symlink_to(library)
    folders = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    row = listed(LD_LIBRARY_PATH=folders)["openmp-gnu"]
    assert not row["available"]
    assert "which is not libgomp" in row["why_not"]


@pytest.mark.alone
def test_ctrl_c_ends_a_call_within_a_second(engine):
    code = f"""
import os, signal, threading, time
import numpy as np
import trencadis
A = np.random.default_rng(3).standard_normal((4500, 4500))
sent = []
def send():
    time.sleep(0.2)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
with trencadis.session(engine='{engine}'):
    threading.Thread(target=send, daemon=True).start()
    try:
        trencadis.qr(A, mode='r')
        print("over", flush=True)
        time.sleep(2)
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0], flush=True)
"""

    def seconds():
        result = of_python(code)
        assert result.stdout and "over" not in result.stdout, result
        return float(result.stdout)

    assert soonest(seconds, within=1) < 1


AFTER_A_BOUND_THREAD = """
import os, sys, threading
import numpy as np
import trencadis

cores, A = os.sched_getaffinity(0), np.eye(700) * 4

def compute(workers):
    with trencadis.session(engine=sys.argv[1], workers=workers):
        trencadis.cholesky(A)

def bound():
    os.sched_setaffinity(0, {min(cores)})
    compute([min(cores)])

thread = threading.Thread(target=bound)
thread.start()
thread.join()
compute(sorted(cores))
assert os.sched_getaffinity(0) == cores, os.sched_getaffinity(0)
compute(sorted(cores))
"""


def test_a_first_use_on_a_bound_thread_takes_no_cores_from_the_others(engine):
    run = subprocess.run([sys.executable, "-c", AFTER_A_BOUND_THREAD, engine], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_a_record_names_no_scheduler_where_none_was_asked():
    for engine in ("sequential", *(name for name in ENGINES if listed()[name]["available"])):
        command = [sys.executable, "-m", "trencadis", "bench", "potrf", "--n", "64", "--repeat", "1", "--engine", engine]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert f"{engine} engine, workers on" in shown.stdout, shown
        shown = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, timeout=300)
        assert json.loads(shown.stdout)["scheduler"] is None
    with trencadis.session(engine="sequential") as session:
        assert session.options()["scheduler"] == "" and "scheduler" not in repr(session)
