"""`trencadis scaling` on the command line."""

from __future__ import annotations

from dataclasses import replace
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _core
from .bench_commands import Precision, Routine
from .checks import one_of
from .effects import parse_effects
from .errors import UsageError
from .files import check_writable
from .options import LARGEST_SIZE, Scheduler, size_list
from .records import JsonTo, check_record_target, collect, progress_bar, write_records
from .scaling import plan, run, where_it_binds
from .simulate_commands import DISTRIBUTIONS, Effects, MachineName, Seed, Variant
from .simulations import Simulation
from .tables import print_table

Hosts = Annotated[str, typer.Option("--hosts", metavar="H[,H..]", help="Numbers of hosts, ascending")]
Strong = Annotated[
    int,
    typer.Option(
        "--strong", metavar="N", min=0, max=LARGEST_SIZE, show_default=False,
        help="Strong scaling: this order on all numbers of hosts",
    ),
]
Weak = Annotated[
    int,
    typer.Option(
        "--weak",
        metavar="N",
        min=0,
        max=LARGEST_SIZE,
        show_default=False,
        help="Weak scaling: this order on the first number of hosts, on the others as much memory per host",
    ),
]
Distributions = Annotated[
    str,
    typer.Option(
        "--distribution", metavar="D[,D]", help="block-cyclic, symmetric, or both; default: both where one triangle is factored"
    ),
]
Chart = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE.svg", help="A chart of GFlop/s per host", show_default=False)
]
Tile = Annotated[int, typer.Option("--nb", min=1, max=LARGEST_SIZE, help="Tile size")]

#: Routines of one triangle, in which the symmetric distribution saves messages.
_OF_A_TRIANGLE = ("potrf", "posv", "potri", "lauum", "trtri")

_COLUMNS = {
    "scaling": "scaling", "distribution": "distribution", "grid": "grid", "hosts": "hosts", "n": "n", "tasks": "tasks",
    "makespan_s": "simulated s", "gflops_median": "GFlop/s", "gflops_per_host": "per host", "bound_gflops": "at most",
    "messages": "messages", "bytes_sent": "bytes", "of_published_bytes": "of published", "most_bytes_of_a_host": "of one host",
    "peak_bytes_of_a_host": "its memory", "lost": "lost to messages",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("scaling")(scaling_command)


def scaling_command(
    routine: Routine, machine: MachineName, hosts: Hosts = "4,16,64,256,1000", strong: Strong = 0, weak: Weak = 0,
    nb: Tile = 500, precision: Precision = "d", scheduler: Scheduler = "", variant: Variant = "",
    distribution: Distributions = "", seed: Seed = 1, effect: Effects = None, json: JsonTo = None, output: Chart = None,
) -> None:  # fmt: skip
    """Simulate strong and weak scaling over the hosts of a described machine, and say from where on communication binds."""
    if not strong and not weak:
        raise UsageError("--strong, --weak: give an order for one or both, such as --strong 30000")
    counts = host_list(hosts, machine)
    ways = distribution_list(distribution, routine)
    check_record_target(json)
    if output is not None:
        check_chart(output)
    one = Simulation(routine, 0, machine, nb, precision, variant, scheduler, seed=seed, effects=parse_effects(effect or []))
    points = [
        point
        for scaling, n in (("strong", strong), ("weak", weak))
        if n
        for point in plan(replace(one, n=n), scaling, counts, ways)
    ]
    with progress_bar(2 * len(points)) as step:
        rows = collect(run(points, step), json)
    if output is not None:
        draw_chart(rows, output)
    if json:
        write_records(rows, json)
        return
    print_rows(rows, output)


def host_list(text: str, machine: str) -> list[int]:
    counts = size_list(text, "--hosts")
    there = len(loads(_core.load_machine(machine))["nodes"])
    for count in counts:
        if count > there:
            raise UsageError(f"--hosts: {machine} has {there} hosts, not {count}")
        if count < 2:
            raise UsageError(f"--hosts: {count} is no number of hosts that send each other anything; it must be at least 2")
    if counts != sorted(set(counts)):
        raise UsageError(f"--hosts: '{text}' must be different numbers in ascending order")
    return counts


def distribution_list(text: str, routine: str) -> list[str]:
    if not text:
        return list(DISTRIBUTIONS) if routine in _OF_A_TRIANGLE else [DISTRIBUTIONS[0]]
    return [one_of("--distribution", word.strip(), DISTRIBUTIONS) for word in text.split(",")]


def check_chart(output: Path) -> None:
    if output.suffix != ".svg":
        raise UsageError(f"-o: the chart is an .svg, not '{output}'")
    check_writable(output)


def draw_chart(rows: list[dict[str, Any]], output: Path) -> None:
    from .reproduce.charts import draw
    from .reproduce.gallery import Chart as Drawing
    from .reproduce.gallery import Curve

    keys = dict.fromkeys((row["scaling"], row["distribution"]) for row in rows)
    curves = []
    for scaling, way in keys:
        mine = [row for row in rows if (row["scaling"], row["distribution"]) == (scaling, way)]
        curves.append(Curve(f"{scaling}, {way}", [(row["hosts"], row["gflops_per_host"]) for row in mine]))
        free = [(row["hosts"], row["gflops_median"] / row["hosts"] * row["makespan_s"] / row["free_makespan_s"]) for row in mine]
        curves.append(Curve(f"{scaling}, {way}, messages take no time", free))
    title = f"{rows[0]['routine']} on {rows[0]['machine']}, simulated"
    draw(Drawing(output.stem, title, "hosts", "GFlop/s per host", curves), output.parent)


def print_rows(rows: list[dict[str, Any]], output: Path | None) -> None:
    first = rows[0]
    what = f"{first['routine']} ({first['variant']}) on {first['machine']}"
    print(f"simulated: {what}, {first['scheduler']} scheduler, nb {first['nb']}\n")
    shown = [{**row, "lost": f"{100 * row['lost_to_messages']:.1f} %"} for row in rows]
    print_table(shown, _COLUMNS)
    print()
    for line in where_it_binds(rows):
        print(line)
    if output is not None:
        print(f"wrote {output}")
