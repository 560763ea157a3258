"""trencadis simulate --against-real: the same flow in virtual time and on this machine's cores."""

import os

import pytest
from commands import refusal, rows, trencadis
from trencadis import _core, against_real, against_real_options
from trencadis.against_real import TRIES, Case, Measured, Traced, description, fastest, speeds_of
from trencadis.busy import BusyNeighbours
from trencadis.cli import application
from trencadis.measure import Job, Ours
from trencadis.others import SMALL_SHARE
from typer.testing import CliRunner

CORES = sorted(os.sched_getaffinity(0))


def test_description_has_a_kind_a_speed_and_a_core_each_in_the_workers_order(tmp_path):
    case = Case("potrf", 512, 128, (4, 7, 9), slow={7: 0.25})
    file = tmp_path / "here.toml"
    file.write_text(description(case, {"gemm": 40.0, "potrf": 12.0}))
    (row,) = rows("simulate", "gemm", "--machine", str(file), "--n", "512", "--nb", "128", "--variant", "in-place")
    assert [worker["kind"] for worker in row["per_worker"]] == ["core", "core-at-0.25", "core"]
    assert row["bound_gflops"] == pytest.approx(40 + 10 + 40)


def test_a_description_has_the_slowest_kind_first_as_policies_count_them():
    text = description(Case("potrf", 512, 128, (4, 7, 9), slow={7: 0.25, 9: 0.5}), {"gemm": 40.0})
    kinds = [line for line in text.splitlines() if line.startswith('name = "core')]
    assert kinds == ['name = "core-at-0.25"', 'name = "core-at-0.5"', 'name = "core"']


def test_speeds_are_the_median_of_traced_runs_or_of_the_one_that_was_held_up_least():
    slow, fast = {"gemm": (8.0, 0.4), "potrf": (1.0, 0.1)}, {"gemm": (8.0, 0.2), "potrf": (1.0, 0.1)}
    runs = [Traced(slow, 0.0, 0.1, 0.6), Traced(fast, 0.1, 0.1, 0.5)]  # of the second a quarter of the time counts nothing
    held_up = Traced({"gemm": (8.0, 40.0), "potrf": (1.0, 0.1)}, 0.0, 0.9, 41.0)
    assert speeds_of([fastest(runs)]) == pytest.approx({"gemm": 30.0, "potrf": 7.5})
    assert speeds_of([*runs, held_up]) == pytest.approx({"gemm": 20.0, "potrf": 10.0})


def test_kernels_are_measured_on_the_workers_that_are_compared_and_none_is_slowed(monkeypatch):
    opened, traced = [], []
    session_of, traced_of = against_real._session_of, against_real._traced
    monkeypatch.setattr(against_real, "_session_of", lambda case: opened.append((case, session_of(case))) or opened[-1][1])
    monkeypatch.setattr(against_real, "_traced", lambda *of: traced.append(of[1]) or traced_of(*of))
    slow = {CORES[-1]: 0.5} if len(CORES) > 1 else {}
    found = against_real.measured(Case("getrf", 256, 64, tuple(CORES), slow=slow), "packed", 3)
    case, plain = opened[-1]
    assert (case.workers, case.slow) == (tuple(CORES), {}) and set(map(id, traced)) == {id(plain)}
    assert len(found.real) == len(found.traced) >= against_real.TRACED
    for run in found.traced:
        assert run.others_s > 0  # exchanges of rows count no operations
        assert 0 < run.outside_s < run.seconds  # before the first task and after the last
        # Every worker's time is in it, but for what they idle.
        assert run.inside_s + run.others_s <= len(CORES) * (run.seconds - run.outside_s) * (1 + 1e-6)


@pytest.mark.parametrize("routine", ["potrf", "getrf", "geqrf"])
@pytest.mark.parametrize("count", [1, len(CORES)])
def test_the_simulated_tasks_are_those_of_the_real_call(routine, count):
    """LU's panels are cut by the number of workers."""
    case = Case(routine, 1024, 256, tuple(CORES[:count]))
    session, job = against_real._session_of(case), Job(routine, case.n)
    variant = session.default_variant(routine)
    real = Ours(_core, session, job, case.nb, variant)
    speeds = speeds_of([against_real._traced(real, session, job)])
    real.restore()
    session.start_trace()
    real.call()
    calls = {row["name"]: row["calls"] for row in session.stop_trace().kernel_table()}
    (record,) = against_real._simulated(case, variant, [speeds])
    assert {kernel["name"]: kernel["calls"] for kernel in record["per_kernel"]} == {name: calls[name] for name in speeds}


@pytest.mark.parametrize("count", [1, len(CORES)])
def test_a_described_machine_has_the_panels_of_a_call_on_as_many_cores(count):
    case = Case("getrf", 1024, 256, tuple(CORES[:count]))
    session, job = against_real._session_of(case), Job(case.routine, case.n)
    real = Ours(_core, session, job, case.nb, session.default_variant(case.routine))
    session.start_trace()
    real.call()
    calls = {row["name"]: row["calls"] for row in session.stop_trace().kernel_table()}
    size = ["--n", str(case.n), "--nb", str(case.nb), "--workers", f"0-{count - 1}"]
    (row,) = rows("simulate", case.routine, "--machine", "uniform64", *size)
    found = {kernel["name"]: kernel["calls"] for kernel in row["per_kernel"]}
    assert found["getrf_panel"] == calls["getrf_panel"] == (4 if count == 1 else found["getrf_panel"])
    assert {name: calls[name] for name in found} == found


@pytest.mark.alone
@pytest.mark.parametrize("routine", ["potrf", "getrf", "geqrf"])
def test_simulated_and_real_times_are_of_one_size(routine):
    found = rows("simulate", routine, "--against-real", "--n", "512,768", "--nb", "128", "--repeat", "3")
    teams = [(CORES[:1], {})] + [(CORES, {}), (CORES, {str(CORES[-1]): 0.5})] * (len(CORES) > 1)
    assert [(row["n"], row["workers"], row["slow"]) for row in found] == [(n, *team) for n in (512, 768) for team in teams]
    for row in found:
        assert row["real_s_min"] <= row["real_s"] <= row["real_s_max"] and row["repeat"] >= 3
        assert row["simulated_over_real"] == pytest.approx(row["simulated_s"] / row["real_s"])
        assert 0 <= row["others"] <= os.cpu_count() and row["disturbed"] == (row["others"] > SMALL_SHARE)
        assert row["simulated_over_real_min"] == pytest.approx(row["simulated_s_min"] / row["real_s_min"])
        assert 0.2 < row["simulated_over_real_min"] < 5  # on a machine that others may use; how close it is, soak asks
        assert row["kernel_gflops"] and all(0.01 < speed < 1000 for speed in row["kernel_gflops"].values())


@pytest.mark.alone
def test_a_table_says_how_far_off_it_is_and_too_far_is_status_one():
    words = ["simulate", "potrf", "--against-real", "--n", "256", "--nb", "64", "--repeat", "3"]
    assert "% at most" in trencadis(*words)[0]
    out, err = trencadis(*words, "--within", "1e-9", code=1)
    assert "% at most" in out and not err


@pytest.mark.alone
def test_others_on_the_cores_are_noticed_said_and_passed_over(monkeypatch):
    monkeypatch.setattr(against_real, "PAUSE_S", 0.1)  # in this process: the neighbour stays, however long one waits
    words = ["simulate", "potrf", "--against-real", "--n", "256", "--nb", "64", "--repeat", "3"]
    with BusyNeighbours({CORES[-1]: 1}):
        (first, *_) = rows(*words)
        assert first["disturbed"] and first["others"] > SMALL_SHARE
        assert f"others had a part of the {len(CORES)} cores" in trencadis(*words)[0]
        result = CliRunner().invoke(application(), [*words, "--within", "1e-9", "--skip-disturbed"])
    assert result.exit_code == 75, result
    assert "passed over: potrf n=256 on cores 0: others had" in result.stdout and "\njudged: 0 of" in result.stdout


def test_what_others_disturb_is_compared_again_and_what_they_leave_is_judged(monkeypatch):
    """Others have a part for the first two tries, and for all of the second case's."""
    others = iter([0.8, 0.9, 0.0, 0.5, 0.6, 0.7])
    monkeypatch.setattr(against_real, "PAUSE_S", 0.0)
    monkeypatch.setattr(
        against_real, "measured", lambda *_: Measured([Traced({"gemm": (1.0, 0.1)}, 0.0, 0.0, 0.1)], [0.1], next(others))
    )
    monkeypatch.setattr(against_real, "_simulated", lambda *_: [{"makespan_s": 0.1, "scheduler": ""}] * 2)
    cases = [Case("potrf", n, 64, tuple(CORES[:1]), "packed") for n in (64, 128)]
    steps = []
    found = list(against_real.compare(cases, 1, lambda _, step: steps.append(step), TRIES))
    assert [(row["others"], row["disturbed"]) for row in found] == [(0.0, False), (0.7, True)]
    assert sum(steps) == len(cases)
    said, judged = against_real_options.passed_over(found, found[:1])
    assert said == f"passed over: potrf n=128 on cores {CORES[0]}: others had 0.70 cores, the last of {TRIES} times"
    assert judged == "judged: 1 of 2"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["potrf", "--against-real", "--machine", "exynos5422"], "--machine: --against-real simulates this machine's cores"),
        (["potrf", "--against-real", "--grid", "2x2"], "--grid: --against-real"),
        (["potrf", "--against-real", "--seeds", "30"], "--seeds: --against-real"),
        (["gemm", "--against-real"], "gemm"),
        (["potr", "--against-real"], "potrf"),
        (["potrf", "--against-real", "--variant", "kastors"], "--variant of potrf"),
        (["potrf", "--against-real", "--repeat", "0"], "--repeat"),
        (["potrf", "--against-real", "--n", "0"], "--n"),
        (["potrf", "--against-real", "--slow", "999=0.5"], "there is no core 999"),
        (["potrf", "--against-real", "--within", "-1"], "--within"),
        (["potrf", "--against-real", "--skip-disturbed"], "--skip-disturbed: --within says what is passed over"),
        (["potrf", "--machine", "exynos5422", "--n", "896", "--skip-disturbed"], "--skip-disturbed: is of --against-real"),
        (["potrf", "--machine", "exynos5422", "--n", "896", "--slow", "1=0.5"], "--slow: is of --against-real"),
        (["potrf", "--machine", "exynos5422", "--n", "896", "--within", "0.1"], "--within: is of --against-real"),
        (["potrf", "--n", "896"], "--machine: name a described machine"),
    ],
)
def test_bad_input_is_one_line(words, message):
    assert message in refusal("simulate", *words)
