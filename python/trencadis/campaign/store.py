"""A campaign's folder: `campaign.json`, what it is, and `runs.jsonl`, one line per run, each on the disk before the next begins.

A line counts once its line feed is there. What a death in the middle of a line has left is dropped when the campaign goes on; a
line that could not be written whole (a full disk) is taken back at once, so nothing that was written is lost.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import UsageError
from ..files import write_text
from ..tables import json_line
from .factors import FACTORS
from .plan import Plan

RUNS = "runs.jsonl"
ABOUT = "campaign.json"

Record = dict[str, Any]


class Store:
    """`with Store(folder, plan, note) as store:` takes the folder for this process alone. `note` is told what was dropped."""

    def __init__(self, folder: Path, plan: Plan, note: Callable[[str], None] = lambda message: None) -> None:
        self.folder, self._plan, self._note = folder, plan, note
        self._lock = self._file = -1
        self.records: dict[int, Record] = {}

    def __enter__(self) -> Store:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take()
            self._agree()
            self._open()
        except OSError as error:
            self._close()
            raise UsageError(f"{error.filename or self.folder}: cannot be written: {error.strerror or error}") from None
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Returns when the record is on the disk; UsageError, with nothing half-written, when it cannot be."""
        line = (json_line(record) + "\n").encode()
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            done = 0
            while done < len(line):
                done += os.write(self._file, line[done:])
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, end)
                os.fsync(self._file)
            raise UsageError(
                f"{self.folder / RUNS}: cannot be written: {error.strerror or error}; the {len(self.records)} runs in it are "
                "safe, the same command goes on with the rest"
            ) from None
        self.records[record["index"]] = dict(record)

    def _take(self) -> None:
        self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{self.folder}: another process runs a campaign there now") from None

    def _agree(self) -> None:
        """The folder is this campaign's: UsageError where it is another one's."""
        path, ours = self.folder / ABOUT, json.loads(json.dumps(self._plan.identity()))
        runs = self.folder / RUNS
        started = runs.exists() and runs.stat().st_size > 0
        if path.exists() and started:
            theirs = read_about(self.folder)
            for key in ours:
                if theirs.get(key) != ours[key]:
                    raise UsageError(f"{self.folder}: holds runs of a campaign with another `{key}`; give another folder by -o")
            was, now = (", ".join(about["factors"]) for about in (theirs, ours))
            if was != now:  # tables are equal in any order, and the order numbers the configurations
                raise UsageError(f"{self.folder}: its factors were in the order {was}, which numbers its runs, and are now in "
                                 f"the order {now}; write them as they were")  # fmt: skip
            if theirs.get("repetitions") == self._plan.repetitions:
                return
        elif started:
            raise UsageError(f"{self.folder}: has {RUNS} without the {ABOUT} that says what it is; give another folder by -o")
        write_text(
            path, json.dumps({**ours, "repetitions": self._plan.repetitions, "summary": self._plan.summary}, indent=1) + "\n"
        )
        _sync(self.folder)

    def _open(self) -> None:
        path = self.folder / RUNS
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        _sync(self.folder)
        records, good = read_runs(path)
        torn = os.lseek(self._file, 0, os.SEEK_END) - good
        if torn:
            self._note(f"{path}: the last {torn} bytes are of a run that did not come to its end; dropped")
            os.ftruncate(self._file, good)
            os.fsync(self._file)
        self.records = {record["index"]: record for record in records}
        self._check()

    def _check(self) -> None:
        """Each run is the one that the plan has at its place: what stands there is not run again."""
        orders: dict[int, list[int]] = {}
        count = len(self._plan.configurations)
        standard = {name: factor.standard for name, factor in FACTORS.items()}  # of factors that there were not yet
        for index, record in self.records.items():
            block, place = divmod(index, count)
            if block not in orders:
                orders[block] = self._plan.order(block, count)
            if {**standard, **record["configuration"]} != self._plan.configurations[orders[block][place]]:
                raise UsageError(f"{self.folder / RUNS}: run {index} is of another configuration than the campaign has there; "
                                 "give another folder by -o")  # fmt: skip

    def _close(self) -> None:
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1


def read_about(folder: Path) -> dict[str, Any]:
    path = folder / ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is damaged; it says what the campaign in its folder is") from None
    if not isinstance(about, dict):
        raise UsageError(f"{path}: is damaged: no object")
    return about


def read_runs(path: Path) -> tuple[list[Record], int]:
    """The records, and the bytes that they take: what stands behind them is of a line that was not finished. UsageError for a
    line that is damaged in the middle."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    records: list[Record] = []
    good = at = 0
    bad = 0
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        at += len(line) + 1
        record = _record_in(line)
        if record is None:
            bad = bad or number
        elif bad:
            raise UsageError(f"{path}: line {bad} is no record of a run, and lines behind it are; the file was changed")
        else:
            records.append(record)
            good = at
    return records, good


def _record_in(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(record, dict) and type(record.get("index")) is int and record["index"] >= 0
    return record if whole and isinstance(record.get("configuration"), dict) else None


def _sync(folder: Path) -> None:
    """What the folder lists, on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
