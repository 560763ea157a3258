"""Running the command line as its users do, for the tests."""

import json
import subprocess
import sys

COMMAND = [sys.executable, "-m", "trencadis"]


def trencadis(*words, code=0, cwd=None, timeout=60, environment=None):
    """Runs the command and checks its exit code; returns what it wrote to standard output and to standard error."""
    run = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=timeout, env=environment)
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
