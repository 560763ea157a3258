"""Levers of the whole machine, on files that stand for the kernel's: set, put back, and what signals do in between."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from commands import COMMAND, refusal, trencadis
from test_campaign import LEAST, own_cache, records_in, written  # noqa: F401
from test_campaign_deaths import lines_in
from trencadis import patience
from trencadis.campaign.conduct import Campaign, Ended, ending_in_order
from trencadis.campaign.levers import Levers
from trencadis.campaign.plan import plan_of
from trencadis.campaign_commands import _carry_out
from waiting import LONG_S, wait_until


@pytest.fixture
def fake_machine(tmp_path, monkeypatch):
    """Two cores with turbo on, governor powersave, and two idle states each."""
    root = tmp_path / "root"
    cpus = root / "sys/devices/system/cpu"
    values = {"cpufreq/boost": "1"}
    for core in range(2):
        values[f"cpu{core}/cpufreq/scaling_governor"] = "powersave"
        for state in range(3):
            values[f"cpu{core}/cpuidle/state{state}/disable"] = "0"
    for name, word in values.items():
        (cpus / name).parent.mkdir(parents=True, exist_ok=True)
        (cpus / name).write_text(word + "\n")
    (root / "proc/sys/kernel/random").mkdir(parents=True)
    (root / "proc/sys/kernel/random/boot_id").write_text("this-boot\n")
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(root))
    return {name: cpus / name for name in values}


def words_in(files):
    return {name: file.read_text().strip() for name, file in files.items()}


WANTED = {"turbo": False, "governor": "performance", "cstates": "none"}
LEVERS = {
    "name": "c",
    "repetitions": 3,
    "factors": {"routine": ["potrf"], "n": [32], "turbo": [True, False], "cstates": ["none"]},
}


def test_levers_are_set_and_put_back(fake_machine):
    before = words_in(fake_machine)
    with Levers(True) as levers:
        outcomes = levers.set(WANTED)
        assert all(outcome.set for outcome in outcomes.values()) and outcomes["governor"].was == "powersave"
        now = words_in(fake_machine)
        assert now["cpufreq/boost"] == "0" and now["cpu1/cpufreq/scaling_governor"] == "performance"
        assert now["cpu0/cpuidle/state2/disable"] == "1" and now["cpu0/cpuidle/state0/disable"] == "0"
        levers.set({"turbo": False})  # what a run says nothing of is as it was
        assert words_in(fake_machine) == {**before, "cpufreq/boost": "0"}
    assert words_in(fake_machine) == before
    with pytest.raises(RuntimeError), Levers(True) as levers:
        levers.set(WANTED)
        raise RuntimeError
    assert words_in(fake_machine) == before


def test_levers_stay_as_they_are_without_permission(fake_machine):
    before = words_in(fake_machine)
    with Levers(False) as levers:
        outcomes = levers.set(WANTED)
        assert not any(outcome.set for outcome in outcomes.values()) and "not allowed" in outcomes["turbo"].why
        assert levers.set({"turbo": True})["turbo"].set  # it is so already
    assert words_in(fake_machine) == before


def test_a_lever_that_refuses_is_recorded_with_its_reason(fake_machine, monkeypatch):
    fake_machine["cpu1/cpufreq/scaling_governor"].unlink()
    fake_machine["cpu1/cpufreq/scaling_governor"].mkdir()  # cannot be written, even by root
    with Levers(True) as levers:
        outcome = levers.set({"governor": "performance"})["governor"]
    assert not outcome.set and "directory" in outcome.why
    assert fake_machine["cpu0/cpufreq/scaling_governor"].read_text().strip() == "powersave"


def test_levers_that_are_not_there_are_recorded_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(tmp_path))
    _, said = trencadis("campaign", written(tmp_path, LEVERS), "-o", tmp_path / "out", "--set-levers")
    assert "turbo cannot be set (this machine has no such lever)" in said
    assert all(r["levers"]["turbo"]["set"] is False and r["state"]["turbo"] is None for r in records_in(tmp_path / "out"))


def test_a_governor_that_no_core_can_have_is_refused_with_the_nearest_name(fake_machine, tmp_path):
    asked = {**LEVERS, "factors": {"routine": ["potrf"], "n": [32], "governor": ["perfomance"]}}
    for core, names in enumerate(("performance powersave", "performance powersave ondemand")):
        (fake_machine[f"cpu{core}/cpufreq/scaling_governor"].parent / "scaling_available_governors").write_text(f"{names} \n")
    said = refusal("campaign", written(tmp_path, asked), "-o", tmp_path / "out")
    assert "unknown governor of this machine 'perfomance'; did you mean 'performance'" in said
    asked["factors"]["governor"] = ["ondemand"]  # of one core; that the other has none is in the records
    trencadis("campaign", written(tmp_path, asked), "--plan")


def test_a_governor_that_linux_does_not_have_is_refused_where_the_machine_says_nothing_of_governors(tmp_path, monkeypatch):
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(tmp_path))
    asked = {**LEVERS, "factors": {"routine": ["potrf"], "n": [32], "governor": ["perfomance"]}}
    assert "'perfomance'; did you mean 'performance'" in refusal("campaign", written(tmp_path, asked), "-o", tmp_path / "out")
    asked["factors"]["governor"] = ["schedutil"]
    trencadis("campaign", written(tmp_path, asked), "--plan")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_levers_of_an_ended_campaign_are_put_back(number, fake_machine, tmp_path):
    before = words_in(fake_machine)
    file = written(tmp_path, {**LEVERS, "repetitions": 500})
    words = [*COMMAND, "campaign", str(file), "-o", str(tmp_path / "out"), "--set-levers"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE)
    wait_until(lambda: lines_in(tmp_path / "out"), "no run")
    assert words_in(fake_machine) != before
    process.send_signal(number)
    process.communicate(timeout=LONG_S)
    if number == signal.SIGKILL:
        assert words_in(fake_machine) != before
        _, said = trencadis("campaign", written(tmp_path, LEAST, "d.toml"), "-o", tmp_path / "next")
        assert "put back" in said
    assert words_in(fake_machine) == before
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}[number]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_another_thread_takes_does_not_break_off_what_is_put_back(number, fake_machine, monkeypatch):
    before, writes = words_in(fake_machine), []

    def write(path, word):
        if len(writes) == 1 and leaving:  # in the middle
            os.kill(os.getpid(), number)
            time.sleep(0.05)
        writes.append(path)
        path.write_text(word)

    ending, leaving = threading.Event(), []
    ignored = signal.getsignal(number) is signal.SIG_IGN  # under nohup, which is left as it is
    if ignored:
        signal.signal(number, signal.SIG_DFL)
    taker = threading.Thread(target=ending.wait)  # signals are not masked there
    taker.start()
    try:
        with pytest.raises((Ended, KeyboardInterrupt)), ending_in_order(), Levers(True) as levers:
            levers.set(WANTED)
            writes.clear()
            leaving.append(True)
            monkeypatch.setattr("trencadis.campaign.levers._write_word", write)
    finally:
        ending.set()
        taker.join()
        if ignored:
            signal.signal(number, signal.SIG_IGN)
    assert words_in(fake_machine) == before and len(writes) == 7


def test_after_ctrl_c_there_is_time_to_put_levers_back(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("trencadis.patience._seconds", patience.SHORT_S)
    monkeypatch.setattr(Campaign, "run", lambda campaign: seen.append(patience.seconds()) or 0)
    _carry_out(plan_of(LEAST), tmp_path / "out", False)
    assert seen == [patience.LONG_S]


def test_a_journal_of_an_earlier_start_of_the_machine_is_of_no_concern(fake_machine, tmp_path):
    journal = Path(os.environ["XDG_CACHE_HOME"]) / "trencadis" / f"{os.uname().nodename}.levers"
    journal.parent.mkdir(parents=True)
    for content in (json.dumps({"boot": "another", "old": {str(fake_machine["cpufreq/boost"]): "0"}}), "{torn", "[]",
                    json.dumps({"boot": "this-boot", "old": {str(tmp_path / "elsewhere"): "0"}})):  # fmt: skip
        journal.write_text(content)
        said = []
        with Levers(False, said.append):
            assert words_in(fake_machine)["cpufreq/boost"] == "1"
        assert not any("put back the levers" in message for message in said)
        assert not journal.exists() and not (tmp_path / "elsewhere").exists()


#: Levers are set; two signals come, the second one while they are slowly put back, word by word.
TWICE = """
import os, signal, sys, threading, time
from trencadis import cli
from trencadis.campaign import levers
from trencadis.campaign import conduct
from trencadis.campaign.conduct import ending_in_order
signal.signal(signal.SIGINT, signal.default_int_handler)
cli._end_soon_when_interrupted()
first, second = int(sys.argv[1]), int(sys.argv[2])
def slowly(path, word):
    with path.open("w") as file:
        os.kill(os.getpid(), second)
        time.sleep(0.1)
        file.write(word)
try:
    with ending_in_order(), levers.Levers(True) as held:
        held.set({"turbo": False, "governor": "performance", "cstates": "none"})
        levers._write_word = slowly
        threading.Timer(0.05, os.kill, (os.getpid(), first)).start()
        time.sleep(60)
except BaseException as error:
    time.sleep(60)  # the watcher does not wait for this
"""


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_command_when_levers_are_back_and_not_before(second, fake_machine):
    before = words_in(fake_machine)
    words = [sys.executable, "-c", TWICE, str(int(signal.SIGINT)), str(int(second))]
    run = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert words_in(fake_machine) == before and run.returncode == 130, run.stderr


def test_a_second_signal_does_not_break_off_the_way_to_where_levers_are_put_back(fake_machine):
    before, reached = words_in(fake_machine), []
    with pytest.raises(KeyboardInterrupt), Levers(True) as levers:
        levers.set(WANTED)
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append(True)
    assert reached and words_in(fake_machine) == before
