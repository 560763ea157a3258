#!/usr/bin/env python3
"""GLT beside the libraries under it, and our native library beside theirs, in one run: A B A B, processes of their own.

    glt/benchmarks/compare.py [overhead] [peers] [efficiency] [--threads T] [--pairs P] [--tree T1] [--seconds S] [--json FILE|-]

overhead      N-Queens (10, 11 and 12) and UTS through GLT, header-only and dynamic, over the same program on the library
              itself: a ratio of 1.001 says 0.1 % more time. UTS twice: a unit per subtree, and, as published, one unit per
              thread that steals under a mutex (uts_threads, with ULTs and with tasklets), which --seconds ends early on trees
              that take minutes.
peers         the micro-benchmarks, N-Queens and UTS: each library's time over that of our native one; above 1 we are faster.
              Argobots twice: with its stealing scheduler, and with queues of their own that nobody steals from.
efficiency    UTS by one core without any library, over the threads' time times their number.

Each ratio is taken within a round, in which every contestant runs once, in an order that turns round each time; the table
shows the median of all rounds, and in brackets the least and the greatest. The last column is the ratio of the shortest
times of all rounds, which a neighbour on the cores disturbs least.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from programs import BIN, LIBRARIES, VARIANTS, Contestant, contestants

_PARTS = ("overhead", "peers", "efficiency")
#: What overhead is measured on: benchmark, its argument (None: --tree), repetitions within a process, more words. uts_threads is
#: the search as the published GLT measured it, one unit per thread.
_OVERHEAD = (
    ("nqueens", "10", 45), ("nqueens", "11", 15), ("nqueens", "12", 5), ("uts", None, 5),
    ("uts_threads", None, 5), ("uts_threads", None, 5, "--tasklets"),
)  # fmt: skip
#: Its times are per node, so that searches that end early compare.
_TIMES_OF = {"uts_threads": "ns_per_node"}
#: Repetitions within a process; a round takes their median.
_REPEAT = 5

Row = dict[str, Any]
#: One run of a contestant: seconds or nanoseconds of each repetition, by the benchmark's name.
Run = Callable[[Contestant], dict[str, list[float]]]


def start(contestant: Contestant, benchmark: str, *words: str) -> list[Row]:
    command = [str(contestant.path(benchmark)), *words, "--json"]
    run = subprocess.run(command, env=contestant.environment(), capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ({contestant.library}): exit code {run.returncode}\n{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def rounds(present: list[Contestant], pairs: int, run: Run) -> dict[Contestant, list[dict[str, list[float]]]]:
    times: dict[Contestant, list[dict[str, list[float]]]] = {contestant: [] for contestant in present}
    for turn in range(pairs):
        for contestant in present if turn % 2 == 0 else reversed(present):
            times[contestant].append(run(contestant))
    return times


def ratio(above: list[list[float]], below: list[list[float]], factor: float = 1) -> Row:
    """The times above, over those below times the factor; a list of repetitions per round."""
    middle_above, middle_below = ([statistics.median(times) for times in part] for part in (above, below))
    each = [a / (factor * b) for a, b in zip(middle_above, middle_below, strict=True)]
    return {
        "ratio_median": statistics.median(each), "ratio_min": min(each), "ratio_max": max(each), "pairs": len(each),
        "ratio_of_least": min(map(min, above)) / (factor * min(map(min, below))),
    }  # fmt: skip


def row(part: str, benchmark: str, contestant: Contestant, threads: int, unit: str,
        times: list[list[float]], other: list[list[float]], **ratios: Any) -> Row:  # fmt: skip
    return {
        "part": part, "benchmark": benchmark, "library": f"{contestant.library} {contestant.variant}".strip(),
        "form": contestant.form, "threads": threads,
        "time_median": statistics.median(map(statistics.median, times)),
        "other_median": statistics.median(map(statistics.median, other)), "unit": unit, **ratios,
    }  # fmt: skip


def overhead(arguments: argparse.Namespace) -> Iterator[Row]:
    """On one thread too, where no difference between schedulers hides or adds anything."""
    for threads in dict.fromkeys((1, arguments.threads)):
        for benchmark, word, repeat, *more in _OVERHEAD:
            words = (word or arguments.tree, "--threads", str(threads), "--repeat", str(repeat), *more)
            if arguments.seconds and benchmark == "uts_threads":
                words += ("--seconds", str(arguments.seconds))
            elif arguments.seconds and benchmark == "uts":
                continue  # it counts a tree whole
            for library in arguments.libraries:
                yield from _overhead_of(library, benchmark, words, threads, arguments)


def _overhead_of(
    library: str, benchmark: str, words: tuple[str, ...], threads: int, arguments: argparse.Namespace
) -> Iterator[Row]:
    present = contestants(arguments.bin, benchmark, (library,))
    if len(present) < 2 or present[0].form != "direct":
        return
    times = rounds(present, arguments.pairs, lambda c: {"": start(c, benchmark, *words)[0][_TIMES_OF.get(benchmark, "seconds")]})
    direct = [run[""] for run in times[present[0]]]
    for contestant in present[1:]:
        through = [run[""] for run in times[contestant]]
        name = f"{benchmark} {words[0]}" + " tasklets" * ("--tasklets" in words)
        unit = "ns" if benchmark in _TIMES_OF else "s"
        yield row("overhead", name, contestant, threads, unit, through, direct, **ratio(through, direct))


def peers(arguments: argparse.Namespace) -> Iterator[Row]:
    ours = Contestant("native", "header-only", arguments.bin)
    there = contestants(arguments.bin, "micro")
    if ours not in there:
        return
    present = [ours]
    for c in there:
        if c.form == "direct" and c.library != "native":
            present += [replace(c, variant=variant) for variant in VARIANTS.get(c.library, ("",))]
    times = rounds(present, arguments.pairs, lambda c: _all_of(c, arguments))
    for benchmark in times[ours][0]:
        own = [run[benchmark] for run in times[ours]]
        for contestant in present:
            theirs = [run[benchmark] for run in times[contestant]]
            if contestant != ours:
                unit = "s" if benchmark.startswith(("nqueens", "uts")) else "ns"
                yield row("peers", benchmark, contestant, arguments.threads, unit, theirs, own, **ratio(theirs, own))


def _all_of(contestant: Contestant, arguments: argparse.Namespace) -> dict[str, list[float]]:
    threads = ("--threads", str(arguments.threads))
    times = {row["benchmark"]: row["ns"] for row in start(contestant, "micro", "all", *threads, "--repeat", str(_REPEAT))}
    for benchmark, word in (("nqueens", "11"), ("uts", arguments.tree)):
        times[f"{benchmark} {word}"] = start(contestant, benchmark, word, *threads, "--repeat", "3")[0]["seconds"]
    return times


def efficiency(arguments: argparse.Namespace) -> Iterator[Row]:
    for library in arguments.libraries:
        contestant = Contestant(library, "header-only", arguments.bin)
        if not contestant.starts("uts"):
            continue
        alone, together = [], []
        for _ in range(arguments.pairs):
            alone.append(start(contestant, "uts", arguments.tree, "--alone")[0]["seconds"])
            together.append(start(contestant, "uts", arguments.tree, "--threads", str(arguments.threads))[0]["seconds"])
        ratios = ratio(alone, together, arguments.threads)
        yield row("efficiency", f"uts {arguments.tree}", contestant, arguments.threads, "s", together, alone, **ratios)


def line(row: Row) -> str:
    scale, digits = (1e3, 2) if row["unit"] == "s" else (1, 1)
    times = f"{scale * row['time_median']:.{digits}f} : {scale * row['other_median']:.{digits}f} {'ms' if scale > 1 else 'ns'}"
    spread = f"{row['ratio_median']:.4f} ({row['ratio_min']:.4f} to {row['ratio_max']:.4f})  {row['ratio_of_least']:.4f}"
    who = f"{row['part']:<11}{row['benchmark']:<24}{row['library']:<18}{row['form']:<12}{row['threads']:>3}"
    return f"{who}{times:>22}   {spread}"


def machine(arguments: argparse.Namespace) -> Row:
    return {
        "part": "machine", "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)), "load_at_start": os.getloadavg()[0], "threads": arguments.threads,
        "pairs": arguments.pairs,
    }  # fmt: skip


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", default=list(_PARTS))
    parser.add_argument("--bin", type=Path, default=BIN)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--tree", choices=("T1", "T1L", "T1XL", "T1XXL"), default="T1")
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    arguments.libraries = arguments.libraries.split(",")
    if unknown := (set(arguments.parts) - set(_PARTS)) | (set(arguments.libraries) - set(LIBRARIES)):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; parts are {', '.join(_PARTS)}, libraries {', '.join(LIBRARIES)}")
    if arguments.threads < 1 or arguments.pairs < 1:
        parser.error("--threads and --pairs are at least 1")
    if not 0 <= arguments.seconds <= 3600:
        parser.error(f"--seconds is {arguments.seconds}; it must be from 1 to 3600")
    return arguments


def main() -> int:
    arguments = parse()
    measures = {"overhead": overhead, "peers": peers, "efficiency": efficiency}
    result = [machine(arguments)]
    for part in arguments.parts:
        for row in measures[part](arguments):
            result.append(row)
            if arguments.json != "-":
                print(line(row), flush=True)
    if len(result) == 1:
        print(f"compare.py: nothing to compare in {arguments.bin}; build the target thread_benchmarks first", file=sys.stderr)
        return 2
    lines = "".join(json.dumps(row) + "\n" for row in result)
    if arguments.json == "-":
        print(lines, end="")
    elif arguments.json:
        Path(arguments.json).write_text(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
