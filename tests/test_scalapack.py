"""ScaLAPACK's names in libtrencadis_scalapack.so, called by programs under mpirun that know nothing of us."""

import re

import pytest
from mpirun import ROOT, mpirun, needs_library, needs_mpirun

RESIDUALS = ROOT / "build" / "bin" / "scalapack_residuals"
GRIDS = ROOT / "build" / "bin" / "scalapack_grids"
#: Whatever the engine can do goes to it, in tiles of that size where a matrix is copied.
BY_TASKS = {"TRENCADIS_TILE": "16"}
ARGUMENTS = ROOT / "build" / "bin" / "scalapack_arguments"

pytestmark = [
    pytest.mark.alone,  # processes that wait for each other by polling come to a standstill beside others
    needs_mpirun,
    needs_library,
    pytest.mark.skipif(not RESIDUALS.exists(), reason=f"{RESIDUALS} is not built: cmake --build build --target tests"),
]


def assert_right(result, calls):
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert f"{calls} calls, 0 wrong" in result.stdout


@pytest.mark.parametrize(
    ("processes", "rows", "cols"),
    [(4, 2, 2), (3, 2, 1), (2, 1, 1)],
    ids=["2x2", "2x1 of 3 processes", "1x1 of 2 processes"],
)
def test_results_are_right_on_submatrices_at_any_place_and_in_blocks_of_any_shape(processes, rows, cols):
    result = mpirun(processes, [RESIDUALS, rows, cols], timeout=600)
    assert_right(result, 208)
    assert re.search(r"^trencadis: ", result.stderr, re.MULTILINE), "the library was not called"


def test_results_are_right_by_tasks_over_the_grid():
    result = mpirun(4, [RESIDUALS, 2, 2], timeout=600, environment=BY_TASKS)
    assert_right(result, 208)
    for routine in (p + r for p in "SDCZ" for r in ("POTRF", "POTRS")):
        assert re.search(rf"P{routine} \S+ by tasks over the grid", result.stderr), routine


def test_grids_live_side_by_side_and_end_and_begin_anew():
    result = mpirun(4, [GRIDS], timeout=300, environment=BY_TASKS)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert "0 wrong" in result.stdout
    assert result.stderr.count("is passed on") == 4, "but on the grid whose fourth process has no kernels"


def test_calls_are_passed_on_where_mpi_was_begun_without_threads():
    result = mpirun(4, [GRIDS, "early"], timeout=300, environment=BY_TASKS)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert "0 wrong" in result.stdout
    assert "passed on: MPI was begun without MPI_THREAD_MULTIPLE" in result.stderr
    assert "by tasks" not in result.stderr


def test_an_engine_ends_where_some_of_the_world_are_in_no_grid():
    result = mpirun(3, [RESIDUALS, 2, 1], timeout=300, environment=BY_TASKS)
    assert_right(result, 208)
    assert "by tasks over the grid" in result.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "cols"), [(1, 4), (4, 1), (2, 3)])
def test_results_are_right_on_other_grids(rows, cols):
    assert_right(mpirun(rows * cols + 1, [RESIDUALS, rows, cols, "all"], timeout=600), 416)


def answered(result):
    """What info each call got, and what pxerbla said on all processes."""
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    said = result.stdout + result.stderr
    return re.findall(r"^.*: info .*$", said, re.MULTILINE), sorted(re.findall(r"\{.*On entry to.*", said))


def test_bad_arguments_are_answered_as_scalapack_answers_them_and_nothing_is_touched():
    ours, theirs = (answered(mpirun(4, [ARGUMENTS], ours=preloaded)) for preloaded in (True, False))
    assert ours == theirs
    assert len(ours[0]) == 23
    assert not [line for line in ours[0] if "touched" in line]
    assert len([line for line in ours[1] if "PDPOTRF parameter number  609" in line]) == 8
