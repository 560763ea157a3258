"""`trencadis growth` on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import numpy as np
import typer

from . import _core
from .checks import one_of
from .forms import forms_of
from .growth import MATRICES, REFERENCE, table
from .options import PRECISIONS, Engine, Kernels, Scheduler, Threads, TileSize, Workers, open_session, tile_size
from .records import JsonTo, Step, check_record_target, collect, progress_bar, write_records
from .tables import print_table
from .workload import SEED, require_memory

Names = Annotated[str, typer.Option("--matrix", metavar="NAME[,..]", help=f"Of {', '.join(MATRICES)}; default: all")]
Variants = Annotated[str, typer.Option("--variant", metavar="V[,..]", help="Of getrf's; default: all that pivot differently")]
Precision = Annotated[str, typer.Option("--precision", metavar="s|d", help="single, double")]

#: Those whose pivots are not partial pivoting's, and that.
DIFFERENT = ",".join([REFERENCE, *forms_of("getrf", other_pivots=True)])
_SHOWN = {
    "matrix": "matrix", "variant": "variant", "n": "n", "nb": "nb", "growth": "growth", "growth_ratio": "over partial pivoting",
    "error": "backward error", "info": "zero pivot",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("growth")(growth)


def growth(
    n: Annotated[int, typer.Option("--n", min=1, help="Order of the matrices")] = 1000,
    matrix: Names = "",
    variant: Variants = DIFFERENT,
    precision: Precision = "d",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random ones")] = SEED,
    nb: TileSize = "auto",
    scheduler: Scheduler = "", engine: Engine = "", kernels: Kernels = "", threads_backend: Threads = "", workers: Workers = "",
    json: JsonTo = None,
) -> None:  # fmt: skip
    """Growth and backward error of LU's variants on random, hard and ill-conditioned matrices, beside partial pivoting."""
    one_of("--precision", precision, ("s", "d"))
    names = _known("--matrix", matrix or ",".join(MATRICES), list(MATRICES))
    routine = next(row for row in _core.list_routines() if row["name"] == "getrf")
    variants = _known("--variant", variant, list(routine["variants"]))
    check_record_target(json)
    dtype = np.dtype(PRECISIONS[precision])
    require_memory(8 * n * n * 16, f"growth with n = {n}")  # products in extended precision
    session, tile = open_session(scheduler, engine, kernels, threads_backend, workers), tile_size(nb)
    with progress_bar(len(names) * len(variants)) as step:
        rows = collect(_stepped(table(session, names, variants, n, tile, dtype, seed), step), json)
    if json:
        return write_records(rows, json)
    print_table(
        rows, _SHOWN, f"measured: LU's growth and backward errors, n = {n}, {dtype}, unit roundoff {np.finfo(dtype).eps / 2:.2g}"
    )
    return None


def _stepped(rows: Iterable[dict[str, Any]], step: Step) -> Iterator[dict[str, Any]]:
    for row in rows:
        step(f"{row['matrix']}, {row['variant']}", 1)
        yield row


def _known(option: str, text: str, known: list[str]) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        one_of(option, word, known)
    return words
