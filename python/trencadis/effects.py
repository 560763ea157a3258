"""What a simulated run assumes beside the machine and the policy: `--effect NAME[=VALUE]` of simulate.

Each effect has a cause that real machines show. All are off at the start, so that a plain run shows the policy and the kernel
times alone. Standard values are estimates of that cause, made without looking at what they do to a result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from . import _core
from .errors import UsageError

_UNITS = {"s": 0, "ms": -3, "us": -6, "ns": -9}


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|ms|us|ns)", text)
    if not match or not 0 < (seconds := float(Decimal(match[1]).scaleb(_UNITS[match[2]]))) <= 3600:
        raise ValueError
    return seconds


def _time(seconds: float) -> str:
    """The inverse: in the largest unit that leaves at least 1."""
    for unit, power in _UNITS.items():
        number = Decimal(repr(seconds)).scaleb(-power)
        if number >= 1 or unit == "ns":
            return f"{number.normalize():f}{unit}"
    raise AssertionError("not reached")


def _fraction(text: str) -> float:
    number = float(text)
    if not 0 < number < 1:
        raise ValueError
    return number


def _flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError
    return text == "yes"


def _name(text: str) -> str:
    if not re.fullmatch(r"[\w.+-]+", text):
        raise ValueError
    return text


def _placement(text: str) -> str:
    if text not in ("first-touch", "interleave"):
        raise ValueError
    return text


#: Options that are on at the start: their effects switch them off.
_ON = ("overlap", "peer")


@dataclass(frozen=True)
class Effect:
    """`option` is the field of the simulation's options that it sets."""

    option: str
    standard: str  #: when no value is given; empty: a value is needed
    values: str
    cause: str
    parse: Callable[[str], Any]

    def value(self, text: str) -> Any:
        parsed = self.parse(text)
        return not parsed if self.option in _ON else parsed


EFFECTS: dict[str, Effect] = {
    "submit": Effect(
        "submit_s", "20us", "a time such as 20us",
        "creating a task takes the submitter so long, and what is not submitted yet is neither ready nor part of a bottom level",
        _seconds,
    ),
    "pop": Effect("pop_s", "5us", "a time such as 5us", "a worker takes so long to get a task from the runtime", _seconds),
    "central-lock": Effect(
        "central_lock", "yes", "yes or no", "submit and pop are spent under one lock, as with one ready queue for all", _flag
    ),
    "remap": Effect(
        "remap_s", "100ms", "a time such as 100ms",
        "threads are not pinned: so often the system maps them to the cores anew, whatever the cores' speed", _seconds,
    ),
    "jitter": Effect(
        "jitter", "0.05", "a fraction above 0 and below 1",
        "kernel times spread by this fraction to either side: caches, memory and clock differ from call to call", _fraction,
    ),
    "caller-first": Effect(
        "caller_first", "yes", "yes or no",
        "who submits looks for a task before those who wait for one, who would have to be woken first", _flag,
    ),
    "no-overlap": Effect(
        "overlap", "yes", "yes or no",
        "a device has one task in flight: the inputs of the next do not move while it runs", _flag,
    ),
    "one-stream": Effect(
        "one_stream", "yes", "yes or no", "all that a device does goes through one stream: it computes, receives or sends", _flag
    ),
    "no-peer": Effect(
        "peer", "yes", "yes or no",
        "devices do not copy to each other: what one needs of another is written back to the memory of the host first", _flag,
    ),
    "device-only": Effect(
        "device_only", "yes", "yes or no", "what a device can run is left to devices: cores run the rest", _flag
    ),
    "fetch-and-wait": Effect(
        "fetch_and_wait", "yes", "yes or no",
        "the thread that drives a device fetches what that needs of another one datum by datum, and does nothing else until each "
        "is in the memory of the host",
        _flag,
    ),
    "free-network": Effect(
        "free_network", "yes", "yes or no",
        "messages between hosts take no time; they are counted. What a run loses by communication is the difference", _flag,
    ),
    "unadjusted": Effect(
        "unadjusted", "yes", "yes or no",
        "figures of the machine that were adjusted to a result are as they were before it was looked at", _flag,
    ),
    "power-state": Effect(
        "power_state", "", "a state that the machine describes, such as turbo", "all units stay in this state of their clock",
        _name,
    ),
    "spin": Effect(
        "spin_s", "200ms", "a time such as 200ms",
        "a worker with nothing to do looks for work for so long before it sleeps, and draws more than a sleeping one", _seconds,
    ),
    "wake": Effect(
        "wake_s", "109us", "a time such as 109us",
        "a worker that sleeps needs so long to begin: an idle state of its core is left so fast", _seconds,
    ),
    "no-sleep": Effect(
        "awake_state", "", "a state that the machine describes, such as powersave",
        "the system has no idle states: who sleeps polls instead, in this state of its clock", _name,
    ),
    "copy-operands": Effect(
        "copy_operands", "yes", "yes or no",
        "what a core reads from another memory node is copied into its own first, once for all cores there, not read in place",
        _flag,
    ),
    "placement": Effect(
        "placement", "", "first-touch or interleave",
        "where the data lie at the start: all on the node of the thread that wrote them first, or spread tile by tile",
        _placement,
    ),
}  # fmt: skip


def parse_effects(words: Iterable[str]) -> dict[str, Any]:
    """["submit=50us", "central-lock"] -> {"submit_s": 5e-05, "central_lock": True}."""
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        effect = EFFECTS.get(name)
        if effect is None:
            raise UsageError(f"--effect: {_core.unknown_name('effect', name, list(EFFECTS))}")
        if effect.option in options:
            raise UsageError(f"--effect: {name} is given twice")
        try:
            options[effect.option] = effect.value(text if equals else effect.standard)
        except ValueError:
            raise UsageError(f"--effect: '{word}' must be {name}=VALUE with {effect.values}") from None
    return options


def effect_words(options: Mapping[str, Any]) -> list[str]:
    """The effects that are set, as they are typed."""
    names = {effect.option: name for name, effect in EFFECTS.items()}
    words = []
    for option, value in options.items():
        if isinstance(value, bool):
            words += [names[option]] * (value != (option in _ON))
        elif option.endswith("_s"):
            words.append(f"{names[option]}={_time(value)}")
        else:
            words.append(f"{names[option]}={value}")
    return words


def effects_help() -> str:
    """One line per effect, for the help of a command."""
    lines = []
    for name, effect in EFFECTS.items():
        standard = f" (without a value: {effect.standard})" if effect.standard not in ("", "yes") else ""
        lines.append(f"[bold]{name}[/bold]: {effect.cause}{standard}")
    return "\n\n".join(lines)


#: Out of the idle state C7, the deepest of a Sandy Bridge and the one that a long wait ends in, as Linux has it (exit_latency of
#: C7-SNB, snb_cstates in drivers/idle/intel_idle.c, 109 since that table came; C6 has 104).
WAKE_S = 109e-6


def lever_effects(turbo: bool | None, cstates: str | None, governor: str | None, state: str) -> dict[str, Any]:
    """What the levers of a machine mean to a simulation, None: nothing is said of it; `state`: of the clock where turbo says
    nothing. Where cores do not sleep they poll, at a clock that the powersave governor lowers; under load both governors choose
    the same clock, and sleeping cores have none."""
    if turbo is not None:
        state = "turbo" if turbo else "nominal"
    effects: dict[str, Any] = {} if turbo is None else {"power_state": state}
    if cstates == "all":
        effects["wake_s"] = WAKE_S
    elif cstates == "none":
        effects["awake_state"] = "powersave" if governor == "powersave" else state
    return effects
