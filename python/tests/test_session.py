"""Sessions, traces, threads and signals."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import trencadis
from matrices import positive_definite, random_array, solve_error
from trencadis import _core
from waiting import soonest

pytestmark = pytest.mark.alone

CORES = sorted(os.sched_getaffinity(0))


def test_options_are_resolved():
    session = _core.Session()
    options = session.options()
    assert options["engine"] in names(_core.list_engines()) and options["scheduler"] in names(_core.list_schedulers())
    assert options["kernels"] in names(_core.list_kernels()) and options["threads"] in names(_core.list_threads())
    assert len(options["workers"]) == session.workers >= 1 and set(options["workers"]) <= set(CORES)
    assert options["window"] > 0 and options["slow"] == {}
    assert session.kernels_version


def names(rows):
    return [row["name"] for row in rows]


@pytest.mark.parametrize(
    "list_kind",
    [_core.list_schedulers, _core.list_engines, _core.list_kernels, _core.list_threads, _core.list_machines, _core.list_routines],
)
def test_every_registry_names_describes_and_tells_what_is_available(list_kind):
    rows = list_kind()
    assert rows
    for row in rows:
        assert row["name"] and isinstance(row["available"], bool) and row["summary"] and row["source"]
        assert row["available"] or row["why_not"]
    assert len(set(names(rows))) == len(rows)


@pytest.mark.parametrize("scheduler", names(row for row in _core.list_schedulers() if not row["in_one_memory"]))
@pytest.mark.parametrize("kernels", [row["name"] for row in _core.list_kernels() if row["available"]])
def test_every_scheduler_solves_with_every_kernel_library(scheduler, kernels):
    A, b = positive_definite(500, np.float64), random_array((500, 2), np.float64)
    with trencadis.session(scheduler=scheduler, kernels=kernels) as session:
        assert session.options()["scheduler"] == scheduler and session.options()["kernels"] == kernels
        assert solve_error(A, trencadis.solve(A, b, assume_a="pos"), b) < 10


@pytest.mark.parametrize("row", [row for row in _core.list_schedulers() if row["in_one_memory"]], ids=lambda row: row["name"])
def test_schedulers_that_ask_where_data_are_name_the_one_that_they_would_be_on_real_cores(row):
    with pytest.raises(ValueError, match=f"'{row['name']}' .* would be '{row['in_one_memory']}'; use that"):
        trencadis.session(scheduler=row["name"])
    assert row["in_one_memory"] in names(_core.list_schedulers()) and "simulated machines" in row["summary"]


@pytest.mark.parametrize("threads", _core.list_threads(), ids=lambda row: row["name"])
def test_sessions_run_on_every_thread_back_end(threads):
    A, b = positive_definite(500, np.float64), random_array((500, 2), np.float64)
    if not threads["available"]:
        with pytest.raises(trencadis.BackendError, match=f"thread back end '{threads['name']}': not found"):
            trencadis.session(threads=threads["name"])
        pytest.skip(threads["why_not"])
    with trencadis.session(threads=threads["name"]) as outer:
        assert outer.options()["threads"] == threads["name"]
        with trencadis.session(threads=threads["name"], workers=1):  # beside the other one
            assert solve_error(A, trencadis.solve(A, b, assume_a="pos"), b) < 10
        assert solve_error(A, trencadis.solve(A, b, assume_a="pos"), b) < 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": "eagre"}, "unknown scheduler 'eagre'; did you mean 'eager'"),
        ({"engine": "nativ"}, "unknown engine 'nativ'; did you mean 'native'"),
        ({"kernels": "openblass"}, "'openblass'; did you mean 'openblas'"),
        ({"threads": "oss"}, "'oss'; did you mean 'os'"),
        ({"workers": 10_000}, "10000 workers asked for, but this process may use"),
        ({"workers": [9999]}, "core 9999 asked for, but this process may use cores"),
        ({"workers": [CORES[0], CORES[0]]}, f"core {CORES[0]} is given twice"),
        ({"workers": 0}, "workers: 0; give at least 1"),
        ({"workers": []}, "empty list"),
        ({"workers": "0,x"}, "no list such as 0,1,4-7 of cores or their kinds"),
        ({"slow": {CORES[0]: 0.0}}, "slow|fraction"),
        ({"slow": {9999: 0.5}}, "9999"),
        ({"window": -3}, "-3"),
    ],
)
def test_bad_options_say_what_was_given_and_what_would_be_right(options, message):
    with pytest.raises(ValueError, match=message):
        trencadis.session(**options)


WORDS = ("engine", "scheduler", "kernels", "threads", "machine", "pages", "relief")


@pytest.mark.parametrize(
    ("options", "message"),
    [({name: value}, rf"^{name} is {value!r}, must be text; leave it out") for name in WORDS for value in (None, 3, b"ws")]
    + [
        ({"window": "many"}, "window is 'many', must be a whole number"),
        ({"window": 1.5}, "window is 1.5, must be a whole number"),
        ({"workers": 1.5}, "workers is 1.5, must be a whole number"),
        ({"slow": 0.5}, r"slow is 0.5, must be a dict of core to fraction"),
        ({"slow": {"0": 0.5}}, "slow is {'0': 0.5}, must be a dict of core to fraction"),
    ],
)
def test_options_of_another_type_are_one_line_that_says_so(options, message):
    with pytest.raises(TypeError, match=message) as refusal:
        trencadis.session(**options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("options", [{"workers": 2**40}, {"workers": [2**70]}, {"window": 2**70}, {"slow": {2**40: 0.5}}])
def test_numbers_beyond_all_cores_are_out_of_range(options):
    with pytest.raises(ValueError, match="is out of range"):
        trencadis.session(**options)


def test_a_flag_without_a_truth_raises_as_if_does():
    A, b, flag = positive_definite(5, np.float64), np.ones(5), np.array([True, False])
    for call in (
        lambda: trencadis.solve(A, b, lower=flag, assume_a="pos"),
        lambda: trencadis.solve(A, b, check_finite=flag, assume_a="pos"),
        lambda: trencadis.cholesky(A, overwrite_a=flag),
        lambda: trencadis.cho_factor(A, check_finite=flag),
    ):
        with pytest.raises(ValueError, match="truth value of an array"):
            call()
    with pytest.raises(ValueError, match="lower is not the same for all matrices of the stack"):
        trencadis.cho_solve((A, flag), b)


def test_a_title_is_text():
    with pytest.raises(TypeError, match="title is 3, must be text"):
        trencadis.trace(3)


def test_workers_by_number_list_text_and_kind():
    kind = json.loads(_core.machine())["kinds"][0]["name"]
    one = CORES[0]
    for workers, expected in ((1, 1), ([one], 1), (str(one), 1), (None, None), (np.int64(1), 1), (np.array([one]), 1)):
        with trencadis.session(workers=workers) as session:
            assert expected is None or session.workers == expected
    with trencadis.session(workers=kind) as session:
        assert session.workers >= 1


def test_a_session_counts_what_its_block_does_and_blocks_nest():
    A, b = positive_definite(700, np.float64), np.ones(700)

    def done(session):
        return sum(row["tasks"] for row in session.statistics())

    with trencadis.session(workers=1) as outer:
        trencadis.solve(A, b, assume_a="pos")
        with trencadis.session(workers=1) as inner:
            seen = done(outer)
            trencadis.solve(A, b, assume_a="pos")
            assert done(inner) > 0 and done(outer) == seen
        trencadis.solve(A, b, assume_a="pos")
        assert done(outer) > seen
        outer.reset_statistics()
        assert done(outer) == 0
        rows = outer.statistics()
        assert set(rows[0]) == {"cpu", "kind", "busy_s", "idle_s", "tasks", "shares", "reliefs"}


def test_other_threads_keep_their_session():
    seen = []
    with trencadis.session(workers=1) as mine:
        thread = threading.Thread(target=lambda: seen.append(trencadis.session.__module__ and current()))
        thread.start()
        thread.join()
        assert current() is mine
    assert seen == [None] and current() is None


def test_threads_end_with_their_session():
    def threads_now():
        return len(list(Path("/proc/self/task").iterdir()))

    A = positive_definite(300, np.float64)
    with trencadis.session() as warm:
        trencadis.solve(A, np.ones(300), assume_a="pos")
    del warm
    before = threads_now()
    for _ in range(5):
        with trencadis.session():
            trencadis.solve(A, np.ones(300), assume_a="pos")
    deadline = time.monotonic() + 5  # the kernel lists a thread for a moment after it has ended
    while threads_now() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads_now() <= before


def test_one_session_object_serves_several_blocks_and_threads():
    A, b = positive_definite(300, np.float64), np.ones(300)
    shared = trencadis.session(workers=1)
    inside = []

    def work():
        with shared as session:
            trencadis.solve(A, b, assume_a="pos")
            with shared as again:
                inside.append(again is session)
            inside.append(current() is session)
        inside.append(current() is None)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    assert inside == [True] * 12


def current():
    from trencadis.session import current

    return current.get()


def test_many_threads_solve_at_once():
    problems = [
        (positive_definite(n, dtype, seed=i), random_array((n, 2), dtype, seed=i))
        for i, (n, dtype) in enumerate([(300, np.float64), (50, np.float32), (400, np.complex128), (250, np.complex64)])
    ]
    errors = []

    def work(i):
        A, b = problems[i % len(problems)]
        for _ in range(5):
            errors.append(solve_error(A, trencadis.solve(A, b, assume_a="pos"), b))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 40 and max(errors) < 10


def test_the_interpreter_lock_is_released_while_computing():
    steps = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            steps[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = steps[0]
    try:
        _core.tasks(None, 120)  # 300,000 tasks: some tens of milliseconds at least
        during = steps[0] - before
    finally:
        stop.set()
        thread.join()
    assert during >= 3


def run_python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("engine", names(row for row in _core.list_engines() if row["computes"]))
def test_ctrl_c_raises_keyboard_interrupt_within_a_second_and_work_goes_on(engine):
    code = f"""
import os, signal, threading, time, numpy as np, trencadis
from trencadis import _core
session = _core.Session(engine={engine!r})
_core.tasks(session, 10)
sent = []
def send():
    time.sleep(0.3)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    _core.tasks(session, 1500) # 5e8 tasks: minutes
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0])
print("count", _core.tasks(session, 5))
"""

    def seconds():
        result = run_python(code)
        words = result.stdout.split()
        assert words[0] == "interrupted" and words[2:] == ["count", "35"], result
        return float(words[1])

    assert soonest(seconds, within=1) < 1


def test_an_exception_of_another_signal_handler_comes_through():
    code = """
import signal
from trencadis import _core
class Alarm(Exception): pass
def ring(*_): raise Alarm("ding")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    _core.tasks(None, 1500)
except Alarm as alarm:
    print("got", alarm)
"""
    assert run_python(code).stdout == "got ding\n"


def test_importing_is_light():
    code = """
import sys, trencadis
heavy = [m for m in ("scipy", "typer", "rich", "matplotlib", "pandas") if m in sys.modules]
print(heavy)
"""
    assert run_python(code).stdout == "[]\n"


def test_environment_chooses_where_nothing_is_said():
    code = "from trencadis import _core; o = _core.Session().options(); print(o['engine'], o['scheduler'], len(o['workers']))"
    chosen = {"TRENCADIS_SCHEDULER": "ws", "TRENCADIS_NUM_THREADS": "1"}
    for engine, said in (("native", "native ws 1\n"), ("sequential", "sequential  1\n")):  # which asks no policy
        assert run_python(code, env={**os.environ, "TRENCADIS_ENGINE": engine, **chosen}).stdout == said
    environment = {**os.environ, "TRENCADIS_SCHEDULER": "wss"}
    assert "did you mean 'ws'" in run_python(code, env=environment).stderr


@pytest.mark.parametrize("n", [64, 700])
def test_a_forked_child_can_solve(n):
    code = f"""
import os, numpy as np, trencadis
A = np.eye({n}) * 2; b = np.ones({n})
trencadis.solve(A, b, assume_a="pos")
pid = os.fork()
if pid == 0:
    try:
        x = trencadis.solve(A, b, assume_a="pos")
        os._exit(0 if np.allclose(x, 0.5) else 1)
    except RuntimeError as error:
        print(error, flush=True)
        os._exit(3)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
"""
    result = run_python(code)
    assert result.stdout.split("\n")[-2] in ("0", "3"), result  # solved, or refused with a message; never a hang or a crash


def test_out_of_memory_is_a_memory_error():
    available = _core.available_memory()
    n = int((available / 8) ** 0.5) + 20_000
    a = np.broadcast_to(np.float64(1), (n, n))  # no memory behind it; the work copy would need more than there is
    b = np.broadcast_to(np.float64(1), (n,))
    with pytest.raises(MemoryError, match=r"needs \d+\.\d GB of memory; \d+\.\d GB are available"):
        trencadis.solve(a, b, assume_a="pos")
    with pytest.raises(MemoryError, match="GB"):
        trencadis.cholesky(a)


def test_a_refused_allocation_is_a_memory_error():
    code = """
import resource, numpy as np, trencadis
trencadis.solve(np.eye(300) * 2, np.ones(300))
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), resource.RLIM_INFINITY))
a = np.broadcast_to(np.float64(1), (6000, 6000)) # the copy needs 288 MB
b = np.ones(6000)
for call in (lambda: trencadis.solve(a, b, assume_a="pos"), lambda: trencadis.cholesky(a), lambda: trencadis.matmul(a, a)):
    try:
        call()
    except MemoryError:
        print("MemoryError")
print(trencadis.solve(np.eye(2) * 2, np.ones(2)))
"""
    assert run_python(code).stdout.splitlines() == ["MemoryError"] * 3 + ["[0.5 0.5]"]


def test_a_trace_is_recorded_and_saved_in_every_format(tmp_path):
    A, b = positive_definite(800, np.float64), np.ones(800)
    with trencadis.session(), trencadis.trace("a solve") as recording:
        trencadis.solve(A, b, assume_a="pos")
        with pytest.raises(RuntimeError, match="after the `with` block"):
            recording.save(tmp_path / "early.svg")
    kernels = {row["name"] for row in recording.kernel_table()}
    assert kernels, "no kernel was recorded"
    assert recording.trace.title == "a solve" and recording.trace.span_s > 0 and recording.trace.origin == "measured"
    workers = recording.worker_table()
    assert all(0 <= row["busy_fraction"] <= 1 for row in workers) and sum(row["tasks"] for row in workers) > 0
    for name in ("t.json", "t.svg", "t.html", "t.prv"):
        recording.save(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.html", "t.json", "t.pcf", "t.prv", "t.row", "t.svg"]
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert ElementTree.parse(tmp_path / "t.svg").getroot().tag.endswith("svg")
    assert recording.trace.svg("order").startswith("<?xml") or "<svg" in recording.trace.svg("order")
    assert (tmp_path / "t.prv").read_text().startswith("#Paraver")
    with pytest.raises(ValueError, match="written as .json, .svg, .html or .prv, not '.png'"):
        recording.save(tmp_path / "t.png")
    with pytest.raises(ValueError, match="view 'x' is neither"):
        recording.trace.svg("x")


def test_a_trace_of_calls_without_tasks_says_so(tmp_path):
    with trencadis.session(), trencadis.trace() as recording:
        trencadis.solve(np.eye(4), np.ones(4), assume_a="pos")
    with pytest.warns(UserWarning, match="no task was recorded: a call too small to be shared"):
        recording.save(tmp_path / "t.svg")
    assert "no task was recorded" in (tmp_path / "t.svg").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with trencadis.session(), trencadis.trace() as recording:
            trencadis.solve(positive_definite(800, np.float64), np.ones(800), assume_a="pos")
        recording.save(tmp_path / "t.svg")


def test_a_session_has_one_trace_at_a_time():
    A = positive_definite(800, np.float64)  # large enough for tasks
    with trencadis.session(), trencadis.trace() as outer:
        with pytest.raises(RuntimeError, match="being traced already"), trencadis.trace():
            pass
        with trencadis.session(), trencadis.trace() as other:
            trencadis.solve(A, np.ones(800), assume_a="pos")
        assert other.kernel_table()
        trencadis.solve(A, np.ones(800), assume_a="pos")
    assert outer.kernel_table()


def test_a_machine_is_described_as_json():
    machine = json.loads(_core.machine())
    assert machine["origin"] == "discovered" and machine["cores"] and machine["kinds"] and machine["nodes"]
    assert all(core["gflops"] > 0 for core in machine["cores"])
    for name in _core.described_machines():
        assert json.loads(_core.load_machine(name))["cores"]
    with pytest.raises(ValueError, match="unknown machine 'exynos'; did you mean"):
        _core.load_machine("exynos")


def test_a_signal_while_nothing_runs_is_pythons_own():
    code = """
import os, signal, time, trencadis
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("ok")
"""
    assert run_python(code).stdout == "ok\n"


CRASH = """
import ctypes, faulthandler, sys
import numpy as np
import trencadis
if sys.argv[1] == "before":
    faulthandler.enable()
with trencadis.session(relief="always"):
    a = np.ones((300, 300))
    for _ in range(5):
        trencadis.matmul(a, a)
if sys.argv[1] == "after":
    faulthandler.enable()
ctypes.string_at(0)
"""


@pytest.mark.parametrize("when", ["before", "after", "never"])
def test_a_crash_is_still_reported_by_whoever_does_that(when):
    """Relief has no handlers."""
    result = subprocess.run([sys.executable, "-c", CRASH, when], capture_output=True, text=True, timeout=300)
    assert result.returncode == -signal.SIGSEGV
    assert ("Fatal Python error: Segmentation fault" in result.stderr) == (when != "never")
