"""Simulated configurations, each in a process of its own, as many at a time as there are cores, two at most.

Two, because each may need gigabytes, and because of cores that somebody else is using.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from selectors import EVENT_READ, DefaultSelector
from typing import Any

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
    m: int = 0  #: rows of the tall form of QR; 0: as many as geqrf asks of a matrix that it takes for tall

    def __str__(self) -> str:
        size = f"{self.m}x{self.n}" if self.m else f"n={self.n}"
        return f"{self.routine} {size} {self.scheduler or 'default scheduler'}"


class _Child:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        command = [sys.executable, "-m", "trencadis.simulation_process"]
        self.process: subprocess.Popen[str] = start_child(command, sorted(os.sched_getaffinity(0)))
        assert self.process.stdin is not None
        json.dump(asdict(simulation), self.process.stdin)
        self.process.stdin.close()

    def record(self) -> dict[str, Any]:
        """The answer of a child that has begun to give it; raises its error here as its own kind."""
        assert self.process.stdout is not None
        text = self.process.stdout.read()
        if not text:
            raise RuntimeError(f"the simulation of {self.simulation} {ending(self.process)}")
        answer = json.loads(text)
        if "error" in answer:
            raise _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
        return answer


def simulate_all(simulations: Sequence[Simulation], progress: Progress = lambda text, done: None) -> Iterator[dict[str, Any]]:
    """The records in the order of the simulations, each as soon as it and all before it are there. Leaving the generator, by
    whatever way, ends all processes. Call it on the main thread."""
    waiting = list(enumerate(simulations))[::-1]
    running: dict[int, _Child] = {}
    done: dict[int, dict[str, Any]] = {}
    at_once = min(AT_ONCE, len(os.sched_getaffinity(0)))
    try:
        with DefaultSelector() as selector:
            for wanted in range(len(simulations)):
                while wanted not in done:
                    while waiting and len(running) < at_once:
                        place, simulation = waiting.pop()
                        running[place] = _Child(simulation)
                        selector.register(running[place].process.stdout, EVENT_READ, place)
                    for key, _ in selector.select():
                        selector.unregister(key.fileobj)
                        child = running[key.data]
                        done[key.data] = child.record()
                        end_children([running.pop(key.data).process])
                        progress(str(child.simulation), 1)
                yield done.pop(wanted)
    finally:
        end_children([child.process for child in running.values()])


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
        "effects": effects,
        "per_worker": per_worker,
        "per_kernel": record["per_kernel"],
        **{key: record[key] for key in HOST_FIELDS if key in record},
    }
