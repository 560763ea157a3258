"""Simulated configurations, as many at a time as there are cores, two at most.

Two, because each may need gigabytes, and because of cores that somebody else is using.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from . import _core
from .children import end_children, ending, start_child
from .errors import BackendError, LinAlgError, UsageError

AT_ONCE = 2

#: Called with what has just ended and the number of simulations that this makes.
Progress = Callable[[str, int], None]

#: Of machines of many hosts alone.
HOST_FIELDS = (
    "hosts", "distribution", "grid", "messages", "bytes_sent", "most_messages_of_a_host", "most_bytes_of_a_host",
    "peak_bytes_of_a_host", "owned_bytes", "per_host",
)  # fmt: skip

_ERRORS = {error.__name__: error for error in (UsageError, ValueError, LinAlgError, BackendError, MemoryError)}


@dataclass(frozen=True)
class Simulation:
    """One configuration. Empty strings and zero leave the choice to the library."""

    routine: str
    n: int
    machine: str
    nb: int = 0
    precision: str = "d"
    variant: str = ""
    scheduler: str = ""
    workers: tuple[str, ...] = ()  #: numbers or names of cores, kinds and devices, each with `:count` behind it; none: all
    model: str = ""  #: execution model of a machine with unequal clusters
    seed: int = 1
    effects: dict[str, Any] = field(default_factory=dict)  #: options of the simulation, as effects.parse_effects gives them
    outputs: tuple[tuple[str, str], ...] = ()  #: files to write the trace to, each with its view
    grid_rows: int = 0  #: of hosts, on machines that have many; 0: the squarest
    grid_cols: int = 0
    distribution: str = "block-cyclic"  #: of the tiles over the hosts, or symmetric
    as_called: bool = False  #: the graph of a call on just these cores of one host, not the one that is the same on any number
    m: int = 0  #: rows; 0: n, and in the tall form of QR as many as geqrf asks of a matrix that it takes for tall
    k: int = 0  #: depth of a product; 0: n
    cut_for: int = 0  #: a product without nb is cut as in a call on so many workers; 0: into square tiles

    @property
    def random(self) -> bool:
        """Does what comes out depend on the seed?"""
        by_chance = any(self.effects.get(name) for name in ("remap_s", "jitter"))
        return by_chance or _core.chooses_at_random(self.scheduler or "mosaic")

    def __str__(self) -> str:
        size = f"{self.m}x{self.n}" if self.m else f"n={self.n}"
        return f"{self.routine} {size} {self.scheduler or 'default scheduler'}"


class _Simulator:
    """A process that answers requests, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "trencadis.simulation_process"]
        self.process: subprocess.Popen[str] = start_child(command, sorted(os.sched_getaffinity(0)))
        self.place = -1  #: of the simulation that it runs
        self.simulation: Simulation | None = None
        self.ended = False

    def ask(self, place: int, simulation: Simulation) -> None:
        assert self.process.stdin is not None
        self.place, self.simulation = place, simulation
        with suppress(BrokenPipeError):  # it has ended, which reading tells
            self.process.stdin.write(json.dumps(asdict(simulation)) + "\n")
            self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What has begun to come: the record, or `error` and `message`."""
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        if not text.endswith("\n"):
            self.ended = True
            return {"error": "RuntimeError", "message": f"the simulation of {self.simulation} {ending(self.process)}"}
        return json.loads(text)

    def record(self) -> dict[str, Any]:
        """The answer; raises its error here as its own kind."""
        answer = self.answer()
        if "error" in answer:
            raise _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
        return answer


def simulate_all(
    simulations: Sequence[Simulation], progress: Progress = lambda text, done: None, failing: bool = False
) -> Iterator[dict[str, Any]]:
    """The records in the order of the simulations, each as soon as it and all before it are there. One that fails raises its
    error; with `failing` it is `error` and `message` in its place, and the others go on. Leaving the generator, by whatever way,
    ends all processes. Call it on the main thread."""
    waiting = list(enumerate(simulations))[::-1]
    simulators: list[_Simulator] = []
    done: dict[int, dict[str, Any]] = {}
    try:
        with DefaultSelector() as selector:

            def start() -> None:
                if waiting:
                    one = _Simulator()
                    simulators.append(one)
                    selector.register(one.process.stdout, EVENT_READ, one)
                    one.ask(*waiting.pop())

            for _ in range(min(AT_ONCE, len(os.sched_getaffinity(0)))):
                start()
            for wanted in range(len(simulations)):
                while wanted not in done:
                    for key, _ in selector.select():
                        one: _Simulator = key.data
                        done[one.place] = one.answer() if failing else one.record()
                        progress(str(one.simulation), 1)
                        if waiting and not one.ended:
                            one.ask(*waiting.pop())
                            continue
                        selector.unregister(key.fileobj)
                        if one.ended:
                            start()
                yield done.pop(wanted)
    finally:
        end_children([one.process for one in simulators])


def contract_record(record: dict[str, Any], effects: dict[str, Any]) -> dict[str, Any]:
    """The fields that the command line promises for every run, then those of simulated ones. A simulated run happens once, and
    computes nothing."""
    seconds, rate = record["makespan_s"], record["gflops"]
    per_worker = record["per_worker"]
    return {
        "routine": record["routine"],
        "n": record["n"],
        **({} if record["m"] is None else {"m": record["m"]}),
        "nb": record["nb"],
        "precision": record["precision"],
        "variant": record["variant"],
        "engine": "simulated",
        "scheduler": record["scheduler"],
        "kernels": None,
        "threads": None,
        "workers": [worker["name"] for worker in per_worker],
        "machine": record["machine"],
        "seconds_median": seconds,
        "seconds_min": seconds,
        "seconds_max": seconds,
        "gflops_median": rate,
        "gflops_max": rate,
        "idle_fraction": record["idle_fraction"],
        "residual": None,
        "simulated": True,
        "makespan_s": seconds,
        "energy_j": record["energy_j"],
        "bound_gflops": record["bound_gflops"],
        "area_s": record["area_s"],
        "critical_s": record["critical_s"],
        "model": record["model"],
        "inner": record["inner"],
        "tasks": record["tasks"],
        "bytes_moved": record["bytes_moved"],
        "transfers": record["transfers"],
        "local_bytes": record["local_bytes"],
        "remote_bytes": record["remote_bytes"],
        **{key: record[key] for key in ("cores_j", "package_j", "memory_j")},
        "traffic": record["traffic"],
        "effects": effects,
        "per_worker": per_worker,
        "per_kernel": record["per_kernel"],
        **{key: record[key] for key in HOST_FIELDS if key in record},
    }
