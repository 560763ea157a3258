"""scipy.linalg.inv and det on the current session."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import unknown_structure
from .conversion import (
    columns,
    converted_dtype,
    copied_stack,
    native,
    on_host,
    refuse_sparse_and_masked,
    replaceable,
    validated,
)
from .lu import SMALL, parity
from .session import current
from .systems import fill_stack, judged, warn_ill_conditioned

_STRUCTURES = {
    None: "",
    "general": "general",
    "gen": "general",
    "diagonal": "diagonal",
    "upper triangular": "upper triangular",
    "lower triangular": "lower triangular",
    "pos": "positive definite",
    "sym": "symmetric",
    "her": "hermitian",
}


def inv(
    a: ArrayLike,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    assume_a: str | None = None,
    lower: bool = False,
) -> np.ndarray:
    """The inverse of a matrix.

    Parameters
    ----------
    a : (..., N, N) array_like
    overwrite_a : bool
        Allow the data of a to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` for infinities and NaNs.
    assume_a : None or str
        The structure of `a`, which is believed: 'general' ('gen'), 'diagonal', 'upper triangular', 'lower triangular', 'pos',
        'sym', 'her'. With None it is found out, for each matrix of a stack.
    lower : bool
        With 'pos', 'sym' and 'her' only one triangle of `a` is used: the upper, or with this the lower.

    Raises
    ------
    LinAlgError
        `a` is singular: a pivot is exactly zero; or with 'pos' it is not positive definite.
    ValueError
        `a` is not square, or not finite, or there is no such structure.

    Warns
    -----
    LinAlgWarning
        The reciprocal condition in the 1-norm, which the inverse shows, is below the precision.

    Notes
    -----
    General: LU with partial pivoting and the inverse from it (getrf, getri), 2 n^3 flops. Positive definite: potrf, potri: n^3.
    Triangular: trtri, n^3/3. Four times as many for complex. Symmetric and Hermitian matrices that are not positive definite are
    inverted as general ones.
    """
    structure = _STRUCTURES.get(assume_a) if assume_a is None or isinstance(assume_a, str) else None
    if structure is None:
        raise ValueError(unknown_structure(assume_a, _STRUCTURES))
    x = _attempt(a, structure, lower, overwrite_a, check_finite)
    if type(x) is np.ndarray:
        return x
    if x is None:
        x, doubtful = _inv_converted(a, structure, lower, overwrite_a, check_finite)
    else:
        x, doubtful = judged(x, 0)
    if doubtful:
        warn_ill_conditioned(doubtful)
    return x


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> np.floating | np.complexfloating | np.ndarray:
    """The determinant of a matrix, or of each matrix of a stack, in double precision.

    Parameters
    ----------
    a : (..., N, N) array_like
    overwrite_a : bool
        Allow the data of a to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` for infinities and NaNs.

    Raises
    ------
    ValueError
        `a` is not square, or not finite.

    Notes
    -----
    The product of the diagonal of U from LAPACK's getrf: 2/3 n^3 flops, 4 times as many for complex.
    """
    a = on_host(a)
    refuse_sparse_and_masked(a)
    a1 = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    if a1.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    if a1.shape[-1] != a1.shape[-2]:
        raise ValueError(f"Last 2 dimensions of the array must be square but received shape {a1.shape}.")
    if not any(np.can_cast(a1.dtype, letter) for letter in "fdFD"):
        raise TypeError(f"The dtype {a1.dtype} cannot be cast to float(32, 64) or complex(64, 128).")
    result = np.dtype("D" if a1.dtype.kind == "c" else "d").type
    if a1.ndim == 2 and a1.size:
        return result(_det(a1, replaceable(a1, a, overwrite_a)))
    answer = np.ones(a1.shape[:-2], result)
    if a1.size and a1.shape[-1] <= SMALL:
        answer[...] = _dets_of_small(a1)
    elif a1.size:
        for i in np.ndindex(a1.shape[:-2]):
            answer[i] = _det(a1[i], False)
    return answer if answer.ndim else answer[()]


def _attempt(
    a: ArrayLike, structure: str, lower: bool, overwrite_a: bool, check_finite: bool
) -> np.ndarray | tuple[np.ndarray, float] | int | None:
    """The inverse, alone or with a doubtful reciprocal condition; the number of a pivot that is zero; None where a is no plain
    array of a supported dtype."""
    x = _core.invert(current.get(), a, structure, lower, overwrite_a, check_finite)
    return _inverse_of_diagonal(validated(a, check_finite)) if type(x) is str else x


def _inverse_of_diagonal(a: np.ndarray) -> np.ndarray | tuple[np.ndarray, float] | int:
    d = a.diagonal()
    zeros = np.flatnonzero(d == 0)
    if zeros.size:
        return int(zeros[0]) + 1
    sizes = np.abs(d)
    rcond = float(sizes.min() / sizes.max())
    x = np.diag(1 / d)
    return x if rcond >= np.finfo(x.dtype).eps else (x, rcond)


def _inv_converted(
    a: ArrayLike, structure: str, lower: bool, overwrite_a: bool, check_finite: bool
) -> tuple[np.ndarray, list[tuple[int, float]]]:
    a1 = validated(a, check_finite)
    if a1.ndim < 2:
        raise ValueError(f"Expected at least ndim=2, got an array of shape {a1.shape}")
    if a1.shape[-1] != a1.shape[-2]:
        raise ValueError(f"Expected square matrix, got an array of shape {a1.shape}")
    dtype = converted_dtype(a1)
    if a1.size == 0:
        return np.empty_like(a1, dtype=dtype), []
    a2 = native(a1, dtype)
    if a2.ndim == 2:
        return judged(_attempt(a2, structure, lower, replaceable(a2, a, overwrite_a), False), 0)
    x = np.empty(a2.shape, dtype)
    flat_a, flat_x = (array.reshape(-1, *a2.shape[-2:]) for array in (a2, x))
    unit = np.broadcast_to(np.eye(a2.shape[-1], dtype=dtype), flat_a.shape)
    together = None if structure == "positive definite" else structure  # potri's inverse is Hermitian to the bit
    return x, fill_stack(
        *(flat_a, unit, flat_x, together, lower, False),
        lambda i: _attempt(flat_a[i], structure, lower, False, False),
    )


def _det(a: np.ndarray, overwrite: bool) -> complex:
    """Multiplied from first to last: what overflows or vanishes on the way stays so. Of the transpose. Both as SciPy does."""
    n = len(a)
    factors, pivots = columns(a.T, converted_dtype(a), overwrite), np.ones(n, np.int64)
    if n > 1 and _core.lapack("getrf", current.get(), n, n, factors, pivots):
        return 0.0
    return _signed(_product(factors.diagonal()), pivots)[()]


def _dets_of_small(a: np.ndarray) -> np.ndarray:
    factors = copied_stack(a.reshape(-1, *a.shape[-2:]), converted_dtype(a))
    pivots = np.empty(factors.shape[:2], np.int64)
    infos = np.array(_core.factor_stack(current.get(), factors, pivots))
    dets = _signed(_product(factors.diagonal(axis1=-2, axis2=-1)), pivots)
    if factors.shape[-1] > 1:
        dets[infos != 0] = 0
    return dets.reshape(a.shape[:-2])


def _signed(product: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    return np.where(parity(pivots) < 0, -product, product)


def _product(diagonals: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.multiply.accumulate(diagonals.astype("D" if diagonals.dtype.kind == "c" else "d"), axis=-1)[..., -1]
