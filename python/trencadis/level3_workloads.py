"""Matrix products and triangular solves as `bench`, `compare` and `trace` run them; see workload.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .fortran import FortranCall, FortranLibrary
from .workload import Call, Workload, norm, with_real_diagonals


class Gemm(Workload):
    """C <- op(A) op(B) + C, C m x n and the sum k long; all of them n unless given. `transpose` has BLAS's letters of both."""

    routine, adds, shapes = "gemm", True, "MxNxK"

    def __init__(self, n: int, dtype: type[np.generic], transpose: str = "NN", **other: int) -> None:
        self._letters = transpose
        super().__init__(n, dtype, **other)

    def elements(self) -> int:
        return self.m * self.k + self.k * self.n + 2 * self.m * self.n

    def size(self) -> str:
        square = self.m == self.n == self.k
        return super().size() if square else f"m = {self.m}, n = {self.n}, k = {self.k}"

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        return "" if k else "a product has three extents"

    def operands(self) -> list[np.ndarray]:
        a, b = [(self.m, self.k), (self.k, self.n)]
        self._a, self._b = [
            self._matrix(*(extents if letter != "N" else extents[::-1]))
            for letter, extents in zip(self._letters, (a, b), strict=True)
        ]
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,), (a, b) = self.targets, self._letters
        return lambda: core.gemm(session, a, b, 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, k, (c,), one, (a, b) = self.m, self.n, self.k, self.targets, self.dtype.type(1), self._letters
        return library.call(
            "gemm", self.dtype, a, b, m, n, k, one, self._a, len(self._a), self._b, len(self._b), one, c, m
        )

    def residual(self) -> float:
        """||C - (op(A) op(B) + C0)|| / (k ||A|| ||B|| eps) against numpy's product."""
        change = {"N": lambda x: x, "T": lambda x: x.T, "C": lambda x: x.conj().T}
        a, b = (change[letter](x) for letter, x in zip(self._letters, (self._a, self._b), strict=True))
        error = norm(self.targets[0], lambda block: a @ b[:, block] + self._pristine[0][:, block])
        return error / (self.k * norm(self._a) * norm(self._b) * self._eps())


class BesideSquare(Workload):
    """A is square and read in its lower triangle, B m x n; `side` L or R says on which side of B it stands."""

    shapes, _side = "MxN", "L"

    def __init__(self, n: int, dtype: type[np.generic], side: str = "L", **other: int) -> None:
        self._side = side
        super().__init__(n, dtype, **other)

    @classmethod
    def flops(cls, n: int, dtype: type[np.generic], side: str = "L", **shape: int) -> float:
        if not shape:
            return super().flops(n, dtype)
        order, other = (shape["m"], n) if side == "L" else (n, shape["m"])
        return super().flops(other, dtype, m=order, k=order)

    def _order(self) -> int:
        return self.m if self._side == "L" else self.n

    def _times(self, square: np.ndarray, b: np.ndarray, columns: slice) -> np.ndarray:
        """Columns of A B or B A."""
        return square @ b[:, columns] if self._side == "L" else b @ square[:, columns]


class Symm(BesideSquare):
    """C <- A B + C or B A + C, A symmetric, B and C m x n."""

    routine, adds = "symm", True

    def elements(self) -> int:
        return self._order() ** 2 + 3 * self.m * self.n

    def operands(self) -> list[np.ndarray]:
        self._a, self._b = self._matrix(self._order(), self._order()), self._matrix(self.n, self.m)
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.symm(session, self._side, "L", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (c,), one = self.m, self.n, self.targets, self.dtype.type(1)
        return library.call("symm", self.dtype, self._side, "L", m, n, one, self._a, self._order(), self._b, m, one, c, m)

    def residual(self) -> float:
        """||C - (A B + C0)|| / (order of A * ||A|| ||B|| eps)."""
        full = self._full()
        error = norm(self.targets[0], lambda block: self._times(full, self._b, block) + self._pristine[0][:, block])
        return error / (self._order() * norm(full) * norm(self._b) * self._eps())

    def _full(self) -> np.ndarray:
        return np.tril(self._a) + np.tril(self._a, -1).T


class Hemm(Symm):
    """C <- A B + C or B A + C, A Hermitian, B and C m x n. For real scalars it is symm."""

    routine = "hemm"

    def operands(self) -> list[np.ndarray]:
        pristine = super().operands()
        self._a[np.diag_indices(self._order())] = self._a.diagonal().real
        return pristine

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.hemm(session, self._side, "L", 1, self._a, self._b, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        m, n, (c,), one = self.m, self.n, self.targets, self.dtype.type(1)
        name = "hemm" if self.dtype.kind == "c" else "symm"
        return library.call(name, self.dtype, self._side, "L", m, n, one, self._a, self._order(), self._b, m, one, c, m)

    def _full(self) -> np.ndarray:
        return np.tril(self._a) + np.tril(self._a, -1).conj().T


class Syrk(Workload):
    """C <- A A^T + C in the lower triangle, A m x n and C m x m."""

    routine, adds, shapes = "syrk", True, "MxN"

    def elements(self) -> int:
        return self.m * self.n + 2 * self.m * self.m

    @classmethod
    def flops(cls, n: int, dtype: type[np.generic], **shape: int) -> float:
        return super().flops(shape["m"], dtype, k=n) if shape else super().flops(n, dtype)

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix(self.n, self.m)
        return [self._matrix(self.m, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.syrk(session, "L", "N", 1, self._a, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, (c,), one = self.m, self.targets, self.dtype.type(1)
        return library.call("syrk", self.dtype, "L", "N", m, self.n, one, self._a, m, one, c, m)

    def residual(self) -> float:
        """||C - (A A^T + C0)|| / (n ||A||^2 eps), the upper triangle taken as left alone."""
        return _rank_residual(self, self._a, lambda rows: self._a @ self._a[rows, :].T)


class Herk(Syrk):
    """C <- A A^H + C in the lower triangle, A m x n and C m x m. For real scalars it is syrk."""

    routine = "herk"

    def operands(self) -> list[np.ndarray]:
        return with_real_diagonals(super().operands())

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (c,) = self.targets
        return lambda: core.herk(session, "L", "N", 1, self._a, 1, c, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> Call:
        if self.dtype.kind != "c":
            return super().vendor(library)
        m, (c,), one = self.m, self.targets, _real_one(self.dtype)
        return library.call("herk", self.dtype, "L", "N", m, self.n, one, self._a, m, one, c, m)

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
        return with_real_diagonals(super().operands())

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


class Trsm(BesideSquare):
    """B <- L^-1 B or B L^-1, L lower triangular, B m x n."""

    routine = "trsm"

    def elements(self) -> int:
        return self._order() ** 2 + 2 * self.m * self.n

    def operands(self) -> list[np.ndarray]:
        self._a = self._dominant(self._order())
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.trsm(session, self._side, "L", "N", "N", 1, self._a, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (b,), one = self.m, self.n, self.targets, self.dtype.type(1)
        return library.call("trsm", self.dtype, self._side, "L", "N", "N", m, n, one, self._a, self._order(), b, m)

    def residual(self) -> float:
        """||L X - B|| / (order of L * ||L|| ||X|| eps)."""
        lower, x = np.tril(self._a), self.targets[0]
        error = norm(self._pristine[0], lambda block: self._times(lower, x, block))
        return error / (self._order() * norm(lower) * norm(x) * self._eps())


class Trmm(BesideSquare):
    """B <- L B or B L, L lower triangular, B m x n."""

    routine = "trmm"

    def elements(self) -> int:
        return self._order() ** 2 + 2 * self.m * self.n

    def operands(self) -> list[np.ndarray]:
        self._a = self._matrix(self._order(), self._order())
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.trmm(session, self._side, "L", "N", "N", 1, self._a, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (b,), one = self.m, self.n, self.targets, self.dtype.type(1)
        return library.call("trmm", self.dtype, self._side, "L", "N", "N", m, n, one, self._a, self._order(), b, m)

    def residual(self) -> float:
        """||X - L B|| / (order of L * ||L|| ||B|| eps)."""
        lower, (b,) = np.tril(self._a), self._pristine
        error = norm(self.targets[0], lambda block: self._times(lower, b, block))
        return error / (self._order() * norm(lower) * norm(b) * self._eps())


def _real_one(dtype: np.dtype) -> np.generic:
    return dtype.type(1).real.dtype.type(1)


def _rank_residual(work: Workload, a: np.ndarray, update: Callable[[slice], np.ndarray], b: np.ndarray | None = None) -> float:
    """Of an update of the lower triangle; `update` gives columns of what is added to the whole."""
    (c,), (before,) = work.targets, work._pristine
    error = norm(c, lambda block: before[:, block] + np.tril(update(block), -block.start))
    scale = norm(a) ** 2 if b is None else 2 * norm(a) * norm(b)
    return error / (work.n * scale * float(np.finfo(work.dtype).eps) / 2)
