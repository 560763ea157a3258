"""`trencadis demo`: the heights of a landscape from scattered measurements, by kriging.

The landscape is the digital elevation model of the Jacksboro fault (Tennessee) that ships with matplotlib: 344 x 403
heights on a grid of about 74 m x 93 m. Some of them, drawn at random, are the measurements; all others are held out and
predicted. The weights come from one dense positive definite solve, our posv.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy

from . import _core
from .errors import UsageError
from .files import check_writable, write_text
from .kriging import Fit, Matern, choose_model, fit, predict, right_sides, standard_errors
from .records import who_ran
from .terrain import Terrain, draw_terrain, read_terrain

FEWEST_POINTS = 50
#: Held-out points whose standard errors are checked: each costs n^2 flops.
_CHECKED_ERRORS = 2000

Value = TypeVar("Value")


def run_demo(points: int, folder: Path, seed: int) -> None:
    """Runs the demo, prints its figures and writes terrain.png and solve.svg into `folder`."""
    terrain = read_terrain()
    _check_arguments(terrain, points, folder)
    session = _core.standard_session()
    options = session.options()
    threads = len(options["workers"])
    print(f"elevation model: {terrain.heights.size} heights from {terrain.heights.min():.0f} to {terrain.heights.max():.0f} m")

    order = np.random.default_rng(seed).permutation(terrain.heights.size)
    observed, held_out = order[:points], order[points:]
    at, values = terrain.places[observed], terrain.heights.ravel()[observed]
    model, seconds = timed(lambda: choose_model(at, values, seed))
    print(
        f"model: Matern {2 * model.smoothness:.0f}/2, length {model.length:.0f} m, nugget {model.nugget:.2g} of the variance; "
        f"maximum composite likelihood on the observed points, {seconds:.1f} s"
    )
    K, seconds = timed(lambda: model.matrix(at, threads))
    print(f"covariance of {points} observed points: {K.nbytes / 2**20:.0f} MiB, {seconds:.1f} s")

    fitted, factor, trace, ours_s = _solve(session, model, K, at, values)
    flops = _core.routine_flops("posv", False, points, nrhs=2)
    print(
        f"posv, trencadis: {ours_s:.2f} s, {flops / ours_s / 1e9:.1f} GFlop/s ({options['kernels']} kernels: "
        f"{session.kernels_version}; {who_ran(options)}, {threads} workers)"
    )
    prediction, predict_s = timed(lambda: predict(session, fitted, terrain.places, threads))
    print_accuracy(terrain, observed, held_out, prediction, predict_s)
    print_calibration(session, fitted, factor, terrain, held_out[:_CHECKED_ERRORS], prediction, threads)
    del factor
    scipy_s, difference = _solve_by_scipy(K, values, fitted)
    print(
        f"the same solve, scipy.linalg.cho_factor and cho_solve: {scipy_s:.2f} s, {flops / scipy_s / 1e9:.1f} GFlop/s "
        f"({scipy_blas()}); trencadis is {scipy_s / ours_s:.2f} times as fast (one run each); weights differ by {difference:.1e} "
        "relatively"
    )

    folder.mkdir(parents=True, exist_ok=True)
    draw_terrain(terrain, observed, prediction, folder / "terrain.png")
    write_text(folder / "solve.svg", trace.svg("kernel"))
    print(f"wrote {folder / 'terrain.png'}: truth, measurements, prediction, error")
    print(f"wrote {folder / 'solve.svg'}: which core computed what when")


def timed(call: Callable[[], Value]) -> tuple[Value, float]:
    begin = time.perf_counter()
    value = call()
    return value, time.perf_counter() - begin


def _check_arguments(terrain: Terrain, points: int, folder: Path) -> None:
    most = terrain.heights.size // 2
    if not FEWEST_POINTS <= points <= most:
        raise UsageError(f"--points: {points} is not between {FEWEST_POINTS} and {most}, half of the elevation model")
    # Two square matrices at once: the covariance and its factor, or the copy that SciPy solves with.
    needed, available = 2.2 * 8 * points**2, _core.available_memory()
    if needed > available:
        raise MemoryError(f"--points {points} needs {needed / 2**30:.1f} GiB; {available / 2**30:.1f} GiB are available")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o: '{folder}' exists and is not a folder")
    for name in ("terrain.png", "solve.svg"):
        if folder.is_dir():
            check_writable(folder / name)
    if not folder.is_dir() and not folder.absolute().parent.is_dir():
        raise UsageError(f"-o: there is no folder {folder.absolute().parent} to make '{folder.name}' in")


def _solve(
    session: Any, model: Matern, K: np.ndarray, at: np.ndarray, values: np.ndarray
) -> tuple[Fit, np.ndarray, Any, float]:
    """The fit, the factor, the trace of the solve and its seconds. K is kept for the comparison."""
    factor, right = K.copy(order="F"), right_sides(values)
    session.start_trace()
    try:
        fitted, seconds = timed(lambda: fit(session, model, factor, at, values, right))
    finally:
        trace = session.stop_trace(f"posv n={len(at)}: kriging weights")
    return fitted, factor, trace, seconds


def _solve_by_scipy(K: np.ndarray, values: np.ndarray, fitted: Fit) -> tuple[float, float]:
    """Seconds of the same solve, in place as ours, and the relative difference of the weights."""
    from scipy.linalg import cho_factor, cho_solve

    right = right_sides(values)

    def solve() -> np.ndarray:
        factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        return cho_solve(factor, right, overwrite_b=True, check_finite=False)

    solution, seconds = timed(solve)
    weights = solution[:, :1] - fitted.mean * solution[:, 1:]
    return seconds, float(np.linalg.norm(weights - fitted.weights) / np.linalg.norm(weights))


def scipy_blas() -> str:
    """SciPy's version, and the BLAS in its wheel with its threads, as threadpoolctl finds them."""
    from threadpoolctl import threadpool_info

    for pool in threadpool_info():
        if Path(pool["filepath"]).parent.name == "scipy.libs":
            words = (pool["internal_api"], pool["version"], pool.get("architecture"), f"{pool['num_threads']} threads")
            return f"SciPy {scipy.__version__}: {' '.join(filter(None, words))}"
    return f"SciPy {scipy.__version__}"


def print_accuracy(
    terrain: Terrain, observed: np.ndarray, held_out: np.ndarray, prediction: np.ndarray, seconds: float,
) -> None:
    """Root mean square errors at the held-out places that SciPy's triangulation covers, ours and its."""
    from scipy.interpolate import LinearNDInterpolator

    truth = terrain.heights.ravel()
    linear = LinearNDInterpolator(terrain.places[observed], truth[observed])(terrain.places[held_out])
    covered = ~np.isnan(linear)

    def error(heights: np.ndarray) -> float:
        return float(np.sqrt(np.mean((heights - truth[held_out])[covered] ** 2)))

    ours, theirs = error(prediction[held_out]), error(linear)
    print(f"predicted {len(prediction)} heights by gemm with the weights, block by block, {seconds:.1f} s")
    print(
        f"error at {int(covered.sum())} held-out points (root mean square): kriging {ours:.2f} m, "
        f"scipy LinearNDInterpolator {theirs:.2f} m, {100 * (1 - ours / theirs):.0f} % less"
    )


def print_calibration(
    session: Any, fitted: Fit, factor: np.ndarray, terrain: Terrain, chosen: np.ndarray,
    prediction: np.ndarray, threads: int,
) -> None:
    """How often the truth lies within the predicted 95 % interval."""
    errors, seconds = timed(lambda: standard_errors(session, fitted, factor, terrain.places[chosen], threads))
    off = np.abs(prediction[chosen] - terrain.heights.ravel()[chosen])
    within = 100 * float(np.mean(off <= 1.96 * errors))
    print(
        f"predicted standard error {np.median(errors):.1f} m (median); {within:.1f} % of {len(chosen)} held-out heights lie "
        f"within their 95 % interval; by trsm with the factor, {seconds:.1f} s"
    )
