"""How far the chosen plan of a call is from the best of a sweep on a described machine, simulated; the fixed rule beside it.

    .venv/bin/python benchmarks/regret_simulated.py --machine server-2s --cores 16,64 [--routine potrf,getrf,geqrf] [--json FILE]

The choices are those of `trencadis tune` (src/choices), calibrated here with simulated makespans of some of its orders. The sweep
has all forms with LAPACK's results and tiles from a quarter to four times the form's own in half octaves, at orders in between.
Simulated calls always have tasks, so the plan in which the caller computes alone is left out; so are products, whose tiles follow
from the number of workers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from trencadis import _core
from trencadis.records import progress_bar
from trencadis.simulations import Simulation, simulate_all

CALIBRATED = "256,384,512,768,1024,1536,2048,3072"
MEASURED = "300,440,620,900,1200,1800,2600"


class Simulated:
    """Makespans of plans on some cores of one machine. What comes to the same is simulated once."""

    def __init__(self, machine: str, cores: int, routine: str) -> None:
        self.machine, self.cores, self.routine = machine, cores, routine
        self.known: dict[tuple[int, str, int], float] = {}

    def described(self, plan: str, n: int) -> tuple[int, str, int]:
        """Order, form and tile size; without a form the library chooses, as a call would be by the rule."""
        row = _core.ChoicesElsewhere([], self.cores).described(plan, self.routine, "d", n, n, 0)
        return n, row["variant"] or "", row["nb"] or 0

    def seconds(self, wanted: list[tuple[str, int]]) -> list[float]:
        """Of plans at orders; infinite where a form cannot be simulated."""
        which = [self.described(plan, n) for plan, n in wanted]
        new = [one for one in dict.fromkeys(which) if one not in self.known]
        jobs = [Simulation(self.routine, n, self.machine, nb=nb, variant=form, workers=tuple(map(str, range(self.cores))))
                for n, form, nb in new]  # fmt: skip
        with progress_bar(len(jobs)) as step:
            for key, record in zip(new, simulate_all(jobs, step, failing=True), strict=True):
                self.known[key] = record.get("makespan_s", float("inf"))
        return [self.known[one] for one in which]


def plans_at(elsewhere: _core.ChoicesElsewhere, routine: str, n: int) -> list[str]:
    return [plan for plan in elsewhere.plans(routine, "d", n, n, 0) if plan != "caller" and "tsqr" not in plan]


def calibrated(simulated: Simulated, orders: list[int]) -> _core.ChoicesElsewhere:
    plans = _core.ChoicesElsewhere([], simulated.cores)
    wanted = [(plan, n) for n in orders for plan in plans_at(plans, simulated.routine, n)]
    rows = [{"routine": simulated.routine, "precision": "d", "m": n, "n": n, "k": 0, "workers": simulated.cores, "plan": plan,
             "seconds": seconds, "busy": 0.0, "joules": 0.0}
            for (plan, n), seconds in zip(wanted, simulated.seconds(wanted), strict=True) if seconds < float("inf")]  # fmt: skip
    return _core.ChoicesElsewhere(rows, simulated.cores)


def regrets(simulated: Simulated, chooser: _core.ChoicesElsewhere, orders: list[int]) -> list[dict]:
    rows, routine = [], simulated.routine
    for n in orders:
        tried = plans_at(chooser, simulated.routine, n)
        forms = dict.fromkeys(plan.rstrip("0123456789").rstrip("+-") for plan in tried if plan != "rule")
        steps = [form + (f"{step:+d}" if step else "") for form in forms for step in range(-4, 5)]
        sweep = list(dict.fromkeys([*tried, *steps]))
        took = dict(zip(sweep, simulated.seconds([(plan, n) for plan in sweep]), strict=True))
        considered = chooser.considered(simulated.routine, "d", n, n, 0)
        chosen = next((row["plan"] for row in considered if row["chosen"]), "rule")
        best = min(took, key=took.get)
        rows.append({"routine": simulated.routine, "machine": simulated.machine, "cores": simulated.cores, "n": n,
                     "chosen": chosen, "best": best, "seconds_best": took[best], "regret": took[chosen] / took[best] - 1,
                     "regret_of_rule": took["rule"] / took[best] - 1, "simulated": True})  # fmt: skip
        print(f"{simulated.machine}, {simulated.cores} cores, {routine} {n}: {chosen} {100 * rows[-1]['regret']:.1f} %, "
              f"the rule {100 * rows[-1]['regret_of_rule']:.1f} %, best {best} {took[best] * 1e3:.3f} ms simulated",
              flush=True)  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", default="server-2s")
    parser.add_argument("--cores", default="16,64")
    parser.add_argument("--routine", default="potrf,getrf,geqrf")
    parser.add_argument("--n", default=MEASURED)
    parser.add_argument("--json", type=Path, help="a line each is added to it")
    words = parser.parse_args()
    rows = []
    for cores in map(int, words.cores.split(",")):
        for routine in words.routine.split(","):
            simulated = Simulated(words.machine, cores, routine)
            chooser = calibrated(simulated, [int(n) for n in CALIBRATED.split(",")])
            rows += regrets(simulated, chooser, [int(n) for n in words.n.split(",")])
    if words.json:
        with words.json.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    for what in ("regret", "regret_of_rule"):
        values = sorted(row[what] for row in rows)
        print(f"{what}: median {100 * statistics.median(values):.1f} %, worst {100 * values[-1]:.1f} %, of {len(values)} calls")


if __name__ == "__main__":
    sys.exit(main())
