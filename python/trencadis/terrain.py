"""The demo's landscape: read from matplotlib, and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import UsageError

#: Metres per degree of latitude.
_DEGREE_M = 111_200.0


@dataclass(frozen=True)
class Terrain:
    """Heights on a grid, row by row from the north, and the places they belong to, all in metres."""

    heights: np.ndarray
    places: np.ndarray
    extent: tuple[float, float, float, float]


def read_terrain() -> Terrain:
    """The elevation model out of matplotlib; UsageError when it is not there."""
    try:
        from matplotlib.cbook import get_sample_data

        with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as model:
            heights = model["elevation"].astype(np.float64)
            step_x, step_y, south, north = (float(model[key]) for key in ("dx", "dy", "ymin", "ymax"))
    except ImportError:
        raise UsageError("the demo needs matplotlib: pip install matplotlib") from None
    except (OSError, KeyError):
        message = "this matplotlib came without its sample data jacksboro_fault_dem.npz; PyPI's has it: pip install matplotlib"
        raise UsageError(message) from None
    rows, columns = heights.shape
    east = np.arange(columns) * step_x * _DEGREE_M * np.cos(np.radians((south + north) / 2))
    down = np.arange(rows) * step_y * _DEGREE_M
    places = np.stack(np.broadcast_arrays(east[None, :], -down[:, None]), axis=-1).reshape(-1, 2)
    return Terrain(heights, places, (0, east[-1] / 1000, -down[-1] / 1000, 0))


def draw_terrain(terrain: Terrain, observed: np.ndarray, prediction: np.ndarray, path: Path) -> None:
    """Truth, measurements, prediction and error side by side, as PNG. `observed` numbers the measured places, `prediction` has
    a height for each place."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 11.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    _draw_shaded(axes[0, 0], terrain, terrain.heights, "Truth: the elevation model")
    _draw_measurements(figure, axes[0, 1], terrain, observed)
    _draw_shaded(axes[1, 0], terrain, prediction.reshape(terrain.heights.shape), "Kriging from the measurements alone")
    _draw_error(figure, axes[1, 1], terrain, observed, prediction)
    for axis in axes[1]:
        axis.set_xlabel("east (km)")
    for axis in axes[:, 0]:
        axis.set_ylabel("north (km)")
    save_figure(figure, path)


def _colours(terrain: Terrain) -> dict[str, Any]:
    """One scale for all pictures of heights. Its darkest and lightest ends, sea and snow, are left out."""
    return {"cmap": "gist_earth", "vmin": terrain.heights.min() - 150, "vmax": terrain.heights.max() + 100}


def _draw_shaded(axis: Any, terrain: Terrain, heights: np.ndarray, heading: str) -> None:
    """Lit from the north-west."""
    from matplotlib import colormaps
    from matplotlib.colors import LightSource

    colours = _colours(terrain)
    colours["cmap"] = colormaps[colours["cmap"]]
    image = LightSource(azdeg=315, altdeg=45).shade(heights, blend_mode="overlay", vert_exag=2, **_steps(terrain), **colours)
    axis.imshow(image, extent=terrain.extent)
    axis.set_title(heading)


def _draw_measurements(figure: Any, axis: Any, terrain: Terrain, observed: np.ndarray) -> None:
    at = terrain.places[observed] / 1000
    size = max(1.0, 16000 / len(at))
    dots = axis.scatter(at[:, 0], at[:, 1], c=terrain.heights.ravel()[observed], s=size, linewidths=0, **_colours(terrain))
    axis.set_title(f"The {len(observed)} measured heights")
    axis.set_aspect("equal")
    figure.colorbar(dots, ax=axis, label="height (m)", shrink=0.8)


def _draw_error(figure: Any, axis: Any, terrain: Terrain, observed: np.ndarray, prediction: np.ndarray) -> None:
    error = prediction - terrain.heights.ravel()
    held_out = np.delete(error, observed)
    bound = float(np.quantile(np.abs(held_out), 0.99))
    picture = axis.imshow(error.reshape(terrain.heights.shape), extent=terrain.extent, cmap="RdBu_r", vmin=-bound, vmax=bound)
    axis.set_title(f"Prediction - truth, root mean square {np.sqrt(np.mean(held_out**2)):.1f} m where not measured")
    figure.colorbar(picture, ax=axis, label="error (m)", shrink=0.8)


def hillshade(terrain: Terrain, colours: np.ndarray) -> np.ndarray:
    """An image of the landscape in these colours, one per height, lit from the north-west."""
    from matplotlib.colors import LightSource

    light = LightSource(azdeg=315, altdeg=45)
    return light.shade_rgb(colours, terrain.heights, blend_mode="soft", vert_exag=3, **_steps(terrain))


def _steps(terrain: Terrain) -> dict[str, float]:
    """Metres between the heights."""
    rows, columns = terrain.heights.shape
    west, east, south, north = terrain.extent
    return {"dx": 1000 * (east - west) / (columns - 1), "dy": 1000 * (north - south) / (rows - 1)}


def save_figure(figure: Any, path: Path) -> None:
    """Whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        figure.savefig(partial, dpi=110, format="png")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
