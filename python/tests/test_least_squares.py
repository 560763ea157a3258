"""trencadis.lstsq against SciPy's."""

import numpy as np
import pytest
import scipy.linalg
import trencadis
from matrices import DTYPES, eps, layouts, random_array

SHAPES = [(1, 1), (60, 60), (60, 25), (25, 60), (200, 3), (3, 200), (5, 1), (1, 5)]


def well_conditioned(shape, dtype, seed=0):
    """Singular values from 1 to 2."""
    u, _, vh = np.linalg.svd(random_array(shape, np.complex128 if np.dtype(dtype).kind == "c" else float, seed), False)
    return ((u * np.linspace(1, 2, min(shape))) @ vh).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [None, 1, 4])
def test_answers_are_scipys(shape, dtype, columns):
    A = well_conditioned(shape, dtype)
    b = random_array(shape[:1] if columns is None else (shape[0], columns), dtype, seed=1)
    expected = scipy.linalg.lstsq(A, b)
    for name, a in layouts(A).items():
        x, residues, rank, s = trencadis.lstsq(a, b)
        assert s is None and rank == expected[2] == min(shape), name  # by QR
        # The condition is 2: both solutions are within a multiple of max(m, n) eps of the exact one (Higham 2002, section 20.1).
        for ours, theirs in ((x, expected[0]), (residues, expected[1])):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, name
            assert np.abs(ours - theirs).max(initial=0) < 50 * max(shape) * eps(dtype) * max(1, np.abs(theirs).max(initial=0))
        assert np.array_equal(a, A), name


def test_the_condition_decides_who_computes():
    """QR as long as there is no doubt, then singular values, whose rank it is."""
    by_qr = []
    for condition in 10.0 ** np.arange(0, 20):
        u, _, vh = np.linalg.svd(random_array((40, 12), float), False)
        A, b = (u * np.geomspace(1, 1 / condition, 12)) @ vh, np.ones(40)
        x, _, rank, s = trencadis.lstsq(A, b)
        expected = scipy.linalg.lstsq(A, b)
        assert rank == expected[2]
        assert np.abs(x - expected[0]).max() <= 1e-13 * condition * np.abs(expected[0]).max()
        by_qr.append(s is None)
    assert by_qr == sorted(by_qr, reverse=True) and 11 <= sum(by_qr) <= 15


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_a_rank_that_is_not_full_is_scipys(shape):
    A = random_array((shape[0], 5), float) @ random_array((5, shape[1]), float, seed=1)
    b = random_array(shape[:1], float, seed=2)
    ours, theirs = trencadis.lstsq(A, b), scipy.linalg.lstsq(A, b)
    assert ours[2] == theirs[2] == 5
    for mine, other in zip(ours, theirs, strict=True):
        assert np.array_equal(mine, other)
    A[:, 3] = 0
    assert np.array_equal(trencadis.lstsq(A, b)[0], scipy.linalg.lstsq(A, b)[0])


def test_cond_is_the_part_of_the_largest_singular_value():
    A, b = np.diag([1, 1e-3, 1e-6]), np.ones(3)
    assert trencadis.lstsq(A, b)[2] == 3
    assert trencadis.lstsq(A, b, cond=1e-4)[2] == 2


@pytest.mark.parametrize("driver", ["gelsd", "gelsy", "gelss"])
def test_a_driver_by_name_is_scipys(driver):
    A, b = well_conditioned((20, 7), float), np.ones(20)
    for ours, theirs in zip(
        trencadis.lstsq(A, b, lapack_driver=driver), scipy.linalg.lstsq(A, b, lapack_driver=driver), strict=True
    ):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("columns", [None, 0, 2])
def test_nothing_is_scipys(shape, columns):
    A, b = np.ones(shape), np.ones(shape[:1] if columns is None else (shape[0], columns))
    for ours, theirs in zip(trencadis.lstsq(A, b), scipy.linalg.lstsq(A, b), strict=True):
        assert np.shape(ours) == np.shape(theirs) and np.array_equal(ours, theirs)


def test_stacks_are_their_problems():
    A = np.stack([well_conditioned((9, 4), float, seed) for seed in range(6)]).reshape(2, 3, 9, 4)
    for b in (random_array((9,), float), random_array((2, 3, 9, 2), float), random_array((3, 9, 2), float)):
        x, residues, rank, s = trencadis.lstsq(A, b)
        expected = scipy.linalg.lstsq(A, b)
        assert s is None and np.array_equal(rank, expected[2])
        assert x.shape == expected[0].shape and np.allclose(x, expected[0])
        assert residues.shape == expected[1].shape and np.allclose(residues, expected[1])
    A[..., 0] = 0  # SciPy, to which they go, knows stacks of one rank only
    for ours, theirs in zip(trencadis.lstsq(A, b), scipy.linalg.lstsq(A, b), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_numbers_whose_squares_are_none_are_solved(scale):
    A, b = well_conditioned((20, 7), float), np.ones(20)
    expected = trencadis.lstsq(A, b)[0]
    assert np.allclose(trencadis.lstsq(A * scale, b * scale)[0], expected, rtol=1e-12)
    x, residues, _, s = trencadis.lstsq(A, b * scale)
    assert s is None and np.allclose(x / scale, expected, rtol=1e-12)
    assert residues == (np.inf if scale > 1 else 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: trencadis.lstsq(np.ones(3), np.ones(3)), "a should be 2D"),
        (lambda: trencadis.lstsq(np.ones((3, 2)), np.ones(2)), r"same number of rows \(3 != 2\)"),
        (lambda: trencadis.lstsq([[np.inf]], [1]), "infs or NaNs"),
        (lambda: trencadis.lstsq(np.ones((2, 2)), np.ones(2), lapack_driver="gels"), "gels"),
    ],
)
def test_bad_input_is_refused_in_a_line(call, words):
    with pytest.raises(ValueError, match=words):
        call()
