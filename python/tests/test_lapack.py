"""trencadis.lapack beside scipy.linalg.lapack: the same names, arguments and results."""

import numpy as np
import pytest
import scipy.linalg.lapack as theirs
import trencadis.lapack as ours
from trencadis import _core

ROUTINES = sorted({name[1:] for name in ours.__all__})


def matrix(letter, n=60):
    random = np.random.default_rng(20261)
    a = random.random((n, n)) - 0.5
    if letter in "cz":
        a = a + 1j * (random.random((n, n)) - 0.5)
    a = a / n
    a[np.diag_indices(n)] = 2
    return a.astype({"s": "f", "d": "d", "c": "F", "z": "D"}[letter])


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize("routine", ROUTINES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("order", "CF")
def test_results_are_scipys(routine, letter, lower, order):
    a = np.asarray(matrix(letter), order=order)
    before = a.copy()
    x, info = getattr(ours, letter + routine)(a, lower=lower)
    y, expected = getattr(theirs, letter + routine)(a, lower=lower)
    assert info == expected == 0
    assert (a == before).all()
    # Both are within 10 n eps of the exact result, whose entries are below 8 here.
    assert np.abs(x - y).max() < 20 * len(a) * np.finfo(a.dtype).eps * 8
    other = np.triu(x - a, 1) if lower else np.tril(x - a, -1)
    assert (other == 0).all()


def test_a_zero_on_the_diagonal_is_infos():
    a = np.eye(5)
    a[3, 3] = 0
    assert ours.dtrtri(a)[1] == theirs.dtrtri(a)[1] == 4
    assert ours.dtrtri(a, unitdiag=True)[1] == 0


def test_an_array_is_worked_on_in_place_where_that_is_allowed():
    a = np.asfortranarray(matrix("d"))
    x, info = ours.dtrtri(a, overwrite_c=True)
    assert x is a
    assert info == 0
    assert ours.dtrtri(matrix("s"), overwrite_c=True)[0].dtype == np.float64


def test_what_is_not_square_is_refused():
    with pytest.raises(ValueError, match=r"square matrix, got an array of shape \(2, 3\)"):
        ours.dpotri(np.zeros((2, 3)))


def test_pivots_of_another_type_or_length_are_refused():
    a = np.asfortranarray(matrix("d", 4))
    for wrong in (np.zeros(4, np.int32), np.zeros(8, np.int64)[::2]):
        with pytest.raises(ValueError, match="ipiv must be a contiguous array of int64"):
            _core.lapack("getrf", None, 4, 4, a, wrong)
    with pytest.raises(ValueError, match="ipiv has 1 integers; the other arguments need 4"):
        _core.lapack("getrs", None, "N", 4, 1, a, np.ones(1, np.int64), np.ones((4, 1), order="F"))
