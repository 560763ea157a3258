"""Option types of the command line and the parsers behind them, shared by all its commands.

The parsers take what the user typed and raise UsageError with one line that repeats it. Names of schedulers, engines, kernels and
thread back ends are not checked here: the library knows them and suggests the nearest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

import numpy as np
import typer

from . import _core
from .checks import one_of
from .cores import core_list
from .errors import UsageError

Value = TypeVar("Value")

PRECISIONS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}

LARGEST_SIZE = 10**12 - 1  #: of a matrix: far more than any memory holds, and its square still an integer of the library

#: Options that every scheduler takes, and that are about the flow of tasks and not about who runs what.
FLOW_OPTIONS = ("throttle=", "dependences=")

SESSION_PANEL = "Session"
Scheduler = Annotated[
    str, typer.Option("--scheduler", help="Who runs what next; see: trencadis list schedulers", rich_help_panel=SESSION_PANEL)
]
Engine = Annotated[
    str, typer.Option("--engine", help="What carries the tasks out; see: trencadis list engines", rich_help_panel=SESSION_PANEL)
]
Grid = Annotated[
    str,
    typer.Option(
        "--grid", metavar="PxQ", show_default=False, rich_help_panel=SESSION_PANEL,
        help="Of engine starpu-mpi: rows and columns of the processes that mpirun has started",
    ),
]
Owners = Annotated[
    str,
    typer.Option(
        "--distribution", metavar="block-cyclic|symmetric", show_default=False, rich_help_panel=SESSION_PANEL,
        help="Of engine starpu-mpi: how tiles are dealt out, in turn by the grid, or by pairs of rows",
    ),
]
Kernels = Annotated[
    str,
    typer.Option(
        "--kernels",
        metavar="K[,ROUTINE=K..]",
        help="Who computes the tiles, and single routines of them, as native,potrf=mkl; see: trencadis list kernels",
        rich_help_panel=SESSION_PANEL,
    ),
]
Threads = Annotated[
    str, typer.Option("--threads-backend", help="Thread back end; see: trencadis list threads", rich_help_panel=SESSION_PANEL)
]
Workers = Annotated[
    str,
    typer.Option(
        "--workers",
        metavar="LIST",
        help="Cores to use: 0,1,4-7 or the name of a core kind; default: all allowed",
        rich_help_panel=SESSION_PANEL,
    ),
]
VirtualCores = Annotated[
    str,
    typer.Option(
        "--virtual-cores",
        metavar="SPEC",
        help="Teams of workers that run each operation together, the leader first, such as 4+0,5+1; or auto. "
        "The scheduler given works inside",
        rich_help_panel=SESSION_PANEL,
    ),
]
Devices = Annotated[
    str,
    typer.Option(
        "--devices", metavar="BACKEND[:WHICH][,KEY=VALUE]",
        rich_help_panel=SESSION_PANEL,
        help="Devices beside the cores, such as emulated:2,memory=64MiB,bandwidth=4GB/s (emulated ones say nothing of speed)",
    ),
]
TileSize = Annotated[str, typer.Option("--nb", metavar="NB|auto", help="Tile size", rich_help_panel=SESSION_PANEL)]


def with_virtual_cores(scheduler: str, spec: str) -> str:
    """The scheduler that --virtual-cores is short for: teams of workers, such as 4+0,5+1 or auto, under the scheduler given."""
    spec = spec.replace(" ", "")
    if not spec:
        return scheduler
    if spec != "auto":
        if not re.fullmatch(r"\d+(\+\d+)*(,\d+(\+\d+)*)*", spec):
            raise UsageError(f"--virtual-cores: '{spec}' is not a list of teams such as 4+0,5+1, nor auto")
        members = re.split(r"[+,]", spec)
        twice = [member for member in members if members.count(member) > 1]
        if twice:
            raise UsageError(f"--virtual-cores: worker {twice[0]} is in '{spec}' twice; a worker is in one team")
    if scheduler.startswith("virtual-cores"):
        raise UsageError(f"--virtual-cores: '{scheduler}' makes virtual cores already; give one of the two")
    name, _, words = scheduler.partition(":")
    # What the flow does is not inside; a comma within would begin an option of virtual-cores, so the library takes other marks.
    own = [word for word in words.split(",") if word and not word.startswith(FLOW_OPTIONS)]
    outside = [word for word in words.split(",") if word.startswith(FLOW_OPTIONS)]
    options = ["teams=even" if spec == "auto" else "teams=" + spec.replace(",", "/")]
    if name:
        options.append(f"inside={name}" + (":" + ";".join(own) if own else ""))
    return "virtual-cores:" + ",".join(options + outside)


def size_list(text: str, what: str = "--n") -> list[int]:
    """ "1024,2048" or FROM:TO:STEP, e.g. "1000:4000:1000"; sizes are 0 or more."""
    sizes: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,12})(?::(\d{1,12}):(\d{1,12}))?\s*", word)
        if not match or (match[3] and int(match[3]) == 0):
            raise UsageError(f"{what}: '{text}' is not a list of sizes such as 1024,2048 or 1000:4000:1000")
        if match[2] and len(range(int(match[1]), int(match[2]) + 1, int(match[3]))) > 10_000:
            raise UsageError(f"{what}: '{word.strip()}' stands for more than 10000 sizes")
        sizes.extend(range(int(match[1]), int(match[2]) + 1, int(match[3])) if match[2] else [int(match[1])])
    if not sizes:
        raise UsageError(f"{what}: '{text}' holds no size; write FROM:TO:STEP with FROM <= TO")
    return sizes


def shape_list(text: str) -> list[tuple[int, int, int]]:
    """ "4096x4096x32,100000x200" -> m, n and k of each; k is 0 where there are two."""
    shapes = []
    for word in text.split(",") if text else []:
        match = re.fullmatch(r"\s*(\d{1,9})x(\d{1,9})(?:x(\d{1,9}))?\s*", word)
        if not match:
            raise UsageError(f"--shape: '{text}' is not a list of shapes such as 100000x200, or 4096x4096x32 of products")
        extents = [int(number) for number in match.groups() if number]
        if 0 in extents:
            raise UsageError(f"--shape: '{word.strip()}' is empty; an extent to measure is 1 or more")
        shapes.append((extents[0], extents[1], extents[2] if len(extents) == 3 else 0))
    return shapes


def shape_text(m: int, n: int, k: int) -> str:
    return f"{m}x{n}x{k}" if k else f"{m}x{n}"


#: More would not end; a campaign has as many at most.
MOST_REPETITIONS = 100_000


def require_repetitions(repeat: int) -> None:
    if repeat > MOST_REPETITIONS:
        raise UsageError(f"--repeat: {repeat} is more than {MOST_REPETITIONS}")
    if repeat < 1:
        raise UsageError(f"--repeat: {repeat} repetitions measure nothing; 1 or more")


def tile_size(text: str) -> int:
    """ "256" -> 256; "auto" -> 0, which lets the library choose."""
    if text == "auto":
        return 0
    if not re.fullmatch(r"[1-9]\d{0,8}", text.strip()):
        raise UsageError(f"--nb: '{text}' is not a tile size: a positive number or auto")
    return int(text)


def precision(text: str) -> type[np.generic]:
    return PRECISIONS[one_of("--precision", text, PRECISIONS)]


def _assignments(words: Iterable[str], what: str, shape: str, value: Callable[[str], Value]) -> dict[int, Value]:
    assigned: dict[int, Value] = {}
    for word in words:
        core, equals, number = word.partition("=")
        try:
            if not equals or not re.fullmatch(r"\s*\d{1,9}\s*", core, re.ASCII):
                raise ValueError
            parsed = value(number)
        except ValueError:
            raise UsageError(f"{what}: '{word}' is not {shape}") from None
        if int(core) in assigned:
            raise UsageError(f"{what}: core {int(core)} is given twice")
        assigned[int(core)] = parsed
    return assigned


def core_fractions(words: Iterable[str]) -> dict[int, float]:
    """--slow: ["1=0.25"] -> {1: 0.25}, fractions in (0, 1]."""

    def fraction(text: str) -> float:
        number = float(text)
        if not 0 < number <= 1:
            raise ValueError
        return number

    return _assignments(words, "--slow", "CORE=FRACTION with a fraction above 0 and at most 1, such as 1=0.25", fraction)


def core_counts(words: Iterable[str]) -> dict[int, int]:
    """--busy: ["1=3"] -> {1: 3}, counts from 1 to 64."""

    def count(text: str) -> int:
        number = int(text)
        if not 1 <= number <= 64:
            raise ValueError
        return number

    return _assignments(words, "--busy", "CORE=COUNT with a count from 1 to 64, such as 1=3", count)


def open_session(
    scheduler: str = "",
    engine: str = "",
    kernels: str = "",
    threads_backend: str = "",
    workers: str = "",
    slow: Iterable[str] = (),
    devices: str = "",
) -> _core.Session:
    """The session that these options ask for; ValueError and BackendError say what is wrong with them."""
    return _core.Session(
        engine=engine,
        scheduler=scheduler,
        kernels=kernels,
        threads=threads_backend,
        workers=core_list(workers),
        slow=core_fractions(slow),
        devices=devices,
    )


def with_processes(engine: str, grid: str, owners: str) -> bool:
    """Is this the engine of several processes? UsageError for options that are that one's alone."""
    chosen = (engine or os.environ.get("TRENCADIS_ENGINE", "")) == "starpu-mpi"
    if (grid or owners) and not chosen:
        raise UsageError(f"{'--grid' if grid else '--distribution'}: goes with --engine starpu-mpi")
    return chosen


def unit_list(text: str) -> tuple[str, ...]:
    """ "cortex-a15,0-3" -> ("cortex-a15", "0-3"); the library knows what they mean on a machine."""
    words = tuple(word.strip() for word in text.split(",")) if text.strip() else ()
    if "" in words:
        raise UsageError(f"--workers: '{text}' holds an empty name; write a list such as 0,1,4-7 or cortex-a15,gpu0")
    return words
