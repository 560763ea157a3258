"""trencadis.solve against scipy.linalg.solve, for positive definite matrices; test_general_solve.py has the others."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, layouts, positive_definite, random_array, solve_error


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [False, True])
def test_solves_to_backward_stability(n, dtype, lower):
    A, B = positive_definite(n, dtype), random_array((n, 3), dtype, seed=1)
    X = trencadis.solve(A, B, lower=lower, assume_a="pos")
    assert X.dtype == dtype and X.shape == B.shape
    assert solve_error(A, X, B) < 10


@pytest.mark.parametrize("n", [2, 65, 600])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_takes_matrices_stored_in_any_way(n, dtype):
    A, B = positive_definite(n, dtype), random_array((n, 4), dtype, seed=1)
    for a_name, a in layouts(A).items():
        for b_name, b in layouts(B).items():
            before = a.copy(), b.copy()
            for lower in (False, True):
                X = trencadis.solve(a, b, lower=lower, assume_a="pos")
                assert solve_error(A, X, B) < 10, (a_name, b_name, lower)
            assert np.array_equal(a, before[0]) and np.array_equal(b, before[1]), (a_name, b_name)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_uses_only_the_named_triangle(lower, order, dtype):
    A, b = positive_definite(70, dtype), random_array(70, dtype, seed=1)
    garbage = random_array((70, 70), dtype, seed=2) * 100
    a = (np.tril(A) + np.triu(garbage, 1)) if lower else (np.triu(A) + np.tril(garbage, -1))
    x = trencadis.solve(np.array(a, order=order), b, lower=lower, assume_a="pos")
    assert x.ndim == 1 and solve_error(A, x, b) < 10


@settings(deadline=None, max_examples=150)
@given(
    a=st.sampled_from("?bhilefdgFDG"),
    b=st.sampled_from("?bBhilLefdgFDG"),
    n=st.integers(0, 9),
    shape=st.sampled_from(["vector", "matrix", "wide", "none"]),
    lower=st.booleans(),
    assume=st.sampled_from(["pos", "positive definite", None]),
)
def test_promotes_and_shapes_as_scipy(a, b, n, shape, lower, assume):
    A = (np.eye(n) * 4 + (0 if a == "?" else 1)).astype(a)
    B = np.ones({"vector": (n,), "matrix": (n, 2), "wide": (n, 7), "none": (n, 0)}[shape]).astype(b)
    expected = scipy.linalg.solve(A, B, lower=lower, assume_a=assume)
    X = trencadis.solve(A, B, lower=lower, assume_a=assume)
    assert X.dtype == expected.dtype and X.shape == expected.shape
    assert np.allclose(X, expected, rtol=1e-5)


def test_broadcasts_stacks_as_scipy():
    A = np.stack([positive_definite(5, np.float64, seed=s) for s in range(6)]).reshape(2, 3, 5, 5)
    for b_shape in [(5,), (5, 2), (3, 5, 2), (2, 1, 5, 2)]:
        B = random_array(b_shape, np.float64, seed=9)
        X = trencadis.solve(A, B, assume_a="pos")
        expected = scipy.linalg.solve(A, B, assume_a="pos")
        assert X.shape == expected.shape and np.allclose(X, expected)


def test_takes_lists_scalars_matrices_and_foreign_byte_order():
    assert np.allclose(trencadis.solve([[4, 2], [2, 3]], [1, 2]), scipy.linalg.solve([[4, 2], [2, 3]], [1, 2]))
    assert np.array_equal(trencadis.solve(4.0, np.ones(3)), scipy.linalg.solve(4.0, np.ones(3)))
    assert np.array_equal(trencadis.solve([[4.0]], np.ones((3, 2))), scipy.linalg.solve([[4.0]], np.ones((3, 2))))
    A, b = positive_definite(7, np.float64), random_array(7, np.float64)
    assert np.allclose(trencadis.solve(A.astype(">f8"), b.astype(">f8")), np.linalg.solve(A, b))
    assert np.allclose(trencadis.solve(_unaligned(A), _unaligned(b)), np.linalg.solve(A, b))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        assert np.allclose(trencadis.solve(np.matrix(A), b), np.linalg.solve(A, b))


def _unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    view = np.ndarray(a.shape, a.dtype, raw.data, offset=1)
    view[...] = a
    assert not view.flags.aligned
    return view


@pytest.mark.parametrize("dtype", DTYPES)
def test_overwrites_where_allowed_and_possible(dtype):
    A, B = positive_definite(50, dtype), random_array((50, 2), dtype, seed=1)
    a, b = np.asfortranarray(A), np.asfortranarray(B)
    x = trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a="pos")
    assert np.shares_memory(x, b) and not np.array_equal(a, A) and solve_error(A, x, B) < 10
    a, b = _frozen(A), _frozen(B)
    assert solve_error(A, trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a="pos"), B) < 10


def _frozen(a):
    a = np.asfortranarray(a).copy(order="F")
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("n", [3, 100, 700])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_names_the_leading_minor_that_is_not_positive(n, dtype, order):
    for bad in {0, n // 2, n - 1}:
        A = np.array(positive_definite(n, dtype), order=order)
        A[bad, bad] = -5
        b = random_array(n, dtype)
        with pytest.raises(
            scipy.linalg.LinAlgError, match=rf"^{bad + 1}-th leading minor of the array is not positive definite$"
        ):
            trencadis.solve(A, b, assume_a="pos")
        kept = b.copy()
        with pytest.raises(np.linalg.LinAlgError):
            trencadis.solve(A.copy(), b, assume_a="pos", overwrite_a=True, overwrite_b=True)
        assert np.array_equal(b, kept)


def test_one_by_one_that_is_not_positive_is_an_error():
    with pytest.raises(scipy.linalg.LinAlgError, match="1-th leading minor"):
        trencadis.solve([[-4.0]], [1.0], assume_a="pos")


@pytest.mark.parametrize("a", "lfdFD")
@pytest.mark.parametrize("assume", ["pos", None])
@pytest.mark.parametrize(("a_batch", "b_shape"), [((3,), (3, 1, 1)), ((3,), (1,)), ((2, 3), (3, 1, 4)), ((1, 1), (1, 2))])
def test_solves_stacks_of_one_by_one_as_scipy(a, assume, a_batch, b_shape):
    A = np.arange(2, 2 + np.prod(a_batch)).reshape(*a_batch, 1, 1).astype(a)
    B = random_array(b_shape, np.float64)
    expected = scipy.linalg.solve(A, B, assume_a=assume)
    X = trencadis.solve(A, B, assume_a=assume)
    assert X.shape == expected.shape and X.dtype == expected.dtype and np.allclose(X, expected)
    A.flat[0] = 0
    with pytest.raises(scipy.linalg.LinAlgError, match="1-th leading minor" if assume else "singular matrix detected"):
        trencadis.solve(A, B, assume_a=assume)


@pytest.mark.parametrize("n", [3, 700])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("where", ["a", "other triangle", "b"])
def test_rejects_what_is_not_finite_in_scipys_words(n, bad, dtype, where):
    A, b = positive_definite(n, dtype), random_array((n, 2), dtype)
    if where == "b":
        b[n - 1, 1] = bad
    elif where == "a":
        A[0, n - 1] = bad
    else:
        A[n - 1, 0] = bad
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="^array must not contain infs or NaNs$"):
            trencadis.solve(A, b, assume_a="pos", overwrite_a=overwrite, overwrite_b=overwrite)


def test_without_the_finite_check_a_nan_in_the_other_triangle_does_no_harm():
    A, b = positive_definite(40, np.float64), random_array(40, np.float64)
    a = A.copy()
    a[30, 2] = np.nan
    assert solve_error(A, trencadis.solve(a, b, check_finite=False, assume_a="pos"), b) < 10


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.ones((2, 3)), np.ones(2), "square matrix"),
        (np.eye(3), np.ones(4), "incompatible shapes"),
        (np.eye(3), np.ones((2, 3)), "incompatible shapes"),
        (np.eye(3), 1.0, "incompatible shapes"),
        (np.array([["x", "y"], ["z", "w"]]), np.ones(2), "could not convert string"),
        (np.array([[None]], dtype=object), np.ones(1), "object arrays are not supported"),
        (np.ma.ones((2, 2)), np.ones(2), "masked arrays are not supported"),
        (scipy.sparse.eye_array(3), np.ones(3), "[Ss]parse"),
    ],
)
def test_bad_input_is_a_value_error_as_with_scipy(a, b, message):
    with pytest.raises(ValueError):
        scipy.linalg.solve(a, b, assume_a="pos")
    with pytest.raises(ValueError, match=message):
        trencadis.solve(a, b, assume_a="pos")


def test_solves_the_transposed_system_where_scipy_does():
    A, b = positive_definite(6, np.float64), random_array(6, np.float64)
    assert np.allclose(trencadis.solve(A, b, transposed=True), scipy.linalg.solve(A, b, transposed=True))
    with pytest.raises(NotImplementedError):
        trencadis.solve(A + 0j, b, transposed=True)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lower", [False, True])
def test_warns_of_a_bad_condition_as_scipy(order, lower):
    diagonal = np.array(np.diag([1.0, 1.0, 1e-18]), order=order)
    hilbert = np.array(scipy.linalg.hilbert(12), order=order)  # whose factor's diagonal alone does not prove it
    for A in (diagonal, hilbert, hilbert + 0j):
        with pytest.warns(scipy.linalg.LinAlgWarning, match="ill-conditioned") as theirs:
            scipy.linalg.solve(A, np.ones(len(A)), assume_a="pos", lower=lower)
        with pytest.warns(scipy.linalg.LinAlgWarning, match=r"^An ill-conditioned matrix detected: slice 0 has rcond = ") as ours:
            trencadis.solve(A, np.ones(len(A)), assume_a="pos", lower=lower)
        assert ours[0].filename == __file__
        rcond = [float(str(warned[0].message).rstrip(".").split()[-1]) for warned in (ours, theirs)]
        assert rcond[0] == pytest.approx(rcond[1], rel=0.2)  # of a matrix whose last pivot is mostly rounding
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trencadis.solve(positive_definite(30, np.float32), np.ones(30, np.float32), assume_a="pos")
