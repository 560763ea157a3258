"""One contestant of a measurement: something prepared once, then run and timed as often as asked.

Preparing makes the operands (first touched by the preparing thread) and runs the call once untimed, which loads what is
loaded lazily, wakes the threads and brings the operands' pages into memory. Before each run the overwritten operands are
restored, outside the timed part; the timed part is the call alone.
"""

from __future__ import annotations

import gc
import json
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from .fortran import FortranLibrary
from .options import PRECISIONS, shape_text
from .turns import SILENCE_S, TURN_S, Run, Turn, check_info, turn_of_calls, turn_of_runs
from .workload import SEED
from .workloads import WORKLOADS, Call, Workload, cholesky_tasks


@dataclass(frozen=True)
class Job:
    """What is run: a routine at one size. For `tasks`, `n` counts tile rows and the precision means nothing. `m` is set for
    another shape than a square, and `k` where there is a third extent."""

    routine: str
    n: int
    precision: str = "d"
    m: int = 0
    k: int = 0
    seed: int = SEED  #: of the operands
    transpose: str = ""  #: of gemm: the letters of A and B, where they are not both N
    side: str = ""  #: of symm, trsm and their kin: R where A stands on the right

    def __str__(self) -> str:
        routine = " ".join(filter(None, (self.routine, self.transpose, self.side)))
        return f"{routine} {shape_text(self.m, self.n, self.k)}" if self.m else f"{routine} n={self.n}"

    def shape(self) -> dict[str, int]:
        extents = {"m": self.m, "k": self.k}
        return {name: extent for name, extent in extents.items() if extent}

    def workload(self) -> Workload:
        other = {"transpose": self.transpose} if self.transpose else {}
        extents = {**self.shape(), **self._side()}
        return WORKLOADS[self.routine](self.n, PRECISIONS[self.precision], seed=self.seed, **extents, **other)

    def flops(self) -> float | None:
        """None for `tasks`, which computes nothing."""
        if self.routine == "tasks":
            return None
        return WORKLOADS[self.routine].flops(self.n, PRECISIONS[self.precision], **self.shape(), **self._side())

    def _side(self) -> dict[str, str]:
        return {"side": self.side} if self.side else {}

    def tasks(self) -> int | None:
        """How many tasks `tasks` runs; None for other routines."""
        return cholesky_tasks(self.n) if self.routine == "tasks" else None


@dataclass(frozen=True)
class SessionChoice:
    """The session options that were typed; empty and zero leave the choice to the library."""

    engine: str = ""
    scheduler: str = ""
    kernels: str = ""
    threads: str = ""
    workers: list[int] = field(default_factory=list)
    window: int = 0
    slow: dict[int, float] = field(default_factory=dict)
    nb: int = 0
    variant: str = ""
    machine: str = ""
    pages: str = ""
    relief: str = ""
    devices: str = ""
    reproducible: bool = False

    def beyond_environment(self) -> list[str]:
        """The options typed that the environment has no variable for: only a session made for them has these."""
        options = {"--nb": self.nb, "--variant": self.variant, "--window": self.window, "--slow": self.slow,
                   "--threads-backend": self.threads, "--machine": self.machine, "--pages": self.pages}  # fmt: skip
        return [name for name, value in options.items() if value]

    def environment(self) -> dict[str, str]:
        """The others, as variables that choose the standard session's."""
        names = {"ENGINE": self.engine, "SCHEDULER": self.scheduler, "KERNELS": self.kernels, "RELIEF": self.relief,
                 "DEVICES": self.devices, "REPRODUCIBLE": "1" if self.reproducible else "",
                 "NUM_THREADS": str(len(self.workers) or "")}  # fmt: skip
        return {f"TRENCADIS_{name}": value for name, value in names.items() if value}

    def open(self, core: Any) -> Any:
        return core.Session(
            engine=self.engine, scheduler=self.scheduler, kernels=self.kernels, threads=self.threads, workers=self.workers,
            window=self.window, slow=self.slow, machine=self.machine, pages=self.pages,
            relief=self.relief, devices=self.devices, reproducible=self.reproducible,
        )


class Contestant(Protocol):
    def run(self) -> Run: ...
    def turn(self, least: float = TURN_S) -> Turn:
        """`least`: seconds of calls that count."""
    def residual(self) -> float | None:
        """Of the last run; None where there is none."""


@cache
def _real_name(core: Any) -> str:
    """To read what the machine is takes 30 ms."""
    return json.loads(core.machine(measure=False))["name"]


def machine_of(core: Any, session: Any) -> str:
    """Its name; of a described machine that is laid over the real one, both."""
    real = _real_name(core)
    return f"{session.machine_name} laid over {real} (emulated, memory not bound)" if session.options()["machine"] else real


def describe_session(core: Any, session: Any) -> dict[str, Any]:
    """What a record says of a session, as resolved."""
    options = session.options()
    return {
        "engine": options["engine"],
        "scheduler": options["scheduler"] or None,
        "runtime": session.runtime or None,
        "kernels": options["kernels"],
        "kernels_version": session.kernels_version,
        "threads": options["threads"],
        "workers": list(options["workers"]),
        "devices": options["devices"],
        "planned_workers": session.planned_workers,
        "device_bytes": session.device_bytes,
        "reproducible": options["reproducible"],
        "machine": machine_of(core, session),
        "variants": {
            entry["name"]: session.default_variant(entry["name"]) if entry.get("variants") else None
            for entry in core.list_routines()
        },
    }


def as_called(session: Any, routine: str, description: dict[str, Any]) -> dict[str, Any]:
    """The description with form and tiles of the last call of the routine where it is the call that decides whether devices take
    part: their form may be another one."""
    if not description["devices"]:
        return description
    variant, nb = session.last_variant(routine)
    return description | {"variants": description["variants"] | {routine: variant}, "laid_out_nb": nb, "device_bytes": 0.0}


class Ours:
    """Our library in this process. `call` is what is timed."""

    def __init__(self, core: Any, session: Any, job: Job, nb: int = 0, variant: str = "") -> None:
        self._session = session
        self._job = job
        self._workload = None if job.routine == "tasks" else job.workload()
        if self._workload is None:
            self.call: Call = lambda: core.tasks(session, job.n) and 0
        else:
            self.call = self._workload.ours(core, session, nb, variant)
        self.run()

    def restore(self) -> None:
        if self._workload is not None:
            self._workload.restore()

    def run(self, silence: float = 0) -> Run:
        self.restore()
        self._session.reset_statistics()
        time.sleep(silence)
        seconds = timed(self.call, self._job)
        ended = time.perf_counter()
        statistics = self._session.statistics()
        idle = sum(worker["idle_s"] for worker in statistics)
        busy = sum(worker["busy_s"] for worker in statistics)
        return Run(seconds, idle / (idle + busy) if idle + busy > 0 else None, ended - seconds)

    def turn(self, least: float = TURN_S) -> Turn:
        return turn_of_runs(self.run, lambda: self.run(SILENCE_S), least)

    def residual(self) -> float | None:
        return None if self._workload is None else self._workload.residual()

    def device_traffic(self) -> list[dict[str, Any]] | None:
        """Of the last run; None where no device takes part."""
        return self._session.device_traffic() or None

    def described(self, description: dict[str, Any]) -> dict[str, Any]:
        """The description as its last run went."""
        return as_called(self._session, self._job.routine, description)

    def node_bytes(self) -> list[dict[str, Any]] | None:
        """What the workers of each memory node read and wrote in a run; None where the routine does not count it."""
        self._session.count_node_bytes(True)
        try:
            self.run()
            return self._session.node_bytes() or None
        finally:
            self._session.count_node_bytes(False)


class Vendor:
    """A BLAS and LAPACK library in this process, called by its Fortran symbols."""

    def __init__(self, library: FortranLibrary, job: Job) -> None:
        self._job = job
        self._workload = job.workload()
        self._call = self._workload.vendor(library)
        self.run()

    def run(self) -> Run:
        self._workload.restore()
        seconds = timed(self._call, self._job)
        return Run(seconds, begin=time.perf_counter() - seconds)

    def turn(self, least: float = TURN_S) -> Turn:
        turn = turn_of_calls(self._call, self._workload.restores(), least)
        check_info(self._call.info, self._job)
        return turn

    def residual(self) -> float | None:
        return self._workload.residual()


def timed(call: Call, job: Job) -> float:
    """Seconds of one call, Python's collector kept out. LinAlgError when its info says that it did not succeed."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        begin = time.perf_counter()
        info = call()
        seconds = time.perf_counter() - begin
    finally:
        if collecting:
            gc.enable()
    check_info(info, job)
    return seconds
