"""trencadis sweep: leading dimensions, what is called, what is a cliff, records, picture and exit codes."""

import ctypes
import json
import os
import subprocess

import numpy as np
import pytest
import scipy.linalg
from commands import COMMAND, refusal
from hypothesis import given
from hypothesis import strategies as st
from test_compare import installed
from trencadis import _core, cli, sweep_commands
from trencadis.errors import UsageError
from trencadis.fortran import FortranLibrary
from trencadis.options import PRECISIONS
from trencadis.peer_process import drop_in
from trencadis.peers import LINEAR_ALGEBRA_PEERS
from trencadis.sweep.calls import ROUTINES, Caller, Case, Memory
from trencadis.sweep.grid import ALL, Grid, Point, rules, sizes
from trencadis.sweep.picture import draw
from trencadis.sweep.sweep import Turn, _counted
from trencadis.sweep.verdicts import CONFIRMATIONS, Speed, confirm, judge

FIELDS = [
    "routine", "transpose", "side", "n", "ld", "ld_rules", "precision", "seconds_median", "seconds_min", "seconds_max",
    "gflops_median", "neighbours_gflops", "neighbours_ratio", "best_ld", "best_ld_gflops", "best_ld_ratio", "measured",
    "disturbed", "sure", "cliff", "case", "repeat", "engine", "scheduler", "kernels", "threads", "workers", "machine",
    "kernels_version", "peer_gflops_median", "peer_versions",
]  # fmt: skip
CORES = sorted(os.sched_getaffinity(0))
ORDERS = list(range(16, 1101, 16))


def lds(n, itemsize, text="all"):
    return [point.ld for point in Grid([n], rules(text), itemsize).points]


def test_leading_dimensions_are_the_next_multiples_of_pages_and_their_parts():
    assert lds(16, 8) == [16, 17, 24, 64, 128, 256, 512]
    assert lds(500, 8) == [500, 501, 508, 512]
    assert lds(512, 8) == [512, 513, 520] and lds(513, 4) == [513, 514, 521, 640, 768, 1024]
    assert lds(40, 8, "tight") == [40] and lds(40, 8, "n+3,100,n") == [40, 43, 100]


@given(st.integers(1, 5000), st.sampled_from([4, 8, 16]))
def test_a_leading_dimension_by_bytes_is_the_least_multiple_that_holds_the_rows(n, itemsize):
    for rule in rules("512B,1KiB,4KiB"):
        step = {"512B": 512, "1KiB": 1024, "4KiB": 4096}[rule.name] // itemsize
        assert rule.of(n, itemsize) % step == 0 and n <= rule.of(n, itemsize) < n + step


@pytest.mark.parametrize("text", ["", "m", "n-1", "n+", "4KB", "0", "n,,n", "all,n", "4 GiB", "²"])
def test_a_bad_leading_dimension_is_repeated_in_the_message(text):
    with pytest.raises(UsageError, match="--ld: "):
        rules(text)


def test_a_leading_dimension_below_the_rows_is_refused():
    with pytest.raises(UsageError, match="--ld: 100 is less than n = 200"):
        Grid([100, 200], rules("100"), 8)
    with pytest.raises(UsageError, match="4B is no whole count of numbers of 8 bytes"):
        Grid([100], rules("4B"), 8)


def test_orders_are_measured_once_and_in_order():
    assert sizes("64,16:48:16,32") == [16, 32, 48, 64]
    with pytest.raises(UsageError, match="--n: a size to measure is 1 or more"):
        sizes("0,16")


def test_neighbours_follow_the_same_rule_two_orders_on_either_side_unless_far():
    grid = Grid([480, 496, 512, 528, 544, 1024], rules("n+8,1KiB"), 8)
    assert {p.ld for near in grid.neighbours(Point(512, 520)) for p in near.all()} == {488, 504, 536, 552}
    (near,) = grid.neighbours(Point(512, 512))
    assert [p.ld for p in near.below] == [512, 512] and [p.ld for p in near.above] == [640, 640]
    assert grid.neighbours(Point(1024, 1024))[0].all() == (), "512 below it says nothing of 1024"


# ---- verdicts on speeds that are made up


def smooth(point):
    """Grows with the order and does not know the leading dimension, as speeds should be."""
    return 100 * point.n / (point.n + 100)


def grid_and_speeds(planted=(), text="all", curve=smooth):
    grid = Grid(ORDERS, rules(text), 8)
    return grid, {point: Speed(curve(point) * dict(planted).get(point, 1)) for point in grid.points}


def cliffs(grid, speeds, again=None):
    outcomes = confirm(grid, speeds, again or (lambda suspects: {p: speeds[p] for p in grid.around(suspects)}))
    return sorted(point for point, outcome in outcomes.items() if outcome.cliff)


def test_a_smooth_curve_has_no_cliff():
    assert cliffs(*grid_and_speeds()) == []


def test_a_planted_cliff_of_one_leading_dimension_is_found_and_named():
    point = Point(512, 512)
    grid, speeds = grid_and_speeds({point: 0.5})
    assert cliffs(grid, speeds) == [point]
    verdict = judge(grid, speeds, point)
    assert verdict.best.n == 512 and verdict.best.ld != 512 and verdict.best_ratio == pytest.approx(0.5)
    assert verdict.neighbours_ratio == pytest.approx(0.5, rel=0.02) and verdict.median == pytest.approx(smooth(point), rel=0.02)


def test_a_cliff_of_all_leading_dimensions_is_found_by_its_neighbours():
    planted = {Point(640, ld): 0.85 for ld in lds(640, 8)}
    assert cliffs(*grid_and_speeds(planted)) == sorted(planted)


def test_a_leading_dimension_that_is_slow_everywhere_is_found_by_the_best_one():
    grid, speeds = grid_and_speeds(curve=lambda p: smooth(p) * (0.6 if p.ld % 512 == 0 else 1))
    assert cliffs(grid, speeds) == [point for point in grid.points if point.ld % 512 == 0]


def test_the_bound_is_nine_tenths():
    assert cliffs(*grid_and_speeds({Point(528, 528): 0.92}, "tight")) == []
    assert cliffs(*grid_and_speeds({Point(528, 528): 0.88}, "tight")) == [Point(528, 528)]


def test_a_curve_that_rises_however_fast_is_no_cliff_and_one_that_falls_for_good_is():
    assert cliffs(*grid_and_speeds(text="tight", curve=lambda p: p.n**3)) == []
    assert cliffs(*grid_and_speeds(text="tight", curve=lambda p: 50 if p.n < 512 else 100)) == []
    falls = cliffs(*grid_and_speeds(text="tight", curve=lambda p: 100 if p.n < 512 else 50))
    assert Point(512, 512) in falls and all(496 <= p.n <= 528 for p in falls)


def test_what_is_slow_once_is_no_cliff():
    grid, speeds = grid_and_speeds()
    noisy = {**speeds, Point(512, 512): Speed(10.0), Point(96, 97): Speed(1.0)}
    asked = []

    def again(suspects):
        asked.append(suspects)
        return {p: speeds[p] for p in grid.around(suspects)}

    outcomes = confirm(grid, noisy, again)
    assert not any(outcome.cliff for outcome in outcomes.values())
    assert Point(512, 512) in asked[0] and len(asked) == 1
    assert outcomes[Point(512, 512)].measured == 2 and outcomes[Point(800, 800)].measured == 1
    assert outcomes[Point(512, 512)].verdict.speed == pytest.approx(smooth(Point(512, 512)))


def test_what_is_slow_for_two_of_the_three_confirmations_is_none_and_for_all_is_one():
    slow = Point(512, 512)
    grid, speeds = grid_and_speeds({slow: 0.5})
    healthy = grid_and_speeds()[1]
    for good_time, stands in ((3, False), (4, True)):
        times = iter(range(1, CONFIRMATIONS + 1))

        def again(suspects, times=times, good_time=good_time):
            now = healthy if next(times) == good_time else speeds
            return {p: now[p] for p in grid.around(suspects)}

        outcome = confirm(grid, speeds, again)[slow]
        assert outcome.cliff == stands and outcome.measured == 1 + CONFIRMATIONS


def test_noise_about_the_curve_makes_no_cliff_and_hides_none(seed=20261):
    rng = np.random.default_rng(seed)
    planted = {Point(512, 512): 0.6}
    grid, speeds = grid_and_speeds(planted)

    def noisy(points):
        # A turn in ten takes half as long again: of medians of 7 fewer than one in 300 is off, the others by at most 2 %.
        off = {p: 1.5 if rng.random() < 1 / 300 else 1 + 0.02 * rng.random() for p in points}
        return {p: Speed(speeds[p].gflops / off[p]) for p in points}

    assert cliffs(grid, noisy(grid.points), lambda suspects: noisy(grid.around(suspects))) == list(planted), seed


def test_where_others_had_the_processor_nothing_is_called_a_cliff():
    grid, speeds = grid_and_speeds({Point(512, 512): 0.5})
    disturbed = {**speeds, Point(512, 512): Speed(speeds[Point(512, 512)].gflops, sure=False)}
    assert cliffs(grid, disturbed) == [] and judge(grid, disturbed, Point(512, 512)).below


def test_undisturbed_turns_count_where_they_are_half_of_them():
    assert _counted([Turn(1.0, True), Turn(9.0, False), Turn(2.0, True)]) == [1.0, 2.0]
    assert _counted([Turn(1.0, True), Turn(9.0, False), Turn(8.0, False)]) == [1.0, 9.0, 8.0]


# ---- what is called


@pytest.fixture(scope="module")
def library():
    return FortranLibrary([drop_in()])


def matrix(memory, name, n, ld):
    return memory.area(name)[: n * ld].reshape(n, ld)[:, :n].T.copy()


def called(library, case, n, ld):
    """The matrices before a call and the memory behind it."""
    memory = Memory(case.dtype, 60, 80)
    memory.area("overwritten")[:] = 7
    call, restores = ROUTINES[case.routine].prepare(library, memory, case.letters, n, ld)
    for to, source, count in restores:
        ctypes.memmove(to, source, count)
    before = {name: matrix(memory, name, n, ld) for name in memory._areas if name != "pristine"}
    assert call() == 0
    return before, memory


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("ld", [50, 51, 64])
@pytest.mark.parametrize(("routine", "letters"), [(name, letters) for name, r in ROUTINES.items() for letters in r.letters])
def test_calls_compute_what_their_routine_does_and_leave_the_padding(library, routine, letters, precision, ld):
    case, n = Case(routine, precision, letters), 50
    before, memory = called(library, case, n, ld)
    eps = np.finfo(case.dtype).eps
    changed = "C" if "C" in before else "overwritten"
    after = matrix(memory, changed, n, ld)
    # Sums of n products whose terms, of dominant matrices, are as large as n; 10 for what the factors' own errors add.
    assert np.abs(difference(case, before, after)).max() < 10 * n * n * eps
    if changed == "overwritten":
        padding = memory.area("overwritten")[: n * ld].reshape(n, ld)[:, n:]
        assert (padding == 7).all()


def difference(case, before, after):
    """From the definition; of factors, in what they multiply to."""
    lower = np.tril(before["A"]) if "A" in before else None
    if case.routine == "gemm":
        a, b = (m if letter == "N" else m.T for m, letter in zip((before["A"], before["B"]), case.letters, strict=True))
        return after - (a @ b + before["C"])
    if case.routine == "syrk":
        return np.tril(after - (before["A"] @ before["A"].T + before["C"]))
    if case.routine == "trsm":
        return (lower @ after if case.letters == "L" else after @ lower.T) - before["overwritten"]
    if case.routine == "potrf":
        return np.tril(np.tril(after) @ np.tril(after).conj().T - before["overwritten"])
    if case.routine == "geqrf":  # |R| is known up to signs: R^H R = A^H A
        return np.triu(after).conj().T @ np.triu(after) - before["overwritten"].conj().T @ before["overwritten"]
    return np.abs(np.triu(after).diagonal()) - np.abs(np.triu(scipy.linalg.lu_factor(before["overwritten"])[0]).diagonal())


def test_operands_begin_on_a_page_and_every_call_has_the_same_memory(library):
    memory = Memory(np.dtype("d"), 60, 80)
    for name in "ABC":
        assert memory.area(name).ctypes.data % 4096 == 0 and memory.area(name) is memory.area(name)


def test_a_turn_that_is_disturbed_is_made_again_and_says_so(library, monkeypatch):
    caller = Caller(library, Case("gemm", "d", "NN"), 32, 40)
    made = []
    monkeypatch.setattr(caller, "_calls", lambda *call: made.append(1) or 1.0 / len(made))
    counts = iter([0, 1, 1, 1])  # one switch in the first turn, none in the second
    monkeypatch.setattr("trencadis.sweep.calls._switches", lambda: next(counts))
    assert caller.turn(32, 40) == (0.5, True) and len(made) == 2
    counts = iter(range(100))
    made.clear()
    assert caller.turn(32, 40) == (0.2, False) and len(made) == 5


def test_a_call_costs_little_beside_its_own_time(library):
    """A turn's seconds are of the calls alone, which a product of order 1 shows: a call through Python takes microseconds."""
    caller = Caller(library, Case("gemm", "d", "NN"), 16, 16)
    assert min(caller.turn(1, 1)[0] for _ in range(20)) < 2e-6


# ---- the command


def run_sweep(*words, timeout=300):
    run = subprocess.run([*COMMAND, "sweep", *words], capture_output=True, text=True, timeout=timeout)
    assert run.returncode in (0, 1), (run.stdout, run.stderr)
    return run


def test_a_small_sweep_writes_a_record_for_each_point_and_its_exit_code_says_whether_there_is_a_cliff(tmp_path):
    picture = tmp_path / "s.svg"
    words = ["gemm,trsm,potrf", "--n", "16:48:16", "--ld", "n,n+8,512B", "--transpose", "TN", "--side", "right", "--threads", "1"]
    run = run_sweep(*words, "--repeat", "2", "--json", "-", "-o", picture)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert all(list(row) == FIELDS for row in rows)
    for precision, itemsize in (("d", 8), ("s", 4)):
        points = [(p.n, p.ld) for p in Grid([16, 32, 48], rules("n,n+8,512B"), itemsize).points]
        for routine, transpose, side in (("gemm", "TN", None), ("trsm", None, "right"), ("potrf", None, None)):
            mine = [row for row in rows if (row["routine"], row["precision"]) == (routine, precision)]
            assert [(row["n"], row["ld"]) for row in mine] == points
            assert all((row["transpose"], row["side"]) == (transpose, side) for row in mine)
    assert all(row["seconds_min"] <= row["seconds_median"] <= row["seconds_max"] for row in rows)
    assert all(0 < row["best_ld_ratio"] <= 1 and row["measured"] >= 1 and row["workers"] == CORES[:1] for row in rows)
    assert run.returncode == any(row["cliff"] for row in rows)
    assert picture.read_text().count("<svg") == 1


def test_devices_take_part_and_records_say_so():
    words = ["gemm", "--n", "40", "--ld", "tight", "--precision", "d", "--threads", "1", "--transpose", "NN", "--repeat", "1"]
    (row,) = map(json.loads, run_sweep(*words, "--json", "--devices", "emulated:1").stdout.splitlines())
    assert list(row) == [*FIELDS[:-2], "devices", "emulated", *FIELDS[-2:]]
    assert (row["devices"], row["emulated"]) == ("emulated:1", True)
    assert "devices emulated:1, whose speed is emulated; " in run_sweep(*words, "--devices", "emulated:1").stdout
    assert "how many=0, must be" in refusal("sweep", *words, "--devices", "emulated:0")


def test_one_order_with_one_leading_dimension_is_compared_with_nothing():
    run = run_sweep("potrf", "--n", "40", "--ld", "tight", "--precision", "d", "--threads", "1", "--repeat", "1")
    assert run.returncode == 0 and "dpotrf" in run.stdout and run.stderr == ""


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
def test_peers_are_measured_beside_ours_with_the_least_leading_dimension(peer):
    words = ["syrk", "--n", "24", "--ld", "n,n+8", "--precision", "d", "--threads", "1", "--repeat", "1", "--against", peer.name]
    rows = [json.loads(line) for line in run_sweep(*words, "--json").stdout.splitlines()]
    assert [row["ld"] for row in rows] == [24, 32] and rows[0]["peer_gflops_median"][peer.name] > 0
    assert rows[1]["peer_gflops_median"][peer.name] is None and rows[0]["peer_versions"][peer.name]


def row_of(case, n, ld, gflops, cliff=False, **more):
    return {
        **dict.fromkeys(FIELDS), "case": case, "precision": case[0], "routine": "gemm", "n": n, "ld": ld, "gflops_median": gflops,
        "best_ld": ld, "best_ld_ratio": 0.5 if cliff else 1.0, "cliff": cliff, "sure": True, "workers": [0], "machine": "m",
        "kernels": "native", "kernels_version": "v", "repeat": 7, "engine": "native", "scheduler": "mosaic",
        "peer_gflops_median": {"mkl": gflops * 0.9}, "peer_versions": {"mkl": "MKL 1"}, **more,
    }  # fmt: skip


@pytest.mark.parametrize("cliff", [False, True])
def test_the_exit_code_is_one_where_a_cliff_stands(cliff, monkeypatch, capsys):
    rows = [row_of("dgemm NN", 16, 16, 10.0), row_of("dgemm NN", 32, 32, 20.0, cliff)]
    monkeypatch.setattr(sweep_commands, "sweep", lambda request, progress: iter(rows))
    assert cli.main(["sweep", "gemm", "--n", "16,32", "--threads", "1"]) == cliff
    out, err = capsys.readouterr()
    assert ("n = 32, ld = 32, 0.50 of what it should be" in err) == cliff and err.count("\n") == cliff
    assert "dgemm NN" in out and ("cliff  " in out) == cliff


def test_points_without_a_verdict_are_told_and_are_no_failure(monkeypatch, capsys):
    row = row_of("dgemm NN", 32, 32, 20.0, best_ld_ratio=0.4, sure=False)
    monkeypatch.setattr(sweep_commands, "sweep", lambda request, progress: iter([row]))
    assert cli.main(["sweep", "gemm", "--n", "32", "--threads", "1", "--json"]) == 0
    assert "1 of 1 points are slow, but others had the processors" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_picture_has_a_panel_for_each_case_and_number_of_threads(suffix, tmp_path):
    rows = [
        row_of(f"{precision}gemm {letters}", n, ld, 10.0 + n, n == 32 and ld == 32, workers=list(range(threads)))
        for precision in "ds" for letters in ("NN", "TN") for threads in (1, 2) for n in (16, 32) for ld in (n, n + 8)
    ]  # fmt: skip
    draw(rows, tmp_path / f"p{suffix}")
    content = (tmp_path / f"p{suffix}").read_bytes()
    assert content.startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")
    if suffix == ".svg":
        assert all(f"<!-- {t} -->".encode() in content for t in ("dgemm NN, 1 thread", "sgemm TN, 2 threads", "a cliff of ours"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gem"], "did you mean 'gemm'?"),
        (["gemm,"], "unknown routine to sweep ''"),
        (["symm"], "unknown routine to sweep 'symm'"),
        (["gemm", "--transpose", "NX"], "unknown --transpose 'NX'"),
        (["trsm", "--side", "rigt"], "did you mean 'right'?"),
        (["trsm", "--transpose", "NN"], "--transpose: is of gemm, which is not swept here"),
        (["gemm", "--side", "left"], "--side: is of trsm, which is not swept here"),
        (["gemm", "--precision", "h"], "unknown --precision 'h'"),
        (["gemm", "--n", "0"], "--n: a size to measure is 1 or more"),
        (["gemm", "--n", "1:"], "--n: '1:' is not a list of sizes"),
        (["gemm", "--ld", "4KB"], "--ld: '4KB' is not all, tight or a list"),
        (["gemm", "--n", "64", "--ld", "32"], "--ld: 32 is less than n = 64"),
        (["gemm", "--threads", "1000000"], "--threads: 1000000 is not a number of threads from 1 to"),
        (["gemm", "--threads", "0"], "--threads: 0 is not"),
        (["gemm", "--threads", "al"], "--threads: 'al' is not"),
        (["gemm", "--repeat", "0"], "--repeat: 0 repetitions"),
        (["gemm", "--against", "mk"], "did you mean 'mkl'?"),
        (["gemm", "-o", "x.pdf"], "give a file called .svg or .png"),
        (["gemm", "-o", "/nowhere/x.svg"], "cannot be written"),
        (["gemm", "--json", "/nowhere/x.json"], "cannot be written"),
        (["gemm", "--n", "999999999"], "out of memory"),
    ],
)
def test_bad_usage_is_one_line(words, said):
    assert said in refusal("sweep", *words)


def test_ranges_of_threads_are_all_their_numbers(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)))
    assert sweep_commands._threads("1:4:1,all,2") == [1, 2, 3, 4, 8]
    assert sweep_commands._threads("2:8:3") == [2, 5, 8]
    with pytest.raises(UsageError, match="--threads: 9 is not a number of threads from 1 to 8"):
        sweep_commands._threads("1:9:1")


def test_all_is_every_routine_and_everything_is_the_default(monkeypatch):
    asked = []
    monkeypatch.setattr(sweep_commands, "sweep", lambda request, step: asked.append(request) or iter([row_of("d", 16, 16, 1.0)]))
    cli.main(["sweep", "all", "--json"])
    (request,) = asked
    assert [str(case) for case in request.cases if case.precision == "s"] == [
        "sgemm NN", "sgemm TN", "sgemm NT", "sgemm TT", "ssyrk", "strsm left", "strsm right", "spotrf", "sgetrf", "sgeqrf",
    ]  # fmt: skip
    assert request.orders == ORDERS and [rule.name for rule in request.rules] == list(ALL) and request.repeat == 7
    assert request.threads == sorted({1, len(CORES)}) and {case.precision for case in request.cases} == {"d", "s"}


def test_flops_are_those_of_the_routines():
    assert Case("gemm", "d", "TT").flops(100) == _core.routine_flops("gemm", False, 100) == 2e6
