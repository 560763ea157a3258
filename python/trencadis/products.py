"""numpy.matmul on the current session."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .conversion import is_column_major
from .session import current

_SCALARS = "fdFD"


def matmul(a: ArrayLike, b: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """The matrix product, as numpy.matmul: (..., M, K) times (..., K, N), stacks broadcast.

    Products of float32, float64, complex64 and complex128 matrices are tile tasks of the current session: 2 m n k flops, 4 times
    as many for complex. Any strides; transposed views are not copied. What the library has no kernels for
    is numpy.matmul's own: products with a vector, and integer, float16, long double and object arrays.
    """
    if out is None:
        c = _core.product(current.get(), a, b)
        if c is not None:
            return c
    a1, b1 = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a1, b1)
    if dtype.char not in _SCALARS or a1.ndim < 2 or b1.ndim < 2:
        return np.matmul(a1, b1, out=out) if out is not None else np.matmul(a1, b1)
    if a1.shape[-1] != b1.shape[-2]:
        columns, rows = a1.shape[-1], b1.shape[-2]
        raise ValueError(f"matmul: a of shape {a1.shape} has {columns} columns but b of shape {b1.shape} has {rows} rows")
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


def _gemm_operand(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    a = np.asarray(a, dtype)
    return a if _has_gemm_strides(a) else np.ascontiguousarray(a)


def _has_gemm_strides(a: np.ndarray) -> bool:
    return is_column_major(a) or is_column_major(a.swapaxes(-1, -2))


def _overlap(out: np.ndarray, *arrays: np.ndarray) -> bool:
    return any(np.may_share_memory(out, array) for array in arrays)


def _multiply_stack(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    if a.shape[-1] == 0:
        c[...] = 0
        return
    if c.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous and c.flags.c_contiguous:
        a, c = a.reshape(-1, a.shape[-1]), c.reshape(-1, c.shape[-1])  # a stack times one matrix is one tall product
    a = np.broadcast_to(a, c.shape[:-2] + a.shape[-2:])
    b = np.broadcast_to(b, c.shape[:-2] + b.shape[-2:])
    for i in np.ndindex(c.shape[:-3]):  # the last stack dimension goes in one call
        if not _core.multiply(current.get(), a[i], b[i], c[i]):
            raise AssertionError(f"strides {a.strides}, {b.strides}, {c.strides} were not declined before")
