"""`trencadis bench`: one routine at several sizes on our library, in this process.

A measurement of one size: operands, one untimed run, then `repeat` repetitions (see measure.py). A run that takes less than
20 ms is made several times within a repetition, which then counts as its median run. Beside busy neighbours a repetition is of
300 ms at least and counts as the mean of its runs: the median of short ones would be one for which nobody took the core.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .busy import BusyNeighbours
from .checks import one_of
from .energy import Metering
from .errors import UsageError
from .forms import forms_of
from .level3_workloads import BesideSquare
from .measure import Job, Ours, Run, SessionChoice, describe_session
from .options import PRECISIONS, require_repetitions, shape_text
from .records import device_fields
from .turns import BUSY_TURN_S, Turn
from .workloads import WORKLOADS

#: Timed seconds that a repetition has at least, up to MOST_RUNS runs; beside busy neighbours BUSY_TURN_S, without a bound.
ENOUGH_S = 0.02
MOST_RUNS = 200

#: Called with what is about to run and the number of steps just done.
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    routine: str
    sizes: list[int]
    precision: str = "d"
    session: SessionChoice = field(default_factory=SessionChoice)
    busy: dict[int, int] = field(default_factory=dict)
    repeat: int = 7
    check: bool = False
    shapes: list[tuple[int, int, int]] = field(default_factory=list)
    """m, n, k of problems that are not square, measured after `sizes`; k is 0 where there are two extents."""
    through: str = ""
    """Of compare: how ours is called, symbols or session; empty: by symbols where the options allow it."""
    energy: bool = False
    transpose: str = ""
    """Of gemm: the letters of A and B; empty: NN."""
    side: str = ""
    """Of routines with a square A beside another matrix: left or right; empty: left."""

    def jobs(self) -> list[Job]:
        extents = [(n, 0, 0) for n in self.sizes] + [(n, m, k) for m, n, k in self.shapes]
        letters = {"transpose": self.transpose, "side": self.side[:1].upper()}
        return [Job(self.routine, n, self.precision, m, k, **letters) for n, m, k in extents]


def check_request(request: Request, routines: Sequence[dict[str, Any]]) -> None:
    """UsageError unless routine, variant and sizes fit what the library lists."""
    variants = {entry["name"]: entry.get("variants") or [] for entry in routines if entry["available"]}
    benchable = [name for name in (*WORKLOADS, "tasks") if name in variants]
    known = variants[one_of("routine to measure", request.routine, benchable)]
    if request.session.variant:
        one_of(f"--variant of {request.routine}", request.session.variant, known)
    if not request.jobs():
        shapes = f", or a shape, --shape {WORKLOADS[request.routine].shapes}" if _has_shapes(request.routine) else ""
        raise UsageError("--n: give a size to measure, such as --n 1024" + shapes)
    if min(request.sizes, default=1) < 1:
        raise UsageError("--n: a size to measure is 1 or more")
    _check_shapes(request)
    _check_transpose(request)
    _check_side(request)
    require_repetitions(request.repeat)
    if request.check and request.routine == "tasks":
        raise UsageError("--check: tasks computes nothing that could be checked")


def _has_shapes(routine: str) -> bool:
    return routine in WORKLOADS and bool(WORKLOADS[routine].shapes)


def _check_transpose(request: Request) -> None:
    if request.transpose and request.routine != "gemm":
        raise UsageError(f"--transpose: is of gemm, which is not measured here but {request.routine}")
    if request.transpose and (len(request.transpose) != 2 or set(request.transpose) - set("NTC")):
        raise UsageError(f"--transpose: '{request.transpose}' is not two of N, T and C, of A and B, such as TN")


def _check_side(request: Request) -> None:
    sided = [name for name, workload in WORKLOADS.items() if issubclass(workload, BesideSquare)]
    if request.side and request.routine not in sided:
        raise UsageError(f"--side: is of {', '.join(sided)}, which are not measured here but {request.routine}")
    if request.side not in ("", "left", "right"):
        raise UsageError(f"--side: '{request.side}' is not left or right, on which A stands")


def _check_shapes(request: Request) -> None:
    """UsageError unless the routine has shapes and these are such."""
    if request.shapes and not _has_shapes(request.routine):
        others = ", ".join(name for name in WORKLOADS if _has_shapes(name))
        raise UsageError(f"--shape: {request.routine} is measured by --n; routines with shapes: {others}")
    for shape in request.shapes:
        workload = WORKLOADS[request.routine]
        if wrong := workload.misfit(shape[0], shape[1], shape[2]):
            text = shape_text(*shape)
            raise UsageError(f"--shape: '{text}' is no shape of {request.routine}, which has {workload.shapes}: {wrong}")


def bench(request: Request, core: Any, progress: Progress) -> Iterator[dict[str, Any]]:
    """One record per size. `core` is the extension module. Steps: request.repeat + 1 per size."""
    with BusyNeighbours(request.busy):
        session = request.session.open(core)
        description = describe_session(core, session)
        for job in request.jobs():
            progress(f"{job}: preparing", 0)
            ours = Ours(core, session, job, request.session.nb, request.session.variant)
            busy = bool(request.busy)
            inner = runs_within(ours.run().seconds, busy)
            repetitions = []
            with Metering(request.energy) as metering:
                for number in range(request.repeat):
                    progress(f"{job}: {number + 1}/{request.repeat}", 1)
                    repetitions.append(repetition([ours.run() for _ in range(inner)], busy))
            traffic, called = ours.device_traffic(), ours.described(description)
            residual = ours.residual() if request.check else None
            node_bytes = ours.node_bytes() if request.check else None
            progress(f"{job}: done", 1)
            row = record(request, job, called, repetitions, residual, node_bytes)
            if request.energy:
                row |= energy_fields(metering, repetitions)
            row |= chosen_fields(core, session, job, request.session)
            if traffic:
                row |= {"device_traffic": traffic}
            yield row


def chosen_fields(core: Any, session: Any, job: Job, asked: SessionChoice) -> dict[str, Any]:
    """The plan by which its calls go where that is chosen (docs/choices.md), and its form and tiles."""
    if asked.nb or asked.variant or job.routine not in core.chosen_routines():
        return {}
    m, k = job.m or job.n, (job.k or job.n) if job.routine == "gemm" else 0
    considered = core.considered(session, job.routine, job.precision, m, job.n, k)
    if not considered:
        return {}
    chosen = considered[0]
    if chosen["plan"] == "rule":
        return {"plan": "rule"}
    return {"plan": chosen["plan"], "nb": chosen["nb"], "variant": chosen["variant"]}


def energy_fields(metering: Metering, repetitions: Sequence[Turn]) -> dict[str, Any]:
    """Joules of a call by domain, median of the repetitions, and the hottest that cores were meanwhile."""
    domains = metering.domains(((one.begin, one.end) for one in repetitions), (one.calls for one in repetitions))
    return {"energy": domains, "energy_cost": metering.cost(), "temperature_c": metering.hottest_c()}


def runs_within(seconds: float, busy: bool = False) -> int:
    """Runs within one repetition, from the time of one."""
    if busy:
        return math.ceil(BUSY_TURN_S / max(seconds, 1e-6))
    return max(1, min(MOST_RUNS, math.ceil(ENOUGH_S / max(seconds, 1e-9))))


def repetition(runs: Sequence[Run], busy: bool) -> Turn:
    """What its runs count as: the median run, an existing one, for its idle share belongs to its seconds; beside busy neighbours
    their mean, with what restores the operands between them in its joules."""
    if busy:
        idle = [run.idle_fraction for run in runs if run.idle_fraction is not None]
        seconds, last = statistics.fmean(run.seconds for run in runs), runs[-1]
        share = statistics.fmean(idle) if idle else None
        return Turn(seconds, len(runs), idle_fraction=share, begin=runs[0].begin, end=last.begin + last.seconds)
    run = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
    return Turn(run.seconds, idle_fraction=run.idle_fraction, begin=run.begin, end=run.begin + run.seconds)


def _chosen_tile(job: Job, variant: str, description: dict[str, Any]) -> int | None:
    """None for a shape: the library tells the tile size of square problems only. And where nobody knows the form."""
    from . import _core

    if job.shape() or description["variants"] is None:
        return None
    if laid_out := description.get("laid_out_nb"):
        return laid_out
    element = np.dtype(PRECISIONS[job.precision]).itemsize
    room = description.get("device_bytes", 0.0)
    return _core.default_tile(job.routine, variant, job.n, element, description["planned_workers"], room)


def record(
    request: Request, job: Job, description: dict[str, Any], runs: Sequence[Run | Turn], residual: float | None,
    node_bytes: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The fields that the command line promises, in its order; null where a routine has no such thing."""
    seconds = [run.seconds for run in runs]
    median = statistics.median(seconds)
    flops = job.flops()
    idle = [run.idle_fraction for run in runs if run.idle_fraction is not None]
    variant = request.session.variant or (description["variants"] or {}).get(job.routine)
    if node_bytes and len(node_bytes) > 1:
        (variant,) = forms_of(job.routine, by_nodes=True)  # chosen by the library, from the size
    row = {
        "routine": job.routine,
        "n": job.n,
        **job.shape(),
        **({"transpose": job.transpose} if job.transpose else {}),
        **({"side": job.side} if job.side else {}),
        "nb": None if flops is None else request.session.nb or _chosen_tile(job, variant, description),
        "precision": None if flops is None else job.precision,
        "variant": variant,
        "engine": description["engine"],
        "scheduler": description["scheduler"],
        "runtime": description["runtime"],
        "kernels": description["kernels"],
        "threads": description["threads"],
        "workers": description["workers"],
        "machine": description["machine"],
        "seconds_median": median,
        "seconds_min": min(seconds),
        "seconds_max": max(seconds),
        "gflops_median": None if flops is None else flops / median / 1e9,
        "gflops_max": None if flops is None else flops / min(seconds) / 1e9,
        "idle_fraction": statistics.median(idle) if idle else None,
        "residual": residual,
        "simulated": False,
        "slow": {str(core): fraction for core, fraction in request.session.slow.items()},
        "busy": {str(core): count for core, count in request.busy.items()},
        "kernels_version": description["kernels_version"],
        "repeat": request.repeat,
        "reproducible": description["reproducible"],
        "node_bytes": node_bytes,
    }
    row |= device_fields(description.get("devices", ""))
    tasks = job.tasks()
    if tasks is not None:
        row["ns_per_task"] = median / tasks * 1e9
    return row
