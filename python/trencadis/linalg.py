"""SciPy's functions for positive definite systems, on the current session.

The fast way is one call into C++ (`_core.solve_positive` and its sisters) for plain arrays of one supported dtype. What it
declines comes back as None, and the functions with a leading underscore convert, broadcast and complain as SciPy does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .conversion import common_dtype, converted_dtype, native, not_hermitian_message, over_batch, solve_dtype, validated
from .errors import not_positive_definite
from .session import current

_POSITIVE = ("pos", "positive definite")
_NOT_SERVED = (
    "general",
    "gen",
    "diagonal",
    "tridiagonal",
    "banded",
    "upper triangular",
    "lower triangular",
    "symmetric",
    "sym",
    "hermitian",
    "her",
)


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> np.ndarray:
    """Solve a x = b for x, where `a` is Hermitian (real: symmetric) positive definite.

    Parameters
    ----------
    a : (..., N, N) array_like
        With `assume_a` omitted it must equal its conjugate transpose, which is checked. With 'pos' only one triangle is
        used: the upper, or the lower with `lower`.
    b : (..., N, NRHS) or (N,) array_like
    lower : bool
    overwrite_a, overwrite_b : bool
        Allow the data of a or b to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` and `b` for infinities and NaNs.
    assume_a : None or 'pos' ('positive definite')
        SciPy's other structures are not served.
    transposed : bool
        Solve a^T x = b, which is the same for a real symmetric matrix.

    Returns
    -------
    x : ndarray of b's shape

    Raises
    ------
    LinAlgError
        A leading minor is not positive; the message names its order.
    ValueError
        Sizes do not fit, values are not finite, or `a` is not Hermitian where that is checked.
    NotImplementedError
        `transposed` with complex `a`.

    Warns
    -----
    LinAlgWarning
        The diagonal of the factor shows that the reciprocal condition is below the precision. (SciPy
        estimates the condition; this bound is free, never warns without reason, but can miss.)

    Notes
    -----
    Cholesky factorisation and two triangular solves (LAPACK's posv): n^3/3 + 2 n^2 nrhs flops, 4 times as many for complex.
    """
    if assume_a is not None and assume_a not in _POSITIVE:
        raise ValueError(_structure_message(assume_a))
    if not transposed:
        x = _core.solve_positive(current.get(), a, b, lower, overwrite_a, overwrite_b, check_finite, assume_a is None)
        if type(x) is np.ndarray:
            return x
        if x is not None:
            raise _unsolved(x, a)
    return _solve_converted(a, b, lower, overwrite_a, overwrite_b, check_finite, assume_a, transposed)


def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> np.ndarray:
    """The Cholesky factor of a Hermitian positive definite matrix: U with a = U^H U, or with `lower` L with a = L L^H.

    Parameters
    ----------
    a : (..., N, N) array_like
        Only the upper triangle is used, with `lower` only the lower.
    overwrite_a : bool
        Allow the data of a to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` for infinities and NaNs.

    Returns
    -------
    c : (..., N, N) ndarray
        The factor; its other triangle is zero.

    Raises
    ------
    LinAlgError
        A leading minor is not positive; the message names its order.
    ValueError
        `a` is not square, or not finite.

    Notes
    -----
    LAPACK's potrf as tile tasks: n^3/3 flops, 4 times as many for complex.
    """
    return _factor(a, lower, overwrite_a, True, check_finite)


def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[np.ndarray, bool]:
    """The Cholesky factor of a Hermitian positive definite matrix, for `cho_solve`.

    As `cholesky`, but the other triangle of the returned matrix is left as it was in `a`. Returns (c, lower).
    """
    return _factor(a, lower, overwrite_a, False, check_finite), lower


def cho_solve(
    c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> np.ndarray:
    """Solve a x = b with the Cholesky factor of a.

    Parameters
    ----------
    (c, lower) : as `cho_factor` returns them
    b : (..., N, NRHS) or (N,) array_like

    Returns
    -------
    x : ndarray of b's shape

    Raises
    ------
    ValueError
        Sizes do not fit, or values are not finite.

    Notes
    -----
    LAPACK's potrs: 2 n^2 nrhs flops, 4 times as many for complex.
    """
    c, lower = c_and_lower
    x = _core.solve_factored(current.get(), c, lower, b, overwrite_b, check_finite)
    return x if x is not None else _cho_solve_converted(c, lower, b, overwrite_b, check_finite)


def _structure_message(assume_a: Any) -> str:
    if assume_a in _NOT_SERVED:
        return f"assume_a={assume_a!r} is not served: only 'pos' (positive definite) is"
    return f"{assume_a} is not a recognized matrix structure; 'pos' (positive definite) is served"


def _unsolved(status: int, a: ArrayLike) -> Exception:
    """What the integer answers of _core.solve_positive mean."""
    return not_positive_definite(status) if status > 0 else ValueError(not_hermitian_message(np.asarray(a)))


def _solve_converted(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool,
    overwrite_a: bool,
    overwrite_b: bool,
    check_finite: bool,
    assume_a: str | None,
    transposed: bool,
) -> np.ndarray:
    a1 = np.atleast_2d(validated(a, check_finite))
    b1 = np.atleast_1d(validated(b, check_finite))
    dtype = solve_dtype(a1, b1)
    a1, b1 = native(a1, dtype), native(b1, dtype)
    if a1.shape[-1] != a1.shape[-2]:
        raise ValueError(f"Expected square matrix, got a of shape {a1.shape}")
    if transposed and dtype.kind == "c":
        raise NotImplementedError("trencadis.solve can not solve a^T x = b or a^H x = b for complex matrices.")
    b_is_vector = b1.ndim == 1
    if b_is_vector:
        b1 = b1[:, None]
    if b1.shape[-2] != a1.shape[-1] and a1.size != 1:
        raise ValueError(f"incompatible shapes: a of shape {a1.shape} and b of shape {np.shape(b)}")
    if a1.size == 1:
        x = _solve_scalar(a1, b1)
    else:
        batch = np.broadcast_shapes(a1.shape[:-2], b1.shape[:-2])
        x = np.empty(batch + b1.shape[-2:], dtype)
        if x.size:
            _solve_stack(a1, b1, x, lower, overwrite_a, overwrite_b, assume_a)
    return x[..., 0] if b_is_vector else x


def _solve_scalar(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """SciPy broadcasts a matrix of one element over right sides of any height."""
    if not np.real(a.item()) > 0:
        raise not_positive_definite(1)
    return b / a


def _solve_ones(a: np.ndarray, b: np.ndarray, assume_a: str | None) -> np.ndarray:
    """Stacks of matrices of one element; where LAPACK is told that they are Hermitian it reads the real part alone."""
    if not (np.real(a) > 0).all():
        raise not_positive_definite(1)
    return b / (a if assume_a is None else np.real(a))


def _solve_stack(
    a: np.ndarray, b: np.ndarray, x: np.ndarray, lower: bool, overwrite_a: bool, overwrite_b: bool, assume_a: str | None
) -> None:
    a = np.broadcast_to(a, x.shape[:-2] + a.shape[-2:])
    b = np.broadcast_to(b, x.shape)
    if a.shape[-1] == 1:
        x[...] = _solve_ones(a, b, assume_a)
        return
    single = x.ndim == 2
    for i in np.ndindex(x.shape[:-2]):
        part = _core.solve_positive(
            current.get(), a[i], b[i], lower, overwrite_a and single, overwrite_b and single, False, assume_a is None
        )
        if type(part) is not np.ndarray:
            raise _unsolved(part, a[i])
        x[i] = part


def _factor(a: ArrayLike, lower: bool, overwrite_a: bool, clean: bool, check_finite: bool) -> np.ndarray:
    c = _core.factor_positive(current.get(), a, lower, overwrite_a, clean, check_finite)
    if type(c) is np.ndarray:
        return c
    if c is not None:
        raise not_positive_definite(c)

    a1 = np.atleast_2d(validated(a, check_finite))
    if a1.ndim > 2:
        return over_batch(lambda x, _: _factor(x, lower, False, clean, False), a1, None, "cholesky" if clean else "cho_factor")
    if a1.shape[0] != a1.shape[1]:
        raise ValueError(f"Input array is expected to be square but has the shape: {a1.shape}.")
    dtype = converted_dtype(a1)
    if a1.size == 0:
        return np.empty_like(a1, dtype=dtype)
    a2 = native(a1, dtype)
    c = _core.factor_positive(current.get(), a2, lower, overwrite_a or not np.may_share_memory(a2, a1), clean, False)
    if type(c) is not np.ndarray:
        raise not_positive_definite(c)
    return c


def _cho_solve_converted(c: ArrayLike, lower: bool, b: ArrayLike, overwrite_b: bool, check_finite: bool) -> np.ndarray:
    b1, c1 = validated(b, check_finite), validated(c, check_finite)
    if c1.ndim > 2 or b1.ndim > 2:
        return over_batch(lambda x, y: _cho_solve_converted(x, lower, y, False, False), c1, b1, "cho_solve")
    if c1.ndim != 2 or c1.shape[0] != c1.shape[1]:
        raise ValueError("The factored matrix c is not square.")
    if b1.ndim == 0 or c1.shape[1] != b1.shape[0]:
        raise ValueError(f"incompatible dimensions ({c1.shape} and {b1.shape})")
    dtype = common_dtype(c1, b1)
    if b1.size == 0:
        return np.empty_like(b1, dtype=dtype)
    b2 = native(b1, dtype)
    return _core.solve_factored(
        current.get(), native(c1, dtype), lower, b2, overwrite_b or not np.may_share_memory(b2, b1), False
    )
