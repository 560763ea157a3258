"""The routines that `bench`, `compare` and `trace` run, by name; factorizations, solvers and inverses are here."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .forms import forms_of
from .fortran import FortranCall, FortranLibrary
from .level3_workloads import Gemm, Hemm, Her2k, Herk, Symm, Syr2k, Syrk, Trmm, Trsm
from .qr_workloads import Gelqf, Gemqrt, Geqp3, Geqrf, Geqrt, Orglq, Orgqr, Ormlq, Ormqr
from .workload import RIGHT_SIDES, SEED, Call, Workload, from_identity, norm, with_real_diagonals


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
        return norm(a, lambda block: lower @ lower[block, :].conj().T) / (self.n * norm(a) * self._eps())


class _Solve(Workload):
    """Shared by potrs and posv: the right side and its residual. `_a` is the matrix before any factorisation."""

    _a: np.ndarray

    def residual(self) -> float:
        """max over right sides of ||b - A x|| / (||A|| ||x|| eps)."""
        b, x = self._pristine[-1], self.targets[-1]
        errors = np.abs(b - self._a @ x).sum(axis=0) / np.abs(x).sum(axis=0)
        return float(errors.max()) / (norm(self._a) * self._eps())


class _FromFactors(_Solve):
    """Shared by potrs and getrs: RIGHT_SIDES right sides of order n, or of a shape m x n, n of order m."""

    squares, shapes = 3, "MxN"
    _shaped = False

    def __init__(self, n: int, dtype: type[np.generic], seed: int = SEED, m: int = 0, k: int = 0) -> None:
        self._shaped = m > 0
        super().__init__(n, dtype, seed, m, k)

    @property
    def order(self) -> int:
        return self.m if self._shaped else self.n

    @property
    def right_sides(self) -> int:
        return self.n if self._shaped else RIGHT_SIDES

    def elements(self) -> int:
        return self.order * (self.squares * self.order + 2 * self.right_sides)

    @classmethod
    def flops(cls, n: int, dtype: type[np.generic], **shape: int) -> float:
        order, right_sides = (shape["m"], n) if shape else (n, RIGHT_SIDES)
        return _core.routine_flops(cls.routine, np.dtype(dtype).kind == "c", order, nrhs=right_sides)


class Potrs(_FromFactors):
    """X = A^-1 B with the factor of A."""

    routine = "potrs"

    def operands(self) -> list[np.ndarray]:
        self._a = self._positive_definite(self.order)
        self._factor = np.asfortranarray(np.linalg.cholesky(self._a))
        return [self._matrix(self.right_sides, self.order)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.potrs(session, "L", self._factor, b, nb=nb, variant=variant) or 0

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,) = self.order, self.targets
        return library.call("potrs", self.dtype, "L", n, self.right_sides, self._factor, n, b, n, library.info)


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
        self._tiles: Any = None
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        if variant in forms_of("getrf", own_factors=True):
            return lambda: self._by_tiles(core, session, nb)
        return lambda: core.lapack("getrf", session, self.n, self.n, a, self._ipiv, nb=nb, variant=variant)

    def _by_tiles(self, core: Any, session: Any, nb: int) -> int:
        """Factors that go with an object of their own instead of pivots."""
        self._tiles = core.IncrementalFactors(session, self.targets[0], nb)
        return self._tiles.info

    def vendor(self, library: FortranLibrary) -> FortranCall:
        self._ipiv = np.empty(self.n, library.integer)
        return library.call("getrf", self.dtype, self.n, self.n, self.targets[0], self.n, self._ipiv, library.info)

    def residual(self) -> float:
        """||P A - L U|| / (n ||A|| eps); of factors by tiles ||b - A x|| / (n ||A|| ||x|| eps) of a solution from them."""
        (a,), (factors,) = self._pristine, self.targets
        if self._tiles is not None:
            b = self._matrix(1)
            x = b.copy(order="F")
            self._tiles.solve(x)
            return norm(b - a @ x) / (self.n * norm(a) * norm(x) * self._eps())
        rows = np.arange(self.n)
        for i, other in enumerate(self._ipiv):
            rows[[i, other - 1]] = rows[[other - 1, i]]
        lower, upper = np.tril(factors, -1) + np.eye(self.n, dtype=self.dtype), np.triu(factors)
        return norm(a[rows], lambda block: lower @ upper[:, block]) / (self.n * norm(a) * self._eps())


class Getrs(_FromFactors):
    """X = A^-1 B with the factors of A."""

    routine = "getrs"

    def operands(self) -> list[np.ndarray]:
        n = self.order
        self._a = self._matrix(n, n)
        self._factors, self._ipiv = self._a.copy(order="F"), np.empty(n, np.int64)
        _core.lapack("getrf", None, n, n, self._factors, self._ipiv)
        return [self._matrix(self.right_sides, n)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (b,) = self.targets
        return lambda: core.lapack(
            "getrs", session, "N", self.order, self.right_sides, self._factors, self._ipiv, b, nb=nb, variant=variant
        )

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,) = self.order, self.targets
        self._ipiv = self._ipiv.astype(library.integer)
        return library.call("getrs", self.dtype, "N", n, self.right_sides, self._factors, n, self._ipiv, b, n, library.info)


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
        error = from_identity(lambda block: self._a @ self.targets[0][:, block], self.n)
        return error / (self.n * norm(self._a) * norm(self.targets[0]) * self._eps())


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


class Gels(_Solve):
    """The least squares solution of a system, m x n with m >= n, RIGHT_SIDES right sides."""

    routine, squares, shapes = "gels", 2, "MxN"

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        return "a system has two extents" if k else "" if m >= n else "least squares need at least as many rows as columns"

    def operands(self) -> list[np.ndarray]:
        self._a = self._dominant() if self.m == self.n else self._matrix(self.n, self.m)
        self._work = np.empty(64 * self.m + RIGHT_SIDES, self.dtype)
        return [self._a, self._matrix(RIGHT_SIDES, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        m, n, (a, b) = self.m, self.n, self.targets
        return lambda: core.lapack("gels", session, "N", m, n, RIGHT_SIDES, a, b, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (a, b) = self.m, self.n, self.targets
        return library.call("gels", self.dtype, "N", m, n, RIGHT_SIDES, a, m, b, m, self._work, len(self._work), library.info)

    def residual(self) -> float:
        """As the others; of more rows than columns ||A^H (b - A x)|| / (m ||A|| ||b|| eps): what is left is orthogonal to A."""
        if self.m == self.n:
            return super().residual()
        b, x = self._pristine[-1], self.targets[-1][: self.n]
        rest = self._a.conj().T @ (b - self._a @ x)
        return norm(rest) / (self.m * norm(self._a) * norm(b) * self._eps())


class Trtrs(_Solve):
    """X = L^-1 B, L lower triangular, RIGHT_SIDES right sides."""

    routine, squares = "trtrs", 2

    def operands(self) -> list[np.ndarray]:
        self._a = np.asfortranarray(np.tril(self._dominant()))
        return [self._matrix(RIGHT_SIDES)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        n, (b,) = self.n, self.targets
        return lambda: core.lapack("trtrs", session, "L", "N", "N", n, RIGHT_SIDES, self._a, b, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (b,) = self.n, self.targets
        return library.call("trtrs", self.dtype, "L", "N", "N", n, RIGHT_SIDES, self._a, n, b, n, library.info)


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
        return from_identity(lambda block: lower @ inverse[:, block], self.n) / (
            self.n * norm(lower) * norm(inverse) * self._eps()
        )


class Lauum(Workload):
    """A <- L^H L in the lower triangle. LAPACK takes the diagonal to be real, as a Cholesky factor's is."""

    routine, squares = "lauum", 2

    def operands(self) -> list[np.ndarray]:
        return with_real_diagonals([self._matrix()])

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack(self.routine, session, "L", self.n, a, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        return library.call(self.routine, self.dtype, "L", self.n, self.targets[0], self.n, library.info)

    def residual(self) -> float:
        """||A - L^H L|| / (n ||L||^2 eps) in the lower triangle."""
        lower, result = np.tril(self._pristine[0]), np.tril(self.targets[0])
        error = norm(result, lambda block: np.tril(lower.conj().T @ lower[:, block], -block.start))
        return error / (self.n * norm(lower) * norm(lower.conj().T) * self._eps())


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
        error = from_identity(lambda block: self._a @ inverse[:, block], self.n)
        return error / (self.n * norm(self._a) * norm(inverse) * self._eps())


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
        Geqrf,
        Geqp3,
        Gelqf,
        Orgqr,
        Orglq,
        Ormqr,
        Ormlq,
        Geqrt,
        Gemqrt,
        Gels,
        Trtrs,
        Trtri,
        Lauum,
        Potri,
    )
}


def cholesky_tasks(rows: int) -> int:
    """Tasks of the tile Cholesky graph with so many tile rows: r (r + 1) (r + 2) / 6."""
    return rows * (rows + 1) * (rows + 2) // 6
