"""How far the chosen plan of a call is from the best of a sweep on a described machine, simulated; the fixed rule beside it.

    .venv/bin/python benchmarks/regret_simulated.py --machine server-2s --cores 16,64 [--routine potrf] [--n 96,6000]

What is chosen, form, tile size and number of cores, is what `trencadis explain --machine` says (src/choices): foreseen from the
machine's kernel times, not simulated. The sweep has all forms with LAPACK's results and tiles from 32 to the whole matrix, half
an octave apart around each form's own width, by all of the cores, and the caller and the first two forms by half of them, a
quarter, and so on down to one. Left out is what cannot be the best: where the operations alone take so many cores longer, or the
submission of its tasks. Left out are also tasks inside tasks (two-level) on several memory nodes, since a simulation moves no
data for those. What a caller computes alone is not simulated: it is one kernel on one core.

Each is simulated once, the best few, the chosen one and the rule then over seeds: kernel times spread by 5 % to either side, the
standard of `simulate --effect jitter`, for who is lucky with one order of tasks is not with the next. The best is found among one
half of the seeds and timed by the other half, both ways round, and regret is the mean of both, as in regret.py.

What the runtime itself takes is that of ours, measured on two cores (docs/decisions/0016): 250 ns for a task, here for its
submission and for taking it each.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from trencadis import _core
from trencadis.effects import parse_effects
from trencadis.elsewhere import ASSUMED, choices_on
from trencadis.options import shape_list, size_list
from trencadis.records import progress_bar
from trencadis.simulations import Simulation, simulate_all

ORDERS = "96,150,220,300,440,620,900,1200,1800,2600,3800,6000"
SHAPES = {"gemm": "700x24x2000,3000x48x3000,2500x2500x50,300x300x3000", "getrf": "2000x150,6000x300,400x3000",
          "geqrf": "2000x150,6000x300,400x3000", "potrf": ""}  # fmt: skip
FINALISTS, SEEDS, ALL = 4, 6, 99
LARGE = 2e10  #: flops from which a call has so many tasks that its time hardly depends on chance: a third of the seeds
LEAST_TASKS = {"potrf": 1 / 6, "getrf": 1 / 3, "geqrf": 0.0, "gemm": 0.0}  #: of the cube of the number of tiles in a row


@dataclass(frozen=True)
class Way:
    """What is simulated of a plan by so many cores."""

    variant: str | None  #: none: the caller alone
    nb: int
    cut_for: int
    cores: tuple[int, ...]


class Simulated:
    """One call on some cores of a machine. What comes to the same is simulated once."""

    def __init__(self, machine: str, cores: int, call: tuple[str, int, int, int], effects: dict) -> None:
        self.machine, self.effects = machine, effects
        self.routine, self.m, self.n, self.k = call
        self.choices = choices_on(machine, (f"0-{cores - 1}",), effects)
        of_cores = json.loads(_core.load_machine(machine))["cores"]
        several = len({core["node"] for core in of_cores[:cores]}) > 1
        self.not_simulated = {"tile-layout", "two-level"} if several else {"tile-layout"}
        self.known: dict[tuple[Way, int], float] = {}

    def call(self) -> tuple[str, str, int, int, int]:
        return self.routine, "d", self.m, self.n, self.k

    def way(self, plan: str, cores: int) -> Way:
        laid = self.choices.laid_out(plan, *self.call(), cores)
        return Way(laid["variant"], laid["nb"], laid["cut_for"], tuple(laid["cores"]))

    def seconds(self, ways: list[Way], seeds: int = 1) -> list[list[float]]:
        """Of each with the first so many seeds."""
        wanted = [(way, seed) for way in ways for seed in range(1, seeds + 1)]
        for way, seed in wanted:
            if way.variant is None:
                self.known[way, seed] = self.choices.foreseen("caller", *self.call())
        new = [one for one in dict.fromkeys(wanted) if one not in self.known]
        jobs = [Simulation(self.routine, self.n, self.machine, nb=way.nb, cut_for=way.cut_for, variant=way.variant, k=self.k,
                           m=0 if self.m == self.n else self.m, workers=tuple(map(str, way.cores)), as_called=True,
                           seed=seed, effects=self.effects) for way, seed in new]  # fmt: skip
        for one, record in zip(new, simulate_all(jobs, failing=True), strict=True):
            self.known[one] = record.get("makespan_s", float("inf"))
        return [[self.known[way, seed] for seed in range(1, seeds + 1)] for way in ways]

    def all_ways(self, cores: int, forms: int) -> list[Way]:
        """By so many of them, in the first forms."""
        ways = [self.way(plan, cores) for plan in self.choices.plans(*self.call())]
        ways = [way for way in ways if way.variant not in self.not_simulated]
        first = list(dict.fromkeys(way.variant for way in ways))[:forms]
        return [way for way in dict.fromkeys(ways) if way.variant in first]

    def may_be_best(self, way: Way, best: float, peak: float) -> bool:
        flops = _core.routine_flops(self.routine, False, self.n, self.m, self.k)
        work = flops / (len(way.cores) * peak)
        tiles = -(-min(self.m, self.n) // way.nb) if way.nb else 0
        return max(work, LEAST_TASKS[self.routine] * tiles**3 * self.effects.get("submit_s", 0)) < best

    def sweep(self, cores: int, peak: float, best: float) -> dict[Way, float]:
        ways, forms = [], ALL
        while cores >= 1:
            ways += [way for way in self.all_ways(cores, forms) if self.may_be_best(way, best, peak)]
            cores, forms = cores // 2, 3
        return {way: took for way, (took,) in zip(ways, self.seconds(ways), strict=True)}


def regret(machine: str, cores: int, call: tuple[str, int, int, int], effects: dict) -> dict:
    simulated = Simulated(machine, cores, call, effects)
    considered = simulated.choices.considered(*simulated.call())[0]
    chosen = simulated.way(considered["considered"][0]["plan"], considered["workers"])
    rule = simulated.way("rule", cores)
    peak = max(kind["peak_gflops"] for kind in json.loads(_core.load_machine(machine))["kinds"]) * 1e9
    screened = {way: took for way, (took,) in zip((chosen, rule), simulated.seconds([chosen, rule]), strict=True)}
    screened |= simulated.sweep(cores, peak, min(screened.values()))
    finalists = list(dict.fromkeys([chosen, rule, *sorted(screened, key=screened.get)[:FINALISTS]]))
    seeds = SEEDS // 3 if _core.routine_flops(call[0], False, call[2], call[1], call[3]) > LARGE else SEEDS
    took = dict(zip(finalists, simulated.seconds(finalists, seeds), strict=True))
    mean = {way: statistics.mean(times) for way, times in took.items()}
    best = min(mean, key=mean.get)
    text = f"{best.variant or 'caller'} {f'nb {best.nb}' if best.nb else f'cut for {best.cut_for}'} by {len(best.cores)}"
    return {"machine": machine, "cores": cores, "routine": call[0], "m": call[1], "n": call[2], "k": call[3] or None,
            "chosen": considered["considered"][0]["plan"], "nb": chosen.nb or None, "by": len(chosen.cores), "best": text,
            "foreseen": considered["considered"][0]["seconds"], "seconds_chosen": mean[chosen], "seconds_rule": mean[rule],
            "seconds_best": mean[best], "swept": len(screened), "seeds": seeds, "regret": behind(took, chosen),
            "regret_of_rule": behind(took, rule), "simulated": True}  # fmt: skip


def behind(took: dict[Way, list[float]], way: Way) -> float:
    """How much slower than the best, which is found and timed by different seeds."""
    halves = [{one: statistics.mean(times[first::2]) for one, times in took.items()} for first in (0, 1)]
    return statistics.mean(timed[way] / timed[min(found, key=found.get)] - 1 for found, timed in (halves, halves[::-1]))


def calls_of(routine: str, n: str, shape: str | None) -> list[tuple[str, int, int, int]]:
    orders = [(routine, n, n, n if routine == "gemm" else 0) for n in (size_list(n) if n else [])]
    return orders + [(routine, *one) for one in shape_list(SHAPES[routine] if shape is None else shape)]


def told(row: dict) -> str:
    size = "x".join(str(row[extent]) for extent in ("m", "n", "k") if row[extent])
    tiles = f" (nb {row['nb']})" if row["nb"] else ""
    return (f"{row['machine']}, {row['cores']} cores, {row['routine']} {size}: {row['chosen']}{tiles} by {row['by']} "
            f"{100 * row['regret']:.1f} %, the rule {100 * row['regret_of_rule']:.1f} %, best {row['best']} "
            f"{row['seconds_best'] * 1e3:.3f} ms simulated of {row['swept']} (chosen: foreseen {row['foreseen'] * 1e3:.3f} ms, "
            f"simulated {row['seconds_chosen'] * 1e3:.3f})")  # fmt: skip


def summary(rows: list[dict]) -> str:
    parts = []
    for what, name in (("regret", "chosen"), ("regret_of_rule", "the rule")):
        values = [row[what] for row in rows]
        parts.append(f"{name}: median {100 * statistics.median(values):.1f} %, worst {100 * max(values):.1f} %, "
                     f"within 10 % {sum(value <= 0.1 for value in values)}")  # fmt: skip
    return f"{len(rows)} calls, " + "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", default="server-2s")
    parser.add_argument("--cores", default="16,64")
    parser.add_argument("--routine", default="gemm,potrf,getrf,geqrf")
    parser.add_argument("--n", default=ORDERS)
    parser.add_argument("--shape", help="standard: some of each routine; none: ''")
    parser.add_argument("--within", metavar="MEDIAN,WORST", help="fail beyond so many per cent")
    parser.add_argument("--json", type=Path, help="a line each is added to it")
    words = parser.parse_args()
    effects = parse_effects(ASSUMED)
    wanted = [(cores, call) for cores in map(int, words.cores.split(",")) for routine in words.routine.split(",")
              for call in calls_of(routine, words.n, words.shape)]  # fmt: skip
    rows = []
    with progress_bar(len(wanted)) as step:
        for cores, call in wanted:
            row = regret(words.machine, cores, call, effects)
            rows.append(row)
            step(call[0], 1)
            print(told(row), flush=True)
            if words.json:
                with words.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print(summary(rows))
    if words.within:
        median, worst = (float(limit) / 100 for limit in words.within.split(","))
        values = [row["regret"] for row in rows]
        if statistics.median(values) > median or max(values) > worst:
            sys.exit(f"regret: beyond {words.within} % (median, worst)")


if __name__ == "__main__":
    main()
