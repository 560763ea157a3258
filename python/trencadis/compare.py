"""`trencadis compare`: our library and its peers, each in a process of its own, on turn one after the other: A B A B.

A turn is many calls back to back and some lone ones (turns.py); both sides are called through their Fortran symbols, by the
same loop in C, unless an option asks for what only a session of ours has. A contestant that is not on turn is suspended,
threads and all, so that no spinning worker or OpenMP thread of one takes time from the other. A ratio is formed pair by
pair, the peer's seconds over ours within one pair: above 1 we are faster. All contestants may run on the cores of our workers
and no others, with one thread per worker.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from .bench import Progress, Request, record
from .busy import BusyNeighbours, format_cores
from .checks import one_of
from .children import continue_child, end_children, ending, start_child, stop_child
from .energy import Domains, Metering
from .errors import BackendError, LinAlgError, UsageError
from .files import warn
from .measure import Job
from .peer_process import OURS, Specification
from .peers import LinearAlgebraPeer, Peer, TaskPeer
from .turns import BUSY_TURN_S, TURN_S, Run, Turn, turn_of_runs

LONE_FIELDS = ("lone_seconds_median", "peer_lone_seconds_median", "lone_ratio_median", "lone_ratio_min", "lone_ratio_max")
_ERRORS = {error.__name__: error for error in (UsageError, ValueError, LinAlgError, BackendError, MemoryError)}


class ContestantProcess:
    """A contestant's process, suspended except while it is asked. Its errors are raised here as their own kind."""

    def __init__(self, name: str, command: Sequence[str], cores: Sequence[int], environment: Mapping[str, str | None]) -> None:
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

    def run(self) -> Run:
        continue_child(self._child)
        run = self._run()
        stop_child(self._child)
        return run

    def turn(self, requests: bool = True, least: float = TURN_S) -> Turn:
        """Without `requests` for turns, as of a task runtime, by single runs from here."""
        continue_child(self._child)
        turn = Turn(**self._ask(f"turn {least}")) if requests else turn_of_runs(self._run, least=least)
        stop_child(self._child)
        return turn

    def residual(self) -> float | None:
        return self.ask("check")["residual"]

    def ask(self, request: str) -> Any:
        """Its answer to a line; it is suspended again behind that."""
        continue_child(self._child)
        answer = self._ask(request)
        stop_child(self._child)
        return answer

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
    through_symbols(request)  # refuses before anything is started
    with BusyNeighbours(request.busy):
        for job in request.jobs():
            progress(f"{job}: preparing ours", 0)
            with start_ours(request, job) as ours:
                for peer in peers:
                    progress(f"{job}: preparing {peer.name}", 0)
                    for process in if_it_works(peer, start_peer, peer, job, ours.description["workers"]):
                        with process as theirs:
                            yield _duel(request, job, ours, theirs, progress)


def if_it_works(peer: Peer, start: Callable[..., ContestantProcess], *how: Any) -> list[ContestantProcess]:
    """The peer's process, which `start` makes of `how`; none, with a word, where an implied one does not work here."""
    try:
        return [start(*how)]
    except BackendError as error:
        if not (isinstance(peer, LinearAlgebraPeer) and peer.implied):
            raise
        warn(f"{peer.name} is left out: {error}")
        return []


def start_ours(request: Request, job: Job) -> ContestantProcess:
    """Bounded to the workers' cores as a peer is, where they were named; else the session takes one thread of each core."""
    choice, symbols = request.session, through_symbols(request)
    ours = sorted(os.sched_getaffinity(0))
    cores = choice.workers or ours
    if missing := sorted(set(cores) - set(ours)):
        raise UsageError(f"--workers: core {missing[0]} asked for, but this process may use cores {format_cores(ours)}")
    command = _python(Specification(OURS, job, len(cores), choice, symbols))
    return ContestantProcess(OURS, command, cores, choice.environment() if symbols else {})


def through_symbols(request: Request) -> bool:
    """Whether ours is called as a program calls it. `tasks` has no symbol, and some options no variable. UsageError where that
    is asked for and cannot be."""
    needs = ["tasks"] if request.routine == "tasks" else request.session.beyond_environment()
    if request.through:
        one_of("--through", request.through, ("symbols", "session"))
    if request.through == "symbols" and needs:
        raise UsageError(f"--through: {', '.join(needs)} needs a session; leave --through out or write --through session")
    return request.through != "session" and not needs


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
    take_turn = turn_taker(job, min(ours.run().seconds, theirs.run().seconds), bool(request.busy))
    our_turns, their_turns = [], []
    with Metering(request.energy) as metering:
        for pair in range(request.repeat):
            progress(f"{job} against {theirs.name}: {pair + 1}/{request.repeat}", 1)
            our_turns.append(take_turn(ours))
            their_turns.append(take_turn(theirs))
    residual = ours.residual() if request.check else None
    progress(f"{job} against {theirs.name}: done", 1)
    runs = [Run(turn.seconds, turn.idle_fraction) for turn in our_turns]
    row = record(request, job, ours.description, runs, residual)
    median = statistics.median(turn.seconds for turn in their_turns)
    flops, tasks = job.flops(), job.tasks()
    row |= {
        "through": "symbols" if through_symbols(request) else "session",
        "calls": int(statistics.median(turn.calls for turn in our_turns)),
        "peer": theirs.name,
        "peer_version": theirs.description["version"],
        "peer_threads": theirs.description.get("threads", len(row["workers"])),
        "peer_seconds_median": median,
        "peer_gflops_median": None if flops is None else flops / median / 1e9,
        **_ratios("ratio", [turn.seconds for turn in our_turns], [turn.seconds for turn in their_turns]),
        **_lone(our_turns, their_turns),
        "peer_residual": theirs.residual() if request.check else None,
    }
    if tasks is not None:
        row["peer_ns_per_task"] = median / tasks * 1e9
    if request.energy:
        row |= {"energy": _of_calls(metering, our_turns), "peer_energy": _of_calls(metering, their_turns),
                "energy_cost": metering.cost(), "temperature_c": metering.hottest_c()}  # fmt: skip
    return row


def _of_calls(metering: Metering, turns: Sequence[Turn]) -> Domains | None:
    """Joules of a call, with what restores its operands; of turns that say when they were."""
    timed = [turn for turn in turns if turn.end > turn.begin]
    return metering.domains(((turn.begin, turn.end) for turn in timed), (turn.calls for turn in timed))


def _turn_of(run: Run) -> Turn:
    return Turn(run.seconds, idle_fraction=run.idle_fraction, begin=run.begin, end=run.begin + run.seconds if run.begin else 0.0)


def turn_taker(job: Job, seconds: float, busy: bool) -> Callable[[ContestantProcess], Turn]:
    """A call that takes as long as a turn is one."""
    least = BUSY_TURN_S if busy else TURN_S
    if seconds >= least:
        return lambda contestant: _turn_of(contestant.run())
    return lambda contestant: contestant.turn(requests=job.routine != "tasks", least=least)


def _ratios(name: str, ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """Pair by pair, above 1 where we are faster."""
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {f"{name}_median": statistics.median(ratios), f"{name}_min": min(ratios), f"{name}_max": max(ratios)}


def _lone(ours: Sequence[Turn], theirs: Sequence[Turn]) -> dict[str, float | None]:
    """The figures of lone calls; null where there were none."""
    mine = [turn.lone_seconds for turn in ours if turn.lone_seconds is not None]
    other = [turn.lone_seconds for turn in theirs if turn.lone_seconds is not None]
    if not mine or not other:
        return dict.fromkeys(LONE_FIELDS)
    medians = statistics.median(mine), statistics.median(other)
    return dict(zip(LONE_FIELDS, (*medians, *_ratios("lone_ratio", mine, other).values()), strict=True))
