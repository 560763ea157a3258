"""Arrays of other libraries: those in the host's memory are taken, those on a device refused in one line."""

import numpy as np
import pytest
import trencadis


class Exports:
    """Nothing but DLPack's two methods, as a library's array that NumPy knows nothing of."""

    def __init__(self, array, kind=1, number=0):
        self.array, self.where = array, (kind, number)

    def __dlpack_device__(self):
        return self.where

    def __dlpack__(self, **words):
        assert self.where[0] == 1, "nobody asked where it lies"
        return self.array.__dlpack__(**words)


class OfCuda:
    __cuda_array_interface__ = {  # noqa: RUF012
        "shape": (2, 2), "typestr": "<f8", "data": (4096, False), "version": 3, "stream": 1,
    }  # fmt: skip


A = np.array([[4.0, 1.0], [1.0, 3.0]])
CALLS = {
    "cholesky": trencadis.cholesky,
    "solve": lambda a: trencadis.solve(a, np.ones(2)),
    "solve's right side": lambda a: trencadis.solve(A, a),
    "lu_factor": lambda a: trencadis.lu_factor(a)[0],
    "lu": lambda a: trencadis.lu(a)[2],
    "qr": lambda a: trencadis.qr(a)[1],
    "inv": trencadis.inv,
    "det": trencadis.det,
    "matmul": lambda a: trencadis.matmul(a, A),
    "matmul's second": lambda a: trencadis.matmul(A, a),
    "lstsq": lambda a: trencadis.lstsq(a, np.ones(2))[0],
}


@pytest.mark.parametrize("call", CALLS)
def test_arrays_in_the_hosts_memory_are_taken_by_dlpack(call):
    assert np.array_equal(CALLS[call](Exports(A)), CALLS[call](A))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("array", "said"),
    [
        (Exports(A, 2, 1), "lies on device cuda:1"),
        (Exports(A, 10, 0), "lies on device rocm:0"),
        (Exports(A, 99, 3), "lies on device of kind 99:3"),
        (OfCuda(), "lies on device cuda"),
    ],
    ids=["cuda", "rocm", "unknown", "interface"],
)
def test_arrays_on_a_device_are_refused_in_one_line(call, array, said):
    with pytest.raises(TypeError, match=said) as raised:
        CALLS[call](array)
    assert "copy it there first" in str(raised.value) and "\n" not in str(raised.value)
