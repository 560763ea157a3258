"""SciPy's functions for Cholesky factors, on the current session.

The fast way is one call into C++ (`_core.factor_positive`, `_core.solve_factored`) for plain arrays of one supported dtype. What
it declines comes back as None, and the functions with a leading underscore convert, broadcast and complain as SciPy does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core, on_devices
from .checks import pair
from .conversion import common_dtype, converted_dtype, copied_stack, native, over_batch, replaceable, validated
from .device_arrays import any_on_device
from .errors import not_positive_definite
from .lu import SMALL
from .session import current


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
    c_and_lower : (c, lower)
        As `cho_factor` returns them.
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
    c, lower = pair("c_and_lower", c_and_lower)
    if type(lower) is not bool:
        lower = _one_triangle(lower)
    x = _core.solve_factored(current.get(), c, lower, b, overwrite_b, check_finite)
    return x if x is not None else _cho_solve_converted(c, lower, b, overwrite_b, check_finite)


def _one_triangle(lower: object) -> object:
    """SciPy's cho_factor says it for each matrix of a stack, and of all the same."""
    said = np.asarray(lower)
    if said.ndim == 0 or said.size == 0:
        return lower
    if (said != said.flat[0]).any():
        raise ValueError("lower is not the same for all matrices of the stack")
    return said.flat[0]


def _factor(a: ArrayLike, lower: bool, overwrite_a: bool, clean: bool, check_finite: bool) -> np.ndarray:
    c = _core.factor_positive(current.get(), a, lower, overwrite_a, clean, check_finite)
    if type(c) is np.ndarray:
        return c
    if c is not None:
        raise not_positive_definite(c)
    if any_on_device(a):
        if clean:
            raise ValueError("cholesky makes the other triangle zero, which arrays on a device do not have: take cho_factor")
        return on_devices.cho_factor(a, lower, overwrite_a)

    a1 = np.atleast_2d(validated(a, check_finite))
    if a1.ndim > 2 and a1.size and a1.shape[-1] == a1.shape[-2] <= SMALL:
        return _factor_stack(a1, lower, clean)
    if a1.ndim > 2:
        return over_batch(lambda x, _: _factor(x, lower, False, clean, False), a1, None, "cholesky" if clean else "cho_factor")
    if a1.shape[0] != a1.shape[1]:
        raise ValueError(f"Input array is expected to be square but has the shape: {a1.shape}.")
    dtype = converted_dtype(a1)
    if a1.size == 0:
        return np.empty_like(a1, dtype=dtype)
    a2 = native(a1, dtype)
    c = _core.factor_positive(current.get(), a2, lower, replaceable(a2, a1, overwrite_a), clean, False)
    if type(c) is not np.ndarray:
        raise not_positive_definite(c)
    return c


def _factor_stack(a: np.ndarray, lower: bool, clean: bool) -> np.ndarray:
    """Several matrices at a time."""
    c = copied_stack(a, converted_dtype(a))
    infos = _core.factor_positive_stack(current.get(), c.reshape(-1, *c.shape[-2:]), lower, clean)
    if failed := next(filter(None, infos), 0):
        raise not_positive_definite(failed)
    return c


def _cho_solve_converted(c: ArrayLike, lower: bool, b: ArrayLike, overwrite_b: bool, check_finite: bool) -> np.ndarray:
    if any_on_device(c, b):
        return on_devices.cho_solve(c, lower, b, overwrite_b)
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
    return _core.solve_factored(current.get(), native(c1, dtype), lower, b2, replaceable(b2, b, overwrite_b), False)
