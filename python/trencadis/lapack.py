"""LAPACK's routines under the names and arguments of scipy.linalg.lapack, on the current session.

Each is there for float32 (s), float64 (d), complex64 (c) and complex128 (z): `dpotri`, `zpotri`, ... Arguments of another type
or order are copied; with `overwrite_c` a column-major array of the right type is worked on in place, unless another argument
shares its memory. As in SciPy, what comes as a vector goes as one, the triangle that is not named keeps what it holds, and the
last value returned is LAPACK's info but for norms and row interchanges. Letters and shapes that cannot be right raise ValueError,
also where SciPy's print a line and return a negative info.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, lapack_qr, lapack_systems
from .checks import whole_number
from .lapack_arguments import (
    Scalar,
    given_array,
    letter,
    like,
    overwritable,
    readable,
    readable_square,
    real,
    rows_and_columns,
    square,
    triangle,
)  # fmt: skip
from .session import current

_SCALARS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def _of_factor(routine: str, dtype: Scalar) -> Callable[..., tuple[np.ndarray, int]]:
    def call(c: ArrayLike, lower: bool = False, overwrite_c: bool = False) -> tuple[np.ndarray, int]:
        matrix = overwritable(square("c", c, dtype), dtype, overwrite_c)
        return matrix, _core.lapack(routine, current.get(), triangle(lower), len(matrix), matrix)

    return call


def _of_triangle(routine: str, dtype: Scalar) -> Callable[..., tuple[np.ndarray, int]]:
    def call(c: ArrayLike, lower: bool = False, unitdiag: bool = False, overwrite_c: bool = False) -> tuple[np.ndarray, int]:
        letters = triangle(lower), "U" if unitdiag else "N"
        matrix = overwritable(square("c", c, dtype), dtype, overwrite_c)
        return matrix, _core.lapack(routine, current.get(), *letters, len(matrix), matrix)

    return call


def _norm(routine: str, dtype: Scalar) -> Callable[..., float]:
    def call(norm: str | bytes, a: ArrayLike) -> float:
        matrix = readable("a", a, dtype)
        return _core.lapack_norm(routine, current.get(), letter("norm", norm), *matrix.shape, matrix)

    return call


def _norm_of_triangle(routine: str, dtype: Scalar) -> Callable[..., float]:
    def call(norm: str | bytes, a: ArrayLike, uplo: str | bytes = "U", diag: str | bytes = "N") -> float:
        matrix, letters = readable("a", a, dtype), (letter("norm", norm), letter("uplo", uplo), letter("diag", diag))
        return _core.lapack_norm(routine, current.get(), *letters, *matrix.shape, matrix)

    return call


def _condition(routine: str, dtype: Scalar, letters: list[str], a: ArrayLike, *norm: float) -> tuple[float, int]:
    matrix, rcond = readable_square("a", a, dtype), np.empty(1, real(dtype))
    info = _core.lapack(routine, current.get(), *letters, len(matrix), matrix, *norm, rcond)
    return float(rcond[0]), info


def _condition_of_lu(routine: str, dtype: Scalar) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, anorm: float, norm: str | bytes = "1") -> tuple[float, int]:
        return _condition(routine, dtype, [letter("norm", norm)], a, anorm)

    return call


def _condition_of_cholesky(routine: str, dtype: Scalar) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, anorm: float, uplo: str | bytes = "U") -> tuple[float, int]:
        return _condition(routine, dtype, [letter("uplo", uplo)], a, anorm)

    return call


def _condition_of_triangle(routine: str, dtype: Scalar) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, norm: str | bytes = "1", uplo: str | bytes = "U", diag: str | bytes = "N") -> tuple[float, int]:
        return _condition(routine, dtype, [letter("norm", norm), letter("uplo", uplo), letter("diag", diag)], a)

    return call


def _scalings(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(a: ArrayLike) -> tuple[np.ndarray, np.ndarray, float, float, float, int]:
        matrix, numbers = readable("a", a, dtype), real(dtype)
        rows, columns = (np.zeros(extent, numbers) for extent in matrix.shape)
        ratios = [np.zeros(1, numbers) for _ in range(3)]
        info = _core.lapack(routine, current.get(), *matrix.shape, matrix, rows, columns, *ratios)
        return rows, columns, *(float(ratio[0]) for ratio in ratios), info

    return call


def _row_interchanges(routine: str, dtype: Scalar) -> Callable[..., np.ndarray]:
    def call(
        a: ArrayLike, piv: ArrayLike, k1: int = 0, k2: int | None = None, off: int = 0, inc: int = 1, overwrite_a: bool = False
    ) -> np.ndarray:
        given, rows = given_array("a", a, dtype), np.asarray(piv)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError("piv must be a vector of numbers of rows, from 0")
        first, begin, step = whole_number("k1", k1), whole_number("off", off), whole_number("inc", inc)
        last = rows.size - 1 if k2 is None else whole_number("k2", k2)
        height = rows_and_columns(given)[0]
        inside = 0 <= first <= max(height, rows.size) and begin >= 0 and -1 <= last < max(height, rows.size) and step != 0
        count = max(0, last - first + 1)
        if not inside or (count and begin + first + (count - 1) * abs(step) >= rows.size):
            raise ValueError(
                f"no rows {first} to {last} of an array of shape {given.shape} with {rows.size} pivots by {step} from {begin}"
            )
        matrix, exchanged = overwritable(given, dtype, overwrite_a, rows), np.zeros(first + count, np.int64)
        exchanged[first:] = rows[[begin + first + i * abs(step) for i in range(count)]] + 1
        _core.exchange_rows(matrix, exchanged, first, first + count, step < 0)
        return like(given, matrix)

    return call


_ROUTINES = {
    **lapack_qr.ROUTINES,
    **lapack_systems.ROUTINES,
    "lange": (_norm, "The norm 'M', '1' ('O'), 'I' or 'F' ('E') of a matrix."),
    "lantr": (_norm_of_triangle, "The same of a triangle or trapezoid."),
    "gecon": (_condition_of_lu, "An estimate of the reciprocal condition from getrf's factors and the norm of the matrix."),
    "pocon": (
        _condition_of_cholesky,
        "An estimate of the reciprocal condition from potrf's factor and the 1-norm of the matrix.",
    ),
    "trcon": (_condition_of_triangle, "An estimate of the reciprocal condition of a triangle."),
    "geequ": (_scalings, "Factors of rows and columns that make the largest element of each one."),
    "geequb": (_scalings, "The same by powers of two, nearly."),
    "laswp": (_row_interchanges, "Rows k1 to k2 exchanged with those that piv names, from 0; there is no info."),
    "trtri": (_of_triangle, "The inverse of a triangular matrix; info > 0 is the place of a zero on its diagonal, from 1."),
    "lauum": (_of_factor, "U U^H of an upper triangle, or L^H L with `lower`, in the triangle's place."),
    "potri": (_of_factor, "A triangle of the inverse from the Cholesky factor of potrf; info as trtri's."),
}


#: What is orthogonal in real precisions is unitary in complex ones.
_UNITARY = {"orgqr": "ungqr", "orglq": "unglq", "ormqr": "unmqr", "ormlq": "unmlq"}


def _define(names: dict[str, Any]) -> list[str]:
    defined = []
    for routine, (make, summary) in _ROUTINES.items():
        for precision, dtype in _SCALARS.items():
            function = make(routine, dtype)
            name = precision + (_UNITARY.get(routine, routine) if precision in "cz" else routine)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = summary
            names[name] = function
            defined.append(name)
    return defined


__all__ = _define(globals())
