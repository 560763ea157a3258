"""Campaigns that are killed at any moment, and go on: what is there at the end is what is there without a death."""

import json
import os
import random
import signal
import subprocess
import time

import pytest
from commands import COMMAND, trencadis
from waiting import LONG_S, all_below, wait_until, wait_until_gone

#: Of a record, what differs from one run of the same configuration to the next.
MEASURED = {"seconds", "seconds_median", "seconds_min", "seconds_max", "gflops", "gflops_median", "gflops_max", "idle_fraction",
            "calls", "energy", "energy_cost", "state", "ended"}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def campaign(folder, repetitions, **factors):
    file = folder / "c.toml"
    lines = [f"{name} = {json.dumps(levels)}" for name, levels in factors.items()]
    file.write_text("\n".join(['name = "c"', f"repetitions = {repetitions}", "[factors]", *lines]) + "\n")
    return file


def measured(folder, repetitions, sizes):
    return campaign(folder, repetitions, routine=["potrf"], n=sizes, scheduler=["mosaic", "ws"])


def simulated(folder, repetitions, sizes):
    """With kernel times by chance, so that repetitions differ."""
    return campaign(folder, repetitions, routine=["potrf"], n=sizes, scheduler=["cats", "ws"], nb=[32], machine=["exynos5422"],
                    effect=["jitter=0.05"])  # fmt: skip


def lines_in(folder):
    runs = folder / "runs.jsonl"
    return runs.read_bytes().count(b"\n") if runs.exists() else 0


def records_in(folder):
    text = (folder / "runs.jsonl").read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


class Deaths:
    """A campaign killed at moments that a seed says: some while it begins, the others some runs later, within or between two.
    What it had started ends with it."""

    def __init__(self, file, folder, seed):
        self._command = [*COMMAND, "campaign", str(file), "-o", str(folder)]
        self._folder, self._chance = folder, random.Random(seed)
        print(f"seed {seed}")

    def die(self, runs):
        """After less than so many runs more; how many there are then."""
        before = lines_in(self._folder)
        wanted = before + self._chance.randrange(runs)
        process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if wanted > before:
            deadline = time.monotonic() + LONG_S
            while process.poll() is None and lines_in(self._folder) < wanted and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(self._chance.random() * 0.02)
        else:
            time.sleep(self._chance.random() * 1.5)
        below = all_below(process.pid)
        process.kill()
        _, said = process.communicate()
        assert process.returncode == -signal.SIGKILL, (process.returncode, said)  # it was not through before
        wait_until_gone(below)
        return lines_in(self._folder)


def reports(folder):
    return [trencadis("report", folder, *words)[0] for words in (("--format", "md"), ("--format", "csv"), ("--json", "-"))]


def but_measured(record):
    return {key: value for key, value in record.items() if key not in MEASURED}


def table_but_measured(folder):
    """Of the report, what does not depend on how long a run took."""
    rows = [json.loads(line) for line in trencadis("report", folder, "--json", "-")[0].splitlines()]
    kept = [{key: value for key, value in row.items() if not key.startswith(("seconds_", "gflops_"))} for row in rows]
    return [{key: value for key, value in row.items() if key not in ("energy", "best_for")} for row in kept]


def assert_the_same_campaign(killed, whole, total):
    ours, theirs = records_in(killed), records_in(whole)
    assert [record["index"] for record in ours] == list(range(total))  # none twice, none lacks, in the order of the blocks
    assert list(map(but_measured, ours)) == list(map(but_measured, theirs))
    assert table_but_measured(killed) == table_but_measured(whole)


def die_and_end(file, folder, times, runs, seed):
    deaths = Deaths(file, folder, seed)
    there = [deaths.die(runs) for _ in range(times)]
    said, _ = trencadis("campaign", file, "-o", folder, timeout=600)
    print(f"runs that were there at each death: {there}")
    assert there == sorted(there) and there[-1] > there[0]
    assert f"{there[-1]} were there" in said


def some_seed():
    return int(os.environ.get("TRENCADIS_TEST_SEED", "24"))


def test_a_killed_campaign_goes_on_where_it_was_with_the_same_order(tmp_path):
    file = measured(tmp_path, 8, [32, 48])
    trencadis("campaign", file, "-o", tmp_path / "whole")
    die_and_end(file, tmp_path / "killed", 2, 12, some_seed())
    assert_the_same_campaign(tmp_path / "killed", tmp_path / "whole", 32)


def test_a_killed_campaign_on_a_described_machine_has_the_report_of_a_whole_one_byte_for_byte(tmp_path):
    file = simulated(tmp_path, 3, [64, 128])
    trencadis("campaign", file, "-o", tmp_path / "whole")
    die_and_end(file, tmp_path / "killed", 2, 6, some_seed())
    assert_the_same_campaign(tmp_path / "killed", tmp_path / "whole", 12)
    assert reports(tmp_path / "killed") == reports(tmp_path / "whole")


@pytest.mark.thorough
def test_200_runs_killed_ten_times_give_the_table_of_200_that_were_not(tmp_path):
    file = measured(tmp_path, 20, [32, 48, 64, 80, 96])
    trencadis("campaign", file, "-o", tmp_path / "whole", timeout=600)
    die_and_end(file, tmp_path / "killed", 10, 19, seed=random.SystemRandom().randrange(10**6))
    assert_the_same_campaign(tmp_path / "killed", tmp_path / "whole", 200)
    assert [row["runs"] for row in table_but_measured(tmp_path / "killed")] == [20] * 10


@pytest.mark.thorough
def test_200_simulated_runs_killed_ten_times_give_the_report_of_200_that_were_not_byte_for_byte(tmp_path):
    file = simulated(tmp_path, 20, [64, 96, 128, 160, 192])
    trencadis("campaign", file, "-o", tmp_path / "whole", timeout=600)
    die_and_end(file, tmp_path / "killed", 10, 19, seed=random.SystemRandom().randrange(10**6))
    assert_the_same_campaign(tmp_path / "killed", tmp_path / "whole", 200)
    assert reports(tmp_path / "killed") == reports(tmp_path / "whole")


@pytest.mark.thorough
def test_deaths_that_tear_lines_leave_the_runs_of_a_campaign_without_them(tmp_path):
    """As when the machine goes down: of the last line some bytes are there, or zeros in their place."""
    file, killed = simulated(tmp_path, 8, [64, 96, 128]), tmp_path / "killed"
    trencadis("campaign", file, "-o", tmp_path / "whole", timeout=600)
    seed = random.SystemRandom().randrange(10**6)
    deaths, chance = Deaths(file, killed, seed), random.Random(seed)
    for _ in range(6):
        deaths.die(9)
        runs = killed / "runs.jsonl"
        whole = runs.read_bytes() if runs.exists() else b""
        last = whole.splitlines(keepends=True)[-1:] or [b""]
        cut = chance.randrange(len(last[0]) + 1)
        if whole:
            runs.write_bytes(whole[: len(whole) - cut] + bytes(chance.choice((0, cut))))
    trencadis("campaign", file, "-o", killed, timeout=600)
    assert_the_same_campaign(killed, tmp_path / "whole", 48)
    assert reports(killed) == reports(tmp_path / "whole")


def test_of_campaigns_in_one_folder_at_once_one_runs_and_the_others_say_so(tmp_path):
    file, folder = measured(tmp_path, 8, [32, 48]), tmp_path / "out"
    command = [*COMMAND, "campaign", str(file), "-o", str(folder)]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    first = subprocess.Popen(command, **how)
    wait_until(lambda: first.poll() is not None or lines_in(folder), "no run")
    os.kill(first.pid, signal.SIGSTOP)  # so that it is there still, however fast it is
    others = [subprocess.Popen(command, **how) for _ in range(2)]
    told = [other.communicate(timeout=LONG_S) for other in others]
    os.kill(first.pid, signal.SIGCONT)
    first.communicate(timeout=LONG_S)
    assert first.returncode == 0 and [other.returncode for other in others] == [2, 2]
    assert all(err == f"trencadis: {folder}: another process runs a campaign there now\n" for _, err in told)
    assert [record["index"] for record in records_in(folder)] == list(range(32))
