"""Energy of what runs in this process or beside it, by the machine's own meters.

A domain's figure is `measured`, or it is unavailable with the reason; nothing is guessed. Domains that hold each other (psys, the
package, its cores) stand side by side and are never added up: `inside` says who holds whom.
"""

from __future__ import annotations

import atexit
import os
import statistics
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Annotated, Any

import typer

from . import _core
from .system_files import system_root

#: What is looked for, as messages name it.
LOOKED_FOR = "powercap (RAPL), perf's power events, amd_energy and other sensors of hwmon, NVML, a battery in use"

PERIOD_S = 0.01

Energy = Annotated[bool, typer.Option("--energy", help="Read the machine's meters of energy meanwhile; see: trencadis machine")]

#: joules, how, why, source and inside, by domain.
Domains = dict[str, dict[str, Any]]


@cache
def meters() -> _core.EnergyMeters:
    """Those that move under load, found once in a process."""
    return _core.EnergyMeters(str(system_root()), 0.3)


atexit.register(meters.cache_clear)  # the extension looks for what is left of its objects when it goes


def counting() -> bool:
    """Whether anything tells energy or power here."""
    return any(meter["kind"] != "temperature" for meter in meters().list())


def nothing_counts() -> str:
    """One line for those who asked for energy where there is none."""
    reasons = [f"{one['source']} {one['name']}: {one['why']}" for one in meters().missing()]
    return f"no meter of energy counts here; looked for {LOOKED_FOR}" + (f" ({'; '.join(reasons)})" if reasons else "")


def unavailable(why: str) -> Domains:
    """Where nothing tells any domain: that of the machine, which holds all."""
    return {"machine": {"joules": None, "how": "unavailable", "why": why, "source": None, "inside": []}}


class _Readers:
    """Blocks that read the meters now, which share what is read: the first begins, at its period, and the last ends."""

    def __init__(self) -> None:
        self._lock, self._open = Lock(), 0
        os.register_at_fork(after_in_child=self._forget_holder)

    def _forget_holder(self) -> None:
        self._lock = Lock()

    def begin(self, period_s: float) -> None:
        with self._lock:
            if self._open == 0:
                meters().start(period_s)
            self._open += 1

    def end(self) -> _core.MeterRecord:
        with self._lock:
            self._open -= 1
            return meters().so_far() if self._open else meters().stop()


_readers = _Readers()


class Metering:
    """Reads the meters while a block runs, where `wanted` and there are any, of temperature alone as well; blocks may lie within
    each other, and beside."""

    def __init__(self, wanted: bool, period_s: float = PERIOD_S) -> None:
        self._wanted, self._period_s = wanted, period_s
        self._on = wanted and bool(meters().list())
        self.record: _core.MeterRecord | None = None

    def __enter__(self) -> Metering:
        if self._on:
            _readers.begin(self._period_s)
        return self

    def __exit__(self, *_: object) -> None:
        if self._on:
            self.record = _readers.end()

    def domains(self, runs: Iterable[tuple[float, float]], calls: Iterable[int] | None = None) -> Domains | None:
        """The median over runs, each from its begin to its end by time.perf_counter; of a call, where each was so many of them.
        Where no meter counts, the machine's is unavailable; None where none is wanted, or no run was there."""
        if not self._wanted:
            return None
        if self.record is None or not counting():
            return unavailable(nothing_counts())
        found = [self.record.between(begin, end) for begin, end in runs]
        for rows, number in zip(found, calls if calls is not None else [1] * len(found), strict=True):
            for row in rows:
                row["joules"] = None if row["joules"] is None else row["joules"] / number
        return _medians(found) if found else None

    def cost(self) -> dict[str, float] | None:
        """What the metering itself takes: share is of one core."""
        if self.record is None:
            return None
        reading, period = self.record.reading_s, self.record.period_s
        return {"period_s": period, "reading_s": reading, "share": reading / period}

    def hottest_c(self) -> float | None:
        """The most that a sensor of the cores has told; None where there is none."""
        if self.record is None:
            return None
        values = [value for one in self.record.series() if one["kind"] == "temperature" for _, value in one["readings"]]
        return max(values, default=None)


def _medians(found: Sequence[list[dict[str, Any]]]) -> Domains:
    domains: Domains = {}
    for rows in zip(*found, strict=True):
        joules = [row["joules"] for row in rows if row["joules"] is not None]
        whole = len(joules) == len(rows)
        row = {"joules": statistics.median(joules) if whole else None, "how": "measured" if whole else "unavailable"}
        why = next((one["why"] for one in rows if one["why"]), "")
        domains[rows[0]["domain"]] = {**row, **({"why": why} if why else {}), "source": rows[0]["source"],
                                      "inside": rows[0]["inside"]}  # fmt: skip
    return domains


def domain_text(domains: Domains | None) -> str:
    """ "package 12.3 J, dram unavailable (...)"."""
    parts = [f"{name} {one['joules']:.4g} J" if one["joules"] is not None else f"{name} unavailable ({one.get('why', '')})"
             for name, one in (domains or {}).items()]  # fmt: skip
    return ", ".join(parts)


def power_curves(record: _core.MeterRecord, begin: float, end: float) -> dict[str, list[tuple[float, float]]]:
    """Watts by domain over a time, seconds since its begin: of counters the slope over a hundredth of it, and 5 ms at least, as
    they are renewed in steps."""
    curves: dict[str, dict[float, float]] = {}
    window = max(0.005, (end - begin) / 100)
    for one in record.series():
        if one["kind"] == "temperature" or one["lost"]:
            continue
        curve = curves.setdefault(one["domain"], {})
        for place, (time, watts) in enumerate(_watts(one, window)):
            with suppress(IndexError):
                time = list(curve)[place] if len(curve) > place else time  # readings of one round belong together
            curve[time] = curve.get(time, 0.0) + watts
    return {domain: [(time - begin, watts) for time, watts in sorted(curve.items()) if begin <= time <= end]
            for domain, curve in curves.items()}  # fmt: skip


def _watts(one: dict[str, Any], window: float) -> list[tuple[float, float]]:
    readings = one["readings"]
    if one["kind"] == "power" or not readings:
        return readings
    slopes, (t0, j0) = [], readings[0]
    for t1, j1 in readings[1:]:
        if t1 - t0 >= window or (t1, j1) == readings[-1] and t1 > t0 and not slopes:
            slopes.append(((t0 + t1) / 2, (j1 - j0) / (t1 - t0)))
            t0, j0 = t1, j1
    return slopes
