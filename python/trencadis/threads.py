"""How many threads the calls outside of a session use, and what this library is made of."""

from __future__ import annotations

import sys
from typing import Any, Literal

from . import _core
from .checks import unknown, whole_number
from .session import current


def set_num_threads(n: int) -> None:
    """Calls outside of a session of your own have so many workers from now on, one for each allowed core at most.

    What is running goes on as it is. `threadpoolctl.threadpool_limits` does the same for a time.

    Raises
    ------
    ValueError
        n is below 1.
    """
    _core.set_num_threads(min(whole_number("n", n, 1), 2**31 - 1))


def get_num_threads() -> int:
    """The workers of the session that a call here would use; starts none."""
    session = current.get()
    return _core.get_num_threads() if session is None else session.workers


def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, Any] | None:
    """Print what computes here: versions, the machine, workers, scheduler and kernels of the session that a call would use.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}
        Print it, or return it as a dict, as numpy.show_config does.
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(unknown("mode", mode, ("stdout", "dicts")))
    session = current.get() or _core.standard_session()
    options = session.options()
    kernels = [row["name"] for row in _core.list_kernels() if row["available"]]
    config = {
        "trencadis": {"version": _core.__version__, "extension": _core.__file__, "python": sys.version.split()[0]},
        "machine": {"name": session.machine_name, "cores": len(options["workers"])},
        "session": {name: options[name] for name in ("engine", "scheduler", "kernels", "threads", "workers")},
        "kernels": {"in use": session.kernels_version, "available": kernels},
    }
    if mode == "dicts":
        return config
    for title, entries in config.items():
        print(f"{title}:")
        for name, value in entries.items():
            print(f"  {name}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return None
