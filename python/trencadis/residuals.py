"""LAPACK's measures of how well a result fits. Of a Hermitian matrix one triangle may be all that is given."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _core

#: Which part of a matrix stands for it: all of it, or for a Hermitian one a triangle.
Part = Literal["all", "lower", "upper"]

_BLOCK = 512  # columns at a time, so that no second full matrix is needed


def one_norm(A: np.ndarray, part: Part = "all") -> float:
    """max_j sum_i |a_ij|."""
    return product_and_norm(A, np.empty((A.shape[1], 0), A.dtype), part)[1]


def product_and_norm(A: np.ndarray, X: np.ndarray, part: Part) -> tuple[np.ndarray, float]:
    """A X and the one-norm of A. X has two dimensions."""
    product = np.zeros((A.shape[0], X.shape[1]), np.result_type(A, X))
    norm = 0.0
    for first in range(0, A.shape[1], _BLOCK):
        last = min(A.shape[1], first + _BLOCK)
        columns = A[:, first:last] if part == "all" else _full_columns(A, first, last, part == "lower")
        product += columns @ X[first:last]
        norm = max(norm, float(np.abs(columns).sum(axis=0).max()))
    return product, norm


def _full_columns(A: np.ndarray, first: int, last: int, lower: bool) -> np.ndarray:
    """The columns [first, last) with the missing triangle filled in."""
    columns = np.empty((A.shape[0], last - first), A.dtype)
    middle = A[first:last, first:last]
    triangle = np.tril(middle, -1) if lower else np.triu(middle, 1)
    columns[first:last] = triangle + triangle.conj().T
    np.fill_diagonal(columns[first:last], np.diagonal(middle).real)
    if lower:
        columns[:first] = A[first:last, :first].conj().T
        columns[last:] = A[last:, first:last]
    else:
        columns[:first] = A[:first, first:last]
        columns[last:] = A[first:last, last:].conj().T
    return columns


def _exponent(A: np.ndarray) -> int:
    """Of the largest element, where products of some elements of such a size would leave the range of A's numbers; else 0."""
    parts = (A.real, A.imag) if np.iscomplexobj(A) else (A,)
    largest = max(max(float(part.max(initial=0)), -float(part.min(initial=0))) for part in parts)
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return exponent if abs(exponent) > np.finfo(A.dtype).maxexp // 4 else 0


def _times_power(A: np.ndarray, exponent: int) -> np.ndarray:
    """2^exponent A; in two steps, since the power alone may be no number."""
    half = exponent // 2
    return A * A.dtype.type(2.0**half) * A.dtype.type(2.0 ** (exponent - half)) if exponent else A


def _of_usual_size(A: np.ndarray, X: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A X = B with powers of two taken out of A and B."""
    a, b = _exponent(A), _exponent(B)
    return _times_power(A, -a), _times_power(X, a - b), _times_power(B, -b)


def solve_residual(A: np.ndarray, X: np.ndarray, B: np.ndarray, part: Part) -> float | None:
    """max_j |b_j - A x_j| / (|A| |x_j| eps) in one-norms (LAPACK's dpot02); None for empty systems, and where X overflowed."""
    if not X.size or not np.isfinite(X).all():
        return None
    A, X, B = _of_usual_size(A, X, B)
    X2, B2 = X.reshape(X.shape[0], -1), B.reshape(B.shape[0], -1)
    product, norm = product_and_norm(A, X2, part)
    errors, sizes = np.abs(B2 - product).sum(axis=0), np.abs(X2).sum(axis=0)
    scale = norm * sizes * np.finfo(A.dtype).eps
    return float(np.max(np.where(errors == 0, 0.0, errors / np.where(scale == 0, 1.0, scale))))


def factor_residual(A: np.ndarray, F: np.ndarray, lower: bool, vectors: int = 4) -> float | None:
    """|A v - F F^H v| / (n |A| |v| eps) (U^H U for an upper factor), the largest of some random vectors v; None when empty.

    LAPACK's dpot01 forms the product of the factors, which takes several times as long as factoring; this takes n^2 flops
    and is a lower bound of that measure's numerator.
    """
    n = A.shape[0]
    if n == 0:
        return None
    V = np.random.default_rng(0).standard_normal((n, vectors)).astype(A.dtype)
    return _product_residual(A, V, F @ (F.conj().T @ V) if lower else F.conj().T @ (F @ V), "lower" if lower else "upper")


def lu_residual(A: np.ndarray, F: np.ndarray, rows: np.ndarray, vectors: int = 4) -> float | None:
    """|A v - L[rows] U v| / (n |A| |v| eps), L and U in F, as factor_residual."""
    if A.size == 0:
        return None
    V = np.random.default_rng(0).standard_normal((A.shape[1], vectors)).astype(A.dtype)
    k = min(F.shape)
    product = np.triu(F[:k]) @ V
    lower = np.tril(F[:, :k], -1) @ product
    lower[:k] += product
    return _product_residual(A, V, lower[rows], "all")


def qr_residual(session: Any, A: np.ndarray, F: np.ndarray, tau: np.ndarray, vectors: int = 4) -> float | None:
    """|A v - Q R v| / (n |A| |v| eps), R and the reflectors of Q in F, as factor_residual."""
    if A.size == 0:
        return None
    V = np.random.default_rng(0).standard_normal((A.shape[1], vectors)).astype(A.dtype)
    product = np.zeros((len(A), vectors), A.dtype, order="F")
    product[: min(A.shape)] = np.triu(F[: min(A.shape)]) @ V
    k = len(tau)
    _core.lapack("ormqr", session, "L", "N", len(A), vectors, k, F[:, :k], tau, product)
    return _product_residual(A, V, product, "all")


def normal_residual(A: np.ndarray, X: np.ndarray, B: np.ndarray) -> float | None:
    """max_j |A^H r_j| / (|A| (|A| |x_j| + |b_j|) max(m, n) eps), r = b - A x, in one-norms, much as LAPACK's dqrt17: what a least
    squares solution leaves is orthogonal to the columns of A. None as in solve_residual."""
    if not X.size or not B.size or not np.isfinite(X).all():
        return None
    A, X, B = _of_usual_size(A, X, B)
    X2, B2 = X.reshape(len(X), -1), B.reshape(len(B), -1)
    product, norm = product_and_norm(A, X2, "all")
    r = B2 - product
    errors = np.abs(A.conj().T @ r).sum(axis=0) / (norm or 1.0)
    sizes = norm * np.abs(X2).sum(axis=0) + np.abs(B2).sum(axis=0)
    return float(np.max(np.where(errors == 0, 0.0, errors / np.where(sizes == 0, 1.0, sizes)))) / (
        max(A.shape) * float(np.finfo(A.dtype).eps)
    )


def _product_residual(A: np.ndarray, V: np.ndarray, claimed: np.ndarray, part: Part) -> float:
    product, norm = product_and_norm(A, V, part)
    errors, sizes = np.abs(product - claimed).sum(axis=0), max(A.shape) * norm * np.abs(V).sum(axis=0) * np.finfo(A.dtype).eps
    return float(np.max(np.where(errors == 0, 0.0, errors / np.where(sizes == 0, 1.0, sizes))))
