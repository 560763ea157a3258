"""Simulations over many seeds: means with their 95 % intervals.

What a policy chooses at random follows a seed, and one seed is one draw. A configuration without such a choice comes out the same
for all, is run once, and says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev
from typing import Annotated, Any

import typer

from .simulations import Progress, Simulation, simulate_all

SeedCount = Annotated[
    int | None,
    typer.Option(
        "--seeds", min=1, max=100_000, show_default=False,
        help="Over how many seeds to run what a policy chooses at random; shown as mean and 95 % interval",
    ),
]  # fmt: skip

#: Fields of a record that are averaged; lists (per_worker, per_kernel) are the first seed's.
_AVERAGED = (
    "makespan_s", "gflops", "idle_fraction", "energy_j", "cores_j", "package_j", "memory_j", "bytes_moved", "transfers",
    "local_bytes", "remote_bytes",
)  # fmt: skip
#: And of which the largest counts: a host needs the memory whatever the seed.
_LARGEST = ("peak_bytes_of_a_host",)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with half of its 95 % interval (Student's t); 0 where chance has no part in it."""

    mean: float
    half: float = 0.0

    @property
    def interval(self) -> list[float]:
        return [self.mean - self.half, self.mean + self.half]

    def __sub__(self, other: Estimate) -> Estimate:
        """Of independent draws."""
        return Estimate(self.mean - other.mean, math.hypot(self.half, other.half))

    def __truediv__(self, other: Estimate) -> Estimate:
        """Of independent draws, to first order."""
        ratio = self.mean / other.mean
        return Estimate(ratio, abs(ratio) * math.hypot(self.half / self.mean, other.half / other.mean))


def estimate(values: Sequence[float]) -> Estimate:
    if len(values) == 1:
        return Estimate(values[0])
    from scipy.special import stdtrit

    return Estimate(fmean(values), float(stdtrit(len(values) - 1, 0.975)) * stdev(values) / math.sqrt(len(values)))


#: Simulates each of a list, in its order.
Simulate = Callable[[Sequence[Simulation], Progress], Iterator[dict[str, Any]]]


def over_seeds(
    simulations: Sequence[Simulation], counts: Sequence[int], step: Progress = lambda text, done: None,
    simulate: Simulate = simulate_all,
) -> Iterator[list[dict[str, Any]]]:
    """The records of each simulation over so many seeds, from its own on; of one seed where chance has no part in it. The trace,
    where one is written, is of the first. What occurs more than once is simulated once."""
    keys = [[repr(one) for one in copies(*group)] for group in zip(simulations, counts, strict=True)]
    uses = Counter(key for group in keys for key in group)
    different = _different(simulations, counts)
    found = zip(different, simulate(list(different.values()), step), strict=True)
    records: dict[str, dict[str, Any]] = {}
    for group in keys:
        while any(key not in records for key in group):
            records.update([next(found)])
        yield [records[key] for key in group]
        uses.subtract(group)
        for key in group:
            if not uses[key]:
                del records[key]


def _different(simulations: Sequence[Simulation], counts: Sequence[int]) -> dict[str, Simulation]:
    """Each once, by what it is in words."""
    return {repr(one): one for group in zip(simulations, counts, strict=True) for one in copies(*group)}


def copies(simulation: Simulation, count: int) -> list[Simulation]:
    if not simulation.random:
        count = 1
    others = [replace(simulation, seed=simulation.seed + k, outputs=()) for k in range(1, count)]
    return [simulation, *others]


def runs(simulations: Sequence[Simulation], counts: Sequence[int]) -> int:
    """How many simulations that makes."""
    return len(_different(simulations, counts))


def mean_record(simulation: Simulation, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One record for all seeds, with `seeds`, `deterministic`, and `estimates` of the averaged fields."""
    estimates = {
        name: estimate([record[name] for record in records]) for name in _AVERAGED if records[0].get(name) is not None
    }  # fmt: skip
    return {
        **records[0],
        **{name: value.mean for name, value in estimates.items()},
        **{name: max(record[name] for record in records) for name in _LARGEST if records[0].get(name) is not None},
        "seeds": len(records),
        "deterministic": not simulation.random,
        "estimates": estimates,
    }


def spread(record: dict[str, Any], of: Estimate) -> dict[str, Any]:
    """The fields of a row that say how it varies: `interval` is that of the row's compared figure, null where one seed was run of
    what depends on it."""
    known = record["deterministic"] or record["seeds"] > 1
    return {
        "seeds": record["seeds"],
        "deterministic": record["deterministic"],
        "interval": of.interval if known else None,
        "runs": "deterministic" if record["deterministic"] else f"{record['seeds']} seed{'s' * (record['seeds'] > 1)}",
    }


def seed_fields(records: Sequence[dict[str, Any]], mean: dict[str, Any]) -> dict[str, Any]:
    """What replaces and joins the fields of a record of the command line, whose times and speeds are medians over the seeds;
    everything else is a mean, and lists are the first seed's."""
    seconds, speeds = [record["makespan_s"] for record in records], [record["gflops"] for record in records]
    return {
        "makespan_s": median(seconds),
        "seconds_median": median(seconds),
        "seconds_min": min(seconds),
        "seconds_max": max(seconds),
        "gflops_median": median(speeds),
        "gflops_max": max(speeds),
        "gflops_mean": mean["gflops"],
        **spread(mean, mean["estimates"]["gflops"]),
    }
