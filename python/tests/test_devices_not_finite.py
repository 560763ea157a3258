"""Infinities and what is no number beside devices: in the entries, and with the INFO, of cores alone."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trencadis

# Knows nothing of devices: BLAS and LAPACK by SciPy.
PROGRAM = """
import pickle, sys
import numpy as np
from scipy.linalg import blas, lapack
rng, n, results = np.random.default_rng(1), 330, {}
def matrix(*spoilt):
    A = np.asfortranarray(rng.standard_normal((n, n)))
    for i, j, value in spoilt: A[i, j] = value
    return A
for word in ("nan", "inf", "-inf"):
    value = float(word)
    for at in ((0, 0), (3, 200), (n - 1, 7)):
        A, B, nothing = matrix((*at, value)), matrix(), np.full((n, n), np.nan, order="F")
        B[at[1], :20] = 0
        results["gemm", word, at] = blas.dgemm(1, A, B, 0, nothing)
        results["gemm, alpha 0", word, at] = blas.dgemm(0, A, B, 2, A)
        results["syrk", word, at] = np.tril(blas.dsyrk(1, A, 0, nothing, lower=1))
        T = np.asfortranarray(matrix() / n + 2 * np.eye(n))
        upper = np.triu_indices(n, 1)
        T[upper] = np.nan
        results["trsm", word, at] = blas.dtrsm(1, T, A, lower=1)
        S = B @ B.T + n * np.eye(n)
        S[max(at), min(at)], S[upper] = value, np.nan
        factor, info = lapack.dpotrf(S, lower=1, clean=0)
        results["potrf", word, at] = np.tril(factor) if info == 0 else np.zeros(1)
        results["info of potrf", word, at] = np.array(info)
        results["getrf", word, at], results["pivots", word, at], info = lapack.dgetrf(A)
        results["info of getrf", word, at] = np.array(info)
pickle.dump(results, sys.stdout.buffer)
"""


def results(devices=None, tile=None):
    environment = os.environ | {"LD_PRELOAD": str(Path(trencadis.__file__).parents[2] / "build/lib/libtrencadis_lapack.so")}
    environment |= {"TRENCADIS_DEVICES": devices} if devices else {}
    environment |= {"TRENCADIS_TILE": tile} if tile else {}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return pickle.loads(done.stdout)


@pytest.mark.parametrize(
    ("words", "tile"),  # None: the library's own; both memories have room for few tiles
    [
        ("emulated:2,always=yes", None),
        ("emulated:2,always=yes", "48"),
        ("emulated,factors=yes,memory=4MiB,always=yes", None),
        ("emulated,factors=yes,memory=200kB,always=yes", "48"),
    ],
)
def test_what_is_not_finite_is_where_cores_alone_have_it(words, tile):
    expected, seen = results(tile=tile), results(words, tile)
    assert expected.keys() == seen.keys()
    for case, values in expected.items():
        where = np.isfinite(values)
        assert (np.isfinite(seen[case]) == where).all(), case
        assert np.array_equal(np.where(where, 0, values), np.where(where, 0, seen[case]), equal_nan=True), case
        assert np.allclose(seen[case][where], values[where], rtol=0, atol=1e-9 * n_of(values)), case


def n_of(values):
    finite = np.abs(values[np.isfinite(values)])
    return 1 + (finite.max() if finite.size else 0)
