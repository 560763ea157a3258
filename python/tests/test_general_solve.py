"""trencadis.solve against scipy.linalg.solve, for matrices of every structure, and stacks of them."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, eps, layouts, positive_definite, random_array, solve_error

STRUCTURES = [
    "general", "gen", "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular", "symmetric", "sym",
    "hermitian", "her", "positive definite", "pos",
]  # fmt: skip


def well_conditioned(n, dtype, seed=0):
    """A random matrix, its diagonal raised a little: neither symmetric nor diagonally dominant, pivots are exchanged."""
    return (random_array((n, n), dtype, seed) + 2 * np.eye(n)).astype(dtype)


def of_structure(structure, n, dtype, seed=0):
    A = well_conditioned(n, dtype, seed) + 4 * np.sqrt(n).astype(np.dtype(dtype).type(0).real.dtype) * np.eye(n, dtype=dtype)
    if structure == "diagonal":
        return np.diag(np.diag(A))
    if structure in ("tridiagonal", "banded"):
        return np.triu(np.tril(A, 1), -1) if structure == "tridiagonal" else np.triu(np.tril(A, 2), -1)
    if structure.endswith("triangular"):
        return np.triu(A) if structure.startswith("upper") else np.tril(A)
    if structure == "symmetric":
        return (A + A.T) / 2 - 4 * np.eye(n, dtype=dtype)
    if structure == "hermitian":  # indefinite
        return (A + A.conj().T) / 2 - np.diag(np.arange(n) % 2 * 9).astype(dtype) * np.dtype(dtype).type(np.sqrt(n))
    return positive_definite(n, dtype, seed) if structure.startswith("pos") else A


def quietly(function, *arguments, **options):
    """The result and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(*arguments, **options), caught


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_solves_general_systems_to_backward_stability(n, dtype):
    A, B = well_conditioned(n, dtype), random_array((n, 3), dtype, seed=1)
    for assumed in (None, "gen"):
        X = trencadis.solve(A, B, assume_a=assumed)
        assert X.dtype == dtype and X.shape == B.shape and solve_error(A, X, B) < 10
        x = trencadis.solve(A, B[:, 0], assume_a=assumed)
        assert x.shape == (n,) and solve_error(A, x, B[:, 0]) < 10


@pytest.mark.parametrize("n", [2, 65, 600])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_takes_matrices_stored_in_any_way(n, dtype):
    A, B = well_conditioned(n, dtype), random_array((n, 4), dtype, seed=1)
    for a_name, a in layouts(A).items():
        for b_name, b in layouts(B).items():
            before = a.copy(), b.copy()
            assert solve_error(A, trencadis.solve(a, b), B) < 10, (a_name, b_name)
            if dtype == np.float64:
                assert solve_error(A.T, trencadis.solve(a, b, transposed=True), B) < 10, (a_name, b_name)
            assert np.array_equal(a, before[0]) and np.array_equal(b, before[1]), (a_name, b_name)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("structure", ["general", "diagonal", "tridiagonal", "upper triangular", "lower triangular", "symmetric",
                                       "hermitian", "positive definite", "banded"])  # fmt: skip
@pytest.mark.parametrize("n", [2, 3, 4, 40, 300])
def test_every_structure_is_solved_whether_it_is_said_or_found(structure, n, dtype):
    A, B = of_structure(structure, n, dtype), random_array((n, 2), dtype, seed=1)
    for a in (A, np.asfortranarray(A), layouts(A)["strided"]):
        for assumed in (None, structure):
            X, warned = quietly(trencadis.solve, a, B, assume_a=assumed)
            assert not warned and X.dtype == dtype and solve_error(A, X, B) < 10
            x = trencadis.solve(a, B[:, 0], assume_a=assumed)
            assert x.shape == (n,) and solve_error(A, x, B[:, 0]) < 10
    if np.dtype(dtype).kind == "f":
        assert solve_error(A.T, trencadis.solve(A, B, transposed=True), B) < 10
        assert solve_error(A.T, trencadis.solve(A, B, transposed=True, assume_a=structure), B) < 10


@pytest.mark.parametrize("assumed", STRUCTURES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_what_is_said_is_believed_as_scipy_believes_it(assumed, lower, dtype):
    """A matrix without the structure: the elements that it does not have are not used."""
    A = positive_definite(7, dtype) + np.triu(random_array((7, 7), dtype, seed=3), 1) / 10
    B = random_array((7, 2), dtype, seed=1)
    expected = scipy.linalg.solve(A, B, assume_a=assumed, lower=lower)
    for a in layouts(A).values():
        assert np.allclose(trencadis.solve(a, B, assume_a=assumed, lower=lower), expected, rtol=1e-10)


@settings(deadline=None, max_examples=200)
@given(
    a=st.sampled_from("?bhilefdgFDG"),
    b=st.sampled_from("?bBhilLefdgFDG"),
    n=st.integers(0, 6),
    shape=st.sampled_from(["vector", "matrix", "wide", "none"]),
    assumed=st.sampled_from([None, *STRUCTURES]),
)
def test_promotes_and_shapes_as_scipy(a, b, n, shape, assumed):
    A = (np.eye(n) * 5 + (0 if a == "?" else np.tri(n))).astype(a)
    B = np.ones({"vector": (n,), "matrix": (n, 2), "wide": (n, 7), "none": (n, 0)}[shape]).astype(b)
    expected = scipy.linalg.solve(A, B, assume_a=assumed)
    X = trencadis.solve(A, B, assume_a=assumed)
    assert X.dtype == expected.dtype and X.shape == expected.shape
    assert np.allclose(X, expected, rtol=1e-5)


def test_broadcasts_stacks_as_scipy_with_a_structure_each():
    names = ["general", "diagonal", "upper triangular", "symmetric", "tridiagonal", "positive definite"]
    A = np.stack([of_structure(name, 5, np.float64) for name in names]).reshape(2, 3, 5, 5)
    for b_shape in [(5,), (5, 2), (3, 5, 2), (2, 1, 5, 2), (4, 1, 1, 5, 1)]:
        B = random_array(b_shape, np.float64, seed=9)
        for assumed in (None, "gen", "sym", "lower triangular", "diagonal", "banded"):
            X, expected = (module.solve(A, B, assume_a=assumed) for module in (trencadis, scipy.linalg))
            assert X.shape == expected.shape and np.allclose(X, expected), (b_shape, assumed)


def test_takes_lists_scalars_matrices_and_foreign_byte_order():
    assert np.allclose(trencadis.solve([[1, 2], [3, 4]], [1, 2]), scipy.linalg.solve([[1, 2], [3, 4]], [1, 2]))
    for value in (-4.0, 2j):
        assert np.array_equal(trencadis.solve(value, np.ones(3)), scipy.linalg.solve(value, np.ones(3)))
        assert np.array_equal(trencadis.solve([[value]], np.ones((3, 2))), scipy.linalg.solve([[value]], np.ones((3, 2))))
    A, b = well_conditioned(7, np.float64), random_array(7, np.float64)
    for structure in (None, "upper triangular", "tridiagonal"):
        expected = scipy.linalg.solve(A, b, assume_a=structure)
        assert np.allclose(trencadis.solve(A.astype(">f8"), b.astype(">f8"), assume_a=structure), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("assumed", [None, "gen", "sym", "lower triangular"])
def test_overwrites_where_allowed_and_possible(dtype, assumed):
    A, B = well_conditioned(50, dtype), random_array((50, 2), dtype, seed=1)
    if assumed in ("sym", "lower triangular"):
        A = A + A.T if assumed == "sym" else np.tril(A) + 9 * np.eye(50, dtype=dtype)
    a, b = np.asfortranarray(A), np.asfortranarray(B)
    x = trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a=assumed)
    assert np.shares_memory(x, b) and solve_error(A, x, B) < 10
    assert np.array_equal(a, A) == (assumed == "lower triangular")
    a, b = np.asfortranarray(A), np.asfortranarray(B)
    a.flags.writeable = b.flags.writeable = False
    assert solve_error(A, trencadis.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a=assumed), B) < 10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 200])
def test_a_hermitian_matrix_that_is_not_positive_definite_is_solved_even_when_it_may_be_overwritten(n, dtype):
    A = positive_definite(n, dtype)
    A[n // 2, 0], A[0, n // 2] = 50, 50  # the diagonal stays positive: only the factorization finds out
    B = random_array((n, 2), dtype, seed=1)
    for overwrite in (False, True):
        x = trencadis.solve(np.asfortranarray(A), np.asfortranarray(B), overwrite_a=overwrite, overwrite_b=overwrite)
        assert solve_error(A, x, B) < 10


def singular_ones(dtype):
    """One per structure; the pivots that vanish do so exactly."""
    dense = np.ones((5, 5)) + np.arange(5)[:, None]
    triangle = np.triu(np.ones((5, 5)))
    triangle[2, 2] = 0
    diagonal = np.diag([1.0, 2, 0, 4, 5])
    tridiagonal = np.diag(np.arange(5.0)) + np.diag([0.0, 0, 0, 1], 1) + np.diag([0.0, 0, 0, 1], -1)
    return [A.astype(dtype) for A in (dense, triangle, triangle.T, diagonal, tridiagonal, np.ones((5, 5)), np.zeros((5, 5)))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_matrices_are_refused_in_scipys_words(dtype):
    for A in singular_ones(dtype):
        for b in (np.ones(5, dtype), np.ones((5, 2), dtype, order="F")):
            with pytest.raises(np.linalg.LinAlgError) as theirs:
                scipy.linalg.solve(A, b)
            with pytest.raises(np.linalg.LinAlgError) as ours:
                trencadis.solve(A, b, overwrite_b=True)
            assert str(ours.value) == str(theirs.value) and np.array_equal(b, np.ones_like(b))
    stack = np.stack([np.eye(5, dtype=dtype), singular_ones(dtype)[0]])
    with pytest.raises(np.linalg.LinAlgError, match=r"^A singular matrix detected: slice\(s\) \[1\] are singular\.$"):
        trencadis.solve(stack, np.ones(5, dtype))
    for solve in (scipy.linalg.solve, trencadis.solve):
        with pytest.raises(np.linalg.LinAlgError, match=r"^A singular matrix detected\.$"):
            solve(np.zeros((1, 1), dtype), np.ones(5, dtype))


def nearly_singular(structure, n, dtype, condition):
    """By rows of falling size: elimination then leaves the small pivots their digits, so that two libraries can agree on them."""
    return (of_structure(structure, n, dtype) * np.geomspace(1, 1 / condition, n)[:, None]).astype(dtype)


def rcond_of_scaled(A, condition):
    """1 / (|A| |A^-1|) in the 1-norm; the rows' scale is taken off for the inversion, and put back."""
    scale = np.geomspace(1, 1 / condition, len(A))
    inverse = np.linalg.inv(A.astype(np.complex128) / scale[:, None]) / scale
    return 1 / (np.abs(A).sum(0).max() * np.abs(inverse).sum(0).max())


def named_rcond(caught):
    return float(str(caught[0].message).rstrip(".").split()[-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("structure", ["general", "diagonal", "tridiagonal", "upper triangular", "lower triangular"])
@pytest.mark.parametrize("n", [2, 6, 60])
def test_warns_of_ill_conditioned_matrices_when_scipy_does(structure, n, dtype):
    for condition in (1 / eps(dtype) / 1000, 30 / eps(dtype)):
        A = nearly_singular(structure, n, dtype, condition)
        for a in (A, np.asfortranarray(A)):
            _, theirs = quietly(scipy.linalg.solve, a, np.ones(n, dtype))
            _, ours = quietly(trencadis.solve, a, np.ones(n, dtype))
            assert [w.category for w in ours] == [w.category for w in theirs]
            assert all(w.filename == theirs[0].filename or "test" in w.filename for w in ours)
            if ours:  # SciPy 1.17's figures are off by factors up to 3, and inverted for diagonal matrices
                assert named_rcond(ours) == pytest.approx(rcond_of_scaled(A, condition), rel=float(50 * eps(dtype)))
    assert ours


def test_names_each_ill_conditioned_matrix_of_a_stack_once():
    """By its place; SciPy 1.17 counts the ill-conditioned ones alone."""
    bad = nearly_singular("general", 5, np.float64, 1e18)
    stack = np.stack([np.eye(5), bad, well_conditioned(5, np.float64), bad])
    _, warned = quietly(trencadis.solve, stack, np.ones(5))
    assert len(warned) == 1 and warned[0].filename == __file__
    assert [f"slice {i} has" in str(warned[0].message) for i in range(4)] == [False, True, False, True]


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_estimated_condition_is_lapacks(dtype):
    gecon = scipy.linalg.get_lapack_funcs("gecon", dtype=dtype)
    for seed in range(30):
        A = random_array((40, 40), dtype, seed=seed) * np.geomspace(1, 1e-18, 40)[:, None]
        _, warned = quietly(trencadis.solve, A, np.ones(40))
        rcond, _ = gecon(scipy.linalg.lu_factor(A)[0], np.abs(A).sum(0).max())
        assert named_rcond(warned) == pytest.approx(rcond, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scaling_to_the_ends_of_the_range_does_no_harm(scale):
    A, b = well_conditioned(30, np.float64), random_array(30, np.float64)
    for a in (A, A + 1j * well_conditioned(30, np.float64, seed=2)):
        x, warned = quietly(trencadis.solve, a * scale, b * scale)
        assert not warned and np.allclose(x, scipy.linalg.solve(a, b))


@pytest.mark.parametrize("n", [3, 700])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("assumed", [None, "gen", "upper triangular", "tridiagonal"])
@pytest.mark.parametrize("where", ["a", "b"])
def test_rejects_what_is_not_finite_in_scipys_words(n, bad, assumed, where):
    A, b = of_structure(assumed or "general", n, np.float64), random_array((n, 2), np.float64)
    (b if where == "b" else A)[n // 2, 1] = bad
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="^array must not contain infs or NaNs$"):
            trencadis.solve(A, b, assume_a=assumed, overwrite_a=overwrite, overwrite_b=overwrite)


@pytest.mark.parametrize("assumed", [None, "gen", "sym", "pos"])
def test_a_matrix_that_may_be_overwritten_stays_where_b_is_refused(assumed):
    A = np.asfortranarray(np.triu(well_conditioned(4, np.float64)))
    before = A.copy()
    with pytest.raises(ValueError, match="infs or NaNs"):
        trencadis.solve(A, np.array([1, np.nan, 1, 1]), assume_a=assumed, overwrite_a=True, overwrite_b=True)
    assert np.array_equal(A, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("assumed", [None, "gen", "sym", "upper triangular"])
def test_without_the_finite_check_a_bad_element_comes_to_an_end_that_tells_of_it(bad, assumed):
    for i in range(4):
        for j in range(i, 4):
            A = well_conditioned(4, np.float64)
            A[i, j] = bad
            with pytest.raises((np.linalg.LinAlgError, scipy.linalg.LinAlgWarning)), warnings.catch_warnings():
                warnings.simplefilter("error")
                trencadis.solve(A, np.ones(4), check_finite=False, assume_a=assumed)


@pytest.mark.parametrize(
    ("a", "b", "how", "error", "message"),
    [
        (np.eye(2), np.ones(2), {"assume_a": "diag"}, ValueError, "diag is not a recognized matrix structure"),
        (np.ones((2, 3)), np.ones(2), {}, ValueError, "square matrix"),
        (np.ones((3, 2, 3)), np.ones(2), {}, ValueError, "square matrix"),
        (np.eye(3), np.ones(4), {}, ValueError, "incompatible shapes"),
        (np.eye(3), np.ones((3, 4, 2)), {}, ValueError, "incompatible shapes"),
        (np.ones((2, 3, 3)), np.ones((3, 3, 1)), {}, ValueError, "shape mismatch|broadcast"),
        (np.eye(3, dtype=complex), np.ones(3), {"transposed": True}, NotImplementedError, "complex"),
        (np.array([[None] * 2] * 2, dtype=object), np.ones(2), {}, ValueError, "object arrays are not supported"),
        (np.ma.ones((2, 2)), np.ones(2), {}, ValueError, "masked arrays are not supported"),
    ],
)
def test_bad_input_is_an_error_as_with_scipy(a, b, how, error, message):
    with pytest.raises(error):
        scipy.linalg.solve(a, b, **how)
    with pytest.raises(error, match=message):
        trencadis.solve(a, b, **how)


@pytest.mark.parametrize("assumed", [None, "gen", "pos", "sym", "tridiagonal", "banded", "upper triangular"])
@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3)])
def test_what_a_stack_is_solved_with_is_not_overwritten_between_its_matrices(assumed, shape):
    a = np.stack([4 * np.eye(5) + np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)] * 3)
    b = np.ones(shape, order="F")
    x = trencadis.solve(a.copy(), b.copy("F"), assume_a=assumed, overwrite_a=True, overwrite_b=True)
    read = np.triu(a) if assumed == "upper triangular" else a
    np.testing.assert_allclose(read @ x.reshape(3, 5, -1), 1.0, atol=1e-14)
