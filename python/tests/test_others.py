"""What others have of cores while something of ours runs there."""

import os
import time

import pytest
from trencadis.busy import BusyNeighbours
from trencadis.others import LEAST_S, Others, busy_seconds

CORES = sorted(os.sched_getaffinity(0))
STAT = """cpu  300 30 30 3000 30 3 3 3 200 20
cpu0 100 10 20 1000 10 1 2 3 50 5
cpu1 200 20 10 2000 20 2 1 0 150 15
cpu10 7 0 0 0 0 0 0 0 0 0
intr 12345 6 7
"""


@pytest.mark.parametrize(("cores", "ticks"), [((0,), 136), ((1,), 233), ((0, 1), 369), ((), 0), ((10,), 7)])
def test_busy_is_all_but_idle_and_waiting_and_what_guests_had_counts_once(cores, ticks):
    assert busy_seconds(STAT, cores) == pytest.approx(ticks / os.sysconf("SC_CLK_TCK"))


def _compute(seconds):
    """For so long, and until so much of it was ours."""
    begin, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end or time.process_time() - begin < seconds / 2:
        pass
    return time.process_time() - begin


@pytest.mark.alone
def test_a_neighbour_counts():
    """It has the core while we sleep. The bounds leave room for whoever else is there."""
    with BusyNeighbours({CORES[-1]: 1}), Others(CORES[-1:]) as beside:
        time.sleep(2 * LEAST_S)
    assert 0.8 < beside.cores < 1.1
    assert beside.seconds >= 2 * LEAST_S


@pytest.mark.alone
def test_what_this_process_computes_is_not_others():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES[:1])
    try:
        with Others(CORES[:1]) as beside:
            ours = _compute(2 * LEAST_S)
        with Others(CORES[:1]) as at_rest:
            time.sleep(2 * LEAST_S)
    finally:
        os.sched_setaffinity(0, allowed)
    assert beside.cores < 1.1 - ours / beside.seconds  # what we did not have; counted as well it would be 1
    assert at_rest.cores <= 1.1
