"""Pictures of a group: what each lever does, alone and together with another. SVG, to stand inside a page."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import UsageError
from ..reproduce.charts import COLOURS
from .findings import Configuration, Mean, Metric, mean_of, metrics, shown_level
from .read import Group

#: Pictures of one group at most, and lines in one picture.
MOST_PICTURES = 12
MOST_LINES = len(COLOURS)

T = TypeVar("T")


@dataclass(frozen=True)
class _Wanted:
    """A picture: a metric of a routine by two factors; the second may be none."""

    routine: str
    metric: Metric
    x: str
    lines: str

    def title(self) -> str:
        return f"{self.routine}: {self.metric.name} by {self.x}" + (f" and {self.lines}" if self.lines else "")


def interaction_pictures(group: Group, found: Sequence[Configuration]) -> tuple[list[tuple[str, str]], list[str]]:
    """(title, SVG) of each routine, metric and pair of factors; of a single factor where there is no pair. And what was left out:
    pictures behind the most, of which each routine has its share, and lines."""
    by_routine: dict[str, list[Configuration]] = {}
    for one in found:
        by_routine.setdefault(one.levels["routine"], []).append(one)
    chosen, left_out = shares({routine: _wanted_of(group, routine) for routine in by_routine}, MOST_PICTURES)
    drawn, notes = [], []
    for wanted in itertools.chain.from_iterable(chosen.values()):
        here = by_routine[wanted.routine]
        drawn.append((wanted.title(), _drawn(group, here, wanted.metric, wanted.x, wanted.lines, wanted.title())))
        notes += _lines_left_out(group, wanted)
    missing = [_said_of(routine, wanted) for routine, wanted in left_out.items() if wanted]
    if missing:
        count = sum(map(len, left_out.values()))
        notes.insert(0, f"pictures: {len(drawn)} are drawn, {count} left out: {'; '.join(missing)}")
    return drawn, notes


def shares(queues: Mapping[str, Sequence[T]], most: int) -> tuple[dict[str, list[T]], dict[str, list[T]]]:
    """So many of all together, of each in turn while it has some, and what is left of each."""
    turns = itertools.chain.from_iterable(
        itertools.zip_longest(*([(name, one) for one in queue] for name, queue in queues.items()))
    )
    chosen: dict[str, list[T]] = {name: [] for name in queues}
    for name, one in itertools.islice((turn for turn in turns if turn is not None), most):
        chosen[name].append(one)
    return chosen, {name: list(queue[len(chosen[name]) :]) for name, queue in queues.items()}


def _wanted_of(group: Group, routine: str) -> list[_Wanted]:
    factors = [*group.levers(), *(["n"] if len(group.levels("n")) > 1 else [])]
    pairs = list(itertools.combinations(factors, 2)) or [(name, "") for name in factors]
    return [_Wanted(routine, metric, *_axes_of(group, *pair)) for metric in metrics(group) for pair in pairs]


def _said_of(routine: str, left_out: Sequence[_Wanted]) -> str:
    """ "potrf speed by n and turbo, n and nb, energy dram by ..."."""
    by_metric: dict[str, list[str]] = {}
    for one in left_out:
        by_metric.setdefault(one.metric.name, []).append(one.x + (f" and {one.lines}" if one.lines else ""))
    return f"{routine} " + ", ".join(f"{metric} by {', '.join(axes)}" for metric, axes in by_metric.items())


def _lines_left_out(group: Group, one: _Wanted) -> list[str]:
    rest = group.levels(one.lines)[MOST_LINES:] if one.lines else []
    levels = ", ".join(shown_level(level, one.lines) for level in rest)
    return [f"picture '{one.title()}': has {MOST_LINES} lines, and none for {one.lines} {levels}"] if rest else []


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
