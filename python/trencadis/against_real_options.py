"""`trencadis simulate --against-real`: what it takes, and what it prints."""

from __future__ import annotations

import os
import statistics
import sys
from typing import Annotated, Any

import typer

from . import _core
from .against_real import TRIES, Case, compare
from .checks import one_of
from .errors import UsageError
from .options import require_repetitions
from .others import SMALL_SHARE
from .records import check_record_target, collect, progress_bar, write_records
from .tables import print_table

ROUTINES = ("potrf", "getrf", "geqrf")
ORDERS = [1024, 1536, 2048, 3072, 4096]
TILE = 256
NOTHING_JUDGED = 75  #: status, as sysexits' EX_TEMPFAIL
SLOWED = 0.5  #: of the last core, where no other is asked for

_PANEL = "Beside real cores"
AgainstReal = Annotated[
    bool,
    typer.Option(
        "--against-real", rich_help_panel=_PANEL,
        help="This machine's cores in virtual time, their kernels as fast as measured here and now, beside what the cores really "
        "take: potrf, getrf, geqrf at five orders, on one worker, on all, and on all with a slow one among them",
    ),
]
Slow = Annotated[
    list[str] | None,
    typer.Option("--slow", metavar="CORE=FRACTION", rich_help_panel=_PANEL, help="The slow one; default: the last at half speed"),
]
Repeat = Annotated[
    int,
    typer.Option("--repeat", metavar="R", rich_help_panel=_PANEL, help="Real runs of each, or more; the median counts"),
]
Within = Annotated[
    float,
    typer.Option(
        "--within", min=0, metavar="SHARE", rich_help_panel=_PANEL,
        help="End with status 1 where a simulated time is further from the real one, such as 0.1; 0: never",
    ),
]
SkipDisturbed = Annotated[
    bool,
    typer.Option(
        "--skip-disturbed", rich_help_panel=_PANEL,
        help=f"Where others have more than {SMALL_SHARE} of a core meanwhile, compare again, {TRIES} times in all, and if they "
        f"stay let --within pass over that line, and say so; status {NOTHING_JUDGED} where it passed over all",
    ),
]

_SHOWN = {
    "n": "n", "workers": "cores", "slowed": "slowed", "simulated_s": "simulated s", "real_s": "real s", "spread": "least to most",
    "simulated_over_real": "simulated / real", "simulated_over_real_min": "the fastest",
    "others_cores": "others' cores",
}  # fmt: skip


def against_real(
    routine: str, orders: list[int], nb: int, variant: str, scheduler: str, slow: dict[int, float], repeat: int,
    within: float, skip_disturbed: bool, json: str | None,
) -> None:  # fmt: skip
    """Compares and prints. Exit status 1 where a simulated time is further from the real one than `within`, if that is not 0."""
    if skip_disturbed and not within:
        raise UsageError("--skip-disturbed: --within says what is passed over")
    check_record_target(json)
    one_of("routine to simulate beside real cores", routine, ROUTINES)
    if variant:
        known = next(row for row in _core.list_routines() if row["name"] == routine)
        both = [name for name in known["variants"] if name in known["simulated_variants"]]
        one_of(f"--variant of {routine}", variant, both)
    require_repetitions(repeat)
    if min(orders, default=1) < 1:
        raise UsageError("--n: an order to compute is 1 or more")
    chosen = cases(routine, orders or ORDERS, nb or TILE, variant, scheduler, slow)
    with progress_bar(len(chosen)) as step:
        rows = collect(compare(chosen, repeat, step, TRIES if skip_disturbed else 1), json)
    if json:
        write_records(rows, json)
    else:
        _print(rows)
    judged = [row for row in rows if not (skip_disturbed and row["disturbed"])]
    if skip_disturbed:
        print("\n".join(passed_over(rows, judged)), file=sys.stderr if json else sys.stdout)
    if within and any(abs(row["simulated_over_real"] - 1) > within for row in judged):
        raise typer.Exit(1)
    if not judged:
        raise typer.Exit(NOTHING_JUDGED)


def cases(
    routine: str, orders: list[int], nb: int, variant: str, scheduler: str, slow: dict[int, float]
) -> list[Case]:  # fmt: skip
    """Of each order: one worker, all of them, and all with slow ones among them."""
    cores = sorted(os.sched_getaffinity(0))
    for core in slow:
        if core not in cores:
            raise UsageError(f"--slow: there is no core {core}; cores here: {', '.join(map(str, cores))}")
    teams: list[tuple[list[int], dict[int, float]]] = [(cores[:1], {})]
    if len(cores) > 1:
        teams += [(cores, {}), (cores, slow or {cores[-1]: SLOWED})]
    return [Case(routine, n, nb, tuple(team), variant, scheduler, how) for n in orders for team, how in teams]


def _print(rows: list[dict[str, Any]]) -> None:
    first = rows[0]
    print(f"{first['routine']} ({first['variant']}), tiles of {first['nb']}, {first['scheduler']} scheduler; this machine's "
          "cores, and the same simulated with kernels as fast as measured here; median of "
          f"{min(row['repeat'] for row in rows)} runs or more")  # fmt: skip
    shown = [
        {**row, "workers": ",".join(map(str, row["workers"])), "simulated_over_real": round(row["simulated_over_real"], 3),
         "simulated_over_real_min": round(row["simulated_over_real_min"], 3),
         "others_cores": f"{row['others']:.2f}",
         "slowed": " ".join(f"{core}={fraction:g}" for core, fraction in row["slow"].items()),
         "spread": f"{row['real_s_min']:.4g} to {row['real_s_max']:.4g}"}
        for row in rows
    ]  # fmt: skip
    print_table(shown, _SHOWN)
    off, least = ([abs(row[key] - 1) for row in rows] for key in ("simulated_over_real", "simulated_over_real_min"))
    print(f"off by {statistics.median(off):.1%} in the median, {max(off):.1%} at most; with the fastest runs of both "
          f"{statistics.median(least):.1%} and {max(least):.1%}")  # fmt: skip
    if any(row["disturbed"] for row in rows):
        cores, most = len(os.sched_getaffinity(0)), max(row["others"] for row in rows)
        print(f"others had a part of the {cores} cores, up to {most:.2f} of them, which the simulation knows nothing of")


def passed_over(rows: list[dict[str, Any]], judged: list[dict[str, Any]]) -> list[str]:
    """What --within says nothing of, and why."""
    skipped = [
        f"passed over: {row['routine']} n={row['n']} on cores {','.join(map(str, row['workers']))}"
        f"{' with a slow one' if row['slow'] else ''}: others had {row['others']:.2f} cores, the last of {TRIES} times"
        for row in rows if row not in judged
    ]  # fmt: skip
    return [*skipped, f"judged: {len(judged)} of {len(rows)}"]
