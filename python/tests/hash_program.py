"""Results of one way to call the library, as hashes: `hash_program.py JSON` with `way` and the session's options.

Ways: python (the session's calls), c (`trc_*` on a session made by options), fortran (the symbols, whose session the environment
chooses). Prints one JSON object, the hash of each case.
"""

import ctypes
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from trencadis import _core

DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def matrix(rows, cols, dtype, seed, shift=0, ld=0):
    """Column-major, `shift` elements behind an aligned address, with columns `ld` apart."""
    ld = ld or rows
    store = np.zeros(ld * cols + shift + 64, dtype)
    view = np.lib.stride_tricks.as_strided(store[shift:], (rows, cols), (store.itemsize, ld * store.itemsize))
    random = np.random.default_rng(seed)
    view[:] = random.random((rows, cols)) - 0.5
    if np.dtype(dtype).kind == "c":
        view[:] += 1j * (random.random((rows, cols)) - 0.5)
    return view


def definite(n, dtype, **how):
    view = matrix(n, n, dtype, 5, **how)
    view[:] = (view + view.conj().T) / 2
    view[np.diag_indices(n)] = view.diagonal().real + n
    return view


def hash_of(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(np.asarray(array).T).tobytes())
    return digest.hexdigest()[:16]


def python_cases(session, n, dtype, how):
    """The calls of the extension, in the order of LAPACK's names."""
    a, b, c = (matrix(n, n, dtype, seed, **how) for seed in (1, 2, 3))
    _core.gemm(session, "N", "T", 1.5, a, b, 0.5, c)
    yield "gemm", hash_of(c)
    c = matrix(n, n, dtype, 3, **how)
    _core.syrk(session, "L", "N", 1.5, a, 0.5, c)
    yield "syrk", hash_of(np.tril(c))
    c = definite(n, dtype, **how)
    _core.potrf(session, "L", c)
    yield "potrf", hash_of(np.tril(c))
    triangle, x = c.copy(order="F"), matrix(n, n // 3 + 1, dtype, 4, **how)
    _core.trsm(session, "L", "L", "N", "N", 1.0, triangle, x)
    yield "trsm", hash_of(x)
    x = matrix(n, n // 3 + 1, dtype, 4, **how)
    _core.trmm(session, "L", "L", "N", "N", 1.0, triangle, x)
    yield "trmm", hash_of(x)
    f, pivots = matrix(n, n, dtype, 6, **how), np.zeros(n, np.int64)
    _core.lapack("getrf", session, n, n, f, pivots)
    yield "getrf", hash_of(f, pivots)
    f, tau = matrix(n + n // 2, n, dtype, 7, **how), np.zeros(n, dtype)
    _core.lapack("geqrf", session, *f.shape, f, tau)
    yield "geqrf", hash_of(f, tau)
    f, x = matrix(n, n, dtype, 8, **how), matrix(n, 3, dtype, 9, **how)
    _core.lapack("gesv", session, n, 3, f, pivots, x)
    yield "gesv", hash_of(x)
    f, x = definite(n, dtype, **how), matrix(n, 3, dtype, 9, **how)
    _core.posv(session, "L", f, x)
    yield "posv", hash_of(x)


class Fortran:
    """potrf, getrf, geqrf and gemm in double precision by their symbols."""

    def __init__(self):
        folder = Path(_core.__file__).parents[2] / "build" / "lib"
        self._library = ctypes.CDLL(str(folder / "libtrencadis_lapack.so"))

    def __call__(self, name, *arguments):
        words = [ctypes.byref(ctypes.c_int(x)) if isinstance(x, int) else ctypes.byref(ctypes.c_double(x)) if isinstance(x, float)
                 else x.encode() if isinstance(x, str) else ctypes.c_void_p(x.ctypes.data) for x in arguments]  # fmt: skip
        getattr(self._library, f"d{name}_")(*words)

    def cases(self, n, how):
        ld = how.get("ld") or n
        a, b, c = (matrix(n, n, np.float64, seed, **how) for seed in (1, 2, 3))
        self("gemm", "N", "T", n, n, n, 1.5, a, ld, b, ld, 0.5, c, ld)
        yield "gemm", hash_of(c)
        c = definite(n, np.float64, **how)
        self("potrf", "L", n, c, ld, 0)
        yield "potrf", hash_of(np.tril(c))
        f, pivots = matrix(n, n, np.float64, 6, **how), np.zeros(n, np.int32)
        self("getrf", n, n, f, ld, pivots, 0)
        yield "getrf", hash_of(f, pivots.astype(np.int64))


class C:
    """The same by trc_*."""

    def __init__(self, options):
        folder = Path(_core.__file__).parents[2] / "build" / "lib"
        self._library = ctypes.CDLL(str(folder / "libtrencadis.so"))
        self._session = ctypes.c_void_p()
        words = " ".join(f"{key}={value}" for key, value in options.items()).encode()
        assert self._library.trc_session_create(ctypes.byref(self._session), words) == 0, words

    def cases(self, n, how):
        ld, info, wide, real = ctypes.c_int64(how.get("ld") or n), ctypes.c_int64(), ctypes.c_int64(n), ctypes.c_double
        at = lambda array: ctypes.c_void_p(array.ctypes.data)  # noqa: E731
        a, b, c = (matrix(n, n, np.float64, seed, **how) for seed in (1, 2, 3))
        letter = lambda text: ctypes.c_char(text.encode())  # noqa: E731
        code = self._library.trc_dgemm(self._session, letter("N"), letter("T"), wide, wide, wide, real(1.5), at(a), ld, at(b), ld,
                                       real(0.5), at(c), ld)  # fmt: skip
        assert code == 0
        yield "gemm", hash_of(c)
        c = definite(n, np.float64, **how)
        assert self._library.trc_dpotrf(self._session, letter("L"), wide, at(c), ld, ctypes.byref(info)) == 0
        yield "potrf", hash_of(np.tril(c))
        f, pivots = matrix(n, n, np.float64, 6, **how), np.zeros(n, np.int64)
        assert self._library.trc_dgetrf(self._session, wide, wide, at(f), ld, at(pivots), ctypes.byref(info)) == 0
        yield "getrf", hash_of(f, pivots)


def main():
    wish = json.loads(sys.argv[1])
    hashes = {}
    options = {**wish.get("options", {})}
    for n in wish["sizes"]:
        for letter in wish.get("precisions", "d"):
            how = {"shift": wish.get("shift", 0), "ld": n + wish["apart"] if wish.get("apart") else 0}
            if wish["way"] == "python":
                session = _core.Session(**options)
                found = python_cases(session, n, DTYPES[letter], how)
            else:
                found = (Fortran() if wish["way"] == "fortran" else C(options)).cases(n, how)
            hashes |= {f"{letter}{name} {n}": value for name, value in found}
    print(json.dumps(hashes))


if __name__ == "__main__":

    main()
