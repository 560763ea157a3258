"""trencadis compare-engines: every engine on the same tiles in turn, and who is left out why."""

from dataclasses import replace

import pytest
from commands import refusal, rows
from trencadis import _core, compare_engines
from trencadis.bench import Request
from trencadis.compare_engines import Contestant, contestants, same_tiles
from trencadis.errors import BackendError, UsageError
from trencadis.measure import Job, SessionChoice


def entries(**availability):
    """Engines as the library lists them."""
    whole = {"summary": "", "computes": True, "parallel": True}
    return [{"name": name, "available": not why, "why_not": why, **whole} for name, why in availability.items()]


def test_each_contestant_has_a_record_on_the_same_tiles():
    words = ["compare-engines", "potrf", "--n", "90", "--engines", "native,native", "--schedulers", "libgomp,ws,ws"]
    found = rows(*words, "--repeat", "2", "--tasks", "6", "--check")
    assert [(row["n"], row["engine"], row["scheduler"]) for row in found] == [
        (90, "native", scheduler) for scheduler in ("mosaic", "libgomp", "ws")
    ]
    for row in found:
        assert row["variant"] == "in-place" and row["refused"] is None and row["residual"] < 30 and row["ns_per_task"] > 0
        assert row["nb"] == found[0]["nb"] > 0
        assert 0 < row["ratio_min"] <= row["ratio_median"] <= row["ratio_max"]
        assert row["gflops_median"] == pytest.approx(row["n"] ** 3 / 3 / row["seconds_median"] / 1e9, rel=0.1)
    assert all(row["ratio_min"] == row["ratio_max"] == 1 for row in found if row["scheduler"] == "mosaic")


def test_devices_are_of_our_own_engine_alone(monkeypatch):
    start, asked = compare_engines.start_ours, []

    def native(request, job):  # whether there are other engines in this build or not
        choice = request.session
        asked.append((choice.engine, choice.devices))
        return start(replace(request, session=replace(choice, engine="native")), job)

    monkeypatch.setattr(compare_engines, "start_ours", native)
    request = Request("potrf", [60], session=SessionChoice(devices="emulated:1,always=yes"), repeat=1)
    entrants = [Contestant("native", "mosaic"), Contestant("openmp-gnu")]
    found = list(compare_engines.compare_engines(request, entrants, 0, lambda text, done: None))
    assert asked == [("native", "emulated:1,always=yes"), ("openmp-gnu", "")]
    assert [(row.get("devices"), row.get("emulated")) for row in found] == [("emulated:1,always=yes", True), (None, None)]


def test_the_command_takes_devices():
    words = ["compare-engines", "potrf", "--n", "60", "--engines", "native", "--schedulers", "ws", "--repeat", "1"]
    assert {row["devices"] for row in rows(*words, "--tasks", "0", "--devices", "emulated:1")} == {"emulated:1"}


def test_an_engine_that_cannot_do_it_says_why_and_the_others_go_on(monkeypatch):
    start = compare_engines.start_ours

    def refuse(request, job):
        if request.session.scheduler == "ws":
            raise BackendError("no such form here")
        return start(request, job)

    monkeypatch.setattr(compare_engines, "start_ours", refuse)
    entrants = [Contestant("native", "mosaic"), Contestant("native", "ws")]
    request = Request("potrf", [60], repeat=1)
    found = list(compare_engines.compare_engines(request, entrants, 0, lambda text, done: None))
    assert [row["refused"] for row in found] == [None, "no such form here"]
    assert found[0]["gflops_median"] > 0 and "gflops_median" not in found[1]


def test_a_preset_is_held_against_the_runtime_that_it_imitates(monkeypatch):
    start = compare_engines.start_ours

    def native(request, job):  # whether there are OpenMP engines in this build or not
        choice = request.session
        return start(request if choice.engine == "native" else replaced(request, choice), job)

    def replaced(request, choice):
        return Request(**{**vars(request), "session": SessionChoice(**{**vars(choice), "engine": "native"})})

    monkeypatch.setattr(compare_engines, "start_ours", native)
    entrants = [Contestant("native", "mosaic"), Contestant("native", "libgomp"), Contestant("openmp-gnu")]
    found = list(compare_engines.compare_engines(Request("potrf", [60], repeat=3), entrants, 0, lambda text, done: None))
    assert [row.get("imitates") for row in found] == [None, "openmp-gnu", None]
    assert 0 < found[1]["imitation_min"] <= found[1]["imitation_median"] <= found[1]["imitation_max"]


def test_contestants_are_the_presets_and_the_other_engines(monkeypatch):
    monkeypatch.setattr(_core, "list_engines", lambda: entries(native="", other="", absent="apt-get install absent"))
    everybody = contestants([], [])
    assert everybody[0] == Contestant("native", "mosaic") and everybody[-1] == Contestant("other")
    assert Contestant("native", "libgomp") in everybody and "absent" not in [entrant.engine for entrant in everybody]
    assert contestants(["other"], ["ws"]) == [Contestant("native", "mosaic"), Contestant("other")]
    assert contestants(["native"], ["ws"]) == [Contestant("native", "mosaic"), Contestant("native", "ws")]
    with pytest.raises(BackendError, match="absent cannot be used here: apt-get install absent"):
        contestants(["absent"], [])
    with pytest.raises(UsageError, match="did you mean 'other'"):
        contestants(["othr"], [])


def test_a_form_or_tile_size_that_is_given_stands():
    request = Request("getrf", [500], session=SessionChoice(variant="nopiv", nb=40))
    same = same_tiles(request, Job("getrf", 500)).session
    assert (same.variant, same.nb) == ("nopiv", 40)
    chosen = same_tiles(Request("getrf", [500]), Job("getrf", 500)).session
    assert chosen.variant == "kastors" and 0 < chosen.nb <= 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tasks", "--n", "9"], "give a routine that computes"),
        (["potrf", "--n", "9", "--engines", "nativ"], "did you mean 'native'"),
        (["potrf", "--n", "9", "--engines", "sequential"], "does not run tasks on several cores"),
        (["potrf", "--n", "9", "--engines", "native", "--schedulers", "libgom"], "did you mean 'libgomp'"),
        (["potrf"], "give a size to measure"),
        (["potrf", "--n", "9", "--workers", "4000"], "core 4000 asked for"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(words, said):
    assert said in refusal("compare-engines", *words)
