"""QR and LQ factorizations and their reflectors as `bench`, `compare` and `trace` run them; see workload.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .fortran import FortranCall, FortranLibrary
from .workload import BLOCK, Call, Workload, from_identity, norm

#: Columns of the inner blocks of geqrt and gemqrt.
INNER = 32


class _Factor(Workload):
    """A matrix in the place of which its triangle and reflectors come."""

    squares, shapes = 3, "MxN"

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        return "a factorization has two extents" if k else ""

    def operands(self) -> list[np.ndarray]:
        self._tau = np.empty(self.k, self.dtype)
        self._work = np.empty(64 * max(self.m, self.n), self.dtype)
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        (a,) = self.targets
        return lambda: core.lapack(self.routine, session, self.m, self.n, a, self._tau, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (a,), work = self.m, self.n, self.targets, self._work
        return library.call(self.routine, self.dtype, m, n, a, m, self._tau, work, len(work), library.info)

    def _difference(self, product: np.ndarray) -> float:
        (a,) = self._pristine
        return norm(a, lambda block: product[:, block]) / (max(self.m, self.n) * norm(a) * self._eps())


class Geqrf(_Factor):
    """A = Q R in place."""

    routine = "geqrf"

    def residual(self) -> float:
        """||A - Q R|| / (n ||A|| eps)."""
        (factors,) = self.targets
        return self._difference(_times_q("ormqr", factors[:, : self.k], self._tau, np.triu(factors)))


class Geqp3(_Factor):
    """A P = Q R in place."""

    routine = "geqp3"

    def operands(self) -> list[np.ndarray]:
        self._reals = np.empty(2 * self.n, self.dtype)
        self._integer: type[np.signedinteger] = np.int64
        return [np.zeros(self.n, np.int64), *super().operands()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        n, (order, a) = self.n, self.targets
        return lambda: core.lapack("geqp3", session, n, n, a, order, self._tau, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (order, a) = self.n, self.targets
        self._integer = library.integer
        reals = [self._reals] if self.dtype.kind == "c" else []
        words = n, n, a, n, order.view(library.integer), self._tau, self._work, 64 * n, *reals
        return library.call("geqp3", self.dtype, *words, library.info)

    def residual(self) -> float:
        """||A P - Q R|| / (n ||A|| eps)."""
        (order, factors), (_, a) = self.targets, self._pristine
        product = _times_q("ormqr", factors, self._tau, np.triu(factors))
        places = order.view(self._integer)[: self.n] - 1
        return norm(a[:, places], lambda block: product[:, block]) / (self.n * norm(a) * self._eps())


class Gelqf(_Factor):
    """A = L Q in place."""

    routine = "gelqf"

    def residual(self) -> float:
        """||A - L Q|| / (n ||A|| eps)."""
        (factors,) = self.targets
        return self._difference(_times_q("ormlq", factors[: self.k], self._tau, np.tril(factors), side="R"))


class Geqrt(_Factor):
    """A = Q R in place with the triangular factors of its blocks of reflectors."""

    routine = "geqrt"

    def operands(self) -> list[np.ndarray]:
        self._inner = min(INNER, self.k)
        self._t = np.empty((self._inner, self.k), self.dtype, order="F")
        return super().operands()

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        m, n, (a,) = self.m, self.n, self.targets
        return lambda: core.lapack("geqrt", session, m, n, self._inner, a, self._t, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (a,) = self.m, self.n, self.targets
        return library.call("geqrt", self.dtype, m, n, self._inner, a, m, self._t, self._inner, self._work, library.info)

    def residual(self) -> float:
        """||A - Q R|| / (n ||A|| eps)."""
        (factors,) = self.targets
        product = np.asfortranarray(np.triu(factors))
        _core.lapack("gemqrt", None, "L", "N", self.m, self.n, self.k, self._inner, factors[:, : self.k], self._t, product)
        return self._difference(product)


class _FromReflectors(Workload):
    """What is done with the reflectors of a matrix, which `factored_by` leaves."""

    factored_by: str

    def _reflectors(self) -> np.ndarray:
        factors, self._tau = np.asfortranarray(self._matrix(self.k, self.m)), np.empty(self.k, self.dtype)
        _core.lapack(self.factored_by, None, self.m, self.k, factors, self._tau)
        self._work = np.empty(64 * max(self.m, self.n), self.dtype)
        return factors

    def _lapacks(self) -> str:
        """What is orthogonal in real precisions is unitary in complex ones."""
        return self.routine.replace("or", "un", 1) if self.dtype.kind == "c" else self.routine


class Orgqr(_FromReflectors):
    """Q, n columns, in the place of its reflectors."""

    routine, squares, factored_by, applied_by, shapes = "orgqr", 2, "geqrf", "ormqr", "MxN"

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        return "Q has two extents" if k else "" if m >= n else "Q has at least as many rows as columns"

    def operands(self) -> list[np.ndarray]:
        return [self._reflectors()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        m, n, (q,) = self.m, self.n, self.targets
        return lambda: core.lapack(self.routine, session, m, n, n, q, self._tau, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, (q,), work = self.m, self.n, self.targets, self._work
        return library.call(self._lapacks(), self.dtype, m, n, n, q, m, self._tau, work, len(work), library.info)

    def residual(self) -> float:
        """||I - Q^H Q|| / (n eps), and that of Q's product with the reflectors' adjoint, the larger."""
        (q,) = self.targets
        apart = _times_q(self.applied_by, self._pristine[0], self._tau, q, adjoint=True)
        orthogonal = from_identity(lambda block: q.conj().T @ q[:, block], self.n)
        same = from_identity(lambda block: apart[:, block], self.n, self.m)
        return float(np.max([orthogonal, same])) / (self.m * self._eps())


class Orglq(Orgqr):
    """Q, n rows, in the place of its reflectors."""

    routine, factored_by, applied_by, shapes = "orglq", "gelqf", "ormlq", ""


class Ormqr(_FromReflectors):
    """C <- Q^H C, C m x n, with k reflectors; square: n columns and n reflectors."""

    routine, squares, factored_by, formed_by, shapes = "ormqr", 3, "geqrf", "orgqr", "MxN or MxNxK"

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        return "" if k <= m else "there are at most as many reflectors as rows"

    @classmethod
    def flops(cls, n: int, dtype: type[np.generic], **shape: int) -> float:
        return super().flops(n, dtype, **{"k": min(shape.get("m", n), n), **shape})

    def elements(self) -> int:
        return 2 * self.m * self.n + self.m * self.k

    def operands(self) -> list[np.ndarray]:
        self._v = self._reflectors()
        return [self._matrix(self.n, self.m)]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        m, n, k, (c,), letter = self.m, self.n, self.k, self.targets, adjoint_letter(self.dtype)
        return lambda: core.lapack(self.routine, session, "L", letter, m, n, k, self._v, self._tau, c, nb=nb, variant=variant)

    def vendor(self, library: FortranLibrary) -> FortranCall:
        m, n, k, (c,), work = self.m, self.n, self.k, self.targets, self._work
        words = "L", adjoint_letter(self.dtype), m, n, k, self._v, m, self._tau, c, m, work, len(work)
        return library.call(self._lapacks(), self.dtype, *words, library.info)

    def residual(self) -> float:
        """||C - Q (Q^H C)|| / (m ||C|| eps), Q formed; of tall ones, whose Q is no matrix to form, applied in blocks."""
        if self.m != self.k:
            return self._from_product(_times_q(self.routine, self._v, self._tau, self.targets[0]))
        q = self._v.copy(order="F")
        _core.lapack(self.formed_by, None, self.m, self.m, self.m, q, self._tau)
        return self._from_product(q @ self.targets[0])

    def _from_product(self, product: np.ndarray) -> float:
        (c,) = self._pristine
        return norm(c, lambda block: product[:, block]) / (self.m * norm(c) * self._eps())


class Ormlq(Ormqr):
    """C <- Q^H C, n columns, Q of LQ."""

    routine, factored_by, formed_by, shapes = "ormlq", "gelqf", "orglq", ""


class Gemqrt(Ormqr):
    """C <- Q^H C with the triangular factors of geqrt."""

    routine, shapes = "gemqrt", ""

    def operands(self) -> list[np.ndarray]:
        inner = self._inner = min(INNER, self.n)
        self._v, self._t = np.asfortranarray(self._matrix()), np.empty((inner, self.n), self.dtype, order="F")
        self._work = np.empty(64 * self.n, self.dtype)
        _core.lapack("geqrt", None, self.n, self.n, inner, self._v, self._t)
        return [self._matrix()]

    def ours(self, core: Any, session: Any, nb: int, variant: str) -> Call:
        n, (c,), letter = self.n, self.targets, adjoint_letter(self.dtype)
        return lambda: core.lapack(
            "gemqrt", session, "L", letter, n, n, n, self._inner, self._v, self._t, c, nb=nb, variant=variant
        )

    def vendor(self, library: FortranLibrary) -> FortranCall:
        n, (c,), inner = self.n, self.targets, self._inner
        words = "L", adjoint_letter(self.dtype), n, n, n, inner, self._v, n, self._t, inner, c, n, self._work
        return library.call("gemqrt", self.dtype, *words, library.info)

    def residual(self) -> float:
        """||C - Q (Q^H C)|| / (n ||C|| eps), Q formed."""
        q = np.asfortranarray(np.eye(self.n, dtype=self.dtype))
        _core.lapack("gemqrt", None, "L", "N", self.n, self.n, self.n, self._inner, self._v, self._t, q)
        return self._from_product(q @ self.targets[0])


def adjoint_letter(dtype: np.dtype) -> str:
    return "C" if dtype.kind == "c" else "T"


def _times_q(
    routine: str, factors: np.ndarray, tau: np.ndarray, c: np.ndarray, side: str = "L", adjoint: bool = False
) -> np.ndarray:
    """Q c, Q^H c or c Q, block by block, so that a fault of large calls does not hide in the check of one."""
    product, letter = c.copy(order="F"), adjoint_letter(c.dtype) if adjoint else "N"
    for first in range(0, c.shape[side == "L"], BLOCK):
        at = np.s_[:, first : first + BLOCK] if side == "L" else np.s_[first : first + BLOCK, :]
        block = np.asfortranarray(product[at])
        _core.lapack(routine, None, side, letter, *block.shape, len(tau), factors, tau, block)
        product[at] = block
    return product
