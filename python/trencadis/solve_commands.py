"""`trencadis solve` and `trencadis factor`: matrices from files, the answer to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from . import _core
from .conversion import common_dtype, not_hermitian_message
from .errors import LinAlgError, UsageError
from .files import check_output, read_matrix, require_memory, warn, write_matrix
from .options import Engine, Json, Kernels, Scheduler, Threads, TileSize, Workers, open_session, tile_size
from .residuals import factor_residual, solve_residual
from .tables import console, json_line

Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result (.npy or .mtx)")]
Lower = Annotated[bool, typer.Option("--lower", help="Use the lower triangle of A, instead of the upper")]

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


def register(app: typer.Typer) -> None:
    app.command("solve")(solve)
    app.command("factor")(factor)


def solve(
    a: Annotated[Path, typer.Argument(metavar="A", help="The matrix, .npy or .mtx", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="The right sides, .npy or .mtx", show_default=False)],
    output: Output = None,
    assume: Annotated[
        str, typer.Option(metavar="spd", help="Read one triangle of A for both; without it the symmetry is checked")
    ] = "",
    lower: Lower = False,
    as_json: Json = False,
    scheduler: Scheduler = "",
    engine: Engine = "",
    kernels: Kernels = "",
    threads_backend: Threads = "",
    workers: Workers = "",
    nb: TileSize = "auto",
) -> None:
    """Solve A X = B for a symmetric (Hermitian) positive definite matrix A."""
    if assume not in ("", "spd"):
        raise UsageError(f"--assume: '{assume}' is not served; spd is (symmetric or Hermitian positive definite)")
    tile = tile_size(nb)
    if output:
        check_output(output)
    session = open_session(scheduler, engine, kernels, threads_backend, workers)
    A, B = read_matrix(a, warn), read_matrix(b, warn)
    _require_square(A, a)
    if B.shape[0] != A.shape[0]:
        raise UsageError(f"{b}: has shape {B.shape}; {a} of shape {A.shape} needs {A.shape[0]} rows")
    A, B = _convert(session, (A, a), (B, b))
    if not assume:
        _require_hermitian(session, A, a)
    X = _work_copy(B, b)
    seconds = _posv(session, lower, A, X, tile, a) if X.size else 0.0
    n, nrhs = A.shape[0], 1 if X.ndim == 1 else X.shape[1]
    figures = _figures("posv", A, session, tile, seconds, nrhs)
    figures |= {"nrhs": nrhs, "residual": solve_residual(A, X, B, lower), "output": str(output) if output else None}
    if output:
        write_matrix(output, X)
    _report(figures, as_json, f"solved A X = B, A {n} x {n}, {nrhs} right side{'s' * (nrhs != 1)}", "|B - A X| / (|A| |X| eps)")


def factor(
    a: Annotated[Path, typer.Argument(metavar="A", help="The matrix, .npy or .mtx", show_default=False)],
    method: Annotated[str, typer.Option(metavar="cholesky", help="A = U^H U, or with --lower A = L L^H", show_default=False)],
    output: Output = None,
    lower: Lower = False,
    as_json: Json = False,
    scheduler: Scheduler = "",
    engine: Engine = "",
    kernels: Kernels = "",
    threads_backend: Threads = "",
    workers: Workers = "",
    nb: TileSize = "auto",
) -> None:
    """Factor a symmetric (Hermitian) positive definite matrix; one triangle is read."""
    if method != "cholesky":
        raise UsageError(f"--method: '{method}' is not served; cholesky is")
    tile = tile_size(nb)
    if output:
        check_output(output)
    session = open_session(scheduler, engine, kernels, threads_backend, workers)
    A = read_matrix(a, warn)
    _require_square(A, a)
    (A,) = _convert(session, (A, a))
    if A.size and not _core.is_hermitian(session, A):
        warn(f"{a} is {_shape_of_mistake(A)}; its {'lower' if lower else 'upper'} triangle is taken for both")
    F = _work_copy(A, a)
    seconds = _potrf(session, lower, F, tile, a) if F.size else 0.0
    F = np.tril(F) if lower else np.triu(F)
    n = A.shape[0]
    figures = _figures("potrf", A, session, tile, seconds)
    figures |= {"residual": factor_residual(A, F, lower), "output": str(output) if output else None}
    if output:
        write_matrix(output, F)
    name = "L L^H" if lower else "U^H U"
    _report(figures, as_json, f"factored A = {name}, A {n} x {n}", f"|A v - {name} v| / (n |A| |v| eps), random v")


def _uplo(lower: bool) -> str:
    return "L" if lower else "U"


def _require_positive(path: Path, info: int) -> None:
    if info:
        raise LinAlgError(f"{path}: is not positive definite: the leading minor of order {info} is not positive")


def _require_square(A: np.ndarray, path: Path) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise UsageError(f"{path}: has shape {A.shape}; a square matrix is needed")


def _convert(session: _core.Session, *named: tuple[np.ndarray, Path]) -> list[np.ndarray]:
    """All in the one dtype that the library computes in, and finite."""
    dtype = common_dtype(*(array for array, _ in named))
    arrays = [np.asarray(array, dtype) for array, _ in named]
    for array, (_, path) in zip(arrays, named, strict=True):
        if array.size and not _core.all_finite(session, array):
            place = ", ".join(str(int(i)) for i in np.argwhere(~np.isfinite(array))[0])
            raise UsageError(f"{path}: the element [{place}] is {array[~np.isfinite(array)][0]}; all must be finite")
    return arrays


def _require_hermitian(session: _core.Session, A: np.ndarray, path: Path) -> None:
    if A.size and not _core.is_hermitian(session, A):
        raise UsageError(not_hermitian_message(A, str(path), "--assume spd"))


def _shape_of_mistake(A: np.ndarray) -> str:
    if not np.iscomplexobj(A):
        return "not symmetric"
    return "complex symmetric, not Hermitian" if np.array_equal(A, A.T) else "not Hermitian"


def _work_copy(array: np.ndarray, path: Path) -> np.ndarray:
    require_memory(path, array.nbytes, "the work copy")
    return np.array(array, order="F")


def _posv(session: _core.Session, lower: bool, A: np.ndarray, X: np.ndarray, tile: int, path: Path) -> float:
    """Solves in place of X; the seconds it took, without the copy of A that is factored."""
    factor = _work_copy(A, path)
    begin = time.perf_counter()
    info = _core.posv(session, _uplo(lower), factor, X, tile)
    seconds = time.perf_counter() - begin
    _require_positive(path, info)
    return seconds


def _potrf(session: _core.Session, lower: bool, F: np.ndarray, tile: int, path: Path) -> float:
    begin = time.perf_counter()
    info = _core.potrf(session, _uplo(lower), F, tile)
    seconds = time.perf_counter() - begin
    _require_positive(path, info)
    return seconds


def _figures(routine: str, A: np.ndarray, session: _core.Session, tile: int, seconds: float, nrhs: int = 1) -> dict[str, Any]:
    options = session.options()
    total = _core.routine_flops(routine, A.dtype.kind == "c", A.shape[0], nrhs=nrhs)
    variant = session.default_variant(routine)
    return {
        "routine": routine,
        "n": A.shape[0],
        "nb": tile or _core.default_tile(routine, variant, A.shape[0], A.dtype.itemsize, len(options["workers"])),
        "precision": _LETTERS[A.dtype.char],
        "engine": options["engine"],
        "scheduler": options["scheduler"],
        "kernels": options["kernels"],
        "kernels_version": session.kernels_version,
        "threads": options["threads"],
        "workers": options["workers"],
        "seconds": seconds,
        "gflops": total / seconds / 1e9 if seconds > 0 and total > 0 else None,
        "simulated": False,
    }


def _report(figures: dict[str, Any], as_json: bool, what: str, measure: str) -> None:
    if as_json:
        print(json_line(figures))
        return
    out = console()
    speed = f", {figures['gflops']:.1f} GFlop/s" if figures["gflops"] else ""
    name = figures["precision"] + figures["routine"]
    out.print(f"{what} ({name}): {figures['seconds']:.4f} s{speed}", soft_wrap=True, markup=False)
    out.print(
        f"{figures['engine']} engine, {figures['scheduler']} scheduler, {figures['kernels']} kernels, "
        f"{len(figures['workers'])} worker{'s' * (len(figures['workers']) != 1)}",
        soft_wrap=True,
        markup=False,
    )
    if figures["residual"] is not None:
        out.print(f"residual {figures['residual']:.3g} = {measure}; LAPACK's tests pass below 30", soft_wrap=True, markup=False)
    if figures["output"]:
        out.print(f"written to {figures['output']}", soft_wrap=True, markup=False)
