"""What is a cliff: a point that is slower than it should be by its neighbours or by another leading dimension. Pure.

A point is a cliff when its speed is below BOUND of the median of its neighbours' (up to two orders on either side, the leading
dimension chosen by the same rule), or below BOUND of the best leading dimension's at its order. Where the speed still grows with
the order that is no cliff: the neighbours count for no more than the fastest of the smaller ones. Nor is it one where others had
the processor in most of the turns: that only makes slower, and cannot be told from a cliff.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .grid import Grid, Point

BOUND = 0.9
#: How often what is below the bound is measured again before it is called a cliff.
CONFIRMATIONS = 3



class Speed(NamedTuple):
    """`sure`: nobody else had the processor in most of the turns."""

    gflops: float
    sure: bool = True


Speeds = Mapping[Point, Speed]


@dataclass(frozen=True)
class Verdict:
    """`neighbours`: the speed that they ask for, null where there is none to be compared with; `median`: of their speeds."""

    speed: float
    sure: bool
    median: float | None
    neighbours: float | None
    best: Point
    best_speed: float

    @property
    def neighbours_ratio(self) -> float | None:
        return None if self.neighbours is None else self.speed / self.neighbours

    @property
    def best_ratio(self) -> float:
        return self.speed / self.best_speed

    @property
    def ratio(self) -> float:
        """The lesser one."""
        return min(self.best_ratio, self.neighbours_ratio or self.best_ratio)

    @property
    def below(self) -> bool:
        return self.ratio < BOUND


def judge(grid: Grid, speeds: Speeds, point: Point) -> Verdict:
    """By the rule of the point's leading dimension that asks for most."""
    asked: list[tuple[float, float]] = []
    for near in grid.neighbours(point):
        if near.below:
            median = statistics.median(speeds[p].gflops for p in near.all())
            asked.append((min(median, max(speeds[p].gflops for p in near.below)), median))
    neighbours, median = max(asked, default=(None, None))
    best = max(grid.at(point.n), key=lambda other: speeds[other].gflops)
    return Verdict(*speeds[point], median, neighbours, best, speeds[best].gflops)


@dataclass(frozen=True)
class Outcome:
    """What is said of a point in the end. `measured` counts the times, the first one included."""

    verdict: Verdict
    measured: int

    @property
    def cliff(self) -> bool:
        return self.verdict.below and self.verdict.sure


def confirm(grid: Grid, speeds: Speeds, again: Callable[[list[Point]], Speeds]) -> dict[Point, Outcome]:
    """The outcome of every point. `again` measures points once more, interleaved with all that they are compared with, and
    answers the speeds of all these; a point that is not below the bound then was slow by accident."""
    outcomes = {point: Outcome(judge(grid, speeds, point), 1) for point in grid.points}
    suspects = [point for point, outcome in outcomes.items() if outcome.verdict.below]
    for attempt in range(CONFIRMATIONS):
        if not suspects:
            break
        speeds = {**speeds, **again(suspects)}
        for point in suspects:
            outcomes[point] = Outcome(judge(grid, speeds, point), attempt + 2)
        suspects = [point for point in suspects if outcomes[point].verdict.below]
    return outcomes

