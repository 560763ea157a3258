"""scipy.linalg.lstsq on the current session."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import shown
from .conversion import columns, common_dtype, scipy_may_overwrite, validated
from .qr import surely_independent
from .session import current

_DRIVERS = ("gelsd", "gelsy", "gelss")
#: x, residues, rank, s.
Answer = tuple[np.ndarray, np.ndarray, int, Any]


def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    cond: float | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> tuple[Any, ...]:
    """The x that makes |b - a x| least; the shortest of them where there are several.

    Parameters
    ----------
    a : (..., M, N) array_like
    b : (..., M, K) or (M,) array_like
    cond : float
        Singular values of `a` below this part of the largest count as zero; the precision by default.
    overwrite_a, overwrite_b : bool
        SciPy's. Neither is overwritten unless the problem is given to SciPy.
    check_finite : bool
        Check all of `a` and `b` for infinities and NaNs.
    lapack_driver : {None, 'gelsd', 'gelsy', 'gelss'}
        None is by QR where the rank allows it. A name gives the problem to SciPy's LAPACK.

    Returns
    -------
    x : (..., N, K) or (N,) ndarray
    residues : (..., K) ndarray, or a number
        |b - a x|^2 for each column where M > N and the rank is N, else empty.
    rank : int
    s : (min(M, N),) ndarray or None
        The singular values of `a`; None where they were not needed.

    Raises
    ------
    LinAlgError
        SciPy's singular value decomposition does not converge.
    ValueError
        Sizes do not fit, or values are not finite.

    Notes
    -----
    Where `a` has full rank beyond doubt, by the condition of its triangular factor, LAPACK's gels: QR for M >= N, else LQ;
    2 m n^2 - 2/3 n^3 flops for M >= N, 4 times as many for complex; several times fewer than by singular values. Otherwise
    SciPy's gelsd: `s` is there then, and says how far the rank is from another.
    """
    if lapack_driver is not None and lapack_driver not in _DRIVERS:
        raise ValueError(f"LAPACK driver {shown(lapack_driver)} is not found: {', '.join(_DRIVERS)} are")
    a1, b1 = validated(a, check_finite), validated(b, check_finite)
    if a1.ndim > 2 or b1.ndim > 2:
        return _over_stacks(a1, b1, cond, lapack_driver)
    if a1.ndim != 2:
        raise ValueError("Input array a should be 2D")
    if b1.ndim == 0 or a1.shape[0] != b1.shape[0]:
        given = b1.shape[0] if b1.ndim else 0
        raise ValueError(f"Shape mismatch: a and b should have the same number of rows ({a1.shape[0]} != {given}).")
    answer = _by_qr(a1, b1, cond) if lapack_driver is None and a1.size and b1.size else None
    return answer or _by_scipy(a1, b1, cond, overwrite_a, overwrite_b, lapack_driver)


def _by_qr(a: np.ndarray, b: np.ndarray, cond: float | None) -> Answer | None:
    """None where the rank is in doubt."""
    (m, n), dtype = a.shape, common_dtype(a, b)
    factors = columns(a, dtype, False)
    x = np.zeros((max(m, n), b.size // m), dtype, order="F")
    x[:m] = b.reshape(m, -1)
    if _core.lapack("gels", current.get(), "N", m, n, x.shape[1], factors, x):
        return None
    if not surely_independent(factors, cond or 0.0, lower=m < n):
        return None
    shape = b.shape[1:]
    residues = _residues(a, b, x) if m > n else np.empty(0, x.dtype)
    return x[:n].reshape((n, *shape)), residues.reshape(shape)[()] if m > n else residues, min(m, n), None


def _residues(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The length squared of what gels leaves under the solution; it does so of the scaled b where that is hardly a number."""
    n, limits = a.shape[1], np.finfo(x.dtype)
    largest = np.abs(b).max()
    if limits.tiny / limits.eps <= largest <= limits.eps / limits.tiny:
        return np.sum(np.abs(x[n:]) ** 2, axis=0)
    return np.sum(np.abs(b.reshape(len(b), -1) - a @ x[:n]) ** 2, axis=0)


def _by_scipy(
    a: np.ndarray, b: np.ndarray, cond: float | None, overwrite_a: bool, overwrite_b: bool, driver: str | None
) -> tuple[Any, ...]:
    from scipy.linalg import lstsq as scipy_lstsq

    return scipy_lstsq(a, b, cond, scipy_may_overwrite(a, overwrite_a), scipy_may_overwrite(b, overwrite_b), False, driver)


def _over_stacks(a: np.ndarray, b: np.ndarray, cond: float | None, driver: str | None) -> tuple[Any, ...]:
    """Every problem by QR, or all by SciPy: the answers of a stack are of one kind."""
    core = min(b.ndim, 2)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[: b.ndim - core])
    if a.ndim < 2 or 0 in batch or driver is not None or not a.size or not b.size or a.shape[-2] != b.shape[-core]:
        return _by_scipy(a, b, cond, False, False, driver)
    a1, b1 = (np.broadcast_to(x, batch + x.shape[x.ndim - k :]) for x, k in ((a, 2), (b, core)))
    answers = [_by_qr(a1[i], b1[i], cond) for i in np.ndindex(batch)]
    if None in answers:
        return _by_scipy(a, b, cond, False, False, driver)
    x, residues, ranks, _ = zip(*(answer for answer in answers if answer), strict=True)
    return (*(np.stack(part).reshape(batch + np.shape(part[0])) for part in (x, residues, ranks)), None)
