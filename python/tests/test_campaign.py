"""Campaigns: what a file may say, runs that survive a death, levers that are put back."""

import json
import random
import resource
import subprocess
import time

import pytest
import typer
from commands import COMMAND, refusal, trencadis
from trencadis.campaign import conduct
from trencadis.campaign.conduct import Campaign, Clock, duration
from trencadis.campaign.levers import Levers
from trencadis.campaign.plan import plan_of
from trencadis.campaign.runs import simulation_of
from trencadis.campaign.store import Store
from trencadis.campaign_commands import campaign_command
from trencadis.effects import WAKE_S
from trencadis.errors import UsageError
from trencadis.reproduce import energy

LEAST = {"name": "c", "repetitions": 3, "factors": {"routine": ["potrf"], "n": [32, 48], "scheduler": ["mosaic", "ws"]}}


def toml(table):
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if key != "factors"]
    return "\n".join([*lines, "[factors]", *(f"{key} = {json.dumps(value)}" for key, value in table["factors"].items())]) + "\n"


def written(folder, table, name="c.toml"):
    file = folder / name
    file.write_text(toml(table))
    return file


def with_factors(**factors):
    return {**LEAST, "factors": {**LEAST["factors"], **factors}}


def described(**factors):
    return {**LEAST, "factors": {"routine": ["potrf"], "n": [64], "machine": "exynos5422", **factors}}


def records_in(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def outline(records):
    """What does not depend on the time that a run took."""
    return [(r["index"], r["block"], r["routine"], r["n"], r["scheduler"], r["matrix_seed"], r["error"]) for r in records]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """The journal of levers is this test's alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_least_form_runs_every_configuration_as_often_as_asked(tmp_path):
    trencadis("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")
    records = records_in(tmp_path / "out")
    assert [r["index"] for r in records] == list(range(12))
    for n in (32, 48):
        for scheduler in ("mosaic", "ws"):
            assert sorted(r["block"] for r in records if (r["n"], r["scheduler"]) == (n, scheduler)) == [0, 1, 2]
    assert all(r["seconds"] > 0 and r["gflops"] > 0 and r["error"] is None for r in records)
    assert len({r["matrix_seed"] for r in records}) == 3
    state = records[0]["state"]
    assert len(state["load"]) == 3 and state["steal_s"] >= 0 and "governor" in state
    assert records[0]["software"]["version"] and "commit" in records[0]["software"]


def test_blocks_have_orders_of_their_own_that_the_seed_repeats():
    table = with_factors(n=list(range(1, 9)))
    plan, again, other = plan_of(table), plan_of(table), plan_of({**table, "seed": 2})
    orders = [plan.order(block, 16) for block in range(3)]
    assert all(sorted(order) == list(range(16)) for order in orders) and orders[0] != orders[1] != orders[2]
    assert list(plan.runs()) == list(again.runs()) and orders[0] != other.order(0, 16)
    assert plan.order(0, 4) == [1, 2, 0, 3]  # on every machine


BAD = {
    "empty": ({"name": "c", "factors": {}}, "empty"),
    "no levels": (with_factors(n=[]), "empty"),
    "factor": (with_factors(schedulr=["ws"]), "did you mean 'scheduler'"),
    "level": (with_factors(scheduler=["mosiac"]), "did you mean 'mosaic'"),
    "machine": (with_factors(machine=["uv200"]), "did you mean 'uv2000'"),
    "key": ({**LEAST, "repetition": 5}, "did you mean 'repetitions'"),
    "few": ({**LEAST, "repetitions": 2}, "3 or more"),
    "truth": ({**LEAST, "repetitions": True}, "whole number"),
    "fraction": (with_factors(n=[32.5]), "whole number"),
    "truth as size": (with_factors(n=[True]), "whole number"),
    "twice": (with_factors(n=[32, 32]), "given twice"),
    "memory": (with_factors(n=[2_000_000]), "GiB"),
    "path": ({**LEAST, "name": "../c"}, "word of letters"),
    "variant": (with_factors(variant=["tournament"]), "unknown variant of potrf"),
    "core": (with_factors(busy=["1000=1"]), "no core 1000"),
    "no effect": (described(effect=["nonee"]), "unknown effect 'nonee'; did you mean 'none'"),
    "effect among others": (described(effect=["spin,jiter=0.1"]), "did you mean 'jitter'"),
    "effect": (with_factors(effect=["jitter"]), "described machine"),
    "described": (with_factors(machine=["uv2000"], kernels=["native"]), "says nothing of the described machine"),
    "state": (with_factors(machine=["exynos5422"], turbo=[True]), "no states turbo"),
    "relief of a list": (with_factors(relief=[[]]), "relief = []: must be text"),
    "relief of a truth": (with_factors(relief=False), "relief = False: must be text"),
    "described policy": (described(scheduler=["ws", "mosaic:zz=1"]), "unknown option"),
    "described workers": (described(workers=["0-3", "cortex-a16"]), "known: cortex-a7, cortex-a15"),
    "described cores": (described(workers=[9]), "has 8 cores"),
    "described state": (described(effect=["power-state=nominl"]), "did you mean 'nominal'"),
    "described sleep": (described(effect=["no-sleep=powersafe"]), "did you mean 'powersave'"),
    "described sleep twice": (described(cstates=["all"], effect=["no-sleep=nominal"]), "both say how cores wait"),
    "described governor": (described(cstates=["none"], governor=["perfomance"]), "did you mean 'performance'"),
    "described governor alone": (described(governor=["performance"]), "give cstates"),
    "described governor without its state": (
        described(machine="cluster", cstates=["none"], governor=["powersave"]),
        "no state powersave",
    ),
    "described n": (described(n=[64, 2**31 - 1]), "choose a smaller n"),
    "described memory": (described(n=[20_000]), "the memory of exynos5422 is 2.1 GB"),
    "workers": (with_factors(workers=[4000]), "cores are allowed"),
    "option": (with_factors(scheduler=["ws:zz=1"]), "unknown option"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_file_may_not_say_is_refused_before_anything_runs(case, tmp_path):
    table, said = BAD[case]
    assert said in refusal("campaign", written(tmp_path, table), "-o", tmp_path / "out")
    assert not (tmp_path / "out" / "runs.jsonl").exists() or records_in(tmp_path / "out") == []
    assert said in refusal("campaign", written(tmp_path, table), "--plan")


@pytest.mark.parametrize(
    "content",
    [b"", b"name = [", b"\xff\xfe", b"[factors]\nn = nan\n", b"a = " + b"[" * 5000, b'name="c"\nfactors=3', b"n = " + b"9" * 5000,
     b'name="c"\n[factors]\nroutine="potrf"\nn=0x' + b"f" * 5000],
)
def test_files_that_are_no_campaign_are_refused_in_one_line(content, tmp_path):
    (tmp_path / "c.toml").write_bytes(content)
    assert "c.toml" in refusal("campaign", tmp_path / "c.toml")


def test_a_plan_of_very_many_levels_is_made_at_once():
    begin = time.process_time()
    assert len(plan_of(with_factors(n=[32], nb=list(range(1, 100_001)), scheduler=["ws"])).configurations) == 100_000
    assert time.process_time() - begin < 40  # 2 s, where each was compared with all before it more than a minute


def test_exceptions_leave_combinations_out():
    table = {**LEAST, "except": [{"n": 32, "scheduler": "ws"}]}
    assert [(c["n"], c["scheduler"]) for c in plan_of(table).configurations] == [(32, "mosaic"), (48, "mosaic"), (48, "ws")]
    with pytest.raises(UsageError, match="unknown level of n '33'; did you mean '3"):
        plan_of({**LEAST, "except": [{"n": 33}]})


def test_a_torn_line_is_dropped_and_a_damaged_one_in_the_middle_is_refused(tmp_path):
    file, runs = written(tmp_path, LEAST), tmp_path / "out" / "runs.jsonl"
    trencadis("campaign", file, "-o", tmp_path / "out")
    whole = runs.read_bytes()
    for tail in (whole[:-7], whole[:-7] + b"\n", whole + b"\0" * 300 + b"\n" + b"\0" * 9):
        runs.write_bytes(tail)
        _, said = trencadis("campaign", file, "-o", tmp_path / "out")
        assert "dropped" in said and outline(records_in(tmp_path / "out")) == outline(map(json.loads, whole.splitlines()))
    lines = whole.splitlines(keepends=True)
    runs.write_bytes(b"".join([lines[0], lines[1][:-9] + b"\n", *lines[2:]]))
    assert "line 2" in refusal("campaign", file, "-o", tmp_path / "out")


def test_records_that_do_not_say_of_which_commit_they_are_stop_no_campaign(tmp_path):
    file, runs = written(tmp_path, LEAST), tmp_path / "out" / "runs.jsonl"
    trencadis("campaign", file, "-o", tmp_path / "out")
    changed = [
        {**record, "software": said}
        for record, said in zip(records_in(tmp_path / "out"), (None, "mine", 7, [], {}), strict=False)
    ]
    del changed[-1]["error"], changed[-1]["message"]
    runs.write_text("".join(json.dumps(record) + "\n" for record in changed))
    trencadis("campaign", file, "-o", tmp_path / "out")
    assert len(records_in(tmp_path / "out")) == 12


def test_more_repetitions_go_on_and_other_factors_are_refused(tmp_path):
    trencadis("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")
    first = records_in(tmp_path / "out")
    trencadis("campaign", written(tmp_path, {**LEAST, "repetitions": 4}), "-o", tmp_path / "out")
    assert records_in(tmp_path / "out")[:12] == first and len(records_in(tmp_path / "out")) == 16
    assert "another `factors`" in refusal("campaign", written(tmp_path, with_factors(n=[32])), "-o", tmp_path / "out")
    assert "another `seed`" in refusal("campaign", written(tmp_path, {**LEAST, "seed": 9}), "-o", tmp_path / "out")


def test_factors_in_another_order_are_refused_since_it_numbers_the_runs(tmp_path):
    trencadis("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")
    before = (tmp_path / "out" / "runs.jsonl").read_bytes()
    turned = {**LEAST, "repetitions": 4, "factors": dict(reversed(LEAST["factors"].items()))}
    said = refusal("campaign", written(tmp_path, turned), "-o", tmp_path / "out")
    assert "were in the order routine, n, scheduler" in said
    assert (tmp_path / "out" / "runs.jsonl").read_bytes() == before


def test_a_run_that_is_not_of_the_configuration_at_its_place_is_refused(tmp_path):
    trencadis("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")
    records = records_in(tmp_path / "out")
    del records[0]["configuration"]["relief"]  # as of a version that had no such factor
    (tmp_path / "out" / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    trencadis("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")
    records[5]["configuration"]["n"] = 80 - records[5]["configuration"]["n"]
    (tmp_path / "out" / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert "run 5 is of another configuration" in refusal("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")


def test_one_folder_has_one_campaign_at_a_time(tmp_path):
    plan = plan_of(LEAST)
    with Store(tmp_path / "out", plan):
        assert "another process" in refusal("campaign", written(tmp_path, LEAST), "-o", tmp_path / "out")


def test_a_full_disk_loses_nothing_that_was_written(tmp_path):
    file = written(tmp_path, LEAST)

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    words = [*COMMAND, "campaign", str(file), "-o", str(tmp_path / "out")]
    full = subprocess.run(words, capture_output=True, text=True, preexec_fn=little, timeout=300)
    there = records_in(tmp_path / "out")
    assert full.returncode == 2 and f"the {len(there)} runs in it are safe" in full.stderr and 0 < len(there) < 12
    trencadis("campaign", file, "-o", tmp_path / "out")
    assert records_in(tmp_path / "out")[: len(there)] == there and len(records_in(tmp_path / "out")) == 12


def test_a_run_that_fails_is_recorded_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    factors = {"routine": ["potrf"], "n": [512], "nb": [64, 128], "machine": ["exynos5422"], "workers": [2, 3]}
    answers = conduct.simulated

    def failing(plan, runs):
        for run, answer in zip(runs, answers(plan, runs), strict=True):
            lost = {"error": "MemoryError", "message": "none left"}
            yield lost if run.configuration["workers"] == 3 else answer

    monkeypatch.setattr(conduct, "simulated", failing)
    with pytest.raises(typer.Exit) as end:
        campaign_command(written(tmp_path, {"name": "c", "repetitions": 3, "factors": factors}), tmp_path / "out")
    records = records_in(tmp_path / "out")
    failed = [r for r in records if r["error"]]
    assert end.value.exit_code == 1 and len(records) == 12 and len(failed) == 6
    assert "6 of 12 runs failed: none left" in capsys.readouterr().err
    assert all(r["seconds"] is None and r["workers"] == 3 for r in failed)
    assert all(r["seconds"] > 0 and r["simulated"] for r in records if not r["error"])


def test_a_clock_that_jumps_changes_neither_order_nor_time_left(monkeypatch):
    runs = list(plan_of(LEAST).runs())
    clock = Clock(runs)
    for run in runs[:5]:
        monkeypatch.setattr(time, "time", lambda: random.uniform(-1e9, 1e9))
        clock.done(run)
    assert 0 <= clock.seconds_left() < 60
    assert [duration(s) for s in (0.2, 60, 700, 13000, 400000)] == ["0 s", "60 s", "12 min", "3 h 37 min", "4 d 15 h"]


def test_the_time_left_is_told_of_many_runs_at_once():
    """Of 30,000 runs of 1,000 configurations: by the mean of each, and of those that have not run by the mean of the others."""
    runs = list(plan_of({**with_factors(n=list(range(1, 501))), "repetitions": 30}).runs())
    clock = Clock(runs)
    for run in runs:
        clock._last = time.monotonic() - (1 + run.number % 2)
        clock.done(run)
        clock.seconds_left()
    assert clock.seconds_left() == pytest.approx(0, abs=1e-3)
    clock = Clock(runs)
    for run in runs[:300]:
        clock._last = time.monotonic() - 2
        clock.done(run)
    assert clock.seconds_left() == pytest.approx(2 * (len(runs) - 300), rel=0.01)


def test_what_turbo_does_to_a_described_machine_is_simulated(tmp_path):
    table = {
        "name": "c",
        "repetitions": 3,
        "factors": {"routine": "potrf", "n": 1024, "nb": 256, "machine": "uv2000", "turbo": [True, False]},
    }
    with Store(tmp_path / "out", plan_of(table)) as store:
        Campaign(plan_of(table), store, Levers(False), note=print).run()
        fast, slow = (
            [r["seconds"] for r in store.records.values() if r["configuration"]["turbo"] is turbo] for turbo in (True, False)
        )
    assert max(fast) < min(slow) and all(r["energy"]["machine"]["joules"] > 0 for r in store.records.values())


def test_all_levers_of_a_described_machine_are_those_of_the_published_tables(tmp_path):
    factors = {"routine": "potrf", "n": 1024, "nb": 256, "machine": "uv2000", "turbo": [True, False], "cstates": ["all", "none"],
               "governor": ["performance", "powersave"]}  # fmt: skip
    plan = plan_of({"name": "c", "repetitions": 3, "factors": factors})
    for run in plan.runs():
        levers = {key: run.configuration[key.replace("_", "")] for key in ("turbo", "c_states", "governor")}
        assert simulation_of(plan, run).effects == energy.effects_of("libgomp", levers)
    with Store(tmp_path / "out", plan) as store:
        Campaign(plan, store, Levers(False), note=print).run()
        records = list(store.records.values())
    assert all(outcome["set"] for record in records for outcome in record["levers"].values())
    found = {tuple(record["configuration"][lever] for lever in ("turbo", "cstates", "governor")): record for record in records}
    for turbo in (True, False):  # those that sleep wake late, and have no clock; those that poll draw more at a higher one
        asleep, idle = (found[turbo, "all", governor] for governor in ("performance", "powersave"))
        high, low = (found[turbo, "none", governor] for governor in ("performance", "powersave"))
        assert asleep["seconds"] == idle["seconds"] > high["seconds"] == low["seconds"]
        assert asleep["energy"] == idle["energy"]
        assert high["energy"]["core"]["joules"] > low["energy"]["core"]["joules"]


def test_a_described_machine_has_the_domains_of_real_meters_as_far_as_it_describes_them(tmp_path):
    factors = {"routine": "potrf", "n": 512, "nb": 128, "machine": ["uv2000", "exynos5422"]}
    plan = plan_of({"name": "c", "repetitions": 3, "factors": factors})
    with Store(tmp_path / "out", plan) as store:
        Campaign(plan, store, Levers(False), note=print).run()
        records = {record["machine"]: record for record in store.records.values()}
    energies = records["uv2000"]["energy"]
    assert all(domain["how"] == "simulated" for domain in energies.values()) and energies["core"]["inside"][0] == "package"
    joules = {name: domain["joules"] for name, domain in energies.items()}
    seconds = records["uv2000"]["seconds"]
    assert joules["package"] == pytest.approx(joules["core"] + 8 * 40 * seconds)  # eight nodes of 40 W beside their cores
    assert joules["dram"] == pytest.approx(8 * 20 * seconds)
    assert joules["machine"] == pytest.approx(joules["package"] + joules["dram"])
    assert list(records["exynos5422"]["energy"]) == ["core", "machine"]  # what it does not describe is no domain, and not 0 J
    (silent,) = conduct._energy({"simulated": True, "machine": "mine", "energy_j": None}).values()
    assert (silent["joules"], silent["how"], silent["why"]) == (None, "unavailable", "mine does not describe what it draws")


def test_levers_go_beside_the_effects_that_a_campaign_names():
    factors = {"routine": "potrf", "n": 64, "machine": "uv2000", "effect": ["wake=50us", "power-state=nominal"],
               "cstates": ["all", "none"]}  # fmt: skip
    plan = plan_of({"name": "c", "repetitions": 3, "factors": factors})
    found = {(run.configuration["effect"], run.configuration["cstates"]): simulation_of(plan, run).effects for run in plan.runs()}
    assert found == {
        ("wake=50us", "all"): {"wake_s": 50e-6},
        ("wake=50us", "none"): {"wake_s": 50e-6, "awake_state": "turbo"},  # the first state that the machine describes
        ("power-state=nominal", "all"): {"power_state": "nominal", "wake_s": WAKE_S},
        ("power-state=nominal", "none"): {"power_state": "nominal", "awake_state": "nominal"},
    }


def test_a_run_says_what_its_own_process_has_loaded(tmp_path, monkeypatch):
    """A build may put another library in its place while a campaign runs."""
    monkeypatch.setattr("trencadis.campaign.conduct.software", lambda: {"library": "of the parent", "commit": None})
    plan = plan_of(LEAST)
    with Store(tmp_path / "out", plan) as store:
        Campaign(plan, store, Levers(False), note=print).run()
        libraries = {record["software"]["library"] for record in store.records.values()}
    assert len(libraries) == 1 and libraries != {"of the parent"}
