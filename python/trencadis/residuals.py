"""LAPACK's measures of how well a result fits, for a Hermitian matrix of which one triangle is given."""

from __future__ import annotations

import numpy as np

_BLOCK = 512  # columns at a time, so that no second full matrix is needed


def hermitian_product(A: np.ndarray, X: np.ndarray, lower: bool) -> tuple[np.ndarray, float]:
    """A X and the one-norm of A, from one triangle of A. X has two dimensions."""
    n = A.shape[0]
    product = np.zeros((n, X.shape[1]), np.result_type(A, X))
    norm = 0.0
    for first in range(0, n, _BLOCK):
        last = min(n, first + _BLOCK)
        columns = _full_columns(A, first, last, lower)
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


def solve_residual(A: np.ndarray, X: np.ndarray, B: np.ndarray, lower: bool) -> float | None:
    """max_j |b_j - A x_j| / (|A| |x_j| eps) in one-norms (LAPACK's dpot02); None for empty systems."""
    if not X.size:
        return None
    X2, B2 = X.reshape(X.shape[0], -1), B.reshape(B.shape[0], -1)
    product, norm = hermitian_product(A, X2, lower)
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
    product, norm = hermitian_product(A, V, lower)
    errors = np.abs(product - (F @ (F.conj().T @ V) if lower else F.conj().T @ (F @ V))).sum(axis=0)
    return float(np.max(errors / (n * norm * np.abs(V).sum(axis=0) * np.finfo(A.dtype).eps)))
