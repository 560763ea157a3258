"""Carrying a campaign out: what is not there yet, in its order, each run on the disk before the next one begins."""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from ..energy import unavailable
from .levers import Levers, Outcome
from .plan import Plan, Run, levers_of
from .runs import RealRuns, check_described, is_real, simulated
from .state import Watch, description_of, software
from .store import Record, Store

#: Called with where the campaign stands and the runs just made.
Progress = Callable[[str, int], None]

#: Simulations that are under way together: what a death costs at most.
TOGETHER = 16


class Ended(BaseException):
    """SIGTERM or SIGHUP: the way out that Ctrl-C takes, with another exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as an exception would, so that levers are put back and processes ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise Ended(number)

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass
class _Taken:
    """By the runs of a configuration."""

    seconds: float = 0.0
    runs: int = 0
    left: int = 0

    def mean(self) -> float:
        return self.seconds / self.runs if self.runs else 0.0


class Clock:
    """How long the rest takes, by what each configuration has taken, and those that have not run yet by the mean of the others;
    whatever is done to the date, this clock only goes on. A run costs the same however many there are."""

    def __init__(self, left: Sequence[Run]) -> None:
        self._of: dict[int, _Taken] = defaultdict(_Taken)
        for run in left:
            self._of[run.number].left += 1
        self._fresh = len(left)  # runs left of configurations that have not run
        self._means, self._known, self._rest = 0.0, 0, 0.0  # sum and number of means; mean times runs left
        self._last = time.monotonic()

    def done(self, run: Run) -> None:
        now = time.monotonic()
        its = self._of[run.number]
        self._means -= its.mean()
        self._rest -= its.mean() * its.left
        if its.runs == 0:
            self._known += 1
            self._fresh -= its.left
        its.seconds += now - self._last
        its.runs += 1
        its.left = max(0, its.left - 1)
        self._means += its.mean()
        self._rest += its.mean() * its.left
        self._last = now

    def seconds_left(self) -> float | None:
        return max(0.0, self._rest + self._fresh * self._means / self._known) if self._known else None


def duration(seconds: float) -> str:
    """ "45 s", "12 min", "3 h 20 min", "5 d 2 h"."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


class Campaign:
    def __init__(
        self, plan: Plan, store: Store, levers: Levers, note: Callable[[str], None], progress: Progress = lambda text, done: None
    ) -> None:
        self._plan, self._store, self._levers, self._note, self._progress = plan, store, levers, note, progress
        self._left = [run for run in plan.runs() if run.index not in store.records]
        self._clock = Clock(self._left)
        self._said: set[str] = set()

    def run(self) -> int:
        """Makes what is left; how many runs that were."""
        self._say_what_changed()
        with RealRuns(self._plan) as real:
            real.check(run.configuration for run in self._left if is_real(run))
            check_described(self._plan, (run.configuration for run in self._left if not is_real(run)))
            for here, runs in groupby(self._left, is_real):
                if here:
                    for run in runs:
                        self._keep(run, *self._measured(real, run))
                else:
                    self._simulate(list(runs))
        return len(self._left)

    def _measured(self, real: RealRuns, run: Run) -> tuple[Record, dict[str, Any]]:
        outcomes = self._levers.set(levers_of(run.configuration))
        self._say(outcomes)
        watch = Watch()
        row = real.make(run)
        return row, {"levers": {lever: one.record() for lever, one in outcomes.items()}, "state": watch.state()}

    def _simulate(self, runs: list[Run]) -> None:
        for first in range(0, len(runs), TOGETHER):
            chosen = runs[first : first + TOGETHER]
            described = {name: description_of(name) for name in {run.configuration["machine"] for run in chosen}}
            for run, row in zip(chosen, simulated(self._plan, chosen), strict=True):
                beside = {"levers": _described_levers(run), "state": None, "description": described[run.configuration["machine"]]}
                self._keep(run, row, beside)

    def _keep(self, run: Run, row: Record, beside: Mapping[str, Any]) -> None:
        self._store.append(record_of(self._plan, run, row, beside))
        self._clock.done(run)
        self._progress(self._where(), 1)

    def _where(self) -> str:
        left = self._clock.seconds_left()
        total = self._plan.repetitions * len(self._plan.configurations)
        done = len(self._store.records)
        rest = f", about {duration(left)} left" if left is not None and done < total else ""
        return f"{self._plan.name}: {done} of {total} runs{rest}"

    def _say(self, outcomes: Mapping[str, Outcome]) -> None:
        """Once of each lever, not of each run."""
        for lever, outcome in outcomes.items():
            if not outcome.set and lever not in self._said:
                self._said.add(lever)
                was = "cannot be read" if outcome.was is None else f"is {outcome.was}"
                self._note(f"{lever} cannot be set ({outcome.why}) and {was}; that is in the records")

    def _say_what_changed(self) -> None:
        commits = {_commit_of(record) for record in self._store.records.values()} - {software()["commit"]}
        if commits and self._left:
            self._note(f"earlier runs are of commit {', '.join(sorted(map(str, commits)))}, the next ones of "
                       f"{software()['commit']}; a report keeps them apart")  # fmt: skip


def _commit_of(record: Record) -> Any:
    """None where a record says nothing of it, as one that somebody changed may."""
    told = record.get("software")
    return told.get("commit") if isinstance(told, dict) else None


def _described_levers(run: Run) -> dict[str, Any]:
    """States that the machine describes: levers that mean nothing to it are refused before anything runs."""
    return {lever: Outcome(asked, True).record() for lever, asked in levers_of(run.configuration).items()}


def _energy(row: Record) -> dict[str, Any] | None:
    """By domain, each with how it came about: of a described machine those of real meters, as far as it says what they draw, each
    with the domains that count it as well."""
    if not row.get("simulated"):
        return row.get("energy")
    if row.get("energy_j") is None:
        return unavailable(f"{row['machine']} does not describe what it draws")
    cores, package, memory = row["cores_j"], row["package_j"], row["memory_j"]
    described = {
        "core": (cores, cores > 0, ["package", "machine"]),
        "package": (package, package > cores, ["machine"]),
        "dram": (memory, memory > 0, ["machine"]),
        "machine": (row["energy_j"], True, []),
    }
    return {domain: {"joules": joules, "how": "simulated", "inside": inside}
            for domain, (joules, known, inside) in described.items() if known}  # fmt: skip


def record_of(plan: Plan, run: Run, row: Record, beside: Mapping[str, Any]) -> Record:
    """The line of a run: where it stands in the campaign, what it was, what came out, how the machine was meanwhile."""
    asked = run.configuration
    failed = "error" in row
    seconds = None if failed else row["seconds_median"]
    heads = {
        key: asked[key] for key in ("routine", "n", "nb", "precision", "variant", "engine", "scheduler", "kernels", "threads")
    }
    return {
        "campaign": plan.name,
        "index": run.index,
        "block": run.block,
        "configuration_number": run.number,
        **(heads | {"workers": asked["workers"], "machine": asked["machine"]} if failed else row),
        "seconds": seconds,
        "gflops": None if failed else row["gflops_median"],
        "energy": _energy(row),
        "error": row["error"] if failed else None,
        "message": row["message"] if failed else None,
        "configuration": asked,
        "matrix_seed": plan.matrix_seed(run.block),
        **beside,
        "software": row.get("software") or software(),
        "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
