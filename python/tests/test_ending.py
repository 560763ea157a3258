"""The interpreter ends while a daemon thread computes: the exit status is the program's."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.alone

# Several threads come back from calls at any instant of the end; it is about those that wait for the interpreter lock then.
PROGRAM = """
import sys, threading, time
import numpy as np
import trencadis, trencadis.lapack
random = np.random.default_rng(7)
A = random.standard_normal(({n}, {n}))
S = A @ A.T + {n} * np.eye({n})
def compute(): {call}
compute()
started = threading.Barrier(4)
def daemon():
    started.wait()
    while True: compute()
for _ in range(3): threading.Thread(target=daemon, daemon=True).start()
started.wait()
until = time.monotonic() + {seconds}
while time.monotonic() < until: pass
sys.exit(3)
"""

CALLS = {
    "solve": "trencadis.solve(A, S)",
    "solve-pos": "trencadis.solve(S, A, assume_a='pos')",
    "matmul": "trencadis.matmul(A, A)",
    "qr": "trencadis.qr(A)",
    "pivoted-qr": "trencadis.qr(A, pivoting=True)",
    "inv": "trencadis.inv(A)",
    "lu_factor": "trencadis.lu_factor(A)",
    "stack": "trencadis.inv(np.broadcast_to(A[:40, :40], (500, 40, 40)))",
    "lapack": "trencadis.lapack.dtrtri(S)",
}


# Between its own end and that of the process the interpreter is gone for so long.
LATER = """
import ctypes
libc = ctypes.CDLL(None)
libc.__cxa_atexit(ctypes.cast(libc.usleep, ctypes.c_void_p), ctypes.c_void_p(300_000), None)
"""


def test_a_call_that_asks_for_ctrl_c_after_the_end_of_the_interpreter_leaves_the_exit_status():
    code = LATER + PROGRAM.format(n=2500, seconds=0.1, call=CALLS["solve"])  # so long that none asks while the interpreter ends
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        assert (result.returncode, result.stderr) == (3, "")


@pytest.mark.parametrize("call", CALLS)
def test_a_daemon_thread_that_computes_at_the_end_leaves_the_exit_status(call):
    for n, seconds in ((60, 0.05), (700, 0.12), (700, 0.31)):
        code = PROGRAM.format(n=n, seconds=seconds, call=CALLS[call])
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        assert (result.returncode, result.stderr) == (3, ""), (n, seconds)
