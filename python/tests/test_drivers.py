"""Drivers of devices as guests in this process: there when a device is asked for, and not before."""

import os
import subprocess
import sys

import pytest

ALONE = """
import numpy as np, trencadis
A = np.eye(300) * 2
trencadis.cholesky(A)
print(open("/proc/self/maps").read())
"""

TOGETHER = """
import os, signal, sys, time
import numpy as np, trencadis
try:
    session = trencadis.session(devices="opencl:0,memory=64MiB,always=yes")
    session.__enter__()
except Exception as error:
    print("none:", error)
    sys.exit()
A = np.eye(300) * 2
for _ in range(3):
    assert np.array_equal(trencadis.matmul(A, A), A * 2)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted", "libtrencadis_opencl" in open("/proc/self/maps").read())
"""


def run(program):
    environment = {**os.environ, "CLBLAST_BUILD_OPTIONS": " -cl-opt-disable "}  # compiled in 2 s instead of 10 to 40
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, check=True
    )
    return done.stdout


def test_a_process_that_asks_for_no_device_has_no_driver_in_it():
    maps = run(ALONE)
    assert "libtrencadis" in maps
    for library in ("libOpenCL", "libclblast", "libpocl", "libLLVM", "libcuda", "libtrencadis_opencl"):
        assert library not in maps


def test_an_interrupt_is_the_programs_own_beside_a_driver():
    said = run(TOGETHER)
    if said.startswith("none:"):
        pytest.skip(said)
    assert said == "interrupted True\n"
