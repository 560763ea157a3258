"""`trencadis compare`: our library and its peers, each in a process of its own, run in turn: A B A B.

A contestant that is not on turn is suspended, threads and all, so that no spinning worker or OpenMP thread of one takes time
from the other. A ratio is formed pair by pair, the peer's seconds over ours within one pair: above 1 we are faster. All
contestants may run on the cores of our workers and no others, with one thread per worker.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from .bench import Progress, Request, middle, record, runs_within
from .busy import BusyNeighbours
from .children import continue_child, end_children, ending, start_child, stop_child
from .errors import BackendError, LinAlgError, UsageError
from .measure import Job, Run
from .peer_process import OURS, Specification
from .peers import Peer, TaskPeer

_ERRORS = {error.__name__: error for error in (UsageError, ValueError, LinAlgError, BackendError, MemoryError)}


class ContestantProcess:
    """A contestant's process, suspended except within `run` and `residual`. Its errors are raised here as their own kind."""

    def __init__(self, name: str, command: Sequence[str], cores: Sequence[int], environment: dict[str, str]) -> None:
        self.name = name
        self._child = start_child(command, cores, environment)
        try:
            self.description: dict[str, Any] = self._answer()
            stop_child(self._child)
        except BaseException:
            end_children([self._child])
            raise

    def __enter__(self) -> ContestantProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_children([self._child])

    @property
    def pid(self) -> int:
        return self._child.pid

    def run(self, times: int = 1) -> Run:
        """The median of so many runs."""
        continue_child(self._child)
        runs = [self._run() for _ in range(times)]
        stop_child(self._child)
        return middle(runs)

    def residual(self) -> float | None:
        continue_child(self._child)
        answer = self._ask("check")
        stop_child(self._child)
        return answer["residual"]

    def _run(self) -> Run:
        answer = self._ask("run")
        return Run(**answer) if isinstance(answer, dict) else Run(float(answer))  # task peers answer with the seconds

    def _ask(self, request: str) -> Any:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(request + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"{self.name} {ending(self._child)}") from None
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} {ending(self._child)}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise RuntimeError(f"{self.name} answered '{line.strip()}', which is not JSON") from None
        if isinstance(answer, dict) and "error" in answer:
            raise _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
        return answer


def compare(request: Request, peers: Sequence[Peer], progress: Progress) -> Iterator[dict[str, Any]]:
    """One record per size and peer: ours as in bench, and the peer's beside it. Steps: request.repeat + 1 per record."""
    with BusyNeighbours(request.busy):
        for job in request.jobs():
            progress(f"{job}: preparing ours", 0)
            with start_ours(request, job) as ours:
                for peer in peers:
                    progress(f"{job}: preparing {peer.name}", 0)
                    with start_peer(peer, job, ours.description["workers"]) as theirs:
                        yield _duel(request, job, ours, theirs, progress)


def start_ours(request: Request, job: Job) -> ContestantProcess:
    """Bounded to the workers' cores as a peer is, where they were named; else the session takes one thread of each core."""
    cores = request.session.workers or sorted(os.sched_getaffinity(0))
    return ContestantProcess(OURS, _python(Specification(OURS, job, len(cores), request.session)), cores, {})


def start_peer(peer: Peer, job: Job, cores: Sequence[int]) -> ContestantProcess:
    threads = len(cores)
    if isinstance(peer, TaskPeer):
        command = [peer.program() or "", str(job.n), str(threads)]
    else:
        command = _python(Specification(peer.name, job, threads))
    return ContestantProcess(peer.name, command, cores, peer.settings(threads))


def _python(specification: Specification) -> list[str]:
    return [sys.executable, "-m", "trencadis.peer_process", specification.to_json()]


def _duel(
    request: Request, job: Job, ours: ContestantProcess, theirs: ContestantProcess, progress: Progress
) -> dict[str, Any]:
    inner = runs_within(min(ours.run().seconds, theirs.run().seconds))
    our_runs, their_runs = [], []
    for pair in range(request.repeat):
        progress(f"{job} against {theirs.name}: {pair + 1}/{request.repeat}", 1)
        our_runs.append(ours.run(inner))
        their_runs.append(theirs.run(inner))
    residual = ours.residual() if request.check else None
    progress(f"{job} against {theirs.name}: done", 1)
    row = record(request, job, ours.description, our_runs, residual)
    ratios = [b.seconds / a.seconds for a, b in zip(our_runs, their_runs, strict=True)]
    median = statistics.median(run.seconds for run in their_runs)
    flops, tasks = job.flops(), job.tasks()
    row |= {
        "peer": theirs.name,
        "peer_version": theirs.description["version"],
        "peer_threads": theirs.description.get("threads", len(row["workers"])),
        "peer_seconds_median": median,
        "peer_gflops_median": None if flops is None else flops / median / 1e9,
        "ratio_median": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
    }
    if tasks is not None:
        row["peer_ns_per_task"] = median / tasks * 1e9
    return row
