"""trencadis bench and trace on the command line."""

import json
import os

import numpy as np
import pytest
from commands import COMMAND, refusal, rows, trencadis
from trencadis import _core
from trencadis.bench import repetition, runs_within
from trencadis.turns import BUSY_TURN_S, Run, Turn
from trencadis.workloads import WORKLOADS
from waiting import computes, interrupted

FIELDS = [
    "routine", "n", "nb", "precision", "variant", "engine", "scheduler", "runtime", "kernels", "threads", "workers", "machine",
    "seconds_median", "seconds_min", "seconds_max", "gflops_median", "gflops_max", "idle_fraction", "residual", "simulated",
    "slow", "busy", "kernels_version", "repeat", "reproducible", "node_bytes",
]  # fmt: skip
CORE = min(os.sched_getaffinity(0))


@pytest.mark.parametrize("routine", WORKLOADS)
def test_json_is_one_object_a_size_with_the_promised_fields(routine):
    first, second = rows("bench", routine, "--n", "64,100", "--nb", "32", "--repeat", "3", "--check")
    assert list(first) == FIELDS and list(second) == FIELDS
    assert (first["n"], second["n"], first["nb"], first["routine"], first["repeat"]) == (64, 100, 32, routine, 3)
    assert 0 < first["seconds_min"] <= first["seconds_median"] <= first["seconds_max"]
    flops = WORKLOADS[routine].flops(64, "float64")
    assert first["gflops_median"] == pytest.approx(flops / first["seconds_median"] / 1e9)
    assert first["gflops_max"] == pytest.approx(flops / first["seconds_min"] / 1e9)
    assert 0 <= first["residual"] < 30 and first["simulated"] is False


def test_a_repetition_counts_as_its_median_run_and_beside_neighbours_as_the_mean():
    runs = [Run(1e-3, 0.25, 10.0), Run(4e-3, 1.0, 10.1), Run(1e-3, 0.25, 10.2)]
    assert repetition(runs, busy=False) in [Turn(1e-3, 1, None, 0.25, begin, begin + 1e-3) for begin in (10.0, 10.2)]
    assert repetition(runs, busy=True) == Turn(pytest.approx(2e-3), 3, None, pytest.approx(0.5), 10.0, 10.2 + 1e-3)
    assert runs_within(1e-6) == 200 and runs_within(1e-6, busy=True) == BUSY_TURN_S / 1e-6 and runs_within(9, busy=True) == 1


def test_every_routine_that_is_listed_as_available_can_be_measured():
    listed = {row["name"] for row in _core.list_routines() if row["available"]}
    assert listed == {*WORKLOADS, "tasks"}


@pytest.mark.parametrize("routine", ["hemm", "herk", "syr2k", "her2k"])
def test_rank_updates_and_hermitian_products_are_measured_in_complex_too(routine):
    for precision in ("c", "z"):
        (row,) = rows("bench", routine, "--n", "300", "--nb", "100", "--repeat", "1", "--check", "--precision", precision)
        assert row["precision"] == precision and row["residual"] < 30


def test_a_product_of_another_shape_says_so():
    square, thin = rows("bench", "gemm", "--n", "40", "--shape", "300x40x7", "--repeat", "2", "--check")
    assert list(square) == FIELDS and list(thin) == [*FIELDS[:2], "m", "k", *FIELDS[2:]]
    assert (thin["m"], thin["n"], thin["k"], thin["nb"]) == (300, 40, 7, None) and thin["residual"] < 30
    assert thin["gflops_median"] == pytest.approx(2 * 300 * 40 * 7 / thin["seconds_median"] / 1e9)


@pytest.mark.parametrize("precision", ["d", "c"])
@pytest.mark.parametrize(
    ("routine", "shape", "flops"),
    [
        ("geqrf", "300x40", 2 * 40**2 * (300 - 40 / 3)),
        ("geqrf", "40x300", 2 * 40**2 * (300 - 40 / 3)),
        ("gelqf", "40x300", 2 * 40**2 * (300 - 40 / 3)),
        ("geqrt", "300x40", 2 * 40**2 * (300 - 40 / 3)),
        ("orgqr", "300x40", 2 * 40**2 * (300 - 40 / 3)),
        ("ormqr", "300x40", 2 * 40 * 40 * (600 - 40)),
        ("ormqr", "300x7x40", 2 * 7 * 40 * (600 - 40)),
        ("symm", "300x40", 2 * 300**2 * 40),
        ("hemm", "300x40", 2 * 300**2 * 40),
        ("syrk", "40x300", 40 * 41 * 300),
        ("herk", "40x300", 40 * 41 * 300),
        ("trmm", "300x40", 300**2 * 40),
        ("trsm", "300x40", 300**2 * 40),
        ("potrs", "300x7", 2 * 300**2 * 7),
        ("potrs", "30x30", 2 * 30**2 * 30),
        ("getrs", "300x7", 300 * 599 * 7),
        ("gels", "300x40", 2 * 40**2 * (300 - 40 / 3) + 2 * 40 * (600 - 40) + 40**2),
    ],
)
def test_tall_matrices_are_measured_by_shape(routine, shape, flops, precision):
    (row,) = rows("bench", routine, "--shape", shape, "--precision", precision, "--repeat", "1", "--check")
    extents = [int(extent) for extent in shape.split("x")]
    assert [row[name] for name in ("m", "n", "k") if name in row] == extents and row["residual"] < 30
    if precision == "d":
        assert row["gflops_median"] == pytest.approx(flops / row["seconds_median"] / 1e9)


@pytest.mark.parametrize(("letters", "precision"), [("NT", "d"), ("TT", "s"), ("cn", "z"), ("CT", "c")])
def test_transposed_operands_of_a_product_are_named_and_right(letters, precision):
    found = rows("bench", "gemm", "--n", "20", "--shape", "60x7x31", "--transpose", letters, "--precision", precision,
                 "--repeat", "1", "--check")  # fmt: skip
    assert [row["transpose"] for row in found] == 2 * [letters.upper()]
    assert all(row["residual"] < 1 for row in found)


@pytest.mark.parametrize("precision", "dz")
@pytest.mark.parametrize(("routine", "adds"), [("symm", 2), ("hemm", 2), ("trmm", 1), ("trsm", 1)])
def test_a_square_operand_may_stand_on_the_right(routine, adds, precision):
    found = rows("bench", routine, "--n", "20", "--shape", "60x7", "--side", "right", "--precision", precision,
                 "--repeat", "1", "--check")  # fmt: skip
    assert [row["side"] for row in found] == ["R", "R"]
    assert all(row["residual"] < 1 for row in found)
    flops = found[1]["gflops_median"] * found[1]["seconds_median"] * 1e9
    assert flops == pytest.approx(adds * 60 * 7 * 7 * (4 if precision == "z" else 1), rel=0.1)
    (left,) = rows("bench", routine, "--shape", "60x7", "--side", "left", "--precision", precision, "--repeat", "1", "--check")
    assert left["side"] == "L" and left["residual"] < 1


def test_several_shapes_stand_behind_the_sizes():
    found = rows("bench", "geqrf", "--n", "20,30", "--shape", "200x10, 100x20", "--repeat", "1")
    assert [(row.get("m"), row["n"]) for row in found] == [(None, 20), (None, 30), (200, 10), (100, 20)]


def test_a_wrong_tall_result_is_seen():
    workload = WORKLOADS["gels"](20, np.float64, m=200)
    workload.ours(_core, None, 0, "")()
    assert workload.residual() < 30
    workload.targets[-1][3] += 1e-3
    assert workload.residual() > 1e6
    workload = WORKLOADS["ormqr"](7, np.float64, m=200, k=20)
    workload.ours(_core, None, 0, "")()
    assert workload.residual() < 30
    workload.targets[-1][100, 3] += 1e-3
    assert workload.residual() > 1e6


@pytest.mark.parametrize("routine", ["symm", "hemm", "syrk", "herk", "trmm", "trsm", "potrs", "getrs"])
@pytest.mark.parametrize("m", [50, 5])
def test_a_wrong_result_of_a_shape_is_seen(routine, m):
    workload = WORKLOADS[routine](20, np.complex128, m=m)
    assert workload.ours(_core, None, 0, "")() == 0
    assert workload.residual() < 30
    workload.targets[-1][m - 1, 3] *= 1.001
    assert workload.residual() > 1e6


def test_kernels_are_reported_as_they_were_given():
    known = [row["name"] for row in _core.list_kernels() if row["available"]]
    text = f"{known[0]},trsm={known[-1]}"
    (row,) = rows("bench", "potrf", "--n", "90", "--kernels", text, "--repeat", "1", "--check")
    assert row["kernels"] == text and "; trsm: " in row["kernels_version"] and row["residual"] < 30


def test_without_check_the_residual_is_null():
    (row,) = rows("bench", "potrf", "--n", "50", "--repeat", "1")
    assert row["residual"] is None and isinstance(row["nb"], int) and row["nb"] > 0 and row["slow"] == {} and row["busy"] == {}


@pytest.mark.alone
def test_options_reach_the_session_and_the_labels():
    (row,) = rows(
        "bench", "potrf", "--n", "120", "--nb", "40", "--precision", "c", "--scheduler", "ws", "--workers", CORE, "--window",
        "50", "--slow", f"{CORE}=0.5", "--busy", f"{CORE}=1", "--repeat", "2", "--variant", "tile-layout",
    )  # fmt: skip
    assert row["scheduler"] == "ws" and row["workers"] == [CORE] and row["precision"] == "c" and row["variant"] == "tile-layout"
    assert row["slow"] == {str(CORE): 0.5} and row["busy"] == {str(CORE): 1}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_virtual_cores_are_a_scheduler_with_teams():
    (row,) = rows("bench", "potrf", "--n", "300", "--nb", "50", "--repeat", "1", "--check", "--virtual-cores", "1+0",
                  "--scheduler", "cats:stealing=none")  # fmt: skip
    assert row["scheduler"] == "virtual-cores:teams=1+0,inside=cats:stealing=none" and row["residual"] < 30


@pytest.mark.alone
def test_a_slow_core_is_slower():
    def seconds(*slow):
        words = ["bench", "gemm", "--n", "400", "--nb", "100", "--workers", CORE, "--repeat", "5"]
        return rows(*words, *slow)[0]["seconds_min"]

    # Other load only adds time: the least of several alternating measurements comes down to the true one.
    slow = fast = float("inf")
    for _ in range(6):
        slow, fast = min(slow, seconds("--slow", f"{CORE}=0.25")), min(fast, seconds())
        if slow > 2 * fast:
            return
    raise AssertionError(f"a core slowed to a quarter takes {slow} s, at full speed {fast} s")


def test_tasks_has_nanoseconds_a_task_and_no_rate():
    (row,) = rows("bench", "tasks", "--n", "12", "--repeat", "3")
    assert list(row) == [*FIELDS, "ns_per_task"]
    assert row["ns_per_task"] == pytest.approx(row["seconds_median"] / 364 * 1e9)
    assert row["gflops_median"] is None and row["nb"] is None


def test_a_table_is_for_people_and_names_machine_kernels_and_repetitions():
    out, err = trencadis("bench", "potrf", "--n", "80", "--repeat", "2")
    name = json.loads(_core.machine(measure=False))["name"]
    assert err == "" and name in out and "medians of 2" in out and "GFlop/s" in out and "\x1b" not in out


def test_a_file_is_written_whole_and_only_when_all_is_done(tmp_path):
    target = tmp_path / "rows.json"
    out, _ = trencadis("bench", "potrf", "--n", "60,70", "--repeat", "1", "--json", target)
    assert out == "" and [json.loads(line)["n"] for line in target.read_text().splitlines()] == [60, 70]
    target.write_text("as it was\n")
    refusal("bench", "potrf", "--n", "60,5000000", "--repeat", "1", "--json", target)
    assert target.read_text() == "as it was\n" and list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["potrff", "--n", "10"], "unknown routine to measure 'potrff'; did you mean 'potrf'? (known: gemm"),
        (["potrf", "--n", "ten"], "--n: 'ten' is not a list of sizes"),
        (["potrf", "--n", "0"], "--n: a size to measure is 1 or more"),
        (["potrf"], "--n: give a size to measure, such as --n 1024"),
        (["potrf", "--shape", "3x4x5"], "--shape: potrf is measured by --n; routines with shapes: gemm, symm, "),
        (["gemm", "--shape", "3x4"], "--shape: '3x4' is no shape of gemm, which has MxNxK: a product has three extents"),
        (["gemm", "--n", "5", "--transpose", "TX"], "--transpose: 'TX' is not two of N, T and C, of A and B, such as TN"),
        (["potrf", "--n", "5", "--transpose", "TN"], "--transpose: is of gemm, which is not measured here but potrf"),
        (["trsm", "--n", "5", "--side", "R"], "--side: 'R' is not left or right, on which A stands"),
        (["gemm", "--n", "5", "--side", "right"], "--side: is of symm, hemm, trmm, trsm, which are not measured here but gemm"),
        (["gemm", "--shape", "3x0x5"], "--shape: '3x0x5' is empty; an extent to measure is 1 or more"),
        (["potrf", "--n", "9", "--repeat", "100001"], "--repeat: 100001 is more than 100000"),
        (["geqrf", "--shape", "300"], "--shape: '300' is not a list of shapes such as 100000x200"),
        (["geqrf", "--shape", "30x20x10"], "--shape: '30x20x10' is no shape of geqrf, which has MxN: "),
        (["gels", "--shape", "20x30"], "least squares need at least as many rows as columns"),
        (["orgqr", "--shape", "20x30"], "Q has at least as many rows as columns"),
        (["ormqr", "--shape", "20x3x30"], "there are at most as many reflectors as rows"),
        (["geqrf"], "--n: give a size to measure, such as --n 1024, or a shape, --shape MxN"),
        (["gemm", "--shape", "900000x900000x1"], "out of memory: gemm with m = 900000, n = 900000, k = 1 needs"),
        (["potrf", "--n", "10", "--kernels", "natvie"], "did you mean 'native'"),
        (["potrf", "--n", "10", "--kernels", "native,ptrf=native"], "did you mean 'potrf'"),
        (["potrf", "--n", "10", "--kernels", "native,potrf"], "'potrf' is not routine=provider"),
        (["potrf", "--n", "10", "--repeat", "0"], "--repeat: 0 repetitions"),
        (["potrf", "--n", "10", "--nb", "-3"], "--nb: '-3' is not a tile size"),
        (["potrf", "--n", "10", "--precision", "q"], "unknown --precision 'q'"),
        (["potrf", "--n", "10", "--variant", "x"], "unknown --variant of potrf 'x' (known: "),
        (["potrf", "--n", "10", "--scheduler", "egaer"], "did you mean 'eager'"),
        (["potrf", "--n", "10", "--engine", "simulated"], "use `trencadis simulate`"),
        (["potrf", "--n", "10", "--virtual-cores", "0+0"], "--virtual-cores: worker 0 is in '0+0' twice"),
        (["potrf", "--n", "10", "--virtual-cores", "0+77"], "77"),
        (["potrf", "--n", "10", "--scheduler", "cats:stealing=some"], "stealing=some, must be one of"),
        (["potrf", "--n", "10", "--busy", "4321=1"], "--busy: there is no core 4321"),
        (["potrf", "--n", "10", "--busy", "1"], "--busy: '1' is not CORE=COUNT"),
        (["potrf", "--n", "10", "--slow", "0=2"], "--slow: '0=2' is not CORE=FRACTION"),
        (["potrf", "--n", "10", "--workers", "4321"], "4321"),
        (["tasks", "--n", "10", "--check"], "--check: tasks computes nothing"),
        (["potrf", "--n", "10", "--json", ""], "--json: '' is no file name; give FILE, or - for standard output"),
        (["potrf", "--n", "10", "--json", "/nowhere/rows.json"], "/nowhere/rows.json: cannot be written"),
        (["potrf", "--n", "3000000"], "out of memory: potrf with n = 3000000 needs"),
    ],
)
def test_bad_input_is_refused_in_one_line(words, message):
    assert message in refusal("bench", *words)


@pytest.mark.alone
def test_ctrl_c_stops_within_a_second_with_130():
    words = ["bench", "potrf", "--n", "1500", "--repeat", "100000", "--busy", f"{CORE}=1", "--json", "-"]
    interrupted([*COMMAND, *words], computes(4), within=2.5)  # one second is promised; the machine may have other things to do


@pytest.mark.parametrize(("suffix", "files"), [(".json", 1), (".svg", 1), (".html", 1), (".prv", 3)])
def test_a_trace_is_written_in_the_format_of_the_suffix(tmp_path, suffix, files):
    out, _ = trencadis("trace", "potrf", "--n", "200", "--nb", "50", "-o", tmp_path / f"run{suffix}")
    assert "worker" in out and "gemm" in out and "measured" in out
    written = sorted(tmp_path.iterdir())
    assert len(written) == files and all(file.stat().st_size > 0 for file in written)
    if suffix == ".json":
        events = json.loads(written[0].read_text())["traceEvents"]
        assert sum(event.get("name") == "potrf" for event in events) == 4  # one a tile column: the untimed run is not in it


def test_a_trace_without_tasks_says_why(tmp_path):
    out, _ = trencadis("trace", "gemm", "--n", "16", "-o", tmp_path / "t.svg")
    assert "no task was recorded: a call too small" in out and "--nb or --variant" in out
    assert "no task was recorded" in (tmp_path / "t.svg").read_text()
    out, _ = trencadis("trace", "gemm", "--n", "16", "--nb", "8", "-o", tmp_path / "t.svg")
    assert "no task was recorded" not in out


def test_the_two_views_of_a_trace_differ(tmp_path):
    for view in ("kernel", "order"):
        trencadis("trace", "tasks", "--n", "5", "-o", tmp_path / f"{view}.svg", "--view", view)
    assert (tmp_path / "kernel.svg").read_text() != (tmp_path / "order.svg").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--n", "100", "-o", "run.pdf"], "'run.pdf' has none of the suffixes .json, .prv, .svg, .html"),
        (["--n", "100,200", "-o", "run.svg"], "a trace is of one run"),
        (["--n", "100", "-o", "run.svg", "--view", "rainbow"], "unknown --view 'rainbow' (known: kernel order)"),
        (["--n", "100", "-o", "nowhere/run.svg"], "nowhere/run.svg: cannot be written"),
    ],
)
def test_a_trace_that_cannot_be_written_is_refused_before_the_run(tmp_path, words, message):
    assert message in refusal("trace", "potrf", *words, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.alone
def test_a_check_says_what_each_memory_node_read_and_wrote():
    (row,) = rows(
        "bench", "gemm", "--n", "300", "--nb", "100", "--variant", "nodes", "--repeat", "1", "--check",
        "--machine", "kunpeng920x2", "--workers", "0,24,48,72",
    )  # fmt: skip
    assert [node["node"] for node in row["node_bytes"]] == [0, 1, 2, 3]
    first, *others = row["node_bytes"]
    assert first["remote_read"] == first["remote_written"] == 0, "all operands lie on the first node"
    assert all(node["remote_read"] > 0 and node["local_read"] > 0 for node in others)
    assert "kunpeng920x2 laid over" in row["machine"] and "emulated" in row["machine"]
    assert row["variant"] == "nodes" and row["residual"] < 30


def test_on_one_memory_node_everything_is_near():
    if len(json.loads(_core.machine(measure=False))["nodes"]) > 1:
        pytest.skip("this machine has several memory nodes")
    (row,) = rows("bench", "gemm", "--n", "600", "--nb", "200", "--kernels", "native", "--repeat", "1", "--check")
    (node,) = row["node_bytes"]
    assert node["remote_read"] == node["remote_written"] == 0
    assert node["local_written"] == (3 + 1 + 1) * 600 * 600 * 8, "C once per step along k, and the images of A and B"


def test_pages_are_placed_on_described_machines_only():
    assert "give a machine too" in refusal("bench", "gemm", "--n", "50", "--pages", "interleave")


def test_relief_takes_its_three_words_and_no_other():
    for word in ("held-up", "always", "never"):
        (row,) = rows("bench", "gemm", "--n", "200", "--nb", "48", "--relief", word, "--repeat", "3", "--check")
        assert row["residual"] < 10
    assert "must be held-up, always or never" in refusal("bench", "gemm", "--n", "50", "--relief", "sometimes")
