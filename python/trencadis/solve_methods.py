"""How the command line solves and factors: which routine, in place, timed, with the reciprocal condition."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from .errors import LinAlgError
from .files import require_memory
from .residuals import one_norm


@dataclass(frozen=True)
class Solved:
    """`rcond` is an estimate in the 1-norm; None for an empty system."""

    routine: str
    seconds: float
    rcond: float | None


def work_copy(array: np.ndarray, path: Path) -> np.ndarray:
    require_memory(path, array.nbytes, "the work copy")
    return np.array(array, order="F")


def solve_positive(session: Any, A: np.ndarray, X: np.ndarray, tile: int, path: Path, lower: bool) -> Solved:
    """By posv in place of X, from one triangle of A."""
    solved = _posv(session, A, X, tile, path, lower)
    if isinstance(solved, int):
        raise not_positive(path, solved)
    return solved


def solve_any(session: Any, A: np.ndarray, X: np.ndarray, tile: int, path: Path) -> Solved:
    """In place of X: posv for what is Hermitian and turns out to be positive definite, trsm for triangles, else gesv."""
    from scipy.linalg import bandwidth

    if _core.is_hermitian(session, A) and (A.diagonal().real > 0).all():
        solved = _posv(session, A, X, tile, path, lower=False)
        if not isinstance(solved, int):
            return solved
    elif 0 in bandwidth(A):
        return _trsm(session, A, X, tile, path, lower=bandwidth(A)[1] == 0)
    return _gesv(session, A, X, tile, path)


def factor_positive(session: Any, F: np.ndarray, tile: int, path: Path, lower: bool) -> float:
    """Seconds of potrf in place of F."""
    info, seconds = _timed(lambda: _core.potrf(session, "L" if lower else "U", F, tile))
    if info:
        raise not_positive(path, info)
    return seconds


def factor_general(session: Any, F: np.ndarray, tile: int) -> tuple[np.ndarray, int, float]:
    """The pivots, from 0, the number of the first that is zero, from 1, or 0, and the seconds of getrf in place of F."""
    pivots = np.empty(min(F.shape), np.int64)
    info, seconds = _timed(lambda: _core.lapack("getrf", session, *F.shape, F, pivots, nb=tile))
    return (pivots - 1).astype(np.int32), info, seconds


def not_positive(path: Path, info: int) -> LinAlgError:
    return LinAlgError(f"{path}: is not positive definite: the leading minor of order {info} is not positive")


def singular(path: Path, info: int) -> LinAlgError:
    return LinAlgError(f"{path}: is singular: pivot {info} of its LU factorization is exactly zero")


def _timed(call: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    value = call()
    return value, time.perf_counter() - begin


def _condition(routine: str, session: Any, letter: str, factors: np.ndarray, norm: float) -> float:
    rcond = np.empty(1, factors.real.dtype)
    _core.lapack(routine, session, letter, len(factors), factors, norm, rcond)
    return float(rcond[0])


def _posv(session: Any, A: np.ndarray, X: np.ndarray, tile: int, path: Path, lower: bool) -> Solved | int:
    """The order of a leading minor that is not positive where there is one; X is then as it was."""
    factor, uplo = work_copy(A, path), "L" if lower else "U"
    info, seconds = _timed(lambda: _core.posv(session, uplo, factor, X, tile))
    if info:
        return info
    norm = one_norm(A, "lower" if lower else "upper")
    return Solved("posv", seconds, _condition("pocon", session, uplo, factor, norm))


def _gesv(session: Any, A: np.ndarray, X: np.ndarray, tile: int, path: Path) -> Solved:
    factors, pivots = work_copy(A, path), np.empty(len(A), np.int64)
    nrhs = 1 if X.ndim == 1 else X.shape[1]
    info, seconds = _timed(lambda: _core.lapack("gesv", session, len(A), nrhs, factors, pivots, X, nb=tile))
    if info:
        raise singular(path, info)
    return Solved("gesv", seconds, _condition("gecon", session, "1", factors, one_norm(A)))


def _trsm(session: Any, A: np.ndarray, X: np.ndarray, tile: int, path: Path, lower: bool) -> Solved:
    zeros = np.flatnonzero(A.diagonal() == 0)
    if zeros.size:
        raise LinAlgError(f"{path}: is singular: it is triangular, and element [{zeros[0]}, {zeros[0]}] is zero")
    uplo, triangle = "L" if lower else "U", np.asfortranarray(A)
    _, seconds = _timed(lambda: _core.trsm(session, "L", uplo, "N", "N", 1, triangle, X, tile))
    return Solved("trsm", seconds, _core.triangular_rcond(session, triangle, lower))
