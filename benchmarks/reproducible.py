#!/usr/bin/env python3
"""What reproducible sessions cost: the same routine in a plain and in a reproducible session, in turn, A B A B.

    reproducible.py [--n 1024,2048] [--routines gemm,potrf] [--workers 0,1] [--pairs 11]

Prints a line per routine and order: median seconds of both, and the median of the pairs' ratios with the least and the greatest;
1.05 is 5 % slower.
"""

import argparse
import statistics

from trencadis import _core
from trencadis.bench import runs_within
from trencadis.measure import Job, Ours


def compare(routine, n, workers, pairs):
    sessions = [_core.Session(workers=workers, reproducible=wanted) for wanted in (False, True)]
    sides = [Ours(_core, session, Job(routine, n)) for session in sessions]
    inner = runs_within(max(side.run().seconds for side in sides))
    seconds = [[], []]
    for _ in range(pairs):
        for side, times in zip(sides, seconds, strict=True):
            times.append(statistics.median(side.run().seconds for _ in range(inner)))
    ratios = [b / a for a, b in zip(*seconds, strict=True)]
    return [statistics.median(times) for times in seconds], ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", default="512,1024,2048,4096")
    parser.add_argument("--routines", default="gemm,potrf,getrf,geqrf")
    parser.add_argument("--workers", default="0,1")
    parser.add_argument("--pairs", type=int, default=11)
    options = parser.parse_args()
    workers = [int(core) for core in options.workers.split(",")]
    for routine in options.routines.split(","):
        for n in map(int, options.n.split(",")):
            (plain, fixed), ratios = compare(routine, n, workers, options.pairs)
            spread = f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
            print(f"{routine} n = {n}: plain {plain:.5f} s, reproducible {fixed:.5f} s, ratio {spread}", flush=True)


if __name__ == "__main__":
    main()
