"""A GPU that has less memory than was counted on, over the stand-ins for NVIDIA's libraries: kernels that find none,
in sessions and in programs that nobody recompiles."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAND_IN = ROOT / "build" / "fake_cuda"

pytestmark = pytest.mark.skipif(
    not (STAND_IN / "libcuda.so.1").exists(), reason=f"{STAND_IN} is not built: cmake --build build --target test_cuda"
)

BEGIN = """
import ctypes
import numpy as np
fake = ctypes.CDLL("libcuda.so.1")
rng = np.random.default_rng(1)
n = 300
M = np.asfortranarray(rng.standard_normal((n, n)))
S = np.asfortranarray(M @ M.T + n * np.eye(n))
"""


def run(program, folder, **environment):
    here = {"TRENCADIS_CUDA": str(STAND_IN), "LD_LIBRARY_PATH": str(STAND_IN), "XDG_CACHE_HOME": str(folder)}
    words = [sys.executable, "-W", "error", "-c", BEGIN + program]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=os.environ | here | environment, check=False)


# What finds no memory, by its function's code for that.
KERNELS = {"cusolverDnDpotrf_bufferSize": 2, "cusolverDnDpotrf": 2, "cublasDgemm_v2": 3, "cublasDtrsm_v2": 3, "cublasDsyrk_v2": 3}


@pytest.mark.parametrize("symbol", KERNELS)
@pytest.mark.parametrize("how", ["fake_cuda_fail", "fake_cuda_fail_from"])
def test_a_kernel_without_memory_takes_no_device_and_no_array(symbol, how, tmp_path):
    done = run(
        f"""
import trencadis
with trencadis.session(devices="cuda:0,always=yes,memory=32MiB", workers=1, scheduler="h2") as session:
    keep = session.device_array(M)
    for number in (1, 3):
        fake.{how}(b"{symbol}", number, {KERNELS[symbol]})
        A = S.copy("F")
        assert trencadis._core.potrf(session, "L", A, 60, "in-place") == 0
        L = np.tril(A)
        assert np.abs(L @ L.T - S).max() < 1e-10
        fake.fake_cuda_mend()
    assert session.device_traffic()[0]["fault"] is None, session.device_traffic()
    assert np.array_equal(keep.to_host(), M)
""",
        tmp_path,
    )
    assert done.returncode == 0 and not done.stderr, done


@pytest.mark.parametrize("symbol", ["cusolverDnDgetrf_bufferSize", "cusolverDnDgetrf"])
@pytest.mark.parametrize("scheduler", ["h2", "mosaic", "locality-default"])
def test_lu_of_an_array_without_memory_fails_or_is_right_and_leaves_other_arrays(symbol, scheduler, tmp_path):
    done = run(
        f"""
import trencadis
with trencadis.session(devices="cuda:0,memory=32MiB,always=yes", workers=1, scheduler="{scheduler}") as session:
    keep = session.device_array(M)
    def factor(a):
        pivots = np.zeros(n, np.int64)
        return trencadis._core.getrf_on_device(session, "d", n, n, a._memory.address, n, pivots.ctypes.data, n)
    right = session.device_array(M)
    assert factor(right) == 0
    again = session.device_array(M)
    fake.fake_cuda_fail(b"{symbol}", 1, 2)
    assert factor(again) == 0
    assert np.allclose(again.to_host(), right.to_host(), rtol=0, atol=1e-9) # a core sums in another order
    untouched = session.device_array(M)
    fake.fake_cuda_fail_from(b"{symbol}", 1, 2)
    try:
        assert factor(untouched) == 0 # by a core
    except MemoryError as error:
        assert "CUSOLVER_STATUS_ALLOC_FAILED" in str(error) and "\\n" not in str(error), error
    fake.fake_cuda_mend()
    assert session.device_traffic()[0]["fault"] is None
    assert np.array_equal(keep.to_host(), M)
    assert factor(session.device_array(M)) == 0
""",
        tmp_path,
    )
    assert done.returncode == 0 and not done.stderr, done


@pytest.mark.parametrize("number", [1, 12])
def test_a_program_that_nobody_recompiles_goes_on(number, tmp_path):
    done = run(
        f"""
fake.fake_cuda_fail_from(b"cublasDgemm_v2", {number}, 3)
n = 600
M = rng.standard_normal((n, n))
S = M @ M.T + n * np.eye(n)
for _ in range(4):
    L = np.linalg.cholesky(S)
    assert np.abs(L @ L.T - S).max() < 1e-9
""",
        tmp_path,
        LD_PRELOAD=str(ROOT / "build/lib/libtrencadis_lapack.so"),
        TRENCADIS_DEVICES="cuda:0,always=yes,memory=32MiB",
        TRENCADIS_SCHEDULER="h2",
    )
    assert done.returncode == 0, done


def test_memory_that_the_program_has_locked_goes_by_no_buffers(tmp_path):
    done = run(
        """
import trencadis
def aligned(values):
    raw = np.zeros(values.nbytes + 4096, np.uint8)
    begin = -raw.ctypes.data % 4096
    array = raw[begin : begin + values.nbytes].view("d").reshape(values.shape, order="F")
    array[...] = values
    return array
A, C = (aligned(rng.standard_normal((1024, 1024))) for _ in range(2))
fake.cuInit(0)
context = ctypes.c_void_p()
fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
fake.cuCtxPushCurrent_v2(context)
for X in (A, C):
    assert fake.cuMemHostRegister_v2(ctypes.c_void_p(X.ctypes.data), ctypes.c_size_t(X.nbytes), 1) == 0
right = A @ A
with trencadis.session(devices="cuda:0,always=yes,memory=48MiB", workers=1, scheduler="h2") as session:
    with session.resident(A, C):
        trencadis._core.gemm(session, "N", "N", 1, A, A, 0, C, 256, "in-place")
    device = session.device_traffic()[0]
assert device["bytes_to"] > 0 and device["bytes_staged"] == 0, device
assert np.abs(C - right).max() < 1e-9
for X in (A, C):
    assert fake.cuMemHostUnregister(ctypes.c_void_p(X.ctypes.data)) == 0, "it is the program's to unlock"
""",
        tmp_path,
    )
    assert done.returncode == 0, done


def test_standard_sessions_of_other_limits_leave_each_other_the_devices_memory(tmp_path):
    done = run(
        """
import trencadis
fake.fake_cuda_used.restype = ctypes.c_ulong
limit, spare = 8 << 20, 4096 # answers of factorizations, of which none is asked for
A = rng.standard_normal((1200, 1200))
right = A @ A
for workers in (2, 1, 2):
    trencadis.set_num_threads(workers)
    assert fake.fake_cuda_used() <= spare, "nothing is left of the last one's"
    assert np.abs(trencadis.matmul(A, A) - right).max() < 1e-9
    assert spare < fake.fake_cuda_used() <= limit + spare
""",
        tmp_path,
        TRENCADIS_DEVICES="cuda:0,always=yes,memory=8MiB",
        TRENCADIS_SCHEDULER="h2",
    )
    assert done.returncode == 0, done
