"""`trencadis solve` over the processes of an MPI program: each reads its own tiles from the files, and writes its own to the
result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .checks import as_text
from .distributed_bench import Layout, check_tile_size
from .errors import LinAlgError, UsageError, not_positive_definite
from .files import check_output

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
_LINES = 1 << 22  #: bytes of a .mtx file that are looked at together


def together(core: Any, session: Any, do: Callable[[], Any]) -> Any:
    """What `do` answers on this process; where it fails on one, all of them raise what that one says."""
    result, failure = None, ""
    try:
        result = do()
    except Exception as error:
        failure = str(error) or type(error).__name__
    try:
        core.throw_together(session, as_text(failure))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return result


class NpyFile:
    """A matrix in a .npy file, of which parts are read."""

    def __init__(self, path: Path) -> None:
        try:
            self._array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise UsageError(f"{path}: cannot be read: {error}") from None
        if self._array.ndim not in (1, 2) or self._array.dtype.kind not in "biufc":
            raise UsageError(f"{path}: holds {self._array.dtype} of shape {self._array.shape}; a matrix or a vector is needed")
        self.shape, self.dtype = self._array.shape, self._array.dtype
        self._columns = self._array if self._array.ndim == 2 else self._array[:, None]

    def fill(self, matrix: Any, nb: int, tile_cols: int) -> None:
        for i in range(0, self._columns.shape[0], nb):
            for j in range(0, self._columns.shape[1], tile_cols):
                if matrix.is_here(i // nb, j // tile_cols):
                    matrix.tile(i // nb, j // tile_cols)[...] = self._columns[i : i + nb, j : j + tile_cols]


class MtxFile:
    """A matrix in a .mtx file, which each process reads piece by piece and keeps its own of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                words = file.readline().split()
                sizes = file.readline()
                while sizes.startswith(b"%") or not sizes.strip() and sizes:
                    sizes = file.readline()
                self._begin = file.tell()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
        lower = [word.lower() for word in words]
        if len(lower) != 5 or lower[:2] != [b"%%matrixmarket", b"matrix"] or lower[2] not in (b"coordinate", b"array"):
            raise UsageError(f"{path}: begins not as a Matrix Market file of a matrix does")
        self._sparse, self._complex, self._symmetry = lower[2] == b"coordinate", lower[3] == b"complex", lower[4]
        if lower[3] not in (b"real", b"double", b"integer", b"complex") or self._symmetry not in (
            b"general", b"symmetric", b"hermitian", b"skew-symmetric"
        ):
            kind = f"{lower[3].decode()} {lower[4].decode()}"
            raise UsageError(f"{path}: holds {kind} numbers, which several processes do not read")
        if self._symmetry != b"general" and not self._sparse:
            raise UsageError(f"{path}: is a {lower[4].decode()} array; several processes read general ones, and coordinates")
        try:
            counts = [int(word) for word in sizes.split()]
            self.shape = tuple(counts[:2])
            self._entries = counts[2] if self._sparse else counts[0] * counts[1]
        except (ValueError, IndexError):
            raise UsageError(f"{path}: its line of sizes is '{sizes.decode(errors='replace').strip()}'") from None
        self.dtype = np.dtype(np.complex128 if self._complex else np.float64)

    def fill(self, matrix: Any, nb: int, tile_cols: int) -> None:
        at = 0
        with self._path.open("rb") as file:
            file.seek(self._begin)
            while lines := file.readlines(_LINES):
                numbers = self._numbers(lines)
                if self._sparse:
                    i, j = numbers[:, 0].astype(np.int64) - 1, numbers[:, 1].astype(np.int64) - 1
                    self._put(matrix, nb, tile_cols, i, j, numbers[:, 2:])
                    if self._symmetry != b"general":
                        off = i != j
                        self._put(matrix, nb, tile_cols, j[off], i[off], numbers[off, 2:], mirrored=True)
                else:
                    place = np.arange(at, at + len(numbers))
                    self._put(matrix, nb, tile_cols, place % self.shape[0], place // self.shape[0], numbers)
                at += len(numbers)
        if at != self._entries:
            raise UsageError(f"{self._path}: is truncated or damaged: has {at} elements, and promises {self._entries}")

    def _numbers(self, lines: list[bytes]) -> np.ndarray:
        words = 2 * self._sparse + 1 + self._complex
        kept = [line for line in lines if line.strip() and not line.startswith(b"%")]
        try:
            return np.array([line.split() for line in kept], dtype=np.float64).reshape(len(kept), words)
        except ValueError:
            raise UsageError(f"{self._path}: has a line that does not hold {words} numbers") from None

    def _put(
        self, matrix: Any, nb: int, tile_cols: int, i: np.ndarray, j: np.ndarray, parts: np.ndarray, mirrored: bool = False
    ) -> None:
        if len(i) and (i.min() < 0 or j.min() < 0 or i.max() >= self.shape[0] or j.max() >= self.shape[1]):
            raise UsageError(f"{self._path}: names an element outside of {self.shape[0]} x {self.shape[1]}")
        values = parts[:, 0] + 1j * parts[:, 1] if self._complex else parts[:, 0]
        if mirrored:
            values = {b"hermitian": np.conj, b"skew-symmetric": np.negative}.get(self._symmetry, np.asarray)(values)
        tiles = (i // nb) * (self.shape[1] // tile_cols + 1) + j // tile_cols
        for tile in np.unique(tiles):
            here = tiles == tile
            at = int(i[here][0] // nb), int(j[here][0] // tile_cols)
            if matrix.is_here(*at):
                np.add.at(matrix.tile(*at), (i[here] - at[0] * nb, j[here] - at[1] * tile_cols), values[here])


def computed_in(*dtypes: np.dtype) -> np.dtype:
    """What matrices with elements of these are computed in."""
    dtype = np.result_type(*dtypes, np.float32)
    return dtype if dtype.char in _LETTERS else np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def opened(path: Path) -> NpyFile | MtxFile:
    readers: dict[str, type[NpyFile | MtxFile]] = {".npy": NpyFile, ".mtx": MtxFile}
    if reader := readers.get(path.suffix.lower()):
        return reader(path)
    raise UsageError(f"{path}: cannot tell the format from the name; give a file called .npy or .mtx")


class NpyTarget:
    """A .npy file that processes write their tiles to."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._shape, self._dtype = shape, dtype

    def begin(self, path: Path) -> None:
        if 0 in self._shape:  # nothing to map
            with path.open("wb") as file: # np.save would lengthen the name
                return np.save(file, np.zeros(self._shape, self._dtype))
        return np.lib.format.open_memmap(path, "w+", self._dtype, self._shape, fortran_order=True).flush()

    def put(self, path: Path, parts: Callable[[], Iterator[tuple[int, int, np.ndarray]]]) -> None:
        if 0 in self._shape:
            return
        array = np.lib.format.open_memmap(path, "r+")
        columns = array.reshape(self._shape[0], -1, order="F")
        for i, j, tile in parts():
            columns[i : i + tile.shape[0], j : j + tile.shape[1]] = tile
        array.flush()


class MtxTarget:
    """A .mtx file likewise: all its lines have one length, so that each process knows where its own are."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._rows, self._cols = (*shape, 1)[:2]
        number = "%16.8e" if dtype.itemsize == (8 if dtype.kind == "c" else 4) else "%25.16e"  # every bit of it
        self._complex = dtype.kind == "c"
        self._line = f"{number} {number}\n" if self._complex else f"{number}\n"
        self._bytes = len(self._line % ((0, 0) if self._complex else 0))
        field = "complex" if self._complex else "real"
        self._head = f"%%MatrixMarket matrix array {field} general\n{self._rows} {self._cols}\n".encode()

    def begin(self, path: Path) -> None:
        with path.open("wb") as file:
            file.write(self._head)
            file.truncate(len(self._head) + self._rows * self._cols * self._bytes)

    def put(self, path: Path, parts: Callable[[], Iterator[tuple[int, int, np.ndarray]]]) -> None:
        with path.open("r+b") as file:
            for i, j, tile in parts():
                for col in range(tile.shape[1]):
                    values = np.ascontiguousarray(tile[:, col])
                    numbers = values.view(values.real.dtype) if self._complex else values
                    file.seek(len(self._head) + (i + (j + col) * self._rows) * self._bytes)
                    file.write((self._line * len(values) % tuple(numbers.tolist())).encode())


def require_place(path: Path) -> None:
    """UsageError where a file of that name could not be written: what is there may be replaced by another file."""
    check_output(path)
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is no plain file; several processes write their parts of one")


def write(
    core: Any, session: Any, path: Path, matrix: Any, shape: tuple[int, ...], dtype: np.dtype, nb: int, tile_cols: int
) -> None:
    """Each process its tiles, into a file that gets its name when all are there."""
    rank, _ = core.process(session)

    def places() -> tuple[Path, bytes]:
        if rank == 0:
            require_place(path)
        real = Path(os.path.realpath(path))
        return real, os.fsencode(real.with_name(f".{real.name}.{os.getpid()}.part"))

    path, ours = together(core, session, places)
    rest = Path(os.fsdecode(core.broadcast(session, ours, 4096, 0).rstrip(b"\0")))
    target = (NpyTarget if path.suffix.lower() == ".npy" else MtxTarget)(shape, dtype)

    def parts() -> Iterator[tuple[int, int, np.ndarray]]:
        for i in range(0, shape[0], nb):
            for j in range(0, (*shape, 1)[1], tile_cols):
                if matrix.is_here(i // nb, j // tile_cols):
                    yield i, j, matrix.tile(i // nb, j // tile_cols)

    steps = (
        lambda: target.begin(rest) if rank == 0 else None,
        lambda: target.put(rest, parts),
        lambda: rest.replace(path) if rank == 0 else None,
    )
    try:
        for step in steps:
            together(core, session, step)
    except BaseException:
        with suppress(OSError):
            rest.unlink()
        raise


def require_finite(path: Path, matrix: Any, shape: tuple[int, int], nb: int, tile_cols: int, triangle: str = "") -> None:
    """Of the tiles that this process holds; of one triangle, L or U, where the other is not looked at."""
    part = {"L": np.tril, "U": np.triu}.get(triangle, np.asarray)
    for i in range(0, shape[0], nb):
        for j in range(0, shape[1], tile_cols):
            if (triangle == "L" and j > i) or (triangle == "U" and i > j) or not matrix.is_here(i // nb, j // tile_cols):
                continue
            tile = matrix.tile(i // nb, j // tile_cols)
            wrong = np.argwhere(~np.isfinite(part(tile) if i == j else tile))
            if len(wrong):
                row, col = wrong[0]
                raise UsageError(f"{path}: element [{i + row}, {j + col}] is {tile[row, col]}; all must be finite")


def solve(
    core: Any, session: Any, a: Path, b: Path, output: Path | None, spd: bool, lower: bool, nb: int, layout: Layout
) -> dict[str, Any]:
    """A X = B; figures for a record."""
    A_file, B_file = together(core, session, lambda: (opened(a), opened(b)))
    n, idle_too = A_file.shape[0], not nb  # where nobody has said how to cut it, small ones leave processes idle
    nb = nb or max(1, min(256, n // max(layout.grid)))
    if len(A_file.shape) != 2 or A_file.shape[1] != n:
        raise UsageError(f"{a}: has shape {A_file.shape}; a square matrix is needed")
    if B_file.shape[0] != n:
        raise UsageError(f"{b}: has shape {B_file.shape}; {a} of shape {A_file.shape} needs {n} rows")
    check_tile_size(n, nb)
    dtype = computed_in(A_file.dtype, B_file.dtype)
    nrhs = 1 if len(B_file.shape) == 1 else B_file.shape[1]
    rhs = max(1, min(nrhs, nb))

    def matrix(cols: int, width: int, idle_too: bool) -> Any:
        return core.DistributedMatrix(session, _LETTERS[dtype.char], n, cols, nb, width, layout.grid, layout.symmetric, idle_too)

    A, factors = matrix(n, nb, idle_too), matrix(n, nb, idle_too)
    B, X = matrix(nrhs, rhs, True), matrix(nrhs, rhs, True)
    triangle = ("L" if lower else "U") if spd else ""

    def fill() -> None:
        A_file.fill(A, nb, nb)
        B_file.fill(B, nb, rhs)
        require_finite(a, A, (n, n), nb, nb, triangle)
        require_finite(b, B, (n, nrhs), nb, rhs)

    together(core, session, fill)
    factors.copy_tiles(A)
    X.copy_tiles(B)
    info = _solved(core, session, n, factors, X, triangle) if n and nrhs else 0
    if info:
        raise not_positive_definite(info) if spd else LinAlgError(f"{a}: the matrix is singular: U({info}, {info}) is 0")
    figures: dict[str, Any] = {"routine": "posv" if spd else "gesv", "n": n, "nrhs": nrhs, "nb": nb}
    figures |= {"precision": _LETTERS[dtype.char], "residual": None}
    if not spd and n and nrhs:
        scale = A.norm(session) * X.norm(session) + B.norm(session)
        core.shared_gemm(session, "N", "N", 1, A, X, -1, B)
        figures["residual"] = B.norm(session) / (n * float(np.finfo(dtype).eps) * scale) if scale else 0.0
    if output:
        write(core, session, output, X, B_file.shape, dtype, nb, rhs)
    return figures


def _solved(core: Any, session: Any, n: int, factors: Any, X: Any, triangle: str) -> int:
    """LAPACK's info; X is the solution, and A its factors."""
    if triangle:
        return core.shared_posv(session, triangle, factors, X, "")
    pivots = np.zeros(n, np.int64)
    return core.shared_gesv(session, factors, pivots, X, "")
