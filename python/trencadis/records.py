"""Records of a command, printed as they come, kept for a file or for a table; and how far it has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .errors import UsageError
from .files import check_writable, write_text
from .tables import console, json_line

#: Called with what is about to run and the number of steps just done.
Step = Callable[[str, int], None]

JsonTo = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="[FILE|-]",
        show_default=False,
        help="One JSON object per line: on standard output, which then has nothing else, or to a file",
    ),
]


def who_ran(row: Mapping[str, Any]) -> str:
    """The engine, and the policy where it asks one, of a record or of a session's options, in words."""
    return f"{row['engine']} engine" + (f", {row['scheduler']} scheduler" if row["scheduler"] else "")


def are_emulated(devices: str) -> bool:
    """Do these words name devices that say nothing of speed?"""
    return devices.startswith("emulated")


def device_fields(devices: str) -> dict[str, Any]:
    """What a record says of the devices of a session; nothing where it has none."""
    return {"devices": devices, "emulated": are_emulated(devices)} if devices else {}


def with_devices(row: Mapping[str, Any]) -> list[str]:
    """The devices of a record, in words."""
    if not (devices := row.get("devices")):
        return []
    return [f"devices {devices}" + (", whose speed is emulated" if row["emulated"] else "")]


def check_record_target(target: str | None) -> None:
    """UsageError when `--json FILE` could not be written: to be called before a long computation."""
    if target == "":
        raise UsageError("--json: '' is no file name; give FILE, or - for standard output")
    if target not in (None, "-"):
        check_writable(target)


def collect(rows: Iterable[dict[str, Any]], target: str | None) -> list[dict[str, Any]]:
    """The rows; with `--json -` each is printed as soon as it is there."""
    collected = []
    for row in rows:
        collected.append(row)
        if target == "-":
            print(json_line(row), flush=True)
    return collected


def write_records(rows: Sequence[dict[str, Any]], target: str) -> None:
    """What `collect` has not printed: the file of `--json FILE`, whole or not at all."""
    if target != "-":
        write_text(target, "".join(json_line(row) + "\n" for row in rows))


def emit(rows: Iterable[dict[str, Any]], target: str) -> None:
    """All that `--json` asks for of rows that are there."""
    write_records(collect(rows, target), target)


#: Between two lines of how far a long command has come, where standard error is no terminal.
LINE_S = 60.0


@contextmanager
def progress_bar(steps: int, lines: bool = False) -> Iterator[Step]:
    """A bar on standard error when that is a terminal; else nothing, or with `lines` one in a minute of what takes longer."""
    if not sys.stderr.isatty():
        yield _step_in_lines(steps) if lines else lambda text, done: None
        return
    # A fifth of the time in which a command begins.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    # A redraw takes time from what is measured on all cores: it is seldom, and the bar goes when all is done.
    with Progress(*columns, console=console(stderr=True), transient=True, auto_refresh=False, speed_estimate_period=3600) as bar:
        task = bar.add_task("", total=steps)

        def step(text: str, done: int) -> None:
            bar.update(task, description=text, advance=done, refresh=True)

        yield step


def _step_in_lines(steps: int) -> Step:
    began = said = time.monotonic()
    done = 0

    def step(text: str, more: int) -> None:
        nonlocal said, done
        done, now = done + more, time.monotonic()
        if now - said >= LINE_S and 0 < done < steps:
            said = now
            left = (now - began) / done * (steps - done)
            print(f"{done} of {steps} done, about {max(1, round(left / 60))} min left", file=sys.stderr, flush=True)

    return step
