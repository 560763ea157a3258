"""Devices beside the cores: sessions, bench and trace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trencadis
from commands import refusal, rows
from commands import trencadis as run
from waiting import again

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("routine", ["gemm", "potrf", "posv", "getrf", "geqrf"])
def test_bench_says_what_was_moved_and_the_result_is_right(routine):
    words = "--n", "700", "--nb", "100", "--devices", "emulated:2,memory=1MiB,always=yes", "--repeat", "3", "--check"
    (row,) = rows("bench", routine, *words)
    assert 0 <= row["residual"] < 30
    assert row["devices"] == "emulated:2,memory=1MiB,always=yes"
    assert [device["device"] for device in row["device_traffic"]] == ["emulated 0", "emulated 1"]
    assert row["variant"] != "packed"
    assert all(0 <= device["overlap"] <= 1.001 for device in row["device_traffic"])


def test_a_call_counts_what_went_to_the_devices_and_came_back():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 900, 900))
    moved = 0
    with trencadis.session(devices="emulated:2,memory=4MiB,always=yes", workers=1) as session:
        for _ in again():  # until a device has had some of it
            assert np.allclose(trencadis.matmul(a, b), a @ b, rtol=0, atol=1e-10)
            moved = sum(device["bytes_to"] for device in session.device_traffic())
            if moved:
                break
        assert moved > 0 and sum(device["misses"] for device in session.device_traffic()) > 0
        session.reset_statistics()
        assert all(device["bytes_to"] == 0 for device in session.device_traffic())
        assert session.options()["devices"] == "emulated:2,memory=4MiB,always=yes"
        assert [worker["kind"] for worker in session.statistics()][-2:] == ["emulated 0", "emulated 1"]


def test_a_trace_has_a_row_for_each_device(tmp_path):
    out, _ = run("trace", "potrf", "--n", "600", "--nb", "100", "--devices", "emulated:2", "-o", str(tmp_path / "t.json"))
    assert "emulated 0" in out and "emulated 1" in out and "devices emulated:2 (emulated)" in out


def test_a_trace_has_a_row_for_each_queue_and_an_arrow_from_each_copy_to_its_task(tmp_path):
    words = "--n", "900", "--nb", "100", "--workers", "0", "--scheduler", "eager", "--devices", "emulated:1,always=yes"
    for _ in again():  # until the device has had some of it
        run("trace", "potrf", *words, "-o", str(tmp_path / "t.json"))
        events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
        if any(event["ph"] == "s" for event in events):
            break
    rows_of = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
    assert list(rows_of)[-3:] == ["worker 1, emulated 0", "to emulated 0", "from emulated 0"]
    copies = [event for event in events if event.get("cat") == "copy" and event["ph"] == "X"]
    assert {event["tid"] for event in copies} == {rows_of["to emulated 0"], rows_of["from emulated 0"]}
    begun = {(event["tid"], event["ts"]) for event in events if event["ph"] == "X"}
    sent, used = ({event["id"]: (event["tid"], event["ts"]) for event in events if event["ph"] == end} for end in "sf")
    assert sent and sent.keys() == used.keys()
    assert all(sent[arrow] in begun and used[arrow] in begun and sent[arrow][1] <= used[arrow][1] for arrow in sent)
    for _ in again():  # until the device has had some of it
        run("trace", "potrf", *words, "-o", str(tmp_path / "t.prv"))
        records = [line.split(":") for line in (tmp_path / "t.prv").read_text().splitlines()]
        if sent := [record for record in records if record[0] == "3"]:
            break
    assert sent and all(len(record) == 15 for record in sent)


def test_machine_and_list_tell_of_devices():
    (row,) = rows("machine", "--devices", "emulated:2,memory=8MiB,bandwidth=1GB/s,speed=1GFlop/s")
    assert [device["name"] for device in row["devices"]] == ["emulated 0", "emulated 1"]
    for device in row["devices"]:
        assert device["bytes"] == 8 << 20 and device["emulated"]
        assert 0 < device["gflops"] <= 1.001 and 0 < device["bandwidth_to"] <= 1.001e9 and device["bandwidth_from"] <= 1.001e9
    (here,) = rows("machine")
    assert not any(device["emulated"] for device in here["devices"])
    assert {row["name"]: row["available"] for row in rows("list", "devices")}["emulated"]


def test_the_environment_names_devices_where_the_call_does_not(monkeypatch):
    monkeypatch.setenv("TRENCADIS_DEVICES", "emulated:2,memory=2MiB")
    (row,) = rows("bench", "potrf", "--n", "500", "--nb", "100", "--check")
    assert row["devices"] == "emulated:2,memory=2MiB" and len(row["device_traffic"]) == 2 and row["emulated"]
    (compared,) = rows("compare", "potrf", "--against", "openblas", "--n", "300", "--repeat", "1", "--through", "session")
    assert compared["devices"] == "emulated:2,memory=2MiB" and compared["emulated"]
    out, _ = run("bench", "potrf", "--n", "500", "--nb", "100")
    assert "devices emulated:2,memory=2MiB, whose speed is emulated" in out
    assert "device_traffic" not in rows("bench", "potrf", "--n", "200", "--engine", "sequential")[0]


def test_tiles_that_nobody_asked_for_fit_into_a_device():
    (row,) = rows("bench", "posv", "--n", "700", "--devices", "emulated:2,memory=150kB,always=yes", "--check")
    assert row["residual"] < 30 and row["nb"] == 72  # three tiles of doubles; the next multiple of 8 needs 153,600 bytes


def test_devices_do_not_change_the_tiles_that_are_chosen():
    plain = rows("bench", "potrf", "--n", "1000", "--variant", "in-place")[0]
    assert rows("bench", "potrf", "--n", "1000", "--devices", "emulated:4,always=yes")[0]["nb"] == plain["nb"]


def test_a_program_that_nobody_recompiled_has_devices(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nfrom scipy.linalg import lapack\n"
        "a = np.eye(900) * 900 + np.ones((900, 900))\nc, info = lapack.dpotrf(a, lower=1)\nc = np.tril(c)\n"
        "assert info == 0 and abs(c @ c.T - a).max() < 1e-9\n"
        "import os; print(len(os.listdir('/proc/self/task')))\n"
    )
    library = str(Path(trencadis.__file__).parents[2] / "build/lib/libtrencadis_lapack.so")

    def called(devices):
        environment = os.environ | {"LD_PRELOAD": library, "TRENCADIS_DEVICES": devices, "TRENCADIS_SCHEDULER": "eager"}
        environment["TRENCADIS_NUM_THREADS"] = "2"
        return subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=300)

    enough, little = called("emulated,always=yes"), called("emulated,memory=9kB")
    assert enough.returncode == 0
    assert int(little.stdout) > int(enough.stdout), "others than the calling thread compute where devices have no room"
    assert called("emulated:2,always=yes").returncode == 0
    for wrong, said in (("emulatde", "did you mean 'emulated'"), ("emulated,memory=9kB", "give memory=")):
        done = called(wrong)
        assert done.returncode == 0 and said in done.stderr and len(done.stderr.splitlines()) == 1
        assert "no devices, cores compute without" in done.stderr
    assert not called("none").stderr


def test_sessions_have_none_of_the_environments_devices_where_none_are_asked_for(monkeypatch):
    monkeypatch.setenv("TRENCADIS_DEVICES", "emulated:2")
    for words, devices in ({"devices": "none"}, 0), ({}, 2), ({"devices": "none", "engine": "sequential"}, 0):
        with trencadis.session(**words) as session:
            assert len(session.device_traffic()) == devices
            assert bool(session.options()["devices"]) == (devices > 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--devices", "emulated:0"), "must be a whole number from 1 to 64"),
        (("--devices", "emulatde"), "did you mean 'emulated'"),
        (("--devices", "emulated,full-copies=2"), "full-copies says how many of which full-copy is the first"),
        (("--devices", "emulated,memory=3"), "must be a size of at least 1kB"),
        (("--devices", "emulated,memroy=3MB"), "did you mean 'memory'"),
        (("--nb", "64", "--devices", "emulated,memory=64kB"), "give memory=96KiB or more, or tiles of 48"),
        (("--devices", "emulated,memory=90kB"), "tiles of 64, which are 96KiB: give memory=96KiB or more"),
        (("--devices", "emulated,memory=900TiB"), "an emulated device's memory is this machine's"),
        (("--devices", "emulated:65"), "must be a whole number from 1 to 64"),
        (("--devices", "emulated,always=maybe"), "always=maybe, must be yes or no"),
        (("--devices", "emulated:3,speed=1GFlop/s+2GFlop/s"), "has 2 values, and there are 3 devices"),
        (("--devices", "emulated,fail-kernel=1"), "kernel failed while it was measured"),
        (("--devices", "emulated", "--engine", "sequential"), "gives no tasks to devices"),
        (("--devices", "emulated", "--machine", "server-2s"), "leave out the one or the other"),
        (("--devices", "emulated", "--variant", "packed"), "packs images for the kernels of cores"),
    ],
)
def test_words_that_cannot_be_meant_are_refused_in_one_line(words, said):
    assert said in refusal("bench", "gemm", "--n", "400", *words)


def test_both_operands_may_be_one_matrix():
    a = np.random.default_rng(2).standard_normal((700, 700))
    with trencadis.session(devices="emulated:2,memory=8MiB,always=yes"):
        for _ in range(20):
            assert np.allclose(trencadis.matmul(a, a), a @ a, rtol=0, atol=1e-10)
            assert np.allclose(trencadis.matmul(a, a.T), a @ a.T, rtol=0, atol=1e-10)


def test_after_a_fault_cores_do_what_the_device_was_to_and_the_statistics_say_so():
    a = np.ones((800, 800))  # a call of many tasks: of a single one the core may always be first
    with trencadis.session(devices="emulated,fail-kernel=1,always=yes", workers=1, scheduler="eager") as session:
        for _ in again():
            assert (trencadis.matmul(a, a) == 800).all()
            (device,) = session.device_traffic()
            if device["fault"]:
                break
        assert device["fault"] == "kernel failed: kernel number 1 of emulated 0 failed, as it was told to"
        assert (trencadis.matmul(a, a) == 800).all()


def moved(session):
    return [device["bytes_to"] + device["bytes_from"] for device in session.device_traffic()]


def definite(n):
    m = np.random.default_rng(n).standard_normal((n, n))
    return m @ m.T + n * np.eye(n)


SLOW_DEVICES = ("emulated,bandwidth=2MB/s", "emulated,speed=100MFlop/s", "emulated,latency=20ms")


@pytest.mark.parametrize("words", SLOW_DEVICES)
def test_a_call_that_a_device_would_make_slower_goes_without_it(words):
    a = definite(512)
    with trencadis.session(devices=words) as session:
        for _ in range(5):
            assert np.allclose(trencadis.matmul(a, a), a @ a)
            trencadis.cholesky(a)
        assert moved(session) == [0]
        assert session.options()["devices"] == words


def test_a_call_that_a_device_makes_faster_takes_it_and_a_small_one_beside_it_does_not():
    core = min(os.sched_getaffinity(0))
    a = definite(1200)
    with trencadis.session(devices="emulated", workers=[core], slow={core: 0.02}) as session:
        x = trencadis.matmul(a[:100, :100], a[:100, :100])
        assert moved(session) == [0] and np.allclose(x, a[:100, :100] @ a[:100, :100])
        assert np.allclose(trencadis.matmul(a, a), a @ a)
        assert moved(session)[0] > 0
        session.reset_statistics()
        assert np.allclose(trencadis.cholesky(a, lower=True), np.linalg.cholesky(a))
        assert moved(session)[0] > 0


def test_unequal_devices_have_shares_by_their_speed_from_the_first_call_on():
    core = min(os.sched_getaffinity(0))
    a = np.random.default_rng(3).standard_normal((1000, 1000))
    words = "emulated:2,speed=2GFlop/s+200MFlop/s"
    with trencadis.session(devices=words, workers=[core], slow={core: 0.01}) as session:
        assert np.allclose(trencadis.matmul(a, a), a @ a)
        fast, slow = (worker["tasks"] for worker in session.statistics()[-2:])
    assert fast >= 4 * slow


def test_the_form_that_is_named_is_the_one_that_a_call_took():
    without = ("--devices", "emulated,speed=100MFlop/s")
    always = ("--devices", "emulated,speed=100MFlop/s,memory=300kB,always=yes")
    for routine in ("potrf", "gemm", "posv"):
        (plain,) = rows("bench", routine, "--n", "700", "--repeat", "1")
        (row,) = rows("bench", routine, "--n", "700", "--repeat", "1", *without)
        assert row["device_traffic"][0]["bytes_to"] == 0
        assert (row["variant"], row["nb"]) == (plain["variant"], plain["nb"])
        (taken,) = rows("bench", routine, "--n", "700", "--repeat", "1", *always)
        assert taken["variant"] == "in-place" != plain["variant"]
        assert 0 < 3 * 8 * taken["nb"] ** 2 <= 300e3
        (asked,) = rows("bench", routine, "--n", "700", "--repeat", "1", "--nb", "50", "--variant", "in-place", *without)
        assert (asked["variant"], asked["nb"]) == ("in-place", 50)


def test_explain_says_what_was_weighed_with_devices_and_the_call_goes_so():
    words = ("--devices", "emulated,latency=3ms", "--workers", str(min(os.sched_getaffinity(0))))
    (told,) = rows("explain", "potrf", "--n", "3000", *words)
    first, *others = told["foreseen"]
    assert first["variant"] == "in-place" and first["nb"] < 512
    tiles = (512, 1024, 1504)
    known = [*(("in-place", nb) for nb in (*tiles, 3000)), *(("two-level", nb) for nb in tiles)]
    assert [(one["variant"], one["nb"]) for one in others] == known
    (called,) = rows("bench", "potrf", "--n", "3000", "--repeat", "1", *words)
    taken = [one for one in told["foreseen"] if one["chosen"]]
    if taken:
        assert (called["variant"], called["nb"]) == (taken[0]["variant"], taken[0]["nb"])
        assert told["chosen"] == f"{taken[0]['variant']}, tiles of {taken[0]['nb']}" and "with devices" in told["why"]
    else:
        assert called["variant"] == "packed" and told["chosen"] == "rule" and "devices are left out" in told["why"]
    (small,) = rows("explain", "potrf", "--n", "200", *words)
    assert small["chosen"] == "rule" and not any(one["chosen"] for one in small["foreseen"])
    out, _ = run("explain", "gemm", "--n", "500", "--devices", "emulated,always=yes")
    assert "always=yes" in out and "in-place" in out
    assert "foreseen" not in rows("explain", "potrf", "--n", "300")[0]


def test_devices_that_factor_say_so_and_are_right():
    words = "--n", "700", "--nb", "100", "--devices", "emulated:2,factors=yes,always=yes", "--repeat", "3"
    for routine in ("potrf", "posv"):
        (row,) = rows("bench", routine, *words, "--check")
        assert 0 <= row["residual"] < 30
    assert "must be yes or no" in refusal("bench", "potrf", "--n", "100", "--devices", "emulated,factors=2")


@pytest.mark.parametrize("routine", ["potrf", "posv"])
def test_two_levels_are_right_where_devices_take_part(routine):
    words = "--n", "700", "--nb", "200", "--variant", "two-level", "--devices", "emulated:2,always=yes", "--repeat", "3"
    (row,) = rows("bench", routine, *words, "--check")
    assert row["variant"] == "two-level" and 0 <= row["residual"] < 30


def test_a_call_without_tasks_is_named_like_one_without_devices():
    with trencadis.session() as plain:
        pass
    with trencadis.session(devices="emulated,always=yes") as session:
        assert session.last_variant("potrf") == (plain.default_variant("potrf"), 0)
        trencadis.cholesky(definite(900))
        assert session.last_variant("potrf")[0] == session.default_variant("potrf") and session.last_variant("potrf")[1] > 0
        assert session.last_variant("posv")[0] == plain.default_variant("posv")
        session.reset_statistics()
        assert session.last_variant("potrf") == (plain.default_variant("potrf"), 0)


def test_always_gives_devices_what_they_are_slow_at():
    a = definite(700)
    with trencadis.session(devices="emulated,speed=500MFlop/s,always=yes", workers=1, scheduler="eager") as session:
        for _ in again():  # until the device has had some of it
            assert np.allclose(trencadis.matmul(a, a), a @ a)
            if moved(session)[0]:
                break
        assert moved(session)[0] > 0


def bytes_to(session):
    return sum(device["bytes_to"] for device in session.device_traffic())


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_resident_goes_to_a_device_once(order):
    core = min(os.sched_getaffinity(0))
    rng = np.random.default_rng(4)
    a, b = (np.asarray(rng.standard_normal(shape), order=order) for shape in ((200, 5000), (5000, 200)))

    def moved_by_task():  # the core may take all tasks of a call before the device has looked
        session.reset_statistics()
        taken = 0
        for _ in range(400):
            assert np.allclose(trencadis.matmul(a, b), a @ b)
            taken = session.statistics()[-1]["tasks"]
            if taken >= 40:
                break
        assert taken >= 40, "the device takes no part"
        return bytes_to(session) / taken

    with trencadis.session(devices="emulated,always=yes", workers=[core], slow={core: 0.1}, scheduler="eager") as session:
        with session.resident(a, b):
            once = moved_by_task()
        assert 0 < once < moved_by_task() / 3  # the result, which is small, goes to and fro


@pytest.mark.parametrize(("lockable", "staged"), [("", False), (",lockable=1kB", True)])
def test_matrices_are_page_locked_where_they_can_be_and_go_by_way_of_buffers_elsewhere(lockable, staged):
    core = min(os.sched_getaffinity(0))
    a, b = np.random.default_rng(6).standard_normal((2, 500, 500))
    words = f"emulated:2,always=yes,bandwidth=4GB/s,pageable=0.25{lockable}"
    with trencadis.session(devices=words, workers=[core], slow={core: 0.1}, scheduler="eager") as session:
        for _ in range(5):
            assert np.allclose(trencadis.matmul(a, b), a @ b)
        both = session.device_traffic()
    assert sum(device["bytes_to"] for device in both) > 0
    for device in both:
        assert device["bytes_staged"] == (device["bytes_to"] + device["bytes_from"] if staged else 0)


def test_what_was_written_into_something_resident_is_seen():
    a, b = np.random.default_rng(5).standard_normal((2, 600, 600))
    with (
        trencadis.session(devices="emulated,always=yes", workers=1, scheduler="eager") as session,
        session.resident(a, b) as kept,
    ):
        for i in range(30):
            assert np.allclose(trencadis.matmul(a, b), a @ b)
            a[i] = i
            kept.touch(a)
        c = np.asfortranarray(definite(600))
        with session.resident(c):  # written by calls of the session, with and without tasks, in one tiling and in another
            for _ in range(20):
                c[:] = definite(600)
                session.touch(c)
                expected = np.linalg.cholesky(c)
                trencadis.cholesky(c, lower=True, overwrite_a=True)
                assert np.allclose(np.tril(c), expected)
                assert np.allclose(trencadis.matmul(c, a), c @ a)
                assert np.allclose(trencadis.matmul(c[:300, :300], a[:300, :300]), c[:300, :300] @ a[:300, :300])


def cleared(x, rng):
    trencadis.cholesky(x, lower=True, overwrite_a=True)


def cleared_by_lapack(x, rng):
    trencadis.lapack.zpotrf(x, lower=True, overwrite_a=True)


def conjugated_by_numpy(x, rng):
    factor = np.ascontiguousarray(np.linalg.cholesky(hermitian(len(x))))
    trencadis.solve_triangular(factor, x, trans="C", lower=True, overwrite_b=True)


def copied(x, rng):
    trencadis.matmul(x, np.asarray(rng.standard_normal(x.shape), x.dtype), out=x)


def hermitian(n):
    m = np.random.default_rng(n).standard_normal((n, 2 * n)).view(complex)
    return m @ m.conj().T + n * np.eye(n)


@pytest.mark.parametrize("write", [cleared, cleared_by_lapack, conjugated_by_numpy, copied])
def test_what_a_call_writes_beside_its_tasks_into_something_resident_is_seen(write):
    core = min(os.sched_getaffinity(0))
    rng = np.random.default_rng(6)
    words = "emulated:2,memory=600kB+64MiB,always=yes"  # the first one has all routines take the same tiles, the second has room
    with trencadis.session(devices=words, workers=[core], slow={core: 0.05}, scheduler="eager") as session:
        x = np.zeros((600, 600), complex, order="F")
        with session.resident(x):
            for _ in range(3):
                x[:] = hermitian(len(x))
                session.touch(x)
                write(x, rng)
                assert np.allclose(trencadis.matmul(x, np.eye(len(x), dtype=complex)), x, rtol=1e-12, atol=1e-12)
        assert moved(session)[1] > 0


def test_what_cannot_be_resident_is_refused_in_one_line():
    a = np.zeros((40, 40))
    with trencadis.session(devices="emulated,always=yes") as session:
        for wrong, said in (
            ((a[::2, ::2],), "one of its strides is 1"),
            ((a, a), "is kept already"),
            ((a, a[3:]), "is kept already"),
            ((np.zeros((0, 3)),), "has elements"),
            ((np.zeros(3, dtype=int),), "array"),
            (("text",), "array"),
        ):
            with pytest.raises((ValueError, TypeError), match=said) as raised, session.resident(*wrong):
                pass
            assert "\n" not in str(raised.value)
        with pytest.raises(TypeError, match="none was given"):
            session.resident()
        with pytest.raises(ValueError, match="nothing that begins at"):
            session.leave(a)
        with pytest.raises(ValueError, match="nothing that begins at"):
            session.touch(a)
        with session.resident(a):  # nothing of what was refused has stayed
            pass
    with trencadis.session() as session, pytest.raises(ValueError, match="has none; make it with devices"):
        session.keep(a)


FORKED = """
import os, sys, trencadis
trencadis.session(devices="opencl,always=yes", workers=1)
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    trencadis.session(devices="opencl,always=yes", workers=1)
except trencadis.BackendError as error:
    print(error)
    sys.exit(7)
"""


def test_a_child_of_a_fork_is_refused_what_needs_threads_of_its_parent():
    listed = {row["name"]: row for row in rows("list", "devices")}["opencl"]
    if not listed["available"]:
        pytest.skip(f"opencl: {listed['why_not']}")
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 7 and "before this process was forked" in ended.stdout and ended.stdout.count("\n") == 1
