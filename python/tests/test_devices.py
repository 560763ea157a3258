"""Devices beside the cores: sessions, bench and trace."""

import numpy as np
import pytest
import trencadis
from commands import refusal, rows
from commands import trencadis as run

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("routine", ["gemm", "potrf", "posv", "getrf", "geqrf"])
def test_bench_says_what_was_moved_and_the_result_is_right(routine):
    words = "--n", "700", "--nb", "100", "--devices", "emulated:2,memory=1MiB", "--repeat", "3", "--check"
    (row,) = rows("bench", routine, *words)
    assert 0 <= row["residual"] < 30
    assert row["devices"] == "emulated:2,memory=1MiB"
    assert [device["device"] for device in row["device_traffic"]] == ["emulated 0", "emulated 1"]
    assert row["variant"] != "packed"


def test_a_call_counts_what_went_to_the_devices_and_came_back():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 900, 900))
    moved = 0
    with trencadis.session(devices="emulated:2,memory=4MiB", workers=1) as session:
        for _ in range(100):  # until a device has had some of it
            assert np.allclose(trencadis.matmul(a, b), a @ b, rtol=0, atol=1e-10)
            moved = sum(device["bytes_to"] for device in session.device_traffic())
            if moved:
                break
        assert moved > 0 and sum(device["misses"] for device in session.device_traffic()) > 0
        session.reset_statistics()
        assert all(device["bytes_to"] == 0 for device in session.device_traffic())
        assert session.options()["devices"] == "emulated:2,memory=4MiB"
        assert [worker["kind"] for worker in session.statistics()][-2:] == ["emulated 0", "emulated 1"]


def test_a_trace_has_a_row_for_each_device(tmp_path):
    out, _ = run("trace", "potrf", "--n", "600", "--nb", "100", "--devices", "emulated:2", "-o", str(tmp_path / "t.json"))
    assert "emulated 0" in out and "emulated 1" in out and "devices emulated:2 (emulated)" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--devices", "emulated:0"), "must be a whole number from 1 to 64"),
        (("--devices", "emulatde"), "did you mean 'emulated'"),
        (("--devices", "emulated,memory=3"), "must be a size of at least 1kB"),
        (("--devices", "emulated,memroy=3MB"), "did you mean 'memory'"),
        (("--devices", "emulated", "--engine", "sequential"), "gives no tasks to devices"),
        (("--devices", "emulated", "--machine", "server-2s"), "leave out the one or the other"),
        (("--devices", "emulated", "--variant", "packed"), "packs images for the kernels of cores"),
    ],
)
def test_words_that_cannot_be_meant_are_refused_in_one_line(words, said):
    assert said in refusal("bench", "gemm", "--n", "200", *words)


def test_both_operands_may_be_one_matrix():
    a = np.random.default_rng(2).standard_normal((700, 700))
    with trencadis.session(devices="emulated:2,memory=8MiB"):
        for _ in range(20):
            assert np.allclose(trencadis.matmul(a, a), a @ a, rtol=0, atol=1e-10)
            assert np.allclose(trencadis.matmul(a, a.T), a @ a.T, rtol=0, atol=1e-10)


def test_a_fault_is_an_error_and_the_next_call_goes_on_without_the_device():
    a = np.ones((600, 600))
    with trencadis.session(devices="emulated,fail-kernel=1", workers=1, scheduler="eager"):
        with pytest.raises(RuntimeError, match="device 'emulated 0': kernel failed in task 'gemm'"):
            for _ in range(1000):
                trencadis.matmul(a, a)
        assert (trencadis.matmul(a, a) == 600).all()
