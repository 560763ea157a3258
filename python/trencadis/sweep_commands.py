"""`trencadis sweep` on the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .busy import format_cores
from .checks import one_of
from .errors import UsageError
from .files import warn
from .options import PRECISIONS, Devices, require_repetitions, size_list
from .peers import LinearAlgebraPeer, select_peers
from .records import JsonTo, check_record_target, collect, progress_bar, who_ran, with_devices, write_records
from .sweep.calls import ROUTINES, SAID, Case, threads_text
from .sweep.grid import ALL, rules, sizes
from .sweep.picture import check_picture, draw
from .sweep.sweep import Request, sweep
from .sweep.verdicts import BOUND
from .tables import print_table

#: The exit code when a cliff stands.
EXIT_CLIFF = 1

Routines = Annotated[
    str, typer.Argument(metavar="ROUTINE[,..]|all", help=f"Of {', '.join(ROUTINES)}", show_default=False)
]
Sizes = Annotated[str, typer.Option("--n", metavar="N[,N..]", help="Orders of the matrices, also as FROM:TO:STEP")]
Leading = Annotated[
    str,
    typer.Option(
        "--ld", metavar="all|tight|LIST",
        help=f"Leading dimensions: all of {','.join(ALL)}; tight, which is n; or a list of such and of numbers. "
        "512B is the next multiple of so many bytes",
    ),
]
Transpose = Annotated[
    str, typer.Option("--transpose", metavar="all|NN[,..]", help="Of gemm: NN, TN, NT, TT, of A and B", show_default="all")
]
Side = Annotated[str, typer.Option("--side", metavar="all|left[,..]", help="Of trsm: left, right", show_default="all")]
Precisions = Annotated[str, typer.Option("--precision", metavar="P[,..]", help="s, d, c, z: single, double, and complex")]
ThreadCounts = Annotated[
    str,
    typer.Option("--threads", metavar="T[,..]", help="Numbers of threads, also as FROM:TO:STEP; all: as many as cores"),
]
Against = Annotated[
    str,
    typer.Option(
        "--against", metavar="PEER|PATH[,..]", show_default=False,
        help="Measure peers beside, with ld = n: mkl, openblas, openblas-system, blis, aocl; any library by its path",
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", metavar="R", help="Turns at a point, of which the median counts")]
PictureFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", show_default=False, help="Picture of speed over n: .svg or .png"),
]

_SHOWN = {
    "case": "", "threads": "threads", "points": "points", "slowest": "GFlop/s from", "fastest": "to",
    "neighbours": "least of neighbours'", "neighbours_at": "at", "best": "least of best ld's", "best_at": "at",
    "cliffs": "cliffs", "unsure": "unsure",
}  # fmt: skip
_CLIFFS = {
    "case": "cliff", "threads": "threads", "n": "n", "ld": "ld", "gflops_median": "GFlop/s",
    "neighbours_gflops": "neighbours' median", "neighbours_ratio": "ratio", "best_ld": "best ld", "best_ld_gflops": "its GFlop/s",
    "best_ld_ratio": "ratio",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("sweep")(sweep_command)


def sweep_command(
    routine: Routines, n: Sizes = "16:1100:16", ld: Leading = "all", transpose: Transpose = "", side: Side = "",
    precision: Precisions = "d,s", threads: ThreadCounts = "1,all", devices: Devices = "", against: Against = "",
    repeat: Repeat = 7, output: PictureFile = None, json: JsonTo = None,
) -> None:
    """Look for cliffs: measure a routine over sizes and leading dimensions, and name where its speed falls off.

    A point is a cliff when it is slower than 0.9 of the median of its neighbours (two sizes on either side), or of the best
    leading dimension at its size, and still is when measured three times more. Exit code 1 when there is one.
    """
    cases = [
        Case(name, letter, letters)
        for letter in _known("--precision", precision, list(PRECISIONS))
        for name in _routines(routine)
        for letters in _letters(name, transpose, side)
    ]
    _refuse_what_no_case_has(cases, transpose, side)
    require_repetitions(repeat)
    request = Request(cases, sizes(n), rules(ld), _threads(threads), repeat, _peers(against), devices)
    request.check()
    check_record_target(json)
    if output is not None:
        check_picture(output)
    with progress_bar(request.steps()) as step:
        rows = collect(sweep(request, step), json)
    if json:
        write_records(rows, json)
    else:
        _print(rows)
    if output is not None:
        draw(rows, output)
        if json != "-":
            print(f"wrote {output}")
    _end(rows)


def _routines(text: str) -> list[str]:
    if text == "all":
        return list(ROUTINES)
    words = _words(text)
    for word in words:
        one_of("routine to sweep", word, ROUTINES)
    return words


def _letters(routine: str, transpose: str, side: str) -> Sequence[str]:
    letters = ROUTINES[routine].letters
    if routine == "gemm" and transpose not in ("", "all"):
        return _known("--transpose", transpose, letters)
    if routine == "trsm" and side not in ("", "all"):
        named = {SAID[letter]: letter for letter in letters}
        return [named[word] for word in _known("--side", side, list(named))]
    return letters


def _refuse_what_no_case_has(cases: Sequence[Case], transpose: str, side: str) -> None:
    for option, given, routine in (("--transpose", transpose, "gemm"), ("--side", side, "trsm")):
        if given and all(case.routine != routine for case in cases):
            raise UsageError(f"{option}: is of {routine}, which is not swept here")


def _threads(text: str) -> list[int]:
    cores = len(os.sched_getaffinity(0))
    counts = [count for word in _words(text) for count in ([cores] if word == "all" else size_list(word, "--threads"))]
    for count in counts:
        if not 1 <= count <= cores:
            raise UsageError(f"--threads: {count} is not a number of threads from 1 to {cores}, the cores that may be used here")
    return list(dict.fromkeys(counts))


def _peers(against: str) -> list[LinearAlgebraPeer]:
    found = select_peers("gemm", against.split(","), warn) if against else []
    return [peer for peer in found if isinstance(peer, LinearAlgebraPeer)]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in text.split(",")))


def _known(option: str, text: str, known: Sequence[str]) -> list[str]:
    words = _words(text)
    for word in words:
        one_of(option, word, known)
    return words


def _print(rows: list[dict[str, Any]]) -> None:
    """A line for each case and number of threads, then one for each cliff."""
    first = rows[0]
    print(
        f"measured on {first['machine']}: {who_ran(first)}, cores "
        f"{format_cores(max((row['workers'] for row in rows), key=len))}, {first['kernels']} kernels "
        f"({first['kernels_version']}), medians of {first['repeat']} turns; "
        + "".join(f"{said}; " for said in with_devices(first))
        + f"a cliff is below {BOUND}"
    )
    for peer, version in first["peer_versions"].items():
        print(f"{peer}: {version}")
    rows = [{**row, "threads": len(row["workers"])} for row in rows]
    groups = dict.fromkeys((row["case"], row["threads"]) for row in rows)
    print_table([_summary([row for row in rows if (row["case"], row["threads"]) == group]) for group in groups], _SHOWN)
    if cliffs := [row for row in rows if row["cliff"]]:
        print_table(cliffs, _CLIFFS)


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    compared = [row for row in rows if row["neighbours_ratio"] is not None]
    neighbours = min(compared, key=lambda row: row["neighbours_ratio"], default=None)
    best = min(rows, key=lambda row: row["best_ld_ratio"])
    speeds = [row["gflops_median"] for row in rows]
    return {
        "case": rows[0]["case"], "threads": rows[0]["threads"], "points": len(rows),
        "slowest": min(speeds), "fastest": max(speeds),
        "neighbours": neighbours and neighbours["neighbours_ratio"], "neighbours_at": neighbours and _at(neighbours),
        "best": best["best_ld_ratio"], "best_at": _at(best), "cliffs": sum(row["cliff"] for row in rows),
        "unsure": sum(not row["sure"] for row in rows),
    }  # fmt: skip


def _at(row: dict[str, Any]) -> str:
    return f"n = {row['n']}, ld = {row['ld']}"


def _end(rows: Sequence[dict[str, Any]]) -> None:
    """Exit code 1 and a line that names the deepest cliff, where there is one; a line on points of which nothing can be said."""
    if unsure := sum(_ratio(row) < BOUND and not row["sure"] for row in rows):
        warn(f"{unsure} of {len(rows)} points are slow, but others had the processors in most of their turns: no verdict")
    cliffs = [row for row in rows if row["cliff"]]
    if not cliffs:
        return
    deepest = min(cliffs, key=_ratio)
    print(
        f"trencadis: {len(cliffs)} of {len(rows)} points are cliffs; the deepest: {deepest['case']}, "
        f"{threads_text(len(deepest['workers']))}, {_at(deepest)}, {_ratio(deepest):.2f} of what it should be",
        file=sys.stderr,
    )
    raise typer.Exit(EXIT_CLIFF)


def _ratio(row: dict[str, Any]) -> float:
    return min(row["best_ld_ratio"], row["neighbours_ratio"] or row["best_ld_ratio"])
