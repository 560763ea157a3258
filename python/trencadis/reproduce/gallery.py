"""What a gallery is made of, and running one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from .. import _core
from ..seeds import Simulate, mean_record, over_seeds, runs
from ..simulations import Progress, Simulation, simulate_all

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One simulated configuration of a gallery. `labels` begin its row; `timeline` names the pictures of its run, if it has
    some."""

    simulation: Simulation
    labels: dict[str, Any] = field(default_factory=dict)
    timeline: str = ""


@dataclass(frozen=True)
class Curve:
    """One line of a chart; the published points belong to it and are drawn in its colour."""

    label: str
    points: list[tuple[float, float]]
    published: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    x: str
    y: str
    curves: list[Curve]
    baseline: float | None = None  #: a horizontal line, as zero for gains


@dataclass(frozen=True)
class Section:
    """A table of the report, with what it says in words."""

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    text: str = ""


class Gallery(Protocol):
    TITLE: str
    #: Columns of the table for people.
    COLUMNS: dict[str, str]
    #: The published figures.
    PAPER: dict[str, Any]
    #: Fields of a row that stand in it for a run without adjusted figures too, as NAME_unadjusted.
    UNADJUSTED: tuple[str, ...]

    def cases(self, quick: bool) -> list[Case]: ...
    def rows(self, runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
        """The rows of the gallery from each case and its record (as _core.simulate gives it), in order. Every row has
        `published`, the value that the paper gives for the row's field named by `published_field`, and `difference`, ours less
        theirs over the size of theirs (positive where ours is more, also beside a loss); or nulls."""

    def score(self, rows: Sequence[Row]) -> Any:
        """The Scores (scores.py) of the rows."""

    def sections(self, rows: Sequence[Row]) -> list[Section]:
        """What the rows show, for the report."""

    def charts(self, rows: Sequence[Row]) -> list[Chart]: ...


def published_figures(name: str) -> dict[str, Any]:
    """The figures of a paper, as its .toml file has them."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text())


def plan(gallery: Gallery, quick: bool, folder: Path | None) -> list[Case]:
    """All cases; the timelines of some go to `folder` when there is one."""
    return [_with_pictures(case, folder) for case in gallery.cases(quick)]


#: Of a case that chance has a part in, without and with --quick.
SEEDS, SEEDS_QUICK = 30, 3


def count_runs(cases: Sequence[Case], seeds: int) -> int:
    planned = _with_unadjusted(cases)
    return runs([case.simulation for case in planned], [seeds] * len(planned))


def run_gallery(
    gallery: Gallery, cases: Sequence[Case], seeds: int, progress: Progress, simulate: Simulate = simulate_all
) -> Iterator[Row]:
    """The rows of the cases, over so many seeds where chance has a part in it. Behind each case that depends on figures that were
    adjusted to a result runs the same without the adjustment, and the row has what that gives."""
    from .constants import adjusted

    planned = _with_unadjusted(cases)
    simulations = [case.simulation for case in planned]
    means = map(mean_record, simulations, over_seeds(simulations, [seeds] * len(planned), progress, simulate))
    record: Row = {}

    def next_of(chosen: Iterable[Case]) -> Iterator[tuple[Case, Row]]:
        nonlocal record
        for case in chosen:
            record = next(means)
            yield case, record

    # Each row follows from the record before it.
    before = gallery.rows(next_of(case for case in planned if _unadjusted(case)))
    for row in gallery.rows(next_of(cases)):
        results = adjusted(record)
        fields = unadjusted_fields(gallery, next(before)) if _is_adjusted(record["machine"]) else {}
        yield {**row, "adjusted": results, **fields}


def unadjusted_fields(gallery: Gallery, row: Row) -> Row:
    """Of a row of a run without adjusted figures what stands in the row with them."""
    return {f"{name}_unadjusted": row[name] for name in gallery.UNADJUSTED}


def _with_unadjusted(cases: Sequence[Case]) -> list[Case]:
    """Behind each case on a machine with adjusted figures the same without the adjustment."""
    found: list[Case] = []
    for case in cases:
        found.append(case)
        if _is_adjusted(case.simulation.machine):
            effects = {**case.simulation.effects, "unadjusted": True}
            found.append(replace(case, simulation=replace(case.simulation, effects=effects, outputs=())))
    return found


def _unadjusted(case: Case) -> bool:
    return bool(case.simulation.effects.get("unadjusted"))


@cache
def _is_adjusted(machine: str) -> bool:
    return bool(json.loads(_core.load_machine(machine))["unadjusted"])


def _with_pictures(case: Case, folder: Path | None) -> Case:
    if folder is None or not case.timeline:
        return case
    views = [(str(folder / f"timeline-{case.timeline}-{view}.svg"), view) for view in ("kernel", "order")]
    return replace(case, simulation=replace(case.simulation, outputs=tuple(views)))


def cores_of_nodes(machine: str, count: int) -> tuple[str, ...]:
    """The cores of the first so many memory nodes of a described machine."""
    return tuple(core for node in range(count) for core in cores_of_node(machine, node))


def cores_of_node(machine: str, number: int) -> tuple[str, ...]:
    described = json.loads(_core.load_machine(machine))
    name = described["nodes"][number]["name"]
    return tuple(str(core["cpu"]) for core in described["cores"] if core["node"] == name)


def beside(ours: float | None, published: float | None, name: str) -> dict[str, Any]:
    """The fields that set a value of ours, the row's field `name`, beside the published one."""
    if published is None or ours is None:
        return {"published": None, "published_field": None, "difference": None}
    return {"published": published, "published_field": name, "difference": (ours - published) / abs(published)}
