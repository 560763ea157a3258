"""How long a command may take to end in its own way after Ctrl-C."""

from __future__ import annotations

import time

#: Of commands that have nothing left to write, and of those that write what they have.
SHORT_S, LONG_S = 0.7, 20.0
#: Of those that hold something of the machine's, which then is put back by the next one.
LONGEST_S = 60.0

_seconds = SHORT_S

#: How many hold something of the machine's that must be put back before this process ends.
_holders = 0


def seconds() -> float:
    return _seconds


def has_results_to_write() -> None:
    """From now on Ctrl-C leaves time to write them; a second Ctrl-C does not wait."""
    global _seconds
    _seconds = LONG_S


def hold() -> None:
    """From now on no Ctrl-C ends the process at once, however many come, until `let_go`. Of the main thread alone."""
    global _holders
    _holders += 1


def let_go() -> None:
    global _holders
    _holders -= 1


def wait_for_holders() -> None:
    """By looking again and again: a lock could stay taken where a signal's exception comes between. Not for ever."""
    until = time.monotonic() + LONGEST_S
    while _holders > 0 and time.monotonic() < until:
        time.sleep(0.005)
