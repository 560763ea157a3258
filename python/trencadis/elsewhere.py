"""What would be chosen on a described machine (docs/choices.md), for `explain --machine` and `simulate --objective`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import _core
from .effects import parse_effects
from .errors import UsageError
from .simulations import Simulation

#: What the runtime takes for each task, as measured of ours on two cores (docs/decisions/0016), here for its submission and for
#: taking it each; and how much kernel times spread.
ASSUMED = ("submit=250ns", "pop=250ns", "jitter")
OBJECTIVES = ("time", "rule")
_KNOWN = ("submit_s", "pop_s", "jitter")


def choices_on(machine: str, workers: tuple[str, ...], effects: dict[str, Any] | None = None) -> _core.ChoicesElsewhere:
    """Of those of its cores; without effects as `ASSUMED` says."""
    given = parse_effects(ASSUMED) if effects is None else effects
    return _core.ChoicesElsewhere(machine, list(workers), **{name: given[name] for name in _KNOWN if name in given})


def chosen_simulation(asked: Simulation) -> Simulation:
    """The same in the form, with the tiles and by the cores that are chosen for such a call. A call that its caller had better
    compute alone has no tasks to simulate: then by the best plan that has."""
    if asked.routine not in _core.chosen_routines():
        raise UsageError(f"--objective: calls of {asked.routine} are not chosen, those of "
                         f"{', '.join(_core.chosen_routines())} are")  # fmt: skip
    if asked.nb or asked.variant or asked.model:
        raise UsageError("--objective: form, tile size and number of cores are chosen; leave out --nb, --variant and --model")
    depth = asked.n if asked.routine == "gemm" else 0
    call = (asked.routine, asked.precision, asked.m or asked.n, asked.n, depth)
    choices = choices_on(asked.machine, asked.workers, asked.effects)
    for by in choices.considered(*call):
        for one in by["considered"]:
            laid = choices.laid_out(one["plan"], *call, by["workers"])
            if laid["variant"]:
                return replace(asked, variant=laid["variant"], nb=laid["nb"], cut_for=laid["cut_for"], as_called=True,
                               workers=tuple(map(str, laid["cores"])))  # fmt: skip
    raise UsageError(f"--objective: nothing is known of {asked.routine} on {asked.machine}")


def explained(machine: str, workers: tuple[str, ...], routine: str, precision: str, m: int, n: int, k: int) -> dict[str, Any]:
    """As `explain` tells of this host."""
    choices = choices_on(machine, workers)
    by_cores = choices.considered(routine, precision, m, n, k)
    first, considered = by_cores[0], by_cores[0]["considered"]
    for one in considered:
        laid = choices.laid_out(one["plan"], routine, precision, m, n, k, first["workers"])
        one.update(variant=laid["variant"], nb=laid["nb"] or None, grain=laid["cut_for"] or None)
    known = [{"workers": by["workers"], "plan": by["considered"][0]["plan"], "seconds": by["considered"][0]["seconds"],
              "chosen": by["chosen"]} for by in by_cores]  # fmt: skip
    return {"routine": routine, "precision": precision, "m": m, "n": n, "k": k or None, "machine": machine,
            "workers": choices.cores[: first["workers"]], "objective": "time", "chosen": considered[0]["plan"],
            "why": _why(first, known, len(choices.cores)), "considered": considered, "by_cores": known, "calibration": None,
            "devices": None, "estimated": True}  # fmt: skip


def _why(first: dict[str, Any], known: list[dict[str, Any]], all_cores: int) -> str:
    best = first["considered"][0]
    if not best["seconds"]:
        return "the machine tells no time for a kernel of this routine: the fixed rule"
    text = f"estimated from the machine's kernel times ({', '.join(ASSUMED)}): {1e3 * best['seconds']:.3f} ms, "
    text += "the fixed rule" if best["plan"] == "rule" else f"{best['against']:.3f} of the fixed rule"
    if first["workers"] == all_cores:
        return f"{text}; by all {all_cores} cores"
    whole = next(one for one in known if one["workers"] == all_cores)
    return f"{text}; by {first['workers']} of {all_cores} cores, by all of them {1e3 * whole['seconds']:.3f} ms"
