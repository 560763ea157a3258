"""How long a command may take to end in its own way after Ctrl-C."""

from __future__ import annotations

#: Of commands that have nothing left to write, and of those that write what they have.
SHORT_S, LONG_S = 0.7, 20.0

_seconds = SHORT_S


def seconds() -> float:
    return _seconds


def has_results_to_write() -> None:
    """From now on Ctrl-C leaves time to write them; a second Ctrl-C does not wait."""
    global _seconds
    _seconds = LONG_S
