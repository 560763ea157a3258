"""The process of one contestant of `compare`: `python -m trencadis.peer_process SPECIFICATION`.

We and the linear algebra peers run in processes of this same shape and are called by the same loop, through Fortran symbols,
so that neither side has an advantage from what else its process holds or from how it is called. The specification is a JSON
object; see `Specification`. On standard output goes one JSON object per line: first what was prepared (`version`, `threads`,
for us also the session's names), then one answer per line read from standard input: `run` is answered with the seconds of
one run, `turn SECONDS` with those of a turn that long (turns.py), `check` with the residual of one more run. End of input
ends the process. An error is answered by `error` (its class) and `message`, and ends it, too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from .errors import BackendError, LinAlgError
from .fortran import FortranLibrary
from .makers import maker_of
from .measure import Contestant, Job, Ours, SessionChoice, Vendor, describe_session
from .peers import beside_ours, peer_named

#: The name of our own side where a peer's name would stand.
OURS = "trencadis"


@dataclass(frozen=True)
class Specification:
    """What to prepare. A peer gets `threads` threads. `symbols`: we are called as programs call us, not through a session."""

    contestant: str
    job: Job
    threads: int
    session: SessionChoice = field(default_factory=SessionChoice)
    symbols: bool = True

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Specification:
        fields = json.loads(text)
        session = fields.pop("session")
        session["slow"] = {int(core): fraction for core, fraction in session["slow"].items()}
        return Specification(job=Job(**fields.pop("job")), session=SessionChoice(**session), **fields)


def prepare(specification: Specification, replies: IO[str]) -> tuple[Contestant, dict[str, Any]]:
    """The contestant, warmed up, and what it says of itself."""
    if specification.contestant != OURS:
        library, description = open_peer(specification.contestant, specification.threads, replies)
        return Vendor(library, specification.job), description
    job, choice = specification.job, specification.session
    if specification.symbols:
        library, description = open_ours(choice)
        return Vendor(library, job), description
    from . import _core

    session = choice.open(_core)
    ours = Ours(_core, session, job, choice.nb, choice.variant)
    return ours, ours.described(describe_session(_core, session))


def open_peer(name: str, threads: int, replies: IO[str]) -> tuple[FortranLibrary, dict[str, Any]]:
    """The library and what it says of itself. The process starts over where a variable gives the library a faster path."""
    library = peer_named(name).load()
    maker = maker_of(library)
    _restart_on_faster_path(maker.faster_path(library), replies)
    says = maker.threads(library, threads)
    if says != threads:
        raise RuntimeError(f"{name} was asked for {threads} threads and uses {says}")
    return library, {"version": maker.version(library), "threads": says}


def open_ours(choice: SessionChoice) -> tuple[FortranLibrary, dict[str, Any]]:
    """Our symbols, and what the standard session behind them will be, which the environment chooses."""
    from . import _core

    description = describe_session(_core, choice.open(_core))
    if description["devices"]:  # a call decides whether they take part and in which form, and none tells through symbols
        description["variants"] = None
    return FortranLibrary([drop_in()]), description


def drop_in() -> str:
    """Our library of BLAS and LAPACK symbols: beside the one that this process has loaded."""
    if found := beside_ours("libtrencadis_lapack.so"):
        return found
    raise RuntimeError("libtrencadis.so is not loaded")


def _restart_on_faster_path(variables: dict[str, str], replies: IO[str]) -> None:
    """Libraries read these variables once, when they are opened: start over with them set. At most once: a variable that is
    set already, by the user or by us, stands."""
    if variables and not any(name in os.environ for name in variables):
        os.environ.update(variables)
        os.dup2(replies.fileno(), 1)
        os.execv(sys.executable, sys.orig_argv)


def serve(contestant: Contestant, replies: IO[str], requests: IO[str]) -> None:
    for request in requests:
        match request.split():
            case ["run"]:
                reply(replies, asdict(contestant.run()))
            case ["turn", least]:
                reply(replies, asdict(contestant.turn(float(least))))
            case ["check"]:
                contestant.run()  # a turn leaves operands of many calls
                reply(replies, {"residual": contestant.residual()})
            case _:
                raise ValueError(f"'{request.strip()}' is not a request; requests: run, turn SECONDS, check")


def reply(replies: IO[str], answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


def contend(work: Callable[[IO[str]], None]) -> None:
    """Does the work of a contestant's process, which replies to the file that it is given."""
    # Libraries may print to standard output; what they print must not mix with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        work(replies)
    except (ValueError, BackendError, LinAlgError, MemoryError, OSError, AttributeError, RuntimeError) as error:
        reply(replies, {"error": type(error).__name__, "message": str(error)})
        sys.exit(1)


def main() -> None:
    specification = Specification.from_json(sys.argv[1])

    def work(replies: IO[str]) -> None:
        contestant, description = prepare(specification, replies)
        reply(replies, description)
        serve(contestant, replies, sys.stdin)

    contend(work)


if __name__ == "__main__":
    main()
