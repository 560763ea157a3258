"""Reproducible sessions: one hash from any number of workers, by any policy of any engine, however the library is called."""

import ctypes
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import trencadis
from commands import refusal, rows
from trencadis import _core

PROGRAM = Path(__file__).with_name("hash_program.py")
#: 333 is one at which LU is cut up otherwise for one worker than for two.
SIZES = [100, 333, 640]
YES = {"reproducible": True}

#: name: what hash_program.py is asked for, and variables.
WAYS = {
    "two workers": ({"way": "python", "options": {**YES, "workers": [0, 1]}}, {}),
    "work stealing": ({"way": "python", "options": {**YES, "scheduler": "ws"}}, {}),
    "eight workers": ({"way": "python", "options": {**YES, "machine": "uniform64", "workers": list(range(8))}}, {}),
    "sequential": ({"way": "python", "options": {**YES, "engine": "sequential"}}, {}),
    "libgomp": ({"way": "python", "options": {**YES, "engine": "openmp-gnu"}}, {}),
    "starpu": ({"way": "python", "options": {**YES, "engine": "starpu"}}, {}),
    "other alignment": ({"way": "python", "options": YES, "shift": 3}, {}),
    "by the environment": ({"way": "python"}, {"TRENCADIS_REPRODUCIBLE": "1"}),
    "Fortran on one thread": ({"way": "fortran"}, {"TRENCADIS_REPRODUCIBLE": "1", "TRENCADIS_NUM_THREADS": "1"}),
    "Fortran with another leading dimension": ({"way": "fortran", "apart": 5}, {"TRENCADIS_REPRODUCIBLE": "1"}),
    "C": ({"way": "c", "options": {"reproducible": 1, "worker_count": 2}}, {}),
}

#: Other machines: what their caches would have blocks be, as kc,mc,nc. A first cache of 48 KiB asks for half as many again as one
#: of 32 KiB does.
CACHES = {"48 KiB": "384,144,4080", "16 KiB": "128,240,4080", "tiny blocks": "40,24,48"}
#: By tasks, shared without tasks, and on one core.
ENGINES_OF_CACHES = ["native", "sequential", "openmp-gnu", "starpu"]

#: Policies that go by what memory has which data.
OF_MEMORIES = ["h1", "h2"]
ON_TWO_MEMORIES = {**YES, "machine": "server-2s", "workers": [0, 1, 32, 33]}

#: Beside these: every policy, on two memory nodes for those that ask for several; engines and numbers of workers up to 64.
LONG = {
    **{f"policy {row['name']}": ({"way": "python", "options": {**YES, "scheduler": row["name"]}}, {})
       for row in _core.list_schedulers() if row["name"] not in OF_MEMORIES},
    **{f"policy {name}": ({"way": "python", "options": {**ON_TWO_MEMORIES, "scheduler": name}}, {}) for name in OF_MEMORIES},
    **{f"{count} workers": ({"way": "python", "options": {**YES, "machine": "uniform64", "workers": list(range(count))}}, {})
       for count in (2, 3, 4, 5, 6, 7, 8, 16, 33, 64)},
    **{f"engine {engine}": ({"way": "python", "options": {**YES, "engine": engine}}, {})
       for engine in ("sequential", "openmp-gnu", "openmp-llvm", "starpu")},
    **{f"Fortran by {engine}": ({"way": "fortran"}, {"TRENCADIS_REPRODUCIBLE": "1", "TRENCADIS_ENGINE": engine})
       for engine in ("native", "sequential", "openmp-gnu", "openmp-llvm", "starpu")},
    **WAYS,
}  # fmt: skip


@cache
def hashes(wish, variables="{}"):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRENCADIS_")}
    words = [sys.executable, str(PROGRAM), wish]
    run = subprocess.run(words, capture_output=True, text=True, timeout=600, env=environment | json.loads(variables))
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def one_worker(sizes, precisions):
    wish = {"way": "python", "options": {**YES, "workers": [0]}, "sizes": sizes, "precisions": precisions}
    return hashes(json.dumps(wish))


def check(way, sizes, precisions):
    wish, variables = way
    engine = wish.get("options", {}).get("engine") or variables.get("TRENCADIS_ENGINE")
    available = {row["name"]: row for row in _core.list_engines()}
    if engine and not available[engine]["available"]:
        pytest.skip(f"engine {engine} is not here: {available[engine].get('why_not')}")
    found = hashes(json.dumps({**wish, "sizes": sizes, "precisions": precisions}), json.dumps(variables))
    expected = one_worker(sizes, precisions)
    assert found and {case: expected[case] for case in found} == found


@pytest.mark.parametrize("name", WAYS)
def test_the_bits_are_those_of_one_worker(name):
    check(WAYS[name], SIZES, "d")


@pytest.mark.parametrize("engine", ENGINES_OF_CACHES)
@pytest.mark.parametrize("caches", CACHES)
def test_the_bits_are_the_same_with_other_caches(caches, engine):
    wish = {"way": "python", "options": {**YES, "engine": engine}}
    check((wish, {"TRENCADIS_BLOCKS": CACHES[caches]}), SIZES, "sdcz" if engine == "native" else "d")


@pytest.mark.parametrize("way", ["c", "fortran"])
def test_the_bits_of_other_faces_are_the_same_with_other_caches(way):
    options = {"options": {"reproducible": 1, "worker_count": 2}} if way == "c" else {}
    variables = {"TRENCADIS_BLOCKS": CACHES["48 KiB"]} | ({"TRENCADIS_REPRODUCIBLE": "1"} if way == "fortran" else {})
    check(({"way": way, **options}, variables), SIZES, "d")


def test_plain_sessions_do_depend_on_caches_at_these_sizes():
    wish = json.dumps({"way": "python", "options": {"workers": [0]}, "sizes": SIZES, "precisions": "d"})
    one, other = (hashes(wish, json.dumps({"TRENCADIS_BLOCKS": blocks})) for blocks in ("256,144,4080", CACHES["tiny blocks"]))
    differ = {case.split()[0] for case in one if one[case] != other[case]}
    assert differ >= {"dgemm", "dsyrk", "dtrsm", "dtrmm", "dpotrf", "dgetrf", "dgeqrf"}  # else the tests above would show nothing


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_the_bits_are_those_of_one_worker_at_many_sizes(name):
    single = "Fortran" in name or name == "C"
    check(LONG[name], [7, 60, 100, 200, 333, 440, 640, 900, 1024, 1500], "d" if single else "sdcz")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: a plain session has one worker")
def test_plain_sessions_do_depend_on_the_number_of_workers_at_these_sizes():
    one, two = (
        hashes(json.dumps({"way": "python", "options": {"workers": w}, "sizes": SIZES, "precisions": "d"})) for w in ([0], [0, 1])
    )
    assert one != two  # else the tests above would show nothing


def test_sessions_say_whether_they_are_reproducible_and_what_they_plan_for(monkeypatch):
    with trencadis.session(reproducible=True, workers=1) as session:
        assert session.options()["reproducible"] and session.workers == 1 and session.planned_workers == 4
        assert "reproducible=True" in repr(session)
    with trencadis.session(workers=1) as session:
        assert not session.options()["reproducible"] and session.planned_workers == 1
    monkeypatch.setenv("TRENCADIS_REPRODUCIBLE", "1")
    assert _core.Session(workers=[0]).options()["reproducible"]
    monkeypatch.setenv("TRENCADIS_DEVICES", "emulated:1")  # which compute in other forms
    assert _core.Session(workers=[0]).options()["devices"] == ""
    monkeypatch.setenv("TRENCADIS_REPRODUCIBLE", "0")
    assert _core.Session(workers=[0]).options()["devices"] == "emulated:1"
    monkeypatch.setenv("TRENCADIS_REPRODUCIBLE", "yes")
    with pytest.raises(ValueError, match="TRENCADIS_REPRODUCIBLE is 'yes', must be 0 or 1"):
        _core.Session()


def test_what_does_not_go_with_it_is_refused():
    with pytest.raises(ValueError, match="reproducible session"):
        trencadis.session(reproducible=True, devices="emulated:1")
    with pytest.raises(TypeError, match="reproducible is 1, must be True or False"):
        trencadis.session(reproducible=1)
    assert "reproducible session" in refusal("bench", "potrf", "--n", "300", "--reproducible", "--devices", "emulated:1")


def test_the_option_of_the_c_interface_is_0_or_1():
    library = ctypes.CDLL(str(Path(_core.__file__).parents[2] / "build" / "lib" / "libtrencadis.so"))
    session = ctypes.c_void_p()
    for words, good in ((b"reproducible=1", True), (b"reproducible=0", True), (b"reproducible=2", False)):
        assert (library.trc_session_create(ctypes.byref(session), words) == 0) is good
        assert library.trc_session_destroy(session) == 0


def test_bench_has_it_as_an_option():
    (row,) = rows("bench", "potrf", "--n", "700", "--repeat", "1", "--reproducible")
    (plain,) = rows("bench", "potrf", "--n", "700", "--repeat", "1")
    assert row["reproducible"] is True and plain["reproducible"] is False
