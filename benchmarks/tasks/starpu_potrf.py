"""Our Cholesky on engine `starpu` beside the plain one of starpu_potrf.c, in one run, A B A B: same kernels, tiles and workers.

    python benchmarks/tasks/starpu_potrf.py --n 2048 --nb 256 --kernels openblas --plain prio,lws [--repeat 9]

Prints one JSON object per plain scheduler: medians in seconds, and the median of the ratios plain / ours, pair by pair (above 1
ours is faster)."""

import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}

import numpy as np
from trencadis import _core as core

PLAIN = Path(__file__).parents[2] / "build" / "bin" / "starpu_potrf"


class Plain:
    def __init__(self, n: int, nb: int, threads: int, scheduler: str, library: str) -> None:
        command = [str(PLAIN), str(n), str(nb), str(threads), scheduler, library]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.introduction = json.loads(self.process.stdout.readline())

    def run(self) -> float:
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        seconds, error = map(float, self.process.stdout.readline().split())
        assert error < 1e-10, error
        return seconds


class Ours:
    def __init__(self, n: int, nb: int, threads: int, scheduler: str, kernels: str, variant: str) -> None:
        self.session = core.Session(engine="starpu", scheduler=scheduler, kernels=kernels, workers=list(range(threads)))
        self.nb, self.variant = nb, variant
        known = np.asfortranarray(np.tril(np.full((n, n), 1.0 / n), -1) + 2 * np.eye(n))
        self.matrix, self.factor = np.asfortranarray(known @ known.T), known
        self.work = self.matrix.copy(order="F")

    def run(self) -> float:
        np.copyto(self.work, self.matrix)
        begin = time.perf_counter()
        info = core.potrf(self.session, "L", self.work, nb=self.nb, variant=self.variant)
        seconds = time.perf_counter() - begin
        assert info == 0 and np.abs(np.tril(self.work) - self.factor).max() < 1e-10
        return seconds


def library_of(kernels: str) -> str:
    return next(row for row in core.list_kernels() if row["name"] == kernels)["path"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=2048)
    parser.add_argument("--nb", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kernels", default="openblas")
    parser.add_argument("--variant", default="in-place")
    parser.add_argument("--scheduler", default="")
    parser.add_argument("--plain", default="lws,prio,dmdas,eager")
    parser.add_argument("--repeat", type=int, default=9)
    given = parser.parse_args()
    ours = Ours(given.n, given.nb, given.threads, given.scheduler, given.kernels, given.variant)
    for scheduler in given.plain.split(","):
        plain = Plain(given.n, given.nb, given.threads, scheduler, library_of(given.kernels))
        for contestant in (ours, plain):
            contestant.run(), contestant.run()
        pairs = [(ours.run(), plain.run()) for _ in range(given.repeat)]
        mine, others = zip(*pairs, strict=True)
        print(json.dumps({
            **plain.introduction, "kernels": given.kernels, "variant": given.variant, "repeat": given.repeat,
            "scheduler_ours": ours.session.options()["scheduler"],
            "seconds_ours": statistics.median(mine), "seconds_plain": statistics.median(others),
            "min_ours": min(mine), "min_plain": min(others), "pairs": [round(b / a, 3) for a, b in pairs],
            "ratio_median": statistics.median(b / a for a, b in pairs),
        }), flush=True)  # fmt: skip
        plain.process.stdin.close()
        plain.process.wait()


if __name__ == "__main__":
    main()
