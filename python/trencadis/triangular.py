"""scipy.linalg.solve_triangular on the current session."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import shown
from .conversion import common_dtype, is_column_major, over_batch, validated
from .errors import LinAlgError
from .residence import written
from .session import current


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> np.ndarray:
    """Solve op(a) x = b for x, where `a` is triangular.

    Parameters
    ----------
    a : (..., N, N) array_like
        Only the upper triangle is used, with `lower` only the lower.
    b : (..., N, NRHS) or (N,) array_like
    trans : {0, 1, 2, 'N', 'T', 'C'}
        op(a) is a, its transpose, or its conjugate transpose.
    unit_diagonal : bool
        Take the diagonal of `a` to be ones.

    Raises
    ------
    LinAlgError
        A zero on the diagonal; the message names its position, from 0.
    ValueError
        Sizes do not fit, or values are not finite.

    Notes
    -----
    BLAS's trsm: n^2 nrhs flops, 4 times as many for complex.
    """
    a1, b1 = validated(a, check_finite), validated(b, check_finite)
    op = op_of(trans)
    if op is None:
        raise ValueError(f"trans is {shown(trans)}; give 0, 1, 2, 'N', 'T' or 'C'")
    if a1.ndim > 2 or b1.ndim > 2:
        return over_batch(
            lambda x, y: solve_triangular(x, y, trans, lower, unit_diagonal, False, False), a1, b1, "solve_triangular"
        )
    if a1.ndim != 2 or a1.shape[0] != a1.shape[1]:
        raise ValueError("expected square matrix")
    if b1.ndim == 0 or a1.shape[0] != b1.shape[0]:
        raise ValueError(f"shapes of a {a1.shape} and b {b1.shape} are incompatible")
    dtype = common_dtype(a1, b1)
    if b1.size == 0:
        return np.empty_like(b1, dtype=dtype)
    a1 = np.asarray(a1, dtype)
    if not unit_diagonal:
        zeros = np.flatnonzero(np.diagonal(a1) == 0)
        if zeros.size:
            raise LinAlgError(f"singular matrix: resolution failed at diagonal {zeros[0]}")
    x = _right_side_in_place(b1, b, dtype, overwrite_b and not np.may_share_memory(a1, b1))
    return _solve_triangular_in_place(a1, x, op, lower, unit_diagonal)


def op_of(trans: object) -> str | None:
    """LAPACK's letter for SciPy's number, or letter."""
    for number, letter in enumerate("NTC"):
        if isinstance(trans, int | np.integer | str) and trans in (number, letter):
            return letter
    return None


def _right_side_in_place(b1: np.ndarray, b: ArrayLike, dtype: np.dtype, overwrite_b: bool) -> np.ndarray:
    """A column-major array that may be overwritten with the solution: b itself where that is allowed."""
    if overwrite_b and b1 is b and b1.dtype == dtype and b1.flags.writeable and b1.flags.aligned and b1.flags.f_contiguous:
        return b1
    return np.array(b1, dtype, order="F")


def _solve_triangular_in_place(a: np.ndarray, x: np.ndarray, op: str, lower: bool, unit_diagonal: bool) -> np.ndarray:
    uplo, diag = "L" if lower else "U", "U" if unit_diagonal else "N"
    conjugate = False
    if not is_column_major(a):
        if is_column_major(a.T):
            # Seen by columns it is the transpose: the other triangle, the other op; conjugation moves to the right side.
            a, uplo = a.T, "U" if lower else "L"
            conjugate = op == "C" and a.dtype.kind == "c"
            op = {"N": "T", "T": "N", "C": "N"}[op]
        else:
            a = np.array(a, order="F")
    if conjugate:
        np.conjugate(x, out=x)
    _core.trsm(current.get(), "L", uplo, op, diag, 1.0, a, x)
    if conjugate:
        np.conjugate(x, out=x)
        written(x)
    return x
