"""Wind over hills as potential flow, by sources on the ground, for `trencadis demo wind`.

Air without friction that blows with U far away, and along the ground there: u = U + grad phi with sources s on the ground,
phi(x) = -1/(4 pi) int s(y) / |x - y| dS(y). That u n = 0 for the ground's normal n is the equation of the second kind

    s(x)/2 + int s(y) n(x) (x - y) / (4 pi |x - y|^3) dS(y) = -U n(x).

The ground is a square grid of points, one unknown each; the matrix is dense and not symmetric. Integrals are sums over the grid
with the lattice's own constant for the singular point (Marin, Runborg, Tornberg 2014). Sources on a surface: Hess and Smith 1967;
wind over low hills: Jackson and Hunt 1975.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import _core
from .errors import LinAlgError

#: Minus the sum of 1/r over the square lattice without the origin, less its integral: 4 zeta(1/2) beta(1/2).
_LATTICE = 3.900264920001956
#: Elements computed at once, in a handful of arrays: they stay in a core's second-level cache.
_CACHED = 1 << 14


@dataclass(frozen=True)
class Ground:
    """Heights over a square grid, row by row from the north; metres. Points are numbered along the rows."""

    heights: np.ndarray
    spacing: float

    @cached_property
    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """To the east and to the north."""
        south, east = np.gradient(self.heights, self.spacing)
        return east, -south

    @cached_property
    def points(self) -> np.ndarray:
        rows, columns = self.heights.shape
        east, north = np.meshgrid(np.arange(columns) * self.spacing, -np.arange(rows) * self.spacing)
        return np.column_stack([east.ravel(), north.ravel(), self.heights.ravel()])

    @cached_property
    def normals(self) -> np.ndarray:
        """Upward, and as long as the ground is larger than the map."""
        east, north = (slope.ravel() for slope in self.slopes)
        return np.column_stack([-east, -north, np.ones(east.size)])

    @cached_property
    def curvature(self) -> np.ndarray:
        """The sum of the second derivatives."""
        east, north = self.slopes
        return (np.gradient(east, self.spacing, axis=1) - np.gradient(north, self.spacing, axis=0)).ravel()


def influence(ground: Ground, threads: int) -> np.ndarray:
    """The matrix, column-major: row i is the equation at point i, the unknowns are sources per area of the map."""
    points, normals = ground.points, ground.normals
    sizes = np.linalg.norm(normals, axis=1)
    area = ground.spacing**2 / (4 * math.pi)

    def columns(sources: slice, out: np.ndarray) -> None:
        difference = [points[None, :, axis] - points[sources, None, axis] for axis in range(3)]
        squares = sum(d * d for d in difference)
        along = sum(normals[None, :, axis] * difference[axis] for axis in range(3))
        with np.errstate(invalid="ignore", divide="ignore"):
            np.divide(area * along, squares * np.sqrt(squares) * sizes[None, :], out=out)

    matrix = _by_columns(columns, len(points), threads)
    # Near x the integrand is that of the parabola that touches the ground there: half the lattice's constant for each direction.
    singular = -ground.spacing / (4 * math.pi) * _LATTICE / 4 * ground.curvature
    matrix[np.diag_indices(len(points))] = 0.5 / sizes + singular / sizes
    return matrix


def right_sides(ground: Ground) -> np.ndarray:
    """For wind to the east and wind to the north; all others are their sums."""
    normals = ground.normals
    return np.asfortranarray(-normals[:, :2] / np.linalg.norm(normals, axis=1)[:, None])


def solve_flow(session: Any, matrix: np.ndarray, right: np.ndarray) -> None:
    """Sources in place of `right`, by gesv: the matrix holds its LU factors afterwards."""
    n = len(matrix)
    info = _core.lapack("gesv", session, n, right.shape[1], matrix, np.empty(n, np.int64), right)
    if info:
        raise LinAlgError(f"pivot {info} of the wind's equations is exactly zero")


def velocities(session: Any, ground: Ground, sources: np.ndarray, threads: int) -> np.ndarray:
    """Along the ground, by the gradient of the potential: [flow, component, row, column]; the components are those on the map, to
    the east and to the north."""
    potential = _potential(session, ground, sources, threads)
    east, north = ground.slopes
    flows = []
    for flow in range(2):
        total = (potential[:, flow] + ground.points[:, flow]).reshape(ground.heights.shape)
        down, right = np.gradient(total, ground.spacing)
        # The inverse of the metric 1 + slope slope^T.
        share = (east * right - north * down) / (1 + east * east + north * north)
        flows.append(np.stack([right - share * east, -down - share * north]))
    return np.stack(flows)


def speeds(ground: Ground, velocity: np.ndarray) -> np.ndarray:
    """Along the ground, for [component, row, column] or a stack of such."""
    east, north = velocity[..., 0, :, :], velocity[..., 1, :, :]
    up = ground.slopes[0] * east + ground.slopes[1] * north
    return np.sqrt(east * east + north * north + up * up)


def blowing_from(velocity: np.ndarray, degrees: float) -> np.ndarray:
    """Of the two flows that of the wind from a direction of the compass, speed 1 far away."""
    angle = math.radians(degrees)
    return -math.sin(angle) * velocity[0] - math.cos(angle) * velocity[1]


def _potential(session: Any, ground: Ground, sources: np.ndarray, threads: int) -> np.ndarray:
    points = ground.points
    area = -(ground.spacing**2) / (4 * math.pi)
    sizes = np.linalg.norm(ground.normals, axis=1)

    def columns(chosen: slice, out: np.ndarray) -> None:
        squares = sum((points[None, :, axis] - points[chosen, None, axis]) ** 2 for axis in range(3))
        with np.errstate(divide="ignore"):
            np.divide(area, np.sqrt(squares), out=out)

    matrix = _by_columns(columns, len(points), threads)
    # In the tangent plane the lattice is stretched along the slope; to first order in its square as if by the mean of both sides.
    slope_squared = sizes**2 - 1
    matrix[np.diag_indices(len(points))] = -ground.spacing / (4 * math.pi) * _LATTICE * (1 - slope_squared / 4)
    answer = np.empty(sources.shape, order="F")
    _core.gemm(session, "N", "N", 1, matrix, sources, 0, answer)
    return answer


def _by_columns(fill: Callable[[slice, np.ndarray], None], n: int, threads: int) -> np.ndarray:
    """A column-major matrix, some columns at a time; `fill` writes them as rows of its transpose."""
    matrix = np.empty((n, n), order="F")
    step = max(1, _CACHED // n)

    def block(first: int) -> None:
        chosen = slice(first, min(n, first + step))
        fill(chosen, matrix.T[chosen])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(block, range(0, n, step)))
    return matrix
