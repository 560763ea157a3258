"""Making runs: on this machine in processes that wait for their turn, on described ones in virtual time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ..busy import BusyNeighbours
from ..checks import shown
from ..children import continue_child, end_children, ending, start_child, stop_child
from ..effects import lever_effects, parse_effects
from ..errors import UsageError
from ..options import PRECISIONS, unit_list
from ..simulations import Simulation, contract_record, simulate_all
from .factors import FACTORS, REAL
from .plan import Configuration, Plan, Run, memory_of, power_states
from .run_process import busy_of

Record = dict[str, Any]

#: The factors that a session is made from.
_SESSION = ("engine", "scheduler", "kernels", "threads", "workers", "devices", "relief", "reproducible")


class RealRuns:
    """One process for each engine, since OpenMP's runtimes do not go together in one; those that are not on turn stand still."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._children: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> RealRuns:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        end_children(self._children.values())
        self._children.clear()

    def make(self, run: Run) -> Record:
        """The fields of bench; or `error` and `message`, also where the process ended in the middle."""
        with BusyNeighbours(busy_of(run.configuration["busy"])):
            return self._asked(run.configuration, self._plan.matrix_seed(run.block))

    def check(self, configurations: Iterable[Configuration]) -> None:
        """UsageError where the options of one cannot be had: an option that a policy lacks, a device, more workers than cores."""
        for one in {tuple(configuration[key] for key in _SESSION): configuration for configuration in configurations}.values():
            answer = self._asked(one, 0, only_open=True)
            if "error" in answer:
                options = ", ".join(f"{key} = {shown(one[key])}" for key in _SESSION if one[key] != FACTORS[key].standard)
                raise UsageError(f"factors: {options}: {answer['message']}")

    def _asked(self, configuration: Configuration, seed: int, only_open: bool = False) -> Record:
        engine = configuration["engine"]
        child = self._children.pop(engine, None) or self._start()
        request = {"configuration": configuration, "seed": seed, "check": self._plan.check, "only_open": only_open}
        reply = ""
        try:
            continue_child(child)
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            reply = child.stdout.readline()
        except BrokenPipeError:
            pass
        except BaseException:
            end_children([child])
            raise
        if not reply.endswith("\n"):
            said = ending(child)
            end_children([child])
            return {"error": "Ended", "message": f"the process of the run {said}"}
        stop_child(child)
        self._children[engine] = child
        return json.loads(reply)

    def _start(self) -> subprocess.Popen[str]:
        return start_child([sys.executable, "-m", "trencadis.campaign.run_process"], sorted(os.sched_getaffinity(0)))


def simulation_of(plan: Plan, run: Run) -> Simulation:
    """A repetition has a seed of its own: what is random in a policy or an effect comes out otherwise, the rest as before."""
    configuration = run.configuration
    words = [] if configuration["effect"] == "none" else [word.strip() for word in configuration["effect"].split(",")]
    effects = parse_effects(words)
    levers = (configuration[name] for name in ("turbo", "cstates", "governor"))
    state = effects.get("power_state") or next(iter(power_states(configuration["machine"])), "")
    effects = {**lever_effects(*levers, state), **effects}
    return Simulation(
        configuration["routine"], configuration["n"], configuration["machine"],
        0 if configuration["nb"] == "auto" else configuration["nb"], configuration["precision"], configuration["variant"],
        configuration["scheduler"], _units(configuration["workers"]), seed=1 + plan.matrix_seed(run.block), effects=effects,
    )  # fmt: skip


def _units(level: int | str) -> tuple[str, ...]:
    if level == "all":
        return ()
    return unit_list(level if isinstance(level, str) else f"0-{level - 1}" if level > 1 else "0")


def simulated(plan: Plan, runs: Sequence[Run]) -> Iterator[Record]:
    """The records of these runs, in their order."""
    simulations = [simulation_of(plan, run) for run in runs]
    answers = simulate_all(simulations, failing=True)
    for simulation, answer in zip(simulations, answers, strict=True):
        yield answer if "error" in answer else contract_record(answer, simulation.effects)


#: Order and tiles of a trial: some tiles of each kind, in a moment.
_TRIAL_N, _TRIAL_NB = 96, 32


def check_described(plan: Plan, configurations: Iterable[Configuration]) -> None:
    """UsageError where the options of one cannot be had on its machine: what the library refuses it refuses of a small problem,
    too. Each policy is tried with one routine, and each routine with one policy, so that trials of a large plan are few."""
    trials: dict[tuple[Any, ...], Configuration] = {}
    for one in configurations:
        small = {**one, "n": min(one["n"], 2 if one["routine"] == "tasks" else _TRIAL_N), "nb": _TRIAL_NB}
        trials.setdefault(("options", *(one[key] for key in _SIMULATED)), small)
        trials.setdefault(("routine", *(one[key] for key in ("machine", "routine", "variant", "precision", "workers"))), small)
        if _cannot_hold(one):
            trials.setdefault(("n", *(one[key] for key in ("machine", "n", "precision"))), one)
    simulations = [simulation_of(plan, Run(0, 0, 0, one)) for one in trials.values()]
    for one, answer in zip(trials.values(), simulate_all(simulations, failing=True), strict=True):
        if "error" in answer:
            keys = (*_SIMULATED, "routine", "precision", "variant", *(["n"] if _cannot_hold(one) else []))
            options = ", ".join(f"{key} = {shown(one[key])}" for key in keys if one[key] != FACTORS[key].standard)
            raise UsageError(f"factors: {options}: {answer['message']}")


#: The factors that a described machine's runs are made from, beside the problem.
_SIMULATED = ("machine", "scheduler", "workers", "effect", "turbo", "cstates", "governor")


def _cannot_hold(configuration: Configuration) -> bool:
    """Then the library refuses the size itself before it begins; how much a routine needs it knows better."""
    if configuration["routine"] == "tasks":
        return False
    needed = configuration["n"] ** 2 * np.dtype(PRECISIONS[configuration["precision"]]).itemsize
    return needed > memory_of(configuration["machine"])


def is_real(run: Run) -> bool:
    return run.configuration["machine"] == REAL
