"""Every peer computes what we compare ourselves with. It says nothing of times, so it runs beside other tests."""

import pytest
from test_compare import CORES, installed
from trencadis.compare import start_peer
from trencadis.measure import Job
from trencadis.options import PRECISIONS
from trencadis.peers import LINEAR_ALGEBRA_PEERS
from trencadis.workloads import WORKLOADS


def divides_by_tau(peer, routine, precision):
    """libflame does, and the last one of a square real matrix is zero."""
    return peer.name == "blis" and precision in "sd" and routine in ("orgqr", "orglq", "ormqr", "ormlq")


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
@pytest.mark.parametrize("routine", WORKLOADS)
def test_a_peer_computes_the_same_thing(peer, routine):
    for precision in PRECISIONS:
        with start_peer(peer, Job(routine, 90, precision), CORES[:1]) as process:
            assert process.run().seconds > 0
            good = process.residual() < 30
            assert good != divides_by_tau(peer, routine, precision), (routine, precision, process.description)
