"""How far routines are from the peak of the cores' multiply-adds, and where the rest of the time goes, from our own traces.

    python benchmarks/floors.py [--routines gemm,potrf] [--n 256,1024,4096] [--repeat 11] [--page docs/speed.md]

One line per routine and order, the run with the median time of --repeat: all in percent of the time of all workers.
`peak`: the routine's operations at the peak that the cores show just then, every core by itself; `below`: what products and
solves take beyond their operations at that peak; `panels`: the same of the tasks that factor panels, which others wait for;
`more`: operations beyond the routine's own; `moving`: tasks that count none, as packing and row exchanges; `runtime`, `idle`: as
`trencadis trace` says. Where a call runs without tasks the peak alone is known. With --page the table stands in the page."""

import argparse
import json
import statistics
from pathlib import Path

from report import replace_between_marks
from trencadis import _core
from trencadis.measure import Job, Ours

PANELS = {"getrf_panel", "getrf", "getrf_nopiv", "potrf", "geqrt", "geqrf", "geqrf_panel", "tournament", "tsqrt"}
ROUTINES = "gemm,syrk,trsm,potrf,getrf,geqrf"
COLUMNS = ("peak", "below", "panels", "more", "moving", "runtime", "idle")


def peak() -> float:
    """Flops per second of all cores, measured now."""
    return 1e9 * sum(core["gflops"] for core in json.loads(_core.machine(True, True))["cores"])


def median_trace(session: _core.Session, job: Job, repeat: int) -> _core.Trace:
    ours, traces = Ours(_core, session, job), []
    for _ in range(repeat):
        ours.restore()
        session.start_trace()
        ours.call()
        traces.append(session.stop_trace(str(job)))
    return sorted(traces, key=lambda trace: trace.span_s)[repeat // 2]


def shares(trace: _core.Trace, flops: float, most: float) -> dict[str, float | None]:
    workers = trace.worker_table()
    all_s = trace.span_s * len(workers)
    rate = most / len(workers)
    found: dict[str, float | None] = {"peak": flops / rate / all_s}
    if not any(row["tasks"] for row in workers):
        return found | dict.fromkeys(COLUMNS[1:])
    spent = dict.fromkeys(("below", "panels", "more", "moving"), 0.0)
    spent["more"] = -flops / rate
    for kernel in trace.kernel_table():
        at_peak = kernel["gflops"] * 1e9 * kernel["total_s"] / rate
        sort = "moving" if at_peak == 0 else "panels" if kernel["name"] in PANELS else "below"
        spent[sort] += kernel["total_s"] - at_peak
        spent["more"] += at_peak
    found |= {sort: seconds / all_s for sort, seconds in spent.items()}
    return found | {sort: statistics.mean(row[f"{sort}_fraction"] for row in workers) for sort in ("runtime", "idle")}


def measured(routine: str, n: int, repeat: int) -> list[str]:
    session, job = _core.Session(), Job(routine, n)
    before = peak()
    trace = median_trace(session, job, repeat)
    flops = float(job.flops() or 0)
    row = shares(trace, flops, max(before, peak()))
    cells = ["" if row[column] is None else f"{100 * row[column]:.1f}" for column in COLUMNS]
    return [routine, str(n), f"{flops / trace.span_s / 1e9:.1f}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--routines", default=ROUTINES)
    parser.add_argument("--n", default="256,1024,4096")
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--page", type=Path)
    words = parser.parse_args()
    lines = ["| | n | GFlop/s | " + " | ".join(COLUMNS) + " |", "|---|---:|---:|" + "---:|" * len(COLUMNS)]
    for routine in words.routines.split(","):
        for n in map(int, words.n.split(",")):
            lines.append("| " + " | ".join(measured(routine, n, words.repeat)) + " |")
            print(lines[-1], flush=True)
    if words.page:
        words.page.write_text(replace_between_marks(words.page.read_text(), "\n".join(lines), "floors"))


if __name__ == "__main__":
    main()
