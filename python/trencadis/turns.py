"""What a contestant of `compare` does when it is on turn.

A turn is many calls one after the other: those of the first 10 ms are dropped, since they wake what was suspended and bring
the operands back into the caches, and those of the following 50 ms count, by their mean; beside busy neighbours 300 ms, over
which the cores change hands some dozens of times. Then come lone calls, each after
10 ms of silence, by their median. Operands that a call spoils for the next are restored before each, outside of what is timed.
A call that takes as long as a turn is a turn by itself, with nothing dropped, and has no lone form.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import _core
from .errors import LinAlgError, not_positive_definite
from .fortran import FortranCall

#: Seconds of calls that count in a turn, at least, and of those dropped before them.
TURN_S, DROPPED_S = 0.05, 0.01
BUSY_TURN_S = 0.3  # beside busy neighbours
#: Silence before a lone call, and lone calls in a turn, of which there are fewer when they are long.
SILENCE_S, LONE_CALLS = 0.01, 5

Restore = tuple[int, int, int]


@dataclass(frozen=True)
class Run:
    """One timed run. `idle_fraction` is the idle share of all workers' time, null for peers that do not report it."""

    seconds: float
    idle_fraction: float | None = None
    begin: float = 0.0  #: by time.perf_counter


@dataclass(frozen=True)
class Turn:
    """`seconds` of a call within the turn, of which `calls` counted, and of a lone one; null where there is none."""

    seconds: float
    calls: int = 1
    lone_seconds: float | None = None
    idle_fraction: float | None = None
    begin: float = 0.0  #: of the calls that count, by time.perf_counter, whose clock all processes share
    end: float = 0.0


def lone_calls(seconds: float) -> int:
    """How many lone calls a turn has, whose calls take so long."""
    return max(1, min(LONE_CALLS, math.ceil(TURN_S / max(seconds, 1e-9))))


def turn_of_calls(call: FortranCall, restores: list[Restore], least: float = TURN_S) -> Turn:
    """Called from C, where a call costs what it costs a program."""
    calls, inside, begin, end = _core.time_calls(call.address, call.words, restores, dropped=DROPPED_S, least=least)
    seconds = inside / calls
    lone = _core.time_lone_calls(call.address, call.words, restores, silence=SILENCE_S, times=lone_calls(seconds))
    return Turn(seconds, calls, statistics.median(lone), begin=begin, end=end)


def turn_of_runs(run: Callable[[], Run], lone_run: Callable[[], Run] | None = None, least: float = TURN_S) -> Turn:
    """The same for what can only be run one by one. `lone_run` is silent for SILENCE_S before the call."""
    _runs_for(run, DROPPED_S)
    begin = time.perf_counter()
    runs = _runs_for(run, least)
    end = time.perf_counter()
    seconds = statistics.fmean(one.seconds for one in runs)
    idle = [one.idle_fraction for one in runs if one.idle_fraction is not None]
    lone = statistics.median(lone_run().seconds for _ in range(lone_calls(seconds))) if lone_run else None
    return Turn(seconds, len(runs), lone, statistics.median(idle) if idle else None, begin, end)


def _runs_for(run: Callable[[], Run], seconds: float) -> list[Run]:
    runs: list[Run] = []
    while not runs or sum(one.seconds for one in runs) < seconds:
        runs.append(run())
    return runs


def check_info(info: int, what: object) -> None:
    """LinAlgError when LAPACK's info says that a call did not succeed."""
    if info > 0:
        raise not_positive_definite(info)
    if info < 0:
        raise LinAlgError(f"{what} rejected its argument {-info}")
