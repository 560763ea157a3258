"""Stacks of general matrices in one call, several at a time, against one by one and against numpy.linalg."""

import numpy as np
import pytest
import scipy.linalg
import trencadis
from matrices import DTYPES, eps, positive_definite, random_array, solve_error
from trencadis.conversion import copied_stack


def stack_of(count, n, dtype, seed=0):
    """General and positive definite ones, and a triangle, which is solved elsewhere."""
    A = random_array((count, n, n), dtype, seed) + 2 * np.eye(n, dtype=dtype)
    A[::3] = positive_definite(n, dtype)
    A[min(4, count - 1)] = np.tril(A[min(4, count - 1)]) + n * np.eye(n)
    return A.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("count", "n", "nrhs"), [(7, 2, 1), (500, 5, 3), (60, 64, 2), (9, 255, 4), (5, 256, 1), (3, 257, 2), (2, 200, 1400)]
)
def test_each_system_of_a_stack_is_solved(count, n, nrhs, dtype):
    A, B = stack_of(count, n, dtype), random_array((count, n, nrhs), dtype, seed=1)
    kept = A.copy()
    for a in (A, np.asfortranarray(A), A[:, ::-1, ::-1]):
        X = trencadis.solve(a, B)
        assert X.dtype == dtype and max(map(solve_error, a, X, B)) < 10
    assert np.array_equal(A, kept)
    if dtype == np.float64:
        assert max(map(solve_error, A.swapaxes(1, 2), trencadis.solve(A, B, transposed=True), B)) < 10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "n"), [(300, 5), (30, 64), (4, 256), (2, 257)])
def test_inverses_factors_and_determinants_of_stacks(count, n, dtype):
    A = stack_of(count, n, dtype)
    X = trencadis.inv(A)
    for a, x in zip(A, X, strict=True):
        assert np.abs(a @ x - np.eye(n)).max() < 10 * n * np.linalg.cond(a) * eps(dtype)
    lu, piv = trencadis.lu_factor(A)
    assert all(np.array_equal(p, scipy.linalg.lu_factor(a)[1]) for a, p in zip(A, piv, strict=True))
    b = random_array((count, n, 1), dtype, seed=1)
    assert max(map(solve_error, A, trencadis.lu_solve((lu, piv), b), b)) < 10
    P, L, U = trencadis.lu(A)
    assert np.abs(P @ L @ U - A).max() < 10 * n * np.abs(A).max() * eps(dtype)
    sign, logarithm = np.linalg.slogdet(A.astype(np.complex128))
    if logarithm.max() < 600:
        ratio = trencadis.det(A) / (sign * np.exp(logarithm))
        assert np.abs(ratio - 1).max() < 10 * n * np.linalg.cond(A).max() * eps(dtype)


def test_the_first_singular_matrix_is_named_whoever_finds_it():
    singular, triangle = np.ones((4, 4)), np.diag([1.0, 0, 3, 4])
    well = stack_of(6, 4, np.float64)[1]
    for order, first in (([well, triangle, singular], 1), ([well, well, singular, triangle], 2), ([triangle, singular], 0)):
        for call in (lambda a: trencadis.solve(a, np.ones(4)), trencadis.inv):
            with pytest.raises(np.linalg.LinAlgError, match=rf"slice\(s\) \[{first}\] are singular"):
                call(np.stack(order))


def test_ill_conditioned_matrices_are_named_in_their_order():
    bad_general = random_array((4, 4), np.float64) * np.geomspace(1, 1e-20, 4)[:, None]
    stack = np.stack([bad_general, np.eye(4), np.diag([1.0, 1, 1, 1e-18]), bad_general, scipy.linalg.hilbert(4), np.eye(4)])
    for call in (lambda a: trencadis.solve(a, np.ones(4)), trencadis.inv):
        with pytest.warns(scipy.linalg.LinAlgWarning) as warned:
            call(stack)
        assert len(warned) == 1 and warned[0].filename == __file__
        assert [word for word in str(warned[0].message).replace(":", "").split() if word.isdigit()] == ["0", "2", "3"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_ill_conditioned_matrix_of_a_stack_is_missed(dtype):
    """Most are known to be harmless by a bound; one that is not must be estimated, also where rows or columns are to blame."""
    n, eps = 8, np.finfo(dtype).eps
    conditions = np.tile([1e2, 0.01 / eps, 100 / eps, 1e4 / eps], 10)
    spread = [np.geomspace(1, 1 / condition, n).astype(dtype(0).real.dtype) for condition in conditions]
    orthogonal = [np.linalg.qr(random_array((n, n), dtype, seed=seed))[0] for seed in range(len(spread) + 1)]
    stack = np.stack([(orthogonal[i] * values) @ orthogonal[i + 1] for i, values in enumerate(spread)])
    stack[2::8] = orthogonal[0] * spread[2]
    stack[3::8] = orthogonal[0] * spread[3][:, None]
    stack[7::8] = np.tril(orthogonal[1] + 1, -1) + np.diag(spread[3])
    with pytest.warns(scipy.linalg.LinAlgWarning) as warned:
        trencadis.solve(stack, np.ones(n, dtype), assume_a="gen")
    named = [int(word) for word in str(warned[0].message).replace(":", "").split() if word.isdigit()]
    judged = []
    for i, matrix in enumerate(stack):
        lu, _ = scipy.linalg.lu_factor(matrix)
        rcond, _ = scipy.linalg.get_lapack_funcs("gecon", dtype=dtype)(lu, np.abs(matrix).sum(0).max())
        judged += [i] * bool(rcond < eps)
    assert named == judged and 15 < len(judged) < 25


def test_a_positive_definite_matrix_of_doubtful_condition_is_judged_by_the_estimate():
    stack = np.stack([scipy.linalg.hilbert(12), np.eye(12), scipy.linalg.hilbert(12)])
    with pytest.warns(scipy.linalg.LinAlgWarning, match="slice 0 has rcond = .*slice 2 has rcond"):
        trencadis.solve(stack, np.ones(12))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_stacks_of_positive_definite_systems_use_one_triangle(lower, dtype):
    for count, n in ((300, 6), (20, 64), (4, 100), (2, 257)):
        A = np.stack([positive_definite(n, dtype, seed=s % 5) for s in range(count)])
        B = random_array((count, n, 3), dtype, seed=1)
        half = A.copy()
        half[:, np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1)] = 7
        X = trencadis.solve(half, B, lower=lower, assume_a="pos")
        assert X.dtype == dtype and max(map(solve_error, A, X, B)) < 10
    half[1, 2, 2] = -1
    with pytest.raises(np.linalg.LinAlgError, match="^3-th leading minor"):
        trencadis.solve(half, B, lower=lower, assume_a="pos")
    hilbert = np.stack([np.eye(12), scipy.linalg.hilbert(12), np.eye(12)])
    with pytest.warns(scipy.linalg.LinAlgWarning, match="slice 1 has rcond"):
        trencadis.solve(hilbert, np.ones(12), lower=lower, assume_a="pos")
    with pytest.raises(np.linalg.LinAlgError, match="^5-th leading minor"):
        hilbert[2, 4, 4] = 0
        trencadis.solve(hilbert, np.ones(12), lower=lower, assume_a="pos")


def test_stacks_are_solved_in_any_session():
    A, b = stack_of(400, 16, np.float64), random_array((400, 16, 1), np.float64, seed=1)
    for options in ({"workers": 1}, {"scheduler": "ws"}, {"engine": "sequential"}):
        with trencadis.session(**options):
            assert max(map(solve_error, A, trencadis.solve(A, b), b)) < 10
            assert trencadis.det(A).shape == (400,)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(("count", "n"), [(1, 3), (700, 5), (35, 64), (5, 65), (3, 256), (2, 257)])
def test_cholesky_factors_of_stacks(count, n, lower, dtype):
    A = np.stack([positive_definite(n, dtype, seed=s % 5) for s in range(count)])
    kept = A.copy()
    for a in (A, np.asfortranarray(A), A[:, ::-1, ::-1]):
        C = trencadis.cholesky(a, lower=lower)
        assert C.dtype == dtype and not (np.triu(C, 1) if lower else np.tril(C, -1)).any()
        product = C @ C.conj().swapaxes(1, 2) if lower else C.conj().swapaxes(1, 2) @ C
        assert np.abs(product - a).max() < 10 * n * np.abs(a).max() * eps(dtype)
    other = np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1)
    assert np.array_equal(trencadis.cho_factor(A, lower=lower)[0][:, other], A[:, other])
    assert np.array_equal(A, kept)


def test_the_first_matrix_that_is_not_positive_definite_is_named():
    A = np.stack([np.eye(6)] * 40)
    A[31, 2, 2] = A[17, 4, 4] = -1
    with pytest.raises(np.linalg.LinAlgError, match="^5-th leading minor"):
        trencadis.cholesky(A.reshape(8, 5, 6, 6))


def test_a_matrix_of_a_stack_does_not_see_the_others():
    A, b = stack_of(37, 9, np.float64), random_array((37, 9, 2), np.float64, seed=1)
    x, det = trencadis.solve(A, b), trencadis.det(A)
    A[[2, 20]] *= 1e-300
    A[[3, 36], 4] = np.nan
    rest = [i for i in range(37) if i not in (2, 3, 20, 36)]
    lu = trencadis.lu_factor(A, check_finite=False)
    assert np.array_equal(trencadis.solve(A[rest], b[rest]), x[rest])
    assert np.array_equal(trencadis.det(A, check_finite=False)[rest], det[rest])
    assert np.array_equal(trencadis.lu_factor(A[rest])[0], lu[0][rest])


@pytest.mark.parametrize("shape", [(0, 3, 3), (1, 3, 3), (9, 700, 900), (2, 9, 700, 300)])
def test_a_stack_is_copied_in_pieces_between_which_signals_are_looked_at(shape):
    """A piece has 16 MB, or is one matrix of the first dimension."""
    whole, pieces = random_array(shape, np.float64).swapaxes(-1, -2), []

    class Stack:
        shape = whole.shape

        def __getitem__(self, at):
            pieces.append(whole[at])
            return pieces[-1]

    copy = copied_stack(Stack(), np.dtype("F"))
    assert copy.flags.c_contiguous and np.array_equal(copy, whole.astype("F"))
    assert all(8 * piece.size <= 1 << 24 or len(piece) == 1 for piece in pieces)
