"""Printing for people and for programs: tables by rich, or one JSON object per line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 160  # no terminal to ask: wide enough that tables are not cut


def console(stderr: bool = False) -> Console:
    """A console for the stream as it is now; rich respects NO_COLOR and drops colours where there is no terminal."""
    from rich.console import Console  # not before somebody prints: JSON, which programs ask for, does not need it

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else _PIPE_WIDTH, highlight=False, emoji=False)


def print_named(*parts: str) -> None:
    """One line, of which every other part is bold, from the first on. Names are the user's, and none is markup."""
    from rich.text import Text

    text = Text.assemble(*((part, "" if i % 2 else "bold") for i, part in enumerate(parts)))
    console().print(text, soft_wrap=True)


def json_line(row: Mapping[str, Any]) -> str:
    """One object on one line; what JSON has no number for (NaN, infinity) is null."""
    return json.dumps(_plain(row), allow_nan=False)


def print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], title: str = "") -> None:
    """`columns` maps keys of the rows to headings."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    numbers = {key for key in columns if rows and all(_is_number(row.get(key)) for row in rows)}
    for key, heading in columns.items():
        table.add_column(heading, justify="right" if key in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(key))) for key in columns))
    console().print(table)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if value is None:
        return ""
    if is_interval(value):
        return interval_words(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def is_interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(end, float) for end in value)


def interval_words(ends: Sequence[float]) -> str:
    """An interval of no length is a number that chance has no part in."""
    low, high = ends
    return "" if low == high else f"{low:.4g} to {high:.4g}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def print_node_bytes(rows: Sequence[dict[str, Any]]) -> None:
    """What the workers of each memory node read and wrote, near and far; nothing where nothing was counted."""
    if not rows:
        return
    kinds = {kind: kind.replace("_", " ") for kind in ("local_read", "remote_read", "local_written", "remote_written")}
    shown = [{**row, **{kind: f"{row[kind] / 1e9:.3f}" for kind in kinds}} for row in rows]
    print("GB by memory node, operands of all tasks, caches not considered:")
    print_table(shown, {key: key for key in ("n", "node") if key in rows[0]} | kinds)
