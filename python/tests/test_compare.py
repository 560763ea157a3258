"""trencadis compare: fields, peers in processes of their own, suspended when it is not their turn."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import COMMAND, refusal, rows
from test_bench import FIELDS
from trencadis import _core
from trencadis.bench import Request
from trencadis.compare import compare, start_ours, start_peer, through_symbols
from trencadis.errors import BackendError, UsageError
from trencadis.fortran import FortranLibrary, Names
from trencadis.measure import Job, SessionChoice
from trencadis.peer_process import drop_in
from trencadis.peers import LINEAR_ALGEBRA_PEERS, MKL_INTEL, TASK_PEERS, select_peers
from trencadis.turns import BUSY_TURN_S, TURN_S
from trencadis.workloads import WORKLOADS
from waiting import LONG_S, alive, children_of, wait_until, wait_until_gone

PEER_FIELDS = [
    "through", "calls", "peer", "peer_version", "peer_threads", "peer_seconds_median", "peer_gflops_median", "ratio_median",
    "ratio_min", "ratio_max", "lone_seconds_median", "peer_lone_seconds_median", "lone_ratio_median", "lone_ratio_min",
    "lone_ratio_max", "peer_residual",
]  # fmt: skip
CORES = sorted(os.sched_getaffinity(0))


def installed(peers):
    """Every peer, the missing ones as skips that say what would install them."""

    def skip_unless_installed(peer):
        return pytest.mark.skipif(not peer.available(), reason=f"{peer.name} is not installed: {peer.install}")

    return [pytest.param(peer, id=peer.name, marks=skip_unless_installed(peer)) for peer in peers.values()]


def first_installed():
    """Not MKL, which may bring another one along."""
    peer = next((peer for peer in LINEAR_ALGEBRA_PEERS.values() if peer.available() and "mkl" not in peer.name), None)
    if peer is None:
        pytest.skip("no linear algebra peer is installed: pip install 'trencadis[peers]'")
    return peer


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
def test_a_peer_uses_as_many_threads_as_it_was_asked_for(peer):
    for threads in {1, len(CORES)}:
        with start_peer(peer, Job("gemm", 64), CORES[:threads]) as process:
            assert process.description["threads"] == threads and any(map(str.isdigit, process.description["version"]))


def test_fields_and_ratios():
    peer = first_installed()
    (row,) = rows("compare", "potrf", "--n", "150", "--against", peer.name, "--repeat", "3", "--check")
    assert list(row) == [*FIELDS, *PEER_FIELDS]
    assert row["peer"] == peer.name and row["peer_threads"] == len(row["workers"])
    assert row["residual"] < 30 and row["peer_residual"] < 30 and row["calls"] > 1
    assert 0 < row["ratio_min"] <= row["ratio_median"] <= row["ratio_max"]
    assert 0 < row["lone_ratio_min"] <= row["lone_ratio_median"] <= row["lone_ratio_max"]
    assert row["lone_seconds_median"] > 0 and row["peer_lone_seconds_median"] > 0
    assert row["peer_gflops_median"] == pytest.approx(WORKLOADS["potrf"].flops(150, "float64") / row["peer_seconds_median"] / 1e9)


@pytest.mark.parametrize("through", ["symbols", "session"])
def test_devices_are_taken_and_the_record_says_no_form_that_nobody_knows(through):
    words = ["compare", "potrf", "--n", "150", "--against", first_installed().name, "--repeat", "1", "--through", through]
    (row,) = rows(*words, "--check", "--devices", "emulated:1,always=yes")
    assert (row["devices"], row["emulated"], row["through"]) == ("emulated:1,always=yes", True, through)
    assert row["residual"] < 30
    forms = (row["variant"], row["nb"])
    assert forms == (None, None) if through == "symbols" else None not in forms
    assert "did you mean 'emulated'" in refusal(*words, "--devices", "emulatd:1")


def test_a_call_as_long_as_a_turn_is_one_and_has_no_lone_form():
    peer = first_installed()
    (row,) = rows("compare", "gemm", "--n", "1500", "--precision", "z", "--workers", CORES[0], "--against", peer.name,
                  "--repeat", "2", timeout=300)  # fmt: skip
    assert row["calls"] == 1 and row["seconds_median"] > TURN_S and row["lone_ratio_median"] is row["lone_seconds_median"] is None


@pytest.mark.alone
def test_beside_neighbours_a_turn_is_longer():
    peer = first_installed()
    (row,) = rows("compare", "potrf", "--n", "150", "--workers", CORES[0], "--busy", f"{CORES[0]}=1", "--against", peer.name,
                  "--repeat", "1")  # fmt: skip
    assert row["calls"] * row["seconds_median"] > BUSY_TURN_S / 2  # what restores the operands is in the turn


def maps(process):
    return Path(f"/proc/{process.pid}/maps").read_text()


def test_ours_is_called_as_programs_call_it_unless_an_option_needs_a_session():
    names = SessionChoice(scheduler="ws", kernels="native", engine="native", relief="never", workers=CORES[:1])
    by_symbols, by_session = (SessionChoice(), names), (SessionChoice(nb=50), SessionChoice(window=9))
    for choice in (*by_symbols, *by_session):
        request = Request("gemm", [90], session=choice)
        with start_ours(request, Job("gemm", 90)) as ours:
            assert through_symbols(request) == (choice in by_symbols) == ("libtrencadis_lapack.so" in maps(ours))
            assert ours.turn().calls > 1 and ours.residual() < 30


def test_how_ours_is_called_can_be_chosen_where_there_is_a_choice():
    for through in ("session", "symbols"):
        assert through_symbols(Request("gemm", [9], through=through)) == (through == "symbols")
    words = ["compare", "gemm", "--n", "50", "--against", first_installed().name, "--through"]
    assert "--nb needs a session" in refusal(*words, "symbols", "--nb", "20")
    assert "unknown --through 'door'" in refusal(*words, "door")


def test_options_reach_the_symbols_by_the_environment():
    choice = SessionChoice(scheduler="ws", kernels="native", workers=CORES[:1])
    with start_ours(Request("gemm", [40], session=choice), Job("gemm", 40)) as ours:
        expected = {"TRENCADIS_SCHEDULER": "ws", "TRENCADIS_KERNELS": "native", "TRENCADIS_NUM_THREADS": "1"}
        assert expected.items() <= environment(ours).items()
        assert ours.description["scheduler"] == "ws" and ours.description["workers"] == CORES[:1]


def environment(process):
    words = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


@pytest.mark.parametrize("peer", installed(LINEAR_ALGEBRA_PEERS))
def test_what_restricts_a_peer_is_not_set_in_its_process(peer, monkeypatch):
    for variable, value in {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_L2_SIZE": "512", "BLIS_ARCH_TYPE": "0"}.items():
        monkeypatch.setenv(variable, value)
    with start_peer(peer, Job("gemm", 40), CORES[:1]) as process:
        there = environment(process)
        assert there.get("OPENBLAS_CORETYPE") in (None, "SkylakeX") and "OPENBLAS_L2_SIZE" not in there
        assert "Nehalem" not in process.description["version"] and there["OPENBLAS_NUM_THREADS"] == "1"


def test_any_library_is_a_peer_by_its_path():
    peer = first_installed()
    path = ":".join(peer.find())
    (given,) = select_peers("gemm", [path], lambda message: None)
    with start_peer(given, Job("gemm", 60), CORES[:1]) as process, start_peer(peer, Job("gemm", 60), CORES[:1]) as named:
        assert process.description == named.description and process.turn().calls > 1 and process.residual() < 30
        assert given.name == path


@pytest.mark.parametrize("routine", WORKLOADS)
def test_symbols_with_64_bit_integers_are_found_out(routine):
    bundled = next((Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*.so"), None)
    if bundled is None:
        pytest.skip("this NumPy has no OpenBLAS of its own: pip install numpy")
    (peer,) = select_peers(routine, [str(bundled)], lambda message: None)
    assert peer.load().names == Names("scipy_", "_64_", 64)
    with start_peer(peer, Job(routine, 60, "z"), CORES[:1]) as process:
        assert process.residual() < 30 and process.description["version"].startswith("OpenBLAS")


COUNTING = """
#include <stdint.h>
void dscal_(const INT* n, const double* factor, double* x, const INT* step)
{
    for (INT i = 0; i < *n; ++i) x[i * *step] *= *factor;
}
void dgemm_(void) {}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("bits", [32, 64])
def test_plain_names_tell_the_size_of_their_integers_by_what_they_do(bits, tmp_path):
    (tmp_path / "blas.c").write_text(COUNTING)
    library = tmp_path / f"libblas{bits}.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-DINT=int{bits}_t", tmp_path / "blas.c", "-o", library], check=True)
    assert FortranLibrary([str(library)]).names == Names("", "_", bits)


def test_a_path_that_cannot_serve_is_refused_with_the_reason(tmp_path):
    def refused(path, routine="potrf"):
        return refusal("compare", routine, "--n", "50", "--against", path)

    text = tmp_path / "text.so"
    text.write_text("no library")
    assert f"there is no file {tmp_path}/none.so" in refused(tmp_path / "none.so")
    assert "cannot be opened" in refused(text)
    assert "not a BLAS" in refused(_core.__file__)
    assert "is trencadis, which is the other side already" in refused(drop_in())
    assert "unknown peer for tasks" in refused(text, "tasks")


@pytest.mark.parametrize("peer", installed(TASK_PEERS))
def test_task_runtimes_are_compared_by_the_task(peer):
    (row,) = rows("compare", "tasks", "--n", "8", "--against", peer.name, "--repeat", "2")
    assert list(row) == [*FIELDS, "ns_per_task", *PEER_FIELDS, "peer_ns_per_task"]
    assert row["peer_ns_per_task"] == pytest.approx(row["peer_seconds_median"] / 120 * 1e9) and row["peer_gflops_median"] is None


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


@pytest.mark.alone
def test_who_is_not_on_turn_stands_still():
    peer = first_installed()
    request = Request("gemm", [100], session=SessionChoice(workers=CORES[:1]))
    with start_ours(request, Job("gemm", 100)) as ours, start_peer(peer, Job("gemm", 100), CORES[:1]) as theirs:
        for _ in range(3):
            assert state(ours.pid) == state(theirs.pid) == "T"
            ours.run()
            theirs.turn()
        pids = [ours.pid, theirs.pid]
    assert not any(map(alive, pids))


@pytest.mark.alone
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_contestants_and_neighbours_end_with_the_command(how, code):
    peer = first_installed()
    words = ["compare", "potrf", "--n", "400", "--against", peer.name, "--repeat", "100000", "--busy", f"{CORES[0]}=2"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # Two neighbours, we, the peer.
        wait_until(lambda: process.poll() is not None or len(children_of(process.pid)) >= 4, "not all have begun")
        assert process.poll() is None
        pids = children_of(process.pid)
        process.send_signal(how)
        try:
            out, err = process.communicate(timeout=LONG_S)
        finally:
            process.kill()  # or the block would wait for ever for a command that did not stop
    assert process.returncode == code and out == "" and "Traceback" not in err
    wait_until_gone(pids)


def test_an_error_of_our_own_process_is_the_commands():
    peer = first_installed()
    assert "did you mean 'eager'" in refusal("compare", "potrf", "--n", "50", "--against", peer.name, "--scheduler", "egaer")


def test_an_unknown_peer_is_refused_with_the_known_ones():
    error = refusal("compare", "potrf", "--n", "50", "--against", "mlk")
    assert "unknown peer for potrf in --against 'mlk'; did you mean 'mkl'? (known: mkl mkl-intel openblas" in error
    error = refusal("compare", "tasks", "--n", "5", "--against", "mkl")
    assert "unknown peer for tasks in --against 'mkl' (known: libgomp" in error


def test_a_missing_peer_is_left_out_with_advice_and_none_left_is_an_error(monkeypatch):
    warnings = []
    monkeypatch.setattr(type(LINEAR_ALGEBRA_PEERS["mkl"]), "available", lambda self: self.name == "openblas")
    (left,) = select_peers("potrf", ["mkl", "openblas", "mkl"], warnings.append)
    assert left.name == "openblas" and warnings == ["mkl is not installed: pip install 'trencadis[peers]' (PyPI's mkl)"]
    with pytest.raises(UsageError, match="blis is not installed: apt-get install libblis4-pthread libflame1"):
        select_peers("potrf", ["blis"], warnings.append)


def test_mkl_takes_its_makers_kernels_on_others_processors():
    if not MKL_INTEL.available():
        pytest.skip(MKL_INTEL.install)
    assert [peer.name for peer in select_peers("gemm", ["mkl"], pytest.fail)] == ["mkl", "mkl-intel"]
    with start_peer(MKL_INTEL, Job("gemm", 60), CORES[:1]) as process:
        assert "Intel's path avx" in process.description["version"] and process.residual() < 30
        assert "libmkl_avx" in maps(process) and "libmkl_def" not in maps(process)


def test_an_implied_peer_that_does_not_work_is_left_out_with_a_word(monkeypatch, capsys):
    def refuse(peer, job, cores):
        raise BackendError("it does not work here")

    monkeypatch.setattr("trencadis.compare.start_peer", refuse)
    request = Request("gemm", [60], session=SessionChoice(workers=CORES[:1]), repeat=1)
    assert list(compare(request, [replace(MKL_INTEL, implied=True)], lambda text, done: None)) == []
    assert "mkl-intel is left out: it does not work here" in capsys.readouterr().err
    with pytest.raises(BackendError, match="does not work here"):
        list(compare(request, [MKL_INTEL], lambda text, done: None))
