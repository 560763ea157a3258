"""Busy neighbours: processes that compete for given cores while a measurement runs.

Each is one process pinned to one core that spins in C at normal priority, as any other program of the same user might.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from types import TracebackType

from .children import end_children, start_child
from .errors import UsageError

#: The endless sum runs inside the interpreter's C code.
_SPIN = "import itertools; print('spinning', flush=True); sum(itertools.repeat(0))"


class BusyNeighbours:
    """Context manager: `with BusyNeighbours({1: 3}):` keeps three processes spinning on core 1.

    Entering returns when all of them spin; leaving, by whatever way, ends them and waits for their end. Enter it on the
    main thread: the kernel ties a child's life to the thread that started it. UsageError for a core that this process
    may not use.
    """

    def __init__(self, counts: Mapping[int, int]) -> None:
        allowed = os.sched_getaffinity(0)
        for core in counts:
            if core not in allowed:
                raise UsageError(f"--busy: there is no core {core}; cores here: {format_cores(allowed)}")
        self._counts = dict(counts)
        self._children: list[subprocess.Popen[str]] = []

    def __enter__(self) -> BusyNeighbours:
        try:
            for core in self._counts:
                for _ in range(self._counts[core]):
                    self._children.append(start_child([sys.executable, "-I", "-S", "-c", _SPIN], [core]))
            for child in self._children:
                if child.stdout is None or child.stdout.readline() != "spinning\n":
                    raise RuntimeError("a busy neighbour did not start")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def pids(self) -> list[int]:
        """Process numbers of the neighbours that run now."""
        return [child.pid for child in self._children]

    def _end(self) -> None:
        end_children(self._children)
        self._children.clear()


def capacity_left(workers: list[int], counts: Mapping[int, int]) -> float:
    """Share of the workers' cores that a fair kernel leaves to one thread per core: the mean of 1 / (1 + neighbours)."""
    return sum(1 / (1 + counts.get(core, 0)) for core in workers) / len(workers)


def format_cores(cores: Iterable[int]) -> str:
    """Core numbers in the form that `--workers` takes: 0,1,4-7."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(a) if a == b else f"{a},{b}" if b == a + 1 else f"{a}-{b}" for a, b in runs)
