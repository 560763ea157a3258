"""Calibration: what the plans of calls take on this host, measured on whole calls.

Each size of each routine is measured in all its plans (`_core.plans`) in rounds, each in another order, since a call finds its
helpers awake or asleep as the one before it left them; those that are far behind drop out. Once
all sizes are through, those that are left are measured again: a shared host is not in the same state half a minute later, nor
are its cores to each other. Of large sizes only those plans are tried that were good at the sizes below. What is kept of a pass
are medians, and of two passes that ratio of each plan to the rule beside it which is less in its favour: of twenty plans some are
ahead of the rule by chance, and seldom the same ones twice. Then those near the best are measured beside a busy neighbour on the
last of the workers' cores, by means of calls back to back: the median call is one for which nobody took the core.
"""

from __future__ import annotations

import fcntl
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core
from .busy import BusyNeighbours
from .energy import Metering, counting
from .errors import UsageError

#: Orders of the square problems. Halves of octaves, which choices are made between.
ORDERS = (96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
#: m, n, k of others.
SHAPES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "gemm": ((1024, 32, 1024), (4096, 32, 1024), (1024, 1024, 32), (3072, 3072, 64), (256, 256, 4096)),
    "getrf": ((1024, 128, 0), (4096, 256, 0), (256, 2048, 0)),
    "geqrf": ((1024, 128, 0), (4096, 256, 0), (20000, 64, 0), (256, 2048, 0)),
}
#: What is so much slower than the best after some rounds is left out, and what was so at the sizes below is not tried at large
#: ones.
HOPELESS, BEHIND = 1.3, 1.12
MOST_ROUNDS = 60
#: Rounds, and what then is so much slower than the best drops out.
DROPS = {2: HOPELESS, 5: 1.15, 9: 1.08}
#: Calls that take longer than this are large.
LARGE_S = 0.03
#: Seconds for a size in each quiet pass, where its calls are short.
QUIET_S = 0.15
#: Beside the neighbour: who is near the best, turns of each, and seconds of calls back to back in one, in which the core changes
#: hands some times.
NEAR, BUSY_TURNS, BESIDE_S = 1.06, 2, 0.03
#: Seconds that each plan is metered, where a meter of energy counts: at most, and where there is not time for all.
METERED_S, LEAST_METERED_S = 0.05, 0.02
#: The neighbour and the meters are left out where calls take longer: what it does to them is what it does to smaller ones.
LONGEST_BUSY_S = 0.06
#: Time that a repetition has at least: shorter calls are made several times.
ENOUGH_S = 2e-4
#: Up to here a call goes otherwise after one of another plan, which left helpers awake or asleep; nobody's calls are such a
#: mixture. So each repetition begins with a call that is not counted.
DEPENDS_S = 5e-3

Say = Callable[[str, int], None]


@dataclass
class Size:
    """One size of a routine, and the median seconds of each plan."""

    routine: str
    precision: str
    m: int
    n: int
    k: int
    quiet: dict[str, float] = field(default_factory=dict)
    busy: dict[str, float] = field(default_factory=dict)
    joules: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.routine} {self.m}x{self.n}" + (f"x{self.k}" if self.k else "")

    @property
    def is_square(self) -> bool:
        return self.m == self.n and self.k in (0, self.n)

    def flops(self) -> float:
        return _core.routine_flops(self.routine, self.precision in "cz", self.n, m=self.m, k=self.k)

    def rows(self, workers: int) -> Iterator[dict[str, Any]]:
        for plan, seconds in self.quiet.items():
            yield {"routine": self.routine, "precision": self.precision, "m": self.m, "n": self.n, "k": self.k,
                   "workers": workers, "plan": plan, "seconds": seconds, "busy": self.busy.get(plan, 0.0),
                   "joules": self.joules.get(plan, 0.0)}  # fmt: skip


def sizes(routines: list[str], precisions: str) -> list[Size]:
    """The shortest calls first, so that what time does not allow is at the end."""
    all_sizes = []
    for precision in precisions:
        for routine in routines:
            all_sizes += [Size(routine, precision, n, n, n if routine == "gemm" else 0) for n in ORDERS]
            all_sizes += [Size(routine, precision, *shape) for shape in SHAPES.get(routine, ())]
    return sorted(all_sizes, key=Size.flops)


def calibrate(session: Any, of: list[Size], seconds: float, neighbour: int | None, say: Say) -> list[Size]:
    """Those that there was time for. `neighbour`: a core, None: there is no other than the caller's."""
    end = time.monotonic() + seconds
    done: list[Size] = []
    metered = counting()
    last = 0.2 * (neighbour is not None) * seconds
    kept = (0.2 + 0.3 * metered) * seconds + last  # for the passes that follow
    for size in of:
        say(str(size), 1)
        if time.monotonic() + _least_seconds(size, done) > end - kept:
            continue
        plans = _candidates(session, size, done)
        size.quiet = _measure(session, size, plans, QUIET_S, end)
        done.append(size)
    for size in done:
        if time.monotonic() + _round_seconds(size) < end - kept + 0.2 * seconds:
            say(f"{size}, again", 1)
            size.quiet = together(size.quiet, _measure(session, size, _good(size), QUIET_S, end))
    if metered:
        short = [size for size in done if min(size.quiet.values()) <= LONGEST_BUSY_S]
        a_plan = (end - last - time.monotonic()) / max(1, sum(len(_good(size)) for size in short))
        for size in short:
            if time.monotonic() < end - last:
                size.joules = _meter(session, size, min(METERED_S, max(LEAST_METERED_S, a_plan)))
    if neighbour is not None:
        with BusyNeighbours({neighbour: 1}):
            for size in done:
                say(f"{size}, a neighbour on core {neighbour}", 1)
                best = min(size.quiet.values())
                if best > LONGEST_BUSY_S or time.monotonic() > end:
                    continue
                size.busy = _measure_beside(session, size, end)
    return [size for size in done if len(size.quiet) > 1]


def _good(size: Size, at_most: float = HOPELESS) -> list[str]:
    best = min(size.quiet.values())
    return [plan for plan, took in size.quiet.items() if took < at_most * best or plan == "rule"]


def _meter(session: Any, size: Size, seconds: float) -> dict[str, float]:
    """Joules of a call, that of restoring its operands with it, which is the same for all plans. None where a meter gave out."""
    timed = _core.TimedPlans(session, size.routine, size.precision, size.m, size.n, size.k)
    joules: dict[str, float] = {}
    for plan in _good(size):
        calls = 0
        with Metering(True) as metering:
            begin = end = time.perf_counter()
            while end - begin < seconds:
                timed.time(plan)
                calls, end = calls + 1, time.perf_counter()
        domains = metering.domains([(begin, end)]) or {}
        # Those that are in no other one that counts: they do not count the same joules.
        whole = [one["joules"] for one in domains.values() if not domains.keys() & set(one["inside"])]
        if whole and None not in whole and sum(whole) > 0:
            joules[plan] = sum(whole) / calls
    return joules


def together(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    """Of two passes. A plan that the second one left out keeps its ratio to the rule of the first."""
    rule = math.sqrt(first["rule"] * second["rule"])
    ratios = {plan: took / first["rule"] for plan, took in first.items()}
    again = {plan: took / second["rule"] for plan, took in second.items()}
    return {plan: rule * max(ratio, again.get(plan, ratio)) for plan, ratio in ratios.items()}


def _round_seconds(size: Size) -> float:
    """A round of those that a second pass measures, three times."""
    return 3 * sum(size.quiet[plan] for plan in _good(size))


def _least_seconds(size: Size, done: list[Size]) -> float:
    """One call of each of some plans, by the speed so far."""
    rates = [one.flops() / min(one.quiet.values()) for one in done if one.routine == size.routine]
    return 8 * size.flops() / max(rates) if rates else 0.0


def _candidates(session: Any, size: Size, done: list[Size]) -> list[str]:
    plans = _core.plans(session, size.routine, size.precision, size.m, size.n, size.k)
    below = [one for one in done if one.routine == size.routine and one.is_square and one.precision == size.precision]
    if not size.is_square or len(below) < 3 or _least_seconds(size, done) / 8 < LARGE_S:
        return plans
    good = {"rule"}
    for one in below[-2:]:
        best = min(one.quiet.values())
        good |= {plan for plan, took in one.quiet.items() if took < BEHIND * best}
    return [plan for plan in plans if plan in good]


def _measure(session: Any, size: Size, plans: list[str], seconds: float, end: float) -> dict[str, float]:
    """Medians. At least one call of each plan; at least three where they are short."""
    timed = _core.TimedPlans(session, size.routine, size.precision, size.m, size.n, size.k)
    took: dict[str, list[float]] = {plan: [] for plan in plans}
    medians: dict[str, float] = {}
    timed.time("rule")
    begin = time.monotonic()
    any_order = random.Random(size.n)
    for number in range(MOST_ROUNDS):
        for plan in any_order.sample(list(took), len(took)):
            took[plan].append(once(timed, plan))
        medians |= {plan: statistics.median(times) for plan, times in took.items()}  # of those that drop out the last
        now = time.monotonic()
        enough = number >= 2 or now - begin > 4 * seconds
        if (now - begin > seconds and enough) or now > end:
            break
        if number in DROPS:
            best = min(medians.values())
            took = {plan: times for plan, times in took.items() if plan == "rule" or medians[plan] < DROPS[number] * best}
    return medians


def _measure_beside(session: Any, size: Size, end: float) -> dict[str, float]:
    """Means; none where there is no time for all."""
    timed = _core.TimedPlans(session, size.routine, size.precision, size.m, size.n, size.k)
    plans = _good(size, NEAR)
    took: dict[str, list[float]] = {plan: [] for plan in plans}
    any_order = random.Random(size.n)
    for _ in range(BUSY_TURNS):
        for plan in any_order.sample(plans, len(plans)):
            if time.monotonic() > end:
                return {}
            took[plan].append(beside(timed, plan))
    return {plan: statistics.fmean(times) for plan, times in took.items()}


def beside(timed: Any, plan: str) -> float:
    """Seconds of a call beside a neighbour. The first one does not count: helpers are as another plan left them."""
    timed.time(plan)
    took: list[float] = []
    while sum(took) < BESIDE_S:
        took.append(timed.time(plan))
    return statistics.fmean(took)


def once(timed: Any, plan: str) -> float:
    """Seconds of a call after others of the same plan."""
    first: float = timed.time(plan)
    if first >= DEPENDS_S:
        return first
    return statistics.median(timed.time(plan) for _ in range(min(20, max(2, int(ENOUGH_S / max(first, 1e-6))))))


@contextmanager
def alone(path: Path, say: Callable[[str], None]) -> Iterator[bool]:
    """One process of the host calibrates at a time. Whether this one had to wait for another, which may have done its work."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".choices.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UsageError(f"{path.parent}: {error.strerror}; a calibration is kept there") from None
    try:
        waited = False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = True
            say("another process calibrates this host; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield waited
    finally:
        os.close(lock)


def is_measured_since(before: dict[str, Any], session: Any, routines: list[str], precisions: str) -> bool:
    """Has another process measured all of that, for as many workers, since the file was read as `before`?"""
    now = _core.read_calibration(session)
    if now["trouble"]:
        return False
    fresh = {_what(row)[:3] for row in now["rows"] if row not in before["rows"]}
    return {(routine, precision, session.workers) for routine in routines for precision in precisions} <= fresh


def merged(session: Any, measured: list[Size]) -> list[dict[str, Any]]:
    """With what the file has of other sizes, routines, precisions and numbers of workers. What counts of a size are ratios to the
    rule, which is measured beside its plans, so sizes need not be of one calibration; the plans of a size are."""
    new = [row for size in measured for row in size.rows(session.workers)]
    which = set(map(_what, new))
    return [row for row in _core.read_calibration(session)["rows"] if _what(row) not in which] + new


def _what(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["routine"], row["precision"], row["workers"], row["m"], row["n"], row["k"]
