"""trencadis compare: fields, peers in processes of their own, suspended when it is not their turn."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import COMMAND, refusal, rows
from test_bench import FIELDS
from test_busy import alive, wait_until_gone
from trencadis.bench import Request
from trencadis.compare import start_ours, start_peer
from trencadis.errors import UsageError
from trencadis.measure import Job, SessionChoice
from trencadis.options import PRECISIONS
from trencadis.peers import LINEAR_ALGEBRA_PEERS, TASK_PEERS, select_peers
from trencadis.workloads import WORKLOADS

PEER_FIELDS = [
    "peer", "peer_version", "peer_threads", "peer_seconds_median", "peer_gflops_median", "ratio_median", "ratio_min", "ratio_max",
]  # fmt: skip
CORES = sorted(os.sched_getaffinity(0))


def installed(peers):
    """Every peer, the missing ones as skips that say what would install them."""

    def skip_unless_installed(peer):
        return pytest.mark.skipif(not peer.available(), reason=f"{peer.name} is not installed: {peer.install}")

    return [pytest.param(peer, id=peer.name, marks=skip_unless_installed(peer)) for peer in peers.values()]


def first_installed():
    peer = next((peer for peer in LINEAR_ALGEBRA_PEERS.values() if peer.available()), None)
    if peer is None:
        pytest.skip("no linear algebra peer is installed: pip install 'trencadis[peers]'")
    return peer


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
@pytest.mark.parametrize("routine", WORKLOADS)
def test_a_peer_computes_the_same_thing(peer, routine):
    for precision in PRECISIONS:
        with start_peer(peer, Job(routine, 90, precision), CORES[:1]) as process:
            assert process.run().seconds > 0
            assert process.residual() < 30, (routine, precision, process.description)


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
def test_a_peer_uses_as_many_threads_as_it_was_asked_for(peer):
    for threads in {1, len(CORES)}:
        with start_peer(peer, Job("gemm", 64), CORES[:threads]) as process:
            assert process.description["threads"] == threads and any(map(str.isdigit, process.description["version"]))


def test_fields_and_ratios():
    peer = first_installed()
    (row,) = rows("compare", "potrf", "--n", "150", "--against", peer.name, "--repeat", "3", "--check")
    assert list(row) == [*FIELDS, *PEER_FIELDS]
    assert row["peer"] == peer.name and row["peer_threads"] == len(row["workers"]) and row["residual"] < 30
    assert 0 < row["ratio_min"] <= row["ratio_median"] <= row["ratio_max"]
    assert row["peer_gflops_median"] == pytest.approx(WORKLOADS["potrf"].flops(150, "float64") / row["peer_seconds_median"] / 1e9)


@pytest.mark.parametrize("peer", installed(TASK_PEERS))
def test_task_runtimes_are_compared_by_the_task(peer):
    (row,) = rows("compare", "tasks", "--n", "8", "--against", peer.name, "--repeat", "2")
    assert list(row) == [*FIELDS, "ns_per_task", *PEER_FIELDS, "peer_ns_per_task"]
    assert row["peer_ns_per_task"] == pytest.approx(row["peer_seconds_median"] / 120 * 1e9) and row["peer_gflops_median"] is None


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_who_is_not_on_turn_stands_still():
    peer = first_installed()
    request = Request("gemm", [100], session=SessionChoice(workers=CORES[:1]))
    with start_ours(request, Job("gemm", 100)) as ours, start_peer(peer, Job("gemm", 100), CORES[:1]) as theirs:
        for _ in range(3):
            assert state(ours.pid) == state(theirs.pid) == "T"
            ours.run()
            theirs.run(2)
        pids = [ours.pid, theirs.pid]
    assert not any(map(alive, pids))


def children_of(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_contestants_and_neighbours_end_with_the_command(how, code):
    peer = first_installed()
    words = ["compare", "potrf", "--n", "400", "--against", peer.name, "--repeat", "100000", "--busy", f"{CORES[0]}=2"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(children_of(process.pid)) < 4:  # two neighbours, we, the peer
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        pids = children_of(process.pid)
        process.send_signal(how)
        try:
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()  # or the block would wait for ever for a command that did not stop
    assert process.returncode == code and out == "" and "Traceback" not in err
    wait_until_gone(pids)


def test_an_error_of_our_own_process_is_the_commands():
    peer = first_installed()
    assert "did you mean 'eager'" in refusal("compare", "potrf", "--n", "50", "--against", peer.name, "--scheduler", "egaer")


def test_an_unknown_peer_is_refused_with_the_known_ones():
    assert "'mlk' is not a peer for potrf; peers: mkl, openblas" in refusal("compare", "potrf", "--n", "50", "--against", "mlk")
    assert "'mkl' is not a peer for tasks; peers: libgomp" in refusal("compare", "tasks", "--n", "5", "--against", "mkl")


def test_a_missing_peer_is_left_out_with_advice_and_none_left_is_an_error(monkeypatch):
    warnings = []
    monkeypatch.setattr(type(LINEAR_ALGEBRA_PEERS["mkl"]), "available", lambda self: self.name == "openblas")
    (left,) = select_peers("potrf", ["mkl", "openblas", "mkl"], warnings.append)
    assert left.name == "openblas" and warnings == ["mkl is not installed: pip install 'trencadis[peers]' (PyPI's mkl)"]
    with pytest.raises(UsageError, match="blis is not installed: apt-get install libblis4-pthread libflame1"):
        select_peers("potrf", ["blis"], warnings.append)
