"""The testers of the reference LAPACK (Debian's liblapack-test) through our symbols: linear equations, QR, LQ and
least squares in s, d, c, z.

A part of what they can test: general, positive definite and triangular matrices, QR and LQ (QP: with column pivoting, QT:
geqrt and gemqrt), and least squares, which are what we serve. What fails without us, too, is theirs: the tester of version 3.11
itself in STR.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "build" / "lib" / "libtrencadis_lapack.so"
TESTERS = next(iter(sorted(Path("/usr/lib").glob("*/lapack/xlintstd"))), Path("/usr/lib/lapack/xlintstd")).parent
#: The same for larger matrices, which scripts/lapack_testers.sh builds from their sources.
LARGE_TESTERS = ROOT / "build-lapack-testers" / "bin"
#: Everything becomes tasks, on blocks far smaller than the matrices.
CUT = {"TRENCADIS_TILE": "5", "TRENCADIS_BLOCKS": "8,24,32"}

pytestmark = [
    pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not built"),
    pytest.mark.skipif(
        not (TESTERS / "xlintstd").exists(), reason="the testers of the reference LAPACK are not here: apt install liblapack-test"
    ),
]
#: What each part of the tester must have called, so that what passed was ours.
SERVED = (
    *("getrf", "getrs", "gesv", "gesvx", "getri", "gecon", "gerfs", "geequ", "lange"),
    *("potrf", "potrs", "posv", "posvx", "potri", "pocon", "porfs", "poequ"),
    *("trtri", "trtrs", "trcon", "lantr"),
    *("geqrf", "gelqf", "geqp3", "geqrt", "gemqrt", "gels"),
)
#: Whose names are others in complex precisions. Reflectors (larft, larfb) are never on tasks.
ORTHOGONAL = ("orgqr", "orglq", "ormqr", "ormlq")
#: Kinds of matrices and of factorizations.
KINDS = ("GE", "PO", "TR", "QR", "LQ", "LS", "QP", "QT")


def served(precision):
    if precision in "sd":
        return (*SERVED, *ORTHOGONAL, "lansy")
    return (*SERVED, *(routine.replace("or", "un", 1) for routine in ORTHOGONAL), "lanhe")


def words(precision, sizes, kinds, block=None):
    """The tester's own input with fewer sizes, and those kinds of matrices alone; with one block size and crossover point."""
    lines = (TESTERS / f"{precision}test.in").read_text().splitlines()
    chosen = [line for line in lines if re.match(rf"{precision.upper()}({'|'.join(kinds)})\b", line)]
    header = lines[: next(i for i, line in enumerate(lines) if line.startswith("T ")) + 3]
    for at, line in enumerate(header):
        if re.search(r"Number of values of [MN]\b", line):
            header[at : at + 2] = [str(len(sizes.split())), sizes]
        elif block and re.search(r"Number of values of NB\b", line):
            header[at : at + 3] = ["1", *block]
    return "\n".join(header + chosen) + "\n"


def inputs(precision, sizes, every_block):
    """The tester repeats what it does for each of five block sizes and crossover points, which are answers of the reference's
    ilaenv. Ours never asks it, and would compute the same five times; in QT alone the block size is an argument. The one that is
    left has the reference's own routines call ours, for small blocks."""
    if every_block:
        return [words(precision, sizes, KINDS)]
    return [words(precision, sizes, [kind for kind in KINDS if kind != "QT"], ("3", "0")), words(precision, sizes, ["QT"])]


def run(precision, sizes, environment, testers=TESTERS, *, every_block=False):
    command, variables = [testers / f"xlintst{precision}"], {**os.environ, **environment}
    results = [
        subprocess.run(command, input=text, env=variables, capture_output=True, text=True, timeout=600)
        for text in inputs(precision, sizes, every_block)
    ]
    result = subprocess.CompletedProcess(
        command, max(each.returncode for each in results),
        "".join(each.stdout for each in results), "".join(each.stderr for each in results),
    )  # fmt: skip
    lines = re.findall(r"^ .*(?:test\(.*\)=|\*\*\*|did not|Error|failed).*$", result.stdout, re.MULTILINE)
    failures = sorted(re.sub(r"=\s+\S+$", "", line) for line in lines)  # how far off does not matter
    return result, failures


@cache
def without_us(precision, sizes):
    return run(precision, sizes, {})[1]


@pytest.mark.parametrize(("environment", "sizes"), [({}, "0 1 2 3 10 50"), (CUT, "0 2 5 6 16 33")], ids=["whole", "cut"])
@pytest.mark.parametrize("precision", "sdcz")
def test_the_reference_tester_finds_nothing_that_it_does_not_find_without_us(precision, environment, sizes):
    result, failures = run(precision, sizes, {"LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1", **environment})
    for kind in set(KINDS) - {"QP"}:  # which has no tests of error exits
        assert f"{precision.upper()}{kind} routines passed the tests of the error exits" in result.stdout, result.stdout
    assert f"All tests for {precision.upper()}Q3 routines passed the threshold" in result.stdout, result.stdout
    assert failures == without_us(precision, sizes)
    how = "on tasks" if environment else "directly"
    for routine in served(precision):
        assert re.search(rf"^trencadis: {precision}{routine} \S+ {how}", result.stderr, re.MULTILINE), routine


@pytest.mark.parametrize("environment", [{}, CUT], ids=["whole", "cut"])
@pytest.mark.parametrize("precisions", ["ds", "zc"])
def test_the_tester_of_mixed_precision_passes(precisions, environment):
    words = (TESTERS / f"{precisions}test.in").read_text()
    if environment:  # nine tiles a side say what 27 would
        words, changed = re.subn(r"^11( .*\n)(0 1 2 13 17 45) .*$", r"6\1\2", words, flags=re.MULTILINE)
        assert changed == 1, words
    variables = {"LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1", **environment}
    tester = TESTERS / f"xlintst{precisions}"
    result = subprocess.run(tester, input=words, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
    first, second = precisions.upper()
    for routine in (f"{first}{second}GESV", f"{first}{second}POSV"):
        assert f"All tests for {routine} routines passed the threshold" in result.stdout, result.stdout
        assert re.search(rf"^trencadis: {routine.lower()} \S+ on tasks", result.stderr, re.MULTILINE)


@pytest.mark.thorough
@pytest.mark.skipif(
    not (LARGE_TESTERS / "xlintstd").exists(), reason="the larger testers are not built: scripts/lapack_testers.sh builds them"
)
@pytest.mark.parametrize("environment", [{}, {"TRENCADIS_TILE": "48"}], ids=["whole", "cut"])
@pytest.mark.parametrize("precision", "sdcz")
def test_the_reference_tester_finds_nothing_in_larger_matrices(precision, environment):
    reference = {"LD_LIBRARY_PATH": f"{TESTERS}:{TESTERS.with_name('blas')}"}
    variables = {"LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1", **reference, **environment}
    result, failures = run(precision, "130 257", variables, LARGE_TESTERS, every_block=True)
    assert failures == [], result.stdout  # the reference alone: none
    for routine in set(served(precision)) - {"lansy", "lanhe"}:
        assert re.search(rf"^trencadis: {precision}{routine} \S+ on tasks", result.stderr, re.MULTILINE), routine
