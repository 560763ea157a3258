"""Speed and energy of the OpenMP runtimes' presets on an SGI UV2000, and ours, with turbo on and off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..seeds import spread
from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures
from .scores import Figure, Order, Scores, in_order

TITLE = "One algorithm over many runtimes: speed and energy on an SGI UV2000"
COLUMNS = {
    "routine": "routine", "variant": "variant", "placement": "tiles", "preset": "preset", "turbo": "turbo", "n": "n",
    "gflops": "GFlop/s", "joules": "J", "idle_fraction": "idle", "interval": "95 %", "runs": "runs", "published": "published",
    "difference": "difference", "adjusted": "adjusted to",
}  # fmt: skip

#: Of a case beside a published figure, where chance has a part in it. Five, because a run takes half a minute.
SEEDS = 5
PAPER = published_figures("energy")
PRESETS = ("libgomp", "libomp", "ompss-bf", "ompss-socket", "xkaapi", "libkomp", "ours")
#: The factorisations with their variants: PLASMA's LU by panels with partial pivoting, then
#: that of KASTORS without and with concurrent writes; their QR with a flat tree.
GRAPHS = (("potrf", "in-place"), ("getrf", "panel"), ("getrf", "kastors"), ("getrf", "kastors-cw"), ("geqrf", "flat"))
_BOTH = ("first-touch", "interleave")
#: Where the tiles lie. The paper does not say; what concurrent writes give depends on it, so LU runs with both. Cholesky and QR
#: with all tiles on one node would turn the published order of runtimes around.
PLACEMENTS = {"getrf panel": _BOTH, "getrf kastors": _BOTH, "getrf kastors-cw": _BOTH}
#: The lever that the described machine has, by its power state.
POWER_STATES = {True: "turbo", False: "nominal"}
#: Instead of the paper's 32768 where the user has little time: a sixteenth of the work on the same tiles, so less parallelism.
QUICK_N = 8192


def scheduler_of(preset: str) -> str:
    return "mosaic" if preset == "ours" else preset


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else PAPER["n"]
    planned = []
    for (routine, variant), placement in placed_graphs():
        for turbo, state in POWER_STATES.items():
            for preset in PRESETS:
                simulation = Simulation(
                    routine, n, PAPER["machine"], PAPER["nb"], variant=variant, scheduler=scheduler_of(preset),
                    effects={"power_state": state, "placement": placement},
                )  # fmt: skip
                labels = {
                    "routine": routine, "variant": variant, "placement": placement, "preset": preset, "turbo": turbo, "n": n,
                    "nb": PAPER["nb"],
                }  # fmt: skip
                planned.append(Case(simulation, labels, compared=_compared(labels)))
    return planned


def _compared(labels: dict[str, Any]) -> bool:
    """Does the paper say something of it: the fastest, and those it is put above?"""
    named = {preset for entry in PAPER["order"] if entry["routine"] == labels["routine"] for preset in entry["presets"]}
    return labels["turbo"] and labels["preset"] in named | {"libgomp"}


def placed_graphs() -> Iterator[tuple[tuple[str, str], str]]:
    for routine, variant in GRAPHS:
        for placement in PLACEMENTS.get(f"{routine} {variant}", ("interleave",)):
            yield (routine, variant), placement


def published_gflops(labels: dict[str, Any]) -> float | None:
    """The paper's, for the size that it measured; it gives the best of each factorisation, with turbo on."""
    if labels["n"] != PAPER["n"] or not labels["turbo"]:
        return None
    for best in PAPER["best"]:
        if (best["routine"], best.get("variant", ""), best["preset"]) == (labels["routine"], labels["variant"], labels["preset"]):
            return best["gflops"]
    return None


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    for planned, record in runs:
        gflops = record["gflops"]
        yield {
            **planned.labels,
            "gflops": gflops,
            "joules": record["energy_j"],
            "watts": record["energy_j"] / record["makespan_s"],
            "makespan_s": record["makespan_s"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **spread(record, record["estimates"]["gflops"]),
            **beside(gflops, published_gflops(planned.labels), "gflops"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    parts = (_best_section, _ratio_section, _writes_section, _lever_section, _all_section)
    return [score(rows).section(), *(part(rows) for part in parts)]


def _flops(entry: dict[str, Any]) -> float:
    """To first order."""
    return {"potrf": 1 / 3, "getrf": 2 / 3, "geqrf": 4 / 3}[entry["routine"]] * PAPER["n"] ** 3


def score(rows: Sequence[Row]) -> Scores:
    """Nothing where n is not the paper's. LU lies on one node, as the gain of concurrent writes says."""
    if rows[0]["n"] != PAPER["n"]:
        return Scores([], [])
    figures = []
    for entry in PAPER["measured"]:
        placement = PLACEMENTS.get(f"{entry['routine']} {entry['variant']}", ("interleave",))[0]
        wanted = {key: entry[key] for key in ("routine", "variant", "preset", "turbo")} | {"placement": placement}
        row = next(row for row in rows if all(row[key] == value for key, value in wanted.items()))
        name = f"{entry['routine']} {entry['preset']}, turbo {'on' if entry['turbo'] else 'off'}"
        watts = 1e3 * entry["kilojoules"] / (_flops(entry) / (entry["gflops"] * 1e9))
        figures += [
            Figure(f"{name}, GFlop/s", entry["gflops"], row["gflops"], row["interval"]),
            Figure(f"{name}, kJ", entry["kilojoules"], row["joules"] / 1e3),
            Figure(f"{name}, mean watts", watts, row["watts"]),
        ]
    for line in _ratio_section(rows).rows:
        if line["routine"] != "getrf" or line["placement"] == "first-touch":
            figures.append(Figure(f"{line['routine']}: libkomp over libgomp, percent of speed", line["published"], line["ours"]))
    return Scores(figures, [_order(rows, entry) for entry in PAPER["order"]])


def _order(rows: Sequence[Row], entry: dict[str, Any]) -> Order:
    fastest = {}
    for preset in PRESETS[:-1]:
        chosen = [row for row in rows if row["routine"] == entry["routine"] and row["preset"] == preset and row["turbo"]]
        first = [row for row in chosen if row["placement"] == "first-touch"] or chosen
        fastest[preset] = max(row["gflops"] for row in first)
    return in_order(f"{entry['routine']}, by speed", entry["presets"], sorted(fastest, key=lambda preset: -fastest[preset]))


def _best(rows: Sequence[Row], routine: str, what: str = "gflops", sign: int = -1) -> Row:
    published = [row for row in rows if row["routine"] == routine and row["preset"] != "ours"]
    return min(published, key=lambda row: sign * row[what])


def _best_section(rows: Sequence[Row]) -> Section:
    lines = []
    for best in PAPER["best"]:
        ours, preset = _best(rows, best["routine"]), f"{best['preset']} {best.get('variant', '')}".strip()
        lines.append(
            {"routine": best["routine"], "paper": preset, "published": best["gflops"],
             "best": f"{ours['preset']} {ours['variant']}".strip(), "gflops": ours["gflops"], "n": ours["n"]}
        )  # fmt: skip
    columns = {
        "routine": "routine", "paper": "best published", "published": "GFlop/s", "best": "best preset simulated",
        "gflops": "GFlop/s", "n": "n",
    }  # fmt: skip
    return Section("The best of each factorisation", columns, lines, f"Published at n = {PAPER['n']}.")


def _ratio_section(rows: Sequence[Row]) -> Section:
    lines = []
    best_variant = {best["routine"]: best.get("variant", "") for best in PAPER["best"]}
    for entry in PAPER["over_libgomp"]:
        routine = entry["routine"]
        variants = {"libkomp": best_variant[routine], "libgomp": entry.get("variant", "")}
        for placement in PLACEMENTS.get(f"{routine} {entry.get('variant', '')}", ("interleave",)):
            placed = [r for r in rows if r["placement"] == placement]
            fastest = {
                preset: _best([r for r in placed if r["preset"] == preset and r["variant"] == variant], routine)
                for preset, variant in variants.items()
            }
            ratio = 100 * (fastest["libkomp"]["gflops"] / fastest["libgomp"]["gflops"] - 1)
            joules = 100 * (fastest["libkomp"]["joules"] / fastest["libgomp"]["joules"] - 1)
            lines.append(
                {"routine": routine, "placement": placement, "published": entry["percent"], "ours": ratio,
                 "published_energy": entry.get("energy_percent"), "energy": joules}
            )  # fmt: skip
    columns = {
        "routine": "routine", "placement": "tiles", "published": "speed, published %", "ours": "speed, simulated %",
        "published_energy": "energy, published %", "energy": "energy, simulated %",
    }  # fmt: skip
    return Section("libkomp over libgomp", columns, lines, "For LU libkomp with concurrent writes over libgomp without.")


def _writes_section(rows: Sequence[Row]) -> Section:
    def like(row: Row) -> tuple[Any, ...]:
        return row["placement"], row["preset"], row["turbo"]

    plain = {like(row): row for row in rows if row["variant"] == "kastors"}
    lines = [
        {"placement": row["placement"], "preset": row["preset"], "turbo": row["turbo"],
         "speed": 100 * (row["gflops"] / plain[like(row)]["gflops"] - 1),
         "energy": 100 * (row["joules"] / plain[like(row)]["joules"] - 1)}
        for row in rows
        if row["variant"] == "kastors-cw" and like(row) in plain
    ]  # fmt: skip
    columns = {"placement": "tiles", "preset": "preset", "turbo": "turbo", "speed": "speed %", "energy": "energy %"}
    return Section("What concurrent writes give LU, over the plain version", columns, lines)


def _lever_section(rows: Sequence[Row]) -> Section:
    lines = []
    for entry in PAPER["least_energy"]:
        fast, lean = _best(rows, entry["routine"]), _best(rows, entry["routine"], "joules", 1)
        lines.append(
            {"routine": entry["routine"],
             "fast": f"{fast['preset']}, turbo {'on' if fast['turbo'] else 'off'}",
             "lean": f"{lean['preset']}, turbo {'on' if lean['turbo'] else 'off'}",
             "published_slower": entry["slower_percent"], "slower": 100 * (1 - lean["gflops"] / fast["gflops"]),
             "published_saved": entry["saved_percent"], "saved": 100 * (1 - lean["joules"] / fast["joules"])}
        )  # fmt: skip
    columns = {
        "routine": "routine", "fast": "fastest", "lean": "least energy", "published_slower": "slower, published %",
        "slower": "slower, simulated %", "published_saved": "saved, published %", "saved": "saved, simulated %",
    }  # fmt: skip
    return Section("Choosing energy instead of speed", columns, lines)


def _all_section(rows: Sequence[Row]) -> Section:
    return Section("All presets", COLUMNS, rows)


def charts(rows: Sequence[Row]) -> list[Chart]:
    drawn = []
    for routine in dict.fromkeys(row["routine"] for row in rows):
        chosen = [row for row in rows if row["routine"] == routine]
        curves = [Curve(preset, [(r["joules"], r["gflops"]) for r in chosen if r["preset"] == preset]) for preset in PRESETS]
        drawn.append(Chart(f"energy-{routine}", f"{routine} on a UV2000 (simulated)", "joules", "GFlop/s", curves))
    return drawn
