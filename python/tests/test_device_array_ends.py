"""How arrays on devices end: with their device, with the program, and their session with them."""

import gc
import subprocess
import sys

import numpy as np
import pytest
import trencadis


def test_arrays_that_live_until_the_program_ends_end_with_it():
    program = """
import numpy as np, trencadis
with trencadis.session(workers=1, devices="emulated,always=yes") as session:
    A = session.device_array(np.eye(8, order="F"))
    held, unused = trencadis._core.Tensor(A.__dlpack__()), A.__dlpack__(max_version=(1, 0))
    B = trencadis.device_arrays.taken(type("Other", (), {"__dlpack__": lambda s, **w: A.__dlpack__(**w),
                                                         "__dlpack_device__": lambda s: (12, 0)})(), "a")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("fault", ["fail-copy=9", "fail-kernel=5", "lose-at=12", "lose-at=1"])
def test_a_device_that_fails_is_said_and_nothing_hangs(fault):
    with trencadis.session(workers=1, scheduler="h2", devices=f"emulated:2,memory=32MiB,always=yes,{fault}") as session:
        n, right = 400, 0
        a = np.eye(n, order="F") * n + 1
        for _ in range(4):
            try:
                A = session.device_array(a)
                c, _ = trencadis.cho_factor(A, lower=True, overwrite_a=True)
                assert np.abs(np.tril(c.to_host()) @ np.tril(c.to_host()).T - a).max() < 1e-9 * n
                right += 1
            except RuntimeError as error:
                assert "emulated" in str(error) and "\n" not in str(error)
        assert right < 4, "none of the faults came about"
        host, _ = trencadis.cho_factor(a, lower=True)
        assert np.abs(np.tril(host) @ np.tril(host).T - a).max() < 1e-9 * n


def test_a_session_lives_as_long_as_its_arrays():
    with trencadis.session(workers=1, devices="emulated") as session:
        A = session.device_array(np.eye(8))
    del session
    gc.collect()
    assert np.array_equal(A.to_host(), np.eye(8))
