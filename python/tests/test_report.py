"""benchmarks/report.py: the tables of docs/speed.md and the README out of measured rows."""

import importlib
import json
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("report")


MACHINE = {
    "part": "machine", "name": "m", "summary": "Some CPU, 2 cores", "system": "Linux 6", "date": "2026-11-21",
    "load_at_start": 0.1, "variables": {"OPENBLAS_CORETYPE": "Haswell"},
}  # fmt: skip
ROW = {
    "part": "busy", "routine": "potrf", "precision": "d", "n": 4096, "kernels": "openblas", "kernels_version": "OpenBLAS 1 X",
    "workers": [0, 1], "scheduler": "mosaic", "busy": {}, "repeat": 7, "gflops_median": 100.0, "peer_gflops_median": 80.0,
    "peer": "openblas", "peer_version": "OpenBLAS 1 X", "ratio_median": 1.25, "ratio_min": 1.2, "ratio_max": 1.3,
    "lone_seconds_median": None, "lone_ratio_median": None, "lone_ratio_min": None, "lone_ratio_max": None,
}  # fmt: skip


def test_kept_is_the_rate_over_the_quiet_rate_times_the_capacity_left(report):
    beside = {**ROW, "busy": {"1": 3}, "gflops_median": 60.0, "peer_gflops_median": 20.0}
    text = report.tables([MACHINE, ROW, beside])
    # 60 / (100 * 0.625) and 20 / (80 * 0.625)
    assert "| 3 on core 1 | 0.625 | openblas | **0.96** | 0.40 |" in text


def test_every_table_names_machine_repetitions_and_set_variables(report):
    text = report.tables([MACHINE, {**ROW, "part": "quiet"}])
    assert "Some CPU, 2 cores" in text and "`OPENBLAS_CORETYPE=Haswell`" in text and "Medians of 7 pairs of turns" in text
    assert "Ours: 2 threads, `openblas` kernels (OpenBLAS 1 X), scheduler `mosaic`." in text
    assert "| potrf | 4096 | 100 | **1.25** | 1.25 (1.20 to 1.30) |" in text


def test_a_size_has_one_line_with_a_column_for_each_peer(report):
    other = {**ROW, "part": "quiet", "peer": "mkl", "peer_version": "MKL 2", "ratio_median": 2.0}
    larger = {**other, "n": 8192}
    text = report.tables([MACHINE, {**ROW, "part": "quiet"}, other, larger])
    assert "| to OpenBLAS 1 X | to MKL 2 |" in text
    assert "| potrf | 4096 | 100 | **1.25** | 1.25 (1.20 to 1.30) | 2.00 (1.20 to 1.30) |" in text
    assert "| potrf | 8192 | 100 | **2.00** |  | 2.00 (1.20 to 1.30) |" in text


def test_shapes_have_a_table_of_their_own_and_are_all_measured(report):
    deep = {**ROW, "part": "shapes", "routine": "gemm", "m": 64, "n": 64, "k": 4000}
    solves = {**ROW, "part": "shapes", "routine": "potrs", "m": 1000, "n": 8, "ratio_median": 0.9}
    text = report.tables([MACHINE, {**ROW, "part": "quiet"}, deep, solves])
    assert "Other shapes" in text
    assert "| gemm | 64x64x4000 | 100 | **1.25** |" in text and "| potrs | 1000x8 | 100 | **0.90** |" in text
    planned = [measurement.words for measurement in report.measurements(["mkl"]) if measurement.part == "shapes"]
    assert {words[0] for words in planned} == {"gemm", "syrk", "symm", "trsm", "trmm", "potrs", "getrs"}
    assert all(words[1] == "--shape" and words[3:] == ("--against", "mkl") for words in planned)


def test_the_summary_names_the_best_peer_of_each_cell(report):
    other = {**ROW, "part": "quiet", "peer": "mkl", "peer_version": "MKL 2", "ratio_median": 1.1, "gflops_median": 104.0}
    beside = {**ROW, "busy": {"1": 3}, "gflops_median": 60.0, "ratio_median": 3.0}
    text = report.summary([MACHINE, {**ROW, "part": "quiet"}, other, ROW, beside])
    assert "Some CPU, 2 cores" in text and "`OPENBLAS_CORETYPE=Haswell`" in text and "Medians of 7 pairs of turns" in text
    assert "| potrf |  |  | 102, **1.10** (mkl) | 60, **3.00** (openblas) |" in text


def test_the_page_and_the_readme_have_the_marks(report):
    root = SCRIPTS.parent
    for document in (root / "README.md", root / "docs" / "speed.md"):
        report.replace_between_marks(document.read_text(), "new\n")
    report.replace_between_marks((root / "docs" / "speed.md").read_text(), "new\n", "swept")


def test_only_what_lies_between_the_marks_is_replaced(report):
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    document = f"before\n{begin}\nold\n{end}\nafter\n"
    assert report.replace_between_marks(document, "new\n") == f"before\n{begin}\nnew\n{end}\nafter\n"
    with pytest.raises(ValueError, match="are not there"):
        report.replace_between_marks("no marks", "new\n")


def test_every_busy_measurement_has_its_quiet_twin(report):
    planned = set(report.measurements())
    for measurement in planned:
        if "--busy" in measurement.words:
            assert report.Measurement(measurement.part, measurement.words[:-2]) in planned


def test_lone_calls_have_a_table_of_their_own_with_times_instead_of_rates(report):
    small = {**ROW, "part": "quiet", "n": 256, "lone_seconds_median": 123.4e-6, "lone_ratio_median": 0.9, "lone_ratio_min": 0.8,
             "lone_ratio_max": 1.0}  # fmt: skip
    text = report.tables([MACHINE, {**ROW, "part": "quiet"}, small])
    assert "| potrf | 256 | 123 | **0.90** | 0.90 (0.80 to 1.00) |" in text.split("A lone call after 10 ms of silence:")[1]
    assert "lone" not in report.tables([MACHINE, {**ROW, "part": "quiet"}])


def test_sizes_and_routines_are_those_that_the_readme_shows(report):
    quiet = {measurement.words[:3] for measurement in report.measurements() if measurement.part == "quiet"}
    assert {("gemm", "--n", "64"), ("potrf", "--n", "4096"), ("syrk", "--n", "256"), ("trmm", "--n", "256")} <= quiet


def test_an_unfinished_measurement_is_taken_up_where_it_stopped(report, tmp_path, monkeypatch):
    asked = []

    def run(command):
        asked.append(command[1])
        if len(asked) == 2:
            raise SystemExit(3)
        return ['{"routine": "x"}']

    monkeypatch.setattr(report, "_run", run)
    monkeypatch.setattr(report, "machine", lambda: {"name": "m"})
    planned = [report.Measurement("quiet", (word, "--n", "4")) for word in ("one", "two", "three")]
    with pytest.raises(SystemExit):
        report.measure(tmp_path / "r.jsonl", planned, 3, resume=False)
    report.measure(tmp_path / "r.jsonl", planned, 3, resume=True)
    assert asked == ["one", "two", "two", "three"]
    parts = [json.loads(line)["part"] for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert parts == ["machine", *["quiet", "done"] * 3]


def swept(n, ratio, **more):
    return {"case": "dgemm NN", "workers": [0], "n": n, "ld": n, "cliff": ratio < 0.9, "best_ld_ratio": ratio,
            "neighbours_ratio": None, **more}  # fmt: skip


def test_the_page_says_how_many_cliffs_there_are_and_names_the_deepest_of_each_case(report):
    assert report._found([swept(16, 1.0), swept(32, 0.95)]) == "No cliff among 2 points."
    rows = [swept(512, 0.5), swept(528, 0.7), swept(640, 0.8, workers=[0, 1]), swept(64, 1.0)]
    assert report._found(rows) == (
        "3 of 4 points are cliffs; the deepest of each: dgemm NN on 1 thread at n = 512, ld = 512 (0.50), "
        "dgemm NN on 2 threads at n = 640, ld = 640 (0.80)."
    )


def test_one_call_draws_both_pictures_and_writes_them_into_the_page(report, tmp_path, monkeypatch):
    asked = []

    def run(command, fine):
        asked.append(command)
        return [json.dumps(swept(16, 1.0))]

    monkeypatch.setattr(report, "_run", run)
    monkeypatch.setattr(report, "machine", lambda: {key: MACHINE[key] for key in MACHINE if key != "part"})
    page = tmp_path / "speed.md"
    page.write_text("a\n<!-- swept: begin -->\nold\n<!-- swept: end -->\nb\n")
    monkeypatch.setattr("sys.argv", ["report.py", "sweep", "--page", str(page), "--against", "mkl", "--", "--n", "16"])
    report.main()
    text = page.read_text()
    assert "old" not in text and "Some CPU, 2 cores" in text and text.count("No cliff among 1 points.") == 2
    assert "(images/sweep-d.svg)" in text and "(images/sweep-s.svg)" in text
    assert [command[command.index("--precision") + 1] for command in asked] == ["d", "s"]
    assert all(command[:2] == ["sweep", "all"] and "--n" in command and "mkl" in command for command in asked)
    assert str(tmp_path / "images" / "sweep-d.svg") in asked[0]


def test_small_orders_have_a_column_for_each_precision_and_name_the_best_peer(report):
    row = {**ROW, "part": "small", "n": 8, "seconds_median": 2e-7}
    other = {**row, "peer": "mkl-intel", "ratio_median": 0.75}
    complex_row = {**row, "precision": "z", "seconds_median": 4e-7}
    text = report.tables([MACHINE, row, other, complex_row])
    assert "|  | n | double | double complex |" in text
    assert "| potrf | 8 | 0.20, **0.75** (mkl-intel) | 0.40, **1.25** (openblas) |" in text
    small = [one for one in report.measurements(["openblas"]) if one.part == "small"]
    assert {one.words[0] for one in small} == {"gemm", "potrf", "getrf", "geqrf"}
    assert len(small) == 16
