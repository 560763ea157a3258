"""Every peer computes what we compare ourselves with. It says nothing of times, so it runs beside other tests, and one process
of a peer does the jobs of all tests: what a process says of itself, and how it begins and ends, is in test_compare.py."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from test_compare import CORES, installed
from trencadis.children import end_children, ending, start_child
from trencadis.measure import Job
from trencadis.options import PRECISIONS
from trencadis.peers import LINEAR_ALGEBRA_PEERS
from trencadis.workloads import WORKLOADS

JOBS = Path(__file__).parent / "peer_jobs.py"


class Processes:
    """One for each peer, and another one where a job has ended it."""

    def __init__(self):
        self._of_peer = {}

    def do(self, peer, job):
        process = self._of_peer.get(peer.name)
        if process is None or process.poll() is not None:
            process = start_child([sys.executable, str(JOBS), peer.name], CORES[:1], peer.settings(1))
            self._of_peer[peer.name] = process
        process.stdin.write(json.dumps(asdict(job)) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline() or '{"error": "no answer"}')
        if "error" in answer:
            raise AssertionError((job, answer, ending(process)))
        return answer

    def end(self):
        end_children(self._of_peer.values())


@pytest.fixture(scope="module")
def processes():
    all_peers = Processes()
    yield all_peers
    all_peers.end()


def divides_by_tau(peer, routine, precision):
    """libflame does, and the last one of a square real matrix is zero."""
    return peer.name == "blis" and precision in "sd" and routine in ("orgqr", "orglq", "ormqr", "ormlq")


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
@pytest.mark.parametrize("routine", WORKLOADS)
def test_a_peer_computes_the_same_thing(processes, peer, routine):
    for precision in PRECISIONS:
        answer = processes.do(peer, Job(routine, 90, precision))
        assert answer["seconds"] > 0
        good = answer["residual"] < 30
        assert good != divides_by_tau(peer, routine, precision), (routine, precision, answer)
