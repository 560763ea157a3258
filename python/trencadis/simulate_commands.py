"""`trencadis simulate` on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _core
from .against_real_options import AgainstReal, Repeat, SkipDisturbed, Slow, Within, against_real
from .bench_commands import Colours, Precision, Routine, Sizes
from .checks import one_of
from .effects import effect_words, effects_help, parse_effects
from .elsewhere import OBJECTIVES, chosen_simulation
from .errors import UsageError
from .forms import forms_of
from .options import (
    Scheduler,
    TileSize,
    VirtualCores,
    core_fractions,
    shape_list,
    shape_text,
    size_list,
    tile_size,
    unit_list,
    with_virtual_cores,
)
from .records import JsonTo, check_record_target, collect, progress_bar, write_records
from .seeds import SeedCount, mean_record, over_seeds, runs, seed_fields
from .simulations import Simulation, contract_record
from .tables import print_table
from .tracing import check_trace_output, trace_files

MOST = 32767  #: hosts on a side of a grid

#: Who holds which tile.
DISTRIBUTIONS = ("block-cyclic", "symmetric")

MachineName = Annotated[
    str,
    typer.Option("--machine", metavar="NAME|FILE", help="A described machine; see: trencadis list machines", show_default=False),
]
Variant = Annotated[str, typer.Option("--variant", help="Form of the graph; see: trencadis list routines")]
TallShapes = Annotated[
    str, typer.Option("--shape", metavar="MxN[,..]", help="Tall matrices, of geqrf --variant tsqr", show_default=False)
]
Units = Annotated[
    str,
    typer.Option(
        "--workers", metavar="LIST", show_default=False,
        help="Cores and devices in this order, the first submits: 0,1,4-7, kinds, names, each with :COUNT; default: all",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model", metavar="global|cluster-switching|cpu-migration", show_default=False,
        help="How a chip with two kinds of cores is run: all cores, the faster kind alone, or one core of each pair",
    ),
]
Objective = Annotated[
    str,
    typer.Option(
        "--objective", metavar="time|rule", show_default=False,
        help="time: form, tile size and number of cores as chosen for such a call (docs/choices.md); rule, the standard: as the "
        "fixed rule has them",
    ),
]  # fmt: skip
Seed = Annotated[int, typer.Option("--seed", min=1, max=2**63 - 1, help="Of everything random; the same seed gives the same run")]
Effects = Annotated[
    list[str] | None, typer.Option("--effect", metavar="NAME[=VALUE]", help="See below. May be repeated", show_default=False)
]
Grid = Annotated[
    str,
    typer.Option(
        "--grid", metavar="PxQ", show_default=False,
        help="Hosts that take part, on machines of many hosts; default: the squarest grid of all",
    ),
]
Distribution = Annotated[
    str,
    typer.Option(
        "--distribution", metavar="|".join(DISTRIBUTIONS),
        help="Who holds which tile: the hosts of the grid in turn, or, with --grid RxR, R (R - 1) / 2 hosts by pairs of numbers, "
        "which sends less where the matrix is symmetric",
    ),
]  # fmt: skip
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", show_default=False,
        help=".json (Perfetto), .prv (Paraver), .svg (Gantt) or .html (Gantts and tables)",
    ),
]  # fmt: skip

_SHOWN = {
    "m": "m", "n": "n", "nb": "nb", "tasks": "tasks", "makespan_s": "simulated s", "gflops_mean": "GFlop/s", "interval": "95 %",
    "runs": "runs", "bound_gflops": "at most", "idle_fraction": "idle", "energy_j": "J", "bytes_moved": "bytes moved",
    "local_bytes": "local", "remote_bytes": "remote",
}
_SHOWN_OF_HOSTS = {
    "n": "n", "nb": "nb", "hosts": "hosts", "grid": "grid", "tasks": "tasks", "makespan_s": "simulated s",
    "gflops_mean": "GFlop/s", "interval": "95 %", "runs": "runs", "bound_gflops": "at most", "idle_fraction": "idle",
    "energy_j": "J", "messages": "messages",
    "bytes_sent": "bytes sent", "most_messages_of_a_host": "of one host", "most_bytes_of_a_host": "bytes of one host",
    "peak_bytes_of_a_host": "its memory at most",
}  # fmt: skip

_TRAFFIC = {
    "at": "data at", "by": "used by", "read_bytes": "read there", "written_bytes": "written there", "copied_bytes": "copied",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    effects = f"[bold]Effects[/bold], each with its cause; all are off at the start.\n\n{effects_help()}"
    app.command("simulate", epilog=effects)(simulate_command)


def simulate_command(
    routine: Routine, machine: MachineName = "", n: Sizes = "", shape: TallShapes = "", nb: TileSize = "auto",
    precision: Precision = "d", scheduler: Scheduler = "", variant: Variant = "", workers: Units = "",
    virtual_cores: VirtualCores = "", model: Model = "", objective: Objective = "",
    seed: Seed = 1, seeds: SeedCount = 1, effect: Effects = None, grid: Grid = "",
    distribution: Distribution = DISTRIBUTIONS[0], json: JsonTo = None, output: TraceFile = None, view: Colours = "kernel",
    against: AgainstReal = False, slow: Slow = None, repeat: Repeat = 7, within: Within = 0.0,
    skip_disturbed: SkipDisturbed = False,
) -> None:
    """Run a routine's tasks in virtual time on a described machine: the graph and the scheduler of real runs, no computing."""
    if against:
        others = {"--machine": machine, "--shape": shape, "--precision": precision != "d", "--workers": workers,
                  "--virtual-cores": virtual_cores, "--model": model, "--objective": objective, "--seed": seed != 1,
                  "--seeds": seeds != 1,
                  "--effect": effect, "--grid": grid, "--distribution": distribution != DISTRIBUTIONS[0],
                  "-o": output, "--view": view != "kernel"}  # fmt: skip
        if given := next((name for name, value in others.items() if value), ""):
            raise UsageError(f"{given}: --against-real simulates this machine's cores; leave out the one or the other")
        orders = size_list(n) if n else []
        slowed = core_fractions(slow or [])
        against_real(routine, orders, tile_size(nb), variant, scheduler, slowed, repeat, within, skip_disturbed, json)
        return
    its_own = {"--slow": slow, "--repeat": repeat != 7, "--within": within, "--skip-disturbed": skip_disturbed}
    if given := next((name for name, value in its_own.items() if value), ""):
        raise UsageError(f"{given}: is of --against-real")
    if not machine:
        raise UsageError("--machine: name a described machine, or a file; see: trencadis list machines")
    effects = parse_effects(effect or [])
    sizes = extents_of(n, shape)
    if shape and not variant:
        variant = next(iter(_tall(routine)), "")
    one = Simulation(
        routine, sizes[0][1], machine, tile_size(nb), precision, variant, with_virtual_cores(scheduler, virtual_cores),
        unit_list(workers), model, seed, effects, m=sizes[0][0], distribution=distribution, as_called=True,
    )  # fmt: skip
    one = replace(one, **grid_sides(grid))
    one_of("--distribution", distribution, DISTRIBUTIONS)
    _check_names(one)
    check_record_target(json)
    if output is not None:
        if len(sizes) != 1:
            raise UsageError(f"--n: a trace is of one run; '{n or shape}' stands for {len(sizes)} sizes")
        check_trace_output(output, view)
        one = replace(one, outputs=((str(output), view),))
    all_sizes = [replace(one, n=columns, m=rows) for rows, columns in sizes]
    if objective and one_of("--objective", objective, OBJECTIVES) == "time":
        all_sizes = [chosen_simulation(size) for size in all_sizes]
    rows = collect(_records(all_sizes, seeds or 1, effects), json)
    if json:
        write_records(rows, json)
    else:
        _print_rows(rows, output)


def _records(simulations: list[Simulation], seeds: int, effects: dict[str, Any]) -> Iterator[dict[str, Any]]:
    counts = [seeds] * len(simulations)
    with progress_bar(runs(simulations, counts)) as step:
        for simulation, records in zip(simulations, over_seeds(simulations, counts, step), strict=True):
            mean = mean_record(simulation, records)
            yield {**contract_record(mean, effects), **seed_fields(records, mean)}


def extents_of(n: str, shape: str) -> list[tuple[int, int]]:
    """Rows, 0 of square matrices, and columns."""
    shapes = shape_list(shape)
    if not n and not shapes:
        raise UsageError("--n: give a size to simulate, such as --n 1024, or of geqrf a shape, --shape MxN")
    for m, columns, k in shapes:
        if k:
            raise UsageError(f"--shape: '{shape_text(m, columns, k)}' is no shape of a matrix; write MxN, such as 100000x200")
    return [(0, size) for size in (size_list(n) if n else [])] + [(m, columns) for m, columns, _ in shapes]


def grid_sides(text: str) -> dict[str, int]:
    """ "4x8" -> fields of a Simulation."""
    if not text:
        return {}
    sides = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text, re.ASCII)
    numbers = [int(side) for side in sides.groups()] if sides else []
    if not numbers or not all(0 < side <= MOST for side in numbers):
        raise UsageError(f"--grid: '{text}' is no grid of hosts; write PxQ, such as 4x8, each 1 to {MOST}")
    return {"grid_rows": numbers[0], "grid_cols": numbers[1]}


def _simulated() -> dict[str, list[str]]:
    """The forms of each routine that has any to simulate."""
    return {row["name"]: row["simulated_variants"] for row in _core.list_routines() if row["simulated_variants"]}


def _tall(routine: str) -> list[str]:
    """Those that are for tall matrices."""
    return forms_of(routine, tall=True) if routine in _simulated() else []


def _check_names(simulation: Simulation) -> None:
    """What can be refused before a process is started."""
    _core.load_machine(simulation.machine)
    if simulation.m and simulation.variant not in _tall(simulation.routine):
        shaped = " and ".join(f"{name} --variant {form}" for name in _simulated() for form in _tall(name))
        raise UsageError(f"--shape: {simulation.routine} is simulated on square matrices; only {shaped} has shapes")
    known = _simulated()
    variants = known[one_of("routine to simulate", simulation.routine, known)]
    if simulation.variant:
        one_of(f"--variant of {simulation.routine}", simulation.variant, variants)


def _print_rows(rows: list[dict[str, Any]], output: Path | None) -> None:
    shown = _SHOWN_OF_HOSTS if "hosts" in rows[0] else _SHOWN
    columns = {key: heading for key, heading in shown.items() if any(row.get(key) is not None for row in rows)}
    print(_heading(rows[0]))
    print_table(rows, columns)
    if len(rows) == 1 and "hosts" not in rows[0]:
        _print_details(rows[0])
    for file in trace_files(output) if output else ():
        print(f"wrote {file}")


def _heading(row: dict[str, Any]) -> str:
    what = row["routine"] + (f" ({row['variant']})" if row["variant"] else "")
    parts = [
        f"simulated: {what} on {row['machine']}, {row['scheduler']} scheduler, {len(row['workers'])} workers, "
        f"{row['model'] or 'global'} execution"
    ]
    if "hosts" in row:
        parts.append(f"{row['hosts']} hosts, {row['distribution']}")
    parts += effect_words(row["effects"])
    return "; ".join(parts)


def _print_details(row: dict[str, Any]) -> None:
    workers = [{**worker, "idle": round(100 * worker["idle_fraction"], 1)} for worker in row["per_worker"]]
    columns = {"name": "worker", "kind": "kind", "busy_s": "busy s", "idle": "idle %", "tasks": "tasks", "shares": "joined"}
    if row["energy_j"] is not None:
        columns["energy_j"] = "J"
    print()
    print_table(workers, columns)
    if len({pair["by"] for pair in row["traffic"]}) > 1:
        print()
        print_table(row["traffic"], _TRAFFIC)
    kernels = {"name": "kernel", "kind": "on", "calls": "calls", "mean_ms": "mean ms", "total_s": "total s", "gflops": "GFlop/s"}
    print()
    print_table(row["per_kernel"], kernels)
