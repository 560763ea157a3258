"""How LU's forms of pivoting hold up: growth and backward errors on matrices of known temper, beside partial pivoting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _core
from .forms import forms_of

#: Partial pivoting with anybody's kernels, which the others are compared with.
REFERENCE = forms_of("getrf", other_pivots=False, packs_images=False)[0]
#: Of the ill-conditioned ones.
CONDITION = 1e12


def random(n: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform in (-0.5, 0.5)."""
    return rng.random((n, n)) - 0.5


def dominant(n: int, rng: np.random.Generator) -> np.ndarray:
    """The same with n added to the diagonal: no pivots are needed."""
    return random(n, rng) + n * np.eye(n)


def orthogonal(n: int, rng: np.random.Generator) -> np.ndarray:
    """sqrt(2 / (n + 1)) sin(i j pi / (n + 1)): growth of about n / 2 with any pivoting (Higham and Higham 1989)."""
    i = np.arange(1, n + 1)
    return np.sqrt(2 / (n + 1)) * np.sin(np.outer(i, i) % (2 * (n + 1)) * (np.pi / (n + 1)))


def wilkinson(n: int, rng: np.random.Generator) -> np.ndarray:
    """1 on the diagonal and in the last column, -1 below: growth of 2^(n-1) with partial pivoting (Wilkinson 1961)."""
    a = np.eye(n) - np.tril(np.ones((n, n)), -1)
    a[:, -1] = 1
    return a


def ill_conditioned(n: int, rng: np.random.Generator) -> np.ndarray:
    """Singular values from 1 down to 1 / CONDITION in equal ratios, between random orthogonal matrices."""
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (left * np.geomspace(1, 1 / CONDITION, n)) @ right


MATRICES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "random": random,
    "dominant": dominant,
    "orthogonal": orthogonal,
    "wilkinson": wilkinson,
    "ill-conditioned": ill_conditioned,
}


def measure(session: Any, name: str, variant: str, n: int, nb: int, dtype: np.dtype, seed: int) -> dict[str, Any]:
    """Growth max |u| / max |a| and backward error ||b - A x|| / (||A|| ||x|| + ||b||), norms of rows, of one system."""
    rng = np.random.default_rng(seed)
    a = MATRICES[name](n, rng).astype(dtype)
    b = (rng.random(n) - 0.5).astype(dtype)
    with np.errstate(all="ignore"):  # what overflows is told as infinity
        factors, x, info = _solved(session, variant, nb, a, b)
        upper = np.abs(np.triu(factors)).max()
        rest = np.abs(b.astype(np.longdouble) - a.astype(np.longdouble) @ x.astype(np.longdouble)).max()
        error = rest / (np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())
        growth = float(upper / np.abs(a).max())
    return {"matrix": name, "variant": variant, "n": n, "nb": nb or None, "info": info, "growth": growth, "error": float(error)}


def table(
    session: Any, names: list[str], variants: list[str], n: int, nb: int, dtype: np.dtype, seed: int
) -> Iterator[dict[str, Any]]:
    """One record per matrix and variant, with the ratios to partial pivoting's."""
    for name in names:
        reference = measure(session, name, REFERENCE, n, nb, dtype, seed)
        for variant in variants:
            row = reference if variant == REFERENCE else measure(session, name, variant, n, nb, dtype, seed)
            with np.errstate(all="ignore"):
                ratio = float(np.float64(row["growth"]) / reference["growth"])
            yield {**row, "precision": {"f": "s", "d": "d"}[np.dtype(dtype).char], "growth_ratio": ratio}


def _solved(session: Any, variant: str, nb: int, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The factors, of which U is the upper triangle, the solution, and the number of a zero pivot."""
    n = len(a)
    factors, x = a.copy(order="F"), b.copy()
    if variant in forms_of("getrf", own_factors=True):
        tiles = _core.IncrementalFactors(session, factors, nb)
        tiles.solve(x)
        return factors, x, tiles.info
    pivots = np.empty(n, np.int64)
    info = _core.lapack("getrf", session, n, n, factors, pivots, nb=nb, variant=variant)
    _core.lapack("getrs", session, "N", n, 1, factors, pivots, x)
    return factors, x, info
