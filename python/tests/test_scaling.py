"""trencadis scaling on the command line."""

from dataclasses import replace

import pytest
from commands import refusal, rows, trencadis
from trencadis.scaling import published_bytes, sizes, square_grid, symmetric_grid, where_it_binds
from trencadis.simulations import Simulation

SMALL = ["scaling", "potrf", "--machine", "fat-tree", "--hosts", "2,4", "--nb", "500", "--scheduler", "eager"]


def test_grids_use_the_hosts_there_are():
    assert [square_grid(hosts) for hosts in (4, 12, 7, 1000)] == [(2, 2), (3, 4), (1, 7), (25, 40)]
    assert [symmetric_grid(hosts)[0] for hosts in (2, 3, 5, 6, 1000)] == [2, 3, 3, 4, 45]


def test_weak_scaling_keeps_the_memory_of_a_host():
    assert sizes("strong", 8000, 500, [4, 16]) == [8000, 8000]
    assert sizes("weak", 8000, 500, [4, 16, 1000]) == [8000, 16000, 126500]  # 126,491 in whole tiles


def test_published_volumes_differ_by_the_square_root_of_two():
    cyclic = Simulation("potrf", 10000, "fat-tree", grid_rows=32, grid_cols=31)
    symmetric = Simulation("potrf", 10000, "fat-tree", grid_rows=45, grid_cols=45, distribution="symmetric")
    assert published_bytes(cyclic) / published_bytes(symmetric) == pytest.approx(2**0.5, rel=0.01)


def test_published_volumes_go_with_the_size_of_a_number():
    cyclic = Simulation("potrf", 1000, "fat-tree", grid_rows=4, grid_cols=4)
    bytes_of = {precision: published_bytes(replace(cyclic, precision=precision)) for precision in "sdcz"}
    assert [size / bytes_of["d"] for size in bytes_of.values()] == [0.5, 1, 1, 2]


def test_says_from_where_on_communication_binds():
    row = {"scaling": "strong", "distribution": "symmetric"}
    binding = [{**row, "hosts": hosts, "lost_to_messages": lost} for hosts, lost in ((4, 0.02), (16, 0.1), (64, 0.3))]
    assert where_it_binds(binding) == [
        "strong scaling, symmetric: communication binds from 16 hosts on: 10 % of the run is lost to messages there"
    ]
    assert "does not bind at 4 hosts: 2 %" in where_it_binds(binding[:1])[0]
    lucky = [{**row, "hosts": hosts, "lost_to_messages": lost} for hosts, lost in ((4, 0.4), (16, -0.01), (64, 0.2))]
    assert "binds from 64 hosts on: 20 %" in where_it_binds(lucky)[0]


def test_each_run_stands_beside_one_whose_messages_take_no_time(tmp_path):
    chart = tmp_path / "scaling.svg"
    table = rows(*SMALL, "--strong", "3000", "--weak", "2000", "-o", str(chart))
    kinds = [(row["scaling"], row["distribution"], row["hosts"], row["n"]) for row in table]
    assert kinds == [
        ("strong", "block-cyclic", 2, 3000), ("strong", "symmetric", 1, 3000), ("strong", "block-cyclic", 4, 3000),
        ("strong", "symmetric", 3, 3000), ("weak", "block-cyclic", 2, 2000), ("weak", "symmetric", 1, 2000),
        ("weak", "block-cyclic", 4, 3000), ("weak", "symmetric", 3, 3000),
    ]  # fmt: skip
    for row in table:
        assert row["lost_to_messages"] == pytest.approx(1 - row["free_makespan_s"] / row["makespan_s"])
        assert row["gflops_per_host"] == pytest.approx(row["gflops_median"] / row["hosts"])
        assert (row["bytes_sent"] == 0) == (row["hosts"] == 1)
    assert "<svg" in chart.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give an order"),
        (["--strong", "1000", "--hosts", "4,2"], "ascending"),
        (["--strong", "1000", "--hosts", "2000"], "has 1024 hosts, not 2000"),
        (["--strong", "1000", "--hosts", "1,2"], "at least 2"),
        (["--strong", "1000", "--distribution", "cyclic"], "block-cyclic"),
        (["--strong", "1000", "-o", "chart.png"], "is an .svg"),
    ],
)
def test_nonsense_is_refused(words, said):
    assert said in refusal("scaling", "potrf", "--machine", "fat-tree", *words)


def test_the_table_is_for_people():
    text, _ = trencadis(*SMALL, "--strong", "2000", "--distribution", "block-cyclic")
    assert "simulated" in text and "communication" in text and "lost" in text
