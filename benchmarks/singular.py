"""How many singular matrices of small integers a LAPACK's LU finds to be singular (docs/bits.md): of 1,000, by class and order.

    python benchmarks/singular.py build/lib/libtrencadis_lapack.so --count 20000
    LD_PRELOAD=/usr/lib/x86_64-linux-gnu/blas/libblas.so.3 python benchmarks/singular.py \
        /usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3     # the reference, on the reference BLAS

The matrices follow from class, order and precision alone, so that libraries can be compared; one library in a process.
"""

import argparse
import ctypes

import numpy as np

TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
ORDERS = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)


def integers(rng, shape, largest, is_complex):
    parts = [rng.integers(-largest, largest + 1, shape).astype(float) for _ in range(1 + is_complex)]
    return parts[0] + 1j * parts[1] if is_complex else parts[0]


def matrices(kind, n, count, is_complex):
    rng = np.random.default_rng([list(KINDS).index(kind), n])
    A = integers(rng, (count, n, n), 9, is_complex)
    if kind == "sum":
        A[:, n - 1] = A[:, 0] + A[:, 1] if n > 2 else 2 * A[:, 0]
    elif kind == "equal":
        A[:, :, n - 1] = A[:, :, 0]
    elif kind == "combination":
        A[:, n - 1] = np.einsum("ci,cij->cj", rng.integers(-2, 3, (count, n - 1)), A[:, : n - 1])
    else:
        k = n // 2
        A = integers(rng, (count, n, k), 3, is_complex) @ integers(rng, (count, k, n), 3, is_complex)
    return A


KINDS = {
    "sum": "a row is the sum of two",
    "equal": "two columns are equal",
    "combination": "a row is a combination of all others",
    "half": "products of n x n/2 and n/2 x n",
}


def found(getrf, A):
    """Of these matrices, each of whose pivots `getrf` looks at."""
    n, info, total = ctypes.c_int(A.shape[1]), ctypes.c_int(), 0
    pivots = (ctypes.c_int * A.shape[1])()
    for one in A:
        factors = np.asfortranarray(one)
        getrf(
            ctypes.byref(n), ctypes.byref(n), factors.ctypes.data_as(ctypes.c_void_p), ctypes.byref(n), pivots, ctypes.byref(info)
        )
        total += info.value > 0
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--precision", choices=TYPES, default="d")
    parser.add_argument("--count", type=int, default=1000, help="matrices of each class and order")
    wishes = parser.parse_args()
    getrf = getattr(ctypes.CDLL(wishes.library), f"{wishes.precision}getrf_")
    for kind, meaning in KINDS.items():
        for n in ORDERS:
            A = matrices(kind, n, wishes.count, wishes.precision in "cz").astype(TYPES[wishes.precision])
            print(f"{meaning}, n = {n}: {1000 * found(getrf, A) / wishes.count:.1f}", flush=True)


if __name__ == "__main__":
    main()
