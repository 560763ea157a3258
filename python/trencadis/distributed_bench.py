"""`trencadis bench` over the processes of an MPI program: matrices in tiles that each holds its share of, never whole anywhere.

All processes run the same command; the first one prints. The operands are made from a seed and the place of each element, so that
they do not depend on how many processes there are. A timed run begins when all are there, and has taken as long as the slowest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import bench as alone
from .checks import one_of
from .errors import UsageError
from .measure import Job, Run, describe_session
from .options import PRECISIONS

ENGINE = "starpu-mpi"
ROUTINES = ("potrf", "posv", "getrf", "gesv", "geqrf", "gemm")
#: What a call takes that names no variant, and whose tile sizes are taken.
_VARIANTS = {
    "potrf": "packed", "posv": "packed", "getrf": "tournament", "gesv": "tournament", "geqrf": "flat", "gemm": "in-place",
}  # fmt: skip
_RIGHT_SIDES = 16


@dataclass(frozen=True)
class Layout:
    """How tiles are dealt out: by a grid of processes, or by pairs of rows (hal-03768910)."""

    grid: tuple[int, int]
    symmetric: bool = False

    def __str__(self) -> str:
        return "symmetric" if self.symmetric else f"{self.grid[0]}x{self.grid[1]}"


def _row_interchanges(routine: str, variant: str) -> bool:
    return routine in ("getrf", "gesv") and variant not in ("nopiv", "incremental")


def _default_grid(processes: int, row_cost: int) -> tuple[int, int]:
    """The grid p x q that sends least: a tile of a panel goes to q - 1 processes, one to its right to p - 1, row_cost times."""
    grids = [(p, processes // p) for p in range(1, int(processes**0.5) + 1) if processes % p == 0]
    return min(grids, key=lambda grid: (grid[1] - 1 + row_cost * (grid[0] - 1), -grid[0]))


def layout_of(grid: str, owners: str, processes: int, routine: str = "", variant: str = "") -> Layout:
    """What --grid and --distribution stand for. Where no grid was given, the one nearest to a square; for LU with row
    interchanges the one that sends least with a tournament, where as many rows as a tile has go down and up a tile column."""
    one_of("--distribution", owners or "block-cyclic", ("block-cyclic", "symmetric"))
    if owners == "symmetric":
        return Layout((_order_of_pairs(processes), 1), True)
    if not grid:
        return Layout(_default_grid(processes, 3 if _row_interchanges(routine, variant) else 1))
    words = grid.split("x")
    if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"--grid: '{grid}' is no grid of processes; give rows and columns, as 2x2")
    rows, cols = int(words[0]), int(words[1])
    if rows * cols != processes:
        raise UsageError(
            f"--grid: {grid} are {rows * cols} processes, and there are {processes}; start so many with mpirun -n {rows * cols}"
        )
    return Layout((rows, cols))


#: Rows of tiles that a matrix may be cut into: a task takes some 10 us over processes, a factorization has the cube of it / 3.
_MOST_TILE_ROWS = 500


def check_tile_size(n: int, nb: int) -> None:
    """UsageError for tiles so small that a call would take hours."""
    tiles = -(-n // nb)
    if tiles > _MOST_TILE_ROWS:
        least = -(-n // _MOST_TILE_ROWS)
        tasks = f"some {tiles**3 / 3:.1g} tasks of about 10 us"
        raise UsageError(f"--nb: {nb} cuts order {n} into {tiles} x {tiles} tiles, {tasks}; take at least {least}")


def _order_of_pairs(processes: int) -> int:
    for r in range(2, 400):
        if r * (r - 1) // 2 == processes:
            return r
    raise UsageError(f"--distribution: symmetric owners are 1, 3, 6, 10, ... r (r - 1) / 2 processes, and there are {processes}")


class Problem:
    """The operands of one routine, made once; `run` restores what a call overwrites."""

    def __init__(self, core: Any, session: Any, job: Job, nb: int, variant: str, layout: Layout) -> None:
        self._core, self._session, self._job, self._variant = core, session, job, variant

        def matrix(rows: int, cols: int, tile_cols: int = nb, idle_too: bool = False) -> Any:
            return core.DistributedMatrix(
                session, job.precision, rows, cols, nb, tile_cols, layout.grid, layout.symmetric, idle_too
            )

        self._matrix = matrix
        n = job.n
        self._pivots = np.zeros(n, np.int64)
        self.A, self.factors = matrix(n, n), matrix(n, n)
        if job.routine in ("potrf", "posv") or variant == "nopiv":
            self.A.fill_definite(1)
        else:
            self.A.fill_random(1)
        self.B, self.X = self._right_sides(), self._right_sides()
        self.B.fill_random(2)
        if job.routine == "gemm":
            self.second = matrix(n, n)
            self.second.fill_random(3)

    def _right_sides(self) -> Any:
        return self._matrix(self._job.n, _RIGHT_SIDES, _RIGHT_SIDES, True)

    def run(self) -> Run:
        """Timed, from when all are there until the last has done its part."""
        self.factors.copy_tiles(self.A)
        self.X.copy_tiles(self.B)
        self._core.largest(self._session, 0.0)
        begin = time.perf_counter()
        info = self._call()
        seconds = self._core.largest(self._session, time.perf_counter() - begin)
        if info:
            raise UsageError(f"{self._job.routine}: info = {info}")
        return Run(seconds)

    def _call(self) -> int:
        core, session, factors = self._core, self._session, self.factors
        calls: dict[str, Callable[[], int | None]] = {
            "potrf": lambda: core.shared_potrf(session, "L", factors, self._variant),
            "posv": lambda: core.shared_posv(session, "L", factors, self.X, self._variant),
            "getrf": lambda: core.shared_getrf(session, factors, self._pivots, self._variant),
            "gesv": lambda: core.shared_gesv(session, factors, self._pivots, self.X, self._variant),
            "geqrf": lambda: core.shared_geqrf(session, factors, self._variant),
            "gemm": lambda: core.shared_gemm(session, "N", "N", 1, self.A, self.second, 0, factors),
        }
        return calls[self._job.routine]() or 0

    def residual(self) -> float:
        """Of the last run, by gemm of the same processes: |A X - B| / (n eps (|A| |X| + |B|)) of a solution with the factors,
        |A^H A - R^H R| / (n eps |A|^2) of QR, |A (B X) - C X| / (n eps (|A| |B X| + |C X|)) of a product; Frobenius norms."""
        core, session, routine = self._core, self._session, self._job.routine
        if routine == "geqrf":
            return self._residual_of_qr()
        if routine == "gemm":
            BX, CX = self._right_sides(), self._right_sides()
            core.shared_gemm(session, "N", "N", 1, self.second, self.B, 0, BX)
            core.shared_gemm(session, "N", "N", 1, self.factors, self.B, 0, CX)
            return self._distance(self.A, BX, CX)
        if routine == "potrf":
            core.shared_potrs(session, "L", self.factors, self.X)
        elif routine == "getrf":
            core.shared_getrs(session, "N", self.factors, self._pivots, self.X)
        rest = self._right_sides()
        rest.copy_tiles(self.B)
        return self._distance(self.A, self.X, rest)

    def _eps(self) -> float:
        return self._job.n * float(np.finfo(PRECISIONS[self._job.precision]).eps)

    def _distance(self, A: Any, X: Any, B: Any) -> float:
        """B is lost."""
        session = self._session
        scale = A.norm(session) * X.norm(session) + B.norm(session)
        self._core.shared_gemm(session, "N", "N", 1, A, X, -1, B)
        return B.norm(session) / (self._eps() * scale)

    def _residual_of_qr(self) -> float:
        core, session, n = self._core, self._session, self._job.n
        self.factors.keep_triangle("U")
        C = self._matrix(n, n)
        core.shared_gemm(session, "C", "N", 1, self.A, self.A, 0, C)
        core.shared_gemm(session, "C", "N", 1, self.factors, self.factors, -1, C)
        return C.norm(session) / (self._eps() * self.A.norm(session) ** 2)


def check_request(request: alone.Request) -> None:
    """UsageError for what several processes do not do."""
    one_of(f"routine of engine {ENGINE}", request.routine, ROUTINES)
    if request.shapes:
        raise UsageError(f"--shape: engine {ENGINE} measures square problems, by --n")
    if request.busy:
        raise UsageError(f"--busy: goes with one process; engine {ENGINE} has several")


def _check_memory(job: Job, processes: int) -> None:
    """UsageError where each process on a machine like this one could not hold its share of the operands alone."""
    here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    share = 2 * job.n**2 * np.dtype(PRECISIONS[job.precision]).itemsize / processes
    if share > here:
        raise UsageError(f"{job}: {share / 1e9:.3g} GB for each of {processes} processes, and this machine has {here / 1e9:.3g}")


def bench(request: alone.Request, core: Any, session: Any, layout: Layout, progress: alone.Progress) -> Iterator[dict[str, Any]]:
    """One record per size, the same on all processes."""
    description = describe_session(core, session)
    _, processes = core.process(session)
    choice = request.session
    core.agree(session, f"bench {request.routine} {choice.variant or 'auto'} {choice.nb} {request.repeat} {request.check}")
    for job in request.jobs():
        core.agree(session, str(job))
        _check_memory(job, processes)
        variant = request.session.variant or _VARIANTS[job.routine]
        nb = request.session.nb or _tile(core, job, variant, processes * session.workers)
        check_tile_size(job.n, nb)
        progress(f"{job}: preparing", 0)
        problem = Problem(core, session, job, nb, variant, layout)
        problem.run()
        runs = []
        for repetition in range(request.repeat):
            progress(f"{job}: {repetition + 1}/{request.repeat}", 1)
            runs.append(problem.run())
        messages, bytes_sent = core.sent(session)
        residual = problem.residual() if request.check else None
        progress(f"{job}: done", 1)
        row = alone.record(request, job, description, runs, residual)
        row |= {"nb": nb, "variant": variant, "grid": str(layout), "processes": processes}
        row |= {"messages": messages, "bytes_sent": bytes_sent, "bytes_held": core.largest(session, problem.A.bytes)}
        yield row


def _tile(core: Any, job: Job, variant: str, workers: int) -> int:
    """As one process would cut it with all the workers."""
    return core.default_tile(job.routine, variant, job.n, np.dtype(PRECISIONS[job.precision]).itemsize, workers)
