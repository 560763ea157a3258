"""Arrays that only NumPy can read where they lie are copied: the answer is that of a plain one."""

import numpy as np
import pytest
import trencadis
from matrices import positive_definite, random_array
from trencadis import lapack

N = 5


def in_records(a):
    """Fields of records, at distances that are no multiple of their own size."""
    records = np.zeros(a.shape, [("x", a.dtype), ("mark", a.real.dtype)], order="F" if a.flags.f_contiguous else "C")
    records["x"] = a
    return records["x"]


def among_reals(a):
    """Complex numbers in the rows of a real matrix with an odd number of columns."""
    rows = np.zeros((len(a), 2 * a.size // len(a) + 1), a.real.dtype)
    view = rows[:, :-1].view(a.dtype)
    view[...] = a.reshape(view.shape)
    return view.reshape(a.shape)


CALLS = {
    "solve": lambda a, b: trencadis.solve(a, b),
    "solve, one right side": lambda a, b: trencadis.solve(a, b[:, 0]),
    "solve, overwritten": lambda a, b: trencadis.solve(a.copy(), b, overwrite_b=True),
    "solve, general": lambda a, b: trencadis.solve(a, b, assume_a="gen"),
    "solve, positive definite": lambda a, b: trencadis.solve(a, b, assume_a="pos"),
    "solve, diagonal": lambda a, b: trencadis.solve(a, b, assume_a="diagonal"),
    "solve, triangular": lambda a, b: trencadis.solve(a, b, assume_a="upper triangular"),
    "solve, tridiagonal": lambda a, b: trencadis.solve(a, b, assume_a="tridiagonal"),
    "solve, variant": lambda a, b: trencadis.solve(a, b, variant="packed"),
    "solve, stack": lambda a, b: trencadis.solve(np.broadcast_to(a, (3, N, N)), b),
    "inv": lambda a, b: trencadis.inv(a),
    "inv, diagonal": lambda a, b: trencadis.inv(a, assume_a="diagonal"),
    "inv, stack": lambda a, b: trencadis.inv(np.broadcast_to(a, (3, N, N))),
    "det": lambda a, b: trencadis.det(a),
    "cholesky": lambda a, b: trencadis.cholesky(a),
    "cho_factor": lambda a, b: trencadis.cho_factor(a, lower=True)[0],
    "cho_solve": lambda a, b: trencadis.cho_solve((a, True), b),
    "lu": lambda a, b: trencadis.lu(a, permute_l=True),
    "lu_factor": lambda a, b: trencadis.lu_factor(a)[0],
    "lu_factor, stack": lambda a, b: trencadis.lu_factor(np.broadcast_to(a, (3, N, N)))[0],
    "lu_solve": lambda a, b: trencadis.lu_solve((a, np.arange(N)), b),
    "qr": lambda a, b: trencadis.qr(a),
    "qr, pivoting": lambda a, b: trencadis.qr(a, pivoting=True),
    "qr_multiply": lambda a, b: trencadis.qr_multiply(a, b, mode="left"),
    "rq": lambda a, b: trencadis.rq(a),
    "orth": lambda a, b: trencadis.orth(a),
    "lstsq": lambda a, b: trencadis.lstsq(a, b)[0],
    "solve_triangular": lambda a, b: trencadis.solve_triangular(a, b, lower=True),
    "solve_triangular, transposed": lambda a, b: trencadis.solve_triangular(a, b, trans="C"),
    "matmul": lambda a, b: trencadis.matmul(a, b),
    "matmul, stack": lambda a, b: trencadis.matmul(np.broadcast_to(a, (3, N, N)), b),
    "matmul, transposed": lambda a, b: trencadis.matmul(b.T, a.T),
    "matmul, out": lambda a, b: trencadis.matmul(a, a.copy(), out=a),
    "IncrementalLU": lambda a, b: trencadis.IncrementalLU(a).solve(b),
    "TileQR": lambda a, b: trencadis.TileQR(a).solve(b),
}


def unaligned(a):
    """As in a file behind a header of four bytes."""
    view = np.frombuffer(bytearray(4 + a.nbytes), a.dtype, offset=4).reshape(a.shape, order="F" if a.flags.f_contiguous else "C")
    view[...] = a
    return view


def alike(call, a, b, odd):
    got, expected = call(odd(a), odd(b)), call(a.copy(order="K"), b.copy(order="K"))
    for one, other in zip(*(x if type(x) is tuple else (x,) for x in (got, expected)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        # The answers may come by other ways; a is as well conditioned as a few, and N is small.
        assert np.abs(one - other).max() <= 100 * N * np.finfo(a.dtype).eps * max(1, np.abs(other).max())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("odd", "dtype"), [(in_records, "D"), (among_reals, "F")])
def test_strides_of_fractions_of_an_element_are_taken(name, odd, dtype):
    alike(CALLS[name], positive_definite(N, dtype), random_array((N, 2), dtype), odd)


LAPACK_CALLS = {
    "getrs": lambda a, b: lapack.dgetrs(a, np.arange(N), b)[0],
    "potrs": lambda a, b: lapack.dpotrs(a, b)[0],
    "trtrs": lambda a, b: lapack.dtrtrs(a, b)[0],
    "lange": lambda a, b: np.array(lapack.dlange("1", a)),
    "gecon": lambda a, b: np.array(lapack.dgecon(a, 1.0)[0]),
    "orgqr": lambda a, b: lapack.dorgqr(a, b[:, 0])[0],
    "ormqr": lambda a, b: lapack.dormqr("L", "N", a, b[:, 0], b, 100)[0],
    "gesv": lambda a, b: lapack.dgesv(a, b)[2],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", [*CALLS, *LAPACK_CALLS])
def test_arrays_that_are_not_aligned_are_taken(name, order):
    a, b = (np.array(x, order=order) for x in (positive_definite(N, "d"), random_array((N, 2), "d")))
    alike({**CALLS, **LAPACK_CALLS}[name], a, b, unaligned)


def read_only(a):
    """In the order that LAPACK could overwrite."""
    a = np.array(a, order="F")
    a.flags.writeable = False
    return a


TRIDIAGONAL = np.diag(np.full(N, 4.0)) + np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1)


@pytest.mark.parametrize("a", [TRIDIAGONAL, np.triu(TRIDIAGONAL), np.eye(N) + 1], ids=["tridiagonal", "triangular", "full"])
@pytest.mark.parametrize("b", [np.ones(N), np.ones((N, 2))], ids=["vector", "matrix"])
@pytest.mark.parametrize(
    "solve",
    [
        lambda a, b: trencadis.solve(a, b, overwrite_a=True, overwrite_b=True),
        lambda a, b: trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, transposed=True),
        lambda a, b: trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a="banded"),
        lambda a, b: trencadis.lstsq(a, b, overwrite_a=True, overwrite_b=True, lapack_driver="gelss"),
        lambda a, b: trencadis.solve_triangular(a, b, overwrite_b=True),
        lambda a, b: trencadis.lu_solve(trencadis.lu_factor(a, overwrite_a=True), b, overwrite_b=True),
        lambda a, b: trencadis.cho_solve(trencadis.cho_factor(a, overwrite_a=True), b, overwrite_b=True),
    ],
    ids=["solve", "transposed", "banded", "lstsq", "solve_triangular", "lu_solve", "cho_solve"],
)
def test_what_may_be_overwritten_and_is_read_only_stays(solve, a, b):
    """A map of a file for reading would end the process."""
    a1, b1 = read_only(a), read_only(b)
    solve(a1, b1)
    assert np.array_equal(a1, a) and np.array_equal(b1, b)
