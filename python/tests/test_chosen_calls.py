"""Objectives that nothing can go by, calls by one worker, and what traces and `explain` tell of calls that are over."""

import json
import os
import subprocess
import sys

import pytest
from commands import trencadis
from test_choices import bits, environment, explained, kept_of, session_rows, tune_until
from trencadis import _core

OTHERWISE = {
    "in a reproducible session": {"reproducible": True},
    "of engine 'sequential'": {"engine": "sequential"},
    "with scheduler 'ws'": {"scheduler": "ws"},
    "on machine 'uniform64'": {"machine": "uniform64"},
    "with cores that are slowed": {"slow": {0: 0.5}},
    "with devices 'emulated:1'": {"devices": "emulated:1"},
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_an_objective_is_refused_where_a_session_chooses_nothing(what):
    for objective in ("energy", "energy-delay"):
        with pytest.raises(ValueError, match=f"objective '{objective}' was asked for, and nothing is chosen {what}"):
            _core.Session(objective=objective, **OTHERWISE[what])
    for objective in ("", "time", "rule"):
        _core.Session(objective=objective, **OTHERWISE[what])


def test_an_objective_of_the_environment_that_nothing_goes_by_is_said_once(tmp_path):
    program = "from trencadis import _core; _core.Session(engine='sequential'); _core.Session(); _core.Session()"
    for objective, lines in (("energy", 1), ("time", 0), ("rule", 0)):
        run = subprocess.run([sys.executable, "-c", program], env=environment(tmp_path, TRENCADIS_OBJECTIVE=objective), text=True,
                             capture_output=True, timeout=300, check=False)  # fmt: skip
        assert run.returncode == 0 and run.stderr.count("\n") == lines
        assert not lines or "nothing is chosen of engine 'sequential'" in run.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one worker is all there are")
def test_a_call_is_by_one_worker_where_that_was_faster(tmp_path):
    write = [row | {"plan": row["plan"].replace("in-place+1", "alone")} for row in session_rows()]
    chosen, err = bits(tmp_path, write=write)
    assert err == "" and chosen == bits(tmp_path, session={"workers": [0]})[0] != bits(tmp_path / "none")[0]
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    assert row["chosen"] == "alone"
    assert {one["plan"]: one["workers"] for one in row["considered"]} == {"alone": 1, "rule": len(os.sched_getaffinity(0))}
    out, _ = trencadis("trace", "potrf", "--n", "500", "-o", tmp_path / "t.json", environment=environment(tmp_path))
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["choices"] == [
        {"call": "potrf 500x500 d", "plan": "alone", "times": 1, "workers": 1, "callers": 1}
    ]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one worker is all there are")
def test_tune_measures_one_worker_too(tmp_path):
    tune_until(lambda: "alone" in {row[6] for row in kept_of(tmp_path, 192)}, 3, tmp_path)


#: Choices of a trace in which four threads call.
TRACED = """
import json, threading, time
import numpy as np
from trencadis import _core
from trencadis.workloads import WORKLOADS
session = _core.Session()
def work(one):
    call = one.ours(_core, session, 0, "")
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        one.restore()
        assert not call()
threads = [threading.Thread(target=work, args=(WORKLOADS["potrf"](500, np.float64),)) for _ in range(4)]
session.start_trace()
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(session.stop_trace().choices()))
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) not in (2, 3, 4), reason="four callers are a crowd of two to four workers")
def test_the_trace_says_who_computed_the_calls_of_a_crowd(tmp_path):
    run = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, timeout=300, env=environment(tmp_path),
                         check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert {(one["call"], one["plan"]) for one in found} == {("potrf 500x500 d", "rule")}
    by_callers = [one for one in found if one["workers"] == 1]
    assert len(by_callers) == 1 and by_callers[0]["times"] > 0 and 2 <= by_callers[0]["callers"] <= 4, found
    assert all(one["workers"] in (1, len(os.sched_getaffinity(0))) for one in found)


def test_explain_says_what_the_last_calls_took(tmp_path):
    (row,), err = explained(tmp_path, "potrf", "--n", "500")
    assert err == "" and row["last"] == []
    out, _ = trencadis("explain", "potrf", "--n", "500", environment=environment(tmp_path))
    assert "no call of this size was timed lately" in out
    for _ in range(2):
        bits(tmp_path)
    bits(tmp_path, session={"scheduler": "ws"})  # which goes otherwise than what is explained
    bits(tmp_path, nb=100)  # likewise
    bits(tmp_path, n=60)  # too short
    (row, other), err = explained(tmp_path, "potrf", "--n", "500,60")
    assert err == "" and other["last"] == []
    workers = len(os.sched_getaffinity(0))
    assert [(one["plan"], one["workers"]) for one in row["last"]] == [("rule", workers)] * 2
    assert all(1e-5 < one["seconds"] < 60 for one in row["last"])
    out, _ = trencadis("explain", "potrf", "--n", "500", environment=environment(tmp_path))
    line = next(line for line in out.splitlines() if line.startswith("the last times, rule by "))
    assert line.count(",") == 2 and line.endswith(" ms")


def test_explain_says_what_the_only_call_of_a_program_took(tmp_path):
    program = "import numpy as np, trencadis; trencadis.cholesky(2.0 * np.eye(500))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment(tmp_path), check=False)
    assert run.returncode == 0, run.stderr
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    assert [one["plan"] for one in row["last"]] == ["rule"] and row["rule"]["last"] == [row["last"][0]["seconds"]]


def test_explain_says_what_the_rule_comes_to(tmp_path):
    (row, short), _ = explained(tmp_path, "potrf", "--n", "500,100")
    rule = row["rule"]
    assert (rule["plan"], rule["variant"], rule["seconds"], rule["last"]) == ("packed", "packed", None, []) and rule["nb"] > 0
    assert (short["rule"]["plan"], short["rule"]["variant"], short["rule"]["nb"]) == ("caller", None, None)
    out, _ = trencadis("explain", "potrf", "--n", "500,100", environment=environment(tmp_path))
    assert f"the fixed rule: packed in tiles of {rule['nb']}\n" in out
    assert "the fixed rule: its caller, without tiles or tasks\n" in out
    bits(tmp_path)
    bits(tmp_path, write=session_rows())
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    assert row["chosen"] == "in-place+1" and row["rule"]["seconds"] > row["considered"][0]["seconds"]
    assert row["rule"]["last"] == [row["last"][0]["seconds"]] and [one["plan"] for one in row["last"]] == ["rule", "in-place+1"]
    own = next(one for one in row["considered"] if one["plan"] == "rule")
    assert (own["variant"], own["nb"], own["seconds"]) == ("packed", rule["nb"], row["rule"]["seconds"])
    out, _ = trencadis("explain", "potrf", "--n", "500", environment=environment(tmp_path))
    line = next(line for line in out.splitlines() if line.startswith("the fixed rule: packed in tiles"))
    assert " expected to take " in line and "; the last times " in line and line.endswith(" ms")
