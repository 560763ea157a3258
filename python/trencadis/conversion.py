"""Arguments as SciPy takes them: what is refused, which dtype is calculated in, and stacks of matrices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import one_of, shown, word
from .device_arrays import place_of, word_of
from .session import current

# What SciPy calculates in, by dtype (scipy.linalg.blas.find_best_blas_type); everything else is taken as float64.
_SINGLE = "?bBhHef"
_CONVERTED = {**dict.fromkeys(_SINGLE, "f"), "F": "F", "D": "D", "G": "D"}

_PIECE = 1 << 24  #: bytes


def refuse_sparse_and_masked(a: object) -> None:
    sparse = sys.modules.get("scipy.sparse")  # nobody has made a sparse matrix unless it is loaded
    if sparse is not None and sparse.issparse(a):
        raise ValueError("Sparse arrays/matrices are not supported by this function; give a dense array (a.toarray())")
    if isinstance(a, np.ma.MaskedArray):
        raise ValueError("masked arrays are not supported")


def on_host(a: object) -> object:
    """The same, as NumPy can read it: arrays of other libraries by DLPack. What lies on a device is refused."""
    if isinstance(a, np.ndarray):
        return a
    place = place_of(a)
    if place is not None:
        raise TypeError(
            f"the array lies on device {word_of(place)}, and arrays in the host's memory are taken: copy it there first, "
            "and have it computed on the device by trencadis.session(devices=...)"
        )
    return a if hasattr(a, "__array__") or not hasattr(a, "__dlpack__") else np.from_dlpack(a)


def validated(a: ArrayLike, check_finite: bool) -> np.ndarray:
    a = on_host(a)
    refuse_sparse_and_masked(a)
    array = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    if array.dtype.char == "O":
        raise ValueError(f"object arrays are not supported: {shown(a)}")
    return array


def converted_dtype(array: np.ndarray) -> np.dtype:
    return np.dtype(_CONVERTED.get(array.dtype.char, "d"))


def common_dtype(*arrays: np.ndarray) -> np.dtype:
    return np.result_type(*(converted_dtype(array) for array in arrays))


def solve_dtype(a: np.ndarray, b: np.ndarray) -> np.dtype:
    """`solve` promotes first and converts then: int8 with float32 is float32, int8 alone float64."""
    dtype = np.result_type(a, b)
    return converted_dtype(np.empty(0, dtype)) if np.issubdtype(dtype, np.inexact) else np.dtype(np.float64)


def has_whole_elements(a: np.ndarray) -> bool:
    """Can C++ read it where it is? Complex numbers may be aligned and half an element nearer or further."""
    return a.flags.aligned and all(n <= 1 or stride % a.itemsize == 0 for n, stride in zip(a.shape, a.strides, strict=True))


def native(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A plain array of the dtype that C++ can read; the array itself where it is one."""
    array = np.asarray(array, dtype)
    return array if has_whole_elements(array) else array.copy(order="K")


def replaceable(array: np.ndarray, given: ArrayLike, overwrite: bool) -> bool:
    """May `array`, which was made of the argument `given`, be overwritten: allowed, or nobody else's?"""
    return overwrite or not np.may_share_memory(array, np.asanyarray(given))


def scipy_may_overwrite(given: ArrayLike, allowed: bool) -> bool:
    """Its wrappers of LAPACK do not look whether an array can be written."""
    return bool(allowed) and np.asarray(given).flags.writeable


def columns(array: np.ndarray, dtype: np.dtype, overwrite: bool, *, reading: bool = False) -> np.ndarray:
    """The matrix or vector by columns, for LAPACK to work on: the array itself where it may be overwritten, or where it is only
    read, and lies so."""
    if reading and array.dtype == dtype and is_column_major(array):
        return array
    plain = native(array, dtype)
    return _core.columns(current.get(), plain, replaceable(plain, array, overwrite), False)


def copied_stack(stack: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in C order, made in pieces: NumPy looks at no signal before the end of one."""
    copy = np.empty(stack.shape, dtype)
    step = max(1, _PIECE // max(1, copy[:1].nbytes))
    for first in range(0, len(copy), step):
        copy[first : first + step] = stack[first : first + step]
    return copy


def over_batch(
    function: Callable[[np.ndarray, np.ndarray | None], np.ndarray], a: np.ndarray, b: np.ndarray | None, name: str
) -> np.ndarray:
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


def pivots_of(piv: np.ndarray, n: int) -> np.ndarray:
    """LAPACK's pivots, from 1, of SciPy's, from 0; ValueError where they are not n numbers of rows."""
    if piv.shape != (n,) or (n and (piv.dtype.kind not in "iu" or piv.min() < 0 or piv.max() >= n)):
        raise ValueError(f"piv must be {n} numbers of rows, from 0 to {n - 1}")
    return piv.astype(np.int64) + 1


def is_column_major(a: np.ndarray) -> bool:
    """Can LAPACK take the last two dimensions as they are?"""
    item, (rows, cols), (row, col) = a.itemsize, a.shape[-2:], a.strides[-2:]
    return a.flags.aligned and (row == item or rows <= 1) and (cols <= 1 or (col >= item * rows and col % item == 0))


def require_variant(routine: str, variant: str) -> None:
    """Refuses one that the routine has not."""
    if word("variant", variant):
        known = next(entry["variants"] for entry in _core.list_routines() if entry["name"] == routine)
        one_of(f"{routine} variant", variant, known)
