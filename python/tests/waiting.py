"""What tests wait for where others have the machine, too: what has happened, not a time; and what was promised within a second
is tried again, since others can only make it longer."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

#: As long as a test waits for what takes some seconds on a machine of its own, and never comes where it is broken.
LONG_S = 240
TRIES = 6


def alive(pid):
    """A zombie is not alive: its parent is merely slow to take notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, what):
    """Until `condition()` is true; returns what it is then."""
    deadline = time.monotonic() + LONG_S
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return found


def again():
    """`for _ in again():` until what others on the machine may put off has happened, once at least and not for ever."""
    deadline = time.monotonic() + LONG_S / 4
    yield
    while time.monotonic() < deadline:
        yield


def wait_until_gone(pids):
    wait_until(lambda: not any(map(alive, pids)), f"not all are gone: {pids}")


def cpu_seconds(pid):
    """0 of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_of(pid):
    children = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            children += map(int, (task / "children").read_text().split())
    return children


def all_below(pid):
    found = []
    with contextlib.suppress(OSError):  # one that has just ended
        for child in children_of(pid):
            found += [child, *all_below(child)]
    return found


def computes(seconds):
    """Whether a process has computed for so long, by its own time: what it begins with is over then."""
    return lambda process: cpu_seconds(process.pid) >= seconds


def interrupted(command, ready, *, within, **how):
    """What a command wrote that got Ctrl-C once it was `ready`, which ends it with 130 and one line within so many seconds."""
    took = []
    while not took or (took[-1] >= within and len(took) < TRIES):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how) as process:
            try:
                wait_until(lambda: process.poll() is not None or ready(process), "it has not begun")  # noqa: B023
                assert process.poll() is None, "finished before it could be interrupted"
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=LONG_S)
                took.append(time.monotonic() - begin)
            finally:
                process.kill()  # or the block would wait for ever for a command that did not stop
        assert (process.returncode, out, err) == (130, "", "trencadis: interrupted\n")
    assert min(took) < within, took


def soonest(seconds, within):
    """The shortest of some times, `seconds()` each, the last of which is the first below `within`, if there is one."""
    took = []
    while not took or (took[-1] >= within and len(took) < TRIES):
        took.append(seconds())
    return min(took)
