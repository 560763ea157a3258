"""The process of one contestant of a sweep: `python -m trencadis.sweep.process NAME THREADS`.

One JSON object per line: first what the library says of itself; then an answer to each request. {"case": .., "n": .., "ld": ..}
makes operands of up to that order and leading dimension; {"n": ..., "lds": [...]} asks for a turn at each: the seconds of a call,
and whether nobody else had the processors.
"""

from __future__ import annotations

import json
import sys
from typing import IO

from ..fortran import FortranLibrary
from ..measure import SessionChoice
from ..peer_process import OURS, contend, open_ours, open_peer, reply
from .calls import Caller, Case


def serve(library: FortranLibrary, replies: IO[str], requests: IO[str]) -> None:
    caller = None
    for line in requests:
        request = json.loads(line)
        if "case" in request:
            caller = Caller(library, Case(**request["case"]), request["n"], request["ld"])
            reply(replies, {})
        elif caller is None:
            raise ValueError("turns were asked for before a case")
        else:
            reply(replies, {"turns": [caller.turn(request["n"], ld) for ld in request["lds"]]})


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])

    def work(replies: IO[str]) -> None:
        library, description = open_ours(SessionChoice()) if name == OURS else open_peer(name, threads, replies)
        reply(replies, description)
        serve(library, replies, sys.stdin)

    contend(work)


if __name__ == "__main__":
    main()
