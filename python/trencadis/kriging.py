"""Ordinary kriging in the plane (Gaussian-process regression with an unknown constant mean), for the demo.

Model: height(p) = mean + s(p) + noise, s of Matern covariance with variance v, length l and smoothness 3/2 or 5/2, noise
of variance g v (the nugget). With K = correlation + g I, the weights are w = K^-1 (z - mean), the mean is the
generalised least squares estimate, and the prediction at p is mean + k(p)^T w. Both need one positive definite solve with
two right sides, [z 1]. Cressie, Statistics for Spatial Data, 1993, sections 3.2 and 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from . import _core
from .errors import UsageError, not_positive_definite

#: Columns of a covariance matrix that a thread takes at once.
_BLOCK = 256
#: Correlations computed at once, in two arrays of so many doubles: half a megabyte, a core's second-level cache.
_CACHED = 1 << 15
#: Neighbourhoods that the hyper-parameters are chosen on, and observed points in each.
_NEIGHBOURHOODS, _NEIGHBOURS = 16, 150
_SMOOTHNESSES = (1.5, 2.5)


@dataclass(frozen=True)
class Matern:
    """Correlation by distance; lengths in the unit of the points."""

    smoothness: float
    length: float
    nugget: float

    def correlate(self, distances: np.ndarray, decay: np.ndarray) -> np.ndarray:
        """(1 + s) e^-s, or (1 + s + s^2/3) e^-s with s = sqrt(2 smoothness) d / length. Overwrites both arguments; `decay`
        is room for one more array of that shape."""
        s = distances
        s *= math.sqrt(2 * self.smoothness) / self.length
        np.negative(s, out=decay)
        np.exp(decay, out=decay)
        if self.smoothness == 2.5:
            s += s * s / 3
        s += 1
        s *= decay
        return s

    def between(self, first: np.ndarray, second: np.ndarray, out: np.ndarray) -> None:
        """Correlations into `out`, one row per point of `first`: a few rows at a time, which stay in a core's cache."""
        step = max(1, _CACHED // max(1, len(second)))
        distances, decay = np.empty((2, min(step, len(first)), len(second)))
        for row in range(0, len(first), step):
            count = min(step, len(first) - row)
            cdist(first[row : row + count], second, out=distances[:count])
            out[row : row + count] = self.correlate(distances[:count], decay[:count])

    def matrix(self, points: np.ndarray, threads: int) -> np.ndarray:
        """K, column-major, the lower triangle only (what lies above the diagonal blocks is zero). n^2 doubles, never a
        second matrix."""
        n = len(points)
        K = np.zeros((n, n), order="F")

        def fill(first: int) -> None:
            block = points[first : first + _BLOCK]
            # Rows of the transpose lie together, as columns of K do.
            self.between(block, points[first:], out=K.T[first : first + _BLOCK, first:])

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(0, n, _BLOCK)))
        K[np.diag_indices(n)] = 1 + self.nugget
        return K


@dataclass(frozen=True)
class Fit:
    """A model with all it needs to predict. `weights` has one column."""

    model: Matern
    points: np.ndarray
    mean: float
    variance: float
    weights: np.ndarray


def choose_model(points: np.ndarray, values: np.ndarray, seed: int) -> Matern:
    """Maximises a block composite likelihood over length, nugget and smoothness: the sum of the log-likelihoods of some
    random neighbourhoods, each with its own mean and all with one variance (Eidsvik et al., J. Comput. Graph. Stat. 2014).
    Neighbourhoods show the short distances that predictions live on; only observed points are used."""
    tree = cKDTree(points)
    centres = np.random.default_rng(seed).choice(len(points), min(_NEIGHBOURHOODS, len(points)), replace=False)
    blocks = [tree.query(points[centre], min(_NEIGHBOURS, len(points)))[1] for centre in centres]
    distances = [cdist(points[block], points[block]) for block in blocks]
    heights = [values[block] for block in blocks]
    spacing = math.sqrt(np.prod(np.ptp(points, axis=0)) / len(points))
    start = [math.log(5 * spacing), math.log(0.01)]

    def cost(smoothness: float, logarithms: np.ndarray) -> float:
        length, nugget = np.exp(logarithms)
        if not 1e-8 < nugget < 10:
            return math.inf
        return _composite_cost(Matern(smoothness, length, nugget), distances, heights)

    fits = []
    for smoothness in _SMOOTHNESSES:
        found = minimize(
            lambda q, smoothness=smoothness: cost(smoothness, q), start, method="Nelder-Mead",
            options={"xatol": 0.02, "fatol": 0.1, "maxfev": 200},
        )
        fits.append((float(found.fun), Matern(smoothness, *(float(x) for x in np.exp(found.x)))))
    best, model = min(fits, key=lambda fit: fit[0])
    if not math.isfinite(best):
        raise UsageError("no covariance model fits these points")
    return model


def _composite_cost(model: Matern, distances: list[np.ndarray], heights: list[np.ndarray]) -> float:
    """Minus the log-likelihood, up to a constant, with means and variance at their best."""
    squares = logarithms = 0.0
    count = 0
    for distance, height in zip(distances, heights, strict=True):
        K = np.asfortranarray(model.correlate(distance.copy(), np.empty_like(distance)))
        K[np.diag_indices(len(K))] += model.nugget
        right = right_sides(height)
        if _core.posv(None, "L", K, right):
            return math.inf
        mean, weights = mean_and_weights(right)
        squares += float((height - mean) @ weights[:, 0])
        logarithms += float(np.log(K.diagonal()).sum())
        count += len(height)
    return count / 2 * math.log(squares / count) + logarithms if squares > 0 else math.inf


def right_sides(values: np.ndarray) -> np.ndarray:
    """[z 1]."""
    return np.asfortranarray(np.column_stack([values, np.ones(len(values))]))


def mean_and_weights(solution: np.ndarray) -> tuple[float, np.ndarray]:
    """From K^-1 [z 1]: the mean 1^T K^-1 z / 1^T K^-1 1, and K^-1 (z - mean) as a column."""
    mean = float(solution[:, 0].sum() / solution[:, 1].sum())
    return mean, np.asfortranarray(solution[:, :1] - mean * solution[:, 1:])


def fit(session: Any, model: Matern, K: np.ndarray, points: np.ndarray, values: np.ndarray, right: np.ndarray) -> Fit:
    """Solves K X = right in place by posv: K holds its Cholesky factor afterwards. `right` is right_sides(values)."""
    order = _core.posv(session, "L", K, right)
    if order:
        raise not_positive_definite(order)
    mean, weights = mean_and_weights(right)
    return Fit(model, points, mean, float((values - mean) @ weights[:, 0]) / len(values), weights)


def predict(session: Any, fitted: Fit, places: np.ndarray, threads: int) -> np.ndarray:
    """Predicted heights, the covariances made block by block and multiplied with the weights by gemm."""
    answer = np.empty(len(places))
    for part, block in _covariances(fitted, places, threads):
        product = np.empty((block.shape[1], 1), order="F")
        _core.gemm(session, "T", "N", 1, block, fitted.weights, 0, product)
        answer[part] = fitted.mean + product[:, 0]
    return answer


def standard_errors(session: Any, fitted: Fit, factor: np.ndarray, places: np.ndarray, threads: int) -> np.ndarray:
    """Standard error of a measured height at each place, the noise of the measurement included (simple kriging
    variance): v (1 + g - k^T K^-1 k), from L^-1 k by trsm on a block of places at once; n^2 flops a place."""
    answer = np.empty(len(places))
    for part, block in _covariances(fitted, places, threads):
        _core.trsm(session, "L", "L", "N", "N", 1, factor, block)
        explained = np.einsum("ij,ij->j", block, block)
        answer[part] = np.sqrt(fitted.variance * np.maximum(1 + fitted.model.nugget - explained, 0))
    return answer


def _covariances(fitted: Fit, places: np.ndarray, threads: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Column-major blocks of the covariances between the observed points (rows) and the places (columns), with the places
    they belong to; as many blocks ahead as there are threads."""
    parts = [slice(first, min(first + 4 * _BLOCK, len(places))) for first in range(0, len(places), 4 * _BLOCK)]

    def make(part: slice) -> np.ndarray:
        by_rows = np.empty((part.stop - part.start, len(fitted.points)))
        fitted.model.between(places[part], fitted.points, out=by_rows)
        return by_rows.T

    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(parts), threads):
            batch = parts[first : first + threads]
            yield from zip(batch, pool.map(make, batch), strict=True)
