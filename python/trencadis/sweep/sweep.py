"""A sweep: each contestant in a process of its own, suspended when it is not its turn, and the turns of all points in rounds.

A round gives every point one turn, in the order of n, so that a machine that is slow for a while is slow for neighbours alike,
and for less than half of a point's turns. A point's speed is that of its median turn, of those in which nobody else had the
processors if these are most. Points below the bound are measured again with all that they are compared with, in rounds of these
alone, before they are called cliffs (verdicts.py).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from ..compare import ContestantProcess, if_it_works
from ..measure import SessionChoice
from ..peer_process import OURS
from ..peers import LinearAlgebraPeer
from ..records import device_fields
from ..workload import require_memory
from .calls import SAID, Case, bytes_needed, threads_text
from .grid import Grid, Point, Rule
from .verdicts import Outcome, Speed, confirm

#: Called with what is about to run and the number of steps just done.
Progress = Callable[[str, int], None]

class Turn(NamedTuple):
    seconds: float
    undisturbed: bool


Turns = dict[Point, list[Turn]]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    cases: list[Case]
    orders: list[int]
    rules: list[Rule]
    threads: list[int]
    repeat: int
    peers: list[LinearAlgebraPeer] = field(default_factory=list)
    devices: str = ""

    def grid(self, case: Case) -> Grid:
        return Grid(self.orders, self.rules, case.dtype.itemsize)

    def steps(self) -> int:
        """Of the progress bar: an order in a round is one."""
        return len(self.cases) * len(self.threads) * self.repeat * len(self.orders)

    def check(self) -> None:
        """UsageError where a leading dimension is none, MemoryError where the operands do not fit."""
        for case in self.cases:
            grid = self.grid(case)
            ld = max(point.ld for point in grid.points)
            bytes_each = bytes_needed(case, grid.orders[-1], ld)
            require_memory(bytes_each * (1 + len(self.peers)), f"a sweep of {case} up to n = {grid.orders[-1]}, ld = {ld}")


def sweep(request: Request, progress: Progress) -> Iterator[dict[str, Any]]:
    """A record per point, those of a case and a number of threads together when these are confirmed."""
    for threads in request.threads:
        with ExitStack() as stack:
            progress(f"starting with {threads_text(threads)}", 0)
            choice = SessionChoice(workers=_cores(threads), devices=request.devices)
            ours = stack.enter_context(_start(OURS, threads, choice.environment()))
            started = [if_it_works(peer, _start, peer.name, threads, peer.settings(threads)) for peer in request.peers]
            peers = [stack.enter_context(process) for processes in started for process in processes]
            for case in request.cases:
                yield from _one_case(request, case, threads, ours, peers, progress)


def _cores(threads: int) -> list[int]:
    return sorted(os.sched_getaffinity(0))[:threads]


def _start(name: str, threads: int, environment: dict[str, Any]) -> ContestantProcess:
    command = [sys.executable, "-m", "trencadis.sweep.process", name, str(threads)]
    return ContestantProcess(name, command, _cores(threads), environment)


def _one_case(
    request: Request, case: Case, threads: int, ours: ContestantProcess, peers: Sequence[ContestantProcess], progress: Progress
) -> Iterator[dict[str, Any]]:
    grid = request.grid(case)
    largest = {"n": grid.orders[-1], "ld": max(point.ld for point in grid.points)}
    for contestant in (ours, *peers):
        contestant.ask(json.dumps({"case": case.fields(), **largest}))
    turns: Turns = {}
    theirs: dict[str, Turns] = {peer.name: {} for peer in peers}
    for number in range(request.repeat):
        for n in grid.orders:
            progress(f"{case}, {threads_text(threads)}, round {number + 1}/{request.repeat}, n = {n}", 1)
            _take(ours, grid.at(n), turns)
            for peer in peers:
                _take(peer, [grid.tightest(n)], theirs[peer.name])

    def again(suspects: list[Point]) -> dict[Point, Speed]:
        progress(f"{case}, {threads_text(threads)}: {len(suspects)} points measured again", 0)
        fresh: Turns = {}
        for _ in range(request.repeat):
            for _, at in groupby(grid.around(suspects), key=lambda point: point.n):
                _take(ours, list(at), fresh)
        turns.update({point: fresh[point] for point in suspects})
        return _speeds(case, fresh)

    outcomes = confirm(grid, _speeds(case, turns), again)
    of_peers = {name: _speeds(case, measured) for name, measured in theirs.items()}
    for point, outcome in outcomes.items():
        theirs_here = {name: speeds.get(point) for name, speeds in of_peers.items()}
        beside = {name: speed and speed.gflops for name, speed in theirs_here.items()}
        yield {
            **_record(case, point, outcome, grid.rules(point), turns[point]),
            **_machine(request, threads, ours), "peer_gflops_median": beside,
            "peer_versions": {peer.name: peer.description["version"] for peer in peers},
        }  # fmt: skip


def _take(contestant: ContestantProcess, points: list[Point], turns: Turns) -> None:
    """A turn at each of these points, which are of one order."""
    request = {"n": points[0].n, "lds": [point.ld for point in points]}
    for point, turn in zip(points, contestant.ask(json.dumps(request))["turns"], strict=True):
        turns.setdefault(point, []).append(Turn(*turn))


def _speeds(case: Case, turns: Turns) -> dict[Point, Speed]:
    return {
        point: Speed(case.flops(point.n) / statistics.median(_counted(of_point)) / 1e9, _sure(of_point))
        for point, of_point in turns.items()
    }


def _sure(turns: Sequence[Turn]) -> bool:
    return 2 * sum(turn.undisturbed for turn in turns) >= len(turns)


def _counted(turns: Sequence[Turn]) -> list[float]:
    """Seconds of the undisturbed turns, or of all where these are fewer than half."""
    return [turn.seconds for turn in turns if turn.undisturbed or not _sure(turns)]


def _record(case: Case, point: Point, outcome: Outcome, rules: list[str], turns: list[Turn]) -> dict[str, Any]:
    verdict, seconds = outcome.verdict, _counted(turns)
    return {
        "routine": case.routine,
        "transpose": case.letters if case.routine == "gemm" else None,
        "side": SAID[case.letters] if case.routine == "trsm" else None,
        "n": point.n,
        "ld": point.ld,
        "ld_rules": rules,
        "precision": case.precision,
        "seconds_median": statistics.median(seconds),
        "seconds_min": min(seconds),
        "seconds_max": max(seconds),
        "gflops_median": verdict.speed,
        "neighbours_gflops": verdict.median,
        "neighbours_ratio": verdict.neighbours_ratio,
        "best_ld": verdict.best.ld,
        "best_ld_gflops": verdict.best_speed,
        "best_ld_ratio": verdict.best_ratio,
        "measured": outcome.measured,
        "disturbed": sum(not turn.undisturbed for turn in turns),
        "sure": verdict.sure,
        "cliff": outcome.cliff,
        "case": str(case),
    }


def _machine(request: Request, threads: int, ours: ContestantProcess) -> dict[str, Any]:
    names = ("engine", "scheduler", "kernels", "threads", "workers", "machine", "kernels_version")
    said = {name: ours.description[name] for name in names}
    return {"repeat": request.repeat, **said, **device_fields(ours.description["devices"])}
