"""The process of one simulated configuration: `python -m trencadis.simulation_process`.

SimGrid has one simulation in a process, so each configuration has a process of its own. The request is one JSON object on
standard input (see simulations.Simulation), the answer one on standard output: the record, or `error` (its class) and
`message`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

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


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us ends us
    # SimGrid prints to standard output and error; on standard output only the answer may stand.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        reply = answer(json.load(sys.stdin))
    except (ValueError, BackendError, MemoryError, OSError, RuntimeError) as error:
        reply = {"error": type(error).__name__, "message": str(error)}
    replies.write(json_line(reply) + "\n")
    replies.flush()
    os._exit(0)  # the graph of a large run takes seconds to take down


if __name__ == "__main__":
    main()
