"""scripts/meanwhile.sh: one command in the background of another, and what either of them says."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "meanwhile.sh"


def test_both_run_at_once_and_the_background_is_shown_at_its_end(tmp_path):
    meeting = f"mkfifo {tmp_path}/met; echo hello > {tmp_path}/met; ps -o cls=,ni= $$"
    here = f"while [ ! -p {tmp_path}/met ]; do sleep 0.01; done; cat {tmp_path}/met"
    said = subprocess.run([SCRIPT, meeting, "bash", "-c", here], capture_output=True, text=True, check=True, timeout=300).stdout
    first, of_whom, priority = said.splitlines()
    assert first == "hello" and of_whom == f"meanwhile: {meeting}"
    assert priority.split()[0] == "IDL" or priority.split()[1] == "19"


@pytest.mark.parametrize(("background", "status"), [("echo no room; exit 3", 3), ("true", 0)])
def test_what_the_background_ends_with_is_the_status(background, status):
    result = subprocess.run([SCRIPT, background, "true"], capture_output=True, text=True, timeout=300)
    assert result.returncode == status and ("no room" in result.stdout) == (status == 3)


def alive(file):
    try:
        return Path(f"/proc/{int(file.read_text())}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", ["fails", "interrupted"])
def test_the_background_ends_with_all_that_it_began_when_the_other_does_not_go_on(tmp_path, how):
    pid = tmp_path / "pid"
    background = f"bash -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 300; true'; true"
    here = f"while [ ! -e {pid} ]; do sleep 0.01; done; {'exit 4' if how == 'fails' else 'echo begun; sleep 300'}"
    process = subprocess.Popen([SCRIPT, background, "bash", "-c", here], stdout=subprocess.PIPE, start_new_session=True)
    if how == "interrupted":
        assert process.stdout.readline() == b"begun\n"
        subprocess.run(["kill", "-INT", "--", f"-{process.pid}"], check=True)
    assert process.wait(timeout=300) == (4 if how == "fails" else 128 + signal.SIGINT)
    end = time.monotonic() + 60
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(pid)
