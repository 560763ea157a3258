"""Which session the calls of this package use, and recording what it does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Lock, get_ident
from time import perf_counter
from typing import Any, SupportsIndex
from warnings import warn

from . import _core
from .checks import as_text, shown, whole_number, word
from .cores import core_list
from .errors import UsageError

_MOST = 2**31 - 1  #: cores and windows beyond do not exist; the library counts cores in 32 bits


class _Block:
    """An open `with` block: whose it is, and what was there before."""

    __slots__ = ("before", "metered", "owner", "session")

    def __init__(self, session: _core.Session, before: _Block | None, metered: _Metered | None) -> None:
        self.session, self.before, self.owner, self.metered = session, before, _here(), metered


def _here() -> tuple[int, object]:
    """The thread, and the task where asyncio runs one."""
    asyncio = sys.modules.get("asyncio")  # nobody has tasks unless it is loaded
    if asyncio is None:
        return get_ident(), None
    try:
        return get_ident(), asyncio.current_task()
    except RuntimeError:
        return get_ident(), None


# None: no block is open. What a task or asyncio.to_thread starts with is a copy of its maker's context, in which this stays as it
# was, so that a block also knows whose it is.
_innermost: ContextVar[_Block | None] = ContextVar("trencadis_session", default=None)


class _Current:
    """The session of the innermost block that this thread or task has open; None is the standard session."""

    @staticmethod
    def get() -> _core.Session | None:
        block = _innermost.get()
        return None if block is None or block.owner != _here() else block.session


current = _Current()


class session:
    """Use a session of your own for the calls in a `with` block, of this thread or asyncio task.

    Others are not affected, nor what the block starts meanwhile: new tasks and `asyncio.to_thread` open a block of their own,
    with the same object where they are to share its workers.

    >>> with trencadis.session(scheduler="ws", workers=[0, 1]) as s:
    ...     x = trencadis.solve(a, b, assume_a="pos")
    ...     print(s.options(), s.statistics())

    Parameters
    ----------
    engine : str
        What carries tasks out; `trencadis list engines`. Default: TRENCADIS_ENGINE, then "native".
    scheduler : str
        Who runs what next, with options as in "cats:stealing=none"; `trencadis list schedulers`. Default: TRENCADIS_SCHEDULER,
        then "mosaic".
    kernels : str
        Who computes the tiles, and single routines of them, as in "native,potrf=mkl"; `trencadis list kernels`. Default:
        TRENCADIS_KERNELS, then "native".
    threads : str
        What workers run on; `trencadis list threads`. Default: TRENCADIS_THREADS_BACKEND, then "native".
    workers : int, list of int, or str
        The first so many of the allowed cores; or OS core numbers, one worker each; or a list as on the command line ("0,4-7", or
        the name of a core kind, of `machine` where one is laid over). Default: TRENCADIS_NUM_THREADS, then every allowed core.
    window : int
        Tasks in flight per flow.
    slow : dict of int to float
        Emulation: core -> fraction of its speed, in (0, 1].
    machine : str
        Emulation: name or file of a described machine that is laid over this one. Its cores share the real ones; `workers`
        are then cores of it. Default: TRENCADIS_MACHINE.
    pages : str
        With `machine`: where operands count as lying, "first-touch" or "interleave". Default: TRENCADIS_PAGES.
    relief : str
        When a worker with a task goes on with it on the core of another one that has nothing to do: "held-up" (the system has
        taken its own core away), "always" (for tests) or "never". Default: TRENCADIS_RELIEF, then "held-up"; with `machine`, and
        for calls outside of a session of your own, "never".
    communicator : mpi4py.MPI.Comm
        With engine="starpu-mpi": the processes that work together (`trencadis.distributed`), which all make the session and let
        go of it. It is duplicated. Default: all of the MPI program's.
    reproducible : bool
        How calls are cut up follows from their sizes alone: the same bits from any number of workers, by any policy and engine.
        Default: TRENCADIS_REPRODUCIBLE, then False. Not with `devices`.
    objective : str
        What the choice of forms and tile sizes is to make small where `trencadis tune` has measured this host: "time", "energy",
        "energy-delay", or "rule", with which nothing is chosen. Default: TRENCADIS_OBJECTIVE, then "time". "energy" and
        "energy-delay" are refused where nothing is chosen: with `reproducible`, `devices`, `machine`, `slow`, and any engine,
        scheduler or kernels but the standard ones.
    energy : bool
        Read the machine's meters of energy while the block runs; `energy()` of this object says what they told.
    devices : str
        Those that take part beside the cores, as in "emulated:2,memory=64MiB,bandwidth=4GB/s"; `trencadis list devices`. Default:
        TRENCADIS_DEVICES, then none; "none": not even those. The session's `device_traffic()` says what went to each and came
        back, and how much of that while it computed.

    Raises
    ------
    ValueError
        Unknown name (the message suggests the nearest), or more workers than cores.
    BackendError
        A named back end that is not on this machine.

    Notes
    -----
    The session's threads end when the block and the last reference to it have ended. One object can be entered
    several times, by several threads.
    """

    def __init__(
        self,
        *,
        engine: str = "",
        scheduler: str = "",
        kernels: str = "",
        threads: str = "",
        workers: int | Iterable[int] | str | None = None,
        window: int = 0,
        slow: Mapping[int, float] | None = None,
        machine: str = "",
        pages: str = "",
        relief: str = "",
        communicator: Any = None,
        devices: str = "",
        reproducible: bool = False,
        objective: str = "",
        energy: bool = False,
    ) -> None:
        words = ("engine", engine), ("scheduler", scheduler), ("kernels", kernels), ("threads", threads)
        others = ("machine", machine), ("pages", pages), ("relief", relief), ("devices", devices), ("objective", objective)

        def given() -> tuple[Any, ...]:
            for name, text in (*words, *others):
                _require_word(name, text)
            return (
                engine, scheduler, kernels, threads, *_workers(workers, machine), _number("window", window), _slowed(slow),
                machine, pages, relief, _address_of(communicator), devices, _truth("reproducible", reproducible), objective,
            )  # fmt: skip

        self._session = _core.Session(*_or_refuse(engine, communicator, given))

        self._energy = _Energy() if energy else None

    def __enter__(self) -> _core.Session:
        metered = None if self._energy is None else self._energy.begin()
        _innermost.set(_Block(self._session, _innermost.get(), metered))
        return self._session

    def __exit__(self, *_: object) -> None:
        block = _innermost.get()
        assert block is not None
        _innermost.set(block.before)
        metered = block.metered
        block.owner = block.before = block.metered = None  # copies of the context keep the block, and nothing else
        if self._energy is not None and metered is not None:
            self._energy.end(metered)

    def energy(self) -> dict[str, dict[str, Any]] | None:
        """Of the block that ended last: by domain joules (None: unavailable), how, source, inside (domains that count it as
        well). None where no meter counts; RuntimeError without `energy=True`, and while the block is open."""
        if self._energy is None:
            raise RuntimeError("this session does not read meters: make it with energy=True")
        return self._energy.domains()

    def __repr__(self) -> str:
        return repr(self._session)


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {shown(value)}, must be True or False")
    return value


class _Metered:
    """The meters over one open block."""

    def __init__(self) -> None:
        from .energy import Metering

        self._metering = Metering(True)
        self._metering.__enter__()
        self._begin = perf_counter()

    def end(self) -> None:
        self._end = perf_counter()
        self._metering.__exit__()

    def domains(self) -> dict[str, dict[str, Any]] | None:
        from .energy import counting

        return self._metering.domains([(self._begin, self._end)]) if counting() else None


class _Energy:
    """Of a session's blocks, of which several may be open: in threads of their own, and within each other."""

    def __init__(self) -> None:
        from .energy import counting, nothing_counts

        if not counting():
            warn(nothing_counts(), stacklevel=3)
        self._open: set[_Metered] = set()
        self._last: _Metered | None = None

    def begin(self) -> _Metered:
        metered = _Metered()
        self._open.add(metered)
        return metered

    def end(self, metered: _Metered) -> None:
        metered.end()
        self._open.discard(metered)
        self._last = metered

    def domains(self) -> dict[str, dict[str, Any]] | None:
        if self._open or self._last is None:
            raise RuntimeError("the meters are still being read: use this after the `with` block")
        return self._last.domains()


def _require_word(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}, must be text; leave it out for the standard one")
    word(name, value)


def _or_refuse(engine: Any, communicator: Any, given: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What `given` answers. The processes that make the session together with this one hear of what it refuses, if they can."""
    try:
        return given()
    except Exception as error:
        with suppress(Exception):
            _core.refuse_session(engine if isinstance(engine, str) else "", _address_of(communicator), as_text(error))
        raise


def _address_of(communicator: Any) -> int:
    """Where mpi4py has the MPI_Comm; 0: none is given."""
    if communicator is None:
        return 0
    MPI = sys.modules.get("mpi4py.MPI")  # whoever has a communicator has loaded it
    if MPI is None or not isinstance(communicator, MPI.Comm):
        raise TypeError(f"communicator is {shown(communicator)}, must be one of mpi4py's, as MPI.COMM_WORLD")
    library = MPI.Get_library_version().split(",")[0].strip()
    if not library.startswith("Open MPI"):
        raise _core.BackendError(f"mpi4py stands on {library}, and engine 'starpu-mpi' on Open MPI; start Python with that one")
    return MPI._addressof(communicator)


def _number(name: str, value: SupportsIndex) -> int:
    number = whole_number(name, value)
    if abs(number) > _MOST:
        raise UsageError(f"{name}: {number} is out of range")
    return number


def _slowed(slow: Mapping[int, float] | None) -> dict[int, float]:
    if slow is None:
        return {}
    if not isinstance(slow, Mapping):
        raise TypeError(f"slow is {shown(slow)}, must be a dict of core to fraction, such as {{0: 0.5}}")
    try:
        return {_number("slow", core): float(fraction) for core, fraction in slow.items()}
    except UsageError:
        raise
    except (TypeError, ValueError):
        raise TypeError(f"slow is {shown(slow)}, must be a dict of core to fraction, such as {{0: 0.5}}") from None


def _workers(workers: int | Iterable[int] | str | None, machine: str) -> tuple[list[int], int]:
    """The cores by number, or how many of the allowed ones; an empty list and 0 mean all."""
    if workers is None:
        return [], 0
    if isinstance(workers, str):
        return core_list(workers, "workers", machine), 0
    if isinstance(workers, Iterable):
        cores = [_number("workers", core) for core in workers]
        if not cores:
            raise UsageError("workers: an empty list; give at least one core, or None for all")
        return cores, 0
    count = _number("workers", workers)
    if count < 1:
        raise UsageError(f"workers: {count}; give at least 1, or None for all")
    return [], count


#: Why a trace may be empty.
NOTHING_RECORDED = "no task was recorded: a call too small to be shared runs on the calling thread, without tasks"


def has_tasks(trace: _core.Trace) -> bool:
    return bool(trace.kernel_table())


class Recording:
    """What `trace()` returns; has something to show once the block has ended."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._trace: _core.Trace | None = None

    @property
    def trace(self) -> _core.Trace:
        if self._trace is None:
            raise RuntimeError("the trace is still being recorded: use it after the `with` block")
        return self._trace

    def worker_table(self) -> list[dict]:
        """Per worker: busy, shared, idle and runtime time and fractions."""
        return self.trace.worker_table()

    def kernel_table(self) -> list[dict]:
        """Per kernel: calls, total and mean time, speed."""
        return self.trace.kernel_table()

    def choices(self) -> list[dict]:
        """How calls went that named neither tile size nor form: call, plan, times (docs/choices.md)."""
        return self.trace.choices()

    def save(self, path: str | Path) -> None:
        """Writes the trace in the format of the suffix: .json (Chrome, Perfetto), .svg, .html, or .prv (Paraver, with
        its .pcf and .row beside it). Warns where nothing was recorded."""
        if not has_tasks(self.trace):
            warn(f"{NOTHING_RECORDED}: {path} shows workers that wait", stacklevel=2)
        save_trace(self.trace, path)

    def _repr_html_(self) -> str:
        return self.trace.svg("kernel")


def save_trace(trace: _core.Trace, path: str | Path) -> None:
    """Writes `trace` in the format of the path's suffix; see Recording.save."""
    from .files import write_text, write_texts

    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(path, trace.chrome_json())
    elif suffix == ".svg":
        write_text(path, trace.svg("kernel"))
    elif suffix == ".html":
        write_text(path, trace.html())
    elif suffix == ".prv":
        write_texts({path if part == ".prv" else path.with_suffix(part): text for part, text in trace.paraver().items()})
    else:
        raise UsageError(f"{path}: a trace is written as .json, .svg, .html or .prv, not '{suffix}'")


_traced: set[int] = set()  # id of each session with an open `trace` block, which keeps it alive
_traced_lock = Lock()


class trace:
    """Record what the current session does in a `with` block.

    >>> with trencadis.trace("a solve") as t:
    ...     x = trencadis.solve(a, b, assume_a="pos")
    >>> t.save("solve.svg")
    """

    def __init__(self, title: str = "") -> None:
        _require_word("title", title)
        self._recording = Recording(title)

    def __enter__(self) -> Recording:
        self._session = current.get() or _core.standard_session()
        with _traced_lock:
            if id(self._session) in _traced:
                raise RuntimeError("this session is being traced already; a session has one trace at a time")
            _traced.add(id(self._session))
        self._session.start_trace()
        return self._recording

    def __exit__(self, *_: object) -> None:
        with _traced_lock:
            _traced.discard(id(self._session))
        self._recording._trace = self._session.stop_trace(self._recording.title)
