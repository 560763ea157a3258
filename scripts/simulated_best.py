"""What the pages say of the best simulated configuration by each metric, and of choosing energy instead of speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trencadis.reproduce import energy_best, energy_tables

Row = dict[str, Any]
#: Of headings, lines, and how many columns are words.
Table = Callable[..., str]


def best(rows: Sequence[Row], table: Table) -> str:
    lines = energy_best.best_lines(rows)
    cells = [
        [line["routine"], line["metric"], line["published"], "the same" if _alike(line) else line["simulated"],
         f"{line['gflops']:.0f}", f"{line['package_kj']:.1f}", f"{line['memory_kj']:.1f}", f"{line['kilojoules']:.1f}"]
        for line in lines
    ]  # fmt: skip
    headings = ["", "best by", "published", "simulated", "GFlop/s", "PKG kJ", "DRAM kJ", "PKG + DRAM kJ"]
    runtime, turbo = (sum(line[what] for line in lines) for what in ("runtime", "turbo"))
    said = f"- The published runtime and form is best by {runtime} of {len(lines)}, with turbo as published by {turbo}.\n"
    return table(headings, cells, left=4) + "\n" + said + choice(rows)


def _alike(line: Row) -> bool:
    return line["published"] == line["simulated"]


def choice(rows: Sequence[Row]) -> str:
    words = [
        f"{line['routine']} {line['slower']:.1f} % slower and {line['saved']:.1f} % less energy "
        f"({line['published_slower']:.1f} and {line['published_saved']:.1f})"
        for line in energy_best.choice_lines(rows)
    ]
    return f"- The one of least energy instead of the fastest, each by what is simulated (published): {'; '.join(words)}.\n"


def levers(rows: Sequence[Row]) -> str:
    """Of energy, in short."""
    turbo = [line for line in energy_tables.correlation_lines(rows) if line["pair"] == "gflops turbo"]
    words = ", ".join(f"{line['r']:.2f} ({line['published']}) of {line['routine']}" for line in turbo)
    return choice(rows) + f"- Pearson's r of turbo and speed over the eight settings of the levers (published): {words}.\n"
