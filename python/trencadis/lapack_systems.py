"""LU, Cholesky and triangular systems of `trencadis.lapack`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import whole_number
from .lapack_arguments import (
    Scalar,
    given_array,
    kept,
    letter,
    like,
    operation,
    overwritable,
    pivots,
    readable,
    readable_square,
    real,
    right_sides,
    rows_and_columns,
    square,
    triangle,
)  # fmt: skip
from .residence import written
from .session import current


def _solve_triangle(routine: str, dtype: Scalar) -> Callable[..., tuple[np.ndarray, int]]:
    def call(
        a: ArrayLike, b: ArrayLike, lower: bool = False, trans: int = 0, unitdiag: bool = False, lda: int | None = None,
        overwrite_b: bool = False,
    ) -> tuple[np.ndarray, int]:  # fmt: skip
        matrix, given = readable("a", a, dtype), given_array("b", b, dtype)
        (rows, n), (height, nrhs) = matrix.shape, rows_and_columns(given)
        if lda is not None and whole_number("lda", lda) != rows:
            raise ValueError(f"lda is {lda}; a has {rows} rows")
        if rows < n or height < n:
            raise ValueError(f"shapes of a {matrix.shape} and b {given.shape} are incompatible")
        letters = triangle(lower), operation(trans), "U" if unitdiag else "N"
        x = overwritable(given, dtype, overwrite_b, matrix)
        return like(given, x), _core.lapack(routine, current.get(), *letters, n, nrhs, matrix[:n], x[:n])

    return call


def _lu(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(a: ArrayLike, overwrite_a: bool = False) -> tuple[np.ndarray, np.ndarray, int]:
        given = given_array("a", a, dtype)
        m, n = rows_and_columns(given)
        factors, piv = overwritable(given, dtype, overwrite_a), np.zeros(min(m, n), np.int64)
        info = _core.lapack(routine, current.get(), m, n, factors, piv)
        return like(given, factors), (piv - 1).astype(np.int32), info

    return call


def _lu_solve(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(lu: ArrayLike, piv: ArrayLike, b: ArrayLike, trans: int = 0, overwrite_b: bool = False) -> tuple[np.ndarray, int]:
        factors = readable_square("lu", lu, dtype)
        n = len(factors)
        sides, interchanges = right_sides(b, n, dtype), pivots("piv", piv, n, n)
        x = overwritable(sides, dtype, overwrite_b, factors)
        words = operation(trans), n, x.shape[1]
        return like(sides, x), _core.lapack(routine, current.get(), *words, factors, interchanges, x)

    return call


def _lu_inverse(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(lu: ArrayLike, piv: ArrayLike, lwork: int | None = None, overwrite_lu: bool = False) -> tuple[np.ndarray, int]:
        given = square("lu", lu, dtype)
        n = len(given)
        if lwork is not None and not whole_number("lwork", lwork) >= n and lwork != -1:
            raise ValueError(f"lwork is {lwork}, must be at least {n}, or -1")
        inverse, interchanges = overwritable(given, dtype, overwrite_lu), pivots("piv", piv, n, n)
        return inverse, 0 if lwork == -1 else _core.lapack(routine, current.get(), n, inverse, interchanges)

    return call


def _system(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, overwrite_a: bool = False, overwrite_b: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        given = square("a", a, dtype)
        n = len(given)
        sides, piv = right_sides(b, n, dtype), np.zeros(n, np.int64)
        x = overwritable(sides, dtype, overwrite_b, given)
        factors = overwritable(given, dtype, overwrite_a, x)
        info = _core.lapack(routine, current.get(), n, x.shape[1], factors, piv, x)
        return factors, (piv - 1).astype(np.int32), like(sides, x), info

    return call


def _cholesky(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(a: ArrayLike, lower: bool = False, clean: bool = True, overwrite_a: bool = False) -> tuple[np.ndarray, int]:
        factor = overwritable(square("a", a, dtype), dtype, overwrite_a)
        info = _core.lapack(routine, current.get(), triangle(lower), len(factor), factor)
        if clean:
            factor[np.triu_indices_from(factor, 1) if lower else np.tril_indices_from(factor, -1)] = 0
            written(factor)
        return factor, info

    return call


def _cholesky_solve(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(c: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_b: bool = False) -> tuple[np.ndarray, int]:
        factor = readable_square("c", c, dtype)
        sides = right_sides(b, len(factor), dtype)
        x = overwritable(sides, dtype, overwrite_b, factor)
        return like(sides, x), _core.lapack(routine, current.get(), triangle(lower), len(factor), x.shape[1], factor, x)

    return call


def _positive_system(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        given = square("a", a, dtype)
        sides = right_sides(b, len(given), dtype)
        x = overwritable(sides, dtype, overwrite_b, given)
        factor = overwritable(given, dtype, overwrite_a, x)
        info = _core.lapack(routine, current.get(), triangle(lower), len(factor), x.shape[1], factor, x)
        return factor, like(sides, x), info

    return call


def _expert(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, fact: str | bytes = "E", trans: str | bytes = "N", af: ArrayLike | None = None,
        ipiv: ArrayLike | None = None, equed: str | bytes = "B", r: ArrayLike | None = None, c: ArrayLike | None = None,
        overwrite_a: bool = False, overwrite_b: bool = False,
    ) -> tuple:  # fmt: skip
        given, numbers = square("a", a, dtype), real(dtype)
        n = len(given)
        sides = right_sides(b, n, dtype)
        scaled_sides = overwritable(sides, dtype, overwrite_b, given)
        matrix = overwritable(given, dtype, overwrite_a, scaled_sides)
        lu, x = kept("af", af, np.zeros((n, n), dtype, order="F")), np.zeros_like(scaled_sides, order="F")
        piv = np.zeros(n, np.int64) if ipiv is None else pivots("ipiv", ipiv, n, n)
        rows, columns = kept("r", r, np.zeros(n, numbers)), kept("c", c, np.zeros(n, numbers))
        scaled, rcond, growth = bytearray(letter("equed", equed), "ascii"), np.zeros(1, numbers), np.zeros(1, numbers)
        ferr, berr = (np.zeros(x.shape[1], numbers) for _ in range(2))
        info = _core.lapack(
            routine, current.get(), letter("fact", fact), letter("trans", trans), n, x.shape[1], matrix, lu, piv, scaled, rows,
            columns, scaled_sides, x, rcond, ferr, berr, growth,
        )  # fmt: skip
        answers = rows, columns, like(sides, scaled_sides), x, float(rcond[0]), ferr, berr, info
        return matrix, lu, (piv - 1).astype(np.int32), bytes(scaled), *answers

    return call


def _expert_positive(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, fact: str | bytes = "E", af: ArrayLike | None = None, equed: str | bytes = "Y",
        s: ArrayLike | None = None, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    ) -> tuple:  # fmt: skip
        given, numbers = square("a", a, dtype), real(dtype)
        n = len(given)
        sides = right_sides(b, n, dtype)
        scaled_sides = overwritable(sides, dtype, overwrite_b, given)
        matrix = overwritable(given, dtype, overwrite_a, scaled_sides)
        factor, x = kept("af", af, np.zeros((n, n), dtype, order="F")), np.zeros_like(scaled_sides, order="F")
        scales, scaled = kept("s", s, np.zeros(n, numbers)), bytearray(letter("equed", equed), "ascii")
        rcond, ferr, berr = np.zeros(1, numbers), np.zeros(x.shape[1], numbers), np.zeros(x.shape[1], numbers)
        info = _core.lapack(
            routine, current.get(), letter("fact", fact), triangle(lower), n, x.shape[1], matrix, factor, scaled, scales,
            scaled_sides, x, rcond, ferr, berr,
        )  # fmt: skip
        return matrix, factor, bytes(scaled), scales, like(sides, scaled_sides), x, float(rcond[0]), ferr, berr, info

    return call


ROUTINES = {
    "getrf": (_lu, "L below U, the rows exchanged, from 0, and info; info > 0 is the place of a pivot that is zero, from 1."),
    "getrs": (_lu_solve, "op(A)^-1 b from getrf's factors and rows, and info."),
    "getri": (_lu_inverse, "The inverse from getrf's factors and rows, and info; with lwork -1 info alone."),
    "gesv": (_system, "getrf's factors and rows of a, a^-1 b, and info as getrf's: where it is not 0, b as it was."),
    "potrf": (
        _cholesky,
        "U with a = U^H U, or L with a = L L^H and `lower`, and info; info > 0 is the order of a leading minor that is not "
        "positive. Without `clean` the other triangle is what it was.",
    ),
    "potrs": (_cholesky_solve, "A^-1 b from potrf's factor, and info."),
    "posv": (_positive_system, "potrf's factor of a, a^-1 b, and info as potrf's."),
    "trtrs": (
        _solve_triangle,
        "op(a)^-1 b of a triangular a; info > 0 is the place of a zero on its diagonal, from 1: x is then b.",
    ),
    "gesvx": (
        _expert,
        "a^-1 b with all that can be said of it: the scaled matrix, its factors and pivots, equed, r, c, the scaled b, x, the "
        "reciprocal condition, bounds of the forward and the backward error of each column.",
    ),
    "posvx": (_expert_positive, "The same of a positive definite matrix, without pivots and with one vector of factors."),
}
