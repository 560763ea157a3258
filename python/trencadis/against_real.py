"""A simulation beside the real thing: the same form, tiles and policy in virtual time and on this machine's cores.

The description of the machine is made here and now, and nothing in it comes from the runs that it is compared with. The speed of
each kernel is that of other runs of the same order on the same workers, which are traced, in turn with those: workers get what
they read out of each other's caches and share memory and clocks, and a kernel's time has that in it. Tasks that count no
operations, such as exchanges of rows, and what workers do between tasks make the others slower by what they take; what a call
spends before its first task and after its last is added. Beside that the fastest of these runs is set beside the fastest of the
real ones, for machines that others use, too, and what others had of the cores meanwhile is measured. A core that is slowed on
purpose has the same speeds times its fraction: they are of runs in which none is.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import _core
from .measure import Job, Ours, SessionChoice, timed
from .others import LEAST_S, SMALL_SHARE, Others
from .simulations import Simulation, simulate_all

#: Traced runs that the speed of a kernel is taken from, at least.
TRACED = 5

#: How often a comparison is made, at most, where others are in the way and that matters.
TRIES = 3
PAUSE_S = 2.0  #: before the next one

#: Called with what is about to run and the number of steps just done.
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Case:
    """One routine at one order on some cores of this machine."""

    routine: str
    n: int
    nb: int
    workers: tuple[int, ...]
    variant: str = ""
    scheduler: str = ""
    slow: dict[int, float] = field(default_factory=dict)

    def __str__(self) -> str:
        slowed = "".join(f", core {core} slowed to {fraction:g}" for core, fraction in self.slow.items())
        return f"{self.routine} n={self.n}, {len(self.workers)} workers{slowed}"


def compare(cases: Sequence[Case], repeat: int, progress: Progress, tries: int = 1) -> Iterator[dict[str, Any]]:
    """One record per case, of the last of as many tries as others disturbed. Steps: one per case. Call it on the main thread."""
    for case in cases:
        variant = case.variant or _session_of(case).default_variant(case.routine)
        for left in reversed(range(tries)):
            progress(f"{case}: computing", 0)
            record = _record(case, variant, measured(case, variant, repeat))
            if not record["disturbed"]:
                break
            if left:
                progress(f"{case}: others compute, {left} more times", 0)
                time.sleep(PAUSE_S)
        progress(str(case), 1)
        yield record


@dataclass(frozen=True)
class Traced:
    """One run. Seconds inside are those of all workers together."""

    kernels: dict[str, tuple[float, float]]  #: operations (1e9) and seconds of each that counts any
    others_s: float  #: in tasks that count none, and between tasks
    outside_s: float  #: of the call before the first task and after the last
    seconds: float  #: of the whole call

    @property
    def inside_s(self) -> float:
        return sum(seconds for _, seconds in self.kernels.values())


@dataclass(frozen=True)
class Measured:
    """Runs of one kind and the other, and how many cores others had meanwhile."""

    traced: Sequence[Traced]
    real: Sequence[float]  #: seconds
    others: float


def measured(case: Case, variant: str, repeat: int) -> Measured:
    """Traced runs, of which no worker is slowed, and real ones in turn: what changes on the machine meanwhile changes both."""
    job = Job(case.routine, case.n)
    real = Ours(_core, session := _session_of(case), job, case.nb, variant)
    plain = _session_of(replace(case, slow={})) if case.slow else session
    kernels = Ours(_core, plain, job, case.nb, variant) if case.slow else real
    traced: list[Traced] = []
    seconds: list[float] = []
    with Others(os.sched_getaffinity(0)) as beside:
        while len(seconds) < max(repeat, TRACED) or beside.elapsed() < LEAST_S:
            traced.append(_traced(kernels, plain, job))
            seconds.append(real.run().seconds)
    return Measured(traced, seconds, beside.cores)


def _traced(ours: Ours, session: Any, job: Job) -> Traced:
    ours.restore()
    session.start_trace()
    try:
        seconds = timed(ours.call, job)
    finally:
        trace = session.stop_trace()
    rows = trace.kernel_table()
    kernels = {row["name"]: (row["gflops"] * row["total_s"], row["total_s"]) for row in rows if row["gflops"] > 0}
    others = sum(row["total_s"] for row in rows if row["name"] not in kernels)
    workers = trace.worker_table()
    # Of what the runtime takes, that before the first task and after the last is outside.
    most = len(workers) * trace.working_s - sum(row["total_s"] for row in rows)
    between = max(0.0, min(sum(worker["runtime_s"] for worker in workers), most))
    return Traced(kernels, others + between, max(0.0, seconds - trace.working_s), seconds)


def speeds_of(runs: Sequence[Traced]) -> dict[str, float]:
    """GFlop/s of each kernel in the median of the runs; tasks that count no operations make all of a run slower alike."""
    found: dict[str, list[float]] = {}
    for run in runs:
        share = run.inside_s / (run.inside_s + run.others_s)
        for kernel, (flops, seconds) in run.kernels.items():
            found.setdefault(kernel, []).append(share * flops / seconds)
    return {kernel: statistics.median(speeds) for kernel, speeds in found.items()}


def fastest(runs: Sequence[Traced]) -> Traced:
    """The run that the rest of the machine held up least."""
    return min(runs, key=lambda run: run.seconds)


def description(case: Case, speeds: dict[str, float]) -> str:
    """This machine's workers as a machine file, whose kinds are the slowest first: policies go by that order."""
    fractions = [case.slow.get(core, 1.0) for core in case.workers]
    names = {fraction: "core" if fraction == 1 else f"core-at-{fraction:g}" for fraction in sorted(fractions)}
    kernels = [
        f'    {{ kernel = "{kernel}", on = "{name}", gflops = {speed * fraction:.6g} }},'
        for fraction, name in names.items()
        for kernel, speed in sorted(speeds.items())
    ]
    kinds = [f'[[kinds]]\nname = "{name}"' for name in names.values()]
    cores = [f'[[cores]]\nkind = "{names[fraction]}"\ncount = 1' for fraction in fractions]
    node = '[[nodes]]\nname = "memory"\nbytes = 0'
    return "\n".join(['name = "here"', "kernels = [", *kernels, "]", *kinds, node, *cores, ""])


def _session_of(case: Case) -> Any:
    choice = SessionChoice(engine="native", scheduler=case.scheduler, workers=list(case.workers), slow=case.slow)
    return choice.open(_core)


def _simulated(case: Case, variant: str, speeds: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """With each of these speeds."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"here-{number}.toml" for number in range(len(speeds))]
        for file, kernels in zip(files, speeds, strict=True):
            file.write_text(description(case, kernels))
        return list(simulate_all([
            Simulation(case.routine, case.n, str(file), case.nb, "d", variant, case.scheduler, effects={"caller_first": True},
                       as_called=True)
            for file in files
        ]))  # fmt: skip


def _record(case: Case, variant: str, found: Measured) -> dict[str, Any]:
    traced, real = found.traced, found.real
    speeds, best = speeds_of(traced), fastest(traced)
    simulated, fast = _simulated(case, variant, [speeds, speeds_of([best])])
    makespan = simulated["makespan_s"] + statistics.median(run.outside_s for run in traced)
    least, median = fast["makespan_s"] + best.outside_s, statistics.median(real)
    return {
        "routine": case.routine, "n": case.n, "nb": case.nb, "variant": variant, "scheduler": simulated["scheduler"],
        "workers": list(case.workers), "slow": {str(core): fraction for core, fraction in case.slow.items()},
        "simulated_s": makespan, "real_s": median, "real_s_min": min(real), "real_s_max": max(real), "repeat": len(real),
        "simulated_over_real": makespan / median, "kernel_gflops": speeds,
        "simulated_s_min": least, "simulated_over_real_min": least / min(real),
        "others": found.others, "disturbed": found.others > SMALL_SHARE,
    }  # fmt: skip
