#!/usr/bin/env python3
"""The figures of the README: measures them, keeps them as JSON lines, and writes them as tables.

    benchmarks/report.py measure [--into FILE] [--only quiet,busy,...]    some 15 minutes on a machine with nothing else to do
    benchmarks/report.py tables FILE [--readme README.md]                 to standard output, or between the README's two marks

Every figure comes from `trencadis compare`: medians of pairs, contestants in processes of their own, suspended when it is
not their turn. The first line of a file says on what machine, when, under which load and with which variables set.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
_VARIABLES = ("OPENBLAS_", "MKL_", "BLIS_", "OMP_", "KMP_", "TRENCADIS_")
_PEERS = "mkl,openblas,blis"
_SIZES = "128,256,512,1024,2048,4096,8192"
#: n of the measurements beside busy neighbours, and how many of these sit on core 1.
_BUSY_N, _NEIGHBOURS = "1024,4096", (1, 3)

Row = dict[str, Any]


@dataclass(frozen=True)
class Measurement:
    """One call of `trencadis compare`; `part` groups rows in one table."""

    part: str
    words: tuple[str, ...]


def measurements() -> Iterator[Measurement]:
    """With the standard scheduler and our own kernels, against what each peer does with its own threads."""
    for routine in ("gemm", "potrf", "posv"):
        yield Measurement("quiet", (routine, "--n", _SIZES, "--against", _PEERS))
    for neighbours in _NEIGHBOURS:
        for routine in ("gemm", "trsm", "potrf"):
            words = (routine, "--n", _BUSY_N, "--against", _PEERS)
            yield Measurement("busy", words)
            yield Measurement("busy", (*words, "--busy", f"1={neighbours}"))
    yield Measurement("tasks", ("tasks", "--n", "40", "--against", "libgomp,libomp,starpu"))


def measure(into: Path, only: set[str], repeat: int) -> None:
    into.parent.mkdir(parents=True, exist_ok=True)
    partial = into.with_suffix(".partial")
    with partial.open("w") as file:
        print(json.dumps({"part": "machine", **machine()}), file=file, flush=True)
        for measurement in dict.fromkeys(measurements()):
            if only and measurement.part not in only:
                continue
            command = ["compare", *measurement.words, "--repeat", str(repeat), "--json", "-"]
            print("trencadis", *command, file=sys.stderr)
            run = subprocess.run([sys.executable, "-m", "trencadis", *command], stdout=subprocess.PIPE, text=True)
            if run.returncode not in (0, 2):  # 2: a peer that is not installed, which it has said
                raise SystemExit(run.returncode)
            for line in run.stdout.splitlines():
                print(json.dumps({"part": measurement.part, **json.loads(line)}), file=file, flush=True)
    partial.replace(into)
    print(f"wrote {into}", file=sys.stderr)


def machine() -> Row:
    command = [sys.executable, "-m", "trencadis", "machine", "--json"]
    here = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0])
    return {
        "name": here["name"],
        "summary": here["summary"],
        "system": f"{platform.system()} {platform.release()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "load_at_start": os.getloadavg()[0],
        "variables": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)},
    }


def tables(rows: list[Row]) -> str:
    """All tables in Markdown, with the machine they were measured on."""
    here = next(row for row in rows if row["part"] == "machine")
    measured = [row for row in rows if row["part"] != "machine"]
    parts = {part: [row for row in measured if row["part"] == part] for part in ("quiet", "busy", "tasks")}
    variables = "".join(f" `{name}={value}`" for name, value in here["variables"].items())
    lines = [
        f"Measured on {here['summary']}, {here['system']}, {here['date']}; load {here['load_at_start']:.2f} at the start"
        + (f"; set:{variables}" if variables else "") + ".",
        f"Medians of {max(row['repeat'] for row in measured)} pairs, least and greatest in brackets; a ratio above 1 says that "
        "we are faster.",
        *_ours(measured),
    ]
    writers = {"quiet": _quiet, "busy": _busy, "tasks": _tasks}
    for part, write in writers.items():
        if parts[part]:
            lines += ["", *write(parts[part])]
    return "\n".join(lines) + "\n"


def _ours(rows: list[Row]) -> list[str]:
    """What ran on our side: threads, kernels and scheduler."""
    said = dict.fromkeys(
        f"{len(row['workers'])} threads, `{row['kernels']}` kernels ({row['kernels_version']}), scheduler `{row['scheduler']}`"
        for row in rows
        if row["routine"] != "tasks"
    )
    return [f"Ours: {', and '.join(said)}."] if said else []


def _ratio(row: Row) -> str:
    return f"**{row['ratio_median']:.2f}** ({row['ratio_min']:.2f} to {row['ratio_max']:.2f})"


def _table(heads: Iterable[str], body: Iterable[Iterable[object]]) -> list[str]:
    heads = list(heads)
    return [_line(heads), _line("---" if index == 0 else "---:" for index in range(len(heads))), *map(_line, body)]


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _quiet(rows: list[Row]) -> list[str]:
    """A line per routine and size, a column per peer."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    versions = {row["peer"]: row["peer_version"] for row in rows}
    body = []
    for routine, n in dict.fromkeys((row["routine"], row["n"]) for row in rows):
        here = {row["peer"]: row for row in rows if (row["routine"], row["n"]) == (routine, n)}
        own = median(row["gflops_median"] for row in here.values())
        body.append([f"{routine}", n, f"{own:.0f}", *(_ratio(here[peer]) if peer in here else "" for peer in peers)])
    return _table(("double precision", "n", "ours, GFlop/s", *(f"to {versions[peer]}" for peer in peers)), body)


def _busy(rows: list[Row]) -> list[str]:
    """What is kept: the rate beside busy neighbours over the quiet rate times the capacity that the neighbours leave."""
    quiet = {(row["routine"], row["n"], row["peer"]): row for row in rows if not row["busy"]}
    body = []
    for row in rows:
        if not row["busy"]:
            continue
        alone = quiet[row["routine"], row["n"], row["peer"]]
        left = sum(1 / (1 + row["busy"].get(str(core), 0)) for core in row["workers"]) / len(row["workers"])
        kept = row["gflops_median"] / (alone["gflops_median"] * left)
        peer_kept = row["peer_gflops_median"] / (alone["peer_gflops_median"] * left)
        neighbours = ", ".join(f"{count} on core {core}" for core, count in row["busy"].items())
        body.append(
            [f"{row['routine']} n = {row['n']}", neighbours, f"{left:.3f}", row["peer"], f"**{kept:.2f}**", f"{peer_kept:.2f}",
             _ratio(row)]
        )  # fmt: skip
    heads = ("", "busy neighbours", "capacity left", "peer", "kept by us", "kept by the peer", "ratio of speeds")
    return ["Kept is the rate over the quiet rate times the capacity left.", "", *_table(heads, body)]


def _tasks(rows: list[Row]) -> list[str]:
    body = [
        [f"empty Cholesky graph, {row['n']} tile rows, {row['scheduler']}",
         f"{row['peer']} ({row['peer_version'].split(',')[0].strip()})", f"{row['ns_per_task']:.0f}",
         f"{row['peer_ns_per_task']:.0f}", _ratio(row)]
        for row in rows
    ]  # fmt: skip
    return _table(("", "peer", "ns a task", "peer's", "ratio"), body)


def replace_between_marks(document: str, text: str) -> str:
    """`document` with what lies between the two marks replaced. ValueError when it has not both, in order."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the marks {BEGIN} and {END} are not there")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--into", type=Path, default=Path(__file__).parent / "results" / f"{platform.node()}.jsonl")
    measuring.add_argument("--only", default="", help="of quiet, busy, tasks")
    measuring.add_argument("--repeat", type=int, default=7)
    writing = commands.add_parser("tables")
    writing.add_argument("results", type=Path)
    writing.add_argument("--readme", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments.into, set(filter(None, arguments.only.split(","))), arguments.repeat)
        return
    text = tables([json.loads(line) for line in arguments.results.read_text().splitlines()])
    if arguments.readme is None:
        print(text, end="")
        return
    arguments.readme.write_text(replace_between_marks(arguments.readme.read_text(), text))


if __name__ == "__main__":
    main()
