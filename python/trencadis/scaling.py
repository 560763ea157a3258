"""How a factorization scales over the hosts of a described machine: each run once with its network and once where messages take
no time, so that what communication costs is a difference and no model.

Published beside it: the elements that a distribution sends, to first order (Beaumont, Duchon, Eyraud-Dubois, Langou, Verite 2022,
"Symmetric Block-Cyclic Distribution", hal-03768910): a tile of the factor goes to p + q - 2 hosts of a p x q grid, to r - 2 of
the r (r - 1) / 2 hosts of the symmetric distribution. Their speeds are published as curves alone, so none stands here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt, sqrt
from typing import Any

from .simulations import Progress, Simulation, contract_record, simulate_all

#: A run is bound by communication where it takes so much longer than without, in parts of it.
BINDS = 0.1

_ELEMENT_BYTES = {"s": 4, "d": 8, "c": 8, "z": 16}


@dataclass(frozen=True)
class Point:
    """One number of hosts under one distribution."""

    scaling: str  #: strong or weak
    hosts: int  #: that may be used
    simulation: Simulation


def square_grid(hosts: int) -> tuple[int, int]:
    """The grid of all hosts with least difference between its sides."""
    rows = next(rows for rows in range(isqrt(hosts), 0, -1) if hosts % rows == 0)
    return rows, hosts // rows


def symmetric_grid(hosts: int) -> tuple[int, int]:
    """R x R, the largest whose R (R - 1) / 2 hosts are there."""
    side = (1 + isqrt(1 + 8 * hosts)) // 2
    return side, side


def sizes(scaling: str, n: int, nb: int, hosts: Sequence[int]) -> list[int]:
    """The orders: all n, or growing from n so that each host holds as much; whole tiles."""
    if scaling == "strong":
        return [n] * len(hosts)
    return [max(1, round(n * sqrt(count / hosts[0]) / nb)) * nb for count in hosts]


def plan(one: Simulation, scaling: str, hosts: Sequence[int], distributions: Sequence[str]) -> list[Point]:
    points = []
    for count, n in zip(hosts, sizes(scaling, one.n, one.nb, hosts), strict=True):
        for distribution in distributions:
            rows, cols = symmetric_grid(count) if distribution == "symmetric" else square_grid(count)
            simulation = replace(one, n=n, grid_rows=rows, grid_cols=cols, distribution=distribution)
            points.append(Point(scaling, count, simulation))
    return points


def run(points: Sequence[Point], step: Progress) -> Iterator[dict[str, Any]]:
    """A row for each point, as soon as it is there."""
    runs = []
    for point in points:
        one = point.simulation
        runs += [one, replace(one, effects={**one.effects, "free_network": True})]
    records = simulate_all(runs, step)
    for point in points:
        yield _row(point, next(records), next(records))


def _row(point: Point, record: dict[str, Any], free: dict[str, Any]) -> dict[str, Any]:
    row = contract_record(record, point.simulation.effects)
    for long in ("per_worker", "per_host", "workers"):
        row.pop(long)
    published = published_bytes(point.simulation)
    lost = 1 - free["makespan_s"] / record["makespan_s"]
    return {
        "scaling": point.scaling,
        "hosts_at_most": point.hosts,
        **row,
        "gflops_per_host": record["gflops"] / record["hosts"],
        "free_makespan_s": free["makespan_s"],
        "lost_to_messages": lost,
        "published_bytes": published,
        "of_published_bytes": record["bytes_sent"] / published if published else None,
    }


def published_bytes(one: Simulation) -> float:
    """To first order: half of the entries of the matrix, each to as many hosts as the distribution says. Of LU the
    lower half goes to the q - 1 others of its row of the grid and the upper half to the p - 1 of its column."""
    copies = one.grid_rows - 2 if one.distribution == "symmetric" else one.grid_rows + one.grid_cols - 2
    return _ELEMENT_BYTES[one.precision] * one.n**2 / 2 * copies


def binding(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The first from which on every run is bound."""
    first = None
    for row in reversed(rows):
        if row["lost_to_messages"] < BINDS:
            break
        first = row
    return first


def where_it_binds(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each scaling and distribution."""
    lines = []
    for key in dict.fromkeys((row["scaling"], row["distribution"]) for row in rows):
        mine = [row for row in rows if (row["scaling"], row["distribution"]) == key]
        bound = binding(mine)
        where = (
            f"binds from {bound['hosts']} hosts on: {100 * bound['lost_to_messages']:.0f} % of the run is lost to messages there"
            if bound
            else f"does not bind at {mine[-1]['hosts']} hosts: "
            f"{100 * mine[-1]['lost_to_messages']:.0f} % of the run is lost to messages there"
        )
        lines.append(f"{key[0]} scaling, {key[1]}: communication {where}")
    return lines
