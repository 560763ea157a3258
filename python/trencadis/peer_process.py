"""The process of one contestant of `compare`: `python -m trencadis.peer_process SPECIFICATION`.

We and the linear algebra peers run in processes of this same shape, so that neither side has an advantage from what else
its process holds. The specification is a JSON object; see `Specification`. On standard output goes one JSON object per line:
first what was prepared (`version`, `threads`, for us also the session's names), then one answer per line read from standard
input: `run` is answered with the seconds of one run, `check` with the residual of the last one. End of input ends the
process. An error is answered by `error` (its class) and `message`, and ends it, too.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from .errors import BackendError
from .measure import Contestant, Job, Ours, SessionChoice, Vendor, describe_session
from .peers import LINEAR_ALGEBRA_PEERS

#: The name of our own side where a peer's name would stand.
OURS = "trencadis"


@dataclass(frozen=True)
class Specification:
    """What to prepare. A peer gets `threads` threads."""

    contestant: str
    job: Job
    threads: int
    session: SessionChoice = field(default_factory=SessionChoice)

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
    job = specification.job
    if specification.contestant == OURS:
        from . import _core

        session = specification.session.open(_core)
        contestant = Ours(_core, session, job, specification.session.nb, specification.session.variant)
        return contestant, describe_session(_core, session)
    peer = LINEAR_ALGEBRA_PEERS[specification.contestant]
    library = peer.load()
    _restart_on_faster_path(peer.faster_path(library), replies)
    says = peer.threads(library, specification.threads)
    if says != specification.threads:
        raise RuntimeError(f"{peer.name} was asked for {specification.threads} threads and uses {says}")
    return Vendor(library, job), {"version": peer.version(library), "threads": says}


def _restart_on_faster_path(variables: dict[str, str], replies: IO[str]) -> None:
    """Libraries read these variables once, when they are opened: start over with them set. At most once: a variable that is
    set already, by the user or by us, stands."""
    if variables and not any(name in os.environ for name in variables):
        os.environ.update(variables)
        os.dup2(replies.fileno(), 1)
        os.execv(sys.executable, [sys.executable, "-m", "trencadis.peer_process", *sys.argv[1:]])


def serve(contestant: Contestant, replies: IO[str], requests: IO[str]) -> None:
    for request in requests:
        match request.strip():
            case "run":
                reply(replies, asdict(contestant.run()))
            case "check":
                reply(replies, {"residual": contestant.residual()})
            case other:
                raise ValueError(f"'{other}' is not a request; requests: run, check")


def reply(replies: IO[str], answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


def main() -> None:
    specification = Specification.from_json(sys.argv[1])
    # Libraries may print to standard output; what they print must not mix with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        contestant, description = prepare(specification, replies)
        reply(replies, description)
        serve(contestant, replies, sys.stdin)
    except (ValueError, BackendError, MemoryError, OSError, AttributeError, RuntimeError) as error:
        reply(replies, {"error": type(error).__name__, "message": str(error)})
        sys.exit(1)


if __name__ == "__main__":
    main()
