"""The process in which runs on this machine take place: `python -m trencadis.campaign.run_process`.

A process of its own, so that a run that brings it down brings down no campaign. A request is one JSON object a line on standard
input: the configuration, and the seed of its matrices. The answer is one on standard output: the fields of `bench`, or `error`
(its class) and `message`; and `software`, what this process has loaded.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from .. import _core
from ..bench import Request, record, repetition, runs_within
from ..cores import core_list
from ..energy import Metering
from ..errors import BackendError
from ..measure import Job, Ours, SessionChoice, describe_session
from ..options import core_counts
from ..tables import json_line
from ..turns import Run
from .state import software


def choice_of(configuration: dict[str, Any]) -> SessionChoice:
    return SessionChoice(
        engine=configuration["engine"], scheduler=configuration["scheduler"], kernels=configuration["kernels"],
        threads=configuration["threads"], workers=workers_of(configuration["workers"]),
        nb=0 if configuration["nb"] == "auto" else configuration["nb"], variant=configuration["variant"],
        relief=configuration["relief"], devices=configuration["devices"], reproducible=configuration["reproducible"],
    )  # fmt: skip


def workers_of(level: int | str) -> list[int]:
    if level == "all":
        return []
    if isinstance(level, str):
        return core_list(level, "workers")
    allowed = sorted(os.sched_getaffinity(0))
    if level > len(allowed):
        raise ValueError(f"{len(allowed)} cores are allowed here; a core has one worker")
    return allowed[:level]


def busy_of(level: str) -> dict[int, int]:
    return {} if level == "none" else core_counts(level.split(","))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """With `only_open`, whether the options can be had at all. Else two runs that do not count, the second of which says how long
    one takes, then one repetition as bench has it: short runs several times, of which the middle one counts, or their mean."""
    configuration = request["configuration"]
    choice = choice_of(configuration)
    session = choice.open(_core)
    if request["only_open"]:
        return {}
    job = Job(configuration["routine"], configuration["n"], configuration["precision"], seed=request["seed"])
    ours = Ours(_core, session, job, choice.nb, choice.variant)
    neighbours = busy_of(configuration["busy"])
    inner = runs_within(ours.run().seconds, bool(neighbours))
    with Metering(True) as metering:
        runs = [ours.run() for _ in range(inner)]
    residual = ours.residual() if request["check"] else None
    asked = Request(job.routine, [job.n], job.precision, choice, neighbours, 1, request["check"])
    row = record(asked, job, ours.described(describe_session(_core, session)), [repetition(runs, bool(neighbours))], residual)
    return {**row, "calls": inner, **_energy_of_a_call(metering, runs)}


def _energy_of_a_call(metering: Metering, runs: list[Run]) -> dict[str, Any]:
    """The mean over all of the repetition's calls, from the begin of the first to the end of the last: one may be shorter than
    the time between two readings. What restores the operands in between is in it."""
    domains = metering.domains([(runs[0].begin, runs[-1].begin + runs[-1].seconds)], [len(runs)])
    return {"energy": domains, "energy_cost": metering.cost()}


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us ends us
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # runtimes print what they like; on standard output only answers may stand
    loaded = software()  # now: a build may put other files there while we run
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except (ValueError, BackendError, MemoryError, OSError, RuntimeError) as error:
            reply = {"error": type(error).__name__, "message": " ".join(str(error).split())}
        replies.write(json_line({**reply, "software": loaded}) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
