"""What a campaign's file asks for: its configurations, and the order of its runs.

A block is one repetition of every configuration, in an order of its own that follows from the seed: what changes slowly (heat,
neighbours) meets all configurations alike. All of a block work on the same matrices, and each block has fresh ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .. import _core
from ..checks import one_of, shown, unknown
from ..effects import EFFECTS, parse_effects
from ..errors import UsageError
from ..options import MOST_REPETITIONS, PRECISIONS
from ..system_files import system_root
from ..workload import require_memory
from ..workloads import WORKLOADS
from .factors import FACTORS, LEVERS, REAL, Level, level_of
from .levers import governors

STANDARD_REPETITIONS = 30
LEAST_REPETITIONS = 3
MOST_RUNS = 1_000_000
MOST_NAMED = 2.0**46  #: bytes of the matrices of a simulated graph

_KEYS = ("name", "summary", "repetitions", "seed", "check", "factors", "except")

Configuration = dict[str, Level]


@dataclass(frozen=True)
class Run:
    """The `index`-th of all, in block `block`."""

    index: int
    block: int
    number: int  #: of the configuration
    configuration: Configuration


@dataclass(frozen=True)
class Plan:
    name: str
    factors: dict[str, list[Level]]
    repetitions: int = STANDARD_REPETITIONS
    seed: int = 1
    check: bool = False
    without: list[dict[str, list[Level]]] = field(default_factory=list)
    summary: str = ""

    @cached_property
    def configurations(self) -> list[Configuration]:
        """Of all factors, those of the file and the others."""
        rest = {name: factor.standard for name, factor in FACTORS.items() if name not in self.factors}
        crossed = (dict(zip(self.factors, levels, strict=True)) for levels in itertools.product(*self.factors.values()))
        left_out = [{name: set(levels) for name, levels in entry.items()} for entry in self.without]
        kept = (one for one in crossed if not any(all(one[name] in entry[name] for name in entry) for entry in left_out))
        return [{name: one[name] if name in one else rest[name] for name in FACTORS} for one in kept]

    def runs(self) -> Iterator[Run]:
        configurations = self.configurations
        index = itertools.count()
        for block in range(self.repetitions):
            for number in self.order(block, len(configurations)):
                yield Run(next(index), block, number, configurations[number])

    def order(self, block: int, count: int) -> list[int]:
        """By hashes: the same on every machine and in every version of Python."""
        return sorted(range(count), key=lambda number: hashlib.sha256(f"{self.seed}/{block}/{number}".encode()).digest())

    def matrix_seed(self, block: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{block}".encode()).digest()[:6], "big")

    def identity(self) -> dict[str, Any]:
        """What must not change while a campaign goes on. More repetitions only add blocks."""
        return {"name": self.name, "seed": self.seed, "factors": self.factors, "except": self.without, "check": self.check}

    def varied(self) -> list[str]:
        return [name for name, levels in self.factors.items() if len(levels) > 1]


def read_plan(path: Path, machine: str = "") -> Plan:
    """`machine`: instead of those that the file names. UsageError that names the file for whatever is wrong with it."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is no text in UTF-8; a campaign is a file in TOML") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        table = tomllib.loads(text)
    except ValueError as error:  # of TOML, or of an integer with thousands of digits
        raise UsageError(f"{path}: is not TOML: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise UsageError(f"{path}: is not TOML: nested too deep") from None
    try:
        return plan_of(_on_machine(table, machine))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _on_machine(table: dict[str, Any], machine: str) -> dict[str, Any]:
    factors = table.get("factors")
    return {**table, "factors": {**factors, "machine": [machine]}} if machine and isinstance(factors, dict) and factors else table


def plan_of(table: Mapping[str, Any]) -> Plan:
    for key in table:
        if key not in _KEYS:
            hint = f"; write it under [factors]: {key} = [...]" if key in FACTORS else ""
            raise UsageError(unknown("key", key, _KEYS) + hint)
    factors = _factors(table.get("factors"))
    plan = Plan(
        _name(table.get("name")), factors, _repetitions(table.get("repetitions", STANDARD_REPETITIONS)),
        _count("seed", table.get("seed", 1), 0, 2**63 - 1), _flag("check", table.get("check", False)),
        _exceptions(table.get("except", []), factors), _summary(table.get("summary", "")),
    )  # fmt: skip
    _check_number(plan)
    for configuration in plan.configurations:
        check_configuration(configuration)
    _check_memory(plan.configurations)
    return plan


def _name(value: Any) -> str:
    if value is None:
        raise UsageError('name: is missing; such as name = "tiles"')
    good = isinstance(value, str) and 0 < len(value) <= 100 and all(c.isalnum() or c in "._-" for c in value)
    if not good or not value.strip("."):
        raise UsageError(f"name = {shown(value)}: must be a word of letters, digits, '.', '_' and '-'")
    return value


def _summary(value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"summary = {shown(value)}: must be text")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name} = {shown(value)}: must be true or false")
    return value


def _count(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"{name} = {shown(value)}: must be a whole number from {least} to {most}")
    return value


def _repetitions(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LEAST_REPETITIONS:
        raise UsageError(f"repetitions = {value}: a mean with an interval needs {LEAST_REPETITIONS} or more; "
                         f"{STANDARD_REPETITIONS} where the file says nothing")  # fmt: skip
    return _count("repetitions", value, LEAST_REPETITIONS, MOST_REPETITIONS)


def _factors(table: Any) -> dict[str, list[Level]]:
    example = 'such as [factors] routine = ["potrf"], n = [1024, 2048]'
    if not isinstance(table, dict) or not table:
        raise UsageError(
            f"factors: {'is missing or empty' if not table else 'must be a table'}; the campaign is empty; {example}"
        )
    factors = {one_of("factor", name, FACTORS): _levels(name, value) for name, value in table.items()}
    for name in ("routine", "n"):
        if name not in factors:
            raise UsageError(f"factors: {name} is missing; {example}")
    return factors


def _levels(name: str, value: Any) -> list[Level]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise UsageError(f"{name} = []: a factor has one level or more; without any the campaign is empty")
    levels = [level_of(name, one) for one in values]
    known: set[Level] = set()
    for level in levels:
        if level in known:
            raise UsageError(f"{name}: {shown(level)} is given twice; a level is given once, "
                             "`repetitions` says how often it runs")  # fmt: skip
        known.add(level)
    return levels


def _exceptions(entries: Any, factors: Mapping[str, Sequence[Level]]) -> list[dict[str, list[Level]]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and entry for entry in entries):
        raise UsageError('except: must be tables, such as [[except]] routine = "gemm", scheduler = "cats"')
    read = []
    given = {name: set(levels) for name, levels in factors.items()}
    for entry in entries:
        read.append({one_of("factor of except", name, factors): _levels(name, value) for name, value in entry.items()})
        for name, levels in read[-1].items():
            for level in levels:
                if level not in given[name]:
                    raise UsageError(f"except: {unknown(f'level of {name}', str(level), map(str, factors[name]))}")
    return read


def _check_number(plan: Plan) -> None:
    crossed = 1
    for levels in plan.factors.values():
        crossed *= len(levels)
    if crossed * plan.repetitions > MOST_RUNS:
        raise UsageError(f"factors: {crossed} configurations of {plan.repetitions} repetitions each; at most {MOST_RUNS} runs")
    if not plan.configurations:
        raise UsageError("except: leaves nothing of the factors; the campaign is empty")


def check_configuration(configuration: Configuration) -> None:
    """UsageError where its levels do not go together."""
    (_check_real if configuration["machine"] == REAL else _check_described)(configuration)


def _check_memory(configurations: Sequence[Configuration]) -> None:
    """Of what needs most on this machine: to ask how much there is takes a while."""
    here = [one for one in configurations if one["machine"] == REAL and one["routine"] != "tasks"]
    most = max(here, key=_bytes_needed, default=None)
    try:
        if most is not None:
            require_memory(_bytes_needed(most), f"n = {most['n']}: {most['routine']}")
    except MemoryError as error:
        raise UsageError(str(error)) from None


def _bytes_needed(configuration: Configuration) -> int:
    return WORKLOADS[configuration["routine"]].bytes_held(configuration["n"], PRECISIONS[configuration["precision"]])


@cache
def _variants(which: str) -> dict[str, list[str]]:
    """By routine."""
    return {row["name"]: row.get(which) or [] for row in _core.list_routines() if row["available"]}


def _check_variant(configuration: Configuration, known: Sequence[str]) -> None:
    if configuration["variant"] and configuration["variant"] not in known:
        what = unknown(f"variant of {configuration['routine']}", configuration["variant"], known)
        raise UsageError(f"factors: {what}; [[except]] leaves combinations out")


def _check_real(configuration: Configuration) -> None:
    variants = _variants("variants")
    routine = one_of("routine to measure", configuration["routine"], [w for w in (*WORKLOADS, "tasks") if w in variants])
    _check_variant(configuration, variants[routine])
    if configuration["effect"] != "none":
        raise UsageError(f"factors: effect '{configuration['effect']}' is of a described machine, not of {REAL}")
    if configuration["governor"] is not None:
        one_of("governor of this machine", configuration["governor"], governors(system_root()))


#: Of a real run alone, with what a simulated one must have instead.
_REAL_ALONE = {"engine": "", "kernels": "", "threads": "", "devices": "", "relief": "", "reproducible": False, "busy": "none"}


def _check_described(configuration: Configuration) -> None:
    variants = {name: forms for name, forms in _variants("simulated_variants").items() if forms}
    _check_variant(configuration, variants[one_of("routine to simulate", configuration["routine"], variants)])
    for name, standard in _REAL_ALONE.items():
        if configuration[name] != standard:
            raise UsageError(f"factors: {name} = {shown(configuration[name])} says nothing of the described machine "
                             f"{configuration['machine']}; [[except]] leaves combinations out")  # fmt: skip
    asked = _clock_states(configuration["effect"])
    states = power_states(configuration["machine"])
    for name, state in asked.items():
        if state not in states:
            what = unknown(f"state of {configuration['machine']}", state, states)
            raise UsageError(f"factors: effect {name}: {what}")
    if configuration["turbo"] is not None and "power-state" in asked:
        raise UsageError("factors: turbo and effect power-state both choose the state of the clock; give one of them")
    if configuration["turbo"] is not None and not {"turbo", "nominal"} <= set(states):
        raise UsageError(f"factors: turbo: {configuration['machine']} describes no states turbo and nominal of its clock")
    _check_idle_levers(configuration, states, "no-sleep" in asked)


def _check_idle_levers(configuration: Configuration, states: Sequence[str], awake: bool) -> None:
    """Of idle states and governor: what a simulation knows of them."""
    machine, cstates, governor = (configuration[name] for name in ("machine", "cstates", "governor"))
    if cstates is not None and awake:
        raise UsageError("factors: cstates and effect no-sleep both say how cores wait; give one of them")
    if cstates == "none" and not states:
        raise UsageError(f"factors: cstates = 'none': {machine} describes no states of its clock, in which its cores would poll")
    if governor is None:
        return
    one_of("governor of a described machine", governor, ("performance", "powersave"))
    if cstates is None:
        raise UsageError("factors: governor: of a described machine it says at which clock cores poll that have no idle states; "
                         'give cstates = ["all", "none"] beside it')  # fmt: skip
    if governor == "powersave" and "powersave" not in states:
        raise UsageError(f"factors: governor = 'powersave': {machine} describes no state powersave of its clock")


@cache
def _machine(name: str) -> dict[str, Any]:
    return json.loads(_core.load_machine(name))


@cache
def power_states(machine: str) -> list[str]:
    units = [*_machine(machine)["kinds"], *_machine(machine)["devices"]]
    return list(dict.fromkeys(state["name"] for unit in units for state in unit.get("power") or []))


@cache
def memory_of(machine: str) -> float:
    """Bytes; what one process can name, where the machine does not say."""
    nodes = [node["bytes"] for node in _machine(machine)["nodes"]]
    return min(sum(nodes) if all(nodes) else MOST_NAMED, MOST_NAMED)


@cache
def _clock_states(effect: str) -> dict[str, str]:
    """Those that the words ask for, by the name of the effect."""
    options = parse_effects(word.strip() for word in effect.split(",")) if effect != "none" else {}
    names = {EFFECTS[name].option: name for name in ("power-state", "no-sleep")}
    return {names[option]: state for option, state in options.items() if option in names}


def levers_of(configuration: Configuration) -> dict[str, Level]:
    """Those that the configuration says something of."""
    return {name: configuration[name] for name in LEVERS if configuration[name] is not None}
