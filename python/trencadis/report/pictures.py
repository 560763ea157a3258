"""Pictures of a group: what each lever does, alone and together with another. SVG, to stand inside a page."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Sequence
from typing import Any

from ..errors import UsageError
from ..reproduce.charts import COLOURS
from .findings import Configuration, Mean, Metric, mean_of, metrics, shown_level
from .read import Group

#: Pictures of one group at most, and lines in one picture.
MOST_PICTURES = 12
MOST_LINES = len(COLOURS)


def interaction_pictures(group: Group, found: Sequence[Configuration]) -> list[tuple[str, str]]:
    """(title, SVG) of each routine, metric and pair of factors; of a single factor where there is no pair."""
    drawn = []
    factors = [*group.levers(), *(["n"] if len(group.levels("n")) > 1 else [])]
    pairs = list(itertools.combinations(factors, 2)) or [(name, "") for name in factors]
    for routine in group.levels("routine"):
        here = [one for one in found if one.levels["routine"] == routine]
        for metric in metrics(group):
            for first, second in pairs:
                if len(drawn) < MOST_PICTURES and here:
                    x, lines = _axes_of(group, first, second)
                    title = f"{routine}: {metric.name} by {x}" + (f" and {lines}" if lines else "")
                    drawn.append((title, _drawn(group, here, metric, x, lines, title)))
    return drawn


def _axes_of(group: Group, first: str, second: str) -> tuple[str, str]:
    """Numbers go along; else the factor with more levels."""
    if not second:
        return first, ""
    numbers = [all(isinstance(v, int | float) and not isinstance(v, bool) for v in group.levels(f)) for f in (first, second)]
    along = numbers[0] if numbers[0] != numbers[1] else len(group.levels(first)) >= len(group.levels(second))
    return (first, second) if along else (second, first)


def _drawn(group: Group, here: Sequence[Configuration], metric: Metric, x: str, lines: str, title: str) -> str:
    places = group.levels(x)
    with _figure(title) as (figure, axes):
        for number, level in enumerate(group.levels(lines)[:MOST_LINES] if lines else [None]):
            chosen = [one for one in here if not lines or one.levels.get(lines) == level]
            points = [(at, mean) for at, place in enumerate(places) if (mean := _mean_at(chosen, metric, x, place)) is not None]
            if points:
                label = f"{lines} {shown_level(level, lines)}" if lines else None
                axes.errorbar(
                    [at for at, _ in points], [mean.mean for _, mean in points], yerr=_bars([mean for _, mean in points]),
                    color=COLOURS[number % len(COLOURS)], marker="o", markersize=4, capsize=3, linewidth=1.2, label=label,
                )  # fmt: skip
        axes.set_xticks(range(len(places)), [shown_level(place, x) for place in places], rotation=30 if len(places) > 6 else 0)
        axes.set(title=title, xlabel=x, ylabel=metric.unit)
        if lines:
            axes.legend(frameon=False, fontsize=8)
        return _svg_of(figure)


def _mean_at(chosen: Sequence[Configuration], metric: Metric, x: str, place: Any) -> Mean | None:
    """Over all that the picture does not tell apart."""
    values = [value for one in chosen if one.levels.get(x) == place for value in one.values(metric)]
    return mean_of(values) if values else None


def _bars(means: Sequence[Mean]) -> list[list[float]]:
    below = [mean.mean - (mean.mean if mean.low is None else mean.low) for mean in means]
    above = [(mean.mean if mean.high is None else mean.high) - mean.mean for mean in means]
    return [[max(0.0, bar) for bar in below], [max(0.0, bar) for bar in above]]


class _figure:
    def __init__(self, title: str) -> None:
        self._title = title

    def __enter__(self) -> tuple[Any, Any]:
        try:
            import matplotlib as mpl
            from matplotlib.figure import Figure
        except ImportError:
            raise UsageError("-o: pictures need matplotlib: pip install matplotlib") from None
        self._context = mpl.rc_context({"svg.hashsalt": self._title, "font.size": 9, "svg.fonttype": "none"})
        self._context.__enter__()
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        axes.grid(alpha=0.25)
        return figure, axes

    def __exit__(self, *why: Any) -> None:
        self._context.__exit__(*why)


def _svg_of(figure: Any) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    return inside_a_page(text.getvalue())


def inside_a_page(svg: str) -> str:
    """Without what a file of its own needs and a page does not: prolog, metadata, name spaces."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", svg)
    return svg.replace("xlink:href", "href")
