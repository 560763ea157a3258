"""trencadis.qr, qr_multiply, rq and orth against SciPy's."""

import numpy as np
import pytest
import scipy.linalg
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, SIZES, eps, layouts, random_array

SHAPES = [(n, n) for n in SIZES] + [(70, 3), (3, 70), (200, 65), (65, 200), (1, 5), (5, 1)]
MODES = ["full", "economic", "r", "raw"]


def flat(answer):
    return [part for one in answer for part in (one if isinstance(one, tuple) else (one,))]


def expect_near(ours, theirs, n):
    """Both are within a modest multiple of n eps of exact factors of nearby matrices, whose condition is modest here."""
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if ours.dtype.char not in "fdFD":
        assert np.array_equal(ours, theirs)  # of nothing, in the dtype that was given
    elif ours.size:
        assert np.abs(ours - theirs).max() <= 500 * n * eps(ours.dtype) * max(1, np.abs(theirs).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_multiply_to_the_matrix_and_q_is_orthogonal(shape, dtype):
    A = random_array(shape, dtype)
    for mode in ("full", "economic"):
        for name, a in layouts(A).items():
            q, r = trencadis.qr(a, mode=mode)
            n = max(shape)
            assert q.dtype == r.dtype == dtype and np.array_equal(a, A), name
            # Higham 2002, theorem 19.4: n columns of length m, each off by a multiple of m n eps of its length; seen: 1.
            assert np.abs(q @ r - A).max() <= 10 * n * eps(dtype) * np.linalg.norm(A, axis=0).max(), name
            assert np.abs(q.conj().T @ q - np.eye(q.shape[1])).max() <= 10 * n * eps(dtype), name
            assert np.array_equal(r, np.triu(r)), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_results_are_scipys(shape, dtype, mode):
    A = random_array(shape, dtype)
    for ours, theirs in zip(flat(trencadis.qr(A, mode=mode)), flat(scipy.linalg.qr(A, mode=mode)), strict=True):
        expect_near(ours, theirs, max(shape) ** 1.5)


def pairs(A, **words):
    """Our answers and SciPy's with pivoting, whose order comes last."""
    return flat(trencadis.qr(A, pivoting=True, **words)), flat(scipy.linalg.qr(A, pivoting=True, **words))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3), (3, 0)])
@pytest.mark.parametrize("mode", MODES)
def test_pivoting_is_scipys(shape, dtype, mode):
    A = random_array(shape, dtype) * np.arange(1, shape[1] + 1, dtype=dtype)[::-1] ** 3  # norms apart: the order is beyond doubt
    before = A.copy()
    (*ours, order), (*theirs, wanted) = pairs(A, mode=mode)
    assert np.array_equal(A, before) and order.dtype == wanted.dtype and np.array_equal(order, wanted)
    for mine, other in zip(ours, theirs, strict=True):
        expect_near(mine, other, max(*shape, 1) ** 1.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_diagonal_with_pivoting_does_not_grow_and_shows_the_rank(dtype):
    A = (random_array((90, 17), dtype) @ random_array((17, 70), dtype)).astype(dtype)
    q, r, order = trencadis.qr(A, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    assert sorted(order) == list(range(70))
    assert np.all(diagonal[1:] <= diagonal[:-1] * (1 + 100 * eps(dtype)))
    assert np.sum(diagonal > 1000 * eps(dtype) * diagonal[0]) == 17
    assert np.abs(q @ r - A[:, order]).max() <= 10 * 90 * eps(dtype) * np.linalg.norm(A, axis=0).max()


def test_pivoting_over_a_stack_and_with_less_work_than_it_takes():
    A = random_array((2, 3, 8, 5), np.float64)
    for mine, other in zip(*pairs(A, mode="economic"), strict=True):
        assert mine.shape == other.shape and np.allclose(mine, other)
    with pytest.raises(ValueError, match="lwork is 15, must be at least 16"):
        trencadis.qr(A[0, 0], pivoting=True, lwork=15)
    assert np.allclose(trencadis.qr(A[0, 0], pivoting=True, lwork=16)[1], trencadis.qr(A[0, 0], pivoting=True)[1])


@pytest.mark.parametrize("mode", MODES)
def test_a_stack_is_its_matrices(mode):
    A = random_array((2, 3, 9, 4), np.complex128)
    answer = trencadis.qr(A, mode=mode)
    assert isinstance(answer, tuple) == (mode != "r")  # as SciPy's of a stack
    stacked = flat(answer if isinstance(answer, tuple) else (answer,))
    for i in np.ndindex(2, 3):
        for all_of_them, one in zip(stacked, flat(trencadis.qr(A[i], mode=mode)), strict=True):
            assert np.array_equal(all_of_them[i], one)
    with pytest.raises(ValueError, match="zero-size batches"):
        trencadis.qr(A[:0], mode=mode)


@settings(deadline=None, max_examples=150)
@given(dtype=st.sampled_from("?bBhilefdgFDG"), m=st.integers(0, 4), n=st.integers(0, 4), mode=st.sampled_from(MODES))
def test_promotes_and_shapes_as_scipy(dtype, m, n, mode):
    A = (np.eye(m, n) * 3 + np.tri(m, n, 1)).astype(dtype)
    ours, theirs = (function(A, mode=mode) for function in (trencadis.qr, scipy.linalg.qr))
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        assert mine.dtype == other.dtype and mine.shape == other.shape
    if mode in ("full", "economic"):  # of truth values the columns are dependent, and Q is not the only one
        assert np.allclose(ours[0].astype(complex) @ ours[1], A, atol=1e-5)


def test_an_array_is_overwritten_where_that_is_allowed_and_only_there():
    A = np.asfortranarray(random_array((90, 40), np.float64))
    before = A.copy()
    (factors, _), _ = trencadis.qr(A, mode="raw")
    assert factors is not A and np.array_equal(A, before)
    (factors, _), _ = trencadis.qr(A, overwrite_a=True, mode="raw")
    assert np.shares_memory(factors, A) and not np.array_equal(A, before)


@pytest.mark.parametrize("part", [slice(None), slice(3, 8)])
def test_a_product_with_its_own_matrix_is_right_though_that_may_be_overwritten(part):
    A = np.asfortranarray(random_array((30, 30), np.float64))
    expected = scipy.linalg.qr_multiply(A.copy(), A[:, part].copy(), "left")[0]
    expect_near(trencadis.qr_multiply(A, A[:, part], "left", overwrite_a=True)[0], expected, 30)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30, 30), (30, 12), (12, 30)])
@pytest.mark.parametrize("mode", ["left", "right"])
@pytest.mark.parametrize("conjugate", [False, True])
def test_products_with_q_are_scipys(shape, dtype, mode, conjugate):
    A, k = random_array(shape, dtype), min(shape)
    c = random_array((k, 5) if mode == "left" else (5, shape[0]), dtype, seed=1)
    for given_c in (c, np.asfortranarray(c), c[:, 0] if mode == "left" else c[0]):
        for pivoting in (False, True):
            ours = trencadis.qr_multiply(A, given_c, mode, pivoting, conjugate)
            theirs = scipy.linalg.qr_multiply(A, given_c, mode, pivoting, conjugate)
            for mine, other in zip(ours, theirs, strict=True):
                expect_near(mine, other, 30)
    if mode == "left" and shape[0] > k:
        whole = random_array((shape[0], 5), dtype)
        expect_near(
            trencadis.qr_multiply(A, whole.copy(), overwrite_c=True, mode="left")[0],
            scipy.linalg.qr_multiply(A, whole.copy(), overwrite_c=True, mode="left")[0],
            30,
        )


def test_a_complex_c_keeps_its_imaginary_part():
    A, c = random_array((8, 8), np.float64), random_array((8, 8), np.complex128)
    product, _ = trencadis.qr_multiply(A, c, "left")
    assert np.allclose(product, trencadis.qr(A)[0] @ c)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (40, 40), (40, 17), (17, 40), (0, 3), (3, 0)])
@pytest.mark.parametrize("mode", ["full", "economic", "r"])
def test_rq_is_scipys(shape, dtype, mode):
    A = random_array(shape, dtype)
    ours, theirs = trencadis.rq(A, mode=mode), scipy.linalg.rq(A, mode=mode)
    for mine, other in zip([ours] if mode == "r" else ours, [theirs] if mode == "r" else theirs, strict=True):
        expect_near(mine, other, max(shape) ** 1.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [0, 1, 7, 12])
def test_orth_spans_the_range(dtype, rank):
    A = random_array((30, rank), dtype) @ random_array((rank, 12), dtype, seed=1)
    basis = trencadis.orth(A)
    assert basis.shape == (30, rank) and basis.dtype == dtype
    assert np.abs(basis.conj().T @ basis - np.eye(rank)).max(initial=0) < 300 * eps(dtype)
    assert np.abs(A - basis @ (basis.conj().T @ A)).max() < 1000 * eps(dtype) * max(1, np.abs(A).max())


def test_orth_of_what_is_nearly_dependent_is_as_wide_as_scipys():
    A = random_array((30, 12), np.float64)
    A[:, 5] = A[:, 4] * (1 + 1e-15)
    assert trencadis.orth(A).shape == scipy.linalg.orth(A).shape == (30, 11)
    assert trencadis.orth(np.diag([1, 1e-3]), rcond=1e-2).shape == (2, 1)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_numbers_whose_squares_are_none_are_factored(scale):
    A = random_array((40, 20), np.float64)
    q, r = trencadis.qr(A * scale, mode="economic")
    assert np.abs(q - trencadis.qr(A, mode="economic")[0]).max() < 1e-12
    assert np.abs(q.T @ q - np.eye(20)).max() < 1e-13 and np.isfinite(r).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: trencadis.qr(np.ones(3)), "expected a 2-D array"),
        (lambda: trencadis.qr(np.ones((2, 2)), mode="reduced"), "Mode argument"),
        (lambda: trencadis.qr([[1, np.nan]]), "infs or NaNs"),
        (lambda: trencadis.qr(np.ones((3, 3)), lwork=2), "lwork is 2, must be at least 3"),
        (lambda: trencadis.qr_multiply(np.ones((3, 3)), np.ones((2, 2)), "left"), "not compatible for Q @ c"),
        (lambda: trencadis.qr_multiply(np.ones((3, 3)), np.ones((2, 2))), "not compatible for c @ Q"),
        (lambda: trencadis.qr_multiply(np.ones((3, 3)), np.ones(3), "up"), "'left' or 'right'"),
        (lambda: trencadis.rq(np.ones((2, 2)), mode="raw"), "Mode argument"),
        (lambda: trencadis.qr(np.ma.ones((2, 2))), "masked arrays"),
    ],
)
def test_bad_input_is_refused_in_a_line(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_goes_on_where_nobody_looks(bad):
    for place in np.ndindex(4, 3):
        A = random_array((4, 3), np.float64)
        A[place] = bad
        _, r = trencadis.qr(A, check_finite=False)
        assert not np.isfinite(r).all()


@pytest.mark.parametrize("routine", [trencadis.qr, trencadis.rq])
def test_what_is_no_number_is_a_value_error_as_scipys(routine):
    with pytest.raises(ValueError, match="could not convert string to float"):
        routine(np.array([["a", "b"], ["c", "d"]]))


@pytest.mark.parametrize("mode", ["left", "right"])
@pytest.mark.parametrize("of_c", ["matrix", "stack", "broadcast"])
def test_products_with_the_factors_of_stacks_are_as_scipys(mode, of_c):
    rng = np.random.default_rng(5)
    a = rng.standard_normal((2, 1, 5, 3))
    c = rng.standard_normal({"matrix": (), "stack": (2, 1), "broadcast": (4,)}[of_c] + ((3, 2) if mode == "left" else (2, 5)))
    ours, theirs = (one.qr_multiply(a, c, mode, pivoting=True) for one in (trencadis, scipy.linalg))
    assert [part.shape for part in ours] == [part.shape for part in theirs]
    for mine, its in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-13)
