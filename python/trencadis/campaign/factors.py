"""The factors of a campaign: what may vary, and which levels each has.

A level is checked and brought into one form when the file is read, before anything runs. What depends on other factors (a form
that a routine lacks) is checked by plan.py, configuration by configuration.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..checks import one_of, shown
from ..cores import integers
from ..effects import EFFECTS, parse_effects
from ..errors import UsageError
from ..options import PRECISIONS, core_counts

MOST_N = 2**31 - 1  #: no matrix of ours has more rows

#: The word for the machine that the campaign runs on.
REAL = "real"

Level = Any


@dataclass(frozen=True)
class Factor:
    """`level` takes what the file has and gives the level, or raises ValueError with what would be right."""

    summary: str
    standard: Level  #: where the file does not name the factor
    level: Callable[[Any], Level]
    lever: bool = False  #: belongs to the machine and not to us


def _whole(value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_N:
        raise ValueError(f"a whole number from {least} to {MOST_N}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("text")
    return value.strip()


def _size(value: Any) -> int:
    return _whole(value, 1)


def _tile(value: Any) -> int | str:
    return "auto" if value in ("auto", "") else _whole(value, 1)


def _precision(value: Any) -> str:
    return one_of("precision", _text(value), PRECISIONS)


def _routine(value: Any) -> str:
    return one_of("routine", _text(value), [row["name"] for row in _core.list_routines() if row["available"]])


def _listed(what: str, rows: Callable[[], list[dict[str, Any]]]) -> Callable[[Any], str]:
    """Names of a registry, with options behind a colon; empty: the library's choice."""

    def level(value: Any) -> str:
        text = _text(value)
        if text:
            by_name = {row["name"]: row for row in rows()}
            row = by_name[one_of(what, text.partition(":")[0], by_name)]
            if not row["available"]:
                raise UsageError(f"{what} '{text}' is not available here: {row.get('why_not', 'not in this build')}")
        return text

    return level


def _engine(value: Any) -> str:
    text = _listed("engine", _core.list_engines)(value)
    if text == "simulated":
        raise UsageError("what is simulated is a described machine; name it by the factor machine")
    if text == "starpu-mpi":
        raise UsageError("is of several processes; a campaign has one")
    return text


def _kernels(value: Any) -> str:
    text = _text(value)
    check = _listed("kernels", _core.list_kernels)
    for word in text.split(",") if text else []:
        check(word.partition("=")[2] or word)
    return text


def _workers(value: Any) -> int | str:
    """How many, or which; "all"."""
    if not isinstance(value, str):
        return _whole(value, 1)
    text = _text(value)
    if text in ("", "all"):
        return "all"
    if not any(letter.isalpha() for letter in text):
        integers(text, "workers")
    return text


def _busy(value: Any) -> str:
    text = "" if value == 0 and not isinstance(value, bool) else _text(value)
    if text in ("", "none"):
        return "none"
    words = [word.strip() for word in text.split(",")]
    counts = core_counts(words)
    absent = sorted(set(counts) - os.sched_getaffinity(0))
    if absent:
        raise UsageError(f"busy: there is no core {absent[0]} here")
    return ",".join(words)


def _effect(value: Any) -> str:
    text = _text(value)
    if text in ("", "none"):
        return "none"
    words = [word.strip() for word in text.split(",")]
    for word in words:
        one_of("effect", word.partition("=")[0], (*EFFECTS, "none"))
    parse_effects(words)
    return text


def _machine(value: Any) -> str:
    text = _text(value)
    if text in ("", REAL):
        return REAL
    try:
        _core.load_machine(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return text


def _switch(value: Any) -> bool:
    words = {"on": True, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in words:
        return words[value]
    raise ValueError("true or false")


def _relief(value: Any) -> str:
    text = _text(value)
    return text and one_of("relief", text, ("held-up", "always", "never"))


def _idle_states(value: Any) -> str:
    return one_of("cstates", _text(value), ("all", "none"))


def _governor(value: Any) -> str:
    text = _text(value)
    if not text or not all(letter.isalnum() or letter in "_-" for letter in text):
        raise ValueError("the name of a governor, such as performance or powersave")
    return text


#: In the order of tables. `standard` None: as the machine is, or as the library chooses.
FACTORS: dict[str, Factor] = {
    "machine": Factor(f"{REAL}, or a described one: its name or file", REAL, _machine),
    "routine": Factor("see: trencadis list routines", None, _routine),
    "n": Factor("order of the matrices", None, _size),
    "nb": Factor("tile size, or auto", "auto", _tile),
    "precision": Factor("s, d, c or z", "d", _precision),
    "variant": Factor("form of the routine", "", _text),
    "engine": Factor("see: trencadis list engines", "", _engine),
    "scheduler": Factor("see: trencadis list schedulers", "", _listed("scheduler", _core.list_schedulers)),
    "kernels": Factor("see: trencadis list kernels", "", _kernels),
    "threads": Factor("see: trencadis list threads", "", _listed("threads", _core.list_threads)),
    "workers": Factor("how many, or a list as 0,1,4-7, or all", "all", _workers),
    "devices": Factor("as --devices of bench has them", "", _text),
    "relief": Factor("held-up, always or never", "", _relief),
    "reproducible": Factor("true or false: the same bits from any number of workers", False, _switch),
    "busy": Factor("busy neighbours as 1=3,0=1, or none", "none", _busy),
    "effect": Factor("of a described machine: effects as simulate has them, with commas, or none", "none", _effect),
    "turbo": Factor("true or false", None, _switch, lever=True),
    "cstates": Factor("idle states: all or none", None, _idle_states, lever=True),
    "governor": Factor("of the clock, such as performance", None, _governor, lever=True),
}

LEVERS = tuple(name for name, factor in FACTORS.items() if factor.lever)


def level_of(name: str, value: Any) -> Level:
    """The level in its one form; UsageError that names the factor."""
    try:
        return FACTORS[name].level(value)
    except UsageError as error:
        raise UsageError(f"{name} = {shown(value)}: {error}") from None
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name} = {shown(value)}: must be {error}") from None
