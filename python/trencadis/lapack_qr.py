"""QR and LQ of `trencadis.lapack`, and what is done with their reflectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .lapack_arguments import (
    Scalar,
    given_array,
    is_query,
    letter,
    like,
    overwritable,
    readable,
    rows_and_columns,
    vector,
    workspace,
)  # fmt: skip
from .session import current


def _factorization(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(a: ArrayLike, lwork: int | None = None, overwrite_a: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        given = given_array("a", a, dtype)
        m, n = rows_and_columns(given)
        least = n if routine == "geqrf" else m
        query, info = is_query(lwork, least), 0
        factors, tau = overwritable(given, dtype, overwrite_a), np.zeros(min(m, n), dtype)
        if not query:
            info = _core.lapack(routine, current.get(), m, n, factors, tau)
        return like(given, factors), tau, workspace(least, dtype), info

    return call


def _pivoted(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(a: ArrayLike, lwork: int | None = None, overwrite_a: bool = False) -> tuple:
        given = given_array("a", a, dtype)
        m, n = rows_and_columns(given)
        least = n + 1 if np.dtype(dtype).kind == "c" else 3 * n + 1
        query, info = is_query(lwork, least), 0
        factors, tau = overwritable(given, dtype, overwrite_a), np.zeros(min(m, n), dtype)
        order = np.zeros(n, np.int64)
        if not query:
            info = _core.lapack(routine, current.get(), m, n, factors, order, tau)
        return like(given, factors), order.astype(np.int32), tau, workspace(least, dtype), info

    return call


def _product_formed(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, tau: ArrayLike, lwork: int | None = None, overwrite_a: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        given = given_array("a", a, dtype)
        scalars = vector("tau", tau, np.size(tau), dtype)
        m, n = rows_and_columns(given)
        least = n if routine == "orgqr" else m
        query, info = is_query(lwork, least), 0
        q = overwritable(given, dtype, overwrite_a, scalars)
        if not query:
            info = _core.lapack(routine, current.get(), m, n, len(scalars), q, scalars)
        return like(given, q), workspace(least, dtype), info

    return call


def _product_applied(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        side: str | bytes, trans: str | bytes, a: ArrayLike, tau: ArrayLike, c: ArrayLike, lwork: int, overwrite_c: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        words = letter("side", side), letter("trans", trans)
        reflectors, given = readable("a", a, dtype), given_array("c", c, dtype)
        scalars = vector("tau", tau, np.size(tau), dtype)
        m, n = rows_and_columns(given)
        least = n if words[0].upper() == "L" else m
        query, info = is_query(lwork, least), 0
        product = overwritable(given, dtype, overwrite_c, reflectors, scalars)
        if not query:
            info = _core.lapack(routine, current.get(), *words, m, n, len(scalars), reflectors, scalars, product)
        return like(given, product), workspace(least, dtype), info

    return call


def _least_squares(routine: str, dtype: Scalar) -> Callable[..., tuple]:
    def call(
        a: ArrayLike, b: ArrayLike, trans: str | bytes = "N", lwork: int | None = None, overwrite_a: bool = False,
        overwrite_b: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
        given, sides, op = given_array("a", a, dtype), given_array("b", b, dtype), letter("trans", trans)
        (m, n), (rows, nrhs) = rows_and_columns(given), rows_and_columns(sides)
        if rows != max(m, n):
            raise ValueError(f"shapes of a {given.shape} and b {sides.shape} are incompatible: {max(m, n)} rows are needed")
        query, info = is_query(lwork, min(m, n) + max(min(m, n), nrhs)), 0
        x = overwritable(sides, dtype, overwrite_b, given)
        factors = overwritable(given, dtype, overwrite_a, x)
        if not query:
            info = _core.lapack(routine, current.get(), op, m, n, nrhs, factors, x)
        return like(given, factors), like(sides, x), info

    return call


ROUTINES = {
    "geqrf": (_factorization, "R over the vectors of reflectors, tau, LAPACK's work[0] and info of the QR factorization."),
    "gelqf": (_factorization, "L beside the vectors of reflectors, tau, LAPACK's work[0] and info of the LQ factorization."),
    "geqp3": (
        _pivoted,
        "The same as geqrf with columns exchanged: R over the reflectors, the columns' numbers from 1 in their new order, tau, "
        "work[0], info.",
    ),
    "orgqr": (_product_formed, "The first columns of Q from geqrf's reflectors, as many as `a` has, work[0] and info."),
    "orglq": (_product_formed, "The first rows of Q from gelqf's reflectors, as many as `a` has, work[0] and info."),
    "ormqr": (_product_applied, "op(Q) c or c op(Q) with geqrf's reflectors, work[0] and info; with lwork -1 work[0] alone."),
    "ormlq": (_product_applied, "The same with gelqf's reflectors."),
    "gels": (
        _least_squares,
        "The factors of a, the least squares or shortest solutions of op(a) x = b, b and x of max(m, n) rows, and info.",
    ),
}
