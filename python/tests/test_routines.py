"""The routines of the extension module, in place on column-major arrays with padding, against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.linalg
from matrices import DTYPES, eps, positive_definite, random_array
from trencadis import _core

ENGINES = [row["name"] for row in _core.list_engines() if row["computes"]]
VARIANTS = {row["name"]: row["variants"] for row in _core.list_routines()}
NB = 48  # several tiles, and a ragged last one, at the sizes below


@pytest.fixture(scope="module", params=ENGINES)
def session(request):
    return _core.Session(engine=request.param)


def padded(a, extra=3, fill=7):
    """The matrix as the top of a taller column-major one, and that one."""
    whole = np.full((a.shape[0] + extra, a.shape[1]), fill, a.dtype, order="F")
    whole[: a.shape[0]] = a
    return whole[: a.shape[0]], whole


def op(letter, a):
    return {"N": a, "T": a.T, "C": a.conj().T}[letter]


def close(x, y, terms, scale):
    """Sums of `terms` products of magnitude `scale` err by at most terms eps scale (Higham 2002, section 3.5), 4 times that
    complex, once on each side."""
    return np.abs(x - y).max() <= 8 * (terms + 2) * eps(x.dtype) * scale


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transa", "NTC")
@pytest.mark.parametrize("transb", "NTC")
def test_gemm(session, dtype, transa, transb):
    m, n, k = 130, 97, 111
    A, _ = padded(random_array((m, k) if transa == "N" else (k, m), dtype))
    B, _ = padded(random_array((k, n) if transb == "N" else (n, k), dtype, 1))
    C0 = random_array((m, n), dtype, 2)
    alpha, beta = (0.5 - 2j, 1 + 1j) if C0.dtype.kind == "c" else (0.5, -2)
    C, whole = padded(C0)
    _core.gemm(session, transa, transb, alpha, A, B, beta, C, NB)
    expected = np.asarray(alpha, dtype) * (op(transa, A) @ op(transb, B)) + np.asarray(beta, dtype) * C0
    assert close(C, expected, k, 40) and np.all(whole[m:] == 7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("trans", "NC")
def test_herk_and_syrk_write_one_triangle(session, dtype, uplo, trans):
    n, k = 130, 61
    complex_ = np.dtype(dtype).kind == "c"
    for routine, letter in ((_core.herk, trans), (_core.syrk, trans if not complex_ or trans == "N" else "T")):
        A, _ = padded(random_array((n, k) if letter == "N" else (k, n), dtype))
        C0 = random_array((n, n), dtype, 2)
        np.fill_diagonal(C0, C0.diagonal().real)
        C, whole = padded(C0)
        routine(session, uplo, letter, 2.0, A, -1.0, C, NB)
        F = A if letter == "N" else (A.conj().T if routine is _core.herk else A.T)
        expected = 2 * F @ (F.conj().T if routine is _core.herk else F.T) - C0
        written = np.tri(n, dtype=bool) if uplo == "L" else ~np.tri(n, k=-1, dtype=bool)
        assert close(np.where(written, C, 0), np.where(written, expected, 0), k, 40)
        assert np.array_equal(C[~written], C0[~written]) and np.all(whole[n:] == 7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("transa", "NTC")
@pytest.mark.parametrize("diag", "NU")
def test_trsm(session, dtype, side, uplo, transa, diag):
    m, n = 130, 70
    order = m if side == "L" else n
    A, _ = padded(random_array((order, order), dtype) / (4 * order) + np.eye(order, dtype=dtype))
    B0 = random_array((m, n), dtype, 1)
    B, whole = padded(B0)
    _core.trsm(session, side, uplo, transa, diag, 2.0, A, B, NB)
    T = np.tril(A) if uplo == "L" else np.triu(A)
    if diag == "U":
        np.fill_diagonal(T, 1)
    product = op(transa, T) @ B if side == "L" else B @ op(transa, T)
    assert close(product, 2 * B0, order, 20) and np.all(whole[m:] == 7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("variant", VARIANTS["potrf"])
@pytest.mark.parametrize("n", [1, NB - 1, NB, NB + 1, 3 * NB, 200])
def test_potrf_potrs_posv(session, dtype, uplo, variant, n):
    A0, B0 = positive_definite(n, dtype), random_array((n, 5), dtype, 1)
    other = ~np.tri(n, dtype=bool) if uplo == "L" else np.tri(n, k=-1, dtype=bool)
    A0 = np.where(other, dtype(99), A0)
    A, whole = padded(A0)
    assert _core.potrf(session, uplo, A, NB, variant) == 0
    assert np.array_equal(A[other], A0[other]) and np.all(whole[n:] == 7)
    factor = np.where(other, 0, A)
    expected = scipy.linalg.cholesky(A0, lower=uplo == "L")
    assert close(factor, expected, n, 4)
    B, whole_b = padded(B0)
    _core.potrs(session, uplo, A, B, NB)
    assert np.all(whole_b[n:] == 7)
    full = factor @ factor.conj().T if uplo == "L" else factor.conj().T @ factor
    assert close(full @ B, B0, 3 * n, 10)
    A, whole = padded(A0)
    B2, _ = padded(B0)
    assert _core.posv(session, uplo, A, B2, NB, variant if variant in VARIANTS["posv"] else "") == 0
    assert close(full @ B2, B0, 3 * n, 10) and np.array_equal(A[other], A0[other]) and np.all(whole[n:] == 7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("bad", [0, NB - 1, NB, 130, 199])
def test_info_is_the_first_leading_minor_and_b_stays(session, dtype, uplo, bad):
    n = 200
    A0 = positive_definite(n, dtype)
    A0[bad:, bad:] -= 100 * np.eye(n - bad, dtype=dtype)  # every pivot from there on is bad; the first must win
    for _ in range(3):
        A, B = np.asfortranarray(A0), random_array((n, 2), dtype, 1)
        before = np.asfortranarray(B)
        B = before.copy(order="F")
        assert _core.potrf(session, uplo, A.copy(order="F"), 16) == bad + 1
        assert _core.posv(session, uplo, A, B, 16) == bad + 1
        assert np.array_equal(B, before)


def test_empty_matrices_are_solved_at_once(session):
    for dtype in DTYPES:
        A, B = np.zeros((0, 0), dtype, "F"), np.zeros((0, 3), dtype, "F")
        assert _core.potrf(session, "L", A) == 0 and _core.posv(session, "U", A, B) == 0
        _core.potrs(session, "L", A, B)
        C = np.ones((4, 3), dtype, "F")
        _core.gemm(session, "N", "N", 1, np.zeros((4, 0), dtype, "F"), np.zeros((0, 3), dtype, "F"), 2, C)
        assert np.all(C == 2)
        assert _core.posv(session, "L", np.asfortranarray(np.eye(5, dtype=dtype)), np.zeros((5, 0), dtype, "F")) == 0


def test_a_vector_is_one_column(session):
    A, b = np.asfortranarray(positive_definite(60, np.float64)), np.ones(60)
    assert _core.posv(session, "L", A.copy(order="F"), b) == 0
    assert np.allclose(A @ b, 1)


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_tasks_counts_the_cholesky_graph(session, n):
    assert _core.tasks(session, n) == n + n * (n - 1) + n * (n - 1) * (n - 2) // 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: _core.potrf(None, "X", a), "uplo is 'X'; give one of 'L', 'U'"),
        (lambda a: _core.potrf(None, "L", a[:3]), "a is 3 x 4; the other arguments need 3 x 3"),
        (
            lambda a: _core.potrf(None, "L", np.ascontiguousarray(a)),
            r"a of shape \(4, 4\) has strides of 4 and 1 elements; give a column-major",
        ),
        (lambda a: _core.potrf(None, "L", a.astype(int)), "a has elements of format 'l'; give native float32"),
        (lambda a: _core.potrf(None, "L", a.astype(">f8")), "a has elements of format '>d'"),
        (lambda a: _core.potrf(None, "L", a[None]), r"a has shape \(1, 4, 4\); give one or two dimensions"),
        (lambda a: _core.potrf(None, "L", [[1.0]]), "a is not an array but a list"),
        (lambda a: _core.potrf(None, "L", frozen(a)), "a is read-only"),
        (lambda a: _core.potrf(None, "L", a, -1), "nb|tile"),
        (lambda a: _core.potrf(None, "L", a, 0, "in-plaice"), "in-place"),
        (lambda a: _core.posv(None, "L", a, np.ones(3)), "b is 3 x 1; the other arguments need 4 x 1"),
        (lambda a: _core.posv(None, "L", a, np.ones(4, np.float32)), "b is float32 but a is float64; give one dtype"),
        (lambda a: _core.gemm(None, "N", "N", 1j, a, a, 0, a.copy(order="F")), "alpha is complex but the arrays are real"),
        (lambda a: _core.gemm(None, "N", "Q", 1, a, a, 0, a.copy(order="F")), "transb is 'Q'"),
        (
            lambda a: _core.gemm(None, "N", "N", 1, a, a[:2], 0, a.copy(order="F")),
            r"op\(b\) is 2 x 4; the other arguments need 4 x 4",
        ),
        (lambda a: _core.syrk(None, "L", "C", 1, a + 0j, 0, a + 0j), "trans|op"),
        (lambda a: _core.tasks(None, -1), "-1"),
    ],
)
def test_bad_arguments_say_what_was_given_and_what_would_be_right(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.asfortranarray(np.eye(4)))


def frozen(a):
    a = a.copy(order="F")
    a.flags.writeable = False
    return a
