"""Levers: what belongs to the whole machine (turbo, idle states, the clock's governor), set for a run and put back in every case.

Before the first change the old values go into a journal on the disk, which goes away when they are back. A campaign that was
killed leaves its journal, and the next one of this user puts the values back before it does anything else.

What could not be set is said, with the reason and with the value that it had: `Outcome`.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from .. import patience
from ..errors import UsageError
from ..files import write_text
from ..system_files import read_word, system_root
from .factors import LEVERS

#: Nothing may come between while values are put back.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

NOT_ALLOWED = "not allowed; --set-levers allows it"


@dataclass(frozen=True)
class Outcome:
    asked: Any
    set: bool  #: whether the machine has it now
    why: str = ""  #: where it has not
    was: Any = None  #: before the campaign; None: cannot be read

    def record(self) -> dict[str, Any]:
        return {"asked": self.asked, "set": self.set, "was": self.was, **({"why": self.why} if self.why else {})}


def files_of(lever: str, level: Any, root: Path) -> dict[Path, str]:
    """What to write where; nothing: the machine has no such lever."""
    cpus = root / "sys/devices/system/cpu"
    if lever == "turbo":
        inverted, plain = cpus / "intel_pstate/no_turbo", cpus / "cpufreq/boost"
        if inverted.exists():
            return {inverted: "0" if level else "1"}
        return {plain: "1" if level else "0"} if plain.exists() else {}
    if lever == "governor":
        return dict.fromkeys(sorted(cpus.glob("cpu[0-9]*/cpufreq/scaling_governor")), level)
    # State 0 is no state to sleep in: it polls.
    states = sorted(cpus.glob("cpu[0-9]*/cpuidle/state[1-9]*/disable"))
    return dict.fromkeys(states, "0" if level == "all" else "1")


#: Those of Linux.
GOVERNORS = ("conservative", "ondemand", "performance", "powersave", "schedutil", "userspace")


@cache
def governors(root: Path) -> tuple[str, ...]:
    """Those that some core can have; where the machine does not say, all that there are."""
    files = sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_available_governors"))
    return tuple(dict.fromkeys(name for file in files for name in (read_word(file) or "").split())) or GOVERNORS


def level_now(lever: str, root: Path) -> Any:
    """None where the machine does not say."""
    if lever == "turbo":
        wanted = files_of(lever, True, root)
        words = [(read_word(path), word) for path, word in wanted.items()]
        return None if not words or words[0][0] is None else words[0][0] == words[0][1]
    words = {read_word(path) for path in files_of(lever, "all", root)}
    if not words or None in words:
        return None
    if lever == "governor":
        return words.pop() if len(words) == 1 else "mixed"
    return {frozenset("0"): "all", frozenset("1"): "none"}.get(frozenset(words), "mixed")


def journal_path() -> Path:
    """Of this user on this machine; campaigns in any folder share it."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "trencadis" / f"{os.uname().nodename}.levers"


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that end a campaign come after the block. Their handlers note them meanwhile: a mask would not do, since the system
    gives them to any thread of the process, and Python runs the handler in this one all the same."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = {number: signal.signal(number, lambda which, frame: noted.append(which))
              for number in _SIGNALS if callable(signal.getsignal(number))}  # fmt: skip
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if noted:
            signal.raise_signal(noted[0])


class _OneEnding:
    """The first signal ends the block as it would have; what comes behind it does not break off what that does on its way out."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came = False

    def begin(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[number] = handler
                signal.signal(number, self._once)

    def end(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _once(self, number: int, frame: FrameType | None) -> None:
        if not self._came:
            self._came = True
            self._before[number](number, frame)


class Levers:
    """`with Levers(allowed, note) as levers:` puts back what a killed campaign has left, and at its end what this one has set.

    UsageError where another campaign that still runs holds the levers, or where old values cannot be put back. While it holds
    them, signals do not end the process before they are back.
    """

    def __init__(self, allowed: bool, note: Callable[[str], None] = lambda message: None) -> None:
        self._allowed, self._note, self._root = allowed, note, system_root()
        self._journal = journal_path()
        self._old: dict[str, str] = {}  # by path
        self._lock = -1
        self._ending: _OneEnding | None = None

    def __enter__(self) -> Levers:
        if self._allowed or self._journal.exists():
            patience.hold()
            self._ending = _OneEnding()
            try:
                self._ending.begin()
                self._take()
            except BaseException:
                self._let_go()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with undisturbed():
                self._end()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._ending is not None:
            self._ending.end()
            self._ending = None
            patience.let_go()

    def _end(self) -> None:
        left = self._put_back(self._old)
        if self._old and not left:
            self._journal.unlink(missing_ok=True)
        if self._lock >= 0:
            os.close(self._lock)
        if left:
            self._note(f"could not be put back: {', '.join(f'{path} (was {word})' for path, word in left.items())}; "
                       "the next campaign tries again")  # fmt: skip

    def set(self, wanted: Mapping[str, Any]) -> dict[str, Outcome]:
        """Levers that are not wanted go back to where they were."""
        others = {path: word for lever in LEVERS if lever not in wanted for path, word in self._old_of(lever).items()}
        self._put_back(others)
        return {lever: self._set_one(lever, level) for lever, level in wanted.items()}

    def _old_of(self, lever: str) -> dict[str, str]:
        paths = {str(path) for path in files_of(lever, "all", self._root)}
        return {path: word for path, word in self._old.items() if path in paths}

    def _set_one(self, lever: str, level: Any) -> Outcome:
        was = level_now(lever, self._root)
        wanted = files_of(lever, level, self._root)
        if not wanted:
            return Outcome(level, False, "this machine has no such lever", was)
        if was == level:
            return Outcome(level, True, was=was)
        if not self._allowed:
            return Outcome(level, False, NOT_ALLOWED, was)
        try:
            self._remember(wanted)
            for path, word in wanted.items():
                _write_word(path, word)
        except OSError as error:
            self._put_back(self._old_of(lever))
            return Outcome(level, False, f"{error.filename}: {error.strerror}", was)
        now = level_now(lever, self._root)
        return Outcome(level, True, was=was) if now == level else Outcome(level, False, f"reads back as {now}", was)

    def _remember(self, wanted: Mapping[Path, str]) -> None:
        """Old values, on the disk before any of them changes."""
        fresh = {str(path): read_word(path) for path in wanted if str(path) not in self._old}
        known = {path: word for path, word in fresh.items() if word is not None}
        if known:
            self._old.update(known)
            write_text(self._journal, json.dumps({"boot": _boot(self._root), "old": self._old}) + "\n")

    def _put_back(self, old: Mapping[str, str]) -> dict[str, str]:
        """What could not be."""
        left = {}
        for path, word in old.items():
            try:
                if read_word(Path(path)) != word:
                    _write_word(Path(path), word)
            except OSError:
                left[path] = word
        return left

    def _take(self) -> None:
        try:
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._journal.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise UsageError("another campaign that runs now holds this machine's levers") from None
        except OSError as error:
            raise UsageError(
                f"{error.filename}: cannot be written: {error.strerror}; the old values of levers go there"
            ) from None
        self._clear_up()

    def _clear_up(self) -> None:
        """Puts back what a killed campaign has left. What a start of the machine has undone is nobody's concern any more."""
        try:
            journal = json.loads(self._journal.read_text())
            old = {str(path): str(word) for path, word in journal["old"].items()}
            boot = journal["boot"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._note(f"{self._journal}: is damaged; levers that a killed campaign may have left stay as they are")
            with suppress(OSError):
                self._journal.unlink()
            return
        outside = [path for path in old if not Path(path).is_relative_to(self._root / "sys")]
        if outside:
            self._note(f"{self._journal}: names {outside[0]}, which is no lever; nothing of it is put back")
        elif boot == _boot(self._root):
            if left := self._put_back(old):
                os.close(self._lock)
                raise UsageError(
                    f"{next(iter(left))}: a killed campaign has left it, and it cannot be put back to {next(iter(left.values()))}"
                )
            self._note("put back the levers that a killed campaign had left")
        self._journal.unlink(missing_ok=True)


def _boot(root: Path) -> str:
    return read_word(root / "proc/sys/kernel/random/boot_id") or ""


def _write_word(path: Path, word: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(descriptor, word.encode())
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(descriptor)
