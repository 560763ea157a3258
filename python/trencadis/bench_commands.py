"""`trencadis bench`, `compare`, `trace` and `demo` on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _core
from .bench import Request, bench, check_request
from .busy import capacity_left, format_cores
from .checks import one_of
from .compare import compare
from .cores import core_list
from .energy import Energy, counting, domain_text, nothing_counts
from .errors import UsageError
from .files import warn
from .measure import SessionChoice
from .mpi import one_voice
from .options import (
    Devices,
    Engine,
    Grid,
    Kernels,
    Owners,
    Scheduler,
    Threads,
    TileSize,
    VirtualCores,
    Workers,
    core_counts,
    core_fractions,
    precision,
    shape_list,
    size_list,
    tile_size,
    with_processes,
    with_virtual_cores,
)
from .peers import select_peers
from .records import JsonTo, check_record_target, collect, progress_bar, who_ran, with_devices, write_records
from .tables import print_node_bytes, print_table
from .tracing import check_power_output, check_trace_output, print_trace_tables, record_with_power, write_trace

EMULATION_PANEL = "Uneven machines"
Routine = Annotated[str, typer.Argument(metavar="ROUTINE", help="See: trencadis list routines", show_default=False)]
Sizes = Annotated[
    str, typer.Option("--n", metavar="N[,N..]", help="Orders of the matrices; for tasks: tile rows", show_default=False)
]
Shapes = Annotated[
    str,
    typer.Option(
        "--shape",
        metavar="MxN[xK][,..]",
        help="Shapes that are not square: 100000x200 of QR and least squares, MxNxK of gemm, MxN of symm, hemm, trmm, trsm "
        "(A is M x M), syrk, herk (A is M x N), potrs and getrs (N right sides)",
        show_default=False,
    ),
]
Transpose = Annotated[
    str, typer.Option("--transpose", metavar="NN|TN|..", help="Of gemm: N, T or C of A and of B", show_default="NN")
]
Side = Annotated[
    str,
    typer.Option("--side", metavar="left|right", help="Of symm, hemm, trmm, trsm: of B, where A is", show_default="left"),
]
Precision = Annotated[str, typer.Option("--precision", metavar="s|d|c|z", help="single, double, complex, double complex")]
Variant = Annotated[str, typer.Option("--variant", help="Tile variant; see: trencadis list routines")]
Window = Annotated[int, typer.Option("--window", min=0, max=2**31 - 1, help="Tasks in flight at most; 0: the library's choice")]
Slow = Annotated[
    list[str] | None,
    typer.Option(
        "--slow", metavar="CORE=FRACTION", rich_help_panel=EMULATION_PANEL,
        help="Emulate a slow core: our worker on it pauses after each piece of work. May be repeated",
    ),
]
MachineOver = Annotated[
    str,
    typer.Option(
        "--machine", metavar="NAME|FILE", rich_help_panel=EMULATION_PANEL,
        help="Lay a described machine over this one: its cores share the real ones; --workers are then its cores",
    ),
]
Pages = Annotated[
    str,
    typer.Option(
        "--pages", metavar="first-touch|interleave", rich_help_panel=EMULATION_PANEL,
        help="With --machine: where operands count as lying, all on its first memory node or page by page in turn",
    ),
]
Relief = Annotated[
    str,
    typer.Option(
        "--relief", metavar="held-up|always|never", rich_help_panel=EMULATION_PANEL,
        help="When a worker goes on on the core of an idle one. Default: when the system has taken its own core away",
    ),
]
Busy = Annotated[
    list[str] | None,
    typer.Option(
        "--busy", metavar="CORE=COUNT", rich_help_panel=EMULATION_PANEL,
        help="So many busy processes on the core meanwhile. May be repeated",
    ),
]
Reproducible = Annotated[
    bool,
    typer.Option("--reproducible", help="The same bits from any number of workers, policy and engine; see docs/bits.md"),
]
Repeat = Annotated[int, typer.Option("--repeat", metavar="R", help="Timed repetitions, after an untimed run")]
Check = Annotated[bool, typer.Option("--check", help="Compute the residual of the last call by LAPACK's measure")]
Against = Annotated[
    str,
    typer.Option(
        "--against", metavar="PEER|PATH[,..]", show_default=False,
        help="mkl, openblas, openblas-system, blis, aocl; any library by its path, PATH.so or LAPACK.so:BLAS.so; "
        "for tasks: libgomp, libomp, starpu",
    ),
]
Through = Annotated[
    str,
    typer.Option(
        "--through", metavar="symbols|session", show_default=False,
        help="How ours is called: by libtrencadis_lapack.so's symbols as the peer is (default), or through the Python interface",
    ),
]
TraceFile = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="FILE", show_default=False,
        help=".json (Perfetto), .prv (Paraver), .svg (Gantt) or .html (Gantts and tables)",
    ),
]
Colours = Annotated[
    str, typer.Option("--view", metavar="kernel|order", help="Colours of the .svg: by kernel or by creation order")
]

_PROBLEM = {"transpose": "op", "side": "side", "m": "m", "n": "n", "k": "k"}
_SHOWN = _PROBLEM | {
    "nb": "nb", "seconds_median": "seconds", "gflops_median": "GFlop/s", "gflops_max": "max", "ns_per_task": "ns/task",
    "idle_fraction": "idle", "grid": "grid", "messages": "messages", "bytes_sent": "bytes sent", "residual": "residual",
}
_COMPARED = _PROBLEM | {
    "gflops_median": "GFlop/s", "ns_per_task": "ns/task", "peer": "against",
    "peer_gflops_median": "its GFlop/s", "peer_ns_per_task": "its ns/task", "ratio_median": "ratio", "ratio_min": "min",
    "ratio_max": "max", "lone_ratio_median": "lone ratio", "lone_ratio_min": "min", "lone_ratio_max": "max",
    "residual": "residual", "peer_residual": "its residual",
}


def register(app: typer.Typer) -> None:
    app.command("bench")(bench_command)
    app.command("compare")(compare_command)
    app.command("trace")(trace_command)
    app.command("demo")(demo_command)


def bench_command(
    routine: Routine, n: Sizes = "", shape: Shapes = "", transpose: Transpose = "", side: Side = "",
    nb: TileSize = "auto", precision: Precision = "d", scheduler: Scheduler = "", engine: Engine = "", kernels: Kernels = "",
    threads_backend: Threads = "", workers: Workers = "", variant: Variant = "", virtual_cores: VirtualCores = "",
    window: Window = 0, slow: Slow = None, busy: Busy = None, relief: Relief = "", machine: MachineOver = "",
    pages: Pages = "", devices: Devices = "", repeat: Repeat = 7, check: Check = False, energy: Energy = False,
    reproducible: Reproducible = False, json: JsonTo = None, grid: Grid = "", owners: Owners = "",
) -> None:
    """Measure a routine at several sizes. Operands are made and restored outside the timed part; an untimed run comes first.

    Short calls are repeated within a repetition: for 20 ms, of which the median call counts, with --busy for 300 ms, of which the
    mean does.
    """
    scheduler = with_virtual_cores(scheduler, virtual_cores)
    choice = _choice(
        nb, scheduler, engine, kernels, threads_backend, workers, variant, window, slow, relief, machine, pages, devices,
        reproducible,
    )
    request = replace(request_of(routine, n, shape, precision, choice, busy, repeat, check, transpose, side), energy=energy)
    check_record_target(json)
    if energy:
        _check_energy(engine)
    if with_processes(engine, grid, owners):
        bench_processes(request, grid, owners, json)
        return
    with progress_bar(len(request.jobs()) * (repeat + 1)) as step:
        rows = collect(bench(request, _core, step), json)
    _finish(rows, json, request)


def _check_energy(engine: str) -> None:
    """A word where nothing can be measured; UsageError where it would be of one process among several."""
    if engine == "starpu-mpi":
        raise UsageError("--energy: does not go with --engine starpu-mpi, whose processes may be on other machines")
    if not counting():
        warn(nothing_counts())


def bench_processes(request: Request, grid: str, owners: str, json: str | None) -> None:
    """The first process prints."""
    from . import distributed_bench as distributed

    with one_voice():
        distributed.check_request(request)
        session = request.session.open(_core)
        rank, processes = _core.process(session)
        layout = distributed.layout_of(grid, owners, processes, request.routine, request.session.variant)
        with progress_bar(len(request.jobs()) * (request.repeat + 1) if rank == 0 else 0) as step:
            rows = collect(distributed.bench(request, _core, session, layout, step), json if rank == 0 else None)
        if rank == 0:
            _finish(rows, json, request)


def compare_command(
    routine: Routine, against: Against, n: Sizes = "", shape: Shapes = "", transpose: Transpose = "", side: Side = "",
    nb: TileSize = "auto", precision: Precision = "d", scheduler: Scheduler = "", engine: Engine = "", kernels: Kernels = "",
    threads_backend: Threads = "", workers: Workers = "", variant: Variant = "", virtual_cores: VirtualCores = "",
    window: Window = 0, slow: Slow = None, busy: Busy = None, relief: Relief = "", devices: Devices = "",
    through: Through = "", repeat: Repeat = 7, check: Check = False, energy: Energy = False,
    reproducible: Reproducible = False, json: JsonTo = None,
) -> None:
    """Measure us and each peer in turn, A B A B, each in a process of its own. A ratio above 1 says that we are faster.

    A turn is 50 ms of calls back to back, 300 ms with --busy, after 10 ms of calls that do not count; "lone" are calls
    after 10 ms of silence. A call that takes as long is a turn by itself. Both sides are called from C through their
    Fortran symbols, ours by libtrencadis_lapack.so, with one thread per worker and without variables that restrict a
    peer, as OPENBLAS_CORETYPE. --nb, --variant, --window, --slow and --threads-backend need a session, through which
    ours is then called. More in docs/compare.md.
    """
    scheduler = with_virtual_cores(scheduler, virtual_cores)
    choice = _choice(nb, scheduler, engine, kernels, threads_backend, workers, variant, window, slow, relief,
                     devices=devices, reproducible=reproducible)  # fmt: skip
    request = replace(
        request_of(routine, n, shape, precision, choice, busy, repeat, check, transpose, side), through=through, energy=energy
    )
    check_record_target(json)
    if energy:
        _check_energy(engine)
    peers = select_peers(routine, against.split(","), warn)
    if slow:
        warn("--slow emulates a slow core for us alone: the peers run at full speed; --busy burdens all alike")
    with progress_bar(len(request.jobs()) * len(peers) * (repeat + 1)) as step:
        rows = collect(compare(request, peers, step), json)
    _finish(rows, json, request)


def trace_command(
    routine: Routine, output: TraceFile, n: Sizes = "", shape: Shapes = "", view: Colours = "kernel",
    nb: TileSize = "auto", precision: Precision = "d", scheduler: Scheduler = "", engine: Engine = "", kernels: Kernels = "",
    threads_backend: Threads = "", workers: Workers = "", variant: Variant = "", virtual_cores: VirtualCores = "",
    window: Window = 0, slow: Slow = None, busy: Busy = None,
    relief: Relief = "", machine: MachineOver = "", pages: Pages = "", devices: Devices = "", energy: Energy = False,
    reproducible: Reproducible = False,
) -> None:
    """Record one run, after an untimed one, and write what each worker did when."""
    scheduler = with_virtual_cores(scheduler, virtual_cores)
    choice = _choice(
        nb, scheduler, engine, kernels, threads_backend, workers, variant, window, slow, relief, machine, pages, devices,
        reproducible,
    )
    request = request_of(routine, n, shape, precision, choice, busy, 1, False)
    if len(request.jobs()) != 1:
        raise UsageError(f"--n: a trace is of one run; '{n}' stands for {len(request.jobs())} sizes")
    check_trace_output(output, view)
    if energy:
        _check_energy(engine)
        check_power_output(output)
    trace, power = record_with_power(request, _core, energy)
    files = write_trace(trace, output, "order" if view == "order" else "kernel", power)
    print_trace_tables(trace)
    if power is not None:
        print(f"energy, measured: {power.text}")
    for file in files:
        print(f"wrote {file}")


def demo_command(
    subject: Annotated[str, typer.Argument(metavar="[terrain|wind]", help="What to show", show_default="terrain")] = "terrain",
    points: Annotated[
        int | None, typer.Option("--points", help="Observed points, 8000; or of the ground under the wind, about 6000")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the pictures go")] = Path("demo-output"),
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of terrain's choice of points, 1")] = None,
) -> None:
    """Two things on a real elevation model. terrain: its heights from scattered ones by kriging, one large positive definite
    solve. wind: where it blows fastest, one large general solve."""
    one_of("demo", subject, ("terrain", "wind"))
    if subject == "wind":
        if seed is not None:
            raise UsageError("--seed: goes with demo terrain; nothing is drawn at random for wind")
        from .wind import run_wind

        return run_wind(6000 if points is None else points, output)
    from .demo import run_demo  # needs scipy.optimize, which takes half a second to load

    return run_demo(8000 if points is None else points, output, 1 if seed is None else seed)


def _choice(
    nb: str, scheduler: str, engine: str, kernels: str, threads: str, workers: str, variant: str, window: int,
    slow: list[str] | None, relief: str, machine: str = "", pages: str = "", devices: str = "", reproducible: bool = False,
) -> SessionChoice:
    return SessionChoice(
        engine=engine, scheduler=scheduler, kernels=kernels, threads=threads,
        workers=core_list(workers, machine=machine), window=window,
        slow=core_fractions(slow or []), nb=tile_size(nb), variant=variant,
        relief=relief, machine=machine, pages=pages, devices=devices, reproducible=reproducible,
    )


def request_of(
    routine: str, n: str, shape: str, letter: str, choice: SessionChoice, busy: list[str] | None, repeat: int, check: bool,
    transpose: str = "", side: str = "",
) -> Request:
    precision(letter)
    request = Request(
        routine, size_list(n) if n else [], letter, choice, core_counts(busy or []), repeat, check, shape_list(shape),
        transpose=transpose.upper(), side=side,
    )
    check_request(request, _core.list_routines())
    return request


def _finish(rows: list[dict[str, Any]], target: str | None, request: Request) -> None:
    if target:
        write_records(rows, target)
        return
    shown = _COMPARED if "peer" in rows[0] else _SHOWN
    columns = {key: heading for key, heading in shown.items() if any(row.get(key) is not None for row in rows)}
    print(heading(rows[0], request))
    for peer, version in {row["peer"]: row["peer_version"] for row in rows if "peer" in row}.items():
        print(f"{peer}: {version}")
    print_table(rows, columns)
    for row in rows:
        for whose, key in (("a call of ours", "energy"), (f"one of {row.get('peer')}", "peer_energy")):
            if any(domain["source"] for domain in (row.get(key) or {}).values()):  # else a line has said that none is there
                print(f"n = {row['n']}: {whose} takes, measured: {domain_text(row[key])}")
        if row.get("temperature_c") is not None:
            print(f"n = {row['n']}: the hottest core meanwhile, measured: {row['temperature_c']:g} C")
    traffic = [{"n": row["n"], **device} for row in rows for device in row.get("device_traffic") or []]
    if traffic:
        print("moved in the last run, in bytes:")
        print_table(traffic, {key: key.replace("_", " ") for key in traffic[0]})
    print_node_bytes([{"n": row["n"], **node} for row in rows for node in row.get("node_bytes") or []])


def heading(row: dict[str, Any], request: Request) -> str:
    """Machine, threads, kernels and repetitions, without which a rate says nothing; and what was emulated."""
    what = row["routine"] if row["precision"] is None else f"{row['precision']}{row['routine']}"
    with_kernels = "" if row["precision"] is None else f", {row['kernels']} kernels ({row['kernels_version']})"
    means = " means" if request.busy else ""
    parts = [
        f"{what} on {row['machine']}: {who_ran(row)}, workers on cores "
        f"{format_cores(row['workers'])}{with_kernels}, medians of {row['repeat']}{means}"
    ]
    parts += [row["runtime"]] if row.get("runtime") else []
    parts += [f"core {core} slowed to {fraction:g} for us (emulated)" for core, fraction in request.session.slow.items()]
    parts += with_devices(row)
    if request.busy:
        neighbours = ", ".join(f"{count} on core {core}" for core, count in request.busy.items())
        left = capacity_left(row["workers"], request.busy)
        parts.append(f"busy neighbours: {neighbours}; capacity left {left:.3f}")
    return "; ".join(parts)
