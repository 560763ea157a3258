"""What the pages say of the levers and runtimes of energy over many seeds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from trencadis.reproduce import energy, energy_seeds
from trencadis.seeds import Estimate

Row = dict[str, Any]
#: Of headings, lines, and how many columns are words.
Table = Callable[..., str]
FIGURES = ("gflops", "package_kj", "memory_kj")


def chance(rows: Sequence[Row], table: Table) -> str:
    return "\n".join((_lever_table(rows, table), _order_table(rows, table)))


def _with_half(of: Estimate | None, digits: int) -> str:
    if of is None:
        return "does not vary"
    return f"{of.mean:z.{digits}f}" + (f" ± {of.half:.{digits}f}" if of.half >= 0.5 * 10**-digits else "")


def _lever_table(rows: Sequence[Row], table: Table) -> str:
    lines = []
    for best in energy.BEST:
        for lever in ("turbo", "c_states", "governor"):
            gains = [_with_half(energy_seeds.lever_gain(rows, best, lever, of), 2) for of in FIGURES]
            r = _with_half(energy_seeds.correlation(rows, best, f"gflops {lever}"), 2)
            lines.append([best[0], lever.replace("_", "-"), *gains, r])
    headings = ["", "lever", "speed, %", "PKG energy, %", "DRAM energy, %", "r of speed and lever"]
    return table(headings, lines, left=2)


def _order_table(rows: Sequence[Row], table: Table) -> str:
    lines = []
    for entry in energy.PAPER["order"]:
        speeds = {}
        for name in entry["names"]:
            variant, preset = name.split()
            speeds[name] = energy_seeds.speed(energy_seeds.pick(rows, routine=entry["routine"], variant=variant, preset=preset))
        ours = sorted(speeds, key=lambda name: -speeds[name].mean)
        near = [not _apart(speeds[a], speeds[b]) for a, b in itertools.pairwise(ours)]
        words = " > ".join(f"{name} {_with_half(speeds[name], 1)}" for name in ours)
        lines.append([entry["routine"], words, _verdict(ours, near, entry["names"])])
    return table(["", "GFlop/s", "as published"], lines, left=3)


def _verdict(ours: Sequence[str], near: Sequence[bool], published: Sequence[str]) -> str:
    """Our order beside the published one; `near`: of each pair of neighbours, whether chance alone tells them apart."""
    if list(ours) == list(published):
        return "yes, within chance" if any(near) else "yes"
    return "no, within chance" if _alike(ours, near, published) else "no"


def _apart(a: Estimate, b: Estimate) -> bool:
    """Is their difference beyond its interval?"""
    return abs((a - b).mean) > (a - b).half


def _alike(ours: Sequence[str], near: Sequence[bool], published: Sequence[str]) -> bool:
    """The same order but for neighbours that chance alone tells apart."""
    swapped = list(ours)
    for at, alike in enumerate(near):
        if alike and published.index(swapped[at]) > published.index(swapped[at + 1]):
            swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    return swapped == list(published)
