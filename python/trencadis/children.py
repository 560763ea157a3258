"""Child processes that never outlive us.

A child is pinned to given cores, and the kernel kills it when we die, however that happens. It has a process group of its
own, which keeps a terminal's Ctrl-C away from it, but stays in our session: a new session would give it a scheduling
group of its own (autogroup), and cores would then be shared among groups instead of threads.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

#: `python -c ... PARENT CORES COMMAND...`. prctl(1, 9) asks for SIGKILL when the parent dies, and holds across exec; the
#: parent may have died before that call, hence the second look.
_LAUNCH = """
import ctypes, os, sys
parent, cores, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
if ctypes.CDLL(None).prctl(1, 9, 0, 0, 0) or os.getppid() != parent:
    sys.exit(1)
os.sched_setaffinity(0, map(int, cores.split(",")))
os.execvp(command[0], command)
"""


def start_child(
    command: Sequence[str], cores: Iterable[int], environment: Mapping[str, str | None] | None = None
) -> subprocess.Popen[str]:
    """Starts a child with pipes on its standard input and output; a variable that is None in `environment` is not set there.
    Call it on the main thread: the kernel ties the child's
    life to the thread that started it."""
    launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), ",".join(map(str, cores)), *command]
    variables = {name: value for name, value in {**os.environ, **(environment or {})}.items() if value is not None}
    return subprocess.Popen(
        launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, text=True, process_group=0,
    )


def stop_child(child: subprocess.Popen[str]) -> None:
    """Suspends all threads of a child and returns when they stand still."""
    os.kill(child.pid, signal.SIGSTOP)
    # WNOWAIT leaves the report in place, so that Popen still sees how a child that ended did.
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def continue_child(child: subprocess.Popen[str]) -> None:
    os.kill(child.pid, signal.SIGCONT)


def end_children(children: Iterable[subprocess.Popen[str]]) -> None:
    """Kills children, running or suspended, and waits for their end."""
    children = list(children)
    for child in children:
        child.kill()
    for child in children:
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # a request that the child did not live to read
                    pipe.close()


def ending(child: subprocess.Popen[str]) -> str:
    """How a child that closed its output ended, in words."""
    code = child.wait()
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
