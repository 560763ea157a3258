"""What the repository says of simulated results is what the simulator gives: the table of quick ones, and the pages."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import simulated  # noqa: E402
import simulated_chance  # noqa: E402
import simulated_kept  # noqa: E402
import simulated_pages  # noqa: E402
from trencadis.reproduce import GALLERIES  # noqa: E402
from trencadis.reproduce.gallery import SEEDS, plan  # noqa: E402
from trencadis.simulations import Simulation  # noqa: E402


def script(*words):
    command = [sys.executable, "scripts/simulated.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)


def test_quick_results_are_as_the_table_has_them():
    """A third of each paper's, by the commit; scripts/soak.py asks for all."""
    thirds = ["1/3", "2/3", "3/3"]
    turn = subprocess.run([ROOT / "scripts" / "turn.sh", *thirds], cwd=ROOT, capture_output=True, text=True, check=True)
    result = script("quick", "--slice", turn.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr


def test_slices_of_the_table_are_those_of_the_cases():
    table = simulated.read_table(simulated.TABLE)
    for k in (1, 2, 3):
        lines = list(simulated.part_of(table, list(GALLERIES), (k, 3)))
        cases = simulated.slice_of([(name, case) for name in GALLERIES for case in GALLERIES[name].cases(True)], k, 3)
        assert [line[0] for line in lines] == [name for name, _ in cases]
        assert len(table) == 226 and 75 <= len(lines) <= 76


def test_the_pages_are_what_the_rows_give():
    result = script("pages")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", GALLERIES)
def test_the_rows_are_those_of_the_plan_each_over_its_seeds(name):
    cases = plan(GALLERIES[name], quick=False, folder=None)
    rows = simulated_pages.rows_of(name)
    for case, row in zip(cases, rows, strict=True):
        assert {key: row[key] for key in case.labels} == case.labels
        assert row["deterministic"] is not case.simulation.random
        assert row["seeds"] == (SEEDS if case.simulation.random else 1), case.labels


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "quick.tsv"
    path.write_text(simulated.TABLE.read_text())
    return path


def test_a_result_that_moves_by_more_than_half_a_per_cent_is_found(table):
    now = [(*key, *numbers) for key, numbers in simulated.read_table(table).items()]
    key, (gflops, *others) = now[0][:4], now[0][4:]
    for factor, found in ((1.004, 0), (1.006, 1), (0.994, 1)):
        other = (*key, f"{float(gflops) * factor:.6g}", *others)
        moved = simulated.moved(simulated.read_table(table), [other, *now[1:]], ["asym"])
        assert len(moved) == found and all("gflops" in line for line in moved)
    assert "not simulated any more" in simulated.moved(simulated.read_table(table), now[1:], ["asym"])[0]
    assert "not in the table" in simulated.moved(dict(list(simulated.read_table(table).items())[1:]), now, ["asym"])[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format 1", "format 0", "a table of another version"),
        ("gflops\tjoules", "gflops\twatts", "a table of another version"),
        ("method=big-only", "method=big\tonly", "7 cells, the last 3 numbers, are wanted"),
    ],
)
def test_a_table_that_is_none_is_refused_in_one_line(table, old, new, said):
    table.write_text(table.read_text().replace(old, new, 1))
    with pytest.raises(simulated.UsageError) as error:
        simulated.read_table(table)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(("page", "region"), simulated_pages.REGIONS)
def test_a_figure_that_is_changed_in_a_page_is_found(page, region):
    text = (ROOT / page).read_text()
    begin = text.index(f"<!-- simulated: begin {region} -->\n")
    end = text.index(f"<!-- simulated: end {region} -->")
    digit = next(place for place in range(end, begin, -1) if text[place].isdigit())
    broken = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :]
    assert simulated_pages.rendered(page, broken) == text != broken


@pytest.mark.parametrize("name", GALLERIES)
def test_every_miss_says_what_is_unexplained_and_no_note_is_of_none(name):
    score = GALLERIES[name].score(simulated_pages.rows_of(name))
    silent = [
        record["score"] for record in score.records()
        if record["unexplained"] is None and not record["said"].startswith(("as published", "inside"))
        and (record["difference"] is None or abs(record["difference"]) > 0.15)
    ]  # fmt: skip
    assert silent == []
    assert set(score.used_notes()) == set(range(1, len(score.notes) + 1))


def test_a_region_that_nobody_makes_is_refused():
    with pytest.raises(simulated_pages.NotSimulated, match="has the regions"):
        simulated_pages.rendered("README.md", "<!-- simulated: begin other -->\n")


@pytest.mark.parametrize(
    ("ours", "near", "said"),
    [
        ("abc", [False, False], "yes"),
        ("abc", [False, True], "yes, within chance"),
        ("acb", [False, True], "no, within chance"),
        ("acb", [True, False], "no"),
        ("cab", [True, False], "no"),
    ],
)
def test_an_order_of_runtimes_is_right_wrong_or_within_chance(ours, near, said):
    assert simulated_chance._verdict(ours, near, "abc") == said


def test_rows_go_on_where_they_were_broken_off(tmp_path, monkeypatch):
    def simulate_all(simulations, progress):
        for one in simulations:
            ran.append(one.seed)
            yield {"of": one.seed}

    ran = []
    monkeypatch.setattr(simulated_kept, "FOLDER", tmp_path)
    monkeypatch.setattr(simulated_kept, "simulate_all", simulate_all)
    seeds = [Simulation("potrf", 2000, "uv2000", scheduler="ws", seed=seed) for seed in (1, 2, 3)]
    broken_off = simulated_kept.Kept("some")(seeds, lambda text, done: None)
    assert next(broken_off) == {"of": 1}
    broken_off.close()
    with (tmp_path / "some.jsonl").open("a") as file:
        file.write('\n{"half a')
    assert list(simulated_kept.Kept("some")(seeds, lambda text, done: None)) == [{"of": 1}, {"of": 2}, {"of": 3}]
    assert ran == [1, 2, 3]
    steps = []
    assert len(list(simulated_kept.Kept("some")(seeds, lambda text, done: steps.append(done)))) == sum(steps) == 3
    assert ran == [1, 2, 3]
    monkeypatch.setattr(simulated_kept, "_library", lambda: "another")
    assert len(list(simulated_kept.Kept("some")(seeds, lambda text, done: None))) == 3 and ran == [1, 2, 3] * 2
