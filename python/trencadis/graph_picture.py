"""A task graph as text for Graphviz, and as the picture that Graphviz draws of it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from .errors import BackendError

#: By kernel, in the order in which they come: Okabe and Ito's colours, which everybody can tell apart, light under black text.
COLOURS = ("#f5b73d", "#8fd0f5", "#4fc9a4", "#f6ef8c", "#6fb1df", "#ee9a5b", "#e3a9c8", "#cccccc")

#: Graphviz places more in minutes, and nobody finds anything in the picture.
MOST_DRAWN = 2000

_WRITTEN = {"write": "=", "readwrite": "", "concurrent_write": "+", "commute": "~", "reduce": "+"}


def dot_text(graph: dict[str, Any]) -> str:
    """The graph in Graphviz's language: a node a task, with what it writes before what it reads; an edge where one waits for
    another; a box around the tasks inside a task."""
    size = f"{graph['m']} x {graph['n']}" if graph["m"] else f"n = {graph['n']}"
    title = f"{graph['routine']}, {graph['variant']}, {size}, nb = {graph['nb']}"
    tasks = graph["tasks"]
    inside: dict[int | None, list[int]] = {}
    for number, task in enumerate(tasks):
        inside.setdefault(task["inside"], []).append(number)
    colours = dict(zip(dict.fromkeys(task["kernel"] for task in tasks), _endless(COLOURS), strict=False))
    lines = [
        f"digraph {_quoted(graph['routine'])} {{",
        f'    label={_quoted(title)}; labelloc=t; fontname="sans-serif";',
        '    node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, margin="0.08,0.04", height=0.3];',
        '    edge [color="#555555", arrowsize=0.6];',
        *_nodes(tasks, inside, colours, None, "    "),
    ]
    for number, task in enumerate(tasks):
        lines += [f"    t{before} -> t{number};" for before in task["after"]]
        if task["inside"] is not None and not task["after"]:
            lines.append(f"    t{task['inside']} -> t{number} [style=dashed];")
    return "\n".join([*lines, "}", ""])


def svg_text(graph: dict[str, Any]) -> str:
    """The picture, by Graphviz's `dot`. BackendError where that is not on this machine, or fails."""
    dot = shutil.which("dot")
    if dot is None:
        raise BackendError("-o: Graphviz's 'dot' draws .svg and is not on this machine; apt install graphviz, or write .dot")
    drawn = subprocess.run([dot, "-Tsvg"], input=dot_text(graph), capture_output=True, text=True)
    if drawn.returncode:
        why = drawn.stderr.strip().splitlines()[-1:] or [f"exit code {drawn.returncode}"]
        raise BackendError(f"-o: Graphviz's 'dot' has failed: {why[0]}")
    return drawn.stdout


def _nodes(
    tasks: list[dict[str, Any]], inside: dict[int | None, list[int]], colours: dict[str, str], parent: int | None, indent: str
) -> Iterator[str]:
    for number in inside.get(parent, ()):
        task = tasks[number]
        node = f"{indent}t{number} [label={_quoted(_label(task))}, fillcolor={_quoted(colours[task['kernel']])}];"
        if number not in inside:
            yield node
            continue
        yield f"{indent}subgraph cluster_{number} {{"
        yield f'{indent}    label=""; style="rounded,dashed"; color="#888888";'
        yield "    " + node
        yield from _nodes(tasks, inside, colours, number, indent + "    ")
        yield f"{indent}}}"


def _label(task: dict[str, Any]) -> str:
    written = [_WRITTEN[use["mode"]] + use["name"] for use in task["data"] if use["mode"] != "read"]
    read = [use["name"] for use in task["data"] if use["mode"] == "read"]
    data = ", ".join(written) + (" | " if written and read else "") + ", ".join(read)
    return task["kernel"] + (f"\n{data}" if data else "")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


def _endless(colours: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from colours
