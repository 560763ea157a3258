"""Who did what when in the best configuration of each problem. A described machine repeats the run; on this machine a run is made
for the picture, and the picture says so."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..campaign.factors import LEVERS, REAL
from ..campaign.plan import Plan, Run
from ..campaign.run_process import busy_of, choice_of
from ..campaign.runs import simulation_of
from ..campaign.state import software
from ..errors import BackendError
from ..simulations import simulate_all
from .findings import Configuration, best_of, by_problem, levers_within, metrics
from .pictures import inside_a_page, shares
from .read import Group

#: A trace of more rows than that says nothing on a page; and of more problems neither.
MOST = 6

#: The last two of levels that are none, in a file that somebody has changed.
_ERRORS = (ValueError, RuntimeError, BackendError, MemoryError, OSError, LookupError, TypeError)


def gantt_pictures(group: Group, found: Sequence[Configuration]) -> tuple[list[tuple[str, str]], list[str]]:
    """(title, SVG) of the fastest configuration of each problem; what could not be drawn, and what is behind the most, of which
    each routine has its share."""
    drawn, missing = [], []
    problems = by_problem(found)
    by_routine: dict[str, list[tuple[Any, ...]]] = {}
    for problem in problems:
        by_routine.setdefault(problem[0], []).append(problem)
    chosen, left_out = shares(by_routine, MOST)
    if names := [group.problem_name(problem) for rest in left_out.values() for problem in rest]:
        missing.append(f"timelines: {min(MOST, len(problems))} are drawn, {len(names)} left out: {', '.join(names)}")
    for problem, here in problems.items():
        if problem not in chosen[problem[0]]:
            continue
        best = best_of(here, metrics(group)[0])
        title = f"{group.problem_name(problem)}: {best.name(levers_within(group.levers(), here))}"
        try:
            svg = _simulated(best) if group.simulated else _measured(best)
            drawn.append((title + (", simulated" if group.simulated else ", a run made for this picture"), svg))
        except _ERRORS as error:
            missing.append(f"{title}: no timeline: {error}")
    return drawn, missing


def _simulated(best: Configuration) -> str:
    plan = Plan("report", {})
    states = {lever: best.levels.get(lever) for lever in LEVERS}  # not those of levers that were asked for and not set
    run = Run(0, best.records[0]["block"], 0, best.records[0]["asked"] | states)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gantt.svg"
        one = replace(simulation_of(plan, run), seed=1 + best.records[0].get("matrix_seed", 0), outputs=((str(file), "kernel"),))
        list(simulate_all([one]))
        return inside_a_page(file.read_text(encoding="utf-8"))


def _measured(best: Configuration) -> str:
    from .. import _core
    from ..bench import Request
    from ..tracing import record_trace

    levels = best.records[0]["asked"]
    if levels["machine"] != REAL or best.records[0]["software"].get("host") != software()["host"]:
        raise ValueError("it ran on another machine")
    choice = choice_of(levels)
    request = Request(levels["routine"], [levels["n"]], levels["precision"], choice, busy_of(levels["busy"]), 1)
    return inside_a_page(record_trace(request, _core).svg("kernel"))
