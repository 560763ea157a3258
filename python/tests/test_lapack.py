"""trencadis.lapack beside scipy.linalg.lapack: the same names, arguments and results."""

import numpy as np
import pytest
import scipy.linalg.lapack as theirs
import trencadis.lapack as ours
from trencadis import _core

ROUTINES = ["lauum", "potri", "trtri"]


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


LETTERS = pytest.mark.parametrize("letter", "sdcz")


def eps(letter):
    return float(np.finfo({"s": "f", "d": "d", "c": "F", "z": "D"}[letter]).eps)


def both(name):
    return getattr(ours, name), getattr(theirs, name)


def test_the_names_are_those_of_scipy():
    # SciPy has RQ (gerqf, orgrq, ormrq) instead of LQ.
    assert {name[1:] for name in ours.__all__ if not hasattr(theirs, name)} == {
        *("gelqf", "orglq", "unglq", "ormlq", "unmlq"),
    }
    assert {"dgeqrf", "dorgqr", "zungqr", "sormqr", "cunmqr", "dgels"} <= set(ours.__all__)
    assert "zorgqr" not in ours.__all__
    assert {"trtrs", "lange", "lantr", "gecon", "pocon", "trcon", "geequ", "geequb", "gesvx", "posvx", "laswp"} <= {
        name[1:] for name in ours.__all__
    }


@LETTERS
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("unitdiag", [False, True])
def test_triangular_systems_are_solved_as_scipy_does(letter, lower, trans, unitdiag):
    a, (mine, scipys) = matrix(letter), both(letter + "trtrs")
    for b in (a[:, 0], a[:, :3], np.asfortranarray(a[:, :2])):
        x, info = mine(a, b, lower=lower, trans=trans, unitdiag=unitdiag)
        y, expected = scipys(a, b, lower=lower, trans=trans, unitdiag=unitdiag)
        assert info == expected == 0
        assert x.shape == y.shape == b.shape
        assert np.abs(x - y).max() < 20 * len(a) * eps(letter)


def test_a_singular_triangle_leaves_the_right_side():
    a, b = np.eye(5), np.arange(5.0)
    a[3, 3] = 0
    x, info = ours.dtrtrs(a, b)
    assert info == theirs.dtrtrs(a, b)[1] == 4
    assert (x == b).all()
    assert ours.dtrtrs(a, b, unitdiag=True)[1] == 0
    x = np.asfortranarray(np.ones((5, 2)))
    assert ours.dtrtrs(np.eye(5), x, overwrite_b=True)[0] is x


@LETTERS
@pytest.mark.parametrize("norm", ["M", "m", "1", "o", "I", "F", "e", b"1"])
def test_norms_are_scipys(letter, norm):
    whole = matrix(letter)
    for a in (whole, whole[:7, :20], np.asfortranarray(whole[:20, :7]), whole[:, 0], whole[:0]):
        mine, scipys = both(letter + "lange")
        assert mine(norm, a) == pytest.approx(scipys(norm, a), rel=100 * eps(letter))
        if a.ndim < 2 or not a.size:
            continue
        mine, scipys = both(letter + "lantr")
        for uplo in "UL":
            for diag in "NU":
                assert mine(norm, a, uplo, diag) == pytest.approx(scipys(norm, a, uplo, diag), rel=100 * eps(letter))


@LETTERS
def test_estimates_of_conditions_are_scipys(letter):
    for n in (1, 2, 17, 60):
        a = matrix(letter, n) + np.diag(np.linspace(0, 1, n)).astype(matrix(letter).dtype)
        near = {"rel": 20 * n * eps(letter)}
        lu = theirs.__dict__[letter + "getrf"](a)[0]
        for norm in "1OI":
            anorm = theirs.__dict__[letter + "lange"](norm, a)
            for mine, expected in zip(*(f(lu, anorm, norm=norm) for f in both(letter + "gecon")), strict=True):
                assert mine == pytest.approx(expected, **near)
            for uplo in "UL":
                for diag in "UN":
                    for mine, expected in zip(*(f(a, norm, uplo, diag) for f in both(letter + "trcon")), strict=True):
                        assert mine == pytest.approx(expected, **near)
        p = a @ a.conj().T + np.eye(n, dtype=a.dtype)
        for lower in (False, True):
            c = theirs.__dict__[letter + "potrf"](p, lower=lower)[0]
            anorm = theirs.__dict__[letter + "lange"]("1", p)
            for mine, expected in zip(*(f(c, anorm, uplo="UL"[lower]) for f in both(letter + "pocon")), strict=True):
                assert mine == pytest.approx(expected, **near)


def test_conditions_with_norms_that_are_no_numbers_are_lapacks():
    a = np.eye(3)
    assert ours.dgecon(a, np.inf) == (0, -5)
    assert ours.dgecon(a, 0) == (0, 0)
    rcond, info = ours.dgecon(a, np.nan)
    assert np.isnan(rcond)
    assert info == -5
    assert ours.dgecon(np.zeros((0, 0)), 3.0) == (1, 0)
    with pytest.raises(ValueError, match=r"anorm is -1\.0+, must be at least 0"):
        ours.dgecon(a, -1)
    with pytest.raises(ValueError, match="norm is 'M', must be '1', 'O' or 'I'"):
        ours.dgecon(a, 1, norm="M")
    with pytest.raises(ValueError, match="norm is 'Q'"):
        ours.dlange("Q", a)
    with pytest.raises(ValueError, match="square"):
        ours.dtrcon(np.ones((2, 4)))


@LETTERS
@pytest.mark.parametrize("name", ["geequ", "geequb"])
def test_scalings_are_scipys(letter, name):
    mine, scipys = both(letter + name)
    for a in (matrix(letter), matrix(letter)[:7, :20], matrix(letter)[:20, :7] * 1e-3, matrix(letter)[:0]):
        for x, y in zip(mine(a), scipys(a), strict=True):
            assert np.allclose(x, y, rtol=4 * eps(letter), atol=0)
    a = matrix(letter)
    a[4] = 0
    assert mine(a)[-1] == scipys(a)[-1] == 5


@LETTERS
def test_row_interchanges_are_scipys(letter):
    a, (mine, scipys) = matrix(letter, 8)[:, :5], both(letter + "laswp")
    piv = [3, 1, 7, 4, 4, 6]
    for options in ({}, {"k1": 1, "k2": 3}, {"inc": -1}, {"k1": 1, "k2": 2, "off": 1, "inc": 2}, {"k1": 1, "k2": 2, "inc": -2}):
        assert (mine(a, piv, **options) == scipys(a, piv, **options)).all(), options
    x = np.asfortranarray(a)
    assert mine(x, piv, overwrite_a=True) is x
    with pytest.raises(ValueError, match="ipiv"):
        mine(a, [0, 8])
    with pytest.raises(ValueError, match="no rows 0 to 6"):
        mine(a, piv, k2=6)


@LETTERS
@pytest.mark.parametrize("fact", ["N", "E"])
def test_whole_systems_are_scipys(letter, fact):
    mine, scipys = both(letter + "gesvx")
    a, b = matrix(letter, 20), matrix(letter, 20)[:, :3]
    a *= np.geomspace(1, 1e4, 20).astype(a.real.dtype)[:, None]
    found, expected = mine(a, b, fact=fact), scipys(a, b, fact=fact)
    for x, y in zip(found[:3] + found[4:9], expected[:3] + expected[4:9], strict=True):  # ferr and berr are bounds of rounding
        assert np.allclose(x, y, rtol=2e3 * eps(letter), atol=2e3 * eps(letter) * np.abs(y).max(initial=0))
    assert found[3] == expected[3] == (b"N" if fact == "N" else b"R") and found[-1] == expected[-1] == 0
    assert (found[-2] < 20 * eps(letter)).all() and (found[-3] > 0).all()
    again = mine(found[0], b, fact="F", af=found[1], ipiv=found[2], equed=found[3], r=found[4], c=found[5], trans="T")
    assert np.allclose(a.T @ again[7], b, atol=1e3 * eps(letter) * np.abs(a).max() * np.abs(again[7]).max())
    with pytest.raises(ValueError, match="equed is 'Q'"):
        mine(a, b, fact="F", equed="Q", ipiv=range(20))
    with pytest.raises(ValueError, match=r"r\(1\) is 0.000000, must be positive"):
        mine(a, b, fact="F", equed="R", r=np.zeros(20), ipiv=range(20))


@LETTERS
def test_whole_positive_definite_systems_are_scipys(letter):
    mine, scipys = both(letter + "posvx")
    a, b = matrix(letter), matrix(letter)[:, 0]
    a = a @ a.conj().T + 20 * np.eye(len(a), dtype=a.dtype)
    scales = np.geomspace(1, 100, len(a)).astype(a.real.dtype)
    a = a * scales * scales[:, None]
    for lower in (False, True):
        found, expected = mine(a, b, lower=lower), scipys(a, b, lower=lower)
        assert found[2] == expected[2] == b"Y" and found[-1] == expected[-1] == 0
        assert np.allclose(found[5], expected[5], rtol=1e3 * eps(letter)) and np.allclose(
            found[3], expected[3], rtol=8 * eps(letter)
        )
        assert np.isclose(found[6], expected[6], rtol=1e3 * eps(letter))
    a[3, 3] = -1
    assert mine(a, b)[-1] == scipys(a, b)[-1] == 4


def test_what_has_no_tiles_takes_no_tile_size():
    with pytest.raises(ValueError, match="neither tiles nor variants"):
        _core.lapack("gecon", None, "1", 2, np.asfortranarray(np.eye(2)), 1.0, np.empty(1), nb=16)
    with pytest.raises(ValueError, match="rcond has 2 numbers; the other arguments need 1"):
        _core.lapack("gecon", None, "1", 2, np.asfortranarray(np.eye(2)), 1.0, np.empty(2))
    with pytest.raises(ValueError, match="'gemm' is no norm"):
        _core.lapack_norm("gemm", None, np.eye(2))


def unitary(letter, rest):
    return letter + ("un" if letter in "cz" else "or") + rest


@LETTERS
@pytest.mark.parametrize("shape", [(60, 60), (60, 25), (25, 60), (7, 1), (1, 7)])
def test_orthogonal_factors_are_scipys(letter, shape):
    a = matrix(letter)[: shape[0], : shape[1]]
    bound = 100 * max(shape) * eps(letter)
    qr, tau, work, info = getattr(ours, letter + "geqrf")(a)
    expected = getattr(theirs, letter + "geqrf")(a)
    assert info == expected[3] == 0 and work[0].real == shape[1]
    assert np.abs(qr - expected[0]).max() < bound and np.abs(tau - expected[1]).max() < bound
    k = min(shape)
    q, _, info = getattr(ours, unitary(letter, "gqr"))(qr[:, :k], tau)
    other, _, _ = getattr(theirs, unitary(letter, "gqr"))(qr[:, :k], tau)
    assert info == 0 and np.abs(q - other).max() < bound
    c = matrix(letter)[: shape[0], :9]
    for side, given in (("L", c), ("R", c.T)):
        for trans in ("N", "C" if letter in "cz" else "T"):
            words = side, trans, qr[:, :k], tau, given
            mine, _, info = getattr(ours, unitary(letter, "mqr"))(*words, 200)
            other, _, _ = getattr(theirs, unitary(letter, "mqr"))(*words, 200)
            assert info == 0 and np.abs(mine - other).max() < bound
    assert getattr(ours, unitary(letter, "mqr"))("L", "N", qr[:, :k], tau, c, -1)[1][0] == 9


@LETTERS
@pytest.mark.parametrize("shape", [(60, 25), (25, 60), (1, 7)])
def test_lq_is_qr_of_the_adjoint(letter, shape):
    a = matrix(letter)[: shape[0], : shape[1]]
    bound, k = 100 * max(shape) * eps(letter), min(shape)
    lq, tau, _, info = getattr(ours, letter + "gelqf")(a)
    assert info == 0 and np.abs(lq.conj().T - getattr(ours, letter + "geqrf")(a.conj().T)[0]).max() < bound
    q, _, info = getattr(ours, unitary(letter, "glq"))(lq[:k], tau)
    assert info == 0 and np.abs(np.tril(lq)[:, :k] @ q - a).max() < bound
    c = matrix(letter)[: shape[1], :5]
    product, _, info = getattr(ours, unitary(letter, "mlq"))("L", "N", lq[:k], tau, c, 60)
    assert info == 0 and np.abs(product[:k] - q @ c).max() < bound


@LETTERS
@pytest.mark.parametrize("shape", [(60, 25), (25, 60), (30, 30)])
@pytest.mark.parametrize("transposed", [False, True])
def test_least_squares_are_scipys(letter, shape, transposed):
    a = matrix(letter)[: shape[0], : shape[1]]
    trans = "N" if not transposed else "C" if letter in "cz" else "T"
    b = np.asfortranarray(matrix(letter)[: max(shape), 3:5])
    factors, x, info = getattr(ours, letter + "gels")(a, b, trans=trans)
    expected = getattr(theirs, letter + "gels")(a, b, trans=trans)
    assert info == expected[2] == 0
    assert np.abs(factors - expected[0]).max() < 1000 * eps(letter)
    assert np.abs(x - expected[1]).max() < 1e5 * eps(letter)


def test_a_workspace_that_lapack_would_refuse_is_refused():
    a = matrix("d")[:, :5]
    with pytest.raises(ValueError, match="lwork is 4, must be at least 5"):
        ours.dgeqrf(a, 4)
    with pytest.raises(ValueError, match="lwork is 2, must be at least 3"):
        ours.dormqr("L", "N", a, np.ones(5), np.ones((60, 3)), 2)
    with pytest.raises(ValueError, match="60 rows are needed"):
        ours.dgels(a, np.ones(5))
    with pytest.raises(ValueError, match="trans is 'T'"):
        ours.zunmqr("L", "T", a, np.ones(5), np.ones((60, 3)), 3)


def test_scalars_of_the_wrong_length_or_kind_are_refused():
    a = np.asfortranarray(matrix("d", 6))
    with pytest.raises(ValueError, match="tau is 5 x 1; the other arguments need 6 x 1"):
        _core.lapack("geqrf", None, 6, 6, a, np.ones(5))
    with pytest.raises(ValueError, match="tau"):
        _core.lapack("geqrf", None, 6, 6, a, np.ones(6, np.float32))
    with pytest.raises(ValueError, match="tau is 6 x 1; the other arguments need 3 x 1"):
        _core.lapack("orgqr", None, 6, 6, 3, a, np.ones(6))
