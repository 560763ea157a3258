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
from .qr import surely_independent, triangle_rcond
from .residuals import one_norm


@dataclass(frozen=True)
class Fitted:
    """A least squares solution. `rcond` is of the triangular factor; None where there was no use for it."""

    X: np.ndarray
    routine: str
    seconds: float
    rcond: float | None
    rank: int


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


def solve_least_squares(session: Any, A: np.ndarray, B: np.ndarray, tile: int, path: Path) -> Fitted:
    """By gels; by SciPy's gelsd, whose solution is the shortest, where the rank is in doubt."""
    (m, n), nrhs = A.shape, 1 if B.ndim == 1 else B.shape[1]
    factors = work_copy(A, path)
    X = np.zeros((max(m, n), nrhs), A.dtype, order="F")
    X[:m] = B.reshape(m, nrhs)
    if not X.size or not A.size:
        return Fitted(X[:n].reshape(n, *B.shape[1:]), "gels", 0.0, None, 0)
    zero, seconds = _timed(lambda: _core.lapack("gels", session, "N", m, n, nrhs, factors, X, nb=tile))
    k = min(m, n)
    rcond = 0.0 if zero else triangle_rcond(factors[:k, :k], m < n)
    if not zero and surely_independent(factors, 0.0, m < n):
        return Fitted(X[:n].reshape(n, *B.shape[1:]), "gels", seconds, rcond, k)
    (x, _, rank, _), taken = _timed(lambda: scipy_lstsq(A, B))
    return Fitted(x, "gelsd", seconds + taken, rcond, int(rank))


def scipy_lstsq(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    from scipy.linalg import lstsq

    return lstsq(A, B)


def factor_orthogonal(session: Any, F: np.ndarray, tile: int) -> tuple[np.ndarray, float]:
    """tau, and the seconds of geqrf in place of F."""
    tau = np.empty(min(F.shape), F.dtype)
    _, seconds = _timed(lambda: _core.lapack("geqrf", session, *F.shape, F, tau, nb=tile))
    return tau, seconds


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
