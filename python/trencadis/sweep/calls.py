"""The calls of a sweep: routines with leading dimensions of our choice, by Fortran symbols, on operands in the same memory.

Operands begin on a page and hold what workload.py's do: numbers uniform in (-0.5, 0.5), n on the diagonal of what is positive
definite or triangular. A call that spoils its operand for the next has it restored before, column by column, outside of the time.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .. import _core
from ..fortran import FortranCall, FortranLibrary
from ..options import PRECISIONS
from ..turns import Restore, check_info
from ..workload import SEED
from ..workloads import WORKLOADS

#: Seconds of calls in a turn, at least; of those dropped before; and of a call before which none is dropped.
TURN_S, DROPPED_S, LONG_S = 0.002, 0.0005, 0.004
#: How often a turn is made that others disturb, and for how many seconds.
TRIES, PATIENCE_S = 5, 0.05
_PAGE = 4096


@dataclass(frozen=True)
class Case:
    """What is called. `letters` are the transpositions of gemm, NN to TT, or the side of trsm, L or R; else there are none."""

    routine: str
    precision: str
    letters: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.precision + self.routine, SAID.get(self.letters, self.letters))))

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(PRECISIONS[self.precision])

    def flops(self, n: int) -> float:
        return WORKLOADS[self.routine].flops(n, PRECISIONS[self.precision])

    def fields(self) -> dict[str, Any]:
        return asdict(self)


def threads_text(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


class Memory:
    """Operands of up to n columns with up to ld rows between them, each in an area of its own, which every call reuses."""

    def __init__(self, dtype: np.dtype, n: int, ld: int) -> None:
        self.dtype, self._count = dtype, n * ld
        random = np.random.default_rng(SEED)
        real = np.zeros(0, dtype).real.dtype
        self._random = (random.random(self._count * dtype.itemsize // real.itemsize, dtype=real) - real.type(0.5)).view(dtype)
        self._areas: dict[str, np.ndarray] = {}

    def area(self, name: str) -> np.ndarray:
        if name not in self._areas:
            self._areas[name] = _on_a_page(self._count, self.dtype)
            self._areas[name][:] = self._random
        return self._areas[name]

    def laid_out(self, name: str, n: int, ld: int, dominant: bool) -> np.ndarray:
        """The area, with a matrix in it."""
        area = self.area(name)
        columns = area[: n * ld].reshape(n, ld)[:, :n]
        np.copyto(columns, self._random[: n * n].reshape(n, n))
        if dominant:
            np.fill_diagonal(columns, n)
        return area

    def restored(self, n: int, ld: int, dominant: bool) -> tuple[np.ndarray, list[Restore]]:
        """The area of an operand that is overwritten, and what to copy before each call."""
        area, pristine = self.area("overwritten"), self.laid_out("pristine", n, n, dominant)
        if ld == n:
            return area, [(area.ctypes.data, pristine.ctypes.data, n * n * self.dtype.itemsize)]
        column = self.dtype.itemsize
        to, source = area.ctypes.data, pristine.ctypes.data
        return area, [(to + j * ld * column, source + j * n * column, n * column) for j in range(n)]


def _on_a_page(count: int, dtype: np.dtype) -> np.ndarray:
    memory = np.empty(count * dtype.itemsize + _PAGE, np.uint8)
    first = -memory.ctypes.data % _PAGE
    return memory[first : first + count * dtype.itemsize].view(dtype)


Prepared = tuple[FortranCall, list[Restore]]


def _gemm(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    one, (a, b, c) = m.dtype.type(1), map(m.area, "ABC")
    return library.call("gemm", m.dtype, letters[0], letters[1], n, n, n, one, a, ld, b, ld, one, c, ld), []


def _syrk(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    one, (a, c) = m.dtype.type(1), map(m.area, "AC")
    return library.call("syrk", m.dtype, "L", "N", n, n, one, a, ld, one, c, ld), []


def _trsm(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    """L X = B, or X L^T = B as Cholesky has it."""
    a, (b, restores) = m.laid_out("A", n, ld, dominant=True), m.restored(n, ld, dominant=False)
    transposed = "N" if letters == "L" else "T"
    return library.call("trsm", m.dtype, letters, "L", transposed, "N", n, n, m.dtype.type(1), a, ld, b, ld), restores


def _potrf(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    """Of two triangles the lower is read: the matrix need not be symmetric."""
    a, restores = m.restored(n, ld, dominant=True)
    return library.call("potrf", m.dtype, "L", n, a, ld, library.info), restores


def _getrf(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    a, restores = m.restored(n, ld, dominant=False)
    return library.call("getrf", m.dtype, n, n, a, ld, np.empty(n, library.integer), library.info), restores


def _geqrf(library: FortranLibrary, m: Memory, letters: str, n: int, ld: int) -> Prepared:
    a, restores = m.restored(n, ld, dominant=False)
    tau, work = np.empty(n, m.dtype), np.empty(64 * n, m.dtype)
    return library.call("geqrf", m.dtype, n, n, a, ld, tau, work, len(work), library.info), restores


@dataclass(frozen=True)
class Routine:
    """How a routine is called, with which letters, and how many areas its operands have."""

    prepare: Callable[[FortranLibrary, Memory, str, int, int], Prepared]
    areas: int
    letters: tuple[str, ...] = field(default=("",))


ROUTINES = {
    "gemm": Routine(_gemm, 3, ("NN", "TN", "NT", "TT")),
    "syrk": Routine(_syrk, 2),
    "trsm": Routine(_trsm, 3, ("L", "R")),
    "potrf": Routine(_potrf, 2),
    "getrf": Routine(_getrf, 2),
    "geqrf": Routine(_geqrf, 2),
}

#: Letters as people read them.
SAID = {"L": "left", "R": "right"}


def bytes_needed(case: Case, n: int, ld: int) -> int:
    """With the random numbers that all come from."""
    return (ROUTINES[case.routine].areas + 1) * n * ld * case.dtype.itemsize


class Caller:
    """One case on a library in this process, for orders and leading dimensions up to these."""

    def __init__(self, library: FortranLibrary, case: Case, n: int, ld: int) -> None:
        self._library, self._case = library, case
        self._memory = Memory(case.dtype, n, ld)
        self._seconds: dict[tuple[int, int], float] = {}
        self.turn(n, ld)  # loads what is loaded lazily, and touches the memory

    def turn(self, n: int, ld: int) -> tuple[float, bool]:
        """Seconds of a call, as the mean of calls one after the other from C, and whether nobody else had our processors
        meanwhile. A turn in which somebody had is made again, and the shortest counts if that does not help."""
        call, restores = ROUTINES[self._case.routine].prepare(self._library, self._memory, self._case.letters, n, ld)
        least, begin = math.inf, time.perf_counter()
        for _ in range(TRIES):
            switches = _switches()
            seconds = self._calls(call, restores, (n, ld))
            least = min(least, seconds)
            if _switches() == switches:
                return seconds, True
            if time.perf_counter() - begin > PATIENCE_S:
                break
        return least, False

    def _calls(self, call: FortranCall, restores: list[Restore], at: tuple[int, int]) -> float:
        dropped = 0.0 if self._seconds.get(at, 0.0) > LONG_S else DROPPED_S
        calls, inside, _, _ = _core.time_calls(call.address, call.words, restores, dropped=dropped, least=TURN_S)
        check_info(call.info, f"{self._case} with n = {at[0]} and leading dimension {at[1]}")
        self._seconds[at] = inside / calls
        return inside / calls


def _switches() -> int:
    """How often the system has taken a processor away from a thread of ours that had not given it up."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
