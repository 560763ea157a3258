"""Busy neighbours: on their core while they should be, gone afterwards whatever happens."""

import os
import signal
import subprocess
import sys

import pytest
from trencadis.busy import BusyNeighbours, capacity_left, format_cores
from trencadis.errors import UsageError
from waiting import LONG_S, alive, cpu_seconds, wait_until, wait_until_gone

pytestmark = pytest.mark.alone

CORE = max(os.sched_getaffinity(0))


def test_spin_on_their_core_until_the_end_of_the_block():
    with BusyNeighbours({CORE: 2}) as neighbours:
        pids = neighbours.pids
        assert len(pids) == 2 and all(os.sched_getaffinity(pid) == {CORE} for pid in pids)
        begin = sum(map(cpu_seconds, pids))
        wait_until(lambda: sum(map(cpu_seconds, pids)) - begin > 0.05, "they do not spin")
    assert not any(map(alive, pids)) and neighbours.pids == []


def test_share_our_session_so_that_the_core_is_shared_by_thread():
    with BusyNeighbours({CORE: 1}) as neighbours:
        assert os.getsid(neighbours.pids[0]) == os.getsid(0)
        assert os.getpgid(neighbours.pids[0]) != os.getpgid(0)


def test_are_gone_after_an_exception():
    with pytest.raises(KeyboardInterrupt), BusyNeighbours({CORE: 1}) as neighbours:
        pids = neighbours.pids
        raise KeyboardInterrupt
    assert not any(map(alive, pids))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_are_gone_after_their_parent_is_killed(how):
    program = (
        "import sys, time; from trencadis.busy import BusyNeighbours\n"
        f"with BusyNeighbours({{{CORE}: 3}}) as neighbours:\n"
        "    print(*neighbours.pids, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 3 and all(map(alive, pids))
        parent.send_signal(how)
        parent.wait(LONG_S)
    wait_until_gone(pids)


def test_refuse_a_core_that_is_not_ours():
    with pytest.raises(UsageError, match="there is no core 4321; cores here: "):
        BusyNeighbours({4321: 1})


def test_capacity_left_is_the_mean_share_of_the_workers():
    assert capacity_left([0, 1], {1: 1}) == 0.75
    assert capacity_left([0, 1], {1: 3}) == 0.625
    assert capacity_left([0], {1: 3}) == 1


def test_cores_are_written_as_the_option_takes_them():
    assert format_cores([7, 0, 1, 4, 5, 6]) == "0,1,4-7"
    assert format_cores({3}) == "3"
