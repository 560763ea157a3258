"""Reports on campaigns, of runs whose figures are known."""

import csv
import importlib.util
import io
import itertools
import json
import platform
import random
import re
import sys
import tracemalloc
from pathlib import Path

import pytest
import scipy.stats
from commands import refusal, rows, trencadis
from trencadis.campaign.plan import plan_of
from trencadis.report import findings, pages, read
from trencadis.report.read import read_groups

FACTORS = {"routine": ["potrf"], "n": [512, 1024], "scheduler": ["mosaic", "ws", "eager"], "turbo": [True, False]}


def speed(levels, noise):
    """mosaic is fastest, turbo gives 10 %, and takes 30 % more power."""
    rate = levels["n"] / 10 * {"mosaic": 1.2, "ws": 1.1, "eager": 1.0}[levels["scheduler"]] * (1.1 if levels["turbo"] else 1.0)
    return rate * (1 + noise)


def write_runs(folder, *, commit="abc", machine="vm", host="here", factors=FACTORS, repetitions=6, broken=None, energy=True):
    """A campaign as it would have been, with known speeds."""
    plan, chance = plan_of({"name": "c", "repetitions": repetitions, "factors": factors}), random.Random(5)
    lines = []
    for run in plan.runs():
        levels = run.configuration
        gflops = speed(levels, chance.uniform(-0.01, 0.01))
        seconds = levels["n"] ** 3 / 3e9 / gflops
        joules = seconds * (130 if levels["turbo"] else 100)
        record = {
            "campaign": "c", "index": run.index, "block": run.block, "machine": machine, "simulated": False, "seconds": seconds,
            "gflops": gflops, "error": None, "message": None, "configuration": levels, "matrix_seed": 1, "routine": "potrf",
            "energy": {"package": {"joules": joules, "how": "measured"}} if energy else None,
            "levers": {"turbo": {"asked": levels["turbo"], "set": True, "was": True}},
            "software": {"version": "0.1.0", "commit": commit, "library": "f00", "host": host, "cpu": "P"},
        }  # fmt: skip
        lines.append(json.dumps({**record, **(broken or {})}))
    folder.mkdir(exist_ok=True)
    (folder / "runs.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("known") / "c")


def test_means_have_intervals_that_hold_them_and_the_best_is_the_best(known):
    found = rows("report", known)
    assert len(found) == 12 and all(row["runs"] == 6 for row in found)
    for row in found:
        levels = {key: row[key] for key in FACTORS}
        assert row["gflops_mean"] == pytest.approx(speed(levels, 0), rel=0.01)
        assert row["gflops_low"] < row["gflops_mean"] < row["gflops_high"] and row["seconds_low"] < row["seconds_high"]
        assert row["energy"]["package"]["how"] == "measured"
    best = [row for row in found if "speed" in row["best_for"]]
    assert [(row["n"], row["scheduler"], row["turbo"]) for row in best] == [(512, "mosaic", True), (1024, "mosaic", True)]
    lean = [row for row in found if "energy package" in row["best_for"]]
    assert [(row["scheduler"], row["turbo"]) for row in lean] == [("mosaic", False)] * 2


def test_a_bootstrap_interval_holds_the_true_mean_about_as_often_as_it_says():
    chance = random.Random(11)
    held = 0
    for _ in range(200):
        mean = findings.mean_of([chance.gauss(10, 1) for _ in range(30)])
        held += mean.low < 10 < mean.high
    assert 174 <= held <= 199  # 95 % of 200 with three deviations of 3.1, and what BCa lacks at 30 values


def test_intervals_are_the_same_with_a_scipy_before_1_15(monkeypatch):
    """Where the generator is called random_state."""
    values = [1.0, 2.0, 4.0, 8.0, 16.0]
    now, expected = scipy.stats.bootstrap, findings.mean_of(values).text()

    def bootstrap(data, statistic, *, confidence_level, n_resamples, method, vectorized, batch, random_state):
        how = {"confidence_level": confidence_level, "n_resamples": n_resamples, "method": method, "vectorized": vectorized,
               "batch": batch}  # fmt: skip
        return now(data, statistic, **how, **{findings._CHANCE: random_state})

    monkeypatch.setattr(scipy.stats, "bootstrap", bootstrap)
    spec = importlib.util.spec_from_file_location("trencadis.report.findings_before", findings.__file__)
    before = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, before)
    spec.loader.exec_module(before)
    assert before.mean_of(values).text() == expected


def test_what_choosing_energy_costs_and_saves_is_what_follows_from_the_figures(known):
    (group,) = read_groups([known])
    for row in findings.trade_table(group, findings.configurations(group)):
        assert row["fastest"] == "scheduler mosaic, turbo on" and row["leanest"] == "scheduler mosaic, turbo off"
        assert row["slower"] == pytest.approx(100 * (1 - 1 / 1.1), abs=1) and row["faster"] == pytest.approx(10, abs=1)
        assert row["saved"] == pytest.approx(100 * (1 - 110 / 130), abs=1.5)


def test_correlations_have_the_sign_and_significance_that_the_figures_have(known):
    (group,) = read_groups([known])
    table = {
        (r["problem"], r["lever"], r["metric"]): r for r in findings.correlation_table(group, findings.configurations(group))
    }
    turbo = table["dpotrf n = 512", "turbo on", "speed"]
    assert turbo["pearson"] > 0.3 and turbo["significant"] and turbo["held"] > 0.97 and turbo["held_p"] < 1e-10
    energy = table["dpotrf n = 512", "turbo on", "energy package"]
    assert energy["pearson"] > 0.5 and energy["spearman"] > 0.5
    assert table["dpotrf n = 512", "scheduler eager", "speed"]["pearson"] < -0.3
    assert {lever for _, lever, _ in table} == {"turbo on", "scheduler eager", "scheduler mosaic", "scheduler ws"}


def test_pages_are_whole_and_need_no_network(known, tmp_path):
    trencadis("report", known, "-o", tmp_path / "r.html", "--no-gantt")
    page = (tmp_path / "r.html").read_text()
    assert not re.search(r"https?:|//\w|src=|<script|@import", page)
    assert page.count("<svg") >= 3 and page.count("<table>") == 4 and "scheduler mosaic, turbo on" in page
    from html.parser import HTMLParser

    HTMLParser().feed(page)
    trencadis("report", known, "-o", tmp_path / "r.md")
    assert "| dpotrf n = 1024 |" in (tmp_path / "r.md").read_text()
    trencadis("report", known, "-o", tmp_path / "r.csv")
    table = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert len(table) == 12 and float(table[0]["package_joules_mean"]) > 0
    out, _ = trencadis("report", known, "--format", "csv")
    assert list(csv.DictReader(io.StringIO(out))) == table


def test_failed_runs_are_counted_wherever_the_report_is_made(known, tmp_path):
    """A record of a failed run has no name of a machine."""
    lines = (known / "runs.jsonl").read_text().splitlines()
    lost = {"error": "Ended", "message": "gone", "seconds": None, "gflops": None, "energy": None, "machine": "real"}
    lines[3] = json.dumps({**json.loads(lines[3]), **lost})
    other = [json.dumps({**json.loads(line), **lost, "software": {"commit": "fff", "host": "here", "cpu": "P"}})
             for line in lines[:2]]  # fmt: skip
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "runs.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "runs.jsonl").write_text("\n".join(other) + "\n")
    out, said = trencadis("report", tmp_path / "c", tmp_path / "d")
    assert "1 runs failed and count nowhere: gone" in out
    assert "commit fff: all 2 runs failed: gone" in said


def test_runs_with_emulated_devices_are_said_to_be_and_kept_apart(known, tmp_path):
    emulated = write_runs(tmp_path / "c", broken={"devices": "emulated:2", "emulated": True})
    out, said = trencadis("report", known, emulated)
    assert "2 groups" in said and "with emulated devices on here" in out and "72 runs, with emulated devices" in out
    assert [row.get("emulated", False) for row in rows("report", known, emulated)].count(True) == 12


def test_runs_of_other_machines_and_commits_are_kept_apart_by_name(known, tmp_path):
    other, elsewhere = write_runs(tmp_path / "b", commit="def"), write_runs(tmp_path / "d", host="there")
    out, said = trencadis("report", known, other, elsewhere)
    assert "3 groups that are not put together" in said
    assert len({line for line in out.splitlines() if line.startswith("c: vm, measured on ")}) == 3
    with (known / "runs.jsonl").open() as file:
        mixed = tmp_path / "m"
        mixed.mkdir()
        lines = file.read().splitlines()
    (mixed / "runs.jsonl").write_text("\n".join([*lines[:36], *(line.replace('"abc"', '"xyz"') for line in lines[36:])]) + "\n")
    assert {row["commit"] for row in rows("report", mixed)} == {"abc", "xyz"}
    assert "did you mean 'vm'" in refusal("report", known, "--machine", "wm")


def test_a_lever_that_was_not_set_is_no_lever(tmp_path):
    levers = {"turbo": {"asked": True, "set": False, "was": None, "why": "no such lever"}}
    out, _ = trencadis("report", write_runs(tmp_path / "c", broken={"levers": levers}))
    assert "turbo was asked for and not set in 72 runs (no such lever)" in out and "turbo on" not in out


def with_levers(folder, outcome_of, state_of):
    """The same runs, with what became of their levers."""
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in records:
        asked = record["configuration"]
        record["levers"] = {lever: {"asked": asked[lever], **outcome_of(record, lever)} for lever in ("turbo", "governor")}
        record["state"] = state_of(record)
    (folder / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


UNSET_FACTORS = {"routine": ["potrf"], "n": [512], "scheduler": ["mosaic", "ws"], "turbo": [True, False],
                 "governor": ["performance", "powersave"]}  # fmt: skip


@pytest.mark.parametrize("simulated", [True, False])
def test_runs_that_differ_in_a_lever_that_was_not_set_are_runs_of_one_configuration(simulated, tmp_path):
    """Four copies of each would make anything significant."""
    folder = write_runs(tmp_path / "c", factors=UNSET_FACTORS, repetitions=3, broken={"simulated": simulated})

    def outcome(record, lever):
        return {"set": True, "was": True} if lever == "turbo" else {"set": False, "was": None, "why": "no such lever"}

    (group,) = read_groups([with_levers(folder, outcome, lambda record: None)])
    found = findings.configurations(group)
    assert len(found) == 4 and all(len(one.records) == 6 for one in found) and group.levers() == ["scheduler", "turbo"]
    assert len(rows("report", folder)) == 4
    (best,) = [row for row in findings.best_table(group, found) if row["metric"] == "speed"]
    assert (best["best"], best["as_good"], best["of"]) == ("scheduler mosaic, turbo on", 0, 4)
    speeds = {(row["lever"], row["metric"]): row for row in findings.correlation_table(group, found)}
    turbo = speeds["turbo on", "speed"]
    assert turbo["runs"] == (4 if simulated else 24)
    if simulated:
        pairs = [(1.0 if one.levels["turbo"] else -1.0, one.means["speed"].mean) for one in found]
        expected = scipy.stats.pearsonr(*zip(*pairs, strict=True)).statistic
        assert turbo["pearson"] == pytest.approx(expected) and turbo["pearson_p"] > 0.3 and not turbo["significant"]


def test_a_lever_that_was_not_set_counts_with_what_the_machine_had(tmp_path):
    """Turbo on, which may not be changed; a governor that is powersave and could be set from the second block on."""
    folder = write_runs(tmp_path / "c", factors=UNSET_FACTORS, repetitions=3)

    def outcome(record, lever):
        asked, allowed = record["configuration"][lever], lever == "governor" and record["block"] > 0
        was = {"turbo": True, "governor": "powersave"}[lever]
        return {"set": asked == was or allowed, "was": was, **({} if asked == was or allowed else {"why": "not allowed"})}

    def state(record):
        return {"turbo": True, "governor": record["configuration"]["governor"] if record["block"] else "powersave"}

    (group,) = read_groups([with_levers(folder, outcome, state)])
    found = findings.configurations(group)
    assert group.levers() == ["scheduler", "governor"] and group.levels("turbo") == [True]
    runs = {(one.levels["scheduler"], one.levels["governor"]): len(one.records) for one in found}
    assert runs == {(s, g): n for s in ("mosaic", "ws") for g, n in (("performance", 4), ("powersave", 8))}
    notes = pages.notes_of(group)
    assert "turbo was asked for and not set in 12 runs (not allowed): they count with what the machine had, and it is no lever " \
           "here" in notes  # fmt: skip
    assert "governor was asked for and not set in 4 runs (not allowed): they count with what the machine had" in notes


BROKEN = {
    "no number": {"seconds": "fast"}, "truth": {"seconds": True}, "nothing": {"seconds": 0}, "energy": {"energy": 7},
    "NaN": {"gflops": float("nan")},
    "no speed": {"gflops": 0}, "less than none": {"gflops": -1.0},
    "infinite": {"energy": {"package": {"joules": float("inf")}}},
    "levels": {"configuration": {"routine": ["potrf"], "n": {}}},
    "levers": {"levers": {"turbo": 1}},
    "software": {"software": "mine"},
    "block": {"block": "first"},
    "domain": {"energy": {"package": {"joules": "many"}}},
    "nothing asked for": {"configuration": {}}, "no order": {"configuration": {"routine": "potrf", "n": "many"}},
    "failure without a name": {"error": ""}, "failure of no kind": {"error": []},
    "said nothing": {"error": "Ended", "message": {}},
    "failed": {"error": "MemoryError", "message": "too large", "seconds": None},
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_records_that_no_campaign_writes_are_refused_in_one_line(case, tmp_path):
    refusal("report", write_runs(tmp_path / "c", broken=BROKEN[case]))


def test_folders_without_runs_are_refused(tmp_path):
    assert "no campaign has run there" in refusal("report", tmp_path)
    (tmp_path / "runs.jsonl").write_text("")
    assert "no run is there yet" in refusal("report", tmp_path)
    assert "cannot be read" in refusal("report", tmp_path / "nowhere")
    assert "suffixes" in refusal("report", tmp_path, "-o", tmp_path / "r.pdf")
    (tmp_path / "runs.jsonl").write_text('{"index": 0}\n[1]\n')
    assert "no run is there yet" in refusal("report", tmp_path)


def test_a_described_machine_has_its_tables_by_the_same_commands(tmp_path):
    factors = {"routine": "potrf", "n": 2048, "nb": 256, "scheduler": ["libgomp", "libkomp"], "turbo": [True, False]}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in factors.items())
    (tmp_path / "c.toml").write_text(f'name = "c"\nrepetitions = 3\n[factors]\n{lines}\n')
    trencadis("campaign", "c.toml", "--machine", "uv2000", cwd=tmp_path)
    out, _ = trencadis("report", "c.toml", "--machine", "uv2000", cwd=tmp_path)
    assert "c: uv2000, simulated" in out
    assert all(f"energy of {domain}: simulated" in out for domain in ("core", "package", "dram", "machine"))
    trencadis("report", "c.toml", "-o", "r.html", cwd=tmp_path)
    assert "turbo on, simulated" in (tmp_path / "r.html").read_text()  # the timeline's heading
    speeds = {(row["scheduler"], row["turbo"]): row["gflops_mean"] for row in rows("report", "c.toml", cwd=tmp_path)}
    assert all(speeds[s, True] > speeds[s, False] for s in ("libgomp", "libkomp")) and len(list(itertools.chain(speeds))) == 4


def test_runs_of_a_machine_whose_file_was_changed_in_between_are_kept_apart_by_name(tmp_path):
    said = Path(__file__).parents[2].joinpath("machines/uniform64.toml").read_text()
    machine, factors = tmp_path / "m.toml", f'routine = "potrf"\nn = 64\nmachine = {json.dumps(str(tmp_path / "m.toml"))}\n'
    for repetitions, comment in ((3, "# ours\n"), (4, "# the same figures\n"), (6, "")):
        text = said if comment else said.replace("gflops = ", "gflops = 1")
        assert comment or text != said
        machine.write_text(comment + text)
        (tmp_path / "c.toml").write_text(f'name = "c"\nrepetitions = {repetitions}\n[factors]\n{factors}')
        trencadis("campaign", "c.toml", cwd=tmp_path)
    found = rows("report", "c.toml", cwd=tmp_path)
    assert [row["runs"] for row in found] == [4, 2] and len({row["description"] for row in found}) == 2
    _, warned = trencadis("report", "c.toml", cwd=tmp_path)
    assert "2 groups that are not put together" in warned and all(row["description"] in warned for row in found)


def test_runs_of_a_configuration_that_were_resolved_in_different_ways_are_kept_apart_by_name(tmp_path):
    folder = write_runs(tmp_path / "c", factors={**FACTORS, "scheduler": ["mosaic"]}, repetitions=6)
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in records:
        record |= {"scheduler": "mosaic", "workers": [0] if record["block"] < 2 else [0, 1]}
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    found = rows("report", folder)
    assert sorted((row["workers"], row["runs"]) for row in found) == [("all: 0", 2)] * 4 + [("all: 0,1", 4)] * 4
    out, _ = trencadis("report", folder)
    assert "workers: runs of one configuration had 0 and 0,1; kept apart" in out


def correlations(pairs):
    return findings._correlations(pairs)


def test_few_values_in_a_line_are_as_significant_as_their_orders_are_rare():
    three, four, five = ([(float(i), 10.0 * i) for i in range(count)] for count in (3, 4, 5))
    for pairs, p in ((three, 2 / 6), (four, 2 / 24), (five, 2 / 120)):
        found = correlations(pairs)
        assert found["spearman"] == pytest.approx(1) and found["spearman_p"] == pytest.approx(p)
        assert found["pearson_p"] == pytest.approx(p) and found["significant"] is (p < 0.05)
    tied = correlations([(-1.0, 1.0), (-1.0, 2.0), (1.0, 3.0), (1.0, 4.0)])
    assert tied["spearman_p"] == pytest.approx(2 / 6)  # of the six ways to choose two, this one and its opposite


def test_permutations_and_t_distribution_agree_where_the_one_gives_way_to_the_other():
    chance = random.Random(4)
    pairs = [(float(x), x + chance.gauss(0, 3)) for x in range(findings.MOST_PERMUTED)]
    found, by_t = correlations(pairs), scipy.stats.spearmanr(*zip(*pairs, strict=True))
    assert found["spearman"] == pytest.approx(by_t.statistic) and found["spearman_p"] == pytest.approx(by_t.pvalue, abs=0.03)


def test_values_that_differ_by_rounding_alone_have_no_correlation_and_no_warning(recwarn):
    nearly = [(float(i), 7.0 * (1 + i * 1e-13)) for i in range(20)]
    assert correlations(nearly)["pearson"] is None and correlations(nearly[:5])["spearman_p"] is None
    assert findings._held([(*pair, "all") for pair in nearly])["held"] is None
    assert correlations([(float(i), 1 + i * 1e-8) for i in range(20)])["pearson"] == pytest.approx(1)
    assert not recwarn.list


def without_energy(folder, missing):
    """The runs that `missing` says have no reading of the package."""
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in filter(missing, records):
        record["energy"] = {"package": {"joules": None, "how": "unavailable", "why": "gone"}}
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    return records


def test_a_run_without_a_reading_leaves_its_domain_to_the_others(tmp_path):
    folder = write_runs(tmp_path / "c")
    records = without_energy(folder, lambda record: record["index"] == 7)
    out, _ = trencadis("report", folder)
    assert "energy of package: measured, in 71 of 72 runs" in out and "energy chosen: slower" in out
    mine = [r for r in records if r["configuration"] == records[7]["configuration"] and r["index"] != 7]
    joules = sum(r["energy"]["package"]["joules"] for r in mine) / 5
    (row,) = [row for row in rows("report", folder) if all(row[key] == records[7]["configuration"][key] for key in FACTORS)]
    assert row["energy"]["package"]["joules_mean"] == pytest.approx(joules) and row["runs"] == 6


def test_a_configuration_without_any_reading_is_not_the_leanest(tmp_path):
    folder = write_runs(tmp_path / "c")
    without_energy(folder, lambda record: record["configuration"]["scheduler"] == "mosaic" or record["configuration"]["n"] == 512)
    found = rows("report", folder)
    assert [row["scheduler"] for row in found if "energy package" in row["best_for"]] == ["ws"]
    assert all(row["energy"] is None for row in found if row["scheduler"] == "mosaic" or row["n"] == 512)
    for suffix in ("html", "csv", "md"):
        trencadis("report", folder, "-o", tmp_path / f"r.{suffix}", "--no-gantt")


def test_a_run_counts_once_however_often_its_file_is_named(tmp_path):
    folder = write_runs(tmp_path / "c")
    (tmp_path / "also").symlink_to(folder)
    same = (folder, tmp_path / "also", folder / "runs.jsonl", tmp_path / "c" / ".." / "c")
    assert [row["runs"] for row in rows("report", *same)] == [6] * 12
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in records:
        record["ended"] = f"2026-01-01T00:00:{record['index'] // 2:02}+00:00"
    copies = tmp_path / "copy", tmp_path / "more"
    for copy, shown in zip(copies, (records[:50], records), strict=True):
        copy.mkdir()
        (copy / "runs.jsonl").write_text("\n".join(map(json.dumps, shown)) + "\n")
    out, said = trencadis("report", *copies)
    assert "72 runs, measured" in out and "50 runs are in several of these files, and count once" in said


def test_a_record_that_lacks_a_factor_was_as_where_no_file_names_it(tmp_path):
    folder = write_runs(tmp_path / "c")
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in records:
        record["software"]["host"] = platform.node()
        for factor in ("workers", "precision", "busy", "machine"):
            del record["configuration"][factor]
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    trencadis("report", folder, "-o", tmp_path / "r.html")
    assert "turbo on, a run made for this picture" in (tmp_path / "r.html").read_text()
    assert {(row["workers"], row["precision"], row["runs"]) for row in rows("report", folder)} == {("all", "d", 6)}


def test_one_worker_and_the_worker_on_core_1_are_two_levels(tmp_path):
    factors = {"routine": ["potrf"], "n": [512], "scheduler": ["mosaic"], "turbo": [True], "workers": [1, "1"]}
    folder = write_runs(tmp_path / "c", factors=factors)
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for record in records:
        record["gflops"] *= 1 if record["configuration"]["workers"] == 1 else 2
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    out, _ = trencadis("report", folder)
    assert "workers cores 1" in out and "Levers" in out
    (group,) = read_groups([folder])
    found = findings.configurations(group)
    assert sorted(one.name(["workers"]) for one in found) == ["workers 1", "workers cores 1"]
    (speed,) = [row for row in findings.correlation_table(group, found) if row["metric"] == "speed"]
    assert speed["lever"] == "workers cores 1" and speed["pearson"] > 0.99
    trencadis("report", folder, "-o", tmp_path / "r.html", "--no-gantt")


def test_an_interval_of_many_runs_needs_little_memory_and_is_no_other_one():
    chance = random.Random(3)
    values = [chance.gauss(10, 1) for _ in range(8000)]
    tracemalloc.start()
    mean = findings.mean_of(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # BCa leaves out each in turn: 512 MB
    width = 2 * 1.96 / 8000**0.5
    assert mean.low < mean.mean < mean.high and mean.high - mean.low == pytest.approx(width, rel=0.1)


def test_a_report_on_twice_as_many_problems_looks_at_twice_as_many_levels(tmp_path, monkeypatch):
    asked = []
    whole = read.level_key
    monkeypatch.setattr(read, "level_key", lambda level: asked.append(1) or whole(level))
    counts = []
    for problems in (20, 40):
        factors = {"routine": ["potrf"], "n": list(range(1, problems + 1)), "scheduler": ["mosaic", "ws"], "turbo": [True]}
        (group,) = read_groups([write_runs(tmp_path / str(problems), factors=factors, repetitions=3)])
        asked.clear()
        pages.chapter_of(group, pictures=False, gantt=False)
        pages.to_json([group])
        counts.append(len(asked))
    assert counts[1] < 2.5 * counts[0]
