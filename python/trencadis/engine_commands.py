"""`trencadis compare-engines` on the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .bench import Request
from .bench_commands import Busy, Check, Precision, Repeat, Routine, Shapes, Sizes, Variant, Window, heading, request_of
from .compare_engines import check_request, compare_engines, contestants, steps
from .cores import core_list
from .measure import SessionChoice
from .options import Devices, Kernels, TileSize, Workers, tile_size
from .records import JsonTo, check_record_target, collect, progress_bar, write_records
from .tables import print_table

Engines = Annotated[
    str,
    typer.Option("--engines", metavar="E[,E..]", show_default=False, help="Default: all here that run tasks on several cores"),
]
Schedulers = Annotated[
    str,
    typer.Option(
        "--schedulers", metavar="S[,S..]", show_default=False,
        help="Of our own engine, beside mosaic. Default: the presets of published runtimes",
    ),
]
TileRows = Annotated[
    int, typer.Option("--tasks", metavar="N", min=0, help="Tile rows of the graph of empty tasks that shows their cost; 0: none")
]

_SHOWN = {
    "n": "n", "nb": "nb", "engine": "engine", "scheduler": "scheduler", "gflops_median": "GFlop/s", "ratio_median": "ratio",
    "ratio_min": "min", "ratio_max": "max", "ns_per_task": "ns/task", "imitates": "imitates", "imitation_median": "of its speed",
    "imitation_min": "min", "imitation_max": "max", "residual": "residual", "refused": "refused",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("compare-engines")(compare_engines_command)


def compare_engines_command(
    routine: Routine, n: Sizes = "", shape: Shapes = "", nb: TileSize = "auto", precision: Precision = "d", kernels: Kernels = "",
    workers: Workers = "", devices: Devices = "", variant: Variant = "", window: Window = 0, busy: Busy = None,
    engines: Engines = "", schedulers: Schedulers = "", tasks: TileRows = 40, repeat: Repeat = 7, check: Check = False,
    json: JsonTo = None,
) -> None:
    """The same kernels on the same tiles by every engine in turn, each in a process of its own, and what an empty task costs.

    Ours under mosaic is the reference: a ratio above 1 says that it is faster, round by round. Our engine runs under the presets
    of published runtimes as well; where the runtime that one imitates is an engine here, `imitates` names it, with the preset's
    speed over that runtime's. Devices (--devices) take part with our engine alone. An engine that does not have the form says
    why. More in docs/engines.md.
    """
    choice = SessionChoice(
        kernels=kernels, workers=core_list(workers), window=window, nb=tile_size(nb), variant=variant, devices=devices
    )
    request = request_of(routine, n, shape, precision, choice, busy, repeat, check)
    check_request(request)
    entrants = contestants(_names(engines), _names(schedulers))
    check_record_target(json)
    with progress_bar(steps(request, entrants, tasks)) as step:
        rows = collect(compare_engines(request, entrants, tasks, step), json)
    if json:
        write_records(rows, json)
    else:
        _print_tournament(rows, request)


def _print_tournament(rows: list[dict[str, Any]], request: Request) -> None:
    print(heading(rows[0], request))
    for engine, runtime in {row["engine"]: row.get("runtime") for row in rows}.items():
        if runtime:
            print(f"{engine}: {runtime}")
    print_table(rows, {key: text for key, text in _SHOWN.items() if any(row.get(key) is not None for row in rows)})


def _names(text: str) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(word.strip() for word in text.split(","))) if text else []
