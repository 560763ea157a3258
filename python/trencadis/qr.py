"""SciPy's functions for orthogonal factors, on the current session."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import shown, whole_number
from .conversion import columns, common_dtype, converted_dtype, replaceable, validated
from .session import current

_MODES = ("full", "qr", "r", "economic", "raw")


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Any, ...]:
    """The QR factorization, a = Q R, Q with orthonormal columns and R upper triangular.

    Parameters
    ----------
    a : (..., M, N) array_like
    overwrite_a : bool
        Allow the data of a to be overwritten; saves a copy when the array can be used in place.
    lwork : int
        SciPy's: at least N, or None or -1. It is not used otherwise: the memory for tiles is our own.
    mode : {'full', 'r', 'economic', 'raw'}
        Q and R whole; R alone; the first K = min(M, N) columns of Q and rows of R; or what LAPACK leaves, see below.
    pivoting : bool
        Exchange columns so that the diagonal of R does not grow in modulus, a[:, p] = Q R. How many of its elements are not small
        beside the first is about the rank.
    check_finite : bool
        Check all of `a` for infinities and NaNs.

    Returns
    -------
    (q, r), or (r,) with mode 'r' (of a stack, as from SciPy, r itself), or ((qr, tau), r) with 'raw'; with pivoting p at the end
        q : (..., M, M) or (..., M, K) ndarray; r : (..., M, N) or (..., K, N); qr : (..., M, N) with R above the vectors of the
        reflectors and tau : (..., K) their scalars, for `trencadis.lapack.dormqr` and its kin; p : (..., N) of int32.

    Raises
    ------
    ValueError
        There is no such mode, `a` is no matrix, or not finite.

    Notes
    -----
    LAPACK's geqrf, or geqp3 with pivoting, and orgqr (complex: ungqr): 4/3 n^3 flops each for M = N, 4 times as many for complex.
    """
    if mode not in _MODES:
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    a1 = validated(a, check_finite)
    if a1.ndim > 2:
        answers = _over_stack(lambda part: qr(part, False, lwork, mode, pivoting, False), a1, "qr")
        return answers[0] if len(answers) == 1 else answers
    if a1.ndim != 2:
        raise ValueError("expected a 2-D array")
    if a1.size == 0:
        return (*_of_nothing(a1, mode), np.arange(a1.shape[1], dtype=np.int32)) if pivoting else _of_nothing(a1, mode)
    least = _least_work(a1, pivoting)
    _check_work(lwork, least)
    overwrite = replaceable(a1, a, overwrite_a)
    factors, tau, *order = pivoted(a1, overwrite) if pivoting else factored(a1, overwrite)
    m, n = factors.shape
    r = np.triu(factors if mode not in ("economic", "raw") else factors[:n])
    if mode == "r":
        return r, *order
    if mode == "raw":
        return (factors, tau), r, *order
    return _first_columns(factors, tau, min(m, n) if mode == "economic" else m), r, *order


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Any, ...]:
    """c Q, or Q c, with Q of a's QR factorization, which is not formed.

    Parameters
    ----------
    a : (..., M, N) array_like
    c : (..., ., .) or (.,) array_like
        With mode 'left' K rows, K = min(M, N) (with `overwrite_c` M rows), with 'right' M columns; or a vector of so many.
    mode : {'left', 'right'}
        Q c, or c Q.
    pivoting : bool
        As `qr`.
    conjugate : bool
        Take the complex conjugate of Q.
    overwrite_a, overwrite_c : bool
        Allow the data of a or c to be overwritten.

    Returns
    -------
    (cq, r), with pivoting (cq, r, p)
        cq : Q c of M rows, or c Q of K columns; r and p as `qr` with mode 'economic'.

    Notes
    -----
    LAPACK's geqrf, or geqp3 with pivoting, and ormqr (complex: unmqr).
    """
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument can only be 'left' or 'right' but not {shown(mode)}")
    c1, a1 = validated(c, True), np.atleast_2d(np.asarray(a))
    if a1.ndim > 2 or c1.ndim > 2:
        return _multiply_over_stacks(a1, c1, mode, pivoting, conjugate, overwrite_c)
    left, vector = mode == "left", c1.ndim < 2
    c2 = (np.atleast_2d(c1).T if left else np.atleast_2d(c1)) if vector else c1
    m, n = a1.shape
    rows = m if overwrite_c else min(m, n)
    if left and c2.shape[0] != rows:
        raise ValueError(f"Array shapes are not compatible for Q @ c operation: {a1.shape} vs {c2.shape}")
    if not left and c2.shape[1] != m:
        raise ValueError(f"Array shapes are not compatible for c @ Q operation: {c2.shape} vs {a1.shape}")
    (factors, tau), *rest = qr(a1, overwrite_a and not np.may_share_memory(a1, c1), None, "raw", pivoting)
    if c2.size == 0:
        return np.empty_like(c1), *rest
    product = applied(factors, tau, c2, left, conjugate)
    return product.ravel() if vector else product, *rest


def rq(a: ArrayLike, overwrite_a: bool = False, lwork: int | None = None, mode: str = "full", check_finite: bool = True) -> Any:
    """The RQ factorization, a = R Q, R upper triangular and Q with orthonormal rows.

    Parameters
    ----------
    a : (..., M, N) array_like
    overwrite_a : bool
        SciPy's; `a` is never overwritten.
    lwork : int
        SciPy's: at least M, or None or -1.
    mode : {'full', 'r', 'economic'}
        R and Q whole; R alone; the last K = min(M, N) columns of R and rows of Q.
    check_finite : bool
        Check all of `a` for infinities and NaNs.

    Returns
    -------
    (r, q), or r with mode 'r'

    Notes
    -----
    geqrf of a^H with its rows and columns turned around, which is what LAPACK's gerqf does.
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    a1 = validated(a, check_finite)
    if a1.ndim < 2:
        raise ValueError("expected matrix")
    turned = np.flip(a1, (-2, -1)).swapaxes(-1, -2)
    turned = turned.conj() if np.iscomplexobj(turned) else turned  # what is no number is qr's to refuse
    _check_work(lwork, a1.shape[-2])
    answers = qr(turned, mode=mode, check_finite=False)
    parts = [_turned_back(part) for part in reversed(answers if isinstance(answers, tuple) else (answers,))]
    return parts[0] if mode == "r" else tuple(parts)


def orth(A: ArrayLike, rcond: float | None = None) -> np.ndarray:
    """An orthonormal basis of the range of A.

    Parameters
    ----------
    A : (..., M, N) array_like
    rcond : float
        Singular values below this part of the largest count as zero; eps max(M, N) by default.

    Returns
    -------
    q : (..., M, K) ndarray, K the rank of A

    Notes
    -----
    Where the columns of A are independent beyond doubt, by the condition of R, these are the first N columns of Q of its QR
    factorization; otherwise SciPy's `orth`, by a singular value decomposition, which gives another basis of the same space.
    """
    a1 = validated(A, True)
    if a1.ndim == 2 and 0 < a1.shape[1] <= a1.shape[0]:
        factors, tau = factored(a1, False)
        relative = np.finfo(factors.dtype).eps * max(a1.shape) if rcond is None else rcond
        if surely_independent(factors, relative):
            return _first_columns(factors, tau, a1.shape[1])
    from scipy.linalg import orth as scipy_orth

    return scipy_orth(a1, rcond)


def factored(a: np.ndarray, overwrite: bool) -> tuple[np.ndarray, np.ndarray]:
    """What geqrf leaves of a matrix, and tau."""
    factors = columns(a, converted_dtype(a), overwrite)
    tau = np.empty(min(factors.shape), factors.dtype)
    _core.lapack("geqrf", current.get(), *factors.shape, factors, tau)
    return factors, tau


def pivoted(a: np.ndarray, overwrite: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What geqp3 leaves of a matrix, tau, and the columns in their new order, from 0."""
    factors = columns(a, converted_dtype(a), overwrite)
    tau, order = np.empty(min(factors.shape), factors.dtype), np.zeros(factors.shape[1], np.int64)
    _core.lapack("geqp3", current.get(), *factors.shape, factors, order, tau)
    return factors, tau, (order - 1).astype(np.int32)


def _check_work(lwork: object, least: int) -> None:
    if lwork is not None and -1 != whole_number("lwork", lwork) < least:
        raise ValueError(f"lwork is {lwork}, must be at least {least}, or -1")


def _least_work(a: np.ndarray, pivoting: bool) -> int:
    """LAPACK's for geqrf or geqp3."""
    n = a.shape[1]
    return n if not pivoting else n + 1 if a.dtype.kind == "c" else 3 * n + 1


def applied(factors: np.ndarray, tau: np.ndarray, c: np.ndarray, left: bool, conjugate: bool) -> np.ndarray:
    """Q c or c Q; c may have as many rows as Q has columns in its economic form."""
    dtype, (m, n), k = common_dtype(factors, c), factors.shape, len(tau)
    wide = np.zeros((m, c.shape[1]) if left else c.shape, dtype, order="F")
    wide[: len(c)] = c.conj() if conjugate else c
    reflectors = columns(factors[:, :k], dtype, False, reading=True)
    _core.lapack("ormqr", current.get(), "L" if left else "R", "N", *wide.shape, k, reflectors, tau.astype(dtype), wide)
    product = wide.conj() if conjugate else wide
    return product if left else product[:, : min(m, n)]


def triangle_rcond(triangle: np.ndarray, lower: bool = False) -> float:
    """The reciprocal condition of a triangle in the 1-norm, estimated as LAPACK does; the rest of the array is not looked at."""
    rcond = np.empty(1, triangle.real.dtype)
    _core.lapack("trcon", current.get(), "1", "L" if lower else "U", "N", len(triangle), triangle, rcond)
    return float(rcond[0])


def surely_independent(factors: np.ndarray, relative: float, lower: bool = False) -> bool:
    """Is the smallest singular value larger than that part of the largest, by the triangle in the factors? The condition in the
    1-norm is at most n times less than the one in the 2-norm, and LAPACK's estimate hardly ever three times too good."""
    k = min(factors.shape)
    return triangle_rcond(factors[:k, :k], lower) > 3 * k * max(relative, float(np.finfo(factors.dtype).eps))


def _first_columns(factors: np.ndarray, tau: np.ndarray, count: int) -> np.ndarray:
    """Of Q, in place of the factors where they have as many columns."""
    m, n = factors.shape
    k = min(len(tau), count)
    q = factors[:, :count] if count <= n else np.empty((m, count), factors.dtype, order="F")
    if count > n:
        q[:, :n] = factors
    _core.lapack("orgqr", current.get(), m, count, k, q, tau[:k])
    return q


def _turned_back(part: np.ndarray) -> np.ndarray:
    return np.flip(part.swapaxes(-1, -2).conj(), (-2, -1))


def _over_stack(function: Any, a: np.ndarray, name: str) -> tuple[Any, ...]:
    """Each array of the answers stacked."""
    batch = a.shape[:-2]
    if 0 in batch:
        raise ValueError(f"`{name}` does not support zero-size batches.")
    return _stacked([function(a[i]) for i in np.ndindex(batch)], batch)


def _multiply_over_stacks(a: np.ndarray, c: np.ndarray, *words: Any) -> tuple[Any, ...]:
    """`qr_multiply` of each matrix with its c: one for all of them, or a stack of matrices."""
    of_a, of_c = a.shape[-2:], c.shape[-2:]
    batch = np.broadcast_shapes(a.shape[:-2], c.shape[:-2])
    if 0 in batch:
        raise ValueError("`qr_multiply` does not support zero-size batches.")
    a, c = np.broadcast_to(a, batch + of_a), np.broadcast_to(c, batch + of_c)
    mode, pivoting, conjugate, overwrite_c = words
    answers = [qr_multiply(a[i], c[i], mode, pivoting, conjugate, False, overwrite_c) for i in np.ndindex(batch)]
    return tuple(_stacked(answers, batch))


def _stacked(answers: list[Any], batch: tuple[int, ...]) -> Any:
    if isinstance(answers[0], tuple):
        return tuple(_stacked(list(parts), batch) for parts in zip(*answers, strict=True))
    return np.stack(answers).reshape(batch + answers[0].shape)


def _of_nothing(a: np.ndarray, mode: str) -> tuple[Any, ...]:
    """SciPy's answers where there are no elements."""
    m, n = a.shape
    k = min(m, n)
    if mode not in ("economic", "raw"):
        q, r = np.empty_like(a, shape=(m, m)), np.empty_like(a)
        q[...] = np.identity(m)
    else:
        q, r = np.empty_like(a, shape=(m, k)), np.empty_like(a, shape=(k, n))
    if mode == "r":
        return (r,)
    if mode == "raw":
        return (np.empty_like(a, shape=(m, n)), np.zeros_like(a, shape=(k,))), r
    return q, r
