"""What bench and compare run: flop counts, results checked by residuals that can fail, refusals for lack of memory."""

import numpy as np
import pytest
import scipy.linalg.lapack as lapack
from trencadis import _core
from trencadis.fortran import FortranLibrary
from trencadis.measure import Job, Ours
from trencadis.options import PRECISIONS
from trencadis.workloads import WORKLOADS, Posv, Potrf, cholesky_tasks

#: LAPACK's own testers call a ratio below 30 a pass.
PASS = 30


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("routine", WORKLOADS)
def test_our_call_passes_its_residual_and_a_spoilt_result_does_not(routine, precision):
    workload = WORKLOADS[routine](150, PRECISIONS[precision])
    assert workload.ours(_core, None, 64, "")() == 0
    assert workload.residual() < PASS
    target = workload.targets[-1]
    target[-1, 0] += 10  # in single precision, of the order of the rounding errors that the measure lets pass
    assert workload.residual() > PASS


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("routine", ["symm", "hemm", "syrk", "herk", "syr2k", "her2k"])
def test_a_vendors_call_computes_the_same(routine, precision):
    available = {row["name"]: row for row in _core.list_kernels() if row["available"]}
    if "openblas" not in available:
        pytest.skip("needs an OpenBLAS")
    path = available["openblas"]["path"]
    library = FortranLibrary([path])
    workload = WORKLOADS[routine](60, PRECISIONS[precision])
    workload.vendor(library)()
    assert workload.residual() < PASS


@pytest.mark.parametrize("routine", WORKLOADS)
def test_a_nan_is_never_a_small_residual(routine):
    workload = WORKLOADS[routine](40, np.float64)
    workload.ours(_core, None, 16, "")()
    workload.targets[-1][-1, 0] = np.nan
    assert not workload.residual() < PASS


@pytest.mark.parametrize(("m", "k"), [(1, 300), (300, 1), (70, 90)])
def test_products_of_other_shapes_are_checked_as_well(m, k):
    workload = Job("gemm", 40, "z", m, k).workload()
    assert workload.targets[0].shape == (m, 40)
    workload.ours(_core, None, 0, "")()
    assert workload.residual() < PASS
    workload.targets[0][-1, 0] += 100
    assert workload.residual() > PASS


def test_restore_brings_the_first_state_back():
    workload = Potrf(60, np.float64)
    before = workload.targets[0].copy()
    workload.ours(_core, None, 16, "")()
    assert not np.array_equal(before, workload.targets[0])
    workload.restore()
    assert np.array_equal(before, workload.targets[0])


def test_the_same_seed_gives_the_same_operands():
    assert np.array_equal(Posv(50, np.float64).targets[1], Posv(50, np.float64).targets[1])
    assert not np.array_equal(Posv(50, np.float64).targets[1], Posv(50, np.float64, seed=5).targets[1])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("n", [1, 511, 513])
def test_positive_definite_operands_are_hermitian_throughout(n, dtype):
    (A,) = Potrf(n, dtype).targets
    assert np.array_equal(A, A.conj().T)
    assert lapack.get_lapack_funcs(("potrf",), (A,))[0](A)[1] == 0


def test_flop_counts_are_those_of_lapack_working_note_41():
    # n = 2: potrf takes two roots, one division, one multiplication and one subtraction.
    assert Potrf.flops(2, np.float64) == pytest.approx(5)
    assert WORKLOADS["gemm"].flops(10, np.float64) == 2000
    assert WORKLOADS["gemm"].flops(10, np.complex128) == 8000
    assert WORKLOADS["gemm"].flops(10, np.float64, m=20, k=3) == 1200
    assert WORKLOADS["symm"].flops(10, np.float64) == 2000
    assert WORKLOADS["trmm"].flops(10, np.float64) == WORKLOADS["trsm"].flops(10, np.float64) == 1000
    assert WORKLOADS["syrk"].flops(10, np.float64) == WORKLOADS["herk"].flops(10, np.float64) == 1100
    assert WORKLOADS["hemm"].flops(10, np.complex128) == 8000
    assert WORKLOADS["syr2k"].flops(10, np.float64) == WORKLOADS["her2k"].flops(10, np.float64) == 2010
    assert Posv.flops(30, np.float64) == Potrf.flops(30, np.float64) + WORKLOADS["potrs"].flops(30, np.float64)


def test_the_task_count_is_that_of_the_graph():
    assert [cholesky_tasks(rows) for rows in (1, 2, 3, 40)] == [1, 4, 10, 11480]
    assert _core.tasks(None, 12) == cholesky_tasks(12)


def test_more_memory_than_there_is_is_refused_before_it_is_touched():
    with pytest.raises(MemoryError, match="potrf with n = 3000000 needs .* GiB for its operands; .* GiB are available"):
        Potrf(3_000_000, np.float64)


def test_a_contestant_reports_seconds_and_idle_share():
    run = Ours(_core, _core.standard_session(), Job("potrf", 700)).run()
    assert run.seconds > 0 and 0 <= run.idle_fraction <= 1
