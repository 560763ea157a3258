"""Running the command line as its users do, for the tests."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from waiting import LONG_S

COMMAND = [sys.executable, "-m", "trencadis"]


class Warm:
    """A process that has loaded the command: a fork of it takes some hundredths of a second, starting anew nearly half of one.
    How a process begins is the matter of test_cli.py and others, which start their own."""

    def __init__(self):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        program = [sys.executable, str(Path(__file__).with_name("warm_command.py")), str(theirs.fileno())]
        self._process = subprocess.Popen(program, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        theirs.close()
        self._answers = self._socket.makefile("r")
        atexit.register(self._end)

    def _end(self):
        self._answers.close()
        self._socket.close()
        self._process.wait()

    def run(self, words, folder, timeout):
        """What subprocess.run would return."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            request = json.dumps({"words": words, "folder": str(folder or Path.cwd()), "environment": dict(os.environ)})
            socket.send_fds(self._socket, [request.encode()], [out.fileno(), err.fileno()])
            code = self._code(words, timeout)
            for stream in (out, err):
                stream.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    def _code(self, words, timeout):
        child = self._answer()
        previous = signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(timeout)
        try:
            code = self._answer()
        finally:
            left = signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
        if left == 0:
            raise subprocess.TimeoutExpired(words, timeout)
        return code

    def _answer(self):
        line = self._answers.readline()
        assert line, "the process that has loaded the command has ended"
        return int(line)


#: One for each process of the tests.
warm = cache(Warm)


def trencadis(*words, code=0, cwd=None, timeout=LONG_S, environment=None):
    """Runs the command and checks its exit code; returns what it wrote to standard output and to standard error."""
    words = [str(word) for word in words]
    if environment is None:
        run = warm().run(words, cwd, timeout)
    else:
        run = subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=cwd, timeout=timeout, env=environment)
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run.stdout, run.stderr


def refusal(*words, code=2, cwd=None):
    """The one line that the command refuses with: nothing on standard output, no traceback."""
    out, err = trencadis(*words, code=code, cwd=cwd)
    assert out == "" and err.count("\n") == 1 and err.startswith("trencadis: "), (out, err)
    return err


def rows(*words, **how):
    """The objects of a command that writes JSON and nothing else to standard output."""
    out, _ = trencadis(*words, "--json", "-", **how)
    return [json.loads(line) for line in out.splitlines()]
