"""How far routines are from the peak of the cores' multiply-adds, and where the rest of the time goes, from our own traces.

    python benchmarks/floors.py [--routines gemm,potrf] [--n 256,1024,4096] [--repeat 11] [--page docs/speed.md]

One line per routine and order, all in percent of the time of all workers. `peak`: the routine's operations at the peak that the
cores show just then, every core by itself, in the median time of --repeat calls. The rest is of as many calls that are traced, in
turn with these, of the one with the median time: `below`: what products and solves take beyond their operations at that peak;
`panels`: the same of the tasks that factor panels, which others wait for; `more`: operations beyond the routine's own; `moving`:
tasks that count none, as packing and row exchanges; `runtime`, `idle`: as `trencadis trace` says. Where a call runs without
tasks, or otherwise than a traced one, which is then slower by more than a tenth, the peak alone is known. With --page the table
stands in the page."""

import argparse
import json
import statistics
import time
from pathlib import Path

from report import replace_between_marks
from trencadis import _core
from trencadis.measure import Job, Ours

PANELS = {"getrf_panel", "getrf", "getrf_nopiv", "potrf", "geqrt", "geqrf", "geqrf_panel", "tournament", "tsqrt"}
ROUTINES = "gemm,syrk,trsm,potrf,getrf,geqrf"
MOST_FOR_A_TRACE = 1.1  #: times what a call takes otherwise
COLUMNS = ("peak", "below", "panels", "more", "moving", "runtime", "idle")


def peak() -> float:
    """Flops per second of all cores, measured now."""
    return 1e9 * sum(core["gflops"] for core in json.loads(_core.machine(True, True))["cores"])


def medians(session: _core.Session, job: Job, repeat: int) -> tuple[float, _core.Trace]:
    """Seconds of a call that is not traced, and one that is."""
    ours, times, traces = Ours(_core, session, job), [], []
    for _ in range(repeat):
        ours.restore()
        begin = time.perf_counter()
        ours.call()
        times.append(time.perf_counter() - begin)
        ours.restore()
        session.start_trace()
        ours.call()
        traces.append(session.stop_trace(str(job)))
    return statistics.median(times), sorted(traces, key=lambda trace: trace.span_s)[repeat // 2]


def shares(seconds: float, trace: _core.Trace, flops: float, most: float) -> dict[str, float | None]:
    workers = trace.worker_table()
    all_s = trace.span_s * len(workers)
    rate = most / len(workers)
    found: dict[str, float | None] = {"peak": flops / most / seconds}
    if trace.span_s > MOST_FOR_A_TRACE * seconds or not any(row["tasks"] for row in workers):
        return found | dict.fromkeys(COLUMNS[1:])
    spent = dict.fromkeys(("below", "panels", "more", "moving"), 0.0)
    spent["more"] = -flops / rate
    for kernel in trace.kernel_table():
        at_peak = kernel["gflops"] * 1e9 * kernel["total_s"] / rate
        sort = "moving" if at_peak == 0 else "panels" if kernel["name"] in PANELS else "below"
        spent[sort] += kernel["total_s"] - at_peak
        spent["more"] += at_peak
    found |= {sort: took / all_s for sort, took in spent.items()}
    return found | {sort: statistics.mean(row[f"{sort}_fraction"] for row in workers) for sort in ("runtime", "idle")}


def measured(routine: str, n: int, repeat: int) -> list[str]:
    session, job = _core.Session(), Job(routine, n)
    before = peak()
    seconds, trace = medians(session, job, repeat)
    flops = float(job.flops() or 0)
    row = shares(seconds, trace, flops, max(before, peak()))
    cells = ["" if row[column] is None else f"{100 * row[column]:.1f}" for column in COLUMNS]
    return [routine, str(n), f"{flops / seconds / 1e9:.1f}", *cells]


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
