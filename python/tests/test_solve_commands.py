"""`trencadis solve` and `factor` for matrices that are not positive definite."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse
import trencadis as library
from commands import refusal, trencadis
from matrices import positive_definite, random_array, solve_error

GENERAL = random_array((90, 90), np.float64)
KINDS = {
    "gesv": GENERAL,
    "posv": positive_definite(90, np.float64),
    "trsm": np.tril(GENERAL) + 20 * np.eye(90),
}


def saved(folder, A, b):
    np.save(folder / "A.npy", A)
    np.save(folder / "b.npy", b)


@pytest.mark.parametrize("routine", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(90,), (90, 3)])
@pytest.mark.parametrize("options", [[], ["--assume", "general", "--nb", "16"]])
def test_solve_finds_the_routine_that_fits(tmp_path, routine, dtype, shape, options):
    A, b = np.asarray(KINDS[routine], dtype, order="F"), random_array(shape, dtype, seed=1)
    saved(tmp_path, A, b)
    out, err = trencadis("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", *options, cwd=tmp_path)
    row = json.loads(out)
    assert err == "" and row["routine"] == routine and row["residual"] < 30 and row["nrhs"] == b[:1].size
    x = np.load(tmp_path / "x.npy")
    assert x.shape == shape and x.dtype == dtype and solve_error(A, x, b) < 10
    expected = 1 / np.linalg.cond(A, 1)
    assert expected * 0.9 < row["rcond"] < expected * 4  # an estimate is never below, seldom above three times


@pytest.mark.parametrize("routine", ["gesv", "posv"])
def test_solve_and_factor_take_devices_and_say_so(tmp_path, routine):
    devices = "emulated:1,always=yes"
    saved(tmp_path, KINDS[routine], np.ones(90))
    method = {"gesv": "lu", "posv": "cholesky"}[routine]
    for command in (["solve", "A.npy", "b.npy"], ["factor", "A.npy", "--method", method]):
        words = [*command, "--nb", "16", "--devices", devices]
        row = json.loads(trencadis(*words, "--json", cwd=tmp_path)[0])
        assert (row["devices"], row["emulated"]) == (devices, True) and row["residual"] < 30
        assert f"devices {devices}, whose speed is emulated" in trencadis(*words, cwd=tmp_path)[0]
        assert "devices" not in json.loads(trencadis(*command, "--json", cwd=tmp_path)[0])
        assert "did you mean 'emulated'" in refusal(*command, "--devices", "emulatd:1", cwd=tmp_path)


def test_an_upper_triangle_and_an_indefinite_matrix_are_solved(tmp_path):
    indefinite = positive_definite(40, np.float64)
    indefinite[20, 0] = indefinite[0, 20] = 50  # the diagonal is positive: the Cholesky factorization finds out
    for A, routine in ((np.triu(GENERAL) + 20 * np.eye(90), "trsm"), (indefinite, "gesv"), (-indefinite, "gesv")):
        saved(tmp_path, A, np.ones((len(A), 2)))
        row = json.loads(trencadis("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", cwd=tmp_path)[0])
        assert row["routine"] == routine and solve_error(A, np.load(tmp_path / "x.npy"), np.ones((len(A), 2))) < 10


@pytest.mark.parametrize(
    ("A", "words"),
    [
        (np.ones((5, 5)), "A.npy: is singular: pivot 2 of its LU factorization is exactly zero"),
        (GENERAL * (np.arange(90) != 70), "A.npy: is singular: pivot 71 of its LU factorization is exactly zero"),
        (np.diag([1.0, 2, 0, 4]), "A.npy: is singular: it is triangular, and element [2, 2] is zero"),
    ],
)
def test_singular_is_exit_1_and_names_the_pivot(tmp_path, A, words):
    saved(tmp_path, A, np.ones(len(A)))
    assert words in refusal("solve", "A.npy", "b.npy", "-o", "x.npy", cwd=tmp_path, code=1)
    assert not (tmp_path / "x.npy").exists()


def test_ill_conditioned_is_told_and_solved(tmp_path):
    saved(tmp_path, GENERAL * np.geomspace(1, 1e-19, 90)[:, None], np.ones(90))
    out, err = trencadis("solve", "A.npy", "b.npy", "-o", "x.npy", cwd=tmp_path)
    assert err.startswith("trencadis: A.npy is ill-conditioned: its reciprocal condition is about ") and err.count("\n") == 1
    assert "reciprocal condition" in out and (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("shape", [(90, 90), (90, 40), (40, 90), (1, 1), (0, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_factor_by_lu_writes_what_lu_solve_takes(tmp_path, shape, dtype):
    A = random_array(shape, dtype)
    np.save(tmp_path / "A.npy", A)
    out, err = trencadis("factor", "A.npy", "--method", "lu", "-o", "F.npz", "--json", cwd=tmp_path)
    row = json.loads(out)
    assert err == "" and row["routine"] == "getrf" and (row["m"], row["n"]) == shape
    with np.load(tmp_path / "F.npz") as F:
        lu, piv = F["lu"], F["piv"]
    if A.size:
        expected = scipy.linalg.lu_factor(A)
        assert row["residual"] < 30 and np.array_equal(piv, expected[1]) and np.allclose(lu, expected[0], atol=1e-4)
    if shape == (90, 90):
        assert solve_error(A, library.lu_solve((lu, piv), np.ones(90, dtype)), np.ones(90, dtype)) < 10


def test_factor_by_lu_names_the_pivot_that_is_zero(tmp_path):
    A = random_array((50, 50), np.float64)
    A[:, 33] = 0
    np.save(tmp_path / "A.npy", A)
    out, err = trencadis("factor", "A.npy", "--method", "lu", "-o", "F.npz", cwd=tmp_path, code=1)
    assert err == "trencadis: A.npy: is singular: pivot 34 of its LU factorization is exactly zero\n"
    assert "factored A = P L U" in out
    with np.load(tmp_path / "F.npz") as F:
        lu, piv = F["lu"], F["piv"]
    expected = scipy.linalg.lu_factor(A)
    assert np.array_equal(piv, expected[1]) and np.allclose(lu, expected[0]), "complete all the same"


def test_a_general_sparse_file_is_solved(tmp_path):
    matrix = scipy.sparse.random_array((30, 30), density=0.2, rng=1) + 3 * scipy.sparse.eye_array(30)
    scipy.io.mmwrite(tmp_path / "A.mtx", matrix)
    np.save(tmp_path / "b.npy", np.ones(30))
    row = json.loads(trencadis("solve", "A.mtx", "b.npy", "-o", "x.mtx", "--json", cwd=tmp_path)[0])
    assert row["routine"] == "gesv"
    assert np.allclose(matrix @ scipy.io.mmread(tmp_path / "x.mtx")[:, 0], 1)


def test_what_is_refused_is_refused_in_one_line_whatever_else_there_is_to_say(tmp_path):
    scipy.io.mmwrite(tmp_path / "A.mtx", scipy.sparse.coo_array(np.ones((3, 2))))
    np.save(tmp_path / "b.npy", np.ones(3))
    for words in (["solve", "A.mtx", "b.npy"], ["factor", "A.mtx", "--method", "cholesky"]):
        assert "a square matrix is needed" in refusal(*words, cwd=tmp_path)
    np.save(tmp_path / "A.npy", np.full((3, 3), np.longdouble("1e4000")))
    assert "is inf; all must be finite" in refusal("solve", "A.npy", "b.npy", cwd=tmp_path)
    assert "is inf; all must be finite" in refusal("factor", "A.npy", "--method", "lu", cwd=tmp_path)


@pytest.mark.parametrize("shape", [(90, 90), (90, 40), (40, 90), (1, 1), (5, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("columns", [None, 3])
def test_least_squares_by_qr(tmp_path, shape, dtype, columns):
    A, b = random_array(shape, dtype), random_array(shape[:1] if columns is None else (shape[0], columns), dtype, seed=1)
    saved(tmp_path, A, b)
    out, err = trencadis(
        "solve", "A.npy", "b.npy", "--assume", "least-squares", "-o", "x.npy", "--json", cwd=tmp_path
    )
    row = json.loads(out)
    assert err == "" and row["routine"] == "gels" and (row["m"], row["n"]) == shape and row["rank"] == min(shape)
    assert row["residual"] < 10 and 0 < row["rcond"] <= 1
    x = np.load(tmp_path / "x.npy")
    expected = scipy.linalg.lstsq(A, b)[0]
    assert x.shape == expected.shape and x.dtype == dtype
    assert np.abs(x - expected).max() < 1e6 * np.finfo(dtype).eps * np.abs(expected).max()


def test_least_squares_of_a_rank_that_is_not_full_are_told(tmp_path):
    A = random_array((30, 4), float) @ random_array((4, 12), float, seed=1)
    saved(tmp_path, A, np.ones(30))
    out, err = trencadis("solve", "A.npy", "b.npy", "--assume", "least-squares", "-o", "x.npy", "--json", cwd=tmp_path)
    row = json.loads(out)
    assert err.startswith("trencadis: A.npy has the rank 4 of 12 to working precision;") and err.count("\n") == 1
    assert row["routine"] == "gelsd" and row["rank"] == 4 and row["residual"] < 10 and row["gflops"] is None
    assert np.allclose(np.load(tmp_path / "x.npy"), scipy.linalg.lstsq(A, np.ones(30))[0])


@pytest.mark.parametrize("shape", [(90, 90), (90, 40), (40, 90), (1, 1), (0, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_factor_by_qr_writes_what_scipys_raw_mode_returns(tmp_path, shape, dtype):
    A = random_array(shape, dtype)
    np.save(tmp_path / "A.npy", A)
    out, err = trencadis("factor", "A.npy", "--method", "qr", "-o", "F.npz", "--json", cwd=tmp_path)
    row = json.loads(out)
    assert err == "" and row["routine"] == "geqrf" and (row["m"], row["n"]) == shape
    written = np.load(tmp_path / "F.npz")
    assert set(written) == {"qr", "tau"} and written["qr"].dtype == dtype
    if A.size:
        assert row["residual"] < 10
        (factors, tau), _ = scipy.linalg.qr(A, mode="raw")
        bound = 1e4 * np.finfo(dtype).eps
        assert np.abs(written["qr"] - factors).max() < bound and np.abs(written["tau"] - tau).max() < bound


@pytest.mark.parametrize(("assume", "rows"), [("general", 40), ("least-squares", 70)])
@pytest.mark.parametrize(("of_A", "of_b"), [(1e300, 1e300), (1e-300, 1e-300), (1e300, 1), (1, 1e300), (1e-305, 1e-300)])
def test_the_residual_of_a_system_near_the_ends_of_the_range_is_a_number(tmp_path, assume, rows, of_A, of_b):
    np.save(tmp_path / "A.npy", random_array((rows, 40), np.float64) * of_A)
    np.save(tmp_path / "b.npy", random_array(rows, np.float64) * of_b)
    out, err = trencadis("solve", "A.npy", "b.npy", "--assume", assume, "--json", cwd=tmp_path)
    assert err == "" and 0 < json.loads(out)["residual"] < 30


@pytest.mark.parametrize("assume", ["general", "least-squares"])
def test_a_solution_that_overflows_is_said_to_and_has_no_residual(tmp_path, assume):
    np.save(tmp_path / "A.npy", np.eye(20) * 1e-310 + np.diag(np.full(19, 1e-311), 1) + np.diag(np.full(19, 2e-311), -1))
    np.save(tmp_path / "b.npy", np.ones(20))
    out, err = trencadis("solve", "A.npy", "b.npy", "--assume", assume, "--json", cwd=tmp_path)
    assert json.loads(out)["residual"] is None
    assert "elements of X are beyond the largest float64 number, 1.8e+308" in err and "Runtime" not in err
