"""How much chance there is in what the levers do and in the order of the runtimes: many seeds, at half the paper's n.

At the paper's n a run takes up to a quarter of a minute; the rows of `energy` have it there, too, as means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ..seeds import Estimate, Simulate, estimate, over_seeds
from ..seeds import runs as count_runs
from ..simulations import Progress, simulate_all
from .energy import BEST, FASTEST, LEVERS, PAPER, PLACEMENTS, simulation_of
from .energy_tables import _LEVER_VALUES
from .gallery import Row

N = 16384
SEEDS = 30
#: What is kept of each run: pairs of Pearson's r are of these and the levers.
_KEPT = {"gflops": ("gflops", 1.0), "package_kj": ("package_j", 1e-3), "memory_kj": ("memory_j", 1e-3)}


def configurations() -> list[Row]:
    """The eight settings of the levers with the fastest of each factorization, and those whose order by speed is published."""
    found = [
        {"routine": routine, "variant": variant, "placement": PLACEMENTS[0], "preset": preset, **levers, "n": N}
        for (routine, variant, preset), levers in product(BEST, LEVERS)
    ]
    for entry in PAPER["order"]:
        for variant, preset in map(str.split, entry["names"]):
            found.append({"routine": entry["routine"], "variant": variant, "placement": PLACEMENTS[0], "preset": preset,
                          **FASTEST, "n": N})  # fmt: skip
    return [dict(labels) for labels in dict.fromkeys(tuple(labels.items()) for labels in found)]


def simulated(seeds: int, step: Progress, simulate: Simulate = simulate_all) -> Iterator[Row]:
    """A row per configuration, with lists of one figure per seed; of one seed where chance has no part in it."""
    chosen = configurations()
    groups = over_seeds(list(map(simulation_of, chosen)), [seeds] * len(chosen), step, simulate)
    for labels, records in zip(chosen, groups, strict=True):
        kept = {name: [record[of] * scale for record in records] for name, (of, scale) in _KEPT.items()}
        yield {**labels, "seeds": len(records), **kept}


def runs(seeds: int) -> int:
    """How many simulations that makes."""
    chosen = list(map(simulation_of, configurations()))
    return count_runs(chosen, [seeds] * len(chosen))


def pick(rows: Sequence[Row], **labels: Any) -> Row:
    """The one row with these labels, with the standard placement and levers unless they are named."""
    wanted = {"placement": PLACEMENTS[0], **FASTEST, **labels}
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def speed(row: Row) -> Estimate:
    return estimate(row["gflops"])


def lever_gain(rows: Sequence[Row], best: tuple[str, str, str], lever: str, of: str = "gflops") -> Estimate:
    """In percent, from the lower to the higher value of a lever, of the means over the four settings of the two others. Seed by
    seed: where a lever changes nothing, each seed draws the same."""
    higher, lower = (_sums_over(rows, best, lever, side, of) for side in (1, -1))
    return estimate([100 * (up / down - 1) for up, down in zip(higher, lower, strict=True)])


def _sums_over(rows: Sequence[Row], best: tuple[str, str, str], lever: str, side: int, of: str) -> list[float]:
    """Of each seed, over the settings with the lever on one side."""
    chosen = [_of_setting(rows, best, levers)[of] for levers in LEVERS if _LEVER_VALUES[lever][levers[lever]] == side]
    return [sum(values) for values in zip(*chosen, strict=True)]


def correlation(rows: Sequence[Row], best: tuple[str, str, str], pair: str) -> Estimate | None:
    """Pearson's r over the eight settings, one of each seed; None where one of the two does not vary."""
    from ..report.findings import pearson

    found = []
    settings = [_of_setting(rows, best, levers) for levers in LEVERS]
    for seed in range(settings[0]["seeds"]):
        r = pearson(*(_values(settings, name, seed) for name in pair.split()))
        if r is None:
            return None
        found.append(r[0])
    return estimate(found)


def _values(settings: Sequence[Row], name: str, seed: int) -> list[float]:
    if name in _LEVER_VALUES:
        return [_LEVER_VALUES[name][row[name]] for row in settings]
    return [row[{"gflops": "gflops", "package": "package_kj", "memory": "memory_kj"}[name]][seed] for row in settings]


def _of_setting(rows: Sequence[Row], best: tuple[str, str, str], levers: dict[str, Any]) -> Row:
    routine, variant, preset = best
    return pick(rows, routine=routine, variant=variant, preset=preset, **levers)
