"""ScaLAPACK's own testers (Debian's scalapack-mpi-test) through libtrencadis_scalapack.so: Cholesky, LU, QR, least squares,
inverses and level 3 of PBLAS in s, d, c, z on grids of one process, of 2 x 2 and of 1 x 4.

Their tests of condition estimates and iterative refinement are left out: the reference's p?lacon, which is behind us, now and
then lets processes go different ways, and the tester of Cholesky waits for ever or ends with MPI_ERR_TRUNCATE, without us too.
"""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpirun import mpirun, needs_library, needs_mpirun

TESTERS = next(iter(sorted(Path("/usr/lib").glob("*/scalapack/openmpi-tests"))), Path("/usr/lib/scalapack/openmpi-tests"))

pytestmark = [
    pytest.mark.thorough,
    needs_mpirun,
    needs_library,
    pytest.mark.skipif(
        not (TESTERS / "xdlu").exists(),
        reason="ScaLAPACK's testers are not here: apt install scalapack-mpi-test; make clients-packages installs it",
    ),
]
#: By the comment that follows them in an input: how many, and what.
SIZES = {"problems sizes": "3", "values of M": "13 31 90", "values of N": "17 31 75"}
BLOCKS = {"NB's": "2", "values of NB": "3 16"}
GRIDS = {"process grids": "3", "values of P": "1 2 1", "values of Q": "1 2 4"}
NO_ESTIMATES = {"Test Cond. Est.": "F"}
#: What each tester reads, what of it is replaced, and what must have been ours or come by us.
PARTS = {
    "llt": ("LLT.dat", SIZES | BLOCKS | GRIDS | NO_ESTIMATES, ("POTRF", "POTRS")),
    "lu": ("LU.dat", SIZES | BLOCKS | GRIDS | NO_ESTIMATES, ("GETRF", "GETRS")),
    "qr": ("QR.dat", GRIDS, ("GEQRF",)),
    "ls": ("LS.dat", GRIDS, ("GEQRF", "TRSM")),
    "inv": ("INV.dat", GRIDS, ("GETRF", "POTRF", "TRSM")),
}
#: Whatever the engine can do goes to it.
BY_TASKS = {"TRENCADIS_TILE": "5"}


def replaced(text, words):
    """Those lines of an input whose comment has the words, with other values."""
    lines = text.splitlines()
    for comment, values in words.items():
        for at, line in enumerate(lines):
            if re.search(rf"\s{re.escape(comment)}", line):
                lines[at] = f"{values}  {comment}"
    return "\n".join(lines) + "\n"


def assert_all_pass(result, precision, routines):
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    for routine in routines:
        called = re.search(rf"^trencadis: P?{precision}{routine} ", result.stderr, re.MULTILINE | re.IGNORECASE)
        assert called, f"{routine} did not come by us"


@pytest.mark.parametrize("precision", "sdcz")
@pytest.mark.parametrize(
    ("part", "environment"), [*((part, {}) for part in PARTS), *((part, BY_TASKS) for part in ("llt", "inv"))]
)
def test_factorizations_and_solves(part, environment, precision, tmp_path):
    name, words, routines = PARTS[part]
    (tmp_path / name).write_text(replaced((TESTERS / name).read_text(), words))
    result = mpirun(4, [TESTERS / f"x{precision}{part}"], cwd=tmp_path, timeout=900, environment=environment)
    assert_all_pass(result, precision.upper(), routines)
    assert not environment or "by tasks over the grid" in result.stderr
    assert re.search(r"\s[1-9]\d* tests completed and passed residual checks", result.stdout), result.stdout[-4000:]
    assert re.search(r"\s0 tests completed and failed residual checks", result.stdout), result.stdout[-4000:]


@pytest.mark.parametrize("precision", "sdcz")
def test_products_and_their_error_exits(precision, tmp_path):
    name = f"P{precision.upper()}BLAS3TST.dat"
    (tmp_path / name).write_text(replaced((TESTERS / "PBLAS" / name).read_text(), GRIDS))
    result = mpirun(4, [TESTERS / "PBLAS" / f"{precision}pb3tst"], cwd=tmp_path, timeout=900)
    assert_all_pass(result, precision.upper(), ("GEMM", "TRSM"))
    summary = re.findall(r"\|\s+P[SDCZ]\w+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", result.stdout)
    assert len(summary) >= 8, result.stdout[-4000:]
    assert all(total == passed for total, passed, failed, skipped in summary), result.stdout[-4000:]
