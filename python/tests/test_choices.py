"""Calibration, what is chosen from it, and how it is explained."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trencadis as trencadis_
from commands import COMMAND, refusal, rows, trencadis
from test_energy import WATTS, Counter
from trencadis import _core
from trencadis.effects import parse_effects
from trencadis.elsewhere import ASSUMED, choices_on
from trencadis.simulations import Simulation, simulate_all
from waiting import LONG_S, TRIES, all_below, cpu_seconds, interrupted, wait_until_gone

QUICK = ("tune", "--routines", "potrf", "--seconds", "3")


def environment(cache, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRENCADIS_")}
    return kept | {"XDG_CACHE_HOME": str(cache)} | more


def file_in(cache):
    return Path(cache) / "trencadis" / f"{os.uname().nodename}.choices"


def kept_of(cache, n):
    """The columns of each plan of potrf at this size."""
    return [row.split() for row in file_in(cache).read_text().splitlines() if row.startswith(f"potrf d {n} ")]


def tune_until(enough, seconds, cache, **more):
    """Calibrates potrf until that is enough: at first for so long as this takes on a machine of its own."""
    for longer in (1, 3, 9):
        out, err = trencadis(*QUICK[:-1], str(longer * seconds), environment=environment(cache, **more))
        assert out.startswith(str(file_in(cache))) and err == ""
        if enough():
            return
    pytest.fail(file_in(cache).read_text())


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A cache folder with a short calibration of potrf."""
    cache = tmp_path_factory.mktemp("cache")
    tune_until(lambda: len(kept_of(cache, 192)) > 2, 3, cache)
    return cache


def explained(cache, *words, **more):
    out, err = trencadis("explain", *words, "--json", "-", environment=environment(cache, **more))
    return [json.loads(line) for line in out.splitlines()], err


def session_rows(better=0.5):
    """Calibrations of potrf whose second plan takes `better` of the rule."""
    return [{"routine": "potrf", "precision": "d", "m": n, "n": n, "k": 0, "workers": len(os.sched_getaffinity(0)), "plan": plan,
             "seconds": seconds, "busy": 0.0, "joules": 0.0}
            for n in (250, 500, 1000) for plan, seconds in (("rule", 1.0), ("in-place+1", better))]  # fmt: skip


PROGRAM = """
import hashlib, json, sys
import numpy as np
from trencadis import _core
from trencadis.workloads import WORKLOADS
wish = json.loads(sys.argv[1])
if "write" in wish:
    _core.write_calibration(_core.Session(objective="rule"), wish["write"])
work = WORKLOADS["potrf"](wish.get("n", 500), np.float64)
work.ours(_core, _core.Session(**wish.get("session", {})), wish.get("nb", 0), wish.get("variant", ""))()
print(hashlib.sha256(work.targets[0].tobytes()).hexdigest())
"""


#: Tasks of the workers in each of some calls one after the other, and by four threads at once; the number of different results.
CROWD = """
import json, sys, threading, time
import numpy as np
from trencadis import _core
from trencadis.workloads import WORKLOADS
session = _core.Session()
def tasks():
    return sum(worker["tasks"] for worker in session.statistics())
def tasks_of_a_call(callers, routine, n, seconds, results):
    calls = []
    def work(one):
        call = one.ours(_core, session, 0, "")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            one.restore()
            assert not call()
            result = one.targets[-1]
            first = results.setdefault(0, result.copy())
            if not np.array_equal(first, result): results[1] = result.copy()
            calls.append(1)
    works = [WORKLOADS[routine](n, np.float64) for _ in range(callers)]
    before = tasks()
    threads = [threading.Thread(target=work, args=(one,)) for one in works]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return (tasks() - before) / len(calls)
rows = []
for word in sys.argv[2:]:
    routine, n = word.split(":")
    results = {}
    rows.append([tasks_of_a_call(callers, routine, int(n), float(sys.argv[1]), results) for callers in (1, 4)] + [len(results)])
print(json.dumps(rows))
"""


def bits(cache, **wish):
    """The hash of a factor, and what was said on standard error."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(wish)], capture_output=True, text=True, timeout=300,
                         env=environment(cache, **wish.pop("variables", {})))  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), run.stderr


def test_a_calibration_has_the_rule_and_others_at_each_size_and_explain_reads_it(tuned):
    rows, err = explained(tuned, "potrf", "--n", "100,200")
    assert err == "" and [row["n"] for row in rows] == [100, 200]
    for row in rows:
        plans = [one["plan"] for one in row["considered"]]
        assert "rule" in plans and len(plans) > 2 and row["chosen"] == plans[0]
        assert [one["chosen"] for one in row["considered"]] == [True] + [False] * (len(plans) - 1)
        assert all(one["seconds"] > 0 for one in row["considered"])
    (far,), _ = explained(tuned, "potrf", "--n", "30000")
    assert far["chosen"] == "rule" and "nothing was measured" in far["why"]
    text, _ = trencadis("explain", "potrf", "--n", "200", environment=environment(tuned))
    assert "of the rule" in text and "expected" in text


def test_explain_says_when_a_lead_is_no_larger_than_what_the_rule_differs_from_itself(tmp_path):
    one = session_rows()[0] | {"n": 500, "m": 500}
    write = [one, one | {"plan": "packed", "seconds": 4.0}, one | {"plan": "in-place", "seconds": 1.5}]
    bits(tmp_path, write=write)
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    best = next(one for one in row["considered"] if one["plan"] == "in-place")
    assert row["chosen"] == "rule" and "the best of the others, in-place, takes 0.750 of the fixed rule" in row["why"]
    assert f"which differed from itself by {100 * (best['scatter'] - 1):.1f} % near this size" in row["why"]
    assert f"it would have to take {best['enough']:.3f} at most" in row["why"] and best["enough"] < 0.750
    bits(tmp_path, write=[one, write[1] | {"seconds": 2.0}, write[2]])
    assert explained(tmp_path, "potrf", "--n", "500")[0][0]["chosen"] == "rule"  # the mean is 1.41
    bits(tmp_path, write=[one, write[1] | {"seconds": 1.1}, write[2] | {"seconds": 0.7}])
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    assert row["chosen"] == "in-place"
    assert f"of the fixed rule, which would stay from {row['considered'][0]['enough']:.3f} on" in row["why"]
    bits(tmp_path, write=[one])
    assert "nothing else was measured near this size" in explained(tmp_path, "potrf", "--n", "500")[0][0]["why"]


def test_explain_lists_what_was_measured_near_the_size_and_nothing_else(tmp_path):
    bits(tmp_path, write=session_rows())
    for words in (("potrf", "--n", "30000"), ("getrf", "--n", "500")):
        (row,), _ = explained(tmp_path, *words)
        assert row["chosen"] == "rule" and row["considered"] == [] and "nothing was measured near this size" in row["why"]


def test_without_a_calibration_calls_go_by_the_rule_and_explain_says_so(tmp_path):
    (row,), err = explained(tmp_path, "gemm", "--n", "500")
    assert row["chosen"] == "rule" and "no calibration" in row["why"] and "`trencadis tune`" in row["why"] and err == ""
    assert not file_in(tmp_path).exists()


def test_a_call_goes_as_its_plan_says_and_by_rule_where_it_is_told_so(tmp_path):
    by_rule, _ = bits(tmp_path)
    chosen, err = bits(tmp_path, write=session_rows())
    assert err == "" and chosen != by_rule
    (row,), _ = explained(tmp_path, "potrf", "--n", "500")
    assert row["chosen"] == "in-place+1"
    nb = row["considered"][0]["nb"]
    assert bits(tmp_path, nb=nb, variant="in-place")[0] == chosen
    ways = {"session": {"objective": "rule"}}, {"variables": {"TRENCADIS_OBJECTIVE": "rule"}}, {"session": {"scheduler": "ws"}}
    for by in ways:
        assert bits(tmp_path, **by)[0] == by_rule, by


def test_a_reproducible_session_chooses_nothing(tmp_path):
    without, _ = bits(tmp_path, session={"reproducible": True})
    assert bits(tmp_path, write=session_rows(), session={"reproducible": True})[0] == without


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "is torn"),
        (lambda text: "", "is torn"),
        (lambda text: text.replace("version 5", "version 99"), "another version"),
        (lambda text: text.replace("packed", "pasked"), "is torn"),
        (lambda text: "\0" * 5000, "is torn"),
    ],
)
def test_a_file_that_cannot_be_used_is_ignored_with_one_note_and_made_anew(tuned, tmp_path, spoil, said):
    file = file_in(tmp_path)
    file.parent.mkdir()
    file.write_text(spoil(file_in(tuned).read_text()))
    by_rule, err = bits(tmp_path, n=200)
    assert err.count("\n") == 1 and said in err and "trencadis tune" in err
    assert by_rule == bits(tmp_path / "none", n=200)[0]
    _, err = trencadis(*QUICK[:-1], "1", environment=environment(tmp_path))
    assert err.count("\n") == 1 and "made anew" in err
    assert bits(tmp_path, n=200)[1] == ""


def test_a_file_of_another_processor_is_ignored_with_a_note(tmp_path):
    bits(tmp_path, write=session_rows())
    file = file_in(tmp_path)
    lines = file.read_text().splitlines()
    lines[1] = "processor of somebody else"
    body = "".join(line + "\n" for line in lines[:-1])
    value = 0xCBF29CE484222325
    for byte in body.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    file.write_text(body + f"end {len(lines) - 5} {value:016x}\n")
    assert "is of another processor and is not used" in bits(tmp_path)[1]


def test_two_that_tune_at_once_leave_one_whole_file_and_the_second_takes_the_firsts(tmp_path):
    said = []
    for _ in range(TRIES):  # where others have the cores, one may have ended before the other one has begun
        first, second = (subprocess.Popen([*COMMAND, *QUICK], env=environment(tmp_path), text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE) for _ in range(2))  # fmt: skip
        ends = [process.communicate(timeout=LONG_S) for process in (first, second)]
        assert first.returncode == second.returncode == 0, ends
        said = sorted("by another process" in out for out, _ in ends)
        if said != [False, False]:
            break
    assert said == [False, True], ends
    assert explained(tmp_path, "potrf", "--n", "200")[1] == ""


def test_an_interrupted_calibration_leaves_the_old_file(tuned):
    before = file_in(tuned).read_bytes()
    others = set()

    def tunes(process):
        others.update(all_below(process.pid))
        return cpu_seconds(process.pid) > 3

    interrupted([*COMMAND, "tune", "--seconds", "400"], tunes, within=5, env=environment(tuned))
    assert file_in(tuned).read_bytes() == before
    drafts = set(file_in(tuned).parent.glob("*.choices.*")) - {file_in(tuned).with_suffix(".choices.lock")}
    assert drafts == set()
    wait_until_gone(others)


def test_an_objective_without_joules_is_refused_where_it_was_asked_for(tuned):
    if any(row["joules"] for row in _core.read_calibration(_core.Session())["rows"]):
        pytest.skip("this machine has meters of energy")
    run = subprocess.run([*COMMAND, "explain", "potrf", "--n", "200", "--objective", "energy"], env=environment(tuned), text=True,
                         capture_output=True, timeout=300, check=False)  # fmt: skip
    assert run.returncode == 2 and run.stderr.count("\n") == 1 and "joules" in run.stderr
    (row,), _ = explained(tuned, "potrf", "--n", "200", TRENCADIS_OBJECTIVE="energy")
    assert row["chosen"] == "rule"


def test_where_a_meter_counts_joules_are_kept_and_objectives_go_by_them(tmp_path):
    counter = Counter(tmp_path / "root")

    def metered():
        """At 100 W; restoring the operand takes as long as the shortest calls, and what passes while others have the core counts:
        20 times was too little beside 14 of them. Of all calls together it would be 1000. A counter that is late shows less."""
        kept = [(float(row[9]), float(row[7])) for row in kept_of(tmp_path, 192) if float(row[9]) > 0]
        return len(kept) > 1 and all(0.5 * WATTS * took < joules < 200 * WATTS * took for joules, took in kept)

    try:
        tune_until(metered, 8, tmp_path, TRENCADIS_SYSTEM_ROOT=str(tmp_path / "root"))
    finally:
        counter.end()
    for objective in ("energy", "energy-delay"):
        (row,), err = explained(tmp_path, "potrf", "--n", "200", "--objective", objective)
        assert err == "" and row["objective"] == objective and len(row["considered"]) > 1


def test_the_trace_says_how_calls_went(tmp_path):
    bits(tmp_path, write=session_rows())
    out, _ = trencadis("trace", "potrf", "--n", "500", "-o", tmp_path / "t.json", environment=environment(tmp_path))
    assert "potrf 500x500 d: in-place+1" in out
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["choices"] == [
        {"call": "potrf 500x500 d", "plan": "in-place+1", "times": 1, "workers": len(os.sched_getaffinity(0)), "callers": 1}
    ]
    with trencadis_.trace() as recorded:
        trencadis_.cholesky(np.eye(600))
    (choice,) = recorded.choices()
    assert choice["call"] == "potrf 600x600 d" and choice["times"] == 1
    (row,) = rows("bench", "potrf", "--n", "500", "--repeat", "1", environment=environment(tmp_path))
    assert row["plan"] == row["variant"] + "+1" == "in-place+1"


def in_a_crowd(cache, seconds, *words, same_bits=True, **variables):
    """For each word, "potrf:500": tasks of the workers for a call of one caller, and of four at once."""
    run = subprocess.run([sys.executable, "-c", CROWD, str(seconds), *words], capture_output=True, text=True, timeout=300,
                         env=environment(cache, **variables), check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)
    assert not same_bits or [results for _, _, results in rows] == [1] * len(words)
    return [(alone, together) for alone, together, _ in rows]


def assert_calls_are_their_callers(cache, share, seconds, *words):
    """Together calls have less than a share of the workers' tasks. Beside other processes callers are seen together less often:
    words that show no crowd are given longer, twice."""
    if len(os.sched_getaffinity(0)) > 4:
        return in_a_crowd(cache, seconds, *words)
    for longer in (1, 3, 10):
        counts = dict(zip(words, in_a_crowd(cache, seconds * longer, *words), strict=True))
        words = [word for word, (alone, together) in counts.items() if together >= share * alone]
        if not words:
            return None
    raise AssertionError(f"no call was its caller's alone: {[(word, counts[word]) for word in words]}")


@pytest.mark.parametrize("better", [0.5, 1.5, None], ids=["chosen", "by rule", "without a calibration"])
def test_calls_of_several_threads_at_once_have_the_bits_of_one(tmp_path, better):
    if better:
        bits(tmp_path, write=session_rows(better))
    assert_calls_are_their_callers(tmp_path, 0.7, 0.3, "potrf:500")


@pytest.mark.alone  # where others take the cores, callers are seldom seen together
def test_in_a_crowd_calls_of_any_routine_are_their_callers(tmp_path):
    words = [
        "getrf:400",
        "geqrf:300",
        "posv:400",
        "gesv:400",
        "potri:400",
        "orgqr:300",
        "gemm:300",
        "trsm:400",
        "trmm:300",
        "symm:300",
    ]
    assert_calls_are_their_callers(tmp_path, 0.7, 0.15, *words)


def test_in_a_crowd_products_of_others_kernels_are_cut_as_those_of_one(tmp_path):
    """In one piece they would have other bits; inside of a tile that cores share they have them on some processors anyhow."""
    words = ("gemm:500", "symm:300")
    for alone, together in in_a_crowd(tmp_path, 0.2, *words, same_bits=False, TRENCADIS_KERNELS="openblas"):
        assert 4 < alone <= together


def test_longer_calls_of_several_threads_are_tried_alone(tmp_path):
    bits(tmp_path, write=session_rows())
    assert_calls_are_their_callers(tmp_path, 0.95, 1.5, "potrf:1000")


def test_bad_words_are_refused_in_one_line():
    assert "potrf" in refusal("explain", "potfr", "--n", "100")
    assert "--n" in refusal("explain", "potrf")
    assert "--shape: 100x200 is no shape of potrf" in refusal("explain", "potrf", "--shape", "100x200")
    assert "--n: 0x0 is no shape of potrf" in refusal("explain", "potrf", "--n", "0")
    assert "no shape of gemm" in refusal("explain", "gemm", "--shape", "100x200")
    assert "precision" in refusal("explain", "potrf", "--n", "100", "--precision", "q")
    assert "energy-delay" in refusal("explain", "potrf", "--n", "100", "--objective", "energy-dely")
    assert "--seconds" in refusal("tune", "--seconds", "0")
    assert "--precision" in refusal("tune", "--precision", "x")
    assert "--routines" in refusal("tune", "--routines", "trsm")
    with pytest.raises(ValueError, match="objective"):
        _core.Session(objective="fast")


def test_a_timed_plan_computes_the_call(tmp_path):
    session = _core.Session(objective="rule")
    timed = _core.TimedPlans(session, "getrf", "z", 300, 200, 0)
    for plan in _core.plans(session, "getrf", "z", 300, 200, 0):
        assert timed.time(plan) > 0
    with pytest.raises(ValueError, match="no plan"):
        timed.time("unpacked")
    with pytest.raises(ValueError, match="extents"):
        _core.TimedPlans(session, "potrf", "d", 300, 200, 0)


def test_choices_of_a_described_machine_are_by_its_kernels_and_cores():
    few, many = (_core.ChoicesElsewhere("server-2s", [f"0-{cores - 1}"], submit_s=2.5e-7, pop_s=2.5e-7) for cores in (2, 32))
    assert many.cores == list(range(32))
    for choices in (few, many):
        first = choices.considered("getrf", "d", 1000, 1000, 0)[0]
        chosen = first["considered"][0]
        assert first["chosen"] and chosen["chosen"] and first["workers"] <= len(choices.cores)
        by = _core.ChoicesElsewhere("server-2s", [f"0-{first['workers'] - 1}"], submit_s=2.5e-7, pop_s=2.5e-7)
        assert chosen["seconds"] == pytest.approx(by.foreseen(chosen["plan"], "getrf", "d", 1000, 1000, 0))
        assert chosen["seconds"] <= choices.foreseen("rule", "getrf", "d", 1000, 1000, 0)
    told = [choices.considered("getrf", "d", 1000, 1000, 0)[0]["considered"][0] for choices in (few, many)]
    assert told[0]["nb"] > told[1]["nb"] and told[0]["seconds"] > 4 * told[1]["seconds"]
    laid = many.laid_out("panel-1", "getrf", "d", 1000, 1000, 0, 8)
    assert laid["variant"] == "panel" and laid["nb"] > 0 and laid["cores"] == list(range(8))
    assert many.laid_out("caller", "getrf", "d", 1000, 1000, 0)["variant"] is None
    with pytest.raises(ValueError, match="no plan of potrf"):
        few.laid_out("paked", "potrf", "d", 512, 512, 0)
    with pytest.raises(ValueError, match="many hosts"):
        _core.ChoicesElsewhere("fat-tree")
    with pytest.raises(ValueError, match="without devices"):
        _core.ChoicesElsewhere("idgraf", ["4-7", "gpu:1"])


@pytest.mark.parametrize(
    ("machine", "cores", "plan", "call"),
    [
        # Near cores leave tasks to far ones, which seem free since they wait for data.
        ("uv2000", 48, "in-place-3", ("gemm", 900, 900, 900)),
        ("uv2000", 24, "left-looking+2", ("potrf", 1200, 1200, 0)),
        ("uv2000", 48, "panel-1", ("getrf", 1200, 1200, 0)),
        # Whether one of a few chains is shared depends on who has nothing when it begins.
        ("server-2s", 32, "rule", ("gemm", 3000, 48, 3000)),
    ],
)
def test_what_is_foreseen_is_what_is_simulated(machine, cores, plan, call):
    """Within 5 %: single runs of so few tasks differ by as much."""
    routine, m, n, k = call
    choices = choices_on(machine, (f"0-{cores - 1}",))
    laid = choices.laid_out(plan, routine, "d", m, n, k, cores)
    of_plan = {"nb": laid["nb"], "cut_for": laid["cut_for"], "variant": laid["variant"]}
    runs = [Simulation(routine, n, machine, m=0 if m == n else m, k=k, workers=tuple(map(str, laid["cores"])), as_called=True,
                       seed=seed, effects=parse_effects(ASSUMED), **of_plan) for seed in range(1, 7)]  # fmt: skip
    simulated = statistics.mean(record["makespan_s"] for record in simulate_all(runs))
    assert choices.foreseen(plan, routine, "d", m, n, k) == pytest.approx(simulated, rel=0.05)


def test_a_call_on_a_described_machine_is_explained():
    (row,) = rows("explain", "potrf", "--n", "700", "--machine", "uv2000", "--workers", "0-11")
    assert row["machine"] == "uv2000" and row["estimated"] and row["considered"][0]["plan"] == row["chosen"]
    assert {by["workers"] for by in row["by_cores"]} >= {12, 6} and sum(by["chosen"] for by in row["by_cores"]) == 1
    assert "estimated from the machine's kernel times" in row["why"]
    shown, _ = trencadis("explain", "gemm", "--shape", "400x300x500", "--machine", "server-2s")
    assert "on server-2s, estimated" in shown and "expected ms" in shown
    assert "nowhere" in refusal("explain", "potrf", "--n", "100", "--machine", "nowhere")
    assert "--devices" in refusal("explain", "potrf", "--n", "100", "--machine", "uv2000", "--devices", "emulated:1")
    assert "--objective" in refusal("explain", "potrf", "--n", "100", "--machine", "uv2000", "--objective", "energy")


def test_a_simulated_call_goes_as_is_chosen():
    def simulated(*words):
        return rows("simulate", "getrf", "--machine", "server-2s", "--n", "1500", "--workers", "0-31", *words)[0]

    effects = ("--effect", "submit=250ns", "--effect", "pop=250ns")
    chosen, rule = simulated("--objective", "time", *effects), simulated("--objective", "rule", *effects)
    assert rule["nb"] == simulated(*effects)["nb"] and chosen["nb"] != rule["nb"]
    assert chosen["makespan_s"] < 0.9 * rule["makespan_s"]
    assert "--nb" in refusal("simulate", "getrf", "--machine", "uv2000", "--n", "500", "--nb", "64", "--objective", "time")
    assert "not chosen" in refusal("simulate", "posv", "--machine", "uv2000", "--n", "500", "--objective", "time")
    assert "tim" in refusal("simulate", "potrf", "--machine", "uv2000", "--n", "500", "--objective", "tim")
