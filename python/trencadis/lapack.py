"""LAPACK's routines under the names and arguments of scipy.linalg.lapack, on the current session.

Each is there for float32 (s), float64 (d), complex64 (c) and complex128 (z): `dpotri`, `zpotri`, ... Arguments of another type
or order are copied; with `overwrite_c` a column-major array of the right type is worked on in place. As in SciPy, the triangle
that is not named keeps what it holds, and the last value returned is LAPACK's info but for norms and row interchanges. Letters
and shapes that cannot be right raise ValueError, also where SciPy's print a line and return a negative info.
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
    return _columns(given, dtype, overwrite)


def _columns(given: np.ndarray, dtype: type[np.generic], overwrite: bool) -> np.ndarray:
    flags = given.flags
    if overwrite and given.dtype == dtype and flags.f_contiguous and flags.aligned and flags.writeable:
        return given
    return np.array(given, dtype, order="F")


def _read(a: ArrayLike, dtype: type[np.generic]) -> np.ndarray:
    """A column-major matrix that is not written."""
    given = np.asarray(a, dtype, order="F")
    if given.ndim > 2:
        raise ValueError(f"expected a matrix, got an array of shape {given.shape}")
    return given.reshape(len(given) if given.ndim else 1, -1, order="F") if given.ndim < 2 else given


def _read_square(a: ArrayLike, dtype: type[np.generic]) -> np.ndarray:
    given = _read(a, dtype)
    if given.shape[0] != given.shape[1]:
        raise ValueError(f"expected a square matrix, got an array of shape {given.shape}")
    return given


def _letter(text: str | bytes) -> str:
    return text.decode() if isinstance(text, bytes) else text


def _real(dtype: type[np.generic]) -> np.dtype:
    return np.dtype(dtype).type(0).real.dtype


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


def _solve_triangle(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[np.ndarray, int]]:
    def call(
        a: ArrayLike, b: ArrayLike, lower: bool = False, trans: int = 0, unitdiag: bool = False, overwrite_b: bool = False
    ) -> tuple[np.ndarray, int]:
        triangle, given = _read_square(a, dtype), np.asarray(b)
        if given.ndim not in (1, 2) or len(given) != len(triangle):
            raise ValueError(f"shapes of a {triangle.shape} and b {given.shape} are incompatible")
        if trans not in (0, 1, 2):
            raise ValueError(f"trans is {trans!r}; give 0, 1 or 2")
        x = _columns(given, dtype, overwrite_b)
        letters = "L" if lower else "U", "NTC"[trans], "U" if unitdiag else "N"
        columns = x.shape[1] if x.ndim == 2 else 1
        return x, _core.lapack(routine, current.get(), *letters, len(x), columns, triangle, x)

    return call


def _norm(routine: str, dtype: type[np.generic]) -> Callable[..., float]:
    def call(norm: str | bytes, a: ArrayLike) -> float:
        matrix = _read(a, dtype)
        return _core.lapack_norm(routine, current.get(), _letter(norm), *matrix.shape, matrix)

    return call


def _norm_of_triangle(routine: str, dtype: type[np.generic]) -> Callable[..., float]:
    def call(norm: str | bytes, a: ArrayLike, uplo: str | bytes = "U", diag: str | bytes = "N") -> float:
        matrix, letters = _read(a, dtype), map(_letter, (norm, uplo, diag))
        return _core.lapack_norm(routine, current.get(), *letters, *matrix.shape, matrix)

    return call


def _condition(routine: str, dtype: type[np.generic], letters: list[str], a: ArrayLike, *norm: float) -> tuple[float, int]:
    matrix, rcond = _read_square(a, dtype), np.empty(1, _real(dtype))
    info = _core.lapack(routine, current.get(), *letters, len(matrix), matrix, *norm, rcond)
    return float(rcond[0]), info


def _condition_of_lu(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, anorm: float, norm: str | bytes = "1") -> tuple[float, int]:
        return _condition(routine, dtype, [_letter(norm)], a, anorm)

    return call


def _condition_of_cholesky(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, anorm: float, uplo: str | bytes = "U") -> tuple[float, int]:
        return _condition(routine, dtype, [_letter(uplo)], a, anorm)

    return call


def _condition_of_triangle(routine: str, dtype: type[np.generic]) -> Callable[..., tuple[float, int]]:
    def call(a: ArrayLike, norm: str | bytes = "1", uplo: str | bytes = "U", diag: str | bytes = "N") -> tuple[float, int]:
        return _condition(routine, dtype, [_letter(norm), _letter(uplo), _letter(diag)], a)

    return call


def _scalings(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    def call(a: ArrayLike) -> tuple[np.ndarray, np.ndarray, float, float, float, int]:
        matrix, real = _read(a, dtype), _real(dtype)
        rows, columns = (np.zeros(extent, real) for extent in matrix.shape)
        ratios = [np.zeros(1, real) for _ in range(3)]
        info = _core.lapack(routine, current.get(), *matrix.shape, matrix, rows, columns, *ratios)
        return rows, columns, *(float(ratio[0]) for ratio in ratios), info

    return call


def _kept(name: str, given: ArrayLike | None, like: np.ndarray) -> np.ndarray:
    """A copy of what an earlier call left, of the shape and type of `like`; or `like`."""
    if given is None:
        return like
    kept = np.array(given, like.dtype, order="F")
    if kept.shape != like.shape:
        raise ValueError(f"{name} has the shape {kept.shape}; {like.shape} is needed")
    return kept


def _right_sides(b: ArrayLike, rows: int, dtype: type[np.generic], overwrite: bool) -> np.ndarray:
    given = np.asarray(b)
    if given.ndim not in (1, 2) or len(given) != rows:
        raise ValueError(f"b has the shape {given.shape}; {rows} rows are needed")
    return _columns(given.reshape(rows, -1), dtype, overwrite)


def _expert(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    real = _real(dtype)

    def call(
        a: ArrayLike, b: ArrayLike, fact: str | bytes = "E", trans: str | bytes = "N", af: ArrayLike | None = None,
        ipiv: ArrayLike | None = None, equed: str | bytes = "B", r: ArrayLike | None = None, c: ArrayLike | None = None,
        overwrite_a: bool = False, overwrite_b: bool = False,
    ) -> tuple:  # fmt: skip
        matrix = _square(a, dtype, overwrite_a)
        n = len(matrix)
        sides = _right_sides(b, n, dtype, overwrite_b)
        lu, x = _kept("af", af, np.zeros((n, n), dtype, order="F")), np.zeros_like(sides, order="F")
        pivots = _kept("ipiv", ipiv, np.zeros(n, np.int64)) + (ipiv is not None)
        rows, columns = _kept("r", r, np.zeros(n, real)), _kept("c", c, np.zeros(n, real))
        scaled, rcond, growth = bytearray(_letter(equed), "ascii"), np.zeros(1, real), np.zeros(1, real)
        ferr, berr = (np.zeros(sides.shape[1], real) for _ in range(2))
        info = _core.lapack(
            routine, current.get(), _letter(fact), _letter(trans), n, sides.shape[1], matrix, lu, pivots, scaled, rows, columns,
            sides, x, rcond, ferr, berr, growth,
        )  # fmt: skip
        answers = rows, columns, sides, x, float(rcond[0]), ferr, berr, info
        return matrix, lu, (pivots - 1).astype(np.int32), bytes(scaled), *answers

    return call


def _expert_positive(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    real = _real(dtype)

    def call(
        a: ArrayLike, b: ArrayLike, fact: str | bytes = "E", af: ArrayLike | None = None, equed: str | bytes = "Y",
        s: ArrayLike | None = None, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    ) -> tuple:  # fmt: skip
        matrix = _square(a, dtype, overwrite_a)
        n = len(matrix)
        sides = _right_sides(b, n, dtype, overwrite_b)
        factor, x = _kept("af", af, np.zeros((n, n), dtype, order="F")), np.zeros_like(sides, order="F")
        scales, scaled, rcond = _kept("s", s, np.zeros(n, real)), bytearray(_letter(equed), "ascii"), np.zeros(1, real)
        ferr, berr = (np.zeros(sides.shape[1], real) for _ in range(2))
        info = _core.lapack(
            routine, current.get(), _letter(fact), "L" if lower else "U", n, sides.shape[1], matrix, factor, scaled, scales,
            sides, x, rcond, ferr, berr,
        )  # fmt: skip
        return matrix, factor, bytes(scaled), scales, sides, x, float(rcond[0]), ferr, berr, info

    return call


def _row_interchanges(routine: str, dtype: type[np.generic]) -> Callable[..., np.ndarray]:
    def call(
        a: ArrayLike, piv: ArrayLike, k1: int = 0, k2: int | None = None, off: int = 0, inc: int = 1, overwrite_a: bool = False
    ) -> np.ndarray:
        given, rows = np.asarray(a), np.asarray(piv)
        last = rows.size - 1 if k2 is None else k2
        places = off + k1 + np.arange(last - k1 + 1) * abs(inc)
        if given.ndim != 2 or inc == 0 or min(k1, off) < 0 or (places >= rows.size).any():
            raise ValueError(
                f"no rows {k1} to {last} of an array of shape {given.shape} with {rows.size} pivots by {inc} from {off}"
            )
        matrix, pivots = _columns(given, dtype, overwrite_a), np.zeros(last + 1, np.int64)
        pivots[k1:] = rows[places] + 1
        _core.exchange_rows(matrix, pivots, k1, last + 1, inc < 0)
        return matrix

    return call


def _workspace(lwork: int | None, least: int) -> None:
    """SciPy's lwork: it is not used, but one that LAPACK would refuse is refused."""
    if lwork is not None and lwork != -1 and lwork < least:
        raise ValueError(f"lwork is {lwork}, must be at least {least}, or -1")


def _answer(least: int, dtype: type[np.generic]) -> np.ndarray:
    """What LAPACK leaves in the first element of its workspace: how much it wants, of which we use nothing."""
    return np.array([max(1, least)], dtype)


def _factorization(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    def call(a: ArrayLike, lwork: int | None = None, overwrite_a: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        given = _read(a, np.asarray(a).dtype.type)
        m, n = given.shape
        least = n if routine == "geqrf" else m
        _workspace(lwork, least)
        tau = np.zeros(min(m, n), dtype)
        if lwork == -1:
            return _columns(given, dtype, overwrite_a), tau, _answer(least, dtype), 0
        factors = _columns(given, dtype, overwrite_a)
        return factors, tau, _answer(least, dtype), _core.lapack(routine, current.get(), m, n, factors, tau)

    return call


def _product_formed(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, tau: ArrayLike, lwork: int | None = None, overwrite_a: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        given, scalars = _read(a, np.asarray(a).dtype.type), np.ascontiguousarray(tau, dtype)
        m, n = given.shape
        least = n if routine == "orgqr" else m
        _workspace(lwork, least)
        q = _columns(given, dtype, overwrite_a)
        if lwork == -1:
            return q, _answer(least, dtype), 0
        return q, _answer(least, dtype), _core.lapack(routine, current.get(), m, n, len(scalars), q, scalars)

    return call


def _product_applied(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    def call(
        side: str | bytes, trans: str | bytes, a: ArrayLike, tau: ArrayLike, c: ArrayLike, lwork: int, overwrite_c: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        reflectors, scalars, given = _read(a, dtype), np.ascontiguousarray(tau, dtype), _read(c, np.asarray(c).dtype.type)
        m, n = given.shape
        least = n if _letter(side).upper() == "L" else m
        _workspace(lwork, least)
        product = _columns(given, dtype, overwrite_c)
        if lwork == -1:
            return product, _answer(least, dtype), 0
        words = _letter(side), _letter(trans), m, n, len(scalars), reflectors, scalars, product
        return product, _answer(least, dtype), _core.lapack(routine, current.get(), *words)

    return call


def _least_squares(routine: str, dtype: type[np.generic]) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, trans: str | bytes = "N", lwork: int | None = None, overwrite_a: bool = False,
        overwrite_b: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
        given, sides = _read(a, np.asarray(a).dtype.type), _read(b, np.asarray(b).dtype.type)
        (m, n), columns = given.shape, sides.shape[1]
        if len(sides) != max(m, n):
            raise ValueError(f"shapes of a {given.shape} and b {sides.shape} are incompatible: {max(m, n)} rows are needed")
        _workspace(lwork, min(m, n) + max(min(m, n), columns))
        x = _columns(sides, dtype, overwrite_b)
        factors = _columns(given, dtype, overwrite_a)
        return factors, x, _core.lapack(routine, current.get(), _letter(trans), m, n, columns, factors, x)

    return call


_ROUTINES = {
    "geqrf": (_factorization, "R over the vectors of reflectors, tau, LAPACK's work[0] and info of the QR factorization."),
    "gelqf": (_factorization, "L beside the vectors of reflectors, tau, LAPACK's work[0] and info of the LQ factorization."),
    "orgqr": (_product_formed, "The first columns of Q from geqrf's reflectors, as many as `a` has, work[0] and info."),
    "orglq": (_product_formed, "The first rows of Q from gelqf's reflectors, as many as `a` has, work[0] and info."),
    "ormqr": (_product_applied, "op(Q) c or c op(Q) with geqrf's reflectors, work[0] and info; with lwork -1 work[0] alone."),
    "ormlq": (_product_applied, "The same with gelqf's reflectors."),
    "gels": (
        _least_squares,
        "The factors of a, the least squares or shortest solutions of op(a) x = b, b and x of max(m, n) rows, and info.",
    ),
    "trtrs": (
        _solve_triangle,
        "op(a)^-1 b of a triangular a; info > 0 is the place of a zero on its diagonal, from 1: x is then b.",
    ),
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
    "gesvx": (
        _expert,
        "a^-1 b with all that can be said of it: the scaled matrix, its factors and pivots, equed, r, c, the scaled b, x, the "
        "reciprocal condition, bounds of the forward and the backward error of each column.",
    ),
    "posvx": (_expert_positive, "The same of a positive definite matrix, without pivots and with one vector of factors."),
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
        for letter, dtype in _SCALARS.items():
            function = make(routine, dtype)
            name = letter + (_UNITARY.get(routine, routine) if letter in "cz" else routine)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = summary
            names[name] = function
            defined.append(name)
    return defined


__all__ = _define(globals())
