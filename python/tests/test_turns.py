"""Turns of `trencadis compare`: what is called, restored, dropped and counted."""

import ctypes
import time

import numpy as np
import pytest
from trencadis import _core
from trencadis.measure import Job
from trencadis.turns import DROPPED_S, LONE_CALLS, TURN_S, Run, lone_calls, turn_of_runs
from trencadis.workloads import WORKLOADS

pytestmark = pytest.mark.alone

WORDS = 16


def function(body):
    """A C function of 16 words. Keep what comes back: it is the function's life."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * WORDS)(body)


def address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value


def time_calls(body, restores=(), dropped=0.0, least=0.01):
    pointer = function(body)
    return _core.time_calls(address(pointer), [], list(restores), dropped=dropped, least=least)[:2]


def copy(to, source):
    return (to.ctypes.data, source.ctypes.data, to.nbytes)


@pytest.mark.parametrize(("dropped", "counts"), [(0.02, False), (0.0, True)])
def test_only_the_first_calls_that_are_dropped_do_not_count(dropped, counts):
    slow = iter([1.0])  # longer than others keep us from the cores
    calls, seconds = time_calls(lambda *words: time.sleep(next(slow, 0.001)), dropped=dropped, least=0.05)
    assert calls >= 1 and (seconds >= 1.0) == counts


def test_calls_go_on_for_as_long_as_asked():
    begin = time.perf_counter()
    calls, seconds = time_calls(lambda *words: time.sleep(0.002), dropped=0.02, least=0.3)
    assert time.perf_counter() - begin >= 0.32 and 1 < calls <= 150 and seconds >= 0.002 * calls


def test_what_is_dropped_lies_before_the_time_in_which_calls_count():
    """Also where a call takes longer than what is to be dropped, and its restore longer than the call."""
    made = []
    pointer = function(lambda *words: (made.append(time.perf_counter()), time.sleep(0.03)))
    calls, inside, begin, end = _core.time_calls(address(pointer), [], [], dropped=0.01, least=0.05)
    assert begin >= made[-calls - 1] + 0.03 and begin <= made[-calls] <= end - 0.03
    assert inside <= end - begin and end <= time.perf_counter()


def test_one_call_is_made_however_long_it_takes():
    assert time_calls(lambda *words: time.sleep(0.03), least=0.01)[0] == 1


def test_operands_are_restored_before_each_call_and_that_is_not_timed():
    pristine = np.zeros(1 << 21)
    spoilt, seen = np.ones_like(pristine), []

    def spoil(*words):
        seen.append(float(spoilt[0]))
        spoilt[0] = 5

    begin = time.perf_counter()
    calls, seconds = time_calls(spoil, [copy(spoilt, pristine)], least=0.3)
    elapsed = time.perf_counter() - begin
    assert calls > 1 and set(seen) == {0.0} and seconds < elapsed / 2  # the call takes no milliseconds


def test_words_arrive_as_they_were_given():
    seen = []
    pointer = function(lambda *words: seen.append(words))
    _core.time_calls(address(pointer), list(range(100, 100 + WORDS)), [], dropped=0, least=0)
    assert seen == [tuple(range(100, 100 + WORDS))]


def test_too_many_words_and_no_function_are_refused():
    with pytest.raises(ValueError, match="at most 16 arguments"):
        _core.time_calls(1, [0] * (WORDS + 1), [], dropped=0, least=0)
    with pytest.raises(ValueError, match="address of the function is 0"):
        _core.time_lone_calls(0, [], [], silence=0, times=1)


def test_a_lone_call_follows_its_silence_with_restored_operands():
    pristine, spoilt, calls = np.zeros(4), np.ones(4), []

    def call(*words):
        calls.append((time.monotonic(), float(spoilt[0])))
        spoilt[0] = 5

    pointer = function(call)
    begin = time.monotonic()
    seconds = _core.time_lone_calls(address(pointer), [], [copy(spoilt, pristine)], silence=0.01, times=3)
    end = time.monotonic()
    times, values = zip(*calls, strict=True)
    assert len(seconds) == 3 and set(values) == {0.0} and np.diff([begin, *times]).min() >= 0.01
    assert sum(seconds) < end - begin - 3 * 0.01  # the silence is not in them


def test_long_calls_have_fewer_lone_ones():
    assert [lone_calls(seconds) for seconds in (0.0, 1e-5, TURN_S / 2, 3 * TURN_S)] == [LONE_CALLS, LONE_CALLS, 2, 1]


def test_a_turn_of_runs_drops_the_first_and_takes_the_mean_of_the_others():
    first = iter([Run(DROPPED_S, 0.9)])
    others = iter([Run(0.01, 0.1), Run(0.03, 0.3)] * 100)
    turn = turn_of_runs(lambda: next(first, None) or next(others), lambda: Run(0.04))
    assert turn.calls == 3 and turn.seconds == pytest.approx(0.05 / 3) and turn.lone_seconds == 0.04
    assert turn.idle_fraction == pytest.approx(0.1)
    assert turn_of_runs(lambda: Run(0.02)).lone_seconds is None


@pytest.mark.parametrize("routine", WORKLOADS)
def test_operands_that_a_call_spoils_for_the_next_are_restored(routine):
    workload = Job(routine, 20).workload()
    restored = {to for to, _, _ in workload.restores()}
    adds = routine in ("gemm", "symm", "hemm", "syrk", "herk")
    assert restored == (set() if adds else {target.ctypes.data for target in workload.targets})
    pristine = [target.copy() for target in workload.targets]
    for target in workload.targets:
        target[...] = np.nan if target.dtype.kind in "fc" else -1
    for to, source, size in workload.restores():
        ctypes.memmove(to, source, size)
    if restored:
        assert all(np.array_equal(a, b) for a, b in zip(pristine, workload.targets, strict=True))
