"""Matrices that the processes of an MPI program hold together, each its blocks, and routines on them.

    from mpi4py import MPI
    with trencadis.session(engine="starpu-mpi", communicator=MPI.COMM_WORLD):
        A = distributed.definite(4000, blocks=250, seed=1)
        B = distributed.random((4000, 3), blocks=(250, 3), seed=2)
        X = distributed.solve(A, B, assume_a="pos")
        print(distributed.residual(A, X, B))

All processes of the session make the same calls in the same order, those too that hold nothing. What they must say alike is
compared before anything is touched; where it differs, or where one refuses its arguments, all raise. One call at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from .checks import as_text, one_of, pair, shown, whole_number, word
from .distributed_bench import ENGINE, layout_of
from .errors import LinAlgError, UsageError, not_positive_definite
from .session import current

__all__ = [
    "DistributedMatrix", "copy", "definite", "gemm", "geqrf", "gesv", "getrf", "getrs", "local_shape", "posv", "potrf", "potrs",
    "random", "read", "residual", "solve", "trsm", "zeros",
]  # fmt: skip

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
_OPS = "NTC"
Blocks = int | tuple[int, int]


def _checked(session: Any, call: str, check: Callable[[], Any]) -> Any:
    """What `check` answers. What it refuses here, whatever an argument's own code raises, it says to the others, which have come
    to where they compare their calls, so that they do not wait for this process."""
    try:
        return check()
    except Exception as error:
        _agree(session, f"{call}, which it refuses: {error}")
        raise


def _agree(session: Any, call: str) -> None:
    """Names of files may hold bytes that are no text."""
    _core.agree(session, as_text(call))


def _session() -> Any:
    session = current.get()
    if session is None or session.options()["engine"] != ENGINE:
        raise UsageError(f"matrices of several processes need a session of theirs: with trencadis.session(engine='{ENGINE}'):")
    return session


def _pair_of(name: str, value: Any, least: int) -> tuple[int, int]:
    first, second = pair(name, value)
    return whole_number(name, first, least), whole_number(name, second, least)


def _blocks_of(blocks: Any) -> tuple[int, int]:
    return _pair_of("blocks", blocks if isinstance(blocks, tuple | list) else (blocks, blocks), 1)


def _grid_of(session: Any, grid: Any) -> tuple[int, int]:
    if grid is None:
        return layout_of("", "", _core.process(session)[1]).grid
    rows, cols = _pair_of("grid", grid, 1)
    return layout_of(f"{rows}x{cols}", "", _core.process(session)[1]).grid


def _first_of(first: Any, grid: tuple[int, int]) -> tuple[int, int]:
    row, col = _pair_of("first", first, 0)
    if row >= grid[0] or col >= grid[1]:
        raise UsageError(f"first is {(row, col)}, which is no process of a grid {grid[0]}x{grid[1]}")
    return row, col


def local_shape(
    shape: tuple[int, int], blocks: Blocks, grid: tuple[int, int], rank: int, first: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    """The rows and columns that process `rank` of the grid holds (ScaLAPACK's numroc)."""
    rows, cols = _pair_of("shape", shape, 0)
    mb, nb = _blocks_of(blocks)
    p, q = _pair_of("grid", grid, 1)
    row, col = _first_of(first, (p, q))
    rank = whole_number("rank", rank, 0)
    if rank >= p * q:
        raise UsageError(f"rank is {rank}, and the grid {p}x{q} has processes 0 to {p * q - 1}")
    extent = _core.local_extent
    return extent(rows, mb, rank // q, row, p), extent(cols, nb, rank % q, col, q)


class DistributedMatrix:
    """A matrix in blocks over a grid of all processes of the session (ScaLAPACK's two-dimensional block-cyclic distribution), as
    one of them sees it.

    Process (p, q) of the grid is number p * columns + q of the communicator; block (i, j) is with process
    ((i + first[0]) % rows, (j + first[1]) % columns). All processes make it together.

    Parameters
    ----------
    local : ndarray
        This process's blocks, close together in the order of the whole: of the shape `local_shape`, by columns (order="F";
        columns may be further apart), of float32, float64, complex64 or complex128. It is computed on in place, never copied.
    shape : (int, int)
        Of the whole.
    blocks : int or (int, int)
        Rows and columns of a block. Matrices that are factored have square ones.
    grid : (int, int)
        Rows and columns of processes; what is nearest to a square where it is not given.
    first : (int, int)
        The process of the grid that has block (0, 0).

    Raises
    ------
    ValueError
        On all processes, where one gives what cannot be or does not fit the others.
    """

    def __init__(
        self,
        local: np.ndarray,
        shape: tuple[int, int],
        blocks: Blocks,
        grid: tuple[int, int] | None = None,
        first: tuple[int, int] = (0, 0),
    ) -> None:
        self._session = _session()
        _checked(self._session, "DistributedMatrix", lambda: self._lay(local, shape, blocks, grid, first))
        _agree(self._session, repr(self))

    def _lay(self, local: Any, shape: Any, blocks: Any, grid: Any, first: Any) -> None:
        self.shape, self.blocks = _pair_of("shape", shape, 0), _blocks_of(blocks)
        self.grid = _grid_of(self._session, grid)
        self.first = _first_of(first, self.grid)
        here = local_shape(self.shape, self.blocks, self.grid, _core.process(self._session)[0], self.first)
        if not isinstance(local, np.ndarray) or local.dtype.char not in _LETTERS or not local.dtype.isnative:
            raise UsageError(f"local is {shown(local)}; it must be an array of float32, float64, complex64 or complex128")
        if local.shape != here:
            raise UsageError(f"local has shape {local.shape}; this process holds {here} of the matrix")
        by_columns = local.size == 0 or local.shape[0] == 1 or local.strides[0] == local.itemsize
        apart = local.strides[1] if local.shape[1] > 1 else local.shape[0] * local.itemsize
        if not by_columns or (local.size and (apart % local.itemsize or apart < local.shape[0] * local.itemsize)):
            raise UsageError("local must be by columns; make it with order='F'")
        if not local.flags.writeable:
            raise UsageError("local is read-only, and results are written to it")
        self.local, self.dtype = local, local.dtype
        self._core = _core.DistributedMatrix.on(self._session, local, self.shape, self.blocks, self.grid, self.first)

    def __repr__(self) -> str:
        words = f"shape={self.shape}, blocks={self.blocks}, grid={self.grid}, first={self.first}"
        return f"DistributedMatrix({words}, dtype={self.dtype.name})"

    def norm(self) -> float:
        """The Frobenius norm of the whole, the same on all processes."""
        _agree(self._session, f"norm of {self!r}")
        return self._core.norm(self._session)

    def write(self, path: str | Path) -> None:
        """To a .npy or .mtx file, each process its blocks; it is there in full or not at all. All processes see one folder."""
        from . import distributed_files

        named = _checked(self._session, f"write {self!r}", lambda: Path(path))
        _agree(self._session, f"write {self!r} to {named.name}")
        distributed_files.write(_core, self._session, named, self._core, self.shape, self.dtype, *self.blocks)

    def like(self, shape: tuple[int, int] | None = None, blocks: Blocks | None = None) -> DistributedMatrix:
        """One of zeros over the same processes, of the same shape and blocks where no others are given."""
        wanted, cut = self.shape if shape is None else shape, self.blocks if blocks is None else blocks
        return zeros(wanted, cut, self.grid, self.dtype, self.first)

    def copy(self) -> DistributedMatrix:
        """Another one with the same elements."""
        made = self.like()
        made.local[...] = self.local
        return made


def zeros(
    shape: tuple[int, int], blocks: Blocks, grid: tuple[int, int] | None = None, dtype: Any = np.float64,
    first: tuple[int, int] = (0, 0),
) -> DistributedMatrix:
    """A matrix of zeros in new memory: each process's own blocks."""
    session = _session()

    def made() -> np.ndarray:
        dealt = _grid_of(session, grid)
        here = local_shape(shape, blocks, dealt, _core.process(session)[0], first)
        try:
            return np.zeros(here, np.dtype(dtype), order="F")
        except (MemoryError, ValueError) as error:
            raise MemoryError(f"no memory for {here[0]} x {here[1]} elements of this process: {error}") from None

    return DistributedMatrix(_checked(session, "zeros", made), shape, blocks, grid, first)


def random(
    shape: tuple[int, int], blocks: Blocks, grid: tuple[int, int] | None = None, dtype: Any = np.float64, *, seed: int = 0
) -> DistributedMatrix:
    """Numbers in [-1/2, 1/2), by `seed` and the place of each alone: the same matrix over any number of processes."""
    made = zeros(shape, blocks, grid, dtype)
    _checked(made._session, "random", lambda: made._core.fill_random(_seed_of(seed)))
    return made


def definite(
    n: int, blocks: Blocks, grid: tuple[int, int] | None = None, dtype: Any = np.float64, *, seed: int = 0
) -> DistributedMatrix:
    """A symmetric (Hermitian) positive definite matrix of order n: random, and n more on the diagonal."""
    made = zeros((n, n), blocks, grid, dtype)
    _checked(made._session, "definite", lambda: made._core.fill_definite(_seed_of(seed)))
    return made


def _seed_of(seed: Any) -> int:
    number = whole_number("seed", seed, 0)
    if number >= 2**62:
        raise UsageError(f"seed is {number}, must be below 2**62")
    return number


def read(
    path: str | Path, blocks: Blocks, grid: tuple[int, int] | None = None, dtype: Any = None
) -> DistributedMatrix:
    """The matrix in a .npy or .mtx file, of which each process reads its own elements. A vector is one column."""
    from . import distributed_files

    session = _session()

    def opened() -> Any:
        named = Path(path)
        file = distributed_files.opened(named)
        return named.name, file, distributed_files.computed_in(file.dtype) if dtype is None else np.dtype(dtype)

    name, file, kind = _checked(session, "read", opened)
    _agree(session, f"read {name} of shape {file.shape}")
    made = zeros((file.shape[0], file.shape[1] if len(file.shape) > 1 else 1), blocks, grid, kind)
    distributed_files.together(_core, session, lambda: file.fill(made._core, *made.blocks))
    return made


def _start(call: str, *matrices: Any, result: Any = None, check: Callable[[], Any] = lambda: None) -> tuple[Any, Any]:
    """The session of a call's matrices, and what `check` answers."""
    session = next((matrix._session for matrix in matrices if isinstance(matrix, DistributedMatrix)), None) or _session()

    def checks() -> Any:
        for matrix in matrices:
            if not isinstance(matrix, DistributedMatrix):
                raise TypeError(f"{call}: {shown(matrix)} is no DistributedMatrix")
            if matrix._session is not session or matrix.dtype != matrices[0].dtype:
                raise UsageError(f"{call}: the matrices of a call have one session and one dtype")
            if result is not None and matrix is not result and np.shares_memory(matrix.local, result.local):
                raise UsageError(f"{call}: the result lies where an operand does, which is read meanwhile")
        if result is not None and sum(matrix is result for matrix in matrices) > 1:
            raise UsageError(f"{call}: the result is an operand, too, which is read meanwhile")
        return check()

    return session, _checked(session, call, checks)


def _triangle(lower: Any) -> str:
    return "L" if lower else "U"


def _op(name: str, trans: Any) -> str:
    """0, 1, 2 as SciPy has them, or a letter."""
    if isinstance(trans, str):
        return one_of(name, trans.upper(), _OPS)
    number = whole_number(name, trans, 0)
    if number > 2:
        raise UsageError(f"{name} is {number}, must be 0, 1 (transposed) or 2 (conjugate transposed)")
    return _OPS[number]


def potrf(A: DistributedMatrix, *, lower: bool = True, variant: str = "") -> int:
    """A = L L^H, or U^H U, in one triangle of A; the other one is neither read nor written. Blocks are square. Returns info: 0,
    or the order of the smallest leading minor that is not positive definite."""
    session, (uplo, form) = _start("potrf", A, check=lambda: (_triangle(lower), word("variant", variant)))
    return _core.shared_potrf(session, uplo, A._core, form)


def potrs(A: DistributedMatrix, B: DistributedMatrix, *, lower: bool = True) -> None:
    """B <- A^-1 B with potrf's factor in A."""
    session, uplo = _start("potrs", A, B, result=B, check=lambda: _triangle(lower))
    _core.shared_potrs(session, uplo, A._core, B._core)


def posv(A: DistributedMatrix, B: DistributedMatrix, *, lower: bool = True, variant: str = "") -> int:
    """B <- A^-1 B, A positive definite, of which one triangle is read and factored. Returns potrf's info."""
    session, (uplo, form) = _start("posv", A, B, result=B, check=lambda: (_triangle(lower), word("variant", variant)))
    return _core.shared_posv(session, uplo, A._core, B._core, form)


def getrf(A: DistributedMatrix, *, variant: str = "") -> tuple[np.ndarray, int]:
    """A = P L U in place, with pivots by tournament; with those of LAPACK as variant "panel". Returns piv, LAPACK's row
    interchanges of the whole, from 0, on every process, and info: 0, or the number of the first pivot that is zero."""
    session, (piv, form) = _start("getrf", A, check=lambda: (np.zeros(min(A.shape), np.int64), word("variant", variant)))
    info = _core.shared_getrf(session, A._core, piv, form)
    return piv - 1, info


def getrs(A: DistributedMatrix, piv: np.ndarray, B: DistributedMatrix, *, trans: int | str = 0) -> None:
    """B <- op(A)^-1 B with getrf's factors in A and its piv; trans 0, 1 (transposed) or 2 (conjugate transposed)."""

    def check() -> tuple[str, np.ndarray]:
        rows = np.asarray(piv)
        if rows.dtype.kind not in "iu" or rows.shape != (A.shape[0],):
            raise UsageError(f"getrs: piv has {rows.dtype} of shape {rows.shape}; {A.shape[0]} whole numbers are needed")
        if rows.size and (rows.min() < 0 or rows.max() >= A.shape[0]):
            raise UsageError(f"getrs: piv names rows {rows.min()} to {rows.max()} of {A.shape[0]}")
        return _op("trans", trans), np.ascontiguousarray(rows, np.int64) + 1

    session, (op, rows) = _start("getrs", A, B, result=B, check=check)
    _core.shared_getrs(session, op, A._core, rows, B._core)


def gesv(A: DistributedMatrix, B: DistributedMatrix, *, variant: str = "") -> tuple[np.ndarray, int]:
    """B <- A^-1 B by getrf, whose factors A gets. Returns its piv and info; B is then no solution unless info is 0."""

    def check() -> tuple[np.ndarray, str]:
        return np.zeros(min(A.shape), np.int64), word("variant", variant)

    session, (piv, form) = _start("gesv", A, B, result=B, check=check)
    info = _core.shared_gesv(session, A._core, piv, B._core, form)
    return piv - 1, info


def geqrf(A: DistributedMatrix, *, variant: str = "") -> None:
    """R of A = Q R in the upper triangle of A; below it the reflectors of tile QR, which are not LAPACK's."""
    session, form = _start("geqrf", A, check=lambda: word("variant", variant))
    _core.shared_geqrf(session, A._core, form)


def gemm(
    alpha: complex, A: DistributedMatrix, B: DistributedMatrix, beta: complex, C: DistributedMatrix,
    *, trans_a: int | str = 0, trans_b: int | str = 0,
) -> None:
    """C <- alpha op(A) op(B) + beta C; the blocks of op(A), op(B) and C fit as the matrices do."""

    def check() -> tuple[str, str, complex, complex]:
        return _op("trans_a", trans_a), _op("trans_b", trans_b), _factor("alpha", alpha, C), _factor("beta", beta, C)

    session, (op_a, op_b, a, b) = _start("gemm", A, B, C, result=C, check=check)
    _core.shared_gemm(session, op_a, op_b, a, A._core, B._core, b, C._core)


def trsm(
    alpha: complex, A: DistributedMatrix, B: DistributedMatrix,
    *, side: str = "left", lower: bool = False, trans_a: int | str = 0, unit_diagonal: bool = False,
) -> None:
    """B <- alpha op(A)^-1 B, or with side="right" alpha B op(A)^-1, A triangular; blocks are square and of one size."""

    def check() -> tuple[str, str, str, str, complex]:
        where = one_of("side", side, ("left", "right"))[0].upper()
        return where, _triangle(lower), _op("trans_a", trans_a), "U" if unit_diagonal else "N", _factor("alpha", alpha, B)

    session, (where, uplo, op, diag, a) = _start("trsm", A, B, result=B, check=check)
    _core.shared_trsm(session, where, uplo, op, diag, a, A._core, B._core)


def _factor(name: str, value: Any, C: DistributedMatrix) -> complex:
    try:
        number = complex(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}, must be a number") from None
    except OverflowError:
        raise UsageError(f"{name} is {shown(value)}, which no floating-point number is near") from None
    if number.imag and C.dtype.kind != "c":
        raise UsageError(f"{name} is {number}, and the matrices are real")
    return number


def copy(
    A: DistributedMatrix, B: DistributedMatrix, shape: tuple[int, int] | None = None,
    *, source: tuple[int, int] = (0, 0), target: tuple[int, int] = (0, 0),
) -> None:
    """The elements of B from `target` on <- as many as `shape` (all of A) of A from `source` on; blocks and grids may differ."""

    def check() -> Any:
        wanted = A.shape if shape is None else shape
        return _pair_of("source", source, 0), _pair_of("target", target, 0), _pair_of("shape", wanted, 0)

    session, (begin, to, extent) = _start("copy", A, B, result=B, check=check)
    _core.shared_copy(session, A._core, begin, B._core, to, extent)


def solve(A: DistributedMatrix, B: DistributedMatrix, *, assume_a: str = "gen", lower: bool = False) -> DistributedMatrix:
    """X of A X = B; A and B stay as they are. assume_a="pos": of A, which is positive definite, one triangle is read.

    Raises LinAlgError on all processes where A is singular, or not positive definite."""
    _start("solve", A, B, check=lambda: one_of("assume_a", assume_a, ("gen", "pos")))
    factors, X = A.copy(), B.copy()
    if assume_a == "pos":
        if info := posv(factors, X, lower=lower):
            raise not_positive_definite(info)
        return X
    _, info = gesv(factors, X)
    if info:
        raise LinAlgError(f"the matrix is singular: U({info}, {info}) is 0")
    return X


def residual(A: DistributedMatrix, X: DistributedMatrix, B: DistributedMatrix) -> float:
    """|A X - B| / (n eps (|A| |X| + |B|)) in Frobenius norms; some 10 at most for a backward stable solution."""
    _start("residual", A, X, B)
    rest = B.copy()
    gemm(1, A, X, -1, rest)
    scale = A.norm() * X.norm() + B.norm()
    n = max(A.shape[0], 1)
    return rest.norm() / (n * float(np.finfo(A.dtype).eps) * scale) if scale else 0.0
