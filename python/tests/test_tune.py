"""What `tune` keeps of a file, and what it takes from another process."""

import fcntl
import subprocess

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
