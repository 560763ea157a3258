"""Calls of a routine from several threads of a program at once: the standard session, which all share, beside static settings.

    .venv/bin/python benchmarks/nested.py [--routine potrf,gemm] [--n 500,1000,2000] [--threads 1,2,4] [--repeat 7]

`standard` goes by this host's calibration (trencadis tune) where there is one, `rule` never does. Static settings: a session with
one worker for each thread, on the cores in turn, and OpenBLAS (scipy-openblas32) with one thread for each call. Times are of one
call: a round's time over the calls of all threads. Rounds are in turn, A B C D D C B A, and medians are kept; the ratio is the
median of each round's own, of the static setting that is the faster one by its median.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import threading
import time

import numpy as np
from trencadis import _core
from trencadis.fortran import FortranLibrary
from trencadis.options import size_list
from trencadis.peers import peer_named
from trencadis.workloads import WORKLOADS

ROUND_S = 0.25  #: about; in shorter rounds what begins and ends them counts


class Contestant:
    """One session for all threads, or one for each; or a vendor's library."""

    def __init__(self, *sessions: _core.Session, library: FortranLibrary | None = None) -> None:
        self.sessions, self.library = sessions, library

    def call(self, work, thread: int):
        if self.library:
            return work.vendor(self.library)
        return work.ours(_core, self.sessions[thread % len(self.sessions)], 0, "")


def seconds(contestant: Contestant, works: list, calls: int) -> float:
    gate = threading.Barrier(len(works) + 1)

    def body(work, call) -> None:
        gate.wait()
        for _ in range(calls):
            work.restore()
            call()
        gate.wait()

    threads = [threading.Thread(target=body, args=(work, contestant.call(work, i))) for i, work in enumerate(works)]
    for thread in threads:
        thread.start()
    gate.wait()
    begin = time.perf_counter()
    gate.wait()
    took = time.perf_counter() - begin
    for thread in threads:
        thread.join()
    return took / (calls * len(works))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routine", default="potrf", help="square, of those that bench has")
    parser.add_argument("--n", default="500,1000,2000")
    parser.add_argument("--threads", default="1,2,4")
    parser.add_argument("--repeat", type=int, default=7)
    words = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    most = max(size_list(words.threads))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    contestants = {
        "standard": Contestant(_core.Session()),
        "rule": Contestant(_core.Session(objective="rule")),
        "1 worker each": Contestant(*(_core.Session(workers=[cores[i % len(cores)]]) for i in range(most))),
        "openblas": Contestant(library=FortranLibrary(peer_named("openblas").find())),
    }
    for routine, n, count in itertools.product(words.routine.split(","), size_list(words.n), size_list(words.threads)):
        work = WORKLOADS[routine]
        ours, theirs = ([work(n, np.float64) for _ in range(count)] for _ in range(2))  # whose pivots differ in their type
        calls = max(2, round(ROUND_S / (work.flops(n, np.float64) / 5e10) / count))
        took: dict[str, list[float]] = {name: [] for name in contestants}
        for turn in range(words.repeat):
            for name, contestant in list(contestants.items())[:: -1 if turn % 2 else 1]:
                took[name].append(seconds(contestant, theirs if contestant.library else ours, calls))
        told = ", ".join(f"{name} {1e6 * statistics.median(times):.0f} us ({1e6 * min(times):.0f} to "
                         f"{1e6 * max(times):.0f})" for name, times in took.items())  # fmt: skip
        best = min((took[name] for name in ("1 worker each", "openblas")), key=statistics.median)
        ratios = sorted(static / standard for static, standard in zip(best, took["standard"], strict=True))
        print(f"{routine} {n}, {count} threads: {told}; best static over standard "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
