"""SciPy's functions for positive definite systems, and matmul, on the current session.

The fast way is one call into C++ (`_core.solve_positive` and its sisters) for plain arrays of one supported dtype. What it
declines comes back as None, and the functions with a leading underscore convert, broadcast and complain as SciPy does.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .errors import not_positive_definite
from .session import current

_POSITIVE = ("pos", "positive definite")
_NOT_SERVED = (
    "general", "gen", "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular", "symmetric", "sym",
    "hermitian", "her",
)
_SCALARS = "fdFD"
# What SciPy calculates in, by dtype (scipy.linalg.blas.find_best_blas_type); everything else is taken as float64.
_SINGLE = "?bBhHef"
_CONVERTED = {**dict.fromkeys(_SINGLE, "f"), "F": "F", "D": "D", "G": "D"}


def solve(
    a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: str | None = None, transposed: bool = False,
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


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
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
    a1, b1 = _validated(a, check_finite), _validated(b, check_finite)
    op = {0: "N", 1: "T", 2: "C"}.get(trans, trans)
    if op not in ("N", "T", "C"):
        raise ValueError(f"trans is {trans!r}; give 0, 1, 2, 'N', 'T' or 'C'")
    if a1.ndim > 2 or b1.ndim > 2:
        return _over_batch(
            lambda x, y: solve_triangular(x, y, trans, lower, unit_diagonal, False, False), a1, b1, "solve_triangular"
        )
    if a1.ndim != 2 or a1.shape[0] != a1.shape[1]:
        raise ValueError("expected square matrix")
    if b1.ndim == 0 or a1.shape[0] != b1.shape[0]:
        raise ValueError(f"shapes of a {a1.shape} and b {b1.shape} are incompatible")
    dtype = _common_dtype(a1, b1)
    if b1.size == 0:
        return np.empty_like(b1, dtype=dtype)
    a1 = np.asarray(a1, dtype)
    if not unit_diagonal:
        zeros = np.flatnonzero(np.diagonal(a1) == 0)
        if zeros.size:
            from .errors import LinAlgError

            raise LinAlgError(f"singular matrix: resolution failed at diagonal {zeros[0]}")
    x = _right_side_in_place(b1, b, dtype, overwrite_b)
    return _solve_triangular_in_place(a1, x, op, lower, unit_diagonal)


def matmul(a: ArrayLike, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """The matrix product, as numpy.matmul: (..., M, K) times (..., K, N), stacks broadcast.

    Products of float32, float64, complex64 and complex128 matrices are tile tasks of the current session: 2 m n k flops, 4 times
    as many for complex. Any strides; transposed views are not copied. What the library has no kernels for
    is numpy.matmul's own: products with a vector, and integer, float16, long double and object arrays.
    """
    a1, b1 = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a1, b1)
    if dtype.char not in _SCALARS or a1.ndim < 2 or b1.ndim < 2:
        return np.matmul(a1, b1, out=out) if out is not None else np.matmul(a1, b1)
    if a1.shape[-1] != b1.shape[-2]:
        raise ValueError(f"matmul: a of shape {a1.shape} has {a1.shape[-1]} columns but b of shape {b1.shape} has {b1.shape[-2]} rows")
    batch = np.broadcast_shapes(a1.shape[:-2], b1.shape[:-2])
    shape = (*batch, a1.shape[-2], b1.shape[-1])
    if out is not None and out.shape != shape:
        raise ValueError(f"matmul: out has shape {out.shape}; the product has {shape}")
    fits = out is not None and out.dtype == dtype and _has_gemm_strides(out) and not _overlap(out, a1, b1)
    c = out if fits else np.empty(shape, dtype)
    if c.size:
        _multiply_stack(_gemm_operand(a1, dtype), _gemm_operand(b1, dtype), c)
    if out is None or fits:
        return c
    np.copyto(out, c, casting="same_kind")
    return out


# --- conversion, as SciPy does it ---------------------------------------------------------------------------------


def _structure_message(assume_a: Any) -> str:
    if assume_a in _NOT_SERVED:
        return f"assume_a={assume_a!r} is not served: only 'pos' (positive definite) is"
    return f"{assume_a} is not a recognized matrix structure; 'pos' (positive definite) is served"


def _unsolved(status: int, a: ArrayLike) -> Exception:
    """What the integer answers of _core.solve_positive mean."""
    return not_positive_definite(status) if status > 0 else ValueError(not_hermitian_message(np.asarray(a)))


def not_hermitian_message(a: np.ndarray, name: str = "a", remedy: str = "assume_a='pos'") -> str:
    """Names one pair of elements that differ."""
    n = a.shape[0]
    for j in range(n):
        rows = np.flatnonzero(a[j:, j] != np.conj(a[j, j:]))
        if rows.size:
            i = j + int(rows[0])
            pair = f"{name}[{i}, {j}] = {a[i, j]} but {name}[{j}, {i}] = {a[j, i]}"
            word = "Hermitian" if np.iscomplexobj(a) else "symmetric"
            return f"{name} is not {word}: {pair}; {remedy} takes one triangle for both, other matrices are not served"
    raise AssertionError("the matrix is Hermitian")


def _validated(a: ArrayLike, check_finite: bool) -> np.ndarray:
    sparse = sys.modules.get("scipy.sparse") # nobody has made a sparse matrix unless it is loaded
    if sparse is not None and sparse.issparse(a):
        raise ValueError("Sparse arrays/matrices are not supported by this function; give a dense array (a.toarray())")
    if isinstance(a, np.ma.MaskedArray):
        raise ValueError("masked arrays are not supported")
    array = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    if array.dtype.char == "O":
        raise ValueError("object arrays are not supported")
    return array


def _converted_dtype(array: np.ndarray) -> np.dtype:
    return np.dtype(_CONVERTED.get(array.dtype.char, "d"))


def _common_dtype(*arrays: np.ndarray) -> np.dtype:
    return np.result_type(*(_converted_dtype(array) for array in arrays))


def _solve_dtype(a: np.ndarray, b: np.ndarray) -> np.dtype:
    """`solve` promotes first and converts then: int8 with float32 is float32, int8 alone float64."""
    dtype = np.result_type(a, b)
    return _converted_dtype(np.empty(0, dtype)) if np.issubdtype(dtype, np.inexact) else np.dtype(np.float64)


def _native(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A plain, aligned array of the dtype; the array itself where it is one."""
    return np.require(array, dtype, "A")


def _solve_converted(
    a: ArrayLike, b: ArrayLike, lower: bool, overwrite_a: bool, overwrite_b: bool, check_finite: bool,
    assume_a: str | None, transposed: bool,
) -> np.ndarray:
    a1 = np.atleast_2d(_validated(a, check_finite))
    b1 = np.atleast_1d(_validated(b, check_finite))
    dtype = _solve_dtype(a1, b1)
    a1, b1 = _native(a1, dtype), _native(b1, dtype)
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


def _solve_stack(
    a: np.ndarray, b: np.ndarray, x: np.ndarray, lower: bool, overwrite_a: bool, overwrite_b: bool, assume_a: str | None
) -> None:
    a = np.broadcast_to(a, x.shape[:-2] + a.shape[-2:])
    b = np.broadcast_to(b, x.shape)
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

    a1 = np.atleast_2d(_validated(a, check_finite))
    if a1.ndim > 2:
        return _over_batch(lambda x, _: _factor(x, lower, False, clean, False), a1, None, "cholesky" if clean else "cho_factor")
    if a1.shape[0] != a1.shape[1]:
        raise ValueError(f"Input array is expected to be square but has the shape: {a1.shape}.")
    dtype = _converted_dtype(a1)
    if a1.size == 0:
        return np.empty_like(a1, dtype=dtype)
    a2 = _native(a1, dtype)
    c = _core.factor_positive(current.get(), a2, lower, overwrite_a or not np.may_share_memory(a2, a1), clean, False)
    if type(c) is not np.ndarray:
        raise not_positive_definite(c)
    return c


def _cho_solve_converted(c: ArrayLike, lower: bool, b: ArrayLike, overwrite_b: bool, check_finite: bool) -> np.ndarray:
    b1, c1 = _validated(b, check_finite), _validated(c, check_finite)
    if c1.ndim > 2 or b1.ndim > 2:
        return _over_batch(lambda x, y: _cho_solve_converted(x, lower, y, False, False), c1, b1, "cho_solve")
    if c1.ndim != 2 or c1.shape[0] != c1.shape[1]:
        raise ValueError("The factored matrix c is not square.")
    if b1.ndim == 0 or c1.shape[1] != b1.shape[0]:
        raise ValueError(f"incompatible dimensions ({c1.shape} and {b1.shape})")
    dtype = _common_dtype(c1, b1)
    if b1.size == 0:
        return np.empty_like(b1, dtype=dtype)
    b2 = _native(b1, dtype)
    return _core.solve_factored(
        current.get(), _native(c1, dtype), lower, b2, overwrite_b or not np.may_share_memory(b2, b1), False
    )


def _over_batch(function: Any, a: np.ndarray, b: np.ndarray | None, name: str) -> Any:
    """Applies `function` to every matrix of a stack, with b (a vector, or a stack of matrices) broadcast along."""
    shapes = [a.shape[:-2], b.shape[:-2] if b is not None else ()]
    batch = np.broadcast_shapes(*shapes)
    if prod(batch) == 0:
        raise ValueError(f"`{name}` does not support zero-size batches.")
    a = np.broadcast_to(a, batch + a.shape[-2:])
    if b is not None:
        b = np.broadcast_to(b, batch + b.shape[-2:])
    parts = [function(a[i], None if b is None else b[i]) for i in np.ndindex(batch)]
    return np.stack(parts).reshape(batch + parts[0].shape)


# --- triangular solves and products -------------------------------------------------------------------------------


def _right_side_in_place(b1: np.ndarray, b: ArrayLike, dtype: np.dtype, overwrite_b: bool) -> np.ndarray:
    """A column-major array that may be overwritten with the solution: b itself where that is allowed."""
    if overwrite_b and b1 is b and b1.dtype == dtype and b1.flags.writeable and b1.flags.aligned and b1.flags.f_contiguous:
        return b1
    return np.array(b1, dtype, order="F")


def _solve_triangular_in_place(a: np.ndarray, x: np.ndarray, op: str, lower: bool, unit_diagonal: bool) -> np.ndarray:
    uplo, diag = "L" if lower else "U", "U" if unit_diagonal else "N"
    conjugate = False
    if not _is_column_major(a):
        if _is_column_major(a.T) and a.flags.aligned:
            # Seen by columns it is the transpose: the other triangle, the other op; conjugation moves to the right side.
            a, uplo = a.T, "U" if lower else "L"
            conjugate = op == "C" and a.dtype.kind == "c"
            op = {"N": "T", "T": "N", "C": "N"}[op]
        else:
            a = np.asfortranarray(a)
    if conjugate:
        np.conjugate(x, out=x)
    _core.trsm(current.get(), "L", uplo, op, diag, 1.0, a, x)
    if conjugate:
        np.conjugate(x, out=x)
    return x


def _is_column_major(a: np.ndarray) -> bool:
    """Can LAPACK take the last two dimensions as they are?"""
    item, (rows, cols), (row, col) = a.itemsize, a.shape[-2:], a.strides[-2:]
    return a.flags.aligned and (row == item or rows <= 1) and (cols <= 1 or (col >= item * rows and col % item == 0))


def _has_gemm_strides(a: np.ndarray) -> bool:
    return _is_column_major(a) or _is_column_major(a.swapaxes(-1, -2))


def _gemm_operand(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    a = np.asarray(a, dtype)
    return a if _has_gemm_strides(a) else np.ascontiguousarray(a)


def _overlap(out: np.ndarray, *arrays: np.ndarray) -> bool:
    return any(np.may_share_memory(out, array) for array in arrays)


def _multiply_stack(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    if c.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous and c.flags.c_contiguous:
        a, c = a.reshape(-1, a.shape[-1]), c.reshape(-1, c.shape[-1]) # a stack times one matrix is one tall product
    if a.shape[-1] == 0:
        c[...] = 0
        return
    a = np.broadcast_to(a, c.shape[:-2] + a.shape[-2:])
    b = np.broadcast_to(b, c.shape[:-2] + b.shape[-2:])
    for i in np.ndindex(c.shape[:-2]):
        if not _core.multiply(current.get(), a[i], b[i], c[i]):
            raise AssertionError(f"strides {a.strides}, {b.strides}, {c.strides} were not declined before")
