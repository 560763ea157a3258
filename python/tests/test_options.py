"""The parsers behind the command line's options."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trencadis import _core, cores, options
from trencadis.errors import UsageError
from trencadis.machine_commands import ranges


def test_a_worker_list_takes_numbers_ranges_and_kinds():
    assert cores.core_list("") == []
    assert cores.core_list("0,1,4-7") == [0, 1, 4, 5, 6, 7]
    machine = json.loads(_core.machine())
    kind = machine["kinds"][0]["name"]
    assert cores.core_list(kind) == [core["cpu"] for core in machine["cores"] if core["kind"] == kind] != []


@pytest.mark.parametrize("text", ["1,", "a", "1-", "-1", "3-1", "1,1", "0 1", "1..2", "1,,2", "0-99999999999", "1;2", "²"])
def test_a_bad_worker_list_is_repeated_in_the_message(text):
    with pytest.raises(UsageError, match="--workers: "):
        cores.core_list(text)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_ranges_and_lists_are_inverse(numbers):
    assert cores.core_list(ranges(sorted(numbers))) == sorted(numbers)


def test_sizes():
    assert options.size_list("0,1024, 2048") == [0, 1024, 2048]
    assert options.size_list("1000:4000:1500") == [1000, 2500, 4000]


@pytest.mark.parametrize("text", ["", "x", "-5", "10:1:1", "1:10:0", "1:2", "1,,2", "1e3", "0:10000000:1"])
def test_bad_sizes(text):
    with pytest.raises(UsageError, match="--n: "):
        options.size_list(text)


def test_tile_sizes():
    assert options.tile_size("auto") == 0 and options.tile_size("256") == 256
    for text in ("0", "-1", "x", "", "2.5", "9" * 30):
        with pytest.raises(UsageError, match="--nb: .* is not a tile size"):
            options.tile_size(text)


def test_precisions():
    assert options.precision("z") is np.complex128
    with pytest.raises(UsageError, match="unknown --precision 'q'.*known: s d c z"):
        options.precision("q")


def test_core_fractions_and_counts():
    assert options.core_fractions(["1=0.25", "0=1"]) == {1: 0.25, 0: 1.0}
    assert options.core_counts(["1=3"]) == {1: 3}
    assert options.core_counts([]) == {}
    for word in ("1", "1=", "=1", "x=0.5", "1=0", "1=1.5", "1=-1", "1=nan", "1=x"):
        with pytest.raises(UsageError, match="--slow: .* is not CORE=FRACTION"):
            options.core_fractions([word])
    for word in ("1=0", "1=65", "1=1.5", "-1=1"):
        with pytest.raises(UsageError, match="--busy: .* is not CORE=COUNT"):
            options.core_counts([word])
    with pytest.raises(UsageError, match="core 1 is given twice"):
        options.core_counts(["1=1", "1=2"])


def test_virtual_cores_are_short_for_a_scheduler():
    assert options.with_virtual_cores("ws", "") == "ws"
    assert options.with_virtual_cores("", "auto") == "virtual-cores:teams=even"
    assert options.with_virtual_cores("ws", "4+0, 5+1") == "virtual-cores:teams=4+0/5+1,inside=ws"
    inside = options.with_virtual_cores("cats:stealing=none,throttle=8x,queues=oldest", "0+1")
    assert inside == "virtual-cores:teams=0+1,inside=cats:stealing=none;queues=oldest,throttle=8x"


@pytest.mark.parametrize("spec", ["0+", "a+b", "0,,1", "0+1,1+2", "-1+2", "0-3"])
def test_bad_virtual_cores(spec):
    with pytest.raises(UsageError, match="--virtual-cores: "):
        options.with_virtual_cores("", spec)
