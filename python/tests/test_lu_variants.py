"""LU's forms by one option: `variant` of solve and lu_factor, IncrementalLU, bench's residuals, and `trencadis growth`."""

import numpy as np
import pytest
import trencadis
from commands import refusal, rows
from matrices import DTYPES, random_array, solve_error
from trencadis import _core
from trencadis.growth import MATRICES
from trencadis.workloads import WORKLOADS

VARIANTS = next(row["variants"] for row in _core.list_routines() if row["name"] == "getrf")
EXPECTED = {"packed", "panel", "kastors", "kastors-cw", "columns", "nopiv", "tournament", "incremental"}
PIVOTED = [variant for variant in VARIANTS if variant != "nopiv"]


def test_the_forms_are_listed():
    assert set(VARIANTS) == EXPECTED


def system(n, dtype, variant):
    A = random_array((n, n), dtype)
    return A + 4 * n * np.eye(n, dtype=dtype) if variant == "nopiv" else A


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [1, 65, 513])
def test_solve_in_every_form(n, variant, dtype):
    A, B = system(n, dtype, variant), random_array((n, 3), dtype, seed=1)
    X = trencadis.solve(A, B, variant=variant)
    assert X.dtype == dtype and solve_error(A, X, B) < 10
    assert solve_error(A, trencadis.solve(A, B[:, 0], variant=variant, assume_a="gen"), B[:, 0]) < 10


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant != "incremental"])
def test_lu_solve_takes_the_factors_of_every_form(variant):
    A, b = system(513, np.float64, variant), random_array(513, np.float64, seed=1)
    factors = trencadis.lu_factor(A, variant=variant)
    for trans, op in ((0, A), (1, A.T)):
        assert solve_error(op, trencadis.lu_solve(factors, b, trans), b) < 10
    stack = np.stack([A, 2 * A])
    lu, piv = trencadis.lu_factor(stack, variant=variant)
    assert np.array_equal(lu[0], factors[0]) and np.array_equal(piv[1], factors[1])


def test_what_a_form_cannot_do_is_refused():
    A = random_array((20, 20), np.float64)
    with pytest.raises(ValueError, match="'nopivot'.*known: .*nopiv"):
        trencadis.solve(A, A, variant="nopivot")
    with pytest.raises(ValueError, match="IncrementalLU"):
        trencadis.lu_factor(A, variant="incremental")
    with pytest.raises(ValueError, match="general"):
        trencadis.solve(A, A, assume_a="pos", variant="nopiv")
    with pytest.raises(ValueError, match="general"):
        trencadis.solve(A, A, transposed=True, variant="nopiv")
    with pytest.raises(ValueError, match="no stacks"):
        trencadis.solve(A[None], A, variant="nopiv")
    with pytest.raises(ValueError, match="20 rows"):
        trencadis.solve(A, A[:3], variant="nopiv")
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        trencadis.solve(np.zeros((3, 3)), np.ones(3), variant="tournament")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 30, 200])
def test_incremental_factors_solve(n, dtype):
    A, B = random_array((n, n), dtype), random_array((n, 3), dtype, seed=1)
    factors = trencadis.IncrementalLU(A, nb=24)
    assert factors.singular == 0 and np.array_equal(factors.upper, np.triu(factors.upper)) and factors.upper.dtype == dtype
    for b in (B, np.asfortranarray(B), B[:, 0]):
        before = b.copy()
        X = factors.solve(b)
        assert X.dtype == dtype and X.shape == b.shape and solve_error(A, X, b) < 10 and np.array_equal(b, before)


def test_incremental_factors_keep_what_they_need():
    A = np.asfortranarray(random_array((90, 90), np.float64))
    before, b = A.copy(), random_array(90, np.float64, seed=1)
    with trencadis.session(workers=[0]):
        factors = trencadis.IncrementalLU(A, overwrite_a=True, nb=16)
    del A
    assert solve_error(before, factors.solve(b), b) < 10


def test_incremental_factors_say_what_is_wrong():
    A = random_array((9, 9), np.float64)
    factors = trencadis.IncrementalLU(A)
    with pytest.raises(ValueError, match="square"):
        trencadis.IncrementalLU(A[:5])
    with pytest.raises(ValueError, match="infs or NaNs"):
        trencadis.IncrementalLU(A * np.nan)
    with pytest.raises(ValueError, match="9 rows"):
        factors.solve(A[:5])
    with pytest.raises(ValueError, match="complex128"):
        factors.solve(A * 1j)
    assert trencadis.IncrementalLU(np.zeros((4, 4))).singular == 1
    assert factors.solve(np.empty((9, 0))).shape == (9, 0)


@pytest.mark.parametrize("precision", [np.float64, np.complex64])
@pytest.mark.parametrize("variant", PIVOTED)
@pytest.mark.parametrize("routine", ["getrf", "gesv"])
def test_bench_checks_every_form(routine, variant, precision):
    workload = WORKLOADS[routine](150, precision)
    assert workload.ours(_core, None, 16, variant)() == 0
    assert workload.residual() < 30
    workload.targets[-1][0, 0] += 10
    assert workload.residual() > 30


def test_growth_is_told_beside_partial_pivoting():
    told = rows("growth", "--n", "120", "--nb", "16")
    assert {(row["matrix"], row["variant"]) for row in told} == {
        (matrix, variant) for matrix in MATRICES for variant in ("panel", "tournament", "incremental", "nopiv")
    }
    by_name = {(row["matrix"], row["variant"]): row for row in told}
    assert by_name["wilkinson", "panel"]["growth"] == 2.0**119
    assert by_name["dominant", "nopiv"]["growth"] < 2 and by_name["dominant", "nopiv"]["error"] < 1e-14
    assert 30 < by_name["orthogonal", "panel"]["growth"] < 120
    assert by_name["random", "nopiv"]["growth_ratio"] > 1
    for matrix in ("random", "orthogonal", "ill-conditioned"):
        for variant in ("panel", "tournament", "incremental"):
            assert by_name[matrix, variant]["error"] < 120 * 2e-16, (matrix, variant)


def test_growth_refuses_what_it_does_not_know():
    assert "unknown --matrix 'hilbert' (known: random dominant" in refusal("growth", "--matrix", "hilbert")
    assert "unknown --variant 'pairwise' (known: packed" in refusal("growth", "--variant", "pairwise")
    assert "unknown --precision 'c'" in refusal("growth", "--precision", "c")


@pytest.mark.parametrize("call", [trencadis.lu_factor, lambda a, variant: trencadis.solve(a, np.zeros(len(a)), variant=variant)])
def test_a_form_that_there_is_not_is_refused_for_nothing_as_well(call):
    with pytest.raises(ValueError, match="unknown ge(trf|sv) variant 'moses'"):
        call(np.zeros((0, 0)), variant="moses")
    call(np.zeros((0, 0)), variant="panel")
