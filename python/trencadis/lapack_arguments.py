"""Arguments of `trencadis.lapack` as SciPy's wrappers of LAPACK take them: arrays by columns, letters, numbers, workspaces."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import ArrayLike

from .checks import shown, whole_number

#: A routine's operands have one type; its real numbers that one's precision.
Scalar = type[np.generic]


def given_array(name: str, given: ArrayLike, dtype: Scalar) -> np.ndarray:
    """As it is, where it holds numbers."""
    array = np.asarray(given)
    if array.dtype.kind not in "biufc" or array.ndim > 2:
        what = f"an array of shape {array.shape}" if array.dtype.kind in "biufc" else shown(given)
        raise ValueError(f"{name} is {what}; a matrix or a vector of numbers is needed")
    return array


def rows_and_columns(array: np.ndarray) -> tuple[int, int]:
    """A vector is a column."""
    return (array.shape + (1, 1))[:2] if array.ndim < 2 else array.shape  # type: ignore[return-value]


def overwritable(array: np.ndarray, dtype: Scalar, overwrite: object, *read: np.ndarray) -> np.ndarray:
    """A column-major matrix that may be overwritten: the array itself where that is allowed, and it is not among what is read."""
    flags = array.flags
    itself = overwrite and array.dtype == dtype and flags.f_contiguous and flags.aligned and flags.writeable
    if not itself or any(np.may_share_memory(array, other) for other in read):
        array = np.array(array, dtype, order="F")
    return array if array.ndim == 2 else array.reshape(rows_and_columns(array), order="F")


def like(array: np.ndarray, result: np.ndarray) -> np.ndarray:
    """What came as a vector goes as one."""
    if array.ndim == 2:
        return result
    return array if result.base is array else result.reshape(array.shape, order="F")


def readable(name: str, given: ArrayLike, dtype: Scalar) -> np.ndarray:
    """A column-major matrix that is not written."""
    array = given_array(name, given, dtype)
    return np.require(array if array.ndim == 2 else array.reshape(rows_and_columns(array)), dtype, ["F", "A"])


def square(name: str, given: ArrayLike, dtype: Scalar) -> np.ndarray:
    array = given_array(name, given, dtype)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, got an array of shape {array.shape}")
    return array


def readable_square(name: str, given: ArrayLike, dtype: Scalar) -> np.ndarray:
    array = readable(name, given, dtype)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, got an array of shape {array.shape}")
    return array


def right_sides(b: ArrayLike, rows: int, dtype: Scalar) -> np.ndarray:
    array = given_array("b", b, dtype)
    if rows_and_columns(array)[0] != rows:
        raise ValueError(f"b has the shape {array.shape}; {rows} rows are needed")
    return array


def vector(name: str, given: ArrayLike, count: int, dtype: Scalar) -> np.ndarray:
    """A contiguous one, not written."""
    array = given_array(name, given, dtype)
    if array.size != count or array.size != prod(array.shape[:1], start=1):
        raise ValueError(f"{name} has the shape {array.shape}; {count} numbers are needed")
    return np.require(array, dtype, ["C", "A"]).reshape(count)


def pivots(name: str, given: ArrayLike, count: int, rows: int) -> np.ndarray:
    """Numbers of rows, from 0, as LAPACK's from 1."""
    array = np.asarray(given)
    if array.shape != (count,) or array.dtype.kind not in "iu" or (count and (array.min() < 0 or array.max() >= rows)):
        raise ValueError(f"{name} must be {count} numbers of rows, from 0 to {rows - 1}")
    return array.astype(np.int64) + 1


def kept(name: str, given: ArrayLike | None, like: np.ndarray) -> np.ndarray:
    """A copy of what an earlier call left, of the shape and type of `like`; or `like`."""
    if given is None:
        return like
    array = given_array(name, given, like.dtype.type)
    if array.shape != like.shape:
        raise ValueError(f"{name} has the shape {array.shape}; {like.shape} is needed")
    return np.array(array, like.dtype, order="F")


def letter(name: str, text: object) -> str:
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    if not isinstance(text, str) or len(text) != 1 or not text.isascii():
        raise ValueError(f"{name} is {shown(text)}, must be one letter")
    return text


def operation(trans: object) -> str:
    number = whole_number("trans", trans)
    if number not in (0, 1, 2):
        raise ValueError(f"trans is {number}; give 0, 1 or 2")
    return "NTC"[number]


def triangle(lower: object) -> str:
    return "L" if lower else "U"


def real(dtype: Scalar) -> np.dtype:
    return np.dtype(dtype).type(0).real.dtype


def is_query(lwork: object, least: int) -> bool:
    """SciPy's lwork is not used, but one that LAPACK would refuse is refused. -1 asks how much there should be."""
    size = -1 if lwork is None else whole_number("lwork", lwork)
    if size != -1 and size < least:
        raise ValueError(f"lwork is {size}, must be at least {least}, or -1")
    return lwork is not None and size == -1


def workspace(least: int, dtype: Scalar) -> np.ndarray:
    """What LAPACK leaves in the first element of its workspace: how much it wants, of which we use nothing."""
    return np.array([max(1, least)], dtype)
