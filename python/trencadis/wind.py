"""`trencadis demo wind`: where the wind blows fastest over the demo's landscape.

The landscape is the one of `trencadis demo`, on a coarser square grid. One dense system that is not symmetric, with two right
sides, our gesv, answers for every direction of the wind.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from .demo import scipy_blas, timed
from .errors import UsageError
from .files import check_writable, write_text
from .ground_wind import Ground, blowing_from, influence, right_sides, solve_flow, speeds, velocities
from .records import who_ran
from .terrain import Terrain, hillshade, read_terrain, save_figure

FEWEST_POINTS, MOST_POINTS = 400, 40000
#: Where the wind of the picture comes from: across the ridges.
_FROM_DEGREES = 270
_DIRECTIONS = 36
#: The share of the map at each side over which the landscape sinks to a plain, because what lies beyond is not known.
_MARGIN = 0.1
_FILES = "wind.png", "wind-solve.svg"


def run_wind(points: int, folder: Path) -> None:
    """Runs the demo, prints its figures and writes wind.png and wind-solve.svg into `folder`."""
    terrain = read_terrain()
    _check_arguments(points, folder)
    session = _core.standard_session()
    options = session.options()
    threads = len(options["workers"])
    ground = coarse_ground(terrain, points)
    rows, columns = ground.heights.shape
    print(f"ground: {rows} x {columns} points, {ground.spacing:.0f} m apart; beyond it, a plain")

    matrix, seconds = timed(lambda: influence(ground, threads))
    n = len(matrix)
    print(f"equations of {n} sources on the ground, dense and not symmetric: {matrix.nbytes / 2**20:.0f} MiB, {seconds:.1f} s")
    sources, trace, ours_s = _solve(session, matrix, ground)
    flops = _core.routine_flops("gesv", False, n, nrhs=2)
    print(
        f"gesv, trencadis: {ours_s:.2f} s, {flops / ours_s / 1e9:.1f} GFlop/s ({options['kernels']} kernels: "
        f"{session.kernels_version}; {who_ran(options)}, {threads} workers)"
    )
    scipy_s, difference = _solve_by_scipy(matrix, right_sides(ground), sources)
    del matrix
    print(
        f"the same solve, scipy.linalg.lu_factor and lu_solve: {scipy_s:.2f} s, {flops / scipy_s / 1e9:.1f} GFlop/s "
        f"({scipy_blas()}); trencadis is {scipy_s / ours_s:.2f} times as fast (one run each); sources differ by {difference:.1e} "
        "relatively"
    )
    velocity, seconds = timed(lambda: velocities(session, ground, sources, threads))
    mean = np.mean([speeds(ground, blowing_from(velocity, 360 * k / _DIRECTIONS)) for k in range(_DIRECTIONS)], axis=0)
    print(f"wind from {_DIRECTIONS} directions by superposition of two, {seconds:.1f} s")
    _print_extremes(ground, mean)

    folder.mkdir(parents=True, exist_ok=True)
    draw_wind(terrain, ground, blowing_from(velocity, _FROM_DEGREES), mean, folder / _FILES[0])
    write_text(folder / _FILES[1], trace.svg("kernel"))
    print(f"wrote {folder / _FILES[0]}: speed and course of a wind from the west; mean speed of all directions")
    print(f"wrote {folder / _FILES[1]}: which core computed what when")


def coarse_ground(terrain: Terrain, points: int) -> Ground:
    """The landscape on a square grid of about so many points, smoothed to what such a grid can show."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    rows, columns = terrain.heights.shape
    west, east, south, north = (1000 * edge for edge in terrain.extent)
    spacing = float(np.sqrt((east - west) * (north - south) / points))
    steps = (north - south) / (rows - 1), (east - west) / (columns - 1)
    smooth = gaussian_filter(terrain.heights, [0.6 * spacing / step for step in steps], mode="nearest")
    # Whole steps from the north-west; less than one is left over in the south and the east.
    sides = zip((rows, columns), steps, strict=True)
    at = [np.arange(int((count - 1) * step / spacing) + 1) * spacing / step for count, step in sides]
    heights = map_coordinates(smooth, np.meshgrid(*at, indexing="ij"), order=3, mode="nearest")
    return Ground(_sunk_at_the_sides(heights), spacing)


def inner_part(extent: int) -> slice:
    """The rows, or columns, that have not been sunk."""
    margin = int(np.ceil(_MARGIN * (extent - 1)))
    return slice(margin, extent - margin)


def _sunk_at_the_sides(heights: np.ndarray) -> np.ndarray:
    plain = np.median(heights)

    def weights(count: int) -> np.ndarray:
        from_side = np.minimum(np.arange(count), np.arange(count)[::-1]) / (_MARGIN * (count - 1))
        return 0.5 - 0.5 * np.cos(np.pi * np.minimum(from_side, 1))

    return plain + (heights - plain) * np.outer(weights(heights.shape[0]), weights(heights.shape[1]))


def _check_arguments(points: int, folder: Path) -> None:
    if not FEWEST_POINTS <= points <= MOST_POINTS:
        raise UsageError(f"--points: {points} is not between {FEWEST_POINTS} and {MOST_POINTS}")
    # Two square matrices at once: the equations and their factors.
    needed, available = 2.2 * 8 * points**2, _core.available_memory()
    if needed > available:
        raise MemoryError(f"--points {points} needs {needed / 2**30:.1f} GiB; {available / 2**30:.1f} GiB are available")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o: '{folder}' exists and is not a folder")
    for name in _FILES:
        if folder.is_dir():
            check_writable(folder / name)
    if not folder.is_dir() and not folder.absolute().parent.is_dir():
        raise UsageError(f"-o: there is no folder {folder.absolute().parent} to make '{folder.name}' in")


def _solve(session: Any, matrix: np.ndarray, ground: Ground) -> tuple[np.ndarray, Any, float]:
    """The sources, the trace of the solve and its seconds. The matrix is kept for the comparison."""
    factors, sources = matrix.copy(order="F"), right_sides(ground)
    session.start_trace()
    try:
        _, seconds = timed(lambda: solve_flow(session, factors, sources))
    finally:
        trace = session.stop_trace(f"gesv n={len(factors)}: wind over hills")
    return sources, trace, seconds


def _solve_by_scipy(matrix: np.ndarray, right: np.ndarray, ours: np.ndarray) -> tuple[float, float]:
    """Seconds of the same solve, in place as ours, and the relative difference of the solutions."""
    from scipy.linalg import lu_factor, lu_solve

    def solve() -> np.ndarray:
        factors = lu_factor(matrix, overwrite_a=True, check_finite=False)
        return lu_solve(factors, right, overwrite_b=True, check_finite=False)

    theirs, seconds = timed(solve)
    return seconds, float(np.linalg.norm(theirs - ours) / np.linalg.norm(ours))


def _print_extremes(ground: Ground, mean: np.ndarray) -> None:
    rows, columns = (inner_part(extent) for extent in mean.shape)
    inner, heights = mean[rows, columns], ground.heights[rows, columns]
    fastest, slowest = (np.unravel_index(place, inner.shape) for place in (inner.argmax(), inner.argmin()))
    correlation = np.corrcoef(inner.ravel(), heights.ravel())[0, 1]
    print(
        f"mean of all directions, of the wind far away: {100 * inner[fastest]:.0f} % at {heights[fastest]:.0f} m, "
        f"{100 * inner[slowest]:.0f} % at {heights[slowest]:.0f} m; correlation with the height {correlation:.2f}"
    )


def draw_wind(terrain: Terrain, ground: Ground, wind: np.ndarray, mean: np.ndarray, path: Path) -> None:
    """The one wind with its course, and the mean of all, as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 8.2), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    fields = speeds(ground, wind), mean
    inner = tuple(inner_part(extent) for extent in mean.shape)
    low, high = (float(np.quantile([field[inner] for field in fields], q)) for q in (0.002, 0.998))
    headings = "Wind from the west: speed and course along the ground", f"Mean speed of the wind from {_DIRECTIONS} directions"
    for axis, field, heading in zip(axes, fields, headings, strict=True):
        picture = _draw_speed(axis, terrain, ground, field, low, high)
        axis.set_title(heading)
        axis.set_xlabel("east (km)")
    _draw_course(axes[0], ground, wind)
    _mark_windiest(axes[1], ground, mean)
    axes[0].set_ylabel("north (km)")
    bar = figure.colorbar(picture, ax=axes, label="speed along the ground / speed of the wind far away", shrink=0.75, aspect=35)
    bar.ax.set_yscale("linear")
    save_figure(figure, path)


def _inner_edges(ground: Ground) -> tuple[float, float, float, float]:
    """West, east, south, north of what is shown, in km."""
    rows, columns = (inner_part(extent) for extent in ground.heights.shape)
    edges = columns.start, columns.stop - 1, -(rows.stop - 1), -rows.start
    return tuple(edge * ground.spacing / 1000 for edge in edges)  # type: ignore[return-value]


def _draw_speed(axis: Any, terrain: Terrain, ground: Ground, field: np.ndarray, low: float, high: float) -> Any:
    """The field in colours, lit as the landscape is; returns what a colour bar needs."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import TwoSlopeNorm
    from scipy.ndimage import map_coordinates

    colours = ScalarMappable(TwoSlopeNorm(1, min(low, 0.99), max(high, 1.01)), colormaps["Spectral_r"])
    rows, columns = terrain.heights.shape
    west, east, south, north = terrain.extent
    down = np.linspace(0, (north - south) * 1000, rows) / ground.spacing
    right = np.linspace(0, (east - west) * 1000, columns) / ground.spacing
    fine = map_coordinates(field, np.meshgrid(down, right, indexing="ij"), order=3, mode="nearest")
    image = hillshade(terrain, colours.to_rgba(fine)[..., :3])
    axis.imshow(image, extent=terrain.extent, interpolation="bilinear")
    edges = _inner_edges(ground)
    axis.set_xlim(edges[:2])
    axis.set_ylim(edges[2:])
    return colours


def _draw_course(axis: Any, ground: Ground, wind: np.ndarray) -> None:
    rows, columns = ground.heights.shape
    east, north = np.arange(columns) * ground.spacing / 1000, -np.arange(rows)[::-1] * ground.spacing / 1000
    edges = _inner_edges(ground)
    starts = [(edges[0], y) for y in np.linspace(edges[2], edges[3], 22)[1:-1]]
    course = axis.streamplot(
        east, north, wind[0][::-1], wind[1][::-1], start_points=starts, density=20, color="black", linewidth=0.7, arrowstyle="-"
    )
    course.lines.set_alpha(0.5)
    tip, tail = ((edges[0] + x, edges[3] - 1.2) for x in (4.2, 0.7))
    axis.annotate("", tip, tail, arrowprops={"width": 5, "headwidth": 16, "facecolor": "white", "edgecolor": "black"})


def _mark_windiest(axis: Any, ground: Ground, mean: np.ndarray, count: int = 6) -> None:
    """The tops of the field, the highest ones, with the height of the ground."""
    from scipy.ndimage import maximum_filter

    inside = np.zeros(mean.shape, bool)
    inside[tuple(slice(part.start + 2, part.stop - 2) for part in map(inner_part, mean.shape))] = True
    tops = np.argwhere((mean == maximum_filter(mean, 7)) & inside)
    for row, column in sorted(tops, key=lambda top: -mean[tuple(top)])[:count]:
        at = column * ground.spacing / 1000, -row * ground.spacing / 1000
        axis.plot(*at, "o", markersize=5, markerfacecolor="white", markeredgecolor="black")
        axis.annotate(
            f"{100 * mean[row, column]:.0f} %", at, xytext=(6, 4), textcoords="offset points", fontsize=9, fontweight="bold"
        )
