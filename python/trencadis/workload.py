"""What `bench`, `compare` and `trace` run: operands from a seed, one call, flop count, residual, per routine.

A workload knows its call twice, for our library and for a BLAS and LAPACK with Fortran symbols, on the same operands. The
inputs are column-major n x n, or of other shapes where the routine has them (`shapes`), entries uniform in (-0.5, 0.5) with
both parts random for complex;
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
#: Right sides of the solvers.
RIGHT_SIDES = 1
#: Columns handled at once where a residual needs a product as large as a matrix.
BLOCK = 512

Call = Callable[[], int]


class Workload:
    """One routine on operands of order n. `targets` are overwritten by a call and restored from `_pristine`."""

    routine: ClassVar[str]
    #: n x n arrays held, pristine copies included; memory is checked against it before anything is allocated.
    squares: ClassVar[int]
    #: The shapes that it is measured in beside n x n, as messages name them; none.
    shapes: ClassVar[str] = ""
    #: Whether a call adds to its target: then the next one may follow without a restoration, at the same speed and within range.
    adds: ClassVar[bool] = False

    def __init__(self, n: int, dtype: type[np.generic], seed: int = SEED, m: int = 0, k: int = 0) -> None:
        self.n, self.m = n, m or n
        self.k = k or min(self.m, n)
        self.dtype = np.dtype(dtype)
        require_memory(self.elements() * self.dtype.itemsize, f"{self.routine} with {self.size()}")
        self._random = np.random.default_rng(seed)
        self._pristine = [np.asfortranarray(array) for array in self.operands()]
        self.targets = [np.empty_like(array, order="F") for array in self._pristine]
        self.restore()

    def elements(self) -> int:
        """Numbers in all arrays held."""
        return self.squares * self.m * self.n

    @classmethod
    def bytes_held(cls, n: int, dtype: type[np.generic]) -> int:
        """By a square problem, before there is one."""
        bare = cls.__new__(cls)
        bare.n = bare.m = bare.k = n
        return bare.elements() * np.dtype(dtype).itemsize

    def size(self) -> str:
        """As messages name it."""
        if self.m == self.n == self.k:
            return f"n = {self.n}"
        return f"m = {self.m}, n = {self.n}" + (f", k = {self.k}" if self.k != min(self.m, self.n) else "")

    @classmethod
    def misfit(cls, m: int, n: int, k: int) -> str:
        """What a shape lacks; empty where it is right. k is 0 where it was not given."""
        return "it has two extents" if k else ""

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

    def _dominant(self, order: int = 0) -> np.ndarray:
        """Of order n unless given, as below."""
        order = order or self.n
        matrix = self._matrix(order, order)
        matrix[np.diag_indices(order)] = matrix.diagonal().real + order
        return matrix

    def _positive_definite(self, order: int = 0) -> np.ndarray:
        matrix = self._dominant(order)
        for first in range(0, len(matrix), BLOCK):
            block = slice(first, first + BLOCK)
            corner = np.tril(matrix[block, block])
            matrix[block, block] = corner + np.tril(corner, -1).conj().T
            matrix[block, first + BLOCK :] = matrix[first + BLOCK :, block].conj().T
        return matrix


def with_real_diagonals(matrices: list[np.ndarray]) -> list[np.ndarray]:
    """BLAS's Hermitian matrices: an imaginary part on the diagonal is not read."""
    for matrix in matrices:
        matrix[np.diag_indices(len(matrix))] = matrix.diagonal().real
    return matrices


def norm(matrix: np.ndarray, minus: Callable[[slice], np.ndarray] | None = None) -> float:
    """1-norm of a matrix, or of its difference from another that `minus` gives by column blocks."""
    largest = 0.0
    for first in range(0, matrix.shape[1], BLOCK):
        block = slice(first, min(first + BLOCK, matrix.shape[1]))
        columns = matrix[:, block] if minus is None else matrix[:, block] - minus(block)
        # numpy's max carries a NaN on, and so must this one: a NaN is the worst residual, not none.
        largest = float(np.max([largest, np.abs(columns).sum(axis=0).max()]))
    return largest


def from_identity(columns: Callable[[slice], np.ndarray], n: int, rows: int = 0) -> float:
    """1-norm of what a product that should be the identity, or the first n columns of a larger one, differs from it by."""
    identity = np.eye(rows or n, n)
    return max((norm(columns(slice(i, i + BLOCK)) - identity[:, i : i + BLOCK]) for i in range(0, n, BLOCK)), default=0.0)


def require_memory(needed: int, what: str) -> None:
    available = _core.available_memory()
    if needed > available:
        raise MemoryError(f"{what} needs {needed / 2**30:.1f} GiB for its operands; {available / 2**30:.1f} GiB are available")
