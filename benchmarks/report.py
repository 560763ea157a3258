#!/usr/bin/env python3
"""The figures of docs/speed.md and the README: measures them, keeps them as JSON lines, and writes them as tables.

    benchmarks/report.py measure [--into FILE] [--only quiet,small,...]    some 60 minutes on a machine with nothing else to do
    benchmarks/report.py measure --resume ...                             goes on where a run that was ended stopped
    benchmarks/report.py tables FILE                                      to standard output
    benchmarks/report.py tables FILE --page docs/speed.md --readme README.md    between the two marks of each: all, and a summary
    benchmarks/report.py sweep [--page docs/speed.md]       the pictures of speed over n beside the page, and what they show in it

Every figure comes from `trencadis compare`: medians of pairs of turns, a turn being calls back to back, contestants in processes
of their own, suspended when it is not their turn. A peer that is not installed is left out; AOCL_ROOT and BLIS_ROOT say where
those are that no package brings. The first line of a file says on what machine, when, under which load and with which variables.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

#: What is written between: the tables, and the sweep.
MARKS = "measured", "swept"
_VARIABLES = ("OPENBLAS_", "MKL_", "BLIS_", "OMP_", "KMP_", "TRENCADIS_")
#: These are not set in a peer's process, whoever set them.
_NOT_PASSED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "MKL_ENABLE_INSTRUCTIONS", "BLIS_ROOT")
_PEERS = ("mkl", "mkl-intel", "openblas", "blis", "aocl")
#: What is measured at every size, and what at one only.
_ROUTINES, _SIZES = ("gemm", "potrf", "getrf", "geqrf"), (64, 128, 256, 512, 1024, 2048, 4096)
_OTHERS = {256: ("syrk", "trsm", "symm", "trmm", "posv"), 1024: ("posv", "gesv", "getri", "gels", "ormqr", "orgqr")}
#: What else programs ask for: Gram matrices, blocks of a few vectors, right sides beside a large matrix; large squares.
_FEW, _SQUARE = ("1000x1", "1000x8", "1000x50"), ("1000x1000", "2000x2000")
_SHAPES = {
    "gemm": ("10x10x10000", "64x64x4000", "300x300x2000", "2000x2000x24", "1000x10x1000", "10x1000x1000", "1000x100x1000"),
    "syrk": ("10x10000", "64x4000", "300x2000", "1000x32", *_SQUARE),
    "symm": (*_FEW, *_SQUARE),
    "trsm": (*_FEW, "1000x200", *_SQUARE),
    "trmm": (*_FEW, "1000x200", *_SQUARE),
    "potrs": _FEW,
    "getrs": _FEW,
}
#: Small orders, in every precision.
_SMALL_SIZES = (8, 16, 24, 32, 40, 48, 56, 64, 96, 128)
_PRECISIONS = {"s": "single", "d": "double", "c": "complex", "z": "double complex"}
#: What is measured beside busy neighbours, and how many of these sit on core 1.
_BUSY_ROUTINES, _BUSY_SIZES, _NEIGHBOURS = ("gemm", "trsm", "potrf", "getrf", "geqrf"), (1024, 4096), (1, 3)
#: The columns of the summary.
_SUMMARY_SIZES, _SUMMARY_BUSY = (256, 1024, 4096), (4096, 3)

Row = dict[str, Any]


@dataclass(frozen=True)
class Measurement:
    """One call of `trencadis compare`; `part` groups rows in one table."""

    part: str
    words: tuple[str, ...]


def measurements(peers: Sequence[str] = _PEERS) -> Iterator[Measurement]:
    """With the standard scheduler and our own kernels, against what each peer does with its own threads."""
    quiet = [(routine, n) for routine in _ROUTINES for n in _SIZES]
    quiet += [(routine, n) for n, routines in _OTHERS.items() for routine in routines]
    for routine, n in quiet:
        yield from (Measurement("quiet", (routine, "--n", str(n), "--against", peer)) for peer in peers)
    for routine, shapes in _SHAPES.items():
        yield from (Measurement("shapes", (routine, "--shape", ",".join(shapes), "--against", peer)) for peer in peers)
    orders = ",".join(map(str, _SMALL_SIZES))
    for routine in _ROUTINES:
        for precision in _PRECISIONS:
            words = (routine, "--n", orders, "--precision", precision, "--against")
            yield from (Measurement("small", (*words, peer)) for peer in peers)
    for neighbours in _NEIGHBOURS:
        for routine in _BUSY_ROUTINES:
            for n in _BUSY_SIZES:
                for peer in (peer for peer in peers if _ends_beside_neighbours(routine, peer)):
                    words = (routine, "--n", str(n), "--against", peer, "--relief", "held-up")
                    yield Measurement("busy", words)
                    yield Measurement("busy", (*words, "--busy", f"1={neighbours}"))
    yield from (Measurement("tasks", ("tasks", "--n", "40", "--against", peer)) for peer in ("libgomp", "libomp", "starpu"))


def _ends_beside_neighbours(routine: str, peer: str) -> bool:
    """Calls of BLIS take up to a thousand times as long there, those of OpenBLAS's QR at n = 4096 more than a minute."""
    return peer != "blis" and (routine, peer) != ("geqrf", "openblas")


def measure(into: Path, planned: Iterable[Measurement], repeat: int, resume: bool) -> None:
    """Each measurement's rows follow a line with its words, so that a file tells how far it has come."""
    into.parent.mkdir(parents=True, exist_ok=True)
    partial = into.with_suffix(".partial")
    done = _done(partial) if resume else set()
    with partial.open("a" if done else "w") as file:
        if not done:
            print(json.dumps({"part": "machine", **machine()}), file=file, flush=True)
        for measurement in dict.fromkeys(planned):
            if (measurement.part, measurement.words) in done:
                continue
            lines = _run(["compare", *measurement.words, "--repeat", str(repeat), "--json", "-"])
            rows = [{"part": measurement.part, **json.loads(line)} for line in lines]
            rows.append({"part": "done", "of": measurement.part, "words": measurement.words})
            file.write("".join(json.dumps(row) + "\n" for row in rows))
            file.flush()
    partial.replace(into)
    print(f"wrote {into}", file=sys.stderr)


def _done(partial: Path) -> set[tuple[str, tuple[str, ...]]]:
    rows = [json.loads(line) for line in partial.read_text().splitlines()] if partial.exists() else []
    return {(row["of"], tuple(row["words"])) for row in rows if row["part"] == "done"}


def _run(command: list[str], fine: Sequence[int] = (0, 2)) -> list[str]:
    """The lines of one call; none where the peer is not installed, which the command has said."""
    print("trencadis", *command, file=sys.stderr)
    run = subprocess.run([sys.executable, "-m", "trencadis", *command], stdout=subprocess.PIPE, text=True)
    if run.returncode not in fine:
        raise SystemExit(run.returncode)
    return run.stdout.splitlines()


def machine() -> Row:
    command = [sys.executable, "-m", "trencadis", "machine", "--json"]
    here = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0])
    return {
        "name": here["name"],
        "summary": here["summary"],
        "system": f"{platform.system()} {platform.release()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "load_at_start": os.getloadavg()[0],
        "variables": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES) and name not in _NOT_PASSED
        },
    }


def tables(rows: list[Row]) -> str:
    """All tables in Markdown, with the machine they were measured on."""
    here = next(row for row in rows if row["part"] == "machine")
    measured = [row for row in rows if row["part"] not in ("machine", "done")]
    parts = {part: [row for row in measured if row["part"] == part] for part in _WRITERS}
    lines = [
        _where(here),
        f"{_medians(measured)}, least and greatest in brackets; a ratio above 1 says that we are faster.",
        *_ours(measured),
    ]
    for part, write in _WRITERS.items():
        if parts[part]:
            lines += ["", *write(parts[part])]
    return "\n".join(lines) + "\n"


def _where(here: Row) -> str:
    variables = "".join(f" `{name}={value}`" for name, value in here["variables"].items())
    return (
        f"Measured on {here['summary']}, {here['system']}, {here['date']}; load {here['load_at_start']:.2f} at the start"
        + (f"; set:{variables}" if variables else "") + "."
    )  # fmt: skip


def _medians(rows: list[Row]) -> str:
    return f"Medians of {max(row['repeat'] for row in rows)} pairs of turns"


def summary(rows: list[Row]) -> str:
    """One table: our speed and the ratio to the best peer, for the chief routines at a few sizes, alone and beside neighbours."""
    here = next(row for row in rows if row["part"] == "machine")
    quiet, busy = ([row for row in rows if row["part"] == part] for part in ("quiet", "busy"))
    n_busy, neighbours = _SUMMARY_BUSY
    body = []
    for routine in _ROUTINES:
        cells = [_cell(row for row in quiet if (row["routine"], row["n"]) == (routine, n)) for n in _SUMMARY_SIZES]
        beside = [row for row in busy if (row["routine"], row["n"]) == (routine, n_busy) and neighbours in row["busy"].values()]
        body.append([routine, *cells, _cell(beside)])
    heads = ("", *(f"n = {n}" for n in _SUMMARY_SIZES), f"n = {n_busy}, {neighbours} busy neighbours on core 1")
    told = (
        f"{_medians(quiet)}, double precision: GFlop/s, and the ratio of our speed to that of the best peer there. "
        "Beside neighbours ours runs with `TRENCADIS_RELIEF=held-up`, now the standard, and not every peer ends in time."
    )
    return "\n".join([_where(here), told, *_ours(quiet), "", *_table(heads, body)]) + "\n"


def _cell(rows: Iterable[Row]) -> str:
    rows = list(rows)
    if not rows:
        return ""
    best = min(rows, key=lambda row: row["ratio_median"])
    return f"{median(row['gflops_median'] for row in rows):.0f}, **{best['ratio_median']:.2f}** ({best['peer']})"


def _ours(rows: list[Row]) -> list[str]:
    """What ran on our side: threads, kernels and scheduler."""
    said = dict.fromkeys(
        f"{len(row['workers'])} threads, `{row['kernels']}` kernels ({row['kernels_version']}), scheduler `{row['scheduler']}`"
        for row in rows
        if row["routine"] != "tasks"
    )
    return [f"Ours: {', and '.join(said)}."] if said else []


def _ratio(row: Row, name: str = "ratio") -> str:
    return f"{row[f'{name}_median']:.2f} ({row[f'{name}_min']:.2f} to {row[f'{name}_max']:.2f})"


def _table(heads: Iterable[str], body: Iterable[Iterable[object]]) -> list[str]:
    heads = list(heads)
    return [_line(heads), _line("---" if index == 0 else "---:" for index in range(len(heads))), *map(_line, body)]


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _quiet(rows: list[Row], what: str = "Calls") -> list[str]:
    """A line per routine and size, a column per peer; then the same of lone calls, which are in microseconds."""
    lone = [row for row in rows if row.get("lone_ratio_median") is not None]
    lines = [f"{what} back to back:", "", *_by_peer(rows, "ratio", "ours, GFlop/s", lambda row: row["gflops_median"])]
    if lone:
        heading = "A lone call after 10 ms of silence:"
        lines += ["", heading, "", *_by_peer(lone, "lone_ratio", "ours, µs", lambda row: 1e6 * row["lone_seconds_median"])]
    return lines


def _shapes(rows: list[Row]) -> list[str]:
    return _quiet(rows, "Other shapes (m x n, of products m x n x k; A of symm, trsm and trmm is m x m, of syrk m x n), calls")


def _size(row: Row) -> str:
    return "x".join(str(row[extent]) for extent in ("m", "n", "k") if extent in row)


def _by_peer(rows: list[Row], ratio: str, unit: str, own: Callable[[Row], float]) -> list[str]:
    """The best peer of a line is the one to which our ratio is the least."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    versions = {row["peer"]: row["peer_version"] for row in rows}
    body = []
    for routine, n in dict.fromkeys((row["routine"], _size(row)) for row in rows):
        here = {row["peer"]: row for row in rows if (row["routine"], _size(row)) == (routine, n)}
        best = min(row[f"{ratio}_median"] for row in here.values())
        ratios = (_ratio(here[peer], ratio) if peer in here else "" for peer in peers)
        body.append([routine, n, f"{median(map(own, here.values())):.0f}", f"**{best:.2f}**", *ratios])
    return _table(("double precision", "n", unit, "to the best", *(f"to {versions[peer]}" for peer in peers)), body)


def _small(rows: list[Row]) -> list[str]:
    """A line per routine and order, a column per precision: our time, and the ratio to the best peer there."""
    precisions = [precision for precision in _PRECISIONS if any(row["precision"] == precision for row in rows)]
    body = []
    for routine, n in dict.fromkeys((row["routine"], row["n"]) for row in rows):
        here = [row for row in rows if (row["routine"], row["n"]) == (routine, n)]
        cells = ([row for row in here if row["precision"] == precision] for precision in precisions)
        body.append([routine, n, *map(_small_cell, cells)])
    heads = ("", "n", *(_PRECISIONS[precision] for precision in precisions))
    return ["Small orders, back to back: µs, and the ratio to the best peer there.", "", *_table(heads, body)]


def _small_cell(rows: list[Row]) -> str:
    if not rows:
        return ""
    best = min(rows, key=lambda row: row["ratio_median"])
    return f"{1e6 * median(row['seconds_median'] for row in rows):.2f}, **{best['ratio_median']:.2f}** ({best['peer']})"


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
    kept = "Kept is the rate over the quiet rate times the capacity left; ours with `TRENCADIS_RELIEF=held-up`, now the standard."
    return [kept, "", *_table(heads, body)]


def _tasks(rows: list[Row]) -> list[str]:
    body = [
        [f"empty Cholesky graph, {row['n']} tile rows, {row['scheduler']}",
         f"{row['peer']} ({row['peer_version'].split(',')[0].strip()})", f"{row['ns_per_task']:.0f}",
         f"{row['peer_ns_per_task']:.0f}", _ratio(row)]
        for row in rows
    ]  # fmt: skip
    return _table(("", "peer", "ns a task", "peer's", "ratio"), body)


_WRITERS = {"quiet": _quiet, "shapes": _shapes, "small": _small, "busy": _busy, "tasks": _tasks}


def sweep(page: Path, against: Sequence[str], words: Sequence[str]) -> str:
    """Sweeps all routines in double and in single precision, draws a picture of each into images/ beside the page, and says what
    is in them. `words` go to `trencadis sweep` as they are."""
    here = {"part": "machine", **machine()}
    lines = [_where(here), ""]
    for precision, said in (("d", "Double"), ("s", "Single")):
        picture = page.parent / "images" / f"sweep-{precision}.svg"
        command = ["sweep", "all", "--precision", precision, "--against", ",".join(against), *words, "-o", str(picture)]
        rows = [json.loads(line) for line in _run([*command, "--json", "-"], fine=(0, 1))]
        lines += [f"![{said} precision: speed over the order of the matrices](images/{picture.name})", "", _found(rows), ""]
    return "\n".join(lines)


def _found(rows: list[Row]) -> str:
    """How many cliffs there are, and the deepest of each case."""
    cliffs = sorted((row for row in rows if row["cliff"]), key=_depth)
    if not cliffs:
        return f"No cliff among {len(rows)} points."
    deepest = {(row["case"], len(row["workers"])): row for row in reversed(cliffs)}
    each = [
        f"{case} on {threads} thread{'s' if threads > 1 else ''} at n = {row['n']}, ld = {row['ld']} ({_depth(row):.2f})"
        for (case, threads), row in sorted(deepest.items(), key=lambda one: _depth(one[1]))
    ]
    return f"{len(cliffs)} of {len(rows)} points are cliffs; the deepest of each: {', '.join(each)}."


def _depth(row: Row) -> float:
    return min(row["best_ld_ratio"], row["neighbours_ratio"] or 1.0)


def replace_between_marks(document: str, text: str, name: str = MARKS[0]) -> str:
    """`document` with what lies between the two marks replaced. ValueError when it has not both, in order."""
    first, last = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, begin, rest = document.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise ValueError(f"the marks {first} and {last} are not there")
    return f"{before}{first}\n{text}{last}{after}"


def arguments_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--into", type=Path, default=Path(__file__).parent / "results" / f"{platform.node()}.jsonl")
    measuring.add_argument("--only", default="", help="of quiet, shapes, small, busy, tasks")
    measuring.add_argument("--against", default=",".join(_PEERS), help="names, or paths as trencadis compare takes them")
    measuring.add_argument("--repeat", type=int, default=7)
    measuring.add_argument("--resume", action="store_true", help="leave out what the unfinished file has already")
    writing = commands.add_parser("tables")
    writing.add_argument("results", type=Path)
    writing.add_argument("--page", type=Path, help="gets all tables")
    writing.add_argument("--readme", type=Path, help="gets the summary")
    sweeping = commands.add_parser("sweep")
    sweeping.add_argument("--page", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "speed.md")
    sweeping.add_argument("--against", default=",".join(_PEERS), help="as of measure")
    sweeping.add_argument("words", nargs="*", metavar="-- WORDS", help="for trencadis sweep, such as -- --n 64:256:64")
    return parser.parse_args()


def main() -> None:
    arguments = arguments_of()
    if arguments.command == "sweep":
        text = sweep(arguments.page, arguments.against.split(","), arguments.words)
        arguments.page.write_text(replace_between_marks(arguments.page.read_text(), text, MARKS[1]))
        return
    if arguments.command == "measure":
        only = set(filter(None, arguments.only.split(",")))
        planned = [one for one in measurements(arguments.against.split(",")) if not only or one.part in only]
        measure(arguments.into, planned, arguments.repeat, arguments.resume)
        return
    rows = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    if arguments.page is None and arguments.readme is None:
        print(tables(rows), end="")
    for document, write in ((arguments.page, tables), (arguments.readme, summary)):
        if document is not None:
            document.write_text(replace_between_marks(document.read_text(), write(rows)))


if __name__ == "__main__":
    main()
