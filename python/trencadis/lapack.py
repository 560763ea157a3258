"""LAPACK's routines under the names and arguments of scipy.linalg.lapack, on the current session.

Each is there for float32 (s), float64 (d), complex64 (c) and complex128 (z): `dpotri`, `zpotri`, ... Arguments of another type
or order are copied; with `overwrite_c` a column-major array of the right type is worked on in place. As in SciPy, the triangle
that is not named keeps what it holds, and the last value returned is LAPACK's info.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .session import current

_SCALARS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def _square(c: ArrayLike, dtype: type[np.generic], overwrite: bool) -> np.ndarray:
    """A column-major square array that may be overwritten: c itself where that is allowed."""
    given = np.asarray(c)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise ValueError(f"expected a square matrix, got an array of shape {given.shape}")
    flags = given.flags
    if overwrite and given.dtype == dtype and flags.f_contiguous and flags.aligned and flags.writeable:
        return given
    return np.array(given, dtype, order="F")


def _in_place(routine: str, dtype: type[np.generic], a: np.ndarray, *letters: str) -> tuple[np.ndarray, int]:
    return a, _core.lapack(routine, current.get(), *letters, len(a), a)


def _of_factor(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[np.ndarray, int]]:
    def call(c: ArrayLike, lower: bool = False, overwrite_c: bool = False) -> tuple[np.ndarray, int]:
        return _in_place(routine, dtype, _square(c, dtype, overwrite_c), "L" if lower else "U")

    return call


def _of_triangle(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[np.ndarray, int]]:
    def call(c: ArrayLike, lower: bool = False, unitdiag: bool = False, overwrite_c: bool = False) -> tuple[np.ndarray, int]:
        letters = "L" if lower else "U", "U" if unitdiag else "N"
        return _in_place(routine, dtype, _square(c, dtype, overwrite_c), *letters)

    return call


_ROUTINES = {
    "trtri": (_of_triangle, "The inverse of a triangular matrix; info > 0 is the place of a zero on its diagonal, from 1."),
    "lauum": (_of_factor, "U U^H of an upper triangle, or L^H L with `lower`, in the triangle's place."),
    "potri": (_of_factor, "A triangle of the inverse from the Cholesky factor of potrf; info as trtri's."),
}


def _define(names: dict[str, Any]) -> list[str]:
    defined = []
    for routine, (make, summary) in _ROUTINES.items():
        for letter, dtype in _SCALARS.items():
            function = make(routine, dtype)
            function.__name__ = function.__qualname__ = letter + routine
            function.__doc__ = summary
            names[letter + routine] = function
            defined.append(letter + routine)
    return defined


__all__ = _define(globals())
