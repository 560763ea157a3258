"""`trencadis graph` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _core
from .bench_commands import Precision, Routine
from .errors import UsageError
from .files import check_writable, write_text
from .graph_picture import MOST_DRAWN, dot_text, svg_text
from .options import LARGEST_SIZE, TileSize, tile_size
from .records import JsonTo, check_record_target, emit
from .tables import console, print_table

#: More than that is no longer a list that somebody looks at, and gigabytes of it.
MOST_LISTED = 500_000

_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {".dot": dot_text, ".gv": dot_text, ".svg": svg_text}

Order = Annotated[
    int, typer.Option("--n", min=0, max=LARGEST_SIZE, help="Order of the matrix; of tasks, tiles in a row", show_default=False)
]
Rows = Annotated[
    int, typer.Option("--m", min=0, max=LARGEST_SIZE, help="Rows of a tall matrix, of geqrf --variant tsqr", show_default=False)
]
Inner = Annotated[
    int,
    typer.Option(
        "--inner", min=0, max=LARGEST_SIZE, show_default=False,
        help="Inner blocks, or tiles inside a tile; default: as calls have them",
    ),
]  # fmt: skip
Variant = Annotated[str, typer.Option("--variant", help="Form of the graph; see: trencadis list routines")]
Picture = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", show_default=False, help=".svg (drawn by Graphviz) or .dot (for Graphviz)"),
]


def register(app: typer.Typer) -> None:
    app.command("graph")(graph_command)


def graph_command(
    routine: Routine, n: Order, m: Rows = 0, nb: TileSize = "auto", inner: Inner = 0, variant: Variant = "",
    precision: Precision = "d", json: JsonTo = None, output: Picture = None,
) -> None:  # fmt: skip
    """Show a routine's task graph: each task, the tiles it names and the tasks it waits for. Nothing is computed."""
    check_record_target(json)
    if output is not None:
        _check_output(output)
    graph = _core.list_graph(
        routine=routine, variant=variant, n=n, m=m, nb=tile_size(nb), inner=inner, precision=precision, most=MOST_LISTED
    )
    if output is not None and output.suffix.lower() == ".svg" and len(graph["tasks"]) > MOST_DRAWN:
        raise UsageError(f"-o: {len(graph['tasks'])} tasks are too many for a picture, of at most {MOST_DRAWN}; write .dot, or "
                         "choose a smaller --n or a larger --nb")  # fmt: skip
    if output is not None:
        write_text(output, _FORMATS[output.suffix.lower()](graph))
    if json:
        emit([{**summary(graph), "graph": graph["tasks"]}], json)
    else:
        _print(graph, output)


def summary(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph in numbers. `wait` is where the submitter waits: no task."""
    tasks = [task for task in graph["tasks"] if task["kernel"] != "wait"]
    kernels: dict[str, int] = {}
    for task in tasks:
        kernels[task["kernel"]] = kernels.get(task["kernel"], 0) + 1
    row = {key: graph[key] for key in ("routine", "variant", "n", "m", "nb", "precision")}
    dependences = sum(len(task["after"]) for task in graph["tasks"])
    flops = sum(task["flops"] for task in tasks)
    return {**row, "tasks": len(tasks), "dependences": dependences, "depth": graph["depth"], "width": graph["width"],
            "flops": flops, "kernels": kernels}  # fmt: skip


def _check_output(output: Path) -> None:
    if output.suffix.lower() not in _FORMATS:
        raise UsageError(f"-o: '{output}' has none of the suffixes {', '.join(_FORMATS)}")
    check_writable(output)


def _print(graph: dict[str, Any], output: Path | None) -> None:
    numbers = summary(graph)
    rows = [
        {"task": number, "kernel": task["kernel"], "writes": _data(task, written=True), "reads": _data(task, written=False),
         "after": " ".join(map(str, task["after"]))
         if task["after"] or task["inside"] is None else f"inside {task['inside']}"}
        for number, task in enumerate(graph["tasks"])
    ]  # fmt: skip
    if output is None:
        print_table(rows, {"task": "task", "kernel": "kernel", "writes": "writes", "reads": "reads", "after": "after"})
    kernels = ", ".join(f"{count} {kernel}" for kernel, count in numbers["kernels"].items()) or "none"
    console().print(
        f"{numbers['tasks']} tasks ({kernels}), {numbers['dependences']} dependences; the longest chain has {numbers['depth']}, "
        f"at most {numbers['width']} are equally deep"
    )
    if output is not None:
        console().print(f"{output} written", soft_wrap=True)


def _data(task: dict[str, Any], written: bool) -> str:
    return ", ".join(use["name"] for use in task["data"] if (use["mode"] != "read") == written)
