"""Matrices for the tests: random ones print their seed through the test's parameters."""

import numpy as np

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
SIZES = [1, 2, 3, 63, 64, 65, 200, 513]  # around tile and block sizes, and a ragged larger one


def random_array(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        array = array + 1j * rng.standard_normal(shape)
    return array.astype(dtype)


def positive_definite(n, dtype, seed=0):
    """Condition number of a few: G G^H / n + I for a random G."""
    G = random_array((n, n), np.complex128 if np.dtype(dtype).kind == "c" else np.float64, seed)
    A = G @ G.conj().T / max(n, 1) + np.eye(n)
    return ((A + A.conj().T) / 2).astype(dtype)


def layouts(a):
    """The same matrix stored in every way a caller may have it; by name."""
    n, m = a.shape
    wide = np.zeros((n + 3, m + 5), a.dtype)
    wide[2 : 2 + n, 4 : 4 + m] = a
    strided = np.zeros((2 * n, 3 * m), a.dtype)
    strided[::2, ::3] = a
    return {
        "C": np.ascontiguousarray(a),
        "F": np.asfortranarray(a),
        "C padded": wide[2 : 2 + n, 4 : 4 + m],
        "F padded": np.asfortranarray(wide)[2 : 2 + n, 4 : 4 + m],
        "strided": strided[::2, ::3],
        "reversed": np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
        "read-only": _read_only(a),
    }


def _read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def eps(dtype):
    return np.finfo(dtype).eps


def solve_error(A, X, B):
    """max_j |b_j - A x_j| / (|A| |x_j| n eps), which backward stability bounds by a modest constant (Higham 2002, theorem 10.3:
    at most 4 (3n + 1) eps with the factor's norm; 10 has never been seen)."""
    X2, B2 = X.reshape(len(X), -1), B.reshape(len(B), -1)
    error = np.abs(B2 - A @ X2).sum(0) / (np.abs(A).sum(0).max() * np.abs(X2).sum(0) * len(A) * eps(A.dtype))
    return error.max()
