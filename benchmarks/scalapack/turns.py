"""ScaLAPACK's pdpotrf, pdpotrs, pdgetrf, pdgemm or pdtrsm with our library before it and without, in turn, under mpirun on 2 x 2
processes.

    python benchmarks/scalapack/turns.py potrf --n 4096 --blocks 32,64,128,256 [--turns 3] [--calls 3] [--kernels openblas]
        [--blas]

Each turn is a program of its own whose first call, with what has to begin, is not counted. With --blas our BLAS is before
ScaLAPACK's, too, which it calls where our library passes a call on. Prints one JSON object per block size: medians and spreads
in seconds, and theirs / ours (above 1 ours is faster); then the same of the best block size of each."""

import argparse
import json
import os
import re
import statistics
import subprocess
from pathlib import Path

BUILD = Path(__file__).parents[2] / "build"


def seconds(words: argparse.Namespace, block: int, ours: bool) -> list[float]:
    variables = {"OPENBLAS_NUM_THREADS": "1"}
    if ours:
        names = ["scalapack", "lapack"] if words.blas else ["scalapack"]
        before = " ".join(str(BUILD / "lib" / f"libtrencadis_{name}.so") for name in names)
        variables |= {"LD_PRELOAD": before, "TRENCADIS_KERNELS": words.kernels, "TRENCADIS_NUM_THREADS": "1"}
    handed = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4", *handed]
    program = [BUILD / "bin" / "scalapack_factor", words.routine, words.n, block, 2, 2, words.calls]
    result = subprocess.run([*mpirun, *map(str, program)], env=os.environ, capture_output=True, text=True, check=True)
    assert "WRONG" not in result.stdout, result.stdout
    return [float(second) for second in re.findall(r"call [1-9]\d*: (\S+) s", result.stdout)]


def summary(taken: list[float]) -> dict[str, float]:
    return {"median_s": round(statistics.median(taken), 4), "least_s": min(taken), "most_s": max(taken)}


def compared(words: argparse.Namespace, block: int) -> dict:
    ours, theirs = [], []
    for _ in range(words.turns):
        ours += seconds(words, block, True)
        theirs += seconds(words, block, False)
    ratio = statistics.median(theirs) / statistics.median(ours)
    return {"block": block, "ours": summary(ours), "theirs": summary(theirs), "ratio": round(ratio, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("routine", choices=["potrf", "potrs", "getrf", "gemm", "trsm"])
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--blocks", default="32,64,128,256")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--kernels", default="native")
    parser.add_argument("--blas", action="store_true")
    words = parser.parse_args()
    rows = [compared(words, int(block)) for block in words.blocks.split(",")]
    for row in rows:
        print(json.dumps(row), flush=True)
    best = {who: min(row[who]["median_s"] for row in rows) for who in ("ours", "theirs")}
    print(json.dumps({"best": best, "ratio": round(best["theirs"] / best["ours"], 2)}))


if __name__ == "__main__":
    main()
