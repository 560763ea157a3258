#!/usr/bin/env python3
"""Cholesky and LU on one of NVIDIA's GPUs, ours beside cuSOLVER's, in turns; one JSON object per line.

    python benchmarks/devices/cusolver.py --routine potrf --n 16384,32768 --nb 1024,2048 --repeat 7

Places:
  there    the matrix lies on the device before the call and after it
  locked   it lies in the host's memory, which is page-locked before the clock starts: copies are in the time, cuSOLVER's as ours
  plain    it lies in the host's memory as NumPy has made it

A matrix is restored before each call, outside the clock; a first call is not counted. `error` is max |x - 1| of a solution with
our factors. Figures are medians of `--repeat` in seconds, with least and most.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import trencadis
from trencadis import _core as core
from trencadis.device_arrays import Matrix

FLOPS = {"potrf": 1 / 3, "getrf": 2 / 3}
LOWER = 0


def require(code: int, what: str) -> None:
    if code:
        raise SystemExit(f"{what} answers {code}")


class Solver:
    """cuSOLVER by its legacy interface, in the device's primary context."""

    def __init__(self, n: int) -> None:
        self.cuda, self.dense = (ctypes.CDLL(name) for name in ("libcuda.so.1", "libcusolver.so.12"))
        self.n, self.taken = n, []
        context, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        require(self.cuda.cuInit(0), "cuInit")
        require(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "the context")
        require(self.cuda.cuCtxSetCurrent(context), "the context")
        require(self.dense.cusolverDnCreate(ctypes.byref(self.handle)), "cusolverDnCreate")
        self.stream = ctypes.c_void_p()
        require(self.cuda.cuStreamCreate(ctypes.byref(self.stream), 0), "cuStreamCreate")
        require(self.dense.cusolverDnSetStream(self.handle, self.stream), "cusolverDnSetStream")
        self.said, self.pivots = self.allocate(8), self.allocate(8 * n)

    def allocate(self, size: int) -> ctypes.c_void_p:
        memory = ctypes.c_void_p()
        require(self.cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)), f"cuMemAlloc of {size}")
        self.taken.append(memory)
        return memory

    def prepare(self, routine: str, A: int) -> Callable[[], None]:
        elements, at, n = ctypes.c_int(), ctypes.c_void_p(A), self.n
        if routine == "potrf":
            require(self.dense.cusolverDnDpotrf_bufferSize(self.handle, LOWER, n, at, n, ctypes.byref(elements)), "bufferSize")
            room = self.allocate(8 * elements.value)
            return lambda: self.done(self.dense.cusolverDnDpotrf(self.handle, LOWER, n, at, n, room, elements, self.said))
        require(self.dense.cusolverDnDgetrf_bufferSize(self.handle, n, n, at, n, ctypes.byref(elements)), "bufferSize")
        room = self.allocate(8 * elements.value)
        return lambda: self.done(self.dense.cusolverDnDgetrf(self.handle, n, n, at, n, room, self.pivots, self.said))

    def end(self) -> None:
        for memory in self.taken:
            self.cuda.cuMemFree_v2(memory)
        self.dense.cusolverDnDestroy(self.handle)

    def done(self, status: int) -> None:
        require(status, "cuSOLVER")
        require(self.cuda.cuStreamSynchronize(self.stream), "the device")

    def copy(self, to: int, source: int, size: int, way: str) -> None:
        function = {"in": self.cuda.cuMemcpyHtoD_v2, "out": self.cuda.cuMemcpyDtoH_v2, "within": self.cuda.cuMemcpyDtoD_v2}[way]
        require(function(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size)), f"a copy {way}")
        require(self.cuda.cuCtxSynchronize(), "the device")


def matrix(n: int, out: np.ndarray) -> np.ndarray:
    """Symmetric, its diagonal as large as a row's sum: A[i, j] depends on (i + j) mod 997 and on |i - j|."""
    rng = np.random.default_rng(1)
    ring, band = rng.uniform(-1, 1, 997), rng.uniform(0.5, 1, n)
    around = np.resize(ring, 2 * n)
    mirrored = np.concatenate([band[:0:-1], band])
    for j in range(n):
        np.multiply(around[j : j + n], mirrored[n - 1 - j : 2 * n - 1 - j], out=out[:, j])
        out[j, j] += n
    return out


def measure(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def report(routine: str, place: str, n: int, who: str, times: list[float], **more: object) -> None:
    middle = statistics.median(times)
    print(json.dumps({
        "routine": routine, "place": place, "n": n, "who": who, "median": middle, "least": min(times), "most": max(times),
        "repeat": len(times), "tflops": round(FLOPS[routine] * n**3 / middle / 1e12, 2), **more,
    }), flush=True)  # fmt: skip


class Ours:
    """The factors, and a solution by them. The matrix is the host's, or a device array."""

    def __init__(self, session: trencadis.Session, routine: str, A: Any, nb: int, variant: str) -> None:
        self.session, self.routine, self.A, self.nb, self.variant = session, routine, A, nb, variant
        self.n = A.shape[0]
        self.pivots = np.empty(self.n, np.int64)
        self.there = not isinstance(A, np.ndarray)

    def __call__(self) -> None:
        session, n, nb, variant = self.session, self.n, self.nb, self.variant
        if self.there:
            address = Matrix.of(self.A, "A").address  # what the session calls it
            if self.routine == "potrf":
                info = core.potrf_on_device(session, "d", "L", n, address, n, nb=nb)
            else:
                info = core.getrf_on_device(session, "d", n, n, address, n, self.pivots.ctypes.data, nb=nb)
        elif self.routine == "potrf":
            info = core.potrf(session, "L", self.A, nb=nb, variant=variant)
        else:
            info = core.lapack("getrf", session, n, n, self.A, self.pivots, nb=nb, variant=variant)
        require(info or 0, self.routine)

    def error(self, sums: np.ndarray) -> float:
        if self.routine == "potrf":
            x = trencadis.cho_solve((self.A, True), sums.copy(), check_finite=False)
        else:
            x = trencadis.lu_solve((self.A, self.pivots - 1), sums.copy(), check_finite=False)
        return float(np.abs(np.asarray(x) - 1).max())


class Comparison:
    """Of one order: cuSOLVER's matrix, the one that both are restored from, and ours."""

    def __init__(self, options: argparse.Namespace, n: int) -> None:
        self.options, self.n, self.size = options, n, 8 * n * n
        self.solver = Solver(n)
        self.host = np.ndarray((n, n), order="F", buffer=np.empty(n * n))
        self.sums = matrix(n, self.host).sum(axis=1)
        self.fresh, self.theirs = (self.solver.allocate(self.size).value for _ in range(2))
        self.solver.copy(self.fresh, self.host.ctypes.data, self.size, "in")
        self.factor = self.solver.prepare(options.routine, self.theirs)

    def factor_from_host(self) -> None:
        self.solver.copy(self.theirs, self.host.ctypes.data, self.size, "in")
        self.factor()
        self.solver.copy(self.host.ctypes.data, self.theirs, self.size, "out")

    def to_host(self, say: Callable[[], None] = lambda: None) -> None:
        self.solver.copy(self.host.ctypes.data, self.fresh, self.size, "out")
        say()

    def restore(self, address: int) -> None:
        self.solver.copy(address, self.fresh, self.size, "within")

    def run(self, session: trencadis.Session, nb: int) -> None:
        routine, variant = self.options.routine, self.options.variant
        for place in self.options.places.split(","):
            if place == "there":
                array = session.device_array(self.host, 0)
                address = array.__cuda_array_interface__["data"][0]
                self.turns(session, place, Ours(session, routine, array, nb, variant), partial(self.restore, address))
            elif place == "locked":
                with session.resident(self.host) as kept:
                    self.turns(session, place, Ours(session, routine, self.host, nb, variant), partial(self.to_host, kept.touch))
            else:
                self.turns(session, place, Ours(session, routine, self.host, nb, variant), self.to_host)

    def turns(self, session: trencadis.Session, place: str, ours: Ours, restore: Callable[[], None]) -> None:
        n, routine = self.n, self.options.routine
        theirs: list[float] = []
        mine: list[float] = []
        before = session.device_traffic()

        def factor_theirs() -> None:
            if place == "there":
                self.restore(self.theirs)
            else:
                restore()
            theirs.append(measure(self.factor if place == "there" else self.factor_from_host))

        def factor_ours() -> None:
            nonlocal before
            restore()
            before = session.device_traffic()
            mine.append(measure(ours))

        for turn in range(self.options.repeat + 1):  # whoever comes second finds a warmer device
            for factor in (factor_ours, factor_theirs) if (self.options.repeat - turn) % 2 else (factor_theirs, factor_ours):
                factor()
        moved = traffic(before, session.device_traffic())
        report(routine, place, n, "cusolver", theirs[1:])
        last = session.last_variant(routine)
        form = {"form": last[0], "nb": last[1]} if isinstance(last, tuple) else {"form": str(last)}
        speed = ratio(theirs[1:], mine[1:])
        report(routine, place, n, "trencadis", mine[1:], **form, ratio=speed, error=ours.error(self.sums), **moved)


def traffic(before: list[dict], after: list[dict]) -> dict[str, float]:
    """Of the last call, on the first device."""
    return {key: after[0][key] - before[0][key] for key in ("bytes_to", "bytes_from", "bytes_staged", "kernel_s")}


def ratio(theirs: list[float], ours: list[float]) -> list[float]:
    """Of our speed to theirs: of the medians, and least and most of the turns."""
    turns = [a / b for a, b in zip(theirs, ours, strict=True)]
    return [round(x, 3) for x in (statistics.median(theirs) / statistics.median(ours), min(turns), max(turns))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--routine", choices=FLOPS, default="potrf")
    parser.add_argument("--n", default="16384")
    parser.add_argument("--nb", default="0", help="tile sizes; 0: the library's choice")
    parser.add_argument("--variant", default="", help="form, of matrices of the host; none: the library's choice")
    parser.add_argument("--places", default="there,locked,plain")
    parser.add_argument("--words", default="cuda:0", help="devices of our session")
    parser.add_argument("--scheduler", default="mosaic")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    for n in map(int, options.n.split(",")):
        comparison = Comparison(options, n)
        with trencadis.session(devices=options.words, scheduler=options.scheduler) as session:
            for nb in options.nb.split(","):
                comparison.run(session, int(nb))
        comparison.solver.end()


if __name__ == "__main__":
    main()
