"""`trencadis compare-engines`: the same kernels on the same tiles, carried out by every engine, on turn one after the other.

A contestant is an engine, or our own one under one of its policies, in a process of its own that is suspended while it is not on
turn (compare.py). In each round every contestant has its turn; a ratio is formed round by round. All compute the same form of
the routine with the same tile size, so that what differs is who finds the dependences and who runs what when. A second pass
takes the empty tasks of a Cholesky graph, which cost nothing but that.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _core
from .bench import Progress, Request
from .busy import BusyNeighbours
from .checks import one_of
from .compare import ContestantProcess, start_ours, turn_taker
from .errors import BackendError, UsageError
from .measure import Job
from .options import PRECISIONS
from .records import device_fields
from .turns import Turn

#: Our engine under our policy, to which all others are compared.
REFERENCE = ("native", "mosaic")
#: The runtime that a preset of our policies imitates, by the engine that it is.
IMITATED = {"libgomp": "openmp-gnu", "libomp": "openmp-llvm"}
#: The form that every engine has, where the first one that is listed is shaped by our own.
FORMS = {"potrf": "in-place", "posv": "in-place", "gemm": "in-place", "getrf": "kastors", "geqrf": "blocked"}


@dataclass(frozen=True)
class Contestant:
    engine: str
    scheduler: str = ""

    @property
    def name(self) -> str:
        return f"{self.engine}, {self.scheduler}" if self.scheduler else self.engine


def contestants(engines: Sequence[str], schedulers: Sequence[str]) -> list[Contestant]:
    """The reference, our engine under the other policies, then the other engines. Empty lists stand for what there is: presets of
    published runtimes, and engines that are installed and run tasks on several cores. UsageError for an unknown name."""
    known = {entry["name"]: entry for entry in _core.list_engines()}
    for name in engines:
        one_of("--engines", name, known)
        if reason := _why_not(known[name]):
            raise BackendError(f"--engines: {name} {reason}")
    chosen = engines or [name for name, entry in known.items() if not _why_not(entry)]
    policies = {entry["name"]: entry for entry in _core.list_schedulers()}
    for name in schedulers:
        one_of("--schedulers", name.partition(":")[0], policies)
    presets = [name for name, entry in policies.items() if entry["summary"].startswith("preset of")]
    under = list(schedulers or presets) if REFERENCE[0] in chosen else []
    ours = [Contestant(REFERENCE[0], name) for name in under if name != REFERENCE[1]]
    return [Contestant(*REFERENCE), *ours, *(Contestant(name) for name in chosen if name != REFERENCE[0])]


def _why_not(entry: dict[str, Any]) -> str:
    if not entry["available"]:
        return f"cannot be used here: {entry['why_not']}"
    if not (entry["computes"] and entry["parallel"]):
        return "does not run tasks on several cores"
    if entry.get("owners"):
        return "is for several processes; trencadis bench under mpirun measures it"
    return ""


def same_tiles(request: Request, job: Job) -> Request:
    """The request with a form and a tile size that are the same for all."""
    choice = request.session
    variant = choice.variant or FORMS.get(request.routine, "")
    if choice.nb or request.routine == "tasks":
        return replace(request, session=replace(choice, variant=variant))
    workers = choice.open(_core).options()["workers"]
    nb = _core.default_tile(request.routine, variant, job.n, np.dtype(PRECISIONS[job.precision]).itemsize, len(workers))
    return replace(request, session=replace(choice, variant=variant, nb=nb))


def compare_engines(
    request: Request, entrants: Sequence[Contestant], tile_rows: int, progress: Progress
) -> Iterator[dict[str, Any]]:
    """One record per size and contestant. `tile_rows`: of the graph of empty tasks, 0 for none. Steps: `steps` in all."""
    with BusyNeighbours(request.busy):
        overheads = _overheads(request, entrants, tile_rows, progress) if tile_rows else {}
        for job in request.jobs():
            same = same_tiles(request, job)
            yield from _tournament(same, job, entrants, overheads, progress)


def steps(request: Request, entrants: Sequence[Contestant], tile_rows: int) -> int:
    return (len(request.jobs()) + bool(tile_rows)) * request.repeat * len(entrants)


def _tournament(
    request: Request, job: Job, entrants: Sequence[Contestant], overheads: dict[Contestant, float], progress: Progress
) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        processes, refusals = _start(request, job, entrants, stack, progress)
        turns = _rounds(request, job, processes, progress)
        residuals = {entrant: process.residual() for entrant, process in processes.items()} if request.check else {}
        for entrant in entrants:
            row = _row(request, job, entrant, processes.get(entrant), turns, refusals.get(entrant))
            yield row | {"ns_per_task": overheads.get(entrant), "residual": residuals.get(entrant)}


def _start(
    request: Request, job: Job, entrants: Sequence[Contestant], stack: ExitStack, progress: Progress
) -> tuple[dict[Contestant, ContestantProcess], dict[Contestant, str]]:
    """Those that can do it, and what the others say. Without the reference there is no comparison: its error goes on."""
    processes, refusals = {}, {}
    for entrant in entrants:
        progress(f"{job}: preparing {entrant.name}", 0)
        devices = request.session.devices if entrant.engine == REFERENCE[0] else ""  # the other engines have none
        choice = replace(request.session, engine=entrant.engine, scheduler=entrant.scheduler, devices=devices)
        try:
            processes[entrant] = stack.enter_context(start_ours(replace(request, session=choice, through="session"), job))
        except (BackendError, ValueError) as error:
            if entrant == Contestant(*REFERENCE):
                raise
            refusals[entrant] = str(error)
    return processes, refusals


def _rounds(
    request: Request, job: Job, processes: dict[Contestant, ContestantProcess], progress: Progress
) -> dict[Contestant, list[Turn]]:
    first = [process.run().seconds for process in processes.values()]
    take_turn = turn_taker(job, min(first), bool(request.busy))
    turns: dict[Contestant, list[Turn]] = {entrant: [] for entrant in processes}
    for turn in range(request.repeat):
        for entrant, process in processes.items():
            progress(f"{job}, {entrant.name}: {turn + 1}/{request.repeat}", 1)
            turns[entrant].append(take_turn(process))
    return turns


def _overheads(
    request: Request, entrants: Sequence[Contestant], tile_rows: int, progress: Progress
) -> dict[Contestant, float]:
    """Nanoseconds of an empty task, medians."""
    job = Job("tasks", tile_rows)
    empty = replace(request, routine="tasks", session=replace(request.session, nb=0, variant=""))
    with ExitStack() as stack:
        processes, _ = _start(empty, job, entrants, stack, progress)
        turns = _rounds(empty, job, processes, progress)
    count = job.tasks() or 1
    return {entrant: _median(of) / count * 1e9 for entrant, of in turns.items()}


def _row(
    request: Request, job: Job, entrant: Contestant, process: ContestantProcess | None, turns: dict[Contestant, list[Turn]],
    refusal: str | None,
) -> dict[str, Any]:
    row = {
        "routine": job.routine, "n": job.n, "nb": request.session.nb or None, "precision": job.precision,
        "variant": request.session.variant or None, "engine": entrant.engine, "scheduler": entrant.scheduler or None,
        "busy": {str(core): count for core, count in request.busy.items()}, "repeat": request.repeat, "refused": refusal,
    }  # fmt: skip
    if process is None:
        return row
    said = process.description
    mine = [turn.seconds for turn in turns[entrant]]
    reference = turns[Contestant(*REFERENCE)]
    flops, median = job.flops() or 0, _median(turns[entrant])
    row |= {name: said.get(name) for name in ("kernels", "kernels_version", "workers", "machine", "runtime")}
    row |= device_fields(said["devices"])
    row |= {"seconds_median": median, "seconds_min": min(mine), "seconds_max": max(mine), "gflops_median": flops / median / 1e9}
    row |= _ratio("ratio", mine, reference)
    imitated = Contestant(IMITATED.get(entrant.scheduler, ""))
    if entrant.engine == REFERENCE[0] and imitated in turns:
        row |= {"imitates": imitated.engine} | _ratio("imitation", [turn.seconds for turn in turns[imitated]], turns[entrant])
    return row


def _ratio(name: str, seconds: Sequence[float], to: Sequence[Turn]) -> dict[str, float]:
    """Round by round, `seconds` over those of `to`: above 1 where `to` is faster."""
    ratios = [a / b.seconds for a, b in zip(seconds, to, strict=True)]
    return {f"{name}_median": statistics.median(ratios), f"{name}_min": min(ratios), f"{name}_max": max(ratios)}


def _median(turns: Sequence[Turn]) -> float:
    return statistics.median(turn.seconds for turn in turns)


def check_request(request: Request) -> None:
    """UsageError where an option chooses what the contestants differ in, or the routine has nothing to compare."""
    if request.routine == "tasks":
        raise UsageError("compare-engines: give a routine that computes; what an empty task costs is in every table")
