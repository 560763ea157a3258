#!/usr/bin/env python3
"""The long rest of the checks, which `make test` has no time for: all of it, one part, or what a commit's turn is.

    scripts/soak.py [--jobs N] [--slice K/N | --turn [--budget SECONDS]] [--list]

--slice runs the K-th of N parts. --turn, which continuous integration gives, runs one part that follows from the commit's
hash, of those that fit into the budget, and says how to repeat it; a part that does not end in time is stopped, which is no
failure: what it had to say it has said. A part that ends with status 75 could judge nothing here and has said why; such parts
are named at the end. Exit status: 0 nothing was found, 1 something failed, 2 bad arguments.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = ".venv/bin/python -m pytest"
#: Of a part that could judge nothing on this machine now, as sysexits' EX_TEMPFAIL.
SKIPPED = 75


@dataclass(frozen=True)
class Part:
    name: str
    command: str
    #: Has what it needs once `make test` has passed, and says something within a turn's budget.
    short: bool = False


def sweep_of(commit):
    """The routine, its letters, precision and threads that are swept at a commit."""
    cases = ["gemm --transpose NN", "gemm --transpose TN", "gemm --transpose NT", "gemm --transpose TT", "syrk",
             "trsm --side left", "trsm --side right", "potrf", "getrf", "geqrf"]  # fmt: skip
    everything = [
        f"{case} --precision {precision} --threads {threads}"
        for precision in ("d", "s") for threads in ("1", "all") for case in cases
    ]  # fmt: skip
    return everything[int(commit[8:16], 16) % len(everything)]


def parts(jobs, commit="0" * 40):
    yield Part("micro-kernels for 64-bit Arm", "ctest --test-dir build --output-on-failure -R '^blas_aarch64$'", short=True)
    graphs = "build/bin/test_runtime --gtest_brief=1 --gtest_filter='*Random*'"
    for quarter in range(1, 5):  # each run of the program has others
        shared = f"TRENCADIS_TEST_SHARE=2.5 TRENCADIS_SOURCE_DIR=$PWD {graphs}"
        yield Part(f"ten times as many random graphs, quarter {quarter}", shared, short=True)
    devices = "build/bin/test_device_workers --gtest_brief=1"
    for first in range(0, 100_000, 6_250):
        some = f"{first}-{first + 6_250}"
        which = f"TRENCADIS_TEST_SEED={int(commit[:8], 16)} TRENCADIS_DEVICE_GRAPHS={some}"
        seeded = f"{which} {devices} --gtest_filter='RandomGraphsOnDevices.*'"
        yield Part(f"random graphs over three memories, {some} of 100000", seeded, short=True)
    faults = f"TRENCADIS_DEVICE_FAULTS=all {devices} --gtest_filter='DeviceFaults.*'"
    yield Part("all faults of devices", faults, short=True)
    four = "mpirun --allow-run-as-root --oversubscribe -n 4 build/bin/test_processes --gtest_brief=1"
    yield Part("memory of processes beside their shares", f"{four} --gtest_filter='SharedMemory.*'", short=True)
    kernels = "build/bin/test_device_kernels --gtest_brief=1"
    yield Part("kernels of devices as their compilers optimize them", f"TRENCADIS_TEST_SHARE=1 {kernels}")
    killed = f"{PYTEST} -m thorough python/tests/test_campaign_deaths.py"
    yield Part("campaigns of 200 runs that are killed ten times", killed, short=True)
    yield Part("the site", "make docs", short=True)
    # No turn: it fails as long as a cliff is known to stand, and what it says depends on the machine.
    for machine in ("--machine server-2s --cores 32 --n 96,220,440,1200", "--machine uv2000 --cores 48 --n 96,220,440,900"):
        elsewhere = f"benchmarks/regret_simulated.py {machine} --shape '' --within 3,10"
        yield Part(f"choices on a described machine, {machine.split()[1]}", f".venv/bin/python {elsewhere}", short=True)
    yield Part("speed without cliffs", f".venv/bin/trencadis sweep {sweep_of(commit)}")
    reality = ".venv/bin/python benchmarks/clusters/reality.py"
    yield Part("simulated clusters beside real processes", f"{reality} potrf --n 4096 --processes 1,2 --within 0.2")
    for routine in ("potrf", "getrf", "geqrf"):
        # No turn: it depends on the machine. What others disturb is passed over, and said.
        beside = f".venv/bin/trencadis simulate {routine} --against-real --within 0.1 --repeat 31 --skip-disturbed"
        yield Part(f"simulated cores beside real ones, {routine}", beside)
    yield Part("all quick results of the simulator", ".venv/bin/python scripts/simulated.py quick", short=True)
    same = "git diff --exit-code --stat -- docs/simulated"
    yield Part("rows of simulated results, all seeds", f".venv/bin/python scripts/simulated.py rows && {same}")
    yield Part("levers and runtimes over 30 seeds", f".venv/bin/python scripts/simulated.py seeds && {same}")
    yield Part("factorizations on many hosts", f".venv/bin/python scripts/simulated.py scaling && {same}")
    yield Part("user-level threads, counts ten times as large", "GLT_SUITE_LONG=1 GLT_BACKEND=native build/bin/test_glt_native")
    yield Part("testers of the reference LAPACK at size", f"{PYTEST} -m thorough tests/test_lapack_testers.py")
    yield Part("all of it under AddressSanitizer", f"make asan JOBS={jobs} SANITIZED_PARTS=1")
    yield Part("all of it under ThreadSanitizer", f"make tsan JOBS={jobs} SANITIZED_PARTS=1")
    yield Part("the same call, the same bits", "scripts/same_bits.sh build")
    yield Part("one hash from 1 to 64 threads", f"{PYTEST} -m thorough python/tests/test_reproducible.py")
    yield Part("others' programs", f"make test-clients JOBS={jobs}")
    yield Part("a build without optional dependencies", f"make minimal JOBS={jobs}")
    yield Part("deliberate faults", f"make test-mutations JOBS={jobs}")


def slice_of(chosen, k, n):
    return [part for number, part in enumerate(chosen) if number % n == k - 1]


def turn_of(chosen, commit):
    """The number of the part, from 1, whose turn it is."""
    short = [number for number, part in enumerate(chosen, start=1) if part.short]
    return short[int(commit[:8], 16) % len(short)]


def run(part, budget):
    """Its exit status; None: it was stopped."""
    print(f"soak: {part.name}: {part.command}", flush=True)
    begin = time.monotonic()
    process = subprocess.Popen(["/bin/bash", "-c", part.command], cwd=ROOT, start_new_session=True)
    try:
        status = process.wait(timeout=budget)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        status = None
    said = {None: "stopped after its budget", 0: "passed", SKIPPED: "SKIPPED, as it says"}.get(status, f"FAILED ({status})")
    print(f"soak: {part.name}: {said}, {time.monotonic() - begin:.0f} s", flush=True)
    return status


def fraction(text):
    k, _, n = text.partition("/")
    if not (k.isdigit() and n.isdigit() and 1 <= int(k) <= int(n)):
        raise argparse.ArgumentTypeError(f"'{text}' is not K/N with 1 <= K <= N, as in 2/5")
    return int(k), int(n)


def main():
    parser = argparse.ArgumentParser(description="The long rest of the checks.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--slice", type=fraction, default=(1, 1), metavar="K/N", help="the K-th of N parts")
    which.add_argument("--turn", action="store_true", help="the part whose turn it is by the commit's hash")
    parser.add_argument("--budget", type=float, default=150, help="seconds of a turn")
    parser.add_argument("--list", action="store_true", help="print the parts and end")
    options = parser.parse_args()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=options.turn)
    commit = head.stdout or "0" * 40
    everything = list(parts(options.jobs, commit))
    chosen, budget = slice_of(everything, *options.slice), None
    if options.turn:
        number, budget = turn_of(everything, commit), options.budget
        chosen = [everything[number - 1]]
        print(f"soak: the turn of this commit; again: make soak SLICE={number}/{len(everything)}", flush=True)
    if options.list:
        print("\n".join(part.name for part in chosen))
        return 0
    statuses = {part.name: run(part, budget) for part in chosen}
    if skipped := [name for name, status in statuses.items() if status == SKIPPED]:
        print(f"soak: judged nothing: {'; '.join(skipped)}", flush=True)
    return 0 if set(statuses.values()) <= {0, None, SKIPPED} else 1


if __name__ == "__main__":
    sys.exit(main())
