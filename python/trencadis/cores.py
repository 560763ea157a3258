"""Lists of cores, as `--workers` and the argument `workers` have them."""

from __future__ import annotations

import json
import os
import re

from . import _core
from .checks import unknown
from .errors import UsageError


def integers(text: str, what: str) -> list[int]:
    """ "0,1,4-7" -> [0, 1, 4, 5, 6, 7]."""
    numbers: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", word, re.ASCII)
        if not match:
            raise UsageError(f"{what}: '{text}' is not a list of numbers and ranges such as 0,1,4-7")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last < first:
            raise UsageError(f"{what}: the range '{word.strip()}' runs backwards; write {last}-{first}")
        if last - first > 100_000:
            raise UsageError(f"{what}: the range '{word.strip()}' has more than 100000 numbers")
        numbers.extend(range(first, last + 1))
    return numbers


def core_list(text: str, what: str = "--workers", machine: str = "") -> list[int]:
    """Numbers and ranges of cores, or names of core kinds: of the described machine that is laid over this one, or of this one.
    Empty: all allowed cores."""
    text = text.strip()
    if not text:
        return []
    cores: list[int] = []
    for part in text.split(","):
        cores += _of_kind(part.strip(), text, what, machine) if re.search(r"[^\d\s-]", part) else integers(part, what)
    twice = sorted({core for core in cores if cores.count(core) > 1}) if len(cores) < 10_000 else []
    if twice:
        raise UsageError(f"{what}: core {twice[0]} is named twice in '{text}'; a core has one worker")
    return cores


def _of_kind(kind: str, text: str, what: str, machine: str) -> list[int]:
    machine = machine or os.environ.get("TRENCADIS_MACHINE", "")
    described = json.loads(_core.load_machine(machine) if machine else _core.machine(False))
    kinds = [entry["name"] for entry in described["kinds"]]
    if kind not in kinds:
        raise UsageError(f"{what}: '{text}' is no list such as 0,1,4-7 of cores or their kinds: {unknown('kind', kind, kinds)}")
    return [core["cpu"] for core in described["cores"] if core["kind"] == kind]
