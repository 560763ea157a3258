"""`trencadis trace`: one run with every worker's events recorded, as a picture, a page or a file for a trace viewer."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from .bench import Request
from .busy import BusyNeighbours
from .checks import one_of
from .energy import Metering
from .errors import UsageError
from .files import check_writable, write_texts
from .measure import Job, Ours, describe_session
from .power_curve import Power, power_of, with_power
from .records import are_emulated
from .session import NOTHING_RECORDED, has_tasks
from .tables import print_node_bytes, print_table

View = Literal["kernel", "order"]

#: Text of each file that a suffix stands for, by suffix. `.prv` comes with two companions that viewers look for beside it.
_FORMATS: dict[str, Callable[[Any, View], dict[str, str]]] = {
    ".json": lambda trace, view: {".json": trace.chrome_json()},
    ".prv": lambda trace, view: trace.paraver(),
    ".svg": lambda trace, view: {".svg": trace.svg(view)},
    ".html": lambda trace, view: {".html": trace.html()},
}


def check_trace_output(path: Path, view: str) -> None:
    """UsageError when `write_trace` could not write this file: to be called before the run."""
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise UsageError(f"-o: '{path}' has none of the suffixes {', '.join(_FORMATS)}")
    one_of("--view", view, ("kernel", "order"))
    if view != "kernel" and suffix != ".svg":
        raise UsageError(f"--view: {view} applies to .svg, not to {suffix}")
    for file in trace_files(path):
        check_writable(file)


def trace_files(path: Path) -> list[Path]:
    """The files that a trace written to `path` becomes."""
    return [path, path.with_suffix(".pcf"), path.with_suffix(".row")] if path.suffix.lower() == ".prv" else [path]


def write_trace(trace: Any, path: Path, view: View = "kernel", power: Power | None = None) -> list[Path]:
    """Writes the trace in the format of the suffix, with the power below where it is given; returns the files written, each of
    them whole."""
    texts = _FORMATS[path.suffix.lower()](trace, view)
    if power is not None:
        texts = {suffix: with_power(suffix, text, power) for suffix, text in texts.items()}
    files = trace_files(path)
    write_texts(dict(zip(files, (texts[suffix] for suffix in (path.suffix.lower(), ".pcf", ".row")[: len(files)]), strict=True)))
    return files


def check_power_output(path: Path) -> None:
    if path.suffix.lower() == ".prv":
        raise UsageError("--energy: .prv has no power curve; write .html, .svg or .json")


def record_trace(request: Request, core: Any) -> Any:
    """The trace of one run of the request's only size, after an untimed one."""
    return record_with_power(request, core, False)[0]


def record_with_power(request: Request, core: Any, energy: bool) -> tuple[Any, Power | None]:
    """The same with what the meters told meanwhile; None where none counts."""
    with BusyNeighbours(request.busy):
        session = request.session.open(core)
        description = describe_session(core, session)
        (job,) = request.jobs()
        ours = Ours(core, session, job, request.session.nb, request.session.variant)
        ours.restore()
        with Metering(energy, period_s=0.001) as metering:
            begin = time.perf_counter()
            session.start_trace()
            try:
                ours.call()
            finally:
                end = time.perf_counter()
                trace = session.stop_trace(title(request, job, description))
    return trace, power_of(metering, begin, end)


def title(request: Request, job: Job, description: dict[str, Any]) -> str:
    """The heading of the picture: what ran on what, and what was emulated."""
    parts = [f"{job.routine} n={job.n}"]
    if job.routine != "tasks":
        parts.append(f"nb={request.session.nb or 'auto'} precision={job.precision} kernels={description['kernels']}")
    parts.append(f"engine={description['engine']}")
    if description["scheduler"]:
        parts[-1] += f" scheduler={description['scheduler']}"
    parts += [f"core {core} slowed to {fraction:g} (emulated)" for core, fraction in request.session.slow.items()]
    if devices := description["devices"]:
        parts.append(f"devices {devices}" + (" (emulated)" if are_emulated(devices) else ""))
    parts += [f"{count} busy on core {core}" for core, count in request.busy.items()]
    return ", ".join(parts)


def _in_a_crowd(calls: dict[str, Any]) -> str:
    if calls["callers"] < 2:
        return ""
    by = "its caller alone, which the timeline does not show" if calls["workers"] == 1 else f"{calls['workers']} workers"
    return f", {calls['callers']} callers at once: by {by}"


def print_trace_tables(trace: Any) -> None:
    """Busy, idle and runtime shares per worker, and mean times per kernel."""
    percent = {f"{what}_fraction": f"{what} %" for what in ("busy", "share", "idle", "runtime")}
    rows = [{**row, **{key: round(100 * row[key], 1) for key in percent}} for row in trace.worker_table()]
    rows = [{**row, "worker": ""} if row["queue"] else row for row in rows]
    heading = f"{trace.title}: {trace.span_s:.4g} s, {trace.origin}"
    columns = {"worker": "worker", "cpu": "core", "kind": "kind", **percent, "tasks": "tasks", "shares": "joined"}
    print(heading)
    for one in trace.choices():
        print(f"{one['call']}: {one['plan']}" + (f", {one['times']} times" if one["times"] > 1 else "") + _in_a_crowd(one))
    print_table(rows, columns)
    if not has_tasks(trace):
        print(f"{NOTHING_RECORDED}; --nb or --variant make it tasks of any size")
        return
    kernels = {"name": "kernel", "calls": "calls", "mean_ms": "mean ms", "total_s": "total s", "gflops": "GFlop/s"}
    print_table(trace.kernel_table(), kernels)
    print_node_bytes(trace.node_bytes())
