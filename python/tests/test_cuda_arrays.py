"""Arrays of other libraries on NVIDIA's GPUs, over the stand-ins for its libraries: DLPack's streams, and
`__cuda_array_interface__`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STAND_IN = Path(__file__).parents[2] / "build" / "fake_cuda"

pytestmark = pytest.mark.skipif(
    not (STAND_IN / "libcuda.so.1").exists(), reason=f"{STAND_IN} is not built: cmake --build build --target test_cuda"
)

BEGIN = """
import ctypes
import numpy as np
import trencadis
from trencadis.device_arrays import taken
fake = ctypes.CDLL("libcuda.so.1")
def waited_for():
    fake.fake_cuda_last_synchronized.restype = ctypes.c_ulong
    return fake.fake_cuda_last_synchronized()
rng = np.random.default_rng(1)
a = np.asfortranarray(rng.standard_normal((40, 40)) + 9 * np.eye(40))
class OfCuda:
    def __init__(self, array, **changes):
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | changes
class Interface:
    def __init__(self, said): self.__cuda_array_interface__ = said
def Without(array, key): return Interface({k: v for k, v in array.__cuda_array_interface__.items() if k != key})
class ByDlpack:
    streams = []
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return self.array.__dlpack_device__()
    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return self.array.__dlpack__(max_version=max_version)
def refused(call):
    try:
        call()
    except (ValueError, TypeError) as error:
        assert "\\n" not in str(error), error
        return str(error)
    raise AssertionError("it was not refused")
with trencadis.session(workers=1, devices="cuda:all,memory=4MiB") as session:
    A, B, C = (session.device_array(a, device) for device in (0, 1, 1))
"""

TESTS = {
    "both interfaces give the memory": """
    assert A.__dlpack_device__() == (2, 0) and B.__dlpack_device__() == (2, 1)
    said = B.__cuda_array_interface__
    assert said["shape"] == (40, 40) and said["typestr"] == "<f8" and said["strides"] == (8, 320) and said["version"] == 3
    assert said["data"] == (trencadis._core.Tensor(B.__dlpack__()).memory, False)
    assert np.array_equal(B.to_host(), a)
    """,
    "DLPack's makers make data ready on the default stream, which is waited for": """
    taken(ByDlpack(A), "a")
    assert waited_for() == 1
    ByDlpack.streams.clear()
    trencadis.matmul(ByDlpack(A), ByDlpack(B), out=ByDlpack(C))
    assert ByDlpack.streams == [1, 1, 1], ByDlpack.streams
    assert np.abs(C.to_host() - a @ a).max() < 1e-11
    """,
    "the interface names a device by its memory, and a stream": """
    for stream in (1, 2):
        assert taken(OfCuda(A, stream=stream), "a").device == 0
        assert waited_for() == stream
    assert taken(OfCuda(B, stream=None), "b").device == 1
    assert taken(OfCuda(B, stream=1, version=2), "b").device == 1
    assert waited_for() == 2, "nothing was to be waited for"
    trencadis.matmul(OfCuda(A), OfCuda(B), out=OfCuda(C))
    assert np.abs(C.to_host() - a @ a).max() < 1e-11
    x = trencadis.solve(OfCuda(A), np.ones(40), assume_a="gen")
    assert np.abs(a @ x - 1).max() < 1e-11
    """,
    "a stream is that of the device that has the memory": """
    waited = []
    trencadis._core.synchronize_device = lambda session, device, stream: waited.append((device, stream))
    for array in (OfCuda(A, stream=2), OfCuda(B, stream=2), ByDlpack(B)): taken(array, "a")
    assert waited == [(0, 2), (1, 2), (1, 1)], waited
    """,
    "what the interface says wrong is refused": """
    assert "stream 0" in refused(lambda: trencadis.matmul(OfCuda(A, stream=0), A))
    assert "mask" in refused(lambda: trencadis.matmul(OfCuda(A, mask=A), A))
    assert "dtype int64" in refused(lambda: trencadis.matmul(OfCuda(A, typestr="<i8"), A))
    assert "dtype >f8" in refused(lambda: trencadis.matmul(OfCuda(A, typestr=">f8"), A))
    assert "no whole elements" in refused(lambda: trencadis.matmul(OfCuda(A, strides=(4, 320)), A))
    assert "no 'data'" in refused(lambda: trencadis.matmul(Without(A, "data"), A))
    assert "no 'typestr'" in refused(lambda: trencadis.matmul(Without(A, "typestr"), A))
    assert "data is None, must be a pair" in refused(lambda: trencadis.matmul(OfCuda(A, data=None), A))
    assert "data is 1.5, must be a whole number" in refused(lambda: trencadis.matmul(OfCuda(A, data=(1.5, False)), A))
    for stream, said in ((-1, "has the stream -1; 1 and 2 are"), (2**64, "has the stream"), ("x", "stream is 'x', must be")):
        assert said in refused(lambda stream=stream: trencadis.matmul(OfCuda(A, stream=stream), A)), stream
    for shape in ((40.0, 40), 40, ("40", 40)):
        assert "must be whole numbers" in refused(lambda shape=shape: trencadis.matmul(OfCuda(A, shape=shape), A)), shape
    assert "has 1 stride beside a shape of 2" in refused(lambda: trencadis.matmul(OfCuda(A, strides=(8,)), A))
    assert "has the typestr 'zz', must be" in refused(lambda: trencadis.matmul(OfCuda(A, typestr="zz"), A))
    assert "has the typestr None, must be" in refused(lambda: trencadis.matmul(OfCuda(A, typestr=None), A))
    assert "no memory lies there" in refused(lambda: trencadis.matmul(OfCuda(A, strides=(8, 2**70)), A))
    assert "must be a dictionary" in refused(lambda: trencadis.matmul(Interface(5), A))
    within = OfCuda(A, data=(A.__cuda_array_interface__["data"][0] + 4, False), shape=(39, 40))
    assert "no multiple of the 8 bytes of float64" in refused(lambda: trencadis.matmul(within, A))
    assert "negative" in refused(lambda: trencadis.matmul(OfCuda(A, strides=(8, -320)), A))
    assert "no memory of cuda 1" in refused(lambda: trencadis.matmul(OfCuda(A, data=(a.ctypes.data, False)), A))
    frozen = OfCuda(C, data=(C.__cuda_array_interface__["data"][0], True))
    assert "is read-only" in refused(lambda: trencadis.matmul(A, A, out=frozen))
    assert "no memory of" in refused(lambda: trencadis.matmul(OfCuda(A, shape=(40, 40000)), A))
    assert "out shares memory with a" in refused(lambda: trencadis.matmul(OfCuda(A), B, out=OfCuda(A)))
    assert "b shares memory with a" in refused(lambda: trencadis.solve(ByDlpack(A), OfCuda(A), assume_a="gen", overwrite_b=True))
    """,
    "factors and solutions": """
    s = a @ a.T + 40 * np.eye(40)
    S = session.device_array(np.asfortranarray(s), 1)
    c, _ = trencadis.cho_factor(OfCuda(S), lower=True)
    L = np.tril(c.to_host())
    assert np.abs(L @ L.T - s).max() < 1e-10
    assert trencadis.cho_factor(S, lower=True, overwrite_a=True)[0] is S
    """,
    "LU stays there": """
    from scipy import linalg
    for dtype, unit in (("f", 6e-8), ("d", 2e-16), ("F", 6e-8), ("D", 2e-16)):
        for m, n in ((40, 40), (90, 30), (30, 90)):
            b = rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if dtype in "FD" else 0)
            b = np.array(b.astype(dtype), order="F")
            there = session.device_array(b)
            lu, piv = trencadis.lu_factor(there)
            assert session.last_variant("getrf")[0] == "columns"
            L = np.eye(m, min(m, n), dtype=dtype) + np.tril(lu.to_host(), -1)[:, :min(m, n)]
            U = np.triu(lu.to_host())[:min(m, n)]
            rows = np.arange(m)
            for i, with_row in enumerate(piv): rows[[i, with_row]] = rows[[with_row, i]]
            assert np.abs(L @ U - b[rows]).max() < 100 * max(m, n) * unit, (dtype, m, n)
            assert np.array_equal(piv, linalg.lu_factor(b)[1]), (dtype, m, n)
            if m != n: continue
            x = np.array((rng.standard_normal((n, 3))).astype(dtype), order="F")
            right = session.device_array(np.array(b @ x, order="F"), 1)
            # The condition of a random matrix of order 40 is below 10^4.
            assert np.abs(trencadis.solve(there, right, assume_a="gen").to_host() - x).max() < 1e5 * unit
            assert np.abs(trencadis.lu_solve((lu, piv), right).to_host() - x).max() < 1e5 * unit
    zero = np.array(a); zero[:, 17] = 0
    try:
        trencadis.solve(session.device_array(np.asfortranarray(zero)), np.ones(40), assume_a="gen")
        raise AssertionError("it is singular")
    except linalg.LinAlgError as error:
        assert "singular" in str(error), error
    """,
}


@pytest.mark.parametrize("name", TESTS)
def test_over_the_stand_in(name, tmp_path):
    here = {"TRENCADIS_CUDA": str(STAND_IN), "LD_LIBRARY_PATH": str(STAND_IN), "XDG_CACHE_HOME": str(tmp_path)}
    environment = os.environ | here
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN + TESTS[name]], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stderr
