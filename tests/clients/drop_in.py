"""Runs others' programs with libtrencadis_lapack.so in front of their own BLAS and LAPACK, and counts what it served."""

import os
import re
import shutil
import subprocess
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "build" / "lib" / "libtrencadis_lapack.so"
#: Everything becomes tasks, on tiles far smaller than the matrices.
CUT = {"TRENCADIS_TILE": "7", "TRENCADIS_BLOCKS": "8,24,32"}
#: The other library's threads yield while they wait for one another, which takes minutes on busy cores; ours are as many as ever.
THREADS = {"OPENBLAS_NUM_THREADS": "1", "TRENCADIS_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
INSTALL = "make clients-packages installs it"

built = pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not built")


def needs(there, what, package):
    return pytest.mark.skipif(not there, reason=f"{what} is not here: apt install {package}; {INSTALL}")


def needs_program(program, package):
    return needs(shutil.which(program), program, package)


def in_turn(name, *names):
    """Of these tests one runs with a commit, as scripts/turn.sh says; `make test-clients` runs all."""
    turn = subprocess.run([ROOT / "scripts" / "turn.sh", *names], capture_output=True, text=True, check=True, cwd=ROOT)
    return (lambda test: test) if turn.stdout.strip() == name else pytest.mark.thorough


def run(command, *, ours=True, timeout=300, environment=None, **options):
    variables = {**os.environ, **THREADS, **(environment or {})}
    if ours:
        variables |= {"LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1"}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=timeout, errors="replace", **options)


def our_calls(error_output):
    """{routine: times}, of the lines that TRENCADIS_VERBOSE=1 gives."""
    return Counter(re.findall(r"^trencadis: (\w+) \S+ (?:on tasks|directly)", error_output, re.MULTILINE))


def other_lines(error_output):
    """What was said on standard error beside those lines."""
    return [line for line in error_output.splitlines() if not line.startswith("trencadis: ")]


def assert_served(result, *routines):
    calls = our_calls(result.stderr)
    missing = [routine for routine in routines if not calls[routine]]
    assert not missing, f"not ours: {missing}; ours: {dict(calls)}"


def of_wheels(package):
    """Does the environment's package call the BLAS of its own wheel, under the names that we serve?"""
    place = find_spec(package)
    return place is not None and (Path(place.origin).parents[1] / f"{package}.libs").is_dir()
