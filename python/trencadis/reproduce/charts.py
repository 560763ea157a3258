"""Scaling curves, ours beside the published points."""

from __future__ import annotations

import io
from pathlib import Path

from ..errors import UsageError
from ..files import write_text
from .gallery import Chart

#: Told apart also by who does not see red from green (Okabe, Ito 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
_MARKERS = "os^Dv<>P"


def draw(chart: Chart, folder: Path) -> Path:
    """Writes the chart as SVG; returns the file. UsageError when matplotlib is not there."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("-o: the charts need matplotlib: pip install matplotlib") from None
    with mpl.rc_context({"svg.hashsalt": chart.name, "font.size": 10}):
        figure = Figure(figsize=(8.5, 5.2), layout="constrained")
        axes = figure.subplots()
        for number, curve in enumerate(chart.curves):
            colour, marker = COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]
            if curve.points:
                axes.plot(*zip(*curve.points, strict=True), color=colour, marker=marker, markersize=4, label=curve.label)
            if curve.published:
                style = {"linestyle": "none", "marker": marker, "markersize": 9, "fillstyle": "none"}
                label = f"{curve.label}, published"
                axes.plot(*zip(*curve.published, strict=True), color=colour, label=label, **style)
        if chart.baseline is not None:
            axes.axhline(chart.baseline, color="#888888", linewidth=0.8)
        axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=9)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    path = folder / f"{chart.name}.svg"
    write_text(path, text.getvalue())
    return path
