"""Which simulated configuration is best by speed and by energy, beside the paper's Table 2."""

import json
from pathlib import Path

import pytest
from trencadis.reproduce import energy, energy_best

KEPT = Path(__file__).resolve().parents[2] / "docs" / "simulated" / "energy.jsonl"


def made_up(quick=False, **better):
    """All runs alike but for those that `better` changes: by preset, a function of the row."""
    rows = []
    for case in energy.cases(quick):
        row = {**case.labels, "gflops": 100.0, "package_kj": 10.0, "memory_kj": 2.0}
        row |= better.get(row["preset"], lambda row: {})(row)
        rows.append({**row, "kilojoules": row["package_kj"] + row["memory_kj"]})
    return rows


def lines_of(rows, routine):
    return {line["metric"]: line for line in energy_best.best_lines(rows) if line["routine"] == routine}


def test_the_paper_names_one_configuration_for_each_metric_of_each_factorization():
    named = [(entry["routine"], metric) for entry in energy.PAPER["measured"] for metric in entry["best_by"]]
    assert sorted(named) == sorted((routine, metric) for routine, _, _ in energy.BEST for metric in energy_best.METRICS)


def test_the_best_by_each_metric_is_found_and_ours_and_the_shared_panels_are_not_among_them():
    lean = made_up(
        ours=lambda row: {"gflops": 900.0, "package_kj": 1.0},
        libgomp=lambda row: {"gflops": 800.0} if row["variant"] == "panel" else {"memory_kj": 1.0},
        xkaapi=lambda row: {"gflops": 110.0, "package_kj": 12.0} if row["placement"] == "interleave" else {"gflops": 700.0},
        libkomp=lambda row: {} if row["turbo"] else {"gflops": 90.0, "package_kj": 8.0},
    )
    lines = lines_of(lean, "potrf")
    assert lines["speed"]["simulated"] == "in-place xkaapi, turbo on, C-states none, governor powersave"
    assert lines["DRAM"]["simulated"].startswith("in-place libgomp") and not lines["DRAM"]["runtime"] and lines["DRAM"]["turbo"]
    assert lines["PKG"]["simulated"] == "in-place libkomp, turbo off, C-states any, governor any" and lines["PKG"]["runtime"]
    (choice,) = (line for line in energy_best.choice_lines(lean) if line["routine"] == "potrf")
    assert choice["slower"] == pytest.approx(100 * (1 - 90 / 110)) and choice["saved"] == pytest.approx(100 * (1 - 10 / 14))


def test_what_choosing_energy_cost_and_saved_in_the_paper_follows_from_its_table():
    for line, entry in zip(energy_best.choice_lines(made_up()), energy.PAPER["least_energy"], strict=True):
        assert line["published_slower"] == pytest.approx(entry["slower_percent"], abs=0.01)
        assert line["published_saved"] == pytest.approx(entry["saved_percent"], abs=0.01)


def test_on_the_papers_machine_energy_costs_1_to_10_percent_of_speed_and_saves_5_to_15_percent():
    rows = [json.loads(line) for line in KEPT.read_text().splitlines()[1:]]
    assert all(line["turbo"] for line in energy_best.best_lines(rows))
    for line in energy_best.choice_lines(rows):
        assert 1 < line["slower"] < 10 and 5 < line["saved"] < 15, line


def test_at_another_n_nothing_published_stands_beside():
    for line in [*energy_best.best_lines(made_up(quick=True)), *energy_best.choice_lines(made_up(quick=True))]:
        assert {value for key, value in line.items() if key.startswith("published") or key in ("runtime", "turbo")} == {None}
