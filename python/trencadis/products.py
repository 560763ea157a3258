"""numpy.matmul on the current session."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, on_devices
from .conversion import has_whole_elements, is_column_major, on_host, refuse_sparse_and_masked
from .device_arrays import any_on_device
from .residence import written
from .session import current

_SCALARS = "fdFD"


def matmul(a: ArrayLike, b: ArrayLike, out: np.ndarray | tuple[np.ndarray] | None = None) -> np.ndarray:
    """The matrix product, as numpy.matmul: (..., M, K) times (..., K, N), stacks broadcast.

    Products of float32, float64, complex64 and complex128 matrices are tile tasks of the current session: 2 m n k flops, 4 times
    as many for complex. Any strides; transposed views are not copied. What the library has no kernels for
    is numpy.matmul's own: products with a vector, and integer, float16, long double and object arrays. So are operands
    that carry out NumPy's functions by themselves (`__array_ufunc__`); other subclasses come back as from NumPy. Masked and
    sparse operands are refused.
    """
    if out is None:
        c = _core.product(current.get(), a, b)
        if c is not None:
            return c
    out = _single(out)
    if any_on_device(a, b, out):
        return on_devices.matmul(a, b, out)
    for array in (a, b, out):
        refuse_sparse_and_masked(array)
    if any(map(_has_its_own, (a, b, out))):
        return _numpys(a, b, out)
    a, b = on_host(a), on_host(b)
    a1, b1 = np.asarray(a), np.asarray(b)
    if not _served(a1, b1):
        return _numpys(a, b, out)
    dtype = np.result_type(a1, b1)
    if out is not None:
        _require_writable(out, dtype)
    if a1.shape[-1] != b1.shape[-2]:
        columns, rows = a1.shape[-1], b1.shape[-2]
        raise ValueError(f"matmul: a of shape {a1.shape} has {columns} columns but b of shape {b1.shape} has {rows} rows")
    batch = np.broadcast_shapes(a1.shape[:-2], b1.shape[:-2])
    shape = (*batch, a1.shape[-2], b1.shape[-1])
    if out is None:
        return _wrapped(_product(a1, b1, np.empty(shape, dtype)), a, b)
    if out.shape != shape and not _broadcasts_to(shape, out.shape):
        raise ValueError(f"matmul: out has shape {out.shape}; the product has {shape}")
    target = np.asarray(out)
    if _can_be_written_at_once(target, shape, dtype, a1, b1):
        _product(a1, b1, target)
    else:
        np.copyto(target, _product(a1, b1, np.empty(shape, dtype)), casting="same_kind")
        written(target)
    return out


def _numpys(a: Any, b: Any, out: Any) -> Any:
    product = np.matmul(a, b, out=out)
    if isinstance(out, np.ndarray):
        written(out)
    return product


def _single(out: Any) -> Any:
    """NumPy also takes `out` as the tuple of a function's results."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise ValueError(f"matmul: out is a tuple of {len(out)}; a product is one array")
    return out[0]


def _has_its_own(operand: Any) -> bool:
    return getattr(type(operand), "__array_ufunc__", np.ndarray.__array_ufunc__) is not np.ndarray.__array_ufunc__


def _served(a: np.ndarray, b: np.ndarray) -> bool:
    return a.ndim >= 2 and b.ndim >= 2 and np.result_type(a, b).char in _SCALARS


def _require_writable(out: Any, dtype: np.dtype) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"matmul: out is a {type(out).__name__}; give a numpy array")
    if not out.flags.writeable:
        raise ValueError("matmul: out is read-only; the product is written there")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"matmul: out is {out.dtype}, which the product of {dtype} is not cast to")


def _broadcasts_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Does a stack of this shape fill one of that shape, matrix by matrix, by NumPy's rules? It may lack leading ones."""
    while len(shape) > len(wanted) and shape[0] == 1:
        shape = shape[1:]
    if shape[-2:] != wanted[-2:]:
        return False
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


def _wrapped(c: np.ndarray, *operands: Any) -> np.ndarray:
    """The product in the class that NumPy gives it: of the operand with the highest priority, a subclass before a plain array."""
    wrapping = [operand for operand in operands if hasattr(type(operand), "__array_wrap__")]
    if all(type(operand) is np.ndarray for operand in wrapping):
        return c
    priorities = [(getattr(operand, "__array_priority__", 0.0), type(operand) is not np.ndarray) for operand in wrapping]
    chosen = wrapping[priorities.index(max(priorities))]
    return c if type(chosen) is np.ndarray else chosen.__array_wrap__(c)


def _product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    if c.size:
        _multiply_stack(_gemm_operand(a, c.dtype), _gemm_operand(b, c.dtype), c)
    return c


def _gemm_operand(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    a = np.asarray(a, dtype)
    return a if _has_gemm_strides(a) else np.array(a, order="C")


def _has_gemm_strides(a: np.ndarray) -> bool:
    return has_whole_elements(a) and (is_column_major(a) or is_column_major(a.swapaxes(-1, -2)))


def _can_be_written_at_once(out: np.ndarray, shape: tuple[int, ...], dtype: np.dtype, *operands: np.ndarray) -> bool:
    if out.shape != shape or out.dtype != dtype or not _has_gemm_strides(out):
        return False
    return not any(np.may_share_memory(out, array) for array in operands)


def _multiply_stack(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    if a.shape[-1] == 0:
        c[...] = 0
        written(c)
        return
    if c.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous and c.flags.c_contiguous:
        a, c = a.reshape(-1, a.shape[-1]), c.reshape(-1, c.shape[-1])  # a stack times one matrix is one tall product
    a = np.broadcast_to(a, c.shape[:-2] + a.shape[-2:])
    b = np.broadcast_to(b, c.shape[:-2] + b.shape[-2:])
    for i in np.ndindex(c.shape[:-3]):  # the last stack dimension goes in one call
        if not _core.multiply(current.get(), a[i], b[i], c[i]):
            raise AssertionError(f"strides {a.strides}, {b.strides}, {c.strides} were not declined before")
