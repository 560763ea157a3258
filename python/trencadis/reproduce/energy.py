"""Speed and energy of the OpenMP runtimes' presets on an SGI UV2000, and ours, with the levers of the clock and of idle cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from ..effects import lever_effects
from ..seeds import spread
from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures
from .scores import Scores

TITLE = "One algorithm over many runtimes: speed and energy on an SGI UV2000"
COLUMNS = {
    "routine": "routine", "variant": "variant", "placement": "tiles", "preset": "preset", "turbo": "turbo",
    "c_states": "C-states", "governor": "governor", "n": "n", "gflops": "GFlop/s", "interval": "95 %", "published": "published",
    "difference": "difference", "package_kj": "PKG kJ", "cores_kj": "PP0 kJ", "memory_kj": "DRAM kJ", "kilojoules": "PKG+DRAM",
    "published_kj": "published", "watts": "W", "published_watts": "published", "idle_fraction": "idle", "runs": "runs",
}  # fmt: skip

PAPER = published_figures("energy")
UNADJUSTED = ()  #: no figure of its machine is adjusted to a result
PRESETS = ("libgomp", "libomp", "ompss-bf", "ompss-socket", "xkaapi", "libkomp", "ours")
#: The levers where the paper found the best speed, and all of them. C-states: of the processor's idle cores.
FASTEST = {"turbo": True, "c_states": "none", "governor": "powersave"}
LEVERS = tuple(
    {"turbo": turbo, "c_states": c_states, "governor": governor}
    for turbo, c_states, governor in product((True, False), ("all", "none"), ("performance", "powersave"))
)
#: Variant and presets of each factorisation. PLASMA's LU goes by panels with partial pivoting, KASTORS' without and with
#: concurrent writes; QR has a flat tree, and did not run on OmpSs.
GRAPHS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("potrf", "in-place", PRESETS),
    ("getrf", "kastors", PRESETS),
    ("getrf", "kastors-cw", ("libkomp", "ours")),
    ("getrf", "panel", ("libgomp", "ours")),
    ("geqrf", "flat", ("libgomp", "libomp", "xkaapi", "libkomp", "ours")),
)
#: The paper does not say where the tiles lie; the suite that it ran, KASTORS, does. Before the clock starts one task per tile
#: fills the matrix, on all threads of the same runtime (plasma_pdplgsy_quark and plasma_pdpltmg_quark in a parallel region, since
#: September 2014, with `affinity(node: cnt++)` since 2016), so that each page is first touched on some node, tile by tile:
#: `interleave`. `first-touch` has all of them on the node of one thread.
PLACEMENTS = ("interleave", "first-touch")
#: Those that something is published of run with all tiles on one node, too.
COMPARED = ("libgomp", "xkaapi", "libkomp")
#: The fastest of each factorisation: the levers are tried with it.
BEST = (("potrf", "in-place", "libkomp"), ("getrf", "kastors-cw", "libkomp"), ("geqrf", "flat", "libkomp"))
#: n of concurrent writes beside the plain version on libgomp.
WRITES_N = (4096, 8192, 16384)
#: How long a waiting thread of a runtime looks for work before it sleeps. The paper: passive waiting; libOMP and libKOMP block
#: after 200 ms, XKaapi has no such policy and looks on, libGOMP and OmpSs sleep.
SPIN_S = {"libomp": 0.2, "libkomp": 0.2, "xkaapi": 3600.0}
#: Instead of the paper's 32768 where the user has little time: a sixteenth of the work on the same tiles, so less parallelism.
QUICK_N = 8192


def scheduler_of(preset: str) -> str:
    return "mosaic" if preset == "ours" else preset


def effects_of(preset: str, levers: dict[str, Any]) -> dict[str, Any]:
    """Of the levers, as campaigns have them, and of the runtime's way to wait."""
    idle = lever_effects(levers["turbo"], levers["c_states"], levers["governor"], "nominal")
    return {**idle, **({"spin_s": SPIN_S[preset]} if preset in SPIN_S else {})}


def levers_n(n: int) -> int:
    """Where all settings of the levers are tried: at the paper's n; of a quick run at half of its own, an eighth of the time."""
    return n if n == PAPER["n"] else n // 2


def _labels(n: int) -> Iterator[dict[str, Any]]:
    """Every configuration, some twice."""

    def one(routine: str, variant: str, preset: str, levers: dict[str, Any], placement: str = PLACEMENTS[0], at: int = n) -> Row:
        return {"routine": routine, "variant": variant, "placement": placement, "preset": preset, **levers, "n": at}

    for routine, variant, presets in GRAPHS:
        for preset in presets:
            yield one(routine, variant, preset, FASTEST)
    for entry in PAPER["measured"]:
        yield one(entry["routine"], entry["variant"], entry["preset"], {name: entry[name] for name in FASTEST})
    for best, levers in product(BEST, LEVERS):
        yield one(*best, levers, at=levers_n(n))
    for routine, variant, presets in GRAPHS:
        for preset in presets:
            if preset in COMPARED:
                yield one(routine, variant, preset, FASTEST, PLACEMENTS[1])
    for size in WRITES_N:
        if size < n:
            yield one("getrf", "kastors", "libgomp", FASTEST, at=size)
            yield one("getrf", "kastors-cw", "libkomp", FASTEST, at=size)


def simulation_of(labels: Row) -> Simulation:
    levers = {name: labels[name] for name in FASTEST}
    return Simulation(
        labels["routine"], labels["n"], PAPER["machine"], PAPER["nb"], variant=labels["variant"],
        scheduler=scheduler_of(labels["preset"]),
        effects={**effects_of(labels["preset"], levers), "placement": labels["placement"]},
    )  # fmt: skip


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else PAPER["n"]
    planned = []
    for labels in map(dict, dict.fromkeys(tuple(labels.items()) for labels in _labels(n))):
        levers = {name: labels[name] for name in FASTEST}
        fastest = labels["preset"] in COMPARED and levers == FASTEST and labels["n"] == n
        drawn = (
            fastest and labels["routine"] == "getrf" and labels["placement"] == PLACEMENTS[0] and labels["preset"] != "xkaapi"
        )
        name = f"{labels['variant']}-{labels['preset']}" if drawn else ""
        planned.append(Case(simulation_of(labels), {**labels, "nb": PAPER["nb"]}, name))
    return planned


def measured(labels: Row) -> dict[str, Any] | None:
    """What the paper measured of a configuration. Beside rows with the standard placement alone, so that none has two."""
    if labels["n"] != PAPER["n"] or labels["placement"] != PLACEMENTS[0]:
        return None
    keys = ("routine", "variant", "preset", *FASTEST)
    return next((entry for entry in PAPER["measured"] if all(entry[key] == labels[key] for key in keys)), None)


def kilojoules_of(entry: dict[str, Any]) -> float:
    """PKG and DRAM together."""
    return entry.get("total_kj") or entry["package_kj"] + entry["memory_kj"]


def watts_of(entry: dict[str, Any]) -> float:
    """Mean over the time that follows from the speed."""
    flops = {"potrf": 1 / 3, "getrf": 2 / 3, "geqrf": 4 / 3}[entry["routine"]] * PAPER["n"] ** 3
    return 1e3 * kilojoules_of(entry) * entry["gflops"] * 1e9 / flops


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    for planned, record in runs:
        entry = measured(planned.labels)
        joules = record["package_j"] + record["memory_j"]
        yield {
            **planned.labels,
            "gflops": record["gflops"],
            "package_kj": record["package_j"] / 1e3,
            "cores_kj": record["cores_j"] / 1e3,
            "memory_kj": record["memory_j"] / 1e3,
            "joules": joules,
            "kilojoules": joules / 1e3,
            "published_kj": kilojoules_of(entry) if entry else None,
            "watts": joules / record["makespan_s"],
            "published_watts": watts_of(entry) if entry else None,
            "makespan_s": record["makespan_s"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **spread(record, record["estimates"]["gflops"]),
            **beside(record["gflops"], entry["gflops"] if entry else None, "gflops"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def score(rows: Sequence[Row]) -> Scores:
    from . import energy_tables

    return energy_tables.score(rows)


def sections(rows: Sequence[Row]) -> list[Section]:
    from . import energy_best, energy_tables

    return [*energy_tables.sections(rows), *energy_best.sections(rows), Section("All runs", COLUMNS, rows)]


def charts(rows: Sequence[Row]) -> list[Chart]:
    drawn = []
    for routine in dict.fromkeys(row["routine"] for row in rows):
        chosen = [row for row in rows if row["routine"] == routine and row["n"] == rows[0]["n"]]
        curves = [Curve(preset, [(r["joules"], r["gflops"]) for r in chosen if r["preset"] == preset]) for preset in PRESETS]
        drawn.append(Chart(f"energy-{routine}", f"{routine} on a UV2000 (simulated)", "joules", "GFlop/s", curves))
    return drawn
