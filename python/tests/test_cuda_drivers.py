"""Drivers of CUDA that are none, too old, or without a device: one line that says so, and programs that go on. What a driver that
works does wrong later is tried over the stand-ins of tests/fake_cuda."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trencadis

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no cc is there, which makes the stand-ins; apt install gcc")

ROOT = Path(trencadis.__file__).parents[2]
DECLARED = (ROOT / "src/devices/cuda/api.hpp").read_text()
DRIVER = sorted(set(re.findall(r"\bcu[A-Z]\w*", DECLARED)))
BLAS = sorted(set(re.findall(r"\bcublas[A-Z]\w*", DECLARED))) + [
    f"cublas{letter}{routine}_v2" for letter in "SDCZ" for routine in ("gemm", "syrk", "trsm", "herk")
]
ONE = """
int cuDeviceGetCount(int* count) { *count = 1; return 0; }
int cuDeviceGet(int* device, int number) { *device = number; return 0; }
int cuDeviceGetName(char* name, int size, int device) { name[0] = 'x'; name[1] = 0; return 0; }
"""

# What the driver does otherwise than to answer 0, and the line that it gives.
DRIVERS = {
    "old": (None, "libcuda.so.1 has no cuDriverGetVersion, it is too old"),
    "mismatched": ("int cuInit(unsigned x) { return 803; }", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH when NVIDIA's driver starts"),
    "slow": ("#include <unistd.h>\nint cuInit(unsigned x) { sleep(1); return 999; }", "CUDA_ERROR_UNKNOWN when NVIDIA's"),
    "idle": ("int cuInit(unsigned x) { return 100; }", "devices 'cuda': this machine has none; it takes a GPU of NVIDIA's"),
    "empty": ("int cuDeviceGetCount(int* count) { *count = 0; return 0; }", "devices 'cuda': this machine has none; it takes"),
    "uncounted": ("int cuDeviceGetCount(int* count) { return 2; }", "CUDA_ERROR_OUT_OF_MEMORY when NVIDIA's driver starts"),
    "occupied": (
        ONE + "int cuDevicePrimaryCtxRetain(void** c, int d) { return 46; }",
        "CUDA_ERROR_DEVICE_UNAVAILABLE for its context",
    ),
}


def make(library, symbols, source=""):
    """With these functions, all of which answer 0 but those in the source."""
    own = re.findall(r"int (cu\w+)\(", source)
    text = source + "".join(f"int {symbol}() {{ return 0; }}\n" for symbol in symbols if symbol not in own)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", str(library), "-x", "c", "-"], input=text, text=True, check=True)


def run(folder, *words, **environment):
    environment = os.environ | {"TRENCADIS_CUDA": str(folder)} | environment
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_without_devices_is_one_line_and_programs_go_on(name, tmp_path):
    source, said = DRIVERS[name]
    make(tmp_path / "libcuda.so.1", ["cuInit"] if source is None else DRIVER, source or "")
    make(tmp_path / "libcublas.so.12", BLAS)
    done = run(tmp_path, "-m", "trencadis", "bench", "gemm", "--n", "300", "--devices", "cuda:0")
    assert done.returncode != 0 and not done.stdout and len(done.stderr.splitlines()) == 1 and said in done.stderr, done
    listed = run(tmp_path, "-m", "trencadis", "list", "devices", "--json", "-")
    assert '"cuda"' in listed.stdout and (name == "occupied") == bool(re.search(r'"cuda".*"available": true', listed.stdout))
    program = "import numpy as np\na = np.full((400, 400), 2.0)\nfor _ in range(3): assert (a @ a == 1600).all()"
    preload = {"LD_PRELOAD": str(ROOT / "build/lib/libtrencadis_lapack.so"), "TRENCADIS_DEVICES": "cuda:0"}
    done = run(tmp_path, "-c", program, **preload)
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1 and said in done.stderr, done


def test_a_file_that_is_no_library_is_named(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("no library\n")
    done = run(tmp_path, "-m", "trencadis", "bench", "gemm", "--n", "300", "--devices", "cuda:0")
    assert str(tmp_path / "libcuda.so.1") in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.alone
def test_the_libraries_may_lie_in_several_folders_and_where_the_system_looks(tmp_path):
    stand_in = ROOT / "build/fake_cuda"
    if not (stand_in / "libcuda.so.1").exists():
        pytest.skip(f"{stand_in} is not built: cmake --build build --target test_cuda")
    folders = {}
    for library in ("libcuda.so.1", "libcublas.so.12", "libcusolver.so.11"):
        folders[library] = tmp_path / library
        folders[library].mkdir()
        (folders[library] / library).symlink_to(stand_in / library)
    driver, *wheels = map(str, folders.values())
    program = """
import numpy as np, trencadis
S = np.asfortranarray(np.eye(200) * 200 + 1)
with trencadis.session(devices="cuda:0,always=yes", workers=1, scheduler="h2") as session:
    for _ in range(200): # a core that is faster at first may take all tasks of some
        assert trencadis._core.potrf(session, "L", S.copy("F"), 40, "in-place") == 0
        if session.device_traffic()[0]["bytes_to"] > 0:
            break
    else:
        raise AssertionError("nothing went to the device")
"""
    for own, system in ((":".join([driver, *wheels]), ""), (":".join(wheels), driver), (wheels[0], f"{driver}:{wheels[1]}")):
        done = run(own, "-c", program, LD_LIBRARY_PATH=system, XDG_CACHE_HOME=str(tmp_path))
        assert done.returncode == 0, (own, system, done)


ASLEEP = """#include <stdio.h>
#include <unistd.h>
int cuInit(unsigned x) { puts("asked"); fflush(stdout); sleep(100); return 100; }
"""
CALLS = "import os, threading, time, numpy as np\na = np.full((400, 400), 2.0)\n"
PRELOAD = {"LD_PRELOAD": str(ROOT / "build/lib/libtrencadis_lapack.so"), "TRENCADIS_DEVICES": "cuda:0"}


def asks(folder, command, seconds):
    """A program whose first call has just asked a driver that does not answer."""
    make(folder / "libcuda.so.1", DRIVER, ASLEEP)
    make(folder / "libcublas.so.12", BLAS)
    environment = os.environ | PRELOAD | {"TRENCADIS_CUDA": str(folder), "TRENCADIS_DRIVER_SECONDS": str(seconds)}
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "asked\n"
    return program


def test_who_waits_for_a_driver_takes_its_signals(tmp_path):
    program = asks(tmp_path, [sys.executable, "-c", CALLS + "a @ a"], 60)
    program.terminate()
    assert program.wait(timeout=30) == -signal.SIGTERM


def test_nobody_waits_with_a_fork_for_a_driver(tmp_path):
    forks = """
threading.Thread(target=lambda: a @ a, daemon=True).start()
time.sleep(1)
if os.fork() == 0:
    os._exit(0)
os.wait()
print("forked", flush=True)
os._exit(0)
"""
    program = asks(tmp_path, [sys.executable, "-c", CALLS + forks], 60)
    out, _ = program.communicate(timeout=30)
    assert (out, program.returncode) == ("forked\n", 0)


def test_a_driver_that_is_asked_does_not_keep_a_process_whose_threads_have_ended(tmp_path):
    source = """
#include <pthread.h>
#include <stdlib.h>
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
int main(void)
{
    const int n = 400;
    const double one = 1;
    double *a = calloc(3 * n * n, sizeof one);
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a + n * n, &n, &one, a + 2 * n * n, &n);
    pthread_exit(0);
}
"""
    library = ["-x", "none", PRELOAD["LD_PRELOAD"], "-pthread"]
    subprocess.run(["cc", "-w", "-o", str(tmp_path / "leaves"), "-x", "c", "-", *library], input=source, text=True, check=True)
    program = asks(tmp_path, [str(tmp_path / "leaves")], 1)
    _, err = program.communicate(timeout=30)
    assert program.returncode == 0 and "has not answered for 1 s" in err
