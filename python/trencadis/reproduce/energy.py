"""Speed and energy of the OpenMP runtimes' presets on an SGI UV2000, and ours, with turbo on and off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures

TITLE = "One algorithm over many runtimes: speed and energy on an SGI UV2000"
COLUMNS = {
    "routine": "routine", "variant": "variant", "preset": "preset", "turbo": "turbo", "n": "n", "gflops": "GFlop/s",
    "joules": "J", "idle_fraction": "idle", "published": "published", "difference": "difference",
}  # fmt: skip

PAPER = published_figures("energy")
PRESETS = ("libgomp", "libomp", "ompss-bf", "ompss-socket", "xkaapi", "libkomp", "ours")
#: The factorisations with their variants: PLASMA's LU, then that of KASTORS without and with concurrent writes; their
#: QR with a flat tree.
GRAPHS = (("potrf", "in-place"), ("getrf", "incremental"), ("getrf", "kastors"), ("getrf", "kastors-cw"), ("geqrf", "flat"))
#: The lever that the described machine has, by its power state.
POWER_STATES = {True: "turbo", False: "nominal"}
#: Instead of the paper's 32768 where the user has little time: a sixteenth of the work on the same tiles, so less parallelism.
QUICK_N = 8192


def scheduler_of(preset: str) -> str:
    return "mosaic" if preset == "ours" else preset


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else PAPER["n"]
    planned = []
    for routine, variant in GRAPHS:
        for turbo, state in POWER_STATES.items():
            for preset in PRESETS:
                simulation = Simulation(
                    routine, n, PAPER["machine"], PAPER["nb"], variant=variant, scheduler=scheduler_of(preset),
                    effects={"power_state": state, "placement": "interleave"},
                )  # fmt: skip
                labels = {"routine": routine, "variant": variant, "preset": preset, "turbo": turbo, "n": n, "nb": PAPER["nb"]}
                planned.append(Case(simulation, labels))
    return planned


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
            **beside(gflops, published_gflops(planned.labels), "gflops"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    return [_best_section(rows), _ratio_section(rows), _writes_section(rows), _lever_section(rows), _all_section(rows)]


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
        fastest = {
            preset: _best([r for r in rows if r["preset"] == preset and r["variant"] == variant], routine)
            for preset, variant in variants.items()
        }
        ratio = 100 * (fastest["libkomp"]["gflops"] / fastest["libgomp"]["gflops"] - 1)
        joules = 100 * (fastest["libkomp"]["joules"] / fastest["libgomp"]["joules"] - 1)
        lines.append(
            {"routine": entry["routine"], "published": entry["percent"], "ours": ratio,
             "published_energy": entry.get("energy_percent"), "energy": joules}
        )  # fmt: skip
    columns = {
        "routine": "routine", "published": "speed, published %", "ours": "speed, simulated %",
        "published_energy": "energy, published %", "energy": "energy, simulated %",
    }  # fmt: skip
    return Section("libkomp over libgomp", columns, lines, "For LU libkomp with concurrent writes over libgomp without.")


def _writes_section(rows: Sequence[Row]) -> Section:
    plain = {(row["preset"], row["turbo"]): row for row in rows if row["variant"] == "kastors"}
    lines = [
        {"preset": row["preset"], "turbo": row["turbo"],
         "speed": 100 * (row["gflops"] / plain[row["preset"], row["turbo"]]["gflops"] - 1),
         "energy": 100 * (row["joules"] / plain[row["preset"], row["turbo"]]["joules"] - 1)}
        for row in rows
        if row["variant"] == "kastors-cw" and (row["preset"], row["turbo"]) in plain
    ]  # fmt: skip
    columns = {"preset": "preset", "turbo": "turbo", "speed": "speed %", "energy": "energy %"}
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
