"""The process that simulates, one configuration after the other: `python -m trencadis.simulation_process`.

SimGrid has one simulation in a process, so each configuration has a process of its own, a copy of this one, which has loaded what
all need. Each request is one JSON object on a line of standard input (see simulations.Simulation), each answer one on a line of
standard output: the record, or `error` (its class) and `message`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, TextIO

from . import _core
from .errors import BackendError
from .tables import json_line


def answer(request: dict[str, Any]) -> dict[str, Any]:
    outputs = request.pop("outputs")
    record, trace = _core.simulate(**request, trace=bool(outputs))
    if outputs:
        from .tracing import write_trace  # with all that `trencadis trace` needs, which takes a third of this process's time

    for path, view in outputs:
        write_trace(trace, Path(path), view)
    return record


def reply_to(line: str, replies: TextIO) -> None:
    try:
        reply = answer(json.loads(line))
    except (ValueError, BackendError, MemoryError, OSError, RuntimeError) as error:
        reply = {"error": type(error).__name__, "message": str(error)}
    replies.write(json_line(reply) + "\n")
    replies.flush()


def in_a_copy(line: str, replies: TextIO) -> None:
    """Answers in a copy of this process; where that ends otherwise, this one ends alike, so that who asked sees how."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        dies_with_parent = ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0) == 0 and os.getppid() == parent
        if dies_with_parent:
            reply_to(line, replies)
        os._exit(0 if dies_with_parent else 1)  # the graph of a large run takes seconds to take down
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        os.kill(os.getpid(), -code)
    if code:
        os._exit(code)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us ends us
    # SimGrid prints to standard output and error; on standard output only the answers may stand.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        in_a_copy(line, replies)


if __name__ == "__main__":
    main()
