"""What `bench`, `compare` and `trace` run: operands from a seed, one call, flop count, residual, per routine.

A workload knows its call twice, for our library and for a BLAS and LAPACK with Fortran symbols, on the same operands. The
inputs are column-major n x n (of gemm also of other shapes), entries uniform in (-0.5, 0.5) with both parts random for complex;
positive definite ones are Hermitian with n added to the diagonal, triangular ones to solve with likewise, so that both are well
conditioned. `restore` brings the operands that a call overwrites back to their first state. Flop counts are those of the
library's table of routines: LAPACK's, a complex multiplication counted as 6 and a complex addition as 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from . import _core
from .fortran import FortranCall, FortranLibrary

SEED = 20261
#: Right sides of potrs and posv.
RIGHT_SIDES = 1
#: Columns handled at once where a residual needs a product as large as a matrix.
_BLOCK = 512

Call = Callable[[], int]


class Workload:
    """One routine on operands of order n. `targets` are overwritten by a call and restored from `_pristine`."""

    routine: ClassVar[str]
    #: n x n arrays held, pristine copies included; memory is checked against it before anything is allocated.
    squares: ClassVar[int]
    #: Whether a call adds to its target: then the next one may follow without a restoration, at the same speed and within range.
    adds: ClassVar[bool] = False

    def __init__(self, n: int, dtype: type[np.generic], seed: int = SEED) -> None:
        self.n = n
        self.dtype = np.dtype(dtype)
        _require_memory(self.elements() * self.dtype.itemsize, f"{self.routine} with {self.size()}")
        self._random = np.random.default_rng(seed)
        self._pristine = [np.asfortranarray(array) for array in self.operands()]
        self.targets = [np.empty_like(array, order="F") for array in self._pristine]
        self.restore()

    def elements(self) -> int:
        """Numbers in all arrays held."""
        return self.squares * self.n * self.n

    def size(self) -> str:
        """As messages name it."""
        return f"n = {self.n}"

    def operands(self) -> list[np.ndarray]:
        """The first state of the arrays that a call overwrites; other inputs are kept by the subclass."""
        raise NotImplementedError

    def restore(self) -> None:
        """Brings the overwritten operands back. Not part of any timing."""
        for target, pristine in zip(self.targets, self._pristine, strict=True):
            np.copyto(target, pristine)

    def restores(self) -> list[tuple[int, int, int]]:
        """What to copy before each of many calls in a row: to, from, bytes."""
        pairs = [] if self.adds else zip(self.targets, self._pristine, strict=True)
        return [(target.ctypes.data, pristine.ctypes.data, target.nbytes) for target, pristine in pairs]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        """Our call, ready to be timed; it returns LAPACK's info."""
        raise NotImplementedError

    def vendor(self, library: FortranLibrary) -> FortranCall:
        """The same call of a BLAS and LAPACK library."""
        raise NotImplementedError

    @classmethod
    def flops(cls, n: int, dtype: type[np.generic], **shape: int) -> float:
        """`shape`: the other extents where the routine has them, as its constructor takes them."""
        return _core.routine_flops(cls.routine, np.dtype(dtype).kind == "c", n, nrhs=RIGHT_SIDES, **shape)

    def residual(self) -> float:
        """LAPACK's test ratio of the last call: an error relative to n ||A|| eps; of order 1 when all is well."""
        raise NotImplementedError

    def _eps(self) -> float:
        return float(np.finfo(self.dtype).eps) / 2  # LAPACK's dlamch('Epsilon'): half of the spacing at 1

    def _matrix(self, columns: int | None = None, rows: int | None = None) -> np.ndarray:
        columns = self.n if columns is None else columns
        rows = self.n if rows is None else rows
        real = np.dtype(self.dtype.type(0).real.dtype)
        parts = 2 if self.dtype.kind == "c" else 1
        by_columns = self._random.random((columns, parts * rows), dtype=real)
        by_columns -= real.type(0.5)
        return by_columns.view(self.dtype).T

    def _dominant(self) -> np.ndarray:
        matrix = self._matrix()
        matrix[np.diag_indices(self.n)] = matrix.diagonal().real + self.n
        return matrix

    def _positive_definite(self) -> np.ndarray:
        matrix = self._dominant()
        for first in range(0, self.n, _BLOCK):
            block = slice(first, first + _BLOCK)
            corner = np.tril(matrix[block, block])
            matrix[block, block] = corner + np.tril(corner, -1).conj().T
            matrix[block, first + _BLOCK :] = matrix[first + _BLOCK :, block].conj().T
        return matrix


class Gemm(Workload):
    """C <- A B + C, C m x n and the sum k long; all of them n unless given."""

    routine, adds = "gemm", True

    def __init__(self, n: int, dtype: type[np.generic], seed: int = SEED, m: int = 0, k: int = 0) -> None:
        self.m, self.k = m or n, k or n
        super().__init__(n, dtype, seed)

    def elements(self) -> int:
        return self.m * self.k + self.k * self.n + 2 * self.m * self.n

    def size(self) -> str:
        square = self.m == self.n == self.k
        return super().size() if square else f"m = {self.m}, n = {self.n}, k = {self.k}"

    def operands(self) -> list[np.ndarray]:
        self._a, self._b = self._matrix(self.k, self.m), self._matrix(self.n, self.k)
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.gemm(session, "N", "N", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, k, (c,), one = self.m, self.n, self.k, self.targets, self.dtype.type(1)
        return library.call("gemm", self.dtype, "N", "N", m, n, k, one, self._a, m, self._b, k, one, c, m)

    def residual(self) -> float:
        """||C - (A B + C0)|| / (k ||A|| ||B|| eps) against numpy's product."""
        error = _norm(self.targets[0], lambda block: self._a @ self._b[:, block] + self._pristine[0][:, block])
        return error / (self.k * _norm(self._a) * _norm(self._b) * self._eps())


class Symm(Workload):
    """C <- A B + C, A symmetric and read in its lower triangle, all n x n."""

    routine, squares, adds = "symm", 4, True

    def operands(self) -> list[np.ndarray]:
        self._a, self._b = self._matrix(), self._matrix()
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.symm(session, "L", "L", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (c,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("symm", self.dtype, "L", "L", n, n, one, self._a, n, self._b, n, one, c, n)

    def residual(self) -> float:
        """||C - (A B + C0)|| / (n ||A|| ||B|| eps)."""
        full = self._full()
        error = _norm(self.targets[0], lambda block: full @ self._b[:, block] + self._pristine[0][:, block])
        return error / (self.n * _norm(full) * _norm(self._b) * self._eps())

    def _full(self) -> np.ndarray:
        return np.tril(self._a) + np.tril(self._a, -1).T


class Hemm(Symm):
    """C <- A B + C, A Hermitian and read in its lower triangle, all n x n. For real scalars it is symm."""

    routine = "hemm"

    def operands(self) -> list[np.ndarray]:
        pristine = super().operands()
        self._a[np.diag_indices(self.n)] = self._a.diagonal().real
        return pristine

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.hemm(session, "L", "L", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        n, (c,), one = self.n, self.targets, self.dtype.type(1)
        name = "hemm" if self.dtype.kind == "c" else "symm"
        return library.call(name, self.dtype, "L", "L", n, n, one, self._a, n, self._b, n, one, c, n)

    def _full(self) -> np.ndarray:
        return np.tril(self._a) + np.tril(self._a, -1).conj().T


class Syrk(Workload):
    """C <- A A^T + C in the lower triangle, A and C n x n."""

    routine, squares, adds = "syrk", 3, True

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix()
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.syrk(session, "L", "N", 1, self._a, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (c,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("syrk", self.dtype, "L", "N", n, n, one, self._a, n, one, c, n)

    def residual(self) -> float:
        """||C - (A A^T + C0)|| / (n ||A||^2 eps), the upper triangle taken as left alone."""
        return _rank_residual(self, self._a, lambda rows: self._a @ self._a[rows, :].T)


class Herk(Syrk):
    """C <- A A^H + C in the lower triangle, A and C n x n. For real scalars it is syrk."""

    routine = "herk"

    def operands(self) -> list[np.ndarray]:
        return _with_real_diagonals(super().operands())

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.herk(session, "L", "N", 1, self._a, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        if self.dtype.kind != "c":
            return super().vendor(library)
        n, (c,), one = self.n, self.targets, _real_one(self.dtype)
        return library.call("herk", self.dtype, "L", "N", n, n, one, self._a, n, one, c, n)

    def residual(self) -> float:
        """||C - (A A^H + C0)|| / (n ||A||^2 eps), the upper triangle taken as left alone."""
        return _rank_residual(self, self._a, lambda rows: self._a @ self._a[rows, :].conj().T)


class Syr2k(Workload):
    """C <- A B^T + B A^T + C in the lower triangle, all n x n."""

    routine, squares = "syr2k", 4

    def operands(self) -> list[np.ndarray]:
        self._a, self._b = self._matrix(), self._matrix()
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.syr2k(session, "L", "N", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        n, (c,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("syr2k", self.dtype, "L", "N", n, n, one, self._a, n, self._b, n, one, c, n)

    def residual(self) -> float:
        """||C - (A B^T + B A^T + C0)|| / (2 n ||A|| ||B|| eps), the upper triangle taken as left alone."""
        return _rank_residual(self, self._a, lambda rows: self._a @ self._b[rows, :].T + self._b @ self._a[rows, :].T, self._b)


class Her2k(Syr2k):
    """C <- A B^H + B A^H + C in the lower triangle, all n x n. For real scalars it is syr2k."""

    routine = "her2k"

    def operands(self) -> list[np.ndarray]:
        return _with_real_diagonals(super().operands())

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.her2k(session, "L", "N", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        if self.dtype.kind != "c":
            return super().vendor(library)
        n, (c,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("her2k", self.dtype, "L", "N", n, n, one, self._a, n, self._b, n, _real_one(self.dtype), c, n)

    def residual(self) -> float:
        """||C - (A B^H + B A^H + C0)|| / (2 n ||A|| ||B|| eps), the upper triangle taken as left alone."""
        a, b = self._a, self._b
        return _rank_residual(self, a, lambda rows: a @ b[rows, :].conj().T + b @ a[rows, :].conj().T, b)


class Trsm(Workload):
    """B <- L^-1 B, L lower triangular, both n x n."""

    routine, squares = "trsm", 3

    def operands(self) -> list[np.ndarray]:
        self._a = self._dominant()
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.trsm(session, "L", "L", "N", "N", 1, self._a, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("trsm", self.dtype, "L", "L", "N", "N", n, n, one, self._a, n, b, n)

    def residual(self) -> float:
        """||L X - B|| / (n ||L|| ||X|| eps)."""
        lower, x = np.tril(self._a), self.targets[0]
        return _norm(self._pristine[0], lambda block: lower @ x[:, block]) / (self.n * _norm(lower) * _norm(x) * self._eps())


class Trmm(Workload):
    """B <- L B, L lower triangular, both n x n."""

    routine, squares = "trmm", 3

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix()
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.trmm(session, "L", "L", "N", "N", 1, self._a, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,), one = self.n, self.targets, self.dtype.type(1)
        return library.call("trmm", self.dtype, "L", "L", "N", "N", n, n, one, self._a, n, b, n)

    def residual(self) -> float:
        """||X - L B|| / (n ||L|| ||B|| eps)."""
        lower, (b,) = np.tril(self._a), self._pristine
        return _norm(self.targets[0], lambda block: lower @ b[:, block]) / (self.n * _norm(lower) * _norm(b) * self._eps())


class Potrf(Workload):
    """A = L L^H in place in the lower triangle."""

    routine, squares = "potrf", 2

    def operands(self) -> list[np.ndarray]:
        return [self._positive_definite()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.potrf(session, "L", a, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        return library.call("potrf", self.dtype, "L", self.n, self.targets[0], self.n, library.info)

    def residual(self) -> float:
        """||A - L L^H|| / (n ||A|| eps)."""
        (a,) = self._pristine
        lower = np.tril(self.targets[0])
        return _norm(a, lambda block: lower @ lower[block, :].conj().T) / (self.n * _norm(a) * self._eps())


class _Solve(Workload):
    """Shared by potrs and posv: the right side and its residual. `_a` is the matrix before any factorisation."""

    _a: np.ndarray

    def residual(self) -> float:
        """max over right sides of ||b - A x|| / (||A|| ||x|| eps)."""
        b, x = self._pristine[-1], self.targets[-1]
        errors = np.abs(b - self._a @ x).sum(axis=0) / np.abs(x).sum(axis=0)
        return float(errors.max()) / (_norm(self._a) * self._eps())


class Potrs(_Solve):
    """X = A^-1 B with the factor of A, RIGHT_SIDES right sides."""

    routine, squares = "potrs", 3

    def operands(self) -> list[np.ndarray]:
        self._a = self._positive_definite()
        self._factor = np.asfortranarray(np.linalg.cholesky(self._a))
        return [self._matrix(RIGHT_SIDES)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.potrs(session, "L", self._factor, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,) = self.n, self.targets
        return library.call("potrs", self.dtype, "L", n, RIGHT_SIDES, self._factor, n, b, n, library.info)


class Posv(_Solve):
    """potrf, then potrs with RIGHT_SIDES right sides."""

    routine, squares = "posv", 2

    def operands(self) -> list[np.ndarray]:
        self._a = self._positive_definite()
        return [self._a, self._matrix(RIGHT_SIDES)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        a, b = self.targets
        return lambda: core.posv(session, "L", a, b, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (a, b) = self.n, self.targets
        return library.call("posv", self.dtype, "L", n, RIGHT_SIDES, a, n, b, n, library.info)


class Getrf(Workload):
    """P A = L U in place."""

    routine, squares = "getrf", 2

    def operands(self) -> list[np.ndarray]:
        self._ipiv = np.empty(self.n, np.int64)
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack("getrf", session, self.n, self.n, a, self._ipiv, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        self._ipiv = np.empty(self.n, library.integer)
        return library.call("getrf", self.dtype, self.n, self.n, self.targets[0], self.n, self._ipiv, library.info)

    def residual(self) -> float:
        """||P A - L U|| / (n ||A|| eps)."""
        (a,), (factors,) = self._pristine, self.targets
        rows = np.arange(self.n)
        for i, other in enumerate(self._ipiv):
            rows[[i, other - 1]] = rows[[other - 1, i]]
        lower, upper = np.tril(factors, -1) + np.eye(self.n, dtype=self.dtype), np.triu(factors)
        return _norm(a[rows], lambda block: lower @ upper[:, block]) / (self.n * _norm(a) * self._eps())


class Getrs(_Solve):
    """X = A^-1 B with the factors of A, RIGHT_SIDES right sides."""

    routine, squares = "getrs", 3

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix()
        self._factors, self._ipiv = self._a.copy(order="F"), np.empty(self.n, np.int64)
        _core.lapack("getrf", None, self.n, self.n, self._factors, self._ipiv)
        return [self._matrix(RIGHT_SIDES)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.lapack(
            "getrs", session, "N", self.n, RIGHT_SIDES, self._factors, self._ipiv, b, nb=nb, variant=variant
        )

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,) = self.n, self.targets
        self._ipiv = self._ipiv.astype(library.integer)
        return library.call("getrs", self.dtype, "N", n, RIGHT_SIDES, self._factors, n, self._ipiv, b, n, library.info)


class Getri(Workload):
    """A^-1 from the factors of A."""

    routine, squares = "getri", 3

    def operands(self) -> list[np.ndarray]:
        self._a = self._dominant()
        factors, self._ipiv = self._a.copy(order="F"), np.empty(self.n, np.int64)
        _core.lapack("getrf", None, self.n, self.n, factors, self._ipiv)
        return [factors]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack("getri", session, self.n, a, self._ipiv, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (a,) = self.n, self.targets
        self._ipiv = self._ipiv.astype(library.integer)
        self._work = np.empty(64 * n, self.dtype)
        return library.call("getri", self.dtype, n, a, n, self._ipiv, self._work, 64 * n, library.info)

    def residual(self) -> float:
        """||I - A X|| / (n ||A|| ||X|| eps)."""
        error = _from_identity(lambda block: self._a @ self.targets[0][:, block], self.n)
        return error / (self.n * _norm(self._a) * _norm(self.targets[0]) * self._eps())


class Gesv(_Solve):
    """getrf, then getrs with RIGHT_SIDES right sides."""

    routine, squares = "gesv", 2

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix()
        self._ipiv = np.empty(self.n, np.int64)
        return [self._a, self._matrix(RIGHT_SIDES)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        a, b = self.targets
        return lambda: core.lapack("gesv", session, self.n, RIGHT_SIDES, a, self._ipiv, b, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (a, b) = self.n, self.targets
        self._ipiv = np.empty(n, library.integer)
        return library.call("gesv", self.dtype, n, RIGHT_SIDES, a, n, self._ipiv, b, n, library.info)


class Trtri(Workload):
    """L <- L^-1, L lower triangular."""

    routine, squares = "trtri", 2

    def operands(self) -> list[np.ndarray]:
        return [self._dominant()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack("trtri", session, "L", "N", self.n, a, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        return library.call("trtri", self.dtype, "L", "N", self.n, self.targets[0], self.n, library.info)

    def residual(self) -> float:
        """||I - L X|| / (n ||L|| ||X|| eps)."""
        lower, inverse = np.tril(self._pristine[0]), np.tril(self.targets[0])
        return _from_identity(lambda block: lower @ inverse[:, block], self.n) / (
            self.n * _norm(lower) * _norm(inverse) * self._eps()
        )


class Lauum(Workload):
    """A <- L^H L in the lower triangle. LAPACK takes the diagonal to be real, as a Cholesky factor's is."""

    routine, squares = "lauum", 2

    def operands(self) -> list[np.ndarray]:
        return _with_real_diagonals([self._matrix()])

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack(self.routine, session, "L", self.n, a, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        return library.call(self.routine, self.dtype, "L", self.n, self.targets[0], self.n, library.info)

    def residual(self) -> float:
        """||A - L^H L|| / (n ||L||^2 eps) in the lower triangle."""
        lower, result = np.tril(self._pristine[0]), np.tril(self.targets[0])
        error = _norm(result, lambda block: np.tril(lower.conj().T @ lower[:, block], -block.start))
        return error / (self.n * _norm(lower) * _norm(lower.conj().T) * self._eps())


class Potri(Lauum):
    """A^-1 in the lower triangle from the Cholesky factor of A."""

    routine, squares = "potri", 4

    def operands(self) -> list[np.ndarray]:
        self._a = self._positive_definite()
        return [np.asfortranarray(np.linalg.cholesky(self._a))]

    def residual(self) -> float:
        """||I - A X|| / (n ||A|| ||X|| eps)."""
        inverse = np.tril(self.targets[0])
        inverse += np.tril(inverse, -1).conj().T
        error = _from_identity(lambda block: self._a @ inverse[:, block], self.n)
        return error / (self.n * _norm(self._a) * _norm(inverse) * self._eps())


WORKLOADS: dict[str, type[Workload]] = {
    cls.routine: cls
    for cls in (
        Gemm,
        Symm,
        Hemm,
        Syrk,
        Herk,
        Syr2k,
        Her2k,
        Trmm,
        Trsm,
        Potrf,
        Potrs,
        Posv,
        Getrf,
        Getrs,
        Getri,
        Gesv,
        Trtri,
        Lauum,
        Potri,
    )
}


def cholesky_tasks(rows: int) -> int:
    """Tasks of the tile Cholesky graph with so many tile rows: r (r + 1) (r + 2) / 6."""
    return rows * (rows + 1) * (rows + 2) // 6


def _with_real_diagonals(matrices: list[np.ndarray]) -> list[np.ndarray]:
    """BLAS's Hermitian matrices: an imaginary part on the diagonal is not read."""
    for matrix in matrices:
        matrix[np.diag_indices(len(matrix))] = matrix.diagonal().real
    return matrices


def _real_one(dtype: np.dtype) -> np.generic:
    return dtype.type(1).real.dtype.type(1)


def _rank_residual(work: Workload, a: np.ndarray, update: Callable[[slice], np.ndarray], b: np.ndarray | None = None) -> float:
    """Of an update of the lower triangle; `update` gives columns of what is added to the whole."""
    (c,), (before,) = work.targets, work._pristine
    error = _norm(c, lambda block: before[:, block] + np.tril(update(block), -block.start))
    scale = _norm(a) ** 2 if b is None else 2 * _norm(a) * _norm(b)
    return error / (work.n * scale * float(np.finfo(work.dtype).eps) / 2)


def _norm(matrix: np.ndarray, minus: Callable[[slice], np.ndarray] | None = None) -> float:
    """1-norm of a matrix, or of its difference from another that `minus` gives by column blocks."""
    largest = 0.0
    for first in range(0, matrix.shape[1], _BLOCK):
        block = slice(first, min(first + _BLOCK, matrix.shape[1]))
        columns = matrix[:, block] if minus is None else matrix[:, block] - minus(block)
        # numpy's max carries a NaN on, and so must this one: a NaN is the worst residual, not none.
        largest = float(np.max([largest, np.abs(columns).sum(axis=0).max()]))
    return largest


def _from_identity(columns: Callable[[slice], np.ndarray], n: int) -> float:
    """1-norm of what a product that should be the identity differs from it by."""
    return max((_norm(columns(slice(i, i + _BLOCK)) - np.eye(n)[:, i : i + _BLOCK]) for i in range(0, n, _BLOCK)), default=0.0)


def _require_memory(needed: int, what: str) -> None:
    available = _core.available_memory()
    if needed > available:
        raise MemoryError(f"{what} needs {needed / 2**30:.1f} GiB for its operands; {available / 2**30:.1f} GiB are available")
