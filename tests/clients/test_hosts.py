"""Hosts with ways of their own with threads, signals and limits: they compute through us, and stay what they are.

Each program checks its products itself. Calls on few cores must not wait for one another: every run has a limit.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from drop_in import LIBRARY, ROOT, built, needs, needs_program, run

PROGRAMS = Path(__file__).parent / "programs" / "hosts"
HEADERS = ROOT / "tests" / "guest"  # guest.h: the same checked product
LINKED = [f"-L{LIBRARY.parent}", "-ltrencadis_lapack", f"-Wl,-rpath,{LIBRARY.parent}"]

pytestmark = [built, needs_program("cc", "gcc")]


def compiled(folder, name, *options, compiler="cc", libraries=LINKED):
    program = folder / name
    flags = ["-O1", "-Wall", "-Wextra", f"-I{HEADERS}", *options]
    command = [compiler, *flags, PROGRAMS / f"{name}.c", *libraries, "-lm", "-o", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return program


def check(command, *, environment=None, timeout=300):
    """The answer is right; what was said on standard error."""
    result = run(command, ours=False, environment=environment, timeout=timeout)
    assert (result.returncode, result.stdout.split()[-1:]) == (0, ["right"]), result
    return result.stderr


def test_a_thousand_threads_call_at_once(tmp_path):
    assert check([compiled(tmp_path, "many_callers", "-pthread")]) == ""


@pytest.mark.parametrize("bound", ["false", "close", "spread", "master"])
def test_parallel_regions_of_openmp_call_and_stay_bound(tmp_path, bound):
    program = compiled(tmp_path, "regions", "-fopenmp")
    # Threads that are bound to one core would spin for one another's results there.
    environment = {"OMP_PROC_BIND": bound, "OMP_PLACES": "cores", "OMP_WAIT_POLICY": "passive"}
    assert check([program], environment=environment) == ""


#: System calls by number, on the processors that we know. The kernel has one list for those after the year 2019.
SYSTEM_CALLS = {
    "x86_64": {"sched_setaffinity": 203, "membarrier": 324, "clone3": 435},
    "aarch64": {"sched_setaffinity": 122, "membarrier": 283, "clone3": 435},
}
CALLS = SYSTEM_CALLS.get(platform.machine(), {})
EPERM, ENOSYS = 1, 38


@pytest.mark.skipif(not CALLS, reason=f"the numbers of system calls on {platform.machine()} are not known here")
@pytest.mark.parametrize("error", [EPERM, ENOSYS])
@pytest.mark.parametrize("refused", [*([name] for name in SYSTEM_CALLS["x86_64"]), list(SYSTEM_CALLS["x86_64"])], ids="-".join)
def test_a_sandbox_that_refuses_system_calls_computes(tmp_path, refused, error):
    said = check([compiled(tmp_path, "refused"), str(error), *(str(CALLS[name]) for name in refused)])
    # The C library takes another call only where clone3 is said not to be there; without threads the caller computes.
    lines = said.splitlines()
    if "clone3" in refused and error == EPERM:
        assert len(lines) == 1 and "no workers, the calling thread computes alone" in lines[0], said
    else:
        assert lines == []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_where_there_are_no_more_threads_the_caller_computes(tmp_path, threads):
    said = check([compiled(tmp_path, "at_the_brink"), "threads", str(threads)]).splitlines()
    assert len(said) <= 1 and all("no workers, the calling thread computes alone" in line for line in said), said


@pytest.mark.parametrize("kib", [0, 64, 1 << 10, 4 << 10, 9 << 10, 17 << 10, 40 << 10, 100 << 10, 300 << 10])
def test_where_address_space_ends_products_are_right(tmp_path, kib):
    said = check([compiled(tmp_path, "at_the_brink"), "memory", str(kib << 10)]).splitlines()
    assert len(said) <= 1 and all(line.startswith("trencadis: ") for line in said), said


def another_copy(folder):
    """Under another name, as a wheel has it beside the system's: the loader would take two of one name for the same."""
    for library in ("libtrencadis.so.0", LIBRARY.name):
        content = (LIBRARY.parent / library).read_bytes()
        (folder / library.replace("dis.so.", "diz.so.")).write_bytes(content.replace(b"libtrencadis.so.0", b"libtrencadiz.so.0"))
    return folder / LIBRARY.name


def test_it_is_opened_and_closed_over_and_over_and_twice(tmp_path):
    program = compiled(tmp_path, "opened", "-pthread", libraries=["-ldl"])
    assert check([program, LIBRARY, another_copy(tmp_path)]) == ""


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """The command of the program, and what it loads."""
    folder = tmp_path_factory.mktemp("java")
    home = Path(shutil.which("javac")).resolve().parents[1] / "include"
    library = compiled(folder, "solves_java", "-shared", "-fPIC", f"-I{home}", f"-I{home / 'linux'}")
    result = subprocess.run(["javac", "-d", folder, PROGRAMS / "Solves.java"], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return ["java", "-Xmx256m", "-Xss512k", "-XX:-UsePerfData", "-cp", folder, "Solves", library]


def runs(*command):
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True, check=False, timeout=300).returncode == 0


needs_java = needs(runs("javac", "-version"), "a Java compiler", "default-jdk-headless")
needs_go = needs(runs("go", "version"), "Go", "golang-go")


@needs_java
def test_a_java_machine_computes_through_us_while_it_collects_and_catches_faults(java):
    assert check(java) == ""


@needs_java
@pytest.mark.parametrize("turn", range(3))
def test_a_java_machine_ends_while_its_threads_compute(java, turn):
    result = run([*java, "exit"], ours=False, timeout=300)
    assert (result.returncode, result.stderr) == (7, ""), result


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    folder = tmp_path_factory.mktemp("go")
    environment = {**os.environ, "CGO_ENABLED": "1", "CGO_CFLAGS": f"-O1 -I{HEADERS}", "CGO_LDFLAGS": " ".join([*LINKED, "-lm"])}
    environment |= {"GOCACHE": str(folder / "cache"), "GOPATH": str(folder / "path"), "GOFLAGS": "-mod=mod"}
    command = ["go", "build", "-o", folder / "solves", PROGRAMS / "solves.go"]
    result = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return folder / "solves"


@needs_go
@pytest.mark.thorough
def test_goroutines_compute_through_us_and_are_preempted(go):
    assert check([go]) == ""


@needs_go
@pytest.mark.thorough
@pytest.mark.parametrize("turn", range(3))
def test_a_go_program_ends_while_its_goroutines_compute(go, turn):
    result = run([go, "exit"], ours=False, timeout=300)
    assert (result.returncode, result.stderr) == (7, ""), result


@pytest.mark.thorough
@needs_program("mpicc", "libopenmpi-dev")
@needs_program("mpirun", "openmpi-bin")
@pytest.mark.parametrize("ranks", [1, 4])
def test_ranks_of_mpi_on_few_cores_do_not_wait_for_ever(tmp_path, ranks):
    program = compiled(tmp_path, "ranks", compiler="mpicc")
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), program]
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    check(command, environment=environment)
