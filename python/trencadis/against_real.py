"""A simulation beside the real thing: the same form, tiles and policy in virtual time and on this machine's cores.

The description of the machine is made here and now, and nothing in it comes from the runs that it is compared with. The speed of
each kernel is that of a run of the same order on one worker alone, while the other workers' cores run the same, each by itself in
a process of its own: cores share caches, memory and clocks, which a kernel's time has in it. Tasks that count no operations,
such as exchanges of rows, make the others slower by what they take there; what such a call spends in no task is added. Beside
that the fastest of these runs is set beside the fastest of the real ones, for machines that others use, too, and what others had
of the cores meanwhile is measured. A core that is slowed on purpose has the same speeds times its fraction.

`python -m trencadis.against_real ROUTINE N NB VARIANT CORE` is such a neighbour: it computes until it is ended.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core
from .children import end_children, ending, start_child
from .errors import BackendError
from .measure import Job, Ours, SessionChoice, timed
from .others import LEAST_S, SMALL_SHARE, Others
from .simulations import Simulation, simulate_all

#: Traced runs that the speed of a kernel is taken from, at least, after one that is not looked at.
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
    """One record per case, of the last of as many tries as others disturbed. Steps: two per case. Call it on the main thread."""
    traced: dict[tuple[Any, ...], Kernels] = {}
    for case in cases:
        variant = case.variant or _session_of(case).default_variant(case.routine)
        alike = (case.routine, case.n, case.nb, variant, case.workers)
        for left in reversed(range(tries)):
            if alike not in traced or (left < tries - 1 and traced[alike].others > SMALL_SHARE):
                progress(f"{case}: kernels", 0)
                traced[alike] = kernel_times(case, variant)
            progress(f"{case}: computing", 0)
            record = _record(case, variant, traced[alike], *_seconds(case, variant, repeat))
            if not record["disturbed"]:
                break
            if left:
                progress(f"{case}: others compute, {left} more times", 0)
                time.sleep(PAUSE_S)
        progress(str(case), 2)
        yield record


@dataclass(frozen=True)
class Traced:
    """One run on one worker."""

    kernels: dict[str, tuple[float, float]]  #: operations (1e9) and seconds of each that counts any
    others_s: float  #: in tasks that count none
    seconds: float  #: of the whole call

    @property
    def inside_s(self) -> float:
        return sum(seconds for _, seconds in self.kernels.values())

    @property
    def outside_s(self) -> float:
        """Of the call in no task."""
        return max(0.0, self.seconds - self.inside_s - self.others_s)


@dataclass(frozen=True)
class Kernels:
    """Runs on one worker, and how many cores others had meanwhile."""

    runs: Sequence[Traced]
    others: float


def kernel_times(case: Case, variant: str) -> Kernels:
    """Of runs on the first worker's core, while the others compute the same."""
    first, *others = case.workers
    runs: list[Traced] = []
    with _neighbours(case, variant, others) as children:
        session = SessionChoice(engine="native", workers=[first]).open(_core)
        job = Job(case.routine, case.n)
        ours = Ours(_core, session, job, case.nb, variant)
        with Others(os.sched_getaffinity(0), children) as beside:
            while len(runs) < TRACED or beside.elapsed() < LEAST_S:
                runs.append(_traced(ours, session, job))
    return Kernels(runs, beside.cores)


def _traced(ours: Ours, session: Any, job: Job) -> Traced:
    ours.restore()
    session.start_trace()
    try:
        seconds = timed(ours.call, job)
    finally:
        trace = session.stop_trace()
    rows = trace.kernel_table()
    kernels = {row["name"]: (row["gflops"] * row["total_s"], row["total_s"]) for row in rows if row["gflops"] > 0}
    return Traced(kernels, sum(row["total_s"] for row in rows if row["name"] not in kernels), seconds)


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
    """This machine's workers as a machine file."""
    fractions = [case.slow.get(core, 1.0) for core in case.workers]
    names = {fraction: "core" if fraction == 1 else f"core-at-{fraction:g}" for fraction in fractions}
    kernels = [
        f'    {{ kernel = "{kernel}", on = "{name}", gflops = {speed * fraction:.6g} }},'
        for fraction, name in names.items()
        for kernel, speed in sorted(speeds.items())
    ]
    kinds = [f'[[kinds]]\nname = "{name}"' for name in names.values()]
    cores = [f'[[cores]]\nkind = "{names[fraction]}"\ncount = 1' for fraction in fractions]
    node = '[[nodes]]\nname = "memory"\nbytes = 0'
    return "\n".join(['name = "here"', "kernels = [", *kernels, "]", *kinds, node, *cores, ""])


def main() -> None:
    routine, n, nb, variant, core = sys.argv[1:]
    session = SessionChoice(engine="native", workers=[int(core)]).open(_core)
    ours = Ours(_core, session, Job(routine, int(n)), int(nb), variant)
    print("computing", flush=True)
    while True:
        ours.run()


def _session_of(case: Case) -> Any:
    choice = SessionChoice(engine="native", scheduler=case.scheduler, workers=list(case.workers), slow=case.slow)
    return choice.open(_core)


def _seconds(case: Case, variant: str, repeat: int) -> tuple[list[float], float]:
    """Of each run, at least as many as `repeat`, and how many cores others had meanwhile."""
    ours = Ours(_core, _session_of(case), Job(case.routine, case.n), case.nb, variant)
    ours.run()
    real: list[float] = []
    with Others(os.sched_getaffinity(0)) as beside:
        while len(real) < repeat or beside.elapsed() < LEAST_S:
            real.append(ours.run().seconds)
    return real, beside.cores


def _simulated(case: Case, variant: str, speeds: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """With each of these speeds."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"here-{number}.toml" for number in range(len(speeds))]
        for file, kernels in zip(files, speeds, strict=True):
            file.write_text(description(case, kernels))
        return list(simulate_all([
            Simulation(case.routine, case.n, str(file), case.nb, "d", variant, case.scheduler) for file in files
        ]))  # fmt: skip


def _record(case: Case, variant: str, kernels: Kernels, real: list[float], others: float) -> dict[str, Any]:
    traced = kernels.runs
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
        "others": others, "others_kernels": kernels.others, "disturbed": max(others, kernels.others) > SMALL_SHARE,
    }  # fmt: skip


@contextmanager
def _neighbours(case: Case, variant: str, cores: Sequence[int]) -> Iterator[list[int]]:
    """Their process numbers."""
    words = [sys.executable, "-m", "trencadis.against_real", case.routine, str(case.n), str(case.nb), variant]
    children = []
    try:
        for core in cores:
            children.append(start_child([*words, str(core)], [core]))
        for child in children:
            if child.stdout is None or child.stdout.readline() != "computing\n":
                raise BackendError(f"--against-real: a process that computes on another core {ending(child)}")
        yield [child.pid for child in children]
    finally:
        end_children(children)


if __name__ == "__main__":
    main()
