"""Ctrl-C in routines that do not spend their time waiting for tasks: within a second, wherever they are."""

import subprocess
import sys

import pytest
from waiting import LONG_S, soonest

pytestmark = pytest.mark.alone

# The call is known to take long enough by being interrupted in it: one that ends before says so.
PROGRAM = """
import os, signal, threading, time
import numpy as np
import trencadis, trencadis.lapack
random = np.random.default_rng(3)
{setup}
def call(): return {call}
for delay in (0.3, 1.0):
    sent = []
    def send():
        time.sleep(delay)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        call()
        print("over", flush=True)
        time.sleep(2)
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0], flush=True)
"""

CALLS = {
    "pivoted-qr": ("A = random.standard_normal((4000, 4000))", "trencadis.qr(A, pivoting=True)"),
    "refinement": ("A = random.standard_normal((1500, 1500))", "trencadis.lapack.dgesvx(A, A)"),
    "pivoted-tall-qr": ("A = random.standard_normal((300000, 150))", "trencadis.qr(A, pivoting=True, mode='r')"),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call_within_a_second(name):
    setup, call = CALLS[name]
    code = PROGRAM.format(setup=setup, call=call)

    def seconds():
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=2 * LONG_S)
        delays = result.stdout.split()
        assert len(delays) == 2 and "over" not in delays, result
        return max(map(float, delays))

    assert soonest(seconds, within=1) < 1
