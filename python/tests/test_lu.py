"""trencadis.lu_factor, lu_solve and lu against SciPy's."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, eps, layouts, random_array, solve_error

SHAPES = [(n, n) for n in SIZES] + [(70, 3), (3, 70), (200, 65), (65, 200), (1, 5), (5, 1)]


def factor_error(A, rows, lower, upper):
    """|A - P L U| / (n |A| eps), LAPACK's dget01, whose tests pass below 30."""
    return np.abs(A - lower[rows] @ upper).max() / (max(A.shape) * np.abs(A).max() * eps(A.dtype))


def unpacked(lu, piv):
    k = len(piv)
    order = np.arange(len(lu))
    for i, other in enumerate(piv):
        order[[i, other]] = order[[other, i]]
    lower = np.tril(lu[:, :k], -1) + np.eye(len(lu), k, dtype=lu.dtype)
    return np.argsort(order), lower, np.triu(lu[:k])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_with_scipys_pivots(shape, dtype):
    A = random_array(shape, dtype)
    for name, a in layouts(A).items():
        lu, piv = trencadis.lu_factor(a)
        expected = scipy.linalg.lu_factor(a)
        assert lu.dtype == dtype and piv.dtype == expected[1].dtype and np.array_equal(piv, expected[1]), name
        assert factor_error(A, *unpacked(lu, piv)) < 10 and np.array_equal(a, A), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solves_with_the_factors(n, dtype, trans):
    A, B = random_array((n, n), dtype), random_array((n, 3), dtype, seed=1)
    factors = trencadis.lu_factor(A)
    op = {0: A, 1: A.T, 2: A.conj().T}[trans]
    for b in layouts(B).values():
        X = trencadis.lu_solve(factors, b, trans=trans)
        assert X.dtype == dtype and solve_error(op, X, B) < 10 and np.array_equal(b, B)
    row_major = np.ascontiguousarray(factors[0]), factors[1]
    assert solve_error(op, trencadis.lu_solve(row_major, B[:, 0], trans=trans), B[:, 0]) < 10
    assert solve_error(op, trencadis.lu_solve(scipy.linalg.lu_factor(A), B, trans), B) < 10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", [{}, {"permute_l": True}, {"p_indices": True}, {"permute_l": True, "p_indices": True}])
def test_lu_gives_scipys_factors(shape, dtype, how):
    A = random_array(shape, dtype)
    accuracy = 1e-3 if A.dtype.char in "fF" else 1e-9
    for a in (A, np.asfortranarray(A)):
        for ours, theirs in zip(trencadis.lu(a, **how), scipy.linalg.lu(a, **how), strict=True):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            # The last pivot is what is left of large numbers: it is as exact as the largest one, in both.
            within = accuracy * np.abs(theirs).max(initial=0) if ours.dtype == dtype else 0
            assert np.abs(ours - theirs).max(initial=0) <= within
        assert np.array_equal(a, A)
    rows, lower, upper = trencadis.lu(A, p_indices=True)
    assert factor_error(A, rows, lower, upper) < 10


@settings(deadline=None, max_examples=150)
@given(
    dtype=st.sampled_from("?bBhilefdgFDG"),
    b_dtype=st.sampled_from("?bBhilefdgFDG"),
    shape=st.sampled_from([(), (1,), (2,), (2, 3), (0,)]),
    m=st.integers(0, 4),
    n=st.integers(0, 4),
)
def test_promotes_and_shapes_as_scipy(dtype, b_dtype, shape, m, n):
    A = np.broadcast_to(np.eye(m, n) * 3 + np.tri(m, n, 1), (*shape, m, n)).astype(dtype)
    for how in ({}, {"permute_l": True}, {"p_indices": True}):
        same_outcome(lambda module: module.lu(A, **how))  # noqa: B023
    same_outcome(lambda module: module.lu_factor(A))
    if m == n and A.size:
        for b in (np.ones(n), np.ones((n, 2)), np.ones((n, 0)), np.ones((2, 1, n, 1))):
            same_outcome(lambda module: module.lu_solve(module.lu_factor(A), b.astype(b_dtype)))  # noqa: B023


def same_outcome(call):
    """Arrays of the same dtypes, shapes and values, or both refuse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = call(scipy.linalg)
    except ValueError:
        with pytest.raises(ValueError):
            call(trencadis)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        ours = call(trencadis)
    if isinstance(theirs, np.ndarray):
        ours, theirs = [ours], [theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype and mine.shape == other.shape
        assert np.allclose(mine, other, rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_overwrites_where_allowed_and_possible(dtype):
    A = random_array((40, 40), dtype)
    a = np.asfortranarray(A)
    lu, piv = trencadis.lu_factor(a, overwrite_a=True)
    assert np.shares_memory(lu, a) and factor_error(A, *unpacked(lu, piv)) < 10
    b = np.ones((40, 2), dtype, order="F")
    x = trencadis.lu_solve((lu, piv), b, overwrite_b=True)
    assert np.shares_memory(x, b) and solve_error(A, x, np.ones((40, 2), dtype)) < 10
    a = np.asfortranarray(A)
    a.flags.writeable = False
    assert not np.shares_memory(trencadis.lu_factor(a, overwrite_a=True)[0], a)
    assert factor_error(A, *trencadis.lu(a, overwrite_a=True, p_indices=True)) < 10 and np.array_equal(a, A)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 70, 300])
def test_a_zero_pivot_is_warned_of_and_the_factors_are_complete(n, dtype):
    for zero in {0, n // 2, n - 1}:
        A = random_array((n, n), dtype)
        A[:, zero] = 0
        message = rf"^Diagonal number {zero + 1} is exactly zero. Singular matrix.$"
        with pytest.warns(scipy.linalg.LinAlgWarning, match=message) as w:
            lu, piv = trencadis.lu_factor(A)
        assert w[0].filename == __file__ and factor_error(A, *unpacked(lu, piv)) < 10
        assert factor_error(A, *trencadis.lu(A, p_indices=True)) < 10


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_in_scipys_words(bad):
    A = random_array((5, 5), np.float64)
    factors = trencadis.lu_factor(A)
    A[3, 1] = bad
    for call in (trencadis.lu, trencadis.lu_factor, lambda b: trencadis.lu_solve(factors, b)):
        with pytest.raises(ValueError, match="^array must not contain infs or NaNs$"):
            call(A)
    assert trencadis.lu_factor(A, check_finite=False)[0].shape == (5, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.lu(np.ones(3)), "two-dimensional"),
        (lambda m: m.lu_factor(np.ones(3)), "matrix"),
        (lambda m: m.lu_solve((np.eye(3), np.arange(3)), np.ones(4)), "incompatible"),
        (lambda m: m.lu_solve((np.ones((3, 2)), np.arange(2)), np.ones(3)), "square"),
        (lambda m: m.lu_solve((np.eye(3), np.array([0, 1, 3])), np.ones(3)), "piv must be 3 numbers of rows, from 0 to 2"),
        (lambda m: m.lu_solve((np.eye(3), np.array([0, -1, 2])), np.ones(3)), "piv must be 3 numbers"),
        (lambda m: m.lu_solve((np.eye(3), np.arange(2)), np.ones(3)), "piv must be 3 numbers"),
        (lambda m: m.lu_solve((np.eye(3), np.array([0.0, 1, 2])), np.ones(3)), "piv must be 3 numbers"),
        (lambda m: m.lu_solve((np.eye(3), np.arange(3)), np.ones(3), trans=3), "give 0, 1 or 2"),
        (lambda m: m.lu_solve((np.eye(3), np.arange(3)), np.ones((2, 0, 3, 1))), "zero-size batches"),
        (lambda m: m.lu_factor(np.ones((0, 3, 3))), "zero-size batches"),
        (lambda m: m.lu_factor(np.array([["x"]])), "could not convert string|type"),
        (lambda m: m.lu(np.ma.ones((2, 2))), "masked"),
    ],
)
def test_bad_input_is_a_value_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(trencadis)
