"""Simulated clusters beside real processes on this machine: the same task graph on as many described hosts of one core each.

    python benchmarks/clusters/reality.py potrf --n 2048,4096 --nb 256 [--processes 1,2,4] [--repeat 7] [--within 0.1]

The description is made here and now, and nothing in it comes from what is compared: the speed of each kernel from a run of the
largest order on one core of one process (`trencadis trace`), latency and bandwidth from a value that goes to and fro between
tasks of two processes with nothing else to do, and what a call costs without tasks, which is added (ping.cpp). Where there are
more processes than cores, each host has its share of a core: its kernels take so much longer. One JSON object per case. Exit
status 1 where a simulated time is further from the real one than --within."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRENCADIS = str(ROOT / ".venv" / "bin" / "trencadis")
VARIANTS = {"potrf": "in-place", "getrf": "tournament"}


def said(*words: str) -> str:
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"reality.py: {' '.join(words)}: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


def mpirun(processes: int, *words: str) -> str:
    return said("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(processes), *words)


def kernel_rates(routine: str, n: int, nb: int) -> dict[str, float]:
    """GFlop/s of each kernel on one core, over a whole factorization."""
    flops, taken = defaultdict(float), defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        size = ["--variant", VARIANTS[routine], "--n", str(n), "--nb", str(nb), "--workers", "0"]
        said(TRENCADIS, "trace", routine, "--engine", "native", *size, "-o", str(trace))
        for event in json.loads(trace.read_text())["traceEvents"]:
            if event.get("ph") == "X" and event["args"].get("flops"):
                flops[event["name"]] += event["args"]["flops"]
                taken[event["name"]] += event["dur"] * 1e-6
    return {kernel: flops[kernel] / taken[kernel] * 1e-9 for kernel in flops}


def network(nb: int) -> tuple[float, float, float]:
    """What a call costs that has no tasks, latency, both in seconds, and bytes per second of a message as large as a tile."""
    lines = mpirun(2, str(ROOT / "build" / "bin" / "clusters_ping"), "1", str(nb)).split("\n")
    (_, call), (_, latency), (size, whole) = (map(float, line.split()) for line in lines[:3])
    return call, latency, size / max(whole - latency, 1e-6)


def description(hosts: int, share: float, rates: dict[str, float], latency: float, bandwidth: float) -> str:
    kernels = "\n".join(
        f'    {{ kernel = "{kernel}", on = "core", gflops = {rate * share:.6g} }},' for kernel, rate in sorted(rates.items())
    )
    return f"""name = "here-{hosts}"
kernels = [
{kernels}
]
[[kinds]]
name = "core"
power = [{{ name = "nominal", speed = 1, idle_w = 1, busy_w = 2 }}]
[[hosts]]
count = {hosts}
cores = 1
bytes = 1e12
[network]
kind = "fat-tree"
down = [{hosts}]
up = [1]
bandwidth = {bandwidth:.6g}
latency = {latency / 2:.6g}
"""


def simulated(routine: str, n: int, nb: int, grid: str, machine: str) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(machine)
        file.flush()
        size = ["--variant", VARIANTS[routine], "--n", str(n), "--nb", str(nb), "--grid", grid]
        return json.loads(said(TRENCADIS, "simulate", routine, "--machine", file.name, *size, "--json", "-"))


def real(routine: str, n: int, nb: int, processes: int, repeat: int) -> dict:
    size = ["--variant", VARIANTS[routine], "--n", str(n), "--nb", str(nb), "--repeat", str(repeat)]
    return json.loads(mpirun(processes, TRENCADIS, "bench", routine, "--engine", "starpu-mpi", *size, "--json", "-"))


def compared(words: argparse.Namespace, n: int, processes: int) -> dict:
    rates = kernel_rates(words.routine, max(words.orders), words.nb)
    call, latency, bandwidth = network(words.nb)
    share = min(1.0, len(os.sched_getaffinity(0)) / processes)
    here = real(words.routine, n, words.nb, processes, words.repeat)
    if processes == 1:  # a network of one has nothing to send
        machine = description(2, share, rates, latency, bandwidth)
        there = simulated(words.routine, n, words.nb, "1x1", machine)
    else:
        there = simulated(words.routine, n, words.nb, here["grid"], description(processes, share, rates, latency, bandwidth))
    return {
        "routine": words.routine, "n": n, "nb": words.nb, "processes": processes, "share_of_a_core": share,
        "call_us": round(call * 1e6, 1), "latency_us": round(latency * 1e6, 2), "gigabytes_per_s": round(bandwidth * 1e-9, 2),
        "real_s": round(here["seconds_median"], 4), "simulated_s": round(there["makespan_s"] + call, 4),
        "simulated_over_real": round((there["makespan_s"] + call) / here["seconds_median"], 3),
        "messages": here["messages"], "simulated_messages": there.get("messages", 0),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("routine", choices=sorted(VARIANTS))
    parser.add_argument("--n", default="2048,4096")
    parser.add_argument("--nb", type=int, default=256)
    parser.add_argument("--processes", default="1,2")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--within", type=float, default=0.0)
    words = parser.parse_args()
    words.orders = [int(n) for n in words.n.split(",")]
    off = []
    for n in words.orders:
        for processes in map(int, words.processes.split(",")):
            row = compared(words, n, processes)
            print(json.dumps(row), flush=True)
            off.append(abs(row["simulated_over_real"] - 1))
    print(json.dumps({"median_off": round(statistics.median(off), 3), "most_off": round(max(off), 3)}))
    if words.within and max(off) > words.within:
        sys.exit(1)


if __name__ == "__main__":
    main()
