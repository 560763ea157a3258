"""trencadis simulate and reproduce on the command line."""

import json
import os

import pytest
from commands import COMMAND, refusal, rows, trencadis
from waiting import all_below, cpu_seconds, interrupted, wait_until_gone

EXYNOS = ["simulate", "potrf", "--machine", "exynos5422", "--n", "1344", "--nb", "448"]
FIELDS = [
    "routine", "n", "nb", "precision", "variant", "engine", "scheduler", "kernels", "threads", "workers", "machine",
    "seconds_median", "seconds_min", "seconds_max", "gflops_median", "gflops_max", "idle_fraction", "residual", "simulated",
    "makespan_s", "energy_j", "bound_gflops",
]  # fmt: skip


def test_json_is_one_object_a_size_with_the_promised_fields():
    first, second = rows(*EXYNOS[:4], "--n", "896,1344", "--nb", "448")
    assert list(first)[: len(FIELDS)] == FIELDS and list(second) == list(first)
    assert (first["n"], second["n"], first["nb"], first["routine"], first["engine"]) == (896, 1344, 448, "potrf", "simulated")
    assert first["simulated"] is True and first["residual"] is None and first["kernels"] is None
    assert first["seconds_median"] == first["seconds_min"] == first["makespan_s"] > 0
    assert first["gflops_median"] == pytest.approx(896**3 / 3 / first["makespan_s"] / 1e9, rel=0.01)
    assert 0 < first["gflops_median"] <= first["bound_gflops"] * (1 + 1e-9)
    assert len(first["per_worker"]) == 8 and {worker["kind"] for worker in first["per_worker"]} == {"cortex-a7", "cortex-a15"}
    assert {kernel["name"] for kernel in first["per_kernel"]} == {"potrf", "trsm", "syrk"}
    assert all(kernel["mean_ms"] > 0 and kernel["calls"] > 0 for kernel in first["per_kernel"])


def test_a_kernel_takes_the_time_that_the_description_gives_it():
    size = [*EXYNOS[:4], "--n", "6144", "--nb", "448"]
    (row,) = rows(*size, "--workers", "cortex-a15:1", "--scheduler", "eager")
    times = {kernel["name"]: kernel["mean_ms"] for kernel in row["per_kernel"]}
    # calibrated: the published mean times of a run of this size
    assert times == pytest.approx({"gemm": 89.43, "trsm": 48.27, "syrk": 47.22, "potrf": 94.49}, rel=1e-5)
    # One worker does everything in turn: 14 potrf, 91 trsm, 91 syrk, 364 gemm.
    assert row["makespan_s"] == pytest.approx(1e-3 * (14 * 94.49 + 91 * (48.27 + 47.22) + 364 * 89.43), rel=1e-5)


def test_tall_qr_is_simulated_by_its_shape():
    words = ["simulate", "geqrf", "--machine", "idgraf", "--workers", "x5650"]
    first, second = rows(*words, "--shape", "20000x100,50000x100", "--nb", "5000")
    assert [(row["m"], row["n"], row["variant"]) for row in (first, second)] == [(20000, 100, "tsqr"), (50000, 100, "tsqr")]
    calls = {kernel["name"]: kernel["calls"] for kernel in second["per_kernel"]}
    assert calls["gram_qr"] == 10 and calls["ttqrt"] == 9 and calls["reconstruct_block"] == 10
    assert second["gflops_median"] == pytest.approx(2 * 100**2 * (50000 - 100 / 3) / second["makespan_s"] / 1e9)
    (usual,) = rows(*words, "--variant", "tsqr", "--n", "100")
    assert usual["m"] == 6400, "from where geqrf takes it by itself"


@pytest.mark.parametrize("routine", ["symm", "hemm", "her2k", "trmm", "trtrs", "getrs", "gesv", "gelqf", "geqrt"])
@pytest.mark.parametrize("precision", ["d", "z"])
def test_what_is_called_can_be_simulated(routine, precision):
    (row,) = rows("simulate", routine, "--machine", "cluster", "--n", "700", "--nb", "100", "--precision", precision)
    assert 0 < row["gflops_median"] <= row["bound_gflops"] * (1 + 1e-9)


@pytest.mark.parametrize("routine", ["orgqr", "ormqr", "orglq", "ormlq", "gemqrt"])
@pytest.mark.parametrize("n", ["300", "1000"])
def test_reflectors_from_the_last_to_the_first_are_simulated_in_several_memories(routine, n):
    """Their slots hold a longer block each time."""
    (row,) = rows("simulate", routine, "--machine", "cluster", "--n", n, "--nb", "192")
    assert row["makespan_s"] > 0 and row["bytes_moved"] >= 0


def test_blocked_qr_runs_where_panels_of_lu_and_reflectors_of_tiles_have_times():
    words = ["simulate", "geqrf", "--machine", "idgraf", "--n", "2048"]
    assert rows(*words)[0]["variant"] == "flat", "devices have no part in images"
    (row,) = rows(*words, "--variant", "blocked", "--workers", "x5650")
    assert {kernel["name"] for kernel in row["per_kernel"]} >= {"geqrf_panel", "larfb"}
    error = refusal(*words, "--variant", "blocked")
    assert "variant 'blocked' works on images that cores make for themselves, and idgraf takes part with devices" in error
    assert "use 'flat', or --workers without devices" in error


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    words = [*EXYNOS, "--effect", "jitter=0.2", "--seed"]
    first, again, other = rows(*words, 1), rows(*words, 1), rows(*words, 2)
    assert first == again and first[0]["makespan_s"] != other[0]["makespan_s"]


@pytest.mark.parametrize("words", [["--scheduler", "ws"], ["--scheduler", "ws", "--virtual-cores", "4+0"]])
def test_random_choices_of_the_policy_follow_the_seed(words):
    words = [*EXYNOS[:4], "--n", "2048", "--nb", "128", *words]
    runs = {seed: rows(*words, "--seed", seed)[0]["makespan_s"] for seed in (1, 2, 3, 4)}
    assert len(set(runs.values())) > 1
    assert rows(*words, "--seed", 3)[0]["makespan_s"] == runs[3]
    by_text = [*words[:8], "--scheduler", "ws:seed=3", *words[10:]]
    assert rows(*by_text)[0]["makespan_s"] == runs[3], "a seed in the text is the policy's own"


def test_what_is_chosen_has_an_effect():
    (plain,) = rows(*EXYNOS, "--scheduler", "eager")
    (big,) = rows(*EXYNOS, "--scheduler", "eager", "--workers", "cortex-a15")
    (slow,) = rows(*EXYNOS, "--scheduler", "eager", "--effect", "submit=100ms")
    (teams,) = rows(*EXYNOS, "--scheduler", "eager", "--virtual-cores", "auto")
    (one_cluster,) = rows(*EXYNOS, "--scheduler", "eager", "--model", "cluster-switching")
    assert len(big["workers"]) == 4 and {worker["kind"] for worker in big["per_worker"]} == {"cortex-a15"}
    assert slow["makespan_s"] > plain["makespan_s"] and slow["effects"] == {"submit_s": 0.1}
    assert teams["scheduler"] == "virtual-cores:teams=even,inside=eager"
    assert one_cluster["model"] == "cluster-switching" and len(one_cluster["workers"]) == 4
    assert len({run["makespan_s"] for run in (plain, big, slow, teams)}) == 4


def test_a_table_is_for_people_and_says_that_it_is_simulated():
    out, err = trencadis(*EXYNOS, "--effect", "submit=50us")
    assert err == "" and out.startswith("simulated: potrf") and "submit=50us" in out and "\x1b" not in out
    assert "cortex-a15" in out and "gemm" in out and "at most" in out


@pytest.mark.parametrize(("suffix", "files"), [(".json", 1), (".svg", 1), (".html", 1), (".prv", 3)])
def test_the_trace_is_written_in_the_format_of_the_suffix(tmp_path, suffix, files):
    out, _ = trencadis(*EXYNOS, "-o", tmp_path / f"run{suffix}")
    written = sorted(tmp_path.iterdir())
    assert len(written) == files and all(file.stat().st_size > 0 and str(file) in out for file in written)
    if suffix == ".svg":
        assert "simulated" in written[0].read_text()
    if suffix == ".json":
        events = json.loads(written[0].read_text())["traceEvents"]
        assert sum(event.get("name") == "potrf" for event in events) == 3


def test_a_machine_may_be_a_file(tmp_path):
    (tmp_path / "one.toml").write_text(
        'name = "one"\nkernels = [{ kernel = "gemm", on = "core", gflops = 2 }]\n[[kinds]]\nname = "core"\n'
        '[[nodes]]\nname = "ram"\nbytes = 1e9\n[[cores]]\nkind = "core"\ncount = 2\n'
    )
    (row,) = rows("simulate", "gemm", "--machine", "one.toml", "--n", "200", "--nb", "100", cwd=tmp_path)
    assert row["machine"] == "one" and row["energy_j"] is None
    assert row["makespan_s"] == pytest.approx(2 * 200**3 / 4e9, rel=1e-6)


def test_a_key_that_a_machine_file_cannot_have_is_named_with_file_and_line(tmp_path):
    (tmp_path / "bad.toml").write_text('name = "bad"\n[[kinds]]\nname = "core"\nspeeed = 3\n')
    error = refusal("simulate", "potrf", "--machine", "bad.toml", "--n", "100", cwd=tmp_path)
    assert "bad.toml:4: " in error and "speeed" in error


ONE = (
    'name = "one"\nkernels = [{ kernel = "%s", on = "core", gflops = 2 }]\n[[kinds]]\nname = "core"\n'
    '[[nodes]]\nname = "ram"\nbytes = 1e9\n[[cores]]\nkind = "core"\n'
)


def test_a_misspelt_kernel_in_a_machine_file_is_named_with_file_and_line(tmp_path):
    (tmp_path / "bad.toml").write_text(ONE % "gmem")
    for words in (["simulate", "gemm", "--machine", "bad.toml", "--n", "100"], ["machine", "bad.toml"]):
        assert "bad.toml:2: unknown kernel 'gmem'; did you mean 'gemm'?" in refusal(*words, cwd=tmp_path)


def test_a_machine_file_may_have_any_name_and_is_no_pipe(tmp_path):
    (tmp_path / "mine.txt").write_text(ONE % "gemm")
    (row,) = rows("simulate", "gemm", "--machine", "mine.txt", "--n", "200", "--nb", "100", cwd=tmp_path)
    assert row["machine"] == "one"
    trencadis("machine", "mine.txt", cwd=tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    assert "is a pipe" in refusal("simulate", "gemm", "--machine", "pipe.toml", "--n", "200", cwd=tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["potrf", "--machine", "exynos5422", "--n", "10", "--seed", str(2**63)], "--seed"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--json", ""], "--json: '' is no file name"),
        (["potrf", "--machine", "exynos5433", "--n", "10"], "unknown machine 'exynos5433'; did you mean 'exynos5422'"),
        (["potrf", "--machine", "none.toml", "--n", "10"], "cannot read 'none.toml'"),
        (["potrff", "--machine", "exynos5422", "--n", "10"], "unknown routine to simulate 'potrff'; did you mean 'potrf'?"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--variant", "x"], "unknown --variant of potrf 'x' (known: packed"),
        (["potrf", "--machine", "exynos5422", "--n", "-1"], "--n: '-1' is not a list of sizes"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--nb", "0"], "--nb: '0' is not a tile size"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--effect", "sumbit"], "unknown effect 'sumbit'; did you mean"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--effect", "power-state=warp"], "warp"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--scheduler", "catz"], "did you mean 'cats'"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--scheduler", "cats:steal=no"], "did you mean 'stealing'"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--workers", "cortex-a16"], "cortex-a1"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--workers", "0,,1"], "--workers: '0,,1' holds an empty name"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--workers", "9"], "9"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--model", "globel"], "did you mean 'global'"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--precision", "q"], "q"),
        (["potrf", "--machine", "exynos5422", "--n", "10,20", "-o", "x.svg"], "a trace is of one run"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "-o", "x.pdf"], "none of the suffixes"),
        (["potrf", "--machine", "exynos5422", "--n", "10", "--json", "/nowhere/x"], "/nowhere/x: cannot be written"),
        (["potrf", "--n", "10"], "--machine: name a described machine"),
        (["geqrf", "--machine", "idgraf"], "--n: give a size to simulate, such as --n 1024, or of geqrf a shape, --shape MxN"),
        (["geqrf", "--machine", "idgraf", "--shape", "9x8x7"], "--shape: '9x8x7' is no shape of a matrix; write MxN"),
        (["potrf", "--machine", "idgraf", "--shape", "9x8"], "only geqrf --variant tsqr has shapes"),
        (["geqrf", "--machine", "idgraf", "--workers", "x5650", "--shape", "9x8"], "m is 9, must be at least 2 n"),
    ],
)
def test_bad_input_is_refused_in_one_line(words, message):
    assert message in refusal("simulate", *words)


def test_a_kernel_that_no_worker_has_a_time_for_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "one.toml").write_text(ONE % "gemm")
    error = refusal("simulate", "potrf", "--machine", "one.toml", "--n", "200", "--nb", "100", cwd=tmp_path)
    assert "potrf" in error and "one.toml" in error


@pytest.mark.alone
def test_ctrl_c_ends_all_simulations_within_a_second_with_130():
    words = ["simulate", "potrf", "--machine", "uv2000", "--n", "40000,40000,40000", "--nb", "352", "--json", "-"]
    simulating = []

    def simulates(process):
        simulating[:] = all_below(process.pid)
        return any(cpu_seconds(pid) > 0.5 for pid in simulating)

    interrupted([*COMMAND, *words], simulates, within=2.5)  # one second is promised; the machine may be busy
    wait_until_gone(simulating)


def test_reproduce_prints_json_and_nothing_else():
    printed = rows("reproduce", "numa", "--quick", timeout=300)
    assert {row["method"] for row in printed} == {"default", "copies", "numa-ws", "ours"}
    assert all(row["speedup"] > 0 and row["local_bytes"] >= 0 and row["remote_bytes"] >= 0 for row in printed)


def test_reproduce_writes_a_report_with_timelines_and_charts(tmp_path):
    out, err = trencadis("reproduce", "asym", "--quick", "-o", tmp_path / "asym", timeout=300)
    assert err == "" and "\x1b" not in out and "Published order" in out
    report = (tmp_path / "asym" / "report.md").read_text()
    pictures = {file.name for file in (tmp_path / "asym").glob("*.svg")}
    assert {"gflops-plain.svg", "gain-effects.svg"} <= pictures
    assert {"timeline-ours-plain-kernel.svg", "timeline-cats-effects-order.svg"} <= pictures
    assert all(name in report for name in pictures)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["asymm"], "unknown published system 'asymm'; did you mean 'asym'? (known: asym energy locality numa)"),
        (["asym", "--quick", "--json", ""], "--json: '' is no file name"),
        (["asym", "-o", "/proc/x"], "-o: /proc/x cannot be made"),
    ],
)
def test_reproduce_refuses_bad_input_in_one_line(words, message):
    assert message in refusal("reproduce", *words)


FAT_TREE = ["simulate", "potrf", "--machine", "fat-tree", "--n", "4000", "--nb", "500"]


def test_many_hosts_say_what_they_send_and_hold():
    (cyclic,) = rows(*FAT_TREE, "--grid", "3x4", "--scheduler", "eager")
    (symmetric,) = rows(*FAT_TREE, "--grid", "4x4", "--distribution", "symmetric", "--scheduler", "eager")
    assert (cyclic["hosts"], cyclic["grid"], cyclic["distribution"]) == (12, "3x4", "block-cyclic")
    assert (symmetric["hosts"], symmetric["grid"], symmetric["distribution"]) == (6, "4x4", "symmetric")
    for row in (cyclic, symmetric):
        assert row["variant"] == "in-place" and len(row["workers"]) == 16 * row["hosts"]
        per_host = row["per_host"]
        assert row["messages"] == sum(host["messages_sent"] for host in per_host)
        assert row["messages"] == sum(host["messages_received"] for host in per_host)
        assert row["bytes_sent"] == row["messages"] * 500 * 500 * 8
        assert row["most_bytes_of_a_host"] == max(host["bytes_sent"] for host in per_host)
        assert row["owned_bytes"] == 36 * 500 * 500 * 8
        assert row["peak_bytes_of_a_host"] > row["owned_bytes"] / row["hosts"]
    (free,) = rows(*FAT_TREE, "--grid", "3x4", "--scheduler", "eager", "--effect", "free-network")
    assert free["messages"] == cyclic["messages"] and free["makespan_s"] < cyclic["makespan_s"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--grid", "3by4"], "write PxQ"),
        (["--grid", "0x4"], "write PxQ"),
        (["--grid", "40x40"], "needs 1600 hosts, and fat-tree has 1024"),
        (["--distribution", "symetric"], "symmetric"),
        (["--grid", "3x4", "--distribution", "symmetric"], "not RxR"),
        (["--grid", "2x2", "--variant", "packed"], "which no host sends"),
        (["--grid", "2x2", "--scheduler", "virtual-cores:teams=0+1"], "each of its hosts has one of its own"),
    ],
)
def test_grids_that_make_no_sense_are_refused(words, said):
    assert said in refusal(*FAT_TREE, *words)


def test_a_machine_of_one_host_has_no_grid():
    assert "no machine of many hosts" in refusal(*EXYNOS, "--grid", "2x2")
