"""trencadis.inv and det against SciPy's."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, eps, layouts, positive_definite, random_array

STRUCTURES = ["general", "gen", "diagonal", "upper triangular", "lower triangular", "pos", "sym", "her"]


def inverse_error(A, X):
    """|I - A X| / (n |A| |X| eps), LAPACK's dget03, whose tests pass below 30."""
    n = len(A)
    norms = np.abs(A).sum(0).max() * np.abs(X).sum(0).max()
    return np.abs(np.eye(n) - A @ X).sum(0).max() / (n * norms * eps(A.dtype))


def of_structure(structure, n, dtype):
    A = (random_array((n, n), dtype) + 4 * np.sqrt(n) * np.eye(n)).astype(dtype)
    makers = {
        "diagonal": lambda: np.diag(np.diag(A)),
        "upper triangular": lambda: np.triu(A),
        "lower triangular": lambda: np.tril(A),
        "sym": lambda: A + A.T - np.diag(np.arange(n) % 2 * 20).astype(dtype),
        "her": lambda: A + A.conj().T - np.diag(np.arange(n) % 2 * 20).astype(dtype),
        "pos": lambda: positive_definite(n, dtype),
    }
    return makers.get(structure, lambda: A)()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_inverts_to_small_residuals(n, dtype):
    A = (random_array((n, n), dtype) + 2 * np.eye(n)).astype(dtype)
    for name, a in layouts(A).items():
        X = trencadis.inv(a)
        assert X.dtype == dtype and inverse_error(A, X) < 10 and np.array_equal(a, A), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("n", [2, 5, 300])
def test_every_structure_is_inverted_whether_it_is_said_or_found(structure, n, dtype):
    A = of_structure(structure, n, dtype)
    for overwrite in (False, True):
        for assumed in (None, structure):
            for a in layouts(A).values():
                X = trencadis.inv(a, overwrite_a=overwrite and a.flags.writeable, assume_a=assumed)
                assert X.dtype == dtype and inverse_error(A, X) < 10
                assert overwrite or np.array_equal(a, A)


@pytest.mark.parametrize("assumed", STRUCTURES[1:])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_what_is_said_is_believed_as_scipy_believes_it(assumed, lower, dtype):
    A = positive_definite(7, dtype) + np.triu(random_array((7, 7), dtype, seed=3), 1) / 10
    expected = scipy.linalg.inv(A, assume_a=assumed, lower=lower)
    if assumed == "diagonal":
        expected = np.diag(np.diag(expected))  # SciPy 1.17 leaves the other elements of A where they were
    for a in layouts(A).values():
        assert np.allclose(trencadis.inv(a, assume_a=assumed, lower=lower), expected, rtol=1e-10)


def test_a_hermitian_matrix_that_is_not_positive_definite_is_inverted_even_in_place():
    A = positive_definite(100, np.complex128)
    A[50, 0], A[0, 50] = 50, 50
    for overwrite in (False, True):
        a = np.asfortranarray(A)
        X = trencadis.inv(a, overwrite_a=overwrite)
        assert np.shares_memory(X, a) == overwrite and inverse_error(A, X) < 10


@settings(deadline=None, max_examples=150)
@given(
    dtype=st.sampled_from("?bBhHiIlLefdgFDG"),
    batch=st.sampled_from([(), (1,), (2,), (2, 3), (0,)]),
    n=st.integers(0, 4),
    assumed=st.sampled_from([None, *STRUCTURES]),
)
def test_promotes_and_shapes_as_scipy(dtype, batch, n, assumed):
    A = np.broadcast_to(np.eye(n) * 3 + (0 if dtype == "?" else np.tri(n)), (*batch, n, n)).astype(dtype)
    assumed = None if dtype == "?" and assumed == "her" else assumed
    expected = scipy.linalg.inv(A, assume_a=assumed) if assumed != "diagonal" else None
    if expected is not None:
        X = trencadis.inv(A, assume_a=assumed)
        assert X.dtype == expected.dtype and X.shape == expected.shape and np.allclose(X, expected, rtol=1e-5)
    same_determinant(A)


def same_determinant(A):
    try:
        expected = scipy.linalg.det(A)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            trencadis.det(A)
        return
    d = trencadis.det(A)
    assert type(d) is type(expected) and np.shape(d) == np.shape(expected)
    assert np.asarray(d).dtype == np.asarray(expected).dtype and np.allclose(d, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[:-2])
def test_determinants_are_scipys(n, dtype):
    A = (random_array((n, n), dtype) / np.sqrt(n)).astype(dtype)
    bound = n * np.linalg.cond(A) * eps(dtype)  # a change of A by E changes it by trace(A^-1 E), relatively
    for name, a in layouts(A).items():
        assert np.allclose(trencadis.det(a), scipy.linalg.det(a), rtol=bound, atol=0), name
        assert np.array_equal(a, A), name
    stack = random_array((2, 3, n, n), dtype)
    bound = n * np.linalg.cond(stack) * eps(dtype)
    assert (np.abs(trencadis.det(stack) / scipy.linalg.det(stack) - 1) <= bound).all()


def test_determinants_overflow_and_vanish_as_scipys():
    for diagonal in ([1e38] * 2, [1e200, 1e200, 1e-300], [1e-200, 1e-200, 1e300], [-3.0, 0, 1], [np.float32(1e38)] * 9):
        for dtype in (np.float32, np.float64, np.complex128):
            with np.errstate(over="ignore"):
                A = np.diag(np.array(diagonal).astype(dtype))
            if np.isfinite(A).all():
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    ours = trencadis.det(A)
                assert np.array_equal(ours, scipy.linalg.det(A), equal_nan=True), diagonal
    assert trencadis.det([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == scipy.linalg.det([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_matrices_have_no_inverse_and_the_determinant_zero(dtype):
    triangle = np.triu(np.ones((5, 5)))
    triangle[2, 2] = 0
    ones = np.ones((5, 5))
    for A in (ones, triangle, triangle.T, np.zeros((5, 5)), np.diag([1, 0, 2]), ones + np.arange(5)[:, None]):
        a = A.astype(dtype)
        with pytest.raises(np.linalg.LinAlgError) as theirs:
            scipy.linalg.inv(a)
        with pytest.raises(np.linalg.LinAlgError) as ours:
            trencadis.inv(a)
        assert str(ours.value) == str(theirs.value) and trencadis.det(a) == 0
    with pytest.raises(np.linalg.LinAlgError, match=r"slice\(s\) \[1\] are singular"):
        trencadis.inv(np.stack([np.eye(5), np.ones((5, 5))]).astype(dtype))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        trencadis.inv(-np.eye(3, dtype=dtype) - 1, assume_a="pos")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("structure", ["gen", "diagonal", "upper triangular", "lower triangular", "pos"])
def test_warns_of_ill_conditioned_matrices_when_scipy_does(structure, dtype):
    for condition in (1 / eps(dtype) / 1000, 100 / eps(dtype)):
        scale = np.sqrt(np.geomspace(1, 1 / condition, 30))
        A = (of_structure(structure, 30, dtype) * scale[:, None] * scale).astype(dtype)
        caught = []
        for inv in (scipy.linalg.inv, trencadis.inv):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                inv(A)
            caught.append([(w.category, w.filename) for w in warned])
        assert caught[0] == caught[1]
    assert caught[1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_in_scipys_words(bad):
    for A in (random_array((5, 5), np.float64), np.eye(5), np.ones((2, 5, 5))):
        A[..., 3, 3] = bad
        for call in (trencadis.inv, trencadis.det):
            with pytest.raises(ValueError, match="^array must not contain infs or NaNs$"):
                call(A)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.inv(np.ones(3)), "ndim"),
        (lambda m: m.inv(np.ones((2, 3))), "square"),
        (lambda m: m.det(np.ones(3)), "two-dimensional"),
        (lambda m: m.det(np.ones((3, 2, 3))), "square"),
        (lambda m: m.inv(np.array([[None]], dtype=object)), "object"),
        (lambda m: m.inv(np.ma.ones((2, 2))), "masked"),
    ],
)
def test_bad_input_is_an_error_as_with_scipy(call, message):
    with pytest.raises(ValueError):
        call(scipy.linalg)
    with pytest.raises(ValueError, match=message):
        call(trencadis)
    with pytest.raises(ValueError, match="diag is not a recognized matrix structure"):
        trencadis.inv(np.eye(2), assume_a="diag")
