"""Where the figures of a described machine come from, by [[sources]] of its file, and what depends on adjusted ones."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import _core
from .gallery import Section

ADJUSTED = "adjusted to a result"


@cache
def sources(machine: str) -> tuple[dict[str, Any], ...]:
    origin = json.loads(_core.load_machine(machine))["origin"]
    return tuple(tomllib.loads(Path(origin).read_text()).get("sources", ()))


def adjusted(record: Mapping[str, Any]) -> list[str]:
    """The results that constants were adjusted to which this run depends on: those of a kernel that it called."""
    called = {kernel["name"] for kernel in record["per_kernel"]}
    return [
        source["result"] for source in sources(record["machine"])
        if source["class"] == ADJUSTED and called & set(source["kernels"].split(", "))
    ]  # fmt: skip


def section(machine: str) -> Section:
    columns = {"class": "class", "figures": "figures", "kernels": "of kernels", "result": "adjusted to"}
    lines = sorted(sources(machine), key=lambda source: source["class"] != ADJUSTED)
    text = f"The figures of machines/{machine}.toml by class."
    if any(source["class"] == ADJUSTED for source in lines):
        text += (
            " Rows with `adjusted` depend on a figure of the first; what comes out without the adjustment, with `unadjusted` of "
            "that file, stands beside them."
        )
    return Section(f"Where the constants of {machine} come from", columns, lines, text)
