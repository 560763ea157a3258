"""SciPy's functions for LU factors with partial pivoting, on the current session."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from . import _core, on_devices
from .checks import pair, shown
from .conversion import (
    columns,
    common_dtype,
    converted_dtype,
    copied_stack,
    native,
    on_host,
    pivots_of,
    refuse_sparse_and_masked,
    replaceable,
    require_variant,
)
from .device_arrays import any_on_device
from .errors import UsageError
from .forms import forms_of
from .session import current

#: Matrices of a stack up to this order are factored several at a time, one worker each.
SMALL = 256


def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, *, variant: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """The LU factors of a matrix, A = P L U, for `lu_solve`.

    Parameters
    ----------
    a : (..., M, N) array_like
    overwrite_a : bool
        Allow the data of a to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` for infinities and NaNs.
    variant : str
        The form of the tile algorithm, one of getrf's in `trencadis list routines`; the preferred one by default. 'nopiv'
        exchanges no rows, 'tournament' chooses them by a tournament of tiles; of 'incremental' pivoting see `IncrementalLU`.

    Returns
    -------
    lu : (..., M, N) ndarray
        U in its upper triangle, L without its unit diagonal below.
    piv : (..., K) ndarray of int32, K = min(M, N)
        Row i was exchanged with row piv[i], counted from 0.

    Warns
    -----
    LinAlgWarning
        A pivot is exactly zero; its number, from 1, is named. The factors are complete all the same.

    Notes
    -----
    LAPACK's getrf as tile tasks: 2/3 n^3 flops for M = N, 4 times as many for complex.
    """
    if variant != "":
        variant = _form(variant)
    if any_on_device(a):
        return on_devices.lu_factor(a, overwrite_a, variant)
    a1 = _finite(a, check_finite)
    if a1.ndim > 2:
        lu, piv, singular = _factor_stack(a1, variant)
    elif a1.size == 0:
        return np.empty_like(a1), np.empty(0, np.int32)
    else:
        lu, piv, singular = _factor(a1, replaceable(a1, a, overwrite_a), variant)
    if singular:
        from scipy.linalg import LinAlgWarning

        warn(f"Diagonal number {singular} is exactly zero. Singular matrix.", LinAlgWarning, stacklevel=2)
    return lu, piv


def _form(variant: str | None) -> str:
    if variant is None:
        return ""
    require_variant("getrf", variant)
    if variant in forms_of("getrf", own_factors=True):
        right = "solve takes it, and IncrementalLU keeps its factors"
        raise UsageError(f"variant '{variant}' leaves no factors of LAPACK's form: {right}")
    return variant


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> np.ndarray:
    """Solve op(a) x = b with the LU factors of a.

    Parameters
    ----------
    lu_and_piv : (lu, piv)
        As `lu_factor` returns them.
    b : (..., N, NRHS) or (N,) array_like
    trans : {0, 1, 2}
        op(a) is a, its transpose, or its conjugate transpose.
    overwrite_b : bool
        Allow the data of b to be overwritten.
    check_finite : bool
        Check all of `b` for infinities and NaNs.

    Returns
    -------
    x : ndarray of b's shape

    Raises
    ------
    ValueError
        Sizes do not fit, values are not finite, or a pivot is not the number of a row.

    Notes
    -----
    LAPACK's getrs: 2 n^2 nrhs flops, 4 times as many for complex. A zero on the diagonal of U is divided by.
    """
    parted = pair("lu_and_piv", lu_and_piv)
    if any_on_device(parted[0], b):
        return on_devices.lu_solve(*parted, b, trans, overwrite_b)
    lu, piv = (np.asarray(part) for part in parted)
    if lu.dtype.kind not in "biufc":
        raise ValueError(f"lu holds {lu.dtype}; numbers are needed")
    b1 = _finite(b, check_finite)
    op = "NTC"[trans] if isinstance(trans, int | np.integer) and trans in (0, 1, 2) else None
    if op is None:
        raise ValueError(f"trans is {shown(trans)}; give 0, 1 or 2")
    core = min(b1.ndim, 2)
    batch = np.broadcast_shapes(lu.shape[:-2], piv.shape[:-1], b1.shape[:-core])
    if not batch:
        return _solve_factored(lu, piv, b1, op, replaceable(b1, b, overwrite_b) and not np.may_share_memory(lu, b1))
    if 0 in batch:
        raise ValueError("`lu_solve` does not support zero-size batches.")
    lu = np.broadcast_to(lu, batch + lu.shape[-2:])
    piv = np.broadcast_to(piv, batch + piv.shape[-1:])
    b1 = np.broadcast_to(b1, batch + b1.shape[-core:])
    parts = [_solve_factored(lu[i], piv[i], b1[i], op, False) for i in np.ndindex(batch)]
    return np.stack(parts).reshape(b1.shape)


def lu(
    a: ArrayLike,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[np.ndarray, ...]:
    """The LU factorization with partial pivoting, a = P L U.

    Parameters
    ----------
    a : (..., M, N) array_like
    permute_l : bool
        Return P L and U instead.
    overwrite_a : bool
        Allow the data of a to be overwritten.
    check_finite : bool
        Check all of `a` for infinities and NaNs.
    p_indices : bool
        Return P as the numbers of rows: a = L[p] U.

    Returns
    -------
    p : (..., M, M) ndarray
        Not with `permute_l`; with `p_indices` (..., M) of int32.
    l : (..., M, K) ndarray, K = min(M, N)
        Unit lower trapezoidal; with `permute_l`, P L.
    u : (..., K, N) ndarray
        Upper trapezoidal.

    Notes
    -----
    LAPACK's getrf as tile tasks: 2/3 n^3 flops for M = N, 4 times as many for complex.
    """
    a1 = _finite(a, check_finite)
    if a1.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    dtype = converted_dtype(a1)
    *batch, m, n = a1.shape
    real = np.dtype(dtype.char.lower())
    if a1.size == 0:
        return _empty_factors(tuple(batch), m, n, dtype, real, permute_l, p_indices)
    if m == n == 1:
        return _factors_of_ones(a1, dtype, permute_l, p_indices)
    if not batch:
        factors, piv, _ = _factor(a1, replaceable(a1, a, overwrite_a))
        return _named(*_unpacked(factors, piv), real, permute_l, p_indices)
    factors, piv, _ = _factor_stack(a1)
    parts = [_unpacked(factors[i], piv[i]) for i in np.ndindex(*batch)]
    rows, lower, upper = (np.stack(part).reshape(*batch, *part[0].shape) for part in zip(*parts, strict=True))
    return _named(rows, lower, upper, real, permute_l, p_indices)


def _finite(a: ArrayLike, check_finite: bool) -> np.ndarray:
    a = on_host(a)
    refuse_sparse_and_masked(a)
    array = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    if array.dtype.char == "O":
        raise ValueError(f"object arrays are not supported: {shown(a)}")
    return array


def _factor(a: np.ndarray, overwrite: bool, variant: str = "") -> tuple[np.ndarray, np.ndarray, int]:
    """The factors, the pivots from 0, and the number of the first pivot that is zero, from 1."""
    if a.ndim != 2:
        raise ValueError(f"expected a matrix, got an array of shape {a.shape}")
    factors = columns(a, converted_dtype(a), overwrite)
    pivots = np.empty(min(a.shape), np.int64)
    singular = _core.lapack("getrf", current.get(), *a.shape, factors, pivots, variant=variant)
    return factors, (pivots - 1).astype(np.int32), singular


def _factor_stack(a: np.ndarray, variant: str = "") -> tuple[np.ndarray, np.ndarray, int]:
    batch = a.shape[:-2]
    if 0 in batch:
        raise ValueError("`lu_factor` does not support zero-size batches.")
    if a.size == 0:
        return np.empty_like(a), np.empty((*batch, 0), np.int32), 0
    if max(a.shape[-2:]) <= SMALL and not variant:
        return _factor_small(a)
    factors, pivots, singular = zip(*(_factor(a[i], False, variant) for i in np.ndindex(batch)), strict=True)
    return np.stack(factors).reshape(a.shape), np.stack(pivots).reshape(*batch, -1), next(filter(None, singular), 0)


def _factor_small(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """A stack in one call, several matrices at a time."""
    *batch, m, n = a.shape
    transposed = copied_stack(a.reshape(-1, m, n).swapaxes(-1, -2), converted_dtype(a))
    pivots = np.empty((len(transposed), min(m, n)), np.int64)
    singular = _core.factor_stack(current.get(), transposed, pivots)
    factors = transposed.swapaxes(-1, -2).reshape(a.shape)
    return factors, (pivots - 1).astype(np.int32).reshape(*batch, -1), next(filter(None, singular), 0)


def _solve_factored(lu: np.ndarray, piv: np.ndarray, b: np.ndarray, op: str, overwrite_b: bool) -> np.ndarray:
    if lu.ndim != 2 or lu.shape[0] != lu.shape[1]:
        raise ValueError(f"lu has the shape {lu.shape}; a square matrix is needed")
    n = len(lu)
    if b.ndim == 0 or b.shape[0] != n:
        raise ValueError(f"Shapes of lu {lu.shape} and b {b.shape} are incompatible")
    dtype = common_dtype(lu, b)
    if b.size == 0:
        return np.empty_like(b, dtype=dtype)
    pivots = pivots_of(piv, n)
    x = columns(b, dtype, overwrite_b)
    _core.lapack("getrs", current.get(), op, n, x.size // n, columns(lu, dtype, False, reading=True), pivots, x)
    return x


def parity(pivots: np.ndarray) -> np.ndarray:
    """-1 where pivots, from 1 and along the last dimension, exchange an odd number of rows, else 1."""
    exchanges = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(axis=-1)
    return 1 - 2 * (exchanges % 2)


def permutation(piv: np.ndarray, rows: int) -> np.ndarray:
    """The row of P L that each row of A is: a = L[permutation] U."""
    order = np.arange(rows, dtype=np.int32)
    for i, other in enumerate(piv):
        if other != i:
            order[i], order[other] = order[other], order[i]
    inverse = np.empty_like(order)
    inverse[order] = np.arange(rows, dtype=np.int32)
    return inverse


def _unpacked(factors: np.ndarray, piv: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    k = min(factors.shape)
    lower = np.tril(factors[:, :k], -1)
    np.fill_diagonal(lower, 1)
    return permutation(piv, len(factors)), lower, np.triu(factors[:k])


def _named(
    rows: np.ndarray, lower: np.ndarray, upper: np.ndarray, real: np.dtype, permute_l: bool, p_indices: bool
) -> tuple[np.ndarray, ...]:
    """What the caller asked for, of a matrix or a stack."""
    if permute_l:
        return np.take_along_axis(lower, rows[..., None], -2), upper
    return rows if p_indices else np.eye(rows.shape[-1], dtype=real)[rows], lower, upper


def _empty_factors(
    batch: tuple[int, ...], m: int, n: int, dtype: np.dtype, real: np.dtype, permute_l: bool, p_indices: bool
) -> tuple[np.ndarray, ...]:
    """SciPy's, which has a permutation of nothing even where there are rows."""
    k = min(m, n)
    factors: tuple[Any, ...] = np.empty((*batch, m, k), dtype), np.empty((*batch, k, n), dtype)
    if permute_l:
        return factors
    return (np.empty((*batch, 0), np.int32) if p_indices else np.empty((*batch, 0, 0), real), *factors)


def _factors_of_ones(a: np.ndarray, dtype: np.dtype, permute_l: bool, p_indices: bool) -> tuple[np.ndarray, ...]:
    """Matrices of one element, whose P SciPy makes of the dtype of a."""
    upper = np.array(native(a, dtype))
    ones = np.ones_like(upper)
    if permute_l:
        return ones, upper
    return (np.zeros(a.shape[:-1], int) if p_indices else ones.copy(), ones, upper)
