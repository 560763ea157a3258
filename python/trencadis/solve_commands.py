"""`trencadis solve` and `trencadis factor`: matrices from files, the answer to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from . import _core
from .checks import one_of
from .conversion import common_dtype
from .errors import UsageError
from .files import check_output, read_matrix, warn, write_arrays, write_matrix
from .lu import permutation
from .mpi import one_voice
from .options import (
    Devices,
    Engine,
    Grid,
    Kernels,
    Owners,
    Scheduler,
    Threads,
    TileSize,
    Workers,
    open_session,
    tile_size,
    with_processes,
)
from .records import JsonTo, check_record_target, device_fields, emit, who_ran, with_devices
from .residuals import Part, factor_residual, lu_residual, normal_residual, qr_residual, solve_residual
from .solve_methods import (
    Fitted,
    Solved,
    factor_general,
    factor_orthogonal,
    factor_positive,
    singular,
    solve_any,
    solve_least_squares,
    solve_positive,
    work_copy,
)
from .tables import console

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
        str,
        typer.Option(
            metavar="general|spd|least-squares",
            help="general: what A is, is found out; spd: one triangle of A is read for both; least-squares: A is m x n",
        ),
    ] = "general",
    lower: Lower = False,
    json: JsonTo = None,
    scheduler: Scheduler = "",
    engine: Engine = "",
    kernels: Kernels = "",
    threads_backend: Threads = "",
    workers: Workers = "",
    devices: Devices = "",
    nb: TileSize = "auto",
    grid: Grid = "",
    owners: Owners = "",
) -> None:
    """Solve A X = B: by Cholesky where A is symmetric (Hermitian) positive definite, by substitution where it is triangular,
    else by LU. With --assume least-squares the X that makes |B - A X| least, by QR."""
    spd = _choice("--assume", assume, "spd", "general", "least-squares") == "spd"
    if lower and not spd:
        raise UsageError("--lower: goes with --assume spd; otherwise all of A is read")
    tile = tile_size(nb)
    check_record_target(json)
    if with_processes(engine, grid, owners):
        with one_voice():
            wishes = scheduler, engine, kernels, threads_backend, workers
            _solve_processes(a, b, output, assume, lower, tile, open_session(*wishes, devices=devices), (grid, owners), json)
        return
    if output:
        check_output(output)
    session = open_session(scheduler, engine, kernels, threads_backend, workers, devices=devices)
    notes: list[str] = []  # for what is not refused
    A, B = read_matrix(a, notes.append), read_matrix(b, notes.append)
    (_require_matrix if assume == "least-squares" else _require_square)(A, a)
    if B.shape[0] != A.shape[0]:
        raise UsageError(f"{b}: has shape {B.shape}; {a} of shape {A.shape} needs {A.shape[0]} rows")
    _tell(notes)
    A, B = _convert(session, (A, a), (B, b))
    if assume == "least-squares":
        _solve_least_squares(session, A, B, a, tile, output, json)
        return
    X = work_copy(B, b)
    if X.size == 0:
        solved = Solved("posv" if spd else "gesv", 0.0, None)
    else:
        solved = solve_positive(session, A, X, tile, a, lower) if spd else solve_any(session, A, X, tile, a)
    _warn_ill_conditioned(solved, A, a)
    _warn_overflow(X)
    n, nrhs = A.shape[0], 1 if X.ndim == 1 else X.shape[1]
    part: Part = "all" if not spd else "lower" if lower else "upper"
    extents = {"n": nrhs, "m": n} if solved.routine == "trsm" else {"n": n, "nrhs": nrhs}
    figures = _figures(solved.routine, A, session, tile, solved.seconds, extents)
    figures |= {"nrhs": nrhs, "rcond": solved.rcond, "residual": solve_residual(A, X, B, part)}
    figures["output"] = str(output) if output else None
    if output:
        write_matrix(output, X)
    _report(figures, json, f"solved A X = B, A {n} x {n}, {nrhs} right side{'s' * (nrhs != 1)}", "|B - A X| / (|A| |X| eps)")


def _solve_processes(
    a: Path, b: Path, output: Path | None, assume: str, lower: bool, tile: int, session: _core.Session, dealt: tuple[str, str],
    json: str | None,
) -> None:
    """By the processes of an MPI program; the first one prints."""
    from . import distributed_bench as distributed
    from . import distributed_files

    if assume == "least-squares":
        raise UsageError(f"--assume: engine {distributed.ENGINE} solves general and spd systems, no least squares")
    rank, processes = _core.process(session)
    layout = distributed.layout_of(*dealt, processes, "posv" if assume == "spd" else "gesv")

    def checked_output() -> None:
        if output and rank == 0:
            check_output(output)

    distributed_files.together(_core, session, checked_output)
    figures = distributed_files.solve(_core, session, a, b, output, assume == "spd", lower, tile, layout)
    figures |= {"engine": session.options()["engine"], "grid": str(layout), "processes": processes}
    figures["output"] = str(output) if output else None
    if rank == 0:
        n, nrhs = figures["n"], figures["nrhs"]
        by = f"{processes} process{'es' * (processes != 1)}, grid {layout}"
        what = f"solved A X = B, A {n} x {n}, {nrhs} right side{'s' * (nrhs != 1)}, {by}"
        _report_shared(figures, json, what)


def _report_shared(figures: dict[str, Any], json: str | None, what: str) -> None:
    if json:
        emit([figures], json)
        return
    residual = figures["residual"]
    print(what if residual is None else f"{what}; |A X - B| / (n eps (|A| |X| + |B|)) = {residual:.2g}")
    if figures["output"]:
        print(f"wrote {figures['output']}")


def _solve_least_squares(
    session: _core.Session, A: np.ndarray, B: np.ndarray, path: Path, tile: int, output: Path | None, json: str | None
) -> None:
    fitted = solve_least_squares(session, A, B, tile, path)
    _warn_rank(fitted, A, path)
    _warn_overflow(fitted.X)
    (m, n), nrhs = A.shape, 1 if B.ndim == 1 else B.shape[1]
    # gelsd's operations are not counted: they depend on how its iterations converge.
    figures = _figures("gels", A, session, tile, fitted.seconds, {"n": n, "m": m, "nrhs": nrhs})
    if fitted.routine != "gels":
        figures |= {"routine": fitted.routine, "nb": None, "gflops": None}
    figures |= {"m": m, "nrhs": nrhs, "rcond": fitted.rcond, "rank": fitted.rank}
    figures |= {"residual": normal_residual(A, fitted.X, B), "output": str(output) if output else None}
    if output:
        write_matrix(output, fitted.X)
    what = f"solved A X = B in least squares, A {m} x {n}, {nrhs} right side{'s' * (nrhs != 1)}"
    _report(figures, json, what, "|A^H (B - A X)| / (|A| (|A| |X| + |B|) max(m, n) eps)")


def _warn_overflow(X: np.ndarray) -> None:
    if not np.isfinite(X).all():
        warn(f"elements of X are beyond the largest {X.dtype} number, {np.finfo(X.dtype).max:.2g}: they are inf or nan")


def _warn_rank(fitted: Fitted, A: np.ndarray, path: Path) -> None:
    if fitted.routine == "gels":
        return
    rest = "the shortest solution is by singular values (SciPy's gelsd)"
    if fitted.rank < min(A.shape):
        warn(f"{path} has the rank {fitted.rank} of {min(A.shape)} to working precision; {rest}")
    else:
        warn(f"{path} is ill-conditioned: its triangular factor's reciprocal condition is about {fitted.rcond:.2g}; {rest}")


def factor(
    a: Annotated[Path, typer.Argument(metavar="A", help="The matrix, .npy or .mtx", show_default=False)],
    method: Annotated[
        str,
        typer.Option(
            metavar="cholesky|lu|qr", help="A = U^H U, or with --lower A = L L^H; A = P L U; or A = Q R", show_default=False
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the factor (.npy or .mtx); with lu and qr .npz")
    ] = None,
    lower: Lower = False,
    json: JsonTo = None,
    scheduler: Scheduler = "",
    engine: Engine = "",
    kernels: Kernels = "",
    threads_backend: Threads = "",
    workers: Workers = "",
    devices: Devices = "",
    nb: TileSize = "auto",
) -> None:
    """Factor a matrix: cholesky reads one triangle of a positive definite one; lu takes any, and writes the arrays lu and piv, as
    lu_factor returns them; qr takes any, and writes qr and tau, as qr returns them with mode 'raw': R, and the reflectors
    under it."""
    cholesky = _choice("--method", method, "lu", "cholesky", "qr") == "cholesky"
    if lower and not cholesky:
        raise UsageError("--lower: goes with --method cholesky")
    tile = tile_size(nb)
    check_record_target(json)
    if output:
        check_output(output, archive=not cholesky)
    session = open_session(scheduler, engine, kernels, threads_backend, workers, devices=devices)
    notes: list[str] = []
    A = read_matrix(a, notes.append)
    (_require_square if cholesky else _require_matrix)(A, a)
    _tell(notes)
    (A,) = _convert(session, (A, a))
    if cholesky:
        _factor_cholesky(session, A, a, tile, output, json, lower)
    else:
        (_factor_lu if method == "lu" else _factor_qr)(session, A, a, tile, output, json)


def _factor_cholesky(
    session: _core.Session, A: np.ndarray, path: Path, tile: int, output: Path | None, json: str | None, lower: bool
) -> None:
    if A.size and not _core.is_hermitian(session, A):
        warn(f"{path} is {_shape_of_mistake(A)}; its {'lower' if lower else 'upper'} triangle is taken for both")
    F = work_copy(A, path)
    seconds = factor_positive(session, F, tile, path, lower) if F.size else 0.0
    F = np.tril(F) if lower else np.triu(F)
    n = A.shape[0]
    figures = _figures("potrf", A, session, tile, seconds, {"n": n})
    figures |= {"residual": factor_residual(A, F, lower), "output": str(output) if output else None}
    if output:
        write_matrix(output, F)
    name = "L L^H" if lower else "U^H U"
    _report(figures, json, f"factored A = {name}, A {n} x {n}", f"|A v - {name} v| / (n |A| |v| eps), random v")


def _factor_lu(session: _core.Session, A: np.ndarray, path: Path, tile: int, output: Path | None, json: str | None) -> None:
    m, n = A.shape
    F, piv, zero, seconds = work_copy(A, path), np.empty(0, np.int32), 0, 0.0
    if F.size:
        piv, zero, seconds = factor_general(session, F, tile)
    figures = _figures("getrf", A, session, tile, seconds, {"n": n, "m": m})
    figures |= {"m": m, "residual": lu_residual(A, F, permutation(piv, m)), "output": str(output) if output else None}
    if output:
        write_arrays(output, lu=F, piv=piv)
    _report(figures, json, f"factored A = P L U, A {m} x {n}", "|A v - P L U v| / (n |A| |v| eps), random v")
    if zero:  # the factors are complete and written all the same, as lu_factor leaves them
        raise singular(path, zero)


def _factor_qr(session: _core.Session, A: np.ndarray, path: Path, tile: int, output: Path | None, json: str | None) -> None:
    m, n = A.shape
    F, tau, seconds = work_copy(A, path), np.empty(0, A.dtype), 0.0
    if F.size:
        tau, seconds = factor_orthogonal(session, F, tile)
    figures = _figures("geqrf", A, session, tile, seconds, {"n": n, "m": m})
    figures |= {"m": m, "residual": qr_residual(session, A, F, tau), "output": str(output) if output else None}
    if output:
        write_arrays(output, qr=F, tau=tau)
    _report(figures, json, f"factored A = Q R, A {m} x {n}", "|A v - Q R v| / (n |A| |v| eps), random v")


def _choice(option: str, given: str, *served: str) -> str:
    return one_of(option, given, served)


def _warn_ill_conditioned(solved: Solved, A: np.ndarray, path: Path) -> None:
    if solved.rcond is not None and not solved.rcond >= np.finfo(A.dtype).eps:
        warn(f"{path} is ill-conditioned: its reciprocal condition is about {solved.rcond:.2g}; the result may not be accurate")


def _tell(notes: list[str]) -> None:
    for note in notes:
        warn(note)


def _require_matrix(A: np.ndarray, path: Path) -> None:
    if A.ndim != 2:
        raise UsageError(f"{path}: has shape {A.shape}; a matrix is needed")


def _require_square(A: np.ndarray, path: Path) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise UsageError(f"{path}: has shape {A.shape}; a square matrix is needed")


def _convert(session: _core.Session, *named: tuple[np.ndarray, Path]) -> list[np.ndarray]:
    """All in the one dtype that the library computes in, and finite."""
    dtype = common_dtype(*(array for array, _ in named))
    with np.errstate(over="ignore", invalid="ignore"):  # of longer numbers; what is not finite is named below
        arrays = [np.asarray(array, dtype) for array, _ in named]
    for array, (_, path) in zip(arrays, named, strict=True):
        if array.size and not _core.all_finite(session, array):
            place = ", ".join(str(int(i)) for i in np.argwhere(~np.isfinite(array))[0])
            raise UsageError(f"{path}: the element [{place}] is {array[~np.isfinite(array)][0]}; all must be finite")
    return arrays


def _shape_of_mistake(A: np.ndarray) -> str:
    if not np.iscomplexobj(A):
        return "not symmetric"
    return "complex symmetric, not Hermitian" if np.array_equal(A, A.T) else "not Hermitian"


def _figures(
    routine: str, A: np.ndarray, session: _core.Session, tile: int, seconds: float, extents: dict[str, int]
) -> dict[str, Any]:
    options = session.options()
    total = _core.routine_flops(routine, A.dtype.kind == "c", **extents)
    variant, laid_out = session.last_variant(routine) if options["devices"] else (session.default_variant(routine), 0)
    return {
        "routine": routine,
        "n": A.shape[1],
        "nb": tile or laid_out or _core.default_tile(routine, variant, A.shape[1], A.dtype.itemsize, len(options["workers"])),
        "precision": _LETTERS[A.dtype.char],
        "engine": options["engine"],
        "scheduler": options["scheduler"] or None,
        "runtime": session.runtime or None,
        "kernels": options["kernels"],
        "kernels_version": session.kernels_version,
        "threads": options["threads"],
        "workers": options["workers"],
        **device_fields(options["devices"]),
        "seconds": seconds,
        "gflops": total / seconds / 1e9 if seconds > 0 and total > 0 else None,
        "simulated": False,
    }


def _report(figures: dict[str, Any], json: str | None, what: str, measure: str) -> None:
    if json:
        return emit([figures], json)
    out = console()
    speed = f", {figures['gflops']:.1f} GFlop/s" if figures["gflops"] else ""
    name = figures["precision"] + figures["routine"]
    out.print(f"{what} ({name}): {figures['seconds']:.4f} s{speed}", soft_wrap=True, markup=False)
    workers = f"{len(figures['workers'])} worker{'s' * (len(figures['workers']) != 1)}"
    out.print(
        ", ".join([who_ran(figures), f"{figures['kernels']} kernels", workers, *with_devices(figures)]),
        soft_wrap=True,
        markup=False,
    )
    if figures["residual"] is not None:
        out.print(f"residual {figures['residual']:.3g} = {measure}; LAPACK's tests pass below 30", soft_wrap=True, markup=False)
    if figures.get("rcond") is not None:
        out.print(f"reciprocal condition {figures['rcond']:.2g}, estimated in the 1-norm", soft_wrap=True, markup=False)
    if figures["output"]:
        out.print(f"written to {figures['output']}", soft_wrap=True, markup=False)
    return None
