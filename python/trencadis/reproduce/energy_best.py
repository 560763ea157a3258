"""The question of the paper's Table 2 asked of simulated runs: which configuration is best by speed, by PKG and DRAM together, by
each alone; and what it costs to take the one of least energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .energy import FASTEST, PAPER, PLACEMENTS, kilojoules_of
from .gallery import Row, Section

#: By the paper's words: the field of a row, and what is better.
METRICS = {"speed": ("gflops", -1), "PKG+DRAM": ("kilojoules", 1), "PKG": ("package_kj", 1), "DRAM": ("memory_kj", 1)}
#: Not the paper's: our policy. And PLASMA's own LU, whose panels are shared and far too fast here.
_LEFT_OUT = {"preset": "ours", "variant": "panel"}
#: Runs that differ by less are alike: levers that change nothing where nobody waits.
_ALIKE = 1e-6


def candidates(rows: Sequence[Row], routine: str) -> list[Row]:
    """Of the paper's runtimes at the largest n, tiles as its programs lay them; each once."""
    chosen = [row for row in rows if row["routine"] == routine and row["n"] == rows[0]["n"] and row["placement"] == PLACEMENTS[0]]
    kept = [row for row in chosen if not any(row[key] == value for key, value in _LEFT_OUT.items())]
    return list({tuple(row[key] for key in ("variant", "preset", *FASTEST)): row for row in kept}.values())


def best(rows: Sequence[Row], routine: str, metric: str) -> list[Row]:
    """The best, and those that are like it."""
    field, sign = METRICS[metric]
    found = candidates(rows, routine)
    first = min(found, key=lambda row: sign * row[field])
    return [row for row in found if abs(row[field] - first[field]) <= _ALIKE * abs(first[field])]


def words_of(alike: Sequence[Row]) -> str:
    """ "in-place libkomp, turbo off, C-states any, powersave"."""
    first = alike[0]

    def level(lever: str) -> Any:
        levels = {row[lever] for row in alike if (row["variant"], row["preset"]) == (first["variant"], first["preset"])}
        return first[lever] if len(levels) == 1 else "any"

    turbo, c_states, governor = map(level, FASTEST)
    turbo = {True: "on", False: "off"}.get(turbo, turbo)
    return f"{first['variant']} {first['preset']}, turbo {turbo}, C-states {c_states}, governor {governor}"


def best_lines(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The published ones stand beside at their n alone."""
    lines = []
    known = rows[0]["n"] == PAPER["n"]
    for routine in dict.fromkeys(entry["routine"] for entry in PAPER["measured"]):
        for metric in METRICS:
            alike = best(rows, routine, metric)
            theirs = next(e for e in PAPER["measured"] if e["routine"] == routine and metric in e["best_by"])
            lines.append(
                {"routine": routine, "metric": metric, "published": words_of([theirs]) if known else None,
                 "simulated": words_of(alike), "runtime": _agree(alike, theirs, "variant", "preset") if known else None,
                 "turbo": _agree(alike, theirs, "turbo") if known else None,
                 **{key: alike[0][key] for key in ("gflops", "package_kj", "memory_kj", "kilojoules")}}
            )  # fmt: skip
    return lines


def _agree(alike: Sequence[Row], theirs: Row, *keys: str) -> bool:
    """Is one of them as published?"""
    return any(all(row[key] == theirs[key] for key in keys) for row in alike)


def choice_lines(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The simulated configuration of least PKG and DRAM instead of the fastest simulated one."""
    lines = []
    known = rows[0]["n"] == PAPER["n"]
    for entry in PAPER["least_energy"]:
        routine = entry["routine"]
        fast, lean = (best(rows, routine, metric)[0] for metric in ("speed", "PKG+DRAM"))
        theirs = {metric: next(e for e in PAPER["measured"] if e["routine"] == routine and metric in e["best_by"])
                  for metric in ("speed", "PKG+DRAM")}  # fmt: skip
        slower = 100 * (1 - theirs["PKG+DRAM"]["gflops"] / theirs["speed"]["gflops"])
        saved = 100 * (1 - kilojoules_of(theirs["PKG+DRAM"]) / kilojoules_of(theirs["speed"]))
        lines.append(
            {"routine": routine, "slower": 100 * (1 - lean["gflops"] / fast["gflops"]),
             "saved": 100 * (1 - lean["kilojoules"] / fast["kilojoules"]),
             "published_slower": slower if known else None, "published_saved": saved if known else None}
        )  # fmt: skip
    return lines


def sections(rows: Sequence[Row]) -> list[Section]:
    found = {
        "routine": "routine", "metric": "best by", "published": "published", "simulated": "simulated", "runtime": "same runtime",
        "turbo": "same turbo", "gflops": "GFlop/s", "package_kj": "PKG kJ", "memory_kj": "DRAM kJ", "kilojoules": "PKG+DRAM",
    }  # fmt: skip
    costs = {
        "routine": "routine", "published_slower": "slower, published %", "slower": "slower, simulated %",
        "published_saved": "saved, published %", "saved": "saved, simulated %",
    }  # fmt: skip
    text = (
        f"Of the paper's runtimes at n = {rows[0]['n']}: all of them with the levers of the best speed, the fastest with all "
        "settings where that n has them, and those that the paper names. KASTORS' forms of LU. any: the lever changes nothing."
    )
    return [
        Section("The best configuration by each metric", found, best_lines(rows), text),
        Section("Choosing energy instead of speed, each by what is simulated", costs, choice_lines(rows)),
    ]
