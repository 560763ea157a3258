"""How many cores, which tiles, which way to run the chip: what the paper on unequal cores has beside its methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..simulations import Simulation
from .gallery import Case, Row, Section
from .scores import Figure, Order, in_order

BIG, LITTLE = "cortex-a15", "cortex-a7"
#: Tiles that are tried; the paper does not say which it tried.
TILES = (128, 192, 256, 320, 384, 448, 512)
#: n of one to eight workers, and of CATS with one to three LITTLE cores.
SIZES = (2048, 4096, 6144, 7680)
MODEL_N = 6144
MODELS = (
    "global",
    "cluster-switching",
    "cluster-switching-little",
    "cpu-migration",
    "cpu-migration-mixed",
    "cpu-migration-little",
)
WORKERS = range(1, 9)


def units(big: int, little: int) -> tuple[str, ...]:
    return ((f"{LITTLE}:{little}",) if little else ()) + (f"{BIG}:{big}",)


def cases(paper: Mapping[str, Any], quick: bool) -> list[Case]:
    tiles = dict(zip(paper["best_tiles"]["n"], paper["best_tiles"]["nb"], strict=True))

    def case(method: str, n: int, nb: int, scheduler: str, workers: tuple[str, ...] = (), model: str = "") -> Case:
        simulation = Simulation(
            "potrf", n, paper["machine"], nb, variant="in-place", scheduler=scheduler, workers=workers, model=model
        )  # fmt: skip
        return Case(simulation, {"method": method, "n": n, "nb": nb, "effects": []})

    planned = []
    for n in SIZES[:1] if quick else SIZES:
        for count in WORKERS:
            planned.append(case(f"workers-{count}", n, tiles[n], "ompss-bf", units(min(count, 4), max(count - 4, 0))))
        planned += [case(f"cats-4+{little}", n, tiles[n], "botlev", units(4, little)) for little in (1, 2, 3)]
    for name in () if quick else MODELS:
        planned.append(case(f"model-{name}", MODEL_N, tiles[MODEL_N], "ompss-bf", model=name))
    for n in (2048,) if quick else tiles:
        for count in (1, 2, 3, 4):
            planned += [case(f"tiles-{count}", n, nb, "ompss-bf", units(count, 0)) for nb in TILES if nb < n]
    return planned


def _tile_lines(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The best tile of one to four workers beside the published one, and what the published one would lose here."""
    lines = []
    for count in (1, 2, 3, 4):
        published = paper["best_tiles"]["nb" if count == 4 else f"nb_{count}"]
        for n, nb in zip(paper["best_tiles"]["n"], published, strict=True):
            tried = [row for row in rows if row["method"] == f"tiles-{count}" and row["n"] == n]
            if tried:
                speeds = {row["nb"]: row["gflops"] for row in tried}
                best = max(speeds, key=speeds.__getitem__)
                loss = 100 * (1 - speeds[nb] / speeds[best])
                before = max(tried, key=lambda row: row["gflops_unadjusted"])["nb"] if "gflops_unadjusted" in tried[0] else None
                lines.append({"workers": count, "n": n, "published": nb, "ours": best, "unadjusted": before, "loss": loss})
    return lines


def tile_figures(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[Figure]:
    return [
        Figure(f"best tile of {line['workers']} worker{'s' * (line['workers'] > 1)}, n = {line['n']}", line["published"],
               line["ours"], unadjusted=line["unadjusted"])
        for line in _tile_lines(paper, rows)
    ]  # fmt: skip


def _speeds(rows: Sequence[Row], n: int, method: str) -> dict[str, float]:
    return {row["method"]: row["gflops"] for row in rows if row["n"] == n and row["method"].startswith(method)}


def _sizes(rows: Sequence[Row]) -> list[int]:
    return [n for n in SIZES if _speeds(rows, n, "workers-")]


def orders(rows: Sequence[Row]) -> list[Order]:
    """Published: the rate rises from one to four workers; a fifth adds much less than the fourth, or takes away."""
    found = []
    for n in _sizes(rows):
        speeds = _speeds(rows, n, "workers-")
        rising = ["workers-4", "workers-3", "workers-2", "workers-1"]
        ours = sorted(rising, key=lambda method: -speeds[method])
        found.append(in_order(f"n = {n}, one to four workers", rising, ours))
        added = {k: speeds[f"workers-{k}"] - speeds[f"workers-{k - 1}"] for k in (4, 5)}
        names = ["what the fourth worker adds", "what the fifth adds"]
        found.append(in_order(f"n = {n}", names, names if added[4] > 2 * added[5] else names[::-1]))
    return found


def sections(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[Section]:
    return [_tile_section(paper, rows), _worker_section(rows), _model_section(rows)]


def _tile_section(paper: Mapping[str, Any], rows: Sequence[Row]) -> Section:
    columns = {"workers": "big cores", "n": "n", "published": "published", "ours": "simulated", "unadjusted": "unadjusted",
               "loss": "published loses here, %"}  # fmt: skip
    text = f"Tiles of {', '.join(map(str, TILES))} were tried, with the conventional runtime."
    return Section("Best tiles of one to four workers", columns, _tile_lines(paper, rows), text)


def _worker_section(rows: Sequence[Row]) -> Section:
    lines = []
    for n in _sizes(rows):
        speeds, cats = _speeds(rows, n, "workers-"), _speeds(rows, n, "cats")
        whole = next((row["gflops"] for row in rows if row["n"] == n and row["method"] == "cats" and not row["effects"]), None)
        lines.append({"n": n, **speeds, **cats, "cats": whole})
    columns = {"n": "n"} | {f"workers-{k}": str(k) for k in WORKERS}
    columns |= {f"cats-4+{k}": f"CATS 4+{k}" for k in (1, 2, 3)} | {"cats": "CATS 4+4"}
    text = "GFlop/s of the oblivious runtime by workers, big cores first, and of CATS with four big cores and some LITTLE ones."
    return Section("From one to eight workers", columns, lines, text)


def _model_section(rows: Sequence[Row]) -> Section:
    lines = [{**row, "model": row["method"].removeprefix("model-")} for row in rows if row["method"].startswith("model-")]
    columns = {"model": "way to run the chip", "n": "n", "nb": "nb", "gflops": "GFlop/s", "idle_fraction": "idle"}
    text = "The conventional runtime on the cores that are awake. The paper names the three ways and measures the first."
    return Section("Cluster switching, CPU migration, all cores", columns, lines, text)
