"""The same tile Cholesky, with the same kernels and tiles, on an engine over OpenMP and in plain OpenMP, in turn (A B A B).

    OPENBLAS_NUM_THREADS=1 .venv/bin/python benchmarks/tasks/compare_cholesky.py --n 2048,4096

`ratio` is our speed over the plain program's, pair by pair: above 1 we are faster.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np
from trencadis import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Plain:
    def __init__(self, program, n, nb, threads, library):
        command = [str(program), str(n), str(nb), str(threads), library]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = json.loads(self.process.stdout.readline())["version"]

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(session, A, variant, nb):
    L = A.copy(order="F")
    begin = time.perf_counter()
    info = _core.potrf(session, "L", L, nb=nb, variant=variant)
    seconds = time.perf_counter() - begin
    if info:
        raise SystemExit(f"potrf says {info}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="2048,4096")
    parser.add_argument("--nb", type=int, default=256)
    parser.add_argument("--engine", default="openmp-gnu")
    parser.add_argument("--kernels", default="openblas")
    parser.add_argument("--variant", default="in-place")
    parser.add_argument("--library", default="libopenblas.so.0", help="whose kernels the plain program calls")
    parser.add_argument("--program", help="the plain program; by the engine")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    name = {"openmp-gnu": "libgomp", "openmp-llvm": "libomp"}.get(options.engine, "libgomp")
    program = options.program or ROOT / "build/bin" / f"tasks_cholesky_{name}"
    for n in map(int, options.n.split(",")):
        M = np.random.default_rng(n).standard_normal((n, n))
        A = np.asfortranarray(M @ M.T + n * np.eye(n))
        plain = Plain(program, n, options.nb, options.threads, options.library)
        session = _core.Session(engine=options.engine, kernels=options.kernels, worker_count=options.threads)
        ours(session, A, options.variant, options.nb)
        pairs = [(ours(session, A, options.variant, options.nb), plain.run()) for _ in range(options.pairs)]
        plain.close()
        ratios = sorted(theirs / mine for mine, theirs in pairs)
        gflops = [n**3 / 3e9 / statistics.median(column) for column in zip(*pairs, strict=True)]
        row = {"n": n, "nb": options.nb, "engine": options.engine, "kernels": options.kernels, "variant": options.variant}
        row |= {"threads": options.threads, "pairs": options.pairs, "gflops": round(gflops[0], 1)}
        row |= {"plain": plain.version, "gflops_plain": round(gflops[1], 1), "ratio_median": round(statistics.median(ratios), 3)}
        print(json.dumps(row | {"ratio_min": round(ratios[0], 3), "ratio_max": round(ratios[-1], 3)}), flush=True)


if __name__ == "__main__":
    main()
