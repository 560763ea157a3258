"""How far the chosen plan of a call is from the best of a sweep, with today's fixed rule beside it.

    XDG_CACHE_HOME=... .venv/bin/python benchmarks/regret.py --routine potrf --n 100,300,900 [--busy 1=1] [--json FILE]

Every plan of the sweep (all forms with LAPACK's results, tiles from a quarter to four times the form's own in half octaves) is
run once; the best few, the chosen one and the rule then again in rounds, each in another order, for the figures. What a short
call costs depends on the one before it, which leaves helpers awake or asleep; so one of the same plan comes first.
Regret is the median of what was chosen over that of the
best, minus 1. The least of several medians is low by chance, so the best is found among one half of the rounds and timed by the
other half, both ways round, and the mean of both is the regret; `regret_least` is over the least median of all rounds.
`floor` is by how much the median of the chosen plan differs from its own: it takes part a second time as if it were another one.
Differences as small as that are no regret.
Beside a neighbour a call's time is the mean of some back to back (tune.BESIDE_S).
A host that slows one of two cores for some seconds makes plans best that use the other one, which no calibration can foresee:
with --sweeps all calls are measured as often, minutes apart, and the median of each counts.
The sizes that are the standard here are none of those that `trencadis tune` measures.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

from trencadis import _core, tune
from trencadis.busy import BusyNeighbours
from trencadis.options import core_counts, shape_list, size_list

ORDERS = "110,150,220,300,440,620,900,1200,1800,2600,3500,6000"
SHAPES = {"gemm": "700x24x2000,3000x48x3000,2500x2500x50,300x300x3000", "getrf": "2000x150,6000x300,400x3000",
          "geqrf": "2000x150,6000x300,30000x80,400x3000", "potrf": ""}  # fmt: skip
#: Plans that are measured once more, seconds for each pass of a size, and rounds of the second one, the last beside a neighbour.
AGAIN = " again"  # the same plan as a contestant of its own
FINALISTS, SCREEN_S, FINAL_S, LEAST_ROUNDS, MOST_ROUNDS, BUSY_ROUNDS = 5, 0.4, 1.5, 6, 81, 16


def sweep(session, routine: str, m: int, n: int, k: int) -> list[str]:
    """More than a calibration tries."""
    words = _core.plans(session, routine, "d", m, n, k)
    forms = dict.fromkeys(word.rstrip("0123456789").rstrip("+-") for word in words if word not in ("rule", "caller", "alone"))
    steps = [form + (f"{step:+d}" if step else "") for form in forms for step in range(-4, 5)]
    return list(dict.fromkeys([*words, *(word for word in steps if "tsqr" not in word or word == "tsqr")]))


def rounds(once, timed, plans: list[str], seconds: float, least: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {plan: [] for plan in plans}
    begin = time.monotonic()
    shuffle = random.Random(len(plans)).shuffle
    order = list(plans)
    for number in range(MOST_ROUNDS):
        shuffle(order)
        for plan in order:
            took[plan].append(once(timed, plan.removesuffix(AGAIN)))
        if time.monotonic() - begin > seconds and number + 1 >= least:
            break
    return took


def behind(took: dict[str, list[float]], plan: str) -> float:
    """How much slower than the best, which is found and timed by different rounds."""
    halves = [{one: statistics.median(times[first::2]) for one, times in took.items()} for first in (0, 1)]
    return statistics.mean(timed[plan] / timed[min(found, key=found.get)] - 1 for found, timed in (halves, halves[::-1]))


def regret(once, session, by_rule, routine: str, m: int, n: int, k: int) -> dict:
    considered = _core.considered(session, routine, "d", m, n, k)
    chosen = considered[0]["plan"] if considered else "rule"
    timed = _core.TimedPlans(by_rule, routine, "d", m, n, k)
    timed.time("rule")
    screened = rounds(once, timed, sweep(by_rule, routine, m, n, k), SCREEN_S, 1)
    best_first = sorted(screened, key=lambda plan: statistics.median(screened[plan]))
    finalists = list(dict.fromkeys(["rule", chosen, *best_first[:FINALISTS]]))
    least = 4 if statistics.median(screened["rule"]) >= 0.3 else LEAST_ROUNDS if once is tune.once else BUSY_ROUNDS
    took = rounds(once, timed, [*finalists, chosen + AGAIN], FINAL_S, least)
    twin = took.pop(chosen + AGAIN)
    medians = {plan: statistics.median(times) for plan, times in took.items()}
    best = min(medians, key=medians.get)
    return {"routine": routine, "m": m, "n": n, "k": k or None, "chosen": chosen, "best": best, "swept": len(screened),
            "rounds": len(took["rule"]), "seconds_best": medians[best], "seconds_chosen": medians[chosen],
            "seconds_rule": medians["rule"], "regret": behind(took, chosen), "regret_of_rule": behind(took, "rule"),
            "floor": abs(statistics.median(twin) / medians[chosen] - 1),
            "regret_least": medians[chosen] / medians[best] - 1}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routine", default=",".join(_core.chosen_routines()))
    parser.add_argument("--n", default=ORDERS)
    parser.add_argument("--shape", help="standard: some of each routine; none: ''")
    parser.add_argument("--busy", action="append", default=[], metavar="CORE=COUNT")
    parser.add_argument("--sweeps", type=int, default=1, help="of all calls, one after the other; of each call the median counts")
    parser.add_argument("--json", type=Path, help="a line each is added to it")
    words = parser.parse_args()
    session, by_rule = _core.Session(), _core.Session(objective="rule")
    rows = []
    once = tune.beside if words.busy else tune.once
    calls = []
    for routine in words.routine.split(","):
        shapes = shape_list(SHAPES[routine] if words.shape is None else words.shape)
        orders = [(n, n, n if routine == "gemm" else 0) for n in (size_list(words.n) if words.n else [])]
        calls += [(routine, *extents) for extents in orders + shapes]
    with BusyNeighbours(core_counts(words.busy)):
        for routine, m, n, k in calls * words.sweeps:
            row = {**regret(once, session, by_rule, routine, m, n, k), "busy": " ".join(words.busy)}
            rows.append(row)
            print(f"{routine} {m}x{n}{f'x{k}' if k else ''}: {row['chosen']} {100 * row['regret']:.1f} %, the rule "
                  f"{100 * row['regret_of_rule']:.1f} %, floor {100 * row['floor']:.1f} %, best {row['best']} "
                  f"{row['seconds_best'] * 1e3:.3f} ms of {row['swept']}, {row['rounds']} rounds", flush=True)  # fmt: skip
            if words.json:
                with words.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    if rows:
        summary(rows)


def summary(rows: list[dict]) -> None:
    """Of each call the median of its sweeps."""
    by_call: dict[tuple, list[dict]] = {}
    for row in rows:
        by_call.setdefault((row["routine"], row["m"], row["n"], row["k"]), []).append(row)
    for what in ("regret", "regret_of_rule", "floor"):
        values = sorted(statistics.median(row[what] for row in sweeps) for sweeps in by_call.values())
        print(f"{what}: median {100 * statistics.median(values):.1f} %, worst {100 * values[-1]:.1f} %, "
              f"{sum(value <= 0.1 for value in values)} of {len(values)} calls within 10 %; of single sweeps the worst "
              f"{100 * max(row[what] for row in rows):.1f} %")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
