"""libtrencadis_lapack.so in front of programs that know nothing of it: the testers of the reference BLAS, NumPy and SciPy."""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "build" / "lib" / "libtrencadis_lapack.so"
TESTERS = next(iter(sorted(Path("/usr/lib").glob("*/blas/xblat3d"))), Path("/usr/lib/blas/xblat3d")).parent
# Tiles of 7 and blocks as small as they can be, so that matrices of at most 65 rows go through everything.
CUT = {"TRENCADIS_TILE": "7", "TRENCADIS_BLOCKS": "8,24,32"}
TROUBLE = re.compile(r"FAIL|SUSPECT|NOT DETECTED|\*\*\*|FATAL|ABANDONED|CHANGED", re.IGNORECASE)

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not built")
needs_testers = pytest.mark.skipif(
    not (TESTERS / "xblat3d").exists(), reason="the testers of the reference BLAS are not here: apt install libblas-test"
)


def preloaded(arguments, environment=None, **options):
    variables = {**os.environ, "LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1", **(environment or {})}
    return subprocess.run(arguments, env=variables, capture_output=True, text=True, timeout=300, **options)


def our_calls(error_output):
    """{(routine, how): times} of the lines that TRENCADIS_VERBOSE=1 gives."""
    calls = {}
    for routine, how in re.findall(r"^trencadis: (\w+) \S+ (on tasks|directly)", error_output, re.MULTILINE):
        calls[routine, how] = calls.get((routine, how), 0) + 1
    return calls


def check_tester(program, words, output_file, precision, folder, environment):
    routines = ["gemm", "symm", "trmm", "trsm", "syrk", "syr2k"] + (["hemm", "herk", "her2k"] if precision in "cz" else [])
    with (TESTERS / words).open() as stdin:
        result = preloaded([TESTERS / program], environment, stdin=stdin, cwd=folder)
    # Their exit code says nothing.
    output = result.stdout + ((folder / output_file).read_text() if output_file else "")
    assert not TROUBLE.search(output), TROUBLE.search(output)
    calls = our_calls(result.stderr)
    for routine in routines:
        name = precision + routine
        assert len(re.findall(rf"{name}\s+PASSED THE TESTS OF ERROR", output, re.IGNORECASE)) >= 1, output
        assert len(re.findall(rf"{name}\s+PASSED THE .*COMPUTATIONAL", output, re.IGNORECASE)) >= 1, output
        how = "on tasks" if environment else "directly"
        assert calls.get((name, how), 0) > 100, f"{name} was not ours: {calls}"


@needs_testers
@pytest.mark.parametrize("environment", [{}, CUT], ids=["whole", "cut"])
@pytest.mark.parametrize("precision", "sdcz")
def test_the_reference_tester_passes_through_our_fortran_symbols(precision, environment, tmp_path):
    check_tester(f"xblat3{precision}", f"{precision}blat3.in", f"{precision}blat3.out", precision, tmp_path, environment)


@needs_testers
@pytest.mark.parametrize("environment", [{}, CUT], ids=["whole", "cut"])
@pytest.mark.parametrize("precision", "sdcz")
def test_the_reference_tester_passes_through_our_cblas_symbols(precision, environment, tmp_path):
    # It takes RowMajorStrg from the reference's own library, whichever BLAS the system prefers.
    reference = {**environment, "LD_LIBRARY_PATH": str(TESTERS)}
    with (TESTERS / f"{precision}in3").open() as stdin:
        result = preloaded([TESTERS / f"x{precision}cblat3"], reference, stdin=stdin, cwd=tmp_path)
    if "symbol lookup error" in result.stderr:
        pytest.skip(f"the reference BLAS is not in {TESTERS}: apt install libblas3")
    assert not TROUBLE.search(result.stdout), TROUBLE.search(result.stdout)
    assert len(re.findall("PASSED THE", result.stdout)) == (27 if precision in "cz" else 18)
    assert our_calls(result.stderr)[f"{precision}gemm", "on tasks" if environment else "directly"] > 100


NUMPY = """
import numpy as np, os, scipy.linalg, scipy.linalg.blas
rng = np.random.default_rng(1)
n = 500
def matrix(kind):
    A = rng.standard_normal((n, n))
    return (A + 1j * rng.standard_normal((n, n)) if np.dtype(kind).kind == "c" else A).astype(kind)
def check(C, A, B):
    # |C - AB| <= k eps |A||B|, complex arithmetic rounding like at most 3 real operations
    bound = 3 * (n + 2) * np.finfo(C.dtype).eps * (abs(A) @ abs(B))
    rows = [0, 17, n - 1]
    exact = A[rows].astype(np.clongdouble) @ B.astype(np.clongdouble)
    assert (abs(C[rows] - exact) <= bound[rows]).all()
for kind in "fdFD":
    A, B = matrix(kind), matrix(kind)
    check(np.dot(A, B), A, B)
    check(np.asarray(A @ A.T), A, A.T)
    check(np.asfortranarray(A) @ B[::-1].copy().T, A, B[::-1].T)
A = matrix("d")
P = A @ A.T + n * np.eye(n)
L = np.linalg.cholesky(P)
check(L @ L.T, L, L.T)
x = scipy.linalg.solve(P, np.ones(n), assume_a="pos")
assert abs(P @ x - 1).max() < 1e-10
C = scipy.linalg.blas.dsymm(1.0, np.asfortranarray(P), np.asfortranarray(A))
check(C, P, A)
if os.fork() == 0:
    try:
        check(A @ P, A, P)
        print("child right", flush=True)
    finally:
        os._exit(0)
os.wait()
print("right")
"""


def test_numpy_and_scipy_compute_through_us_also_after_a_fork():
    result = preloaded([sys.executable, "-c", NUMPY])
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n")[:2] == ["child right", "right"]
    calls = our_calls(result.stderr)
    if not calls:
        pytest.skip("this NumPy calls a BLAS under names of its own")
    for routine in ("sgemm", "dgemm", "cgemm", "zgemm", "ssyrk", "dsyrk", "csyrk", "zsyrk", "dpotrf", "dsymm"):
        assert calls.get((routine, "on tasks"), 0) >= 1, f"{routine} was not ours: {calls}"
    assert ("dpotrs", "directly") in calls  # one right-hand side is soon done


def test_the_example_of_the_page_shows_that_the_library_is_used():
    page = (ROOT / "docs" / "blas.md").read_text()
    (line,) = re.findall(r"^TRENCADIS_VERBOSE=1 .*$", page, re.MULTILINE)
    result = subprocess.run(
        ["bash", "-c", line.replace("python", sys.executable)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert "trencadis: dgemm 500x500x500 on tasks" in result.stderr


SMALL = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
def threads(): return len(os.listdir("/proc/self/task"))
import numpy as np
def product(n):
    A, C = np.asfortranarray(np.eye(n)), np.zeros((n, n), order="F")
    one, zero, size = ctypes.c_double(1), ctypes.c_double(0), ctypes.c_int(n)
    where = lambda M: M.ctypes.data_as(ctypes.c_void_p)
    library.dgemm_(b"N", b"N", *[ctypes.byref(v) for v in (size, size, size, one)], where(A), ctypes.byref(size), where(A),
                   ctypes.byref(size), ctypes.byref(zero), where(C), ctypes.byref(size))
    assert (C == A).all()
before = threads()
for _ in range(10): product(4)
assert threads() == before, "small products started threads"
product(300)
print(threads() - before)
"""


def run_small(**environment):
    return subprocess.run(
        [sys.executable, "-c", SMALL, str(LIBRARY)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_small_products_start_no_threads_and_large_ones_do():
    result = run_small(TRENCADIS_NUM_THREADS="1")
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 1


def test_without_workers_the_calling_thread_computes_and_says_so_once():
    result = run_small(TRENCADIS_SCHEDULER="eagre")
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) == 0
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert "the calling thread computes alone" in lines[0]
    assert "eager" in lines[0]


def test_without_the_kernels_asked_for_our_own_compute_and_say_so_once():
    result = run_small(TRENCADIS_KERNELS="mlk")
    assert result.returncode == 0, result.stderr
    assert "kernels 'native' instead of those chosen" in result.stderr
    assert result.stderr.count("instead of") == 1


def test_a_tile_size_that_is_none_is_named():
    result = run_small(TRENCADIS_TILE="many")
    assert result.returncode == 0
    assert "TRENCADIS_TILE is 'many', must be a tile size" in result.stderr


def test_bad_arguments_without_a_handler_are_one_line_and_the_program_goes_on():
    program = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
n = ctypes.byref(ctypes.c_int(2))
one = ctypes.byref(ctypes.c_double(1))
library.dgemm_(b"N", b"X", n, n, n, one, None, n, None, n, one, None, n)
library.cblas_dgemm.argtypes = [ctypes.c_int] * 6 + [ctypes.c_double, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                                ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_int]
library.cblas_dgemm(101, 111, 111, 2, 2, 2, 1.0, None, 1, None, 2, 0.0, None, 2)
print("still here")
"""
    result = subprocess.run([sys.executable, "-c", program, str(LIBRARY)], capture_output=True, text=True, timeout=300)
    assert result.stdout == "still here\n"
    assert result.stderr.splitlines() == [
        " ** On entry to DGEMM  parameter number  2 had an illegal value",
        "Parameter 9 to routine cblas_dgemm was incorrect",
    ]


def test_calls_from_several_threads_at_once_do_not_disturb_each_other():
    library = ctypes.CDLL(str(LIBRARY))
    from concurrent.futures import ThreadPoolExecutor

    def product(seed):
        n = 300
        rng = np.random.default_rng(seed)
        A, B = (np.asfortranarray(rng.standard_normal((n, n))) for _ in range(2))
        C = np.zeros((n, n), order="F")
        size, one, zero = (ctypes.byref(v) for v in (ctypes.c_int(n), ctypes.c_double(1), ctypes.c_double(0)))
        a, b, c = (M.ctypes.data_as(ctypes.c_void_p) for M in (A, B, C))
        library.dgemm_(b"N", b"N", size, size, size, one, a, size, b, size, zero, c, size)
        return np.abs(C - A @ B).max() / (np.abs(A) @ np.abs(B)).max()

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(product, range(16))) <= 2 * (300 + 2) * np.finfo(float).eps


WIDE = """
import ctypes, sys
import numpy as np
library = ctypes.CDLL(sys.argv[1])
n, rng = 20, np.random.default_rng(1)
A = np.asfortranarray(rng.standard_normal((n, n)))
b = rng.standard_normal(n)
factors, x, ipiv, info = A.copy(order="F"), b.copy(), np.zeros(n, np.int64), ctypes.c_int64(-7)
size, one, wide = (ctypes.byref(ctypes.c_int64(v)) for v in (n, 1, 3_000_000_000))
at = lambda array: array.ctypes.data_as(ctypes.c_void_p)
library.dgesv_64_(size, one, at(factors), size, at(ipiv), at(x), wide, ctypes.byref(info))
assert info.value == 0
assert np.abs(A @ x - b).max() < 1e-10, np.abs(A @ x - b).max()
"""


def test_sizes_beyond_a_librarys_integers_are_computed_by_ours_from_the_beginning():
    environment = {**os.environ, "TRENCADIS_KERNELS": "openblas"}
    result = subprocess.run(
        [sys.executable, "-c", WIDE, str(LIBRARY)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    if "kernels 'native' instead of those chosen" not in result.stderr:
        pytest.skip("needs an OpenBLAS")
