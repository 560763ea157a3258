"""What `tune` keeps of a file, and what it takes from another process."""

import fcntl
import subprocess

import pytest
from commands import COMMAND
from test_choices import QUICK, environment, file_in, kept_of, session_rows
from trencadis import _core, choice_commands, tune
from waiting import LONG_S


def waits_for_another(cache, rows, *words):
    """What `tune` says that has waited for another process, which meanwhile leaves these rows."""
    session = _core.Session(objective="rule")
    with file_in(cache).with_suffix(".choices.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([*COMMAND, *words], env=environment(cache), text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)  # fmt: skip
        assert "waiting" in process.stderr.readline()
        _core.write_calibration(session, rows)
    out, err = process.communicate(timeout=LONG_S)
    assert process.returncode == 0, err
    return out


def test_tune_takes_what_another_has_measured_only_where_it_is_all_that_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old = session_rows()
    _core.write_calibration(_core.Session(objective="rule"), old)
    other = [row | {"routine": "getrf"} for row in old if row["plan"] == "rule"]
    assert "by another process" not in waits_for_another(tmp_path, old + other, *QUICK)
    assert len(kept_of(tmp_path, 250)) == 2 and len(kept_of(tmp_path, 192)) > 1  # one that stays, one that is measured
    fresh = session_rows(0.6)
    assert "by another process" in waits_for_another(tmp_path, fresh, *QUICK)


def test_tune_keeps_sizes_that_it_had_no_time_for_and_replaces_the_plans_of_those_that_it_had(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    session = _core.Session(objective="rule")
    _core.write_calibration(session, session_rows())
    measured = [tune.Size("potrf", "d", 500, 500, 0, {"rule": 2.0, "packed": 1.5})]
    kept = tune.merged(session, measured)
    assert {(row["n"], row["plan"], row["seconds"]) for row in kept} == {
        (250, "rule", 1.0), (250, "in-place+1", 0.5), (1000, "rule", 1.0), (1000, "in-place+1", 0.5),
        (500, "rule", 2.0), (500, "packed", 1.5),
    }  # fmt: skip


def test_a_routine_that_is_named_twice_is_measured_once():
    assert choice_commands._routines("gemm,potrf,gemm") == ["gemm", "potrf"]


def test_of_two_passes_the_ratio_to_the_rule_counts_that_is_less_in_a_plans_favour_and_not_how_fast_the_host_was():
    first = {"rule": 2.0, "packed": 1.0, "in-place": 2.2, "panel": 4.0}
    both = tune.together(first, {"rule": 8.0, "packed": 7.2, "in-place": 4.0})
    ratios = {"rule": 1, "packed": 0.9, "in-place": 1.1, "panel": 2}
    assert both == {plan: pytest.approx(4 * ratio) for plan, ratio in ratios.items()}


def test_a_short_call_is_timed_after_one_of_its_own_plan_and_a_long_one_at_once():
    class Timed:
        def __init__(self, seconds):
            self.seconds, self.last, self.calls = seconds, "", 0

        def time(self, plan):
            self.calls, before, self.last = self.calls + 1, self.last, plan
            return self.seconds * (1 if plan == before else 3)

    short, long = Timed(1e-3), Timed(1.0)
    assert [tune.once(short, plan) for plan in ("rule", "packed", "rule")] == [1e-3] * 3 and short.calls == 9
    assert tune.once(long, "rule") == 3.0 and long.calls == 1
