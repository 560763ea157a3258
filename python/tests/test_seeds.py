"""Means and intervals over seeds, by hand-worked numbers and on the command line."""

import json
import math
import signal
import subprocess
import sys
import time

import pytest
from commands import refusal, rows
from trencadis.reproduce import GALLERIES
from trencadis.reproduce.gallery import plan
from trencadis.seeds import Estimate, copies, estimate, mean_record, over_seeds, runs, seed_fields
from trencadis.simulations import Simulation


def test_the_interval_is_students():
    drawn = estimate([1.0, 2.0, 3.0, 4.0])
    assert drawn.mean == 2.5
    assert drawn.half == pytest.approx(3.182446 * math.sqrt(5 / 3) / 2, rel=1e-6)  # t of 3 degrees, tables
    assert estimate([7.0]) == Estimate(7.0, 0.0)


def test_differences_and_ratios_of_independent_draws():
    a, b = Estimate(10.0, 3.0), Estimate(5.0, 4.0)
    assert (a - b).mean == 5 and (a - b).half == 5
    assert (a / b).mean == 2 and (a / b).half == pytest.approx(2 * math.hypot(0.3, 0.8))


def test_only_what_chance_has_a_part_in_is_run_over_seeds():
    def seeds(**options):
        return [one.seed for one in copies(Simulation("potrf", 100, "exynos5422", seed=5, **options), 3)]

    assert seeds(scheduler="h2") == seeds(scheduler="libkomp") == seeds(scheduler="eager", effects={"jitter": 0.1}) == [5, 6, 7]
    assert seeds(scheduler="mosaic") == seeds() == seeds(scheduler="h2:seed=3") == [5]
    assert seeds(scheduler="virtual-cores:inside=ws") == [5, 6, 7]


def test_what_occurs_twice_is_simulated_once_and_each_has_its_own_records():
    def simulate(simulations, step):
        ran.extend(simulations)
        return ({"n": one.n, "seed": one.seed} for one in simulations)

    ran = []
    same, other, sure = (Simulation("potrf", n, "uv2000", scheduler=policy) for n, policy in ((1, "ws"), (2, "ws"), (1, "heft")))
    chosen, counts = [same, other, same, sure, same], [2, 2, 3, 3, 2]
    found = [[(record["n"], record["seed"]) for record in group] for group in over_seeds(chosen, counts, simulate=simulate)]
    assert found == [[(1, 1), (1, 2)], [(2, 1), (2, 2)], [(1, 1), (1, 2), (1, 3)], [(1, 1)], [(1, 1), (1, 2)]]
    assert len(ran) == 6 == runs(chosen, counts)


def test_times_are_medians_and_the_memory_of_a_host_is_the_most_that_a_seed_needs():
    records = [
        {"makespan_s": seconds, "gflops": 6 / seconds, "energy_j": 10 * seconds, "peak_bytes_of_a_host": peak}
        for seconds, peak in ((1.0, 100.0), (2.0, 300.0), (6.0, 200.0))
    ]
    mean = mean_record(Simulation("potrf", 100, "fat-tree", scheduler="ws"), records)
    row = {**mean, **seed_fields(records, mean)}
    assert row["makespan_s"] == row["seconds_median"] == 2.0 and row["energy_j"] == 30.0
    assert row["peak_bytes_of_a_host"] == 300.0


WS = ["simulate", "potrf", "--machine", "uv2000", "--n", "2000", "--nb", "200", "--scheduler", "ws"]


def test_simulate_over_seeds_gives_mean_and_interval():
    single = [rows(*WS, "--seed", str(seed))[0]["gflops_median"] for seed in (1, 2, 3)]
    (row,) = rows(*WS, "--seeds", "3")
    drawn = estimate(single)
    assert row["gflops_mean"] == pytest.approx(drawn.mean) and row["interval"] == pytest.approx(drawn.interval)
    assert row["seeds"] == 3 and row["deterministic"] is False and row["gflops_median"] == sorted(single)[1]
    (row,) = rows(*WS[:-1], "heft", "--seeds", "3")
    assert row["seeds"] == 1 and row["deterministic"] is True


@pytest.mark.parametrize("words", [WS, ["reproduce", "numa", "--quick"]])
def test_no_seeds_are_refused_in_one_line(words):
    assert "--seeds" in refusal(*words, "--seeds", "0")


def test_a_reproduction_that_is_broken_off_writes_what_it_has(tmp_path):
    words = ["reproduce", "asym", "--json", "-", "-o", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "trencadis", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    first = process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    rest, err = process.stdout.read(), process.stderr.read()  # communicate would pass over what came along with the first line
    process.wait(timeout=300)
    lines = [json.loads(line) for line in (first + rest).splitlines()]
    assert process.returncode == 130 and err.strip() == "trencadis: interrupted"
    planned = len(plan(GALLERIES["asym"], quick=False, folder=None))
    assert lines[-1]["partial"] is True and lines[-1]["rows"] == f"{len(lines) - 1} of {planned} rows"
    assert "Partial: broken off" in (tmp_path / "report.md").read_text()
