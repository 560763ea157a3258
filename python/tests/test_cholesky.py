"""trencadis.cholesky, cho_factor, cho_solve and solve_triangular against SciPy's."""

import numpy as np
import pytest
import scipy.linalg
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, eps, layouts, positive_definite, random_array, solve_error


def factor_error(A, c, lower):
    """|A - L L^H| / (n |A| eps), LAPACK's dpot01, whose tests pass below 30; Higham's bound is a small multiple of n."""
    product = c @ c.conj().T if lower else c.conj().T @ c
    return np.abs(A - product).sum(0).max() / (len(A) * np.abs(A).sum(0).max() * eps(A.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [False, True])
def test_factors_and_zeroes_the_other_triangle(n, dtype, lower):
    A = positive_definite(n, dtype)
    for name, a in layouts(A).items():
        c = trencadis.cholesky(a, lower=lower)
        assert c.dtype == dtype and factor_error(A, c, lower) < 10, name
        assert np.array_equal(c, np.tril(c) if lower else np.triu(c)), name
        assert np.array_equal(a, A), name


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n", [5, 300, 800])
def test_cho_factor_leaves_the_other_triangle(n, lower, order, dtype):
    A = np.array(positive_definite(n, dtype), order=order)
    garbage = random_array((n, n), dtype, seed=3)
    A = np.array(np.where(np.tri(n, k=-1, dtype=bool) if not lower else ~np.tri(n, dtype=bool), garbage, A), order=order)
    c, answered = trencadis.cho_factor(A, lower=lower)
    other = ~np.tri(n, dtype=bool) if lower else np.tri(n, k=-1, dtype=bool)
    assert answered is lower and np.array_equal(c[other], A[other])
    assert np.allclose(np.where(other, 0, c), scipy.linalg.cholesky(A, lower=lower), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 4, 129, 600])
def test_cho_solve_takes_factors_and_right_sides_stored_in_any_way(n, dtype, lower):
    A, B = positive_definite(n, dtype), random_array((n, 3), dtype, seed=1)
    factor, _ = scipy.linalg.cho_factor(A, lower=lower)
    for c_name, c in layouts(factor).items():
        for b_name, b in layouts(B).items():
            X = trencadis.cho_solve((c, lower), b)
            assert X.shape == b.shape and solve_error(A, X, B) < 10, (c_name, b_name)
            assert np.array_equal(b, B)


@settings(deadline=None, max_examples=100)
@given(
    dtype=st.sampled_from("?bBhHilLqefdgFDG"), b_dtype=st.sampled_from("?bhilefdgFDG"), n=st.integers(0, 6), lower=st.booleans()
)
def test_promotes_as_scipy(dtype, b_dtype, n, lower):
    A = (np.eye(n) * 4 + (0 if dtype == "?" else 1)).astype(dtype)
    ours, theirs = trencadis.cholesky(A, lower=lower), scipy.linalg.cholesky(A, lower=lower)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-5)
    if n == 0:
        return
    B = np.ones((n, 2)).astype(b_dtype)
    ours, theirs = trencadis.cho_solve((A, lower), B), scipy.linalg.cho_solve((A, lower), B)
    assert ours.dtype == theirs.dtype and np.allclose(ours, theirs, rtol=1e-4)
    ours, theirs = trencadis.solve_triangular(A, B, lower=lower), scipy.linalg.solve_triangular(A, B, lower=lower)
    assert ours.dtype == theirs.dtype and np.allclose(ours, theirs, rtol=1e-4)


def test_stacks_scalars_and_vectors_as_scipy():
    A = np.stack([positive_definite(4, np.float64, seed=s) for s in range(6)]).reshape(3, 2, 4, 4)
    assert np.allclose(trencadis.cholesky(A), scipy.linalg.cholesky(A))
    c, lower = trencadis.cho_factor(A, lower=True)
    assert np.allclose(trencadis.cho_solve((c, lower), np.ones(4)), np.linalg.solve(A, np.ones((4, 1)))[..., 0])
    assert trencadis.cholesky(5) == scipy.linalg.cholesky(5)
    with pytest.raises(ValueError, match=r"expected to be square but has the shape: \(1, 3\)"):
        trencadis.cholesky(np.ones(3))


@pytest.mark.parametrize("n", [3, 500])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_names_the_leading_minor_that_is_not_positive(n, dtype, lower):
    A = positive_definite(n, dtype)
    A[n - 1, n - 1] = 0
    for function in (trencadis.cholesky, trencadis.cho_factor):
        with pytest.raises(scipy.linalg.LinAlgError, match=rf"^{n}-th leading minor of the array is not positive definite$"):
            function(A, lower=lower)


def test_rejects_what_scipy_rejects():
    with pytest.raises(ValueError, match="infs or NaNs"):
        trencadis.cholesky(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match=r"incompatible dimensions \(\(3, 3\) and \(4,\)\)"):
        trencadis.cho_solve((np.eye(3), True), np.ones(4))
    with pytest.raises(ValueError, match="not square"):
        trencadis.cho_solve((np.eye(3)[:2], True), np.ones(2))
    with pytest.raises(ValueError, match="infs or NaNs"):
        trencadis.cho_solve((np.eye(3), True), [1, np.inf, 2])


def test_overwrites_where_allowed():
    A = np.asfortranarray(positive_definite(30, np.float64))
    a = A.copy(order="F")
    assert np.shares_memory(trencadis.cholesky(a, overwrite_a=True), a)
    a = np.ascontiguousarray(A)
    assert np.shares_memory(trencadis.cholesky(a, overwrite_a=True), a)
    b = np.ones(30)
    assert np.shares_memory(trencadis.cho_solve(trencadis.cho_factor(A), b, overwrite_b=True), b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("n", [1, 6, 300])
def test_solve_triangular_serves_every_form(dtype, trans, lower, unit_diagonal, n):
    # Off-diagonal elements below 1/n in size keep the unit triangular matrix well conditioned.
    A = random_array((n, n), dtype) / (4 * n) + np.eye(n, dtype=dtype)
    B = random_array((n, 2), dtype, seed=1)
    expected = scipy.linalg.solve_triangular(A, B, trans, lower, unit_diagonal)
    for name, a in layouts(A).items():
        for b in layouts(B).values():
            x = trencadis.solve_triangular(a, b, trans, lower, unit_diagonal)
            # The condition number is below 3; both solutions err by at most n eps times that.
            assert np.abs(x - expected).max() <= 6 * n * eps(dtype) * np.abs(expected).max() + 1e-300, name
            assert np.array_equal(b, B) and np.array_equal(a, A)


def test_solve_triangular_names_a_zero_pivot_and_bad_shapes_as_scipy():
    with pytest.raises(scipy.linalg.LinAlgError, match="^singular matrix: resolution failed at diagonal 1$"):
        trencadis.solve_triangular(np.diag([1.0, 0.0]), np.ones(2))
    with pytest.raises(ValueError, match=r"shapes of a \(2, 2\) and b \(3,\) are incompatible"):
        trencadis.solve_triangular(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="expected square matrix"):
        trencadis.solve_triangular(np.ones((2, 3)), np.ones(2))
    assert trencadis.solve_triangular(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 2)
