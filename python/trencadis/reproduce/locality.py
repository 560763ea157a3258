"""Work stealing that knows where data are: Cholesky and LU on one to eight GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures

TITLE = "Locality on many GPUs: Cholesky and LU on Idgraf"
COLUMNS = {
    "routine": "routine", "method": "method", "gpus": "GPUs", "overlap": "overlap", "gflops": "GFlop/s", "speedup": "speed-up",
    "bytes_moved": "bytes moved", "idle_fraction": "idle", "published": "published", "difference": "difference",
}  # fmt: skip

PAPER = published_figures("locality")
METHODS = {"default": "locality-default", "h1": "h1", "h2": "h2", "ours": "mosaic"}
VARIANTS = {"potrf": "two-level", "getrf": "incremental"}
#: Cores that compute beside the GPUs: those that drive none. The paper has 1 beside 1 GPU and 4 beside 8.
CORES = ("4", "10", "5", "11")
QUICK_N = 16384
#: As in the paper, results leave a GPU when somebody needs them, to the memory of the host: for every method, ours too.
STAGED = {"peer": False}


def workers(gpus: int) -> tuple[str, ...]:
    return (*CORES[:gpus], f"gpu:{gpus}")


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else PAPER["n"]
    planned = []
    for routine, variant in VARIANTS.items():
        for method, scheduler in METHODS.items():
            for overlap in (True, False):
                for gpus in (1, 4, 8) if quick else range(1, 9):
                    effects = STAGED if overlap else {**STAGED, "overlap": False}
                    simulation = Simulation(
                        routine, n, PAPER["machine"], PAPER["nb"], variant=variant, scheduler=scheduler,
                        workers=workers(gpus), effects=effects,
                    )  # fmt: skip
                    labels = {"routine": routine, "method": method, "gpus": gpus, "overlap": overlap, "n": n, "nb": PAPER["nb"]}
                    timeline = f"{routine}-{method}-{gpus}-gpus" if gpus == 8 and overlap else ""
                    planned.append(Case(simulation, labels, timeline))
    return planned


def _published(labels: Row) -> float | None:
    """GFlop/s of the paper: given for eight GPUs, and without overlap as what overlap adds."""
    if labels["n"] != PAPER["n"]:
        return None
    for entry in PAPER["gflops"]:
        if all(entry[key] == labels[key] for key in ("routine", "method", "gpus")):
            if labels["overlap"]:
                return entry["value"]
            if labels["routine"] == "potrf":
                return entry["value"] - PAPER["overlap_adds"][labels["method"]]
    return None


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    alone: dict[tuple, float] = {}
    for planned, record in runs:
        labels, gflops = planned.labels, record["gflops"]
        curve = (labels["routine"], labels["method"], labels["overlap"])
        if labels["gpus"] == 1:
            alone[curve] = gflops
        yield {
            **labels,
            "gflops": gflops,
            "speedup": gflops / alone[curve],
            "bytes_moved": record["bytes_moved"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **beside(gflops, _published(labels), "gflops"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    return [_speedup_section(rows), _scales_section(rows), _overlap_section(rows), Section("All runs", COLUMNS, rows)]


def _speedup_section(rows: Sequence[Row]) -> Section:
    lines = []
    for entry in PAPER["speedup"]:
        for row in rows:
            if row["overlap"] and all(entry[key] == row[key] for key in ("routine", "method", "gpus")):
                lines.append({**row, "published": entry["value"]})
    columns = {"routine": "routine", "method": "method", "gpus": "GPUs", "speedup": "simulated", "published": "published"}
    return Section("Speed over one GPU", columns, lines)


def stops_at(curve: Sequence[Row], gain: float = 0.05) -> int:
    """The number of GPUs beyond which no number gives this much more."""
    best = 0.0
    at = 0
    for row in sorted(curve, key=lambda row: row["gpus"]):
        if row["gflops"] > best * (1 + gain):
            best, at = row["gflops"], row["gpus"]
    return at


def _scales_section(rows: Sequence[Row]) -> Section:
    lines = []
    for method in METHODS:
        curve = [row for row in rows if (row["routine"], row["method"], row["overlap"]) == ("potrf", method, True)]
        lines.append({"method": method, "simulated": stops_at(curve), "published": PAPER["scales_to"].get(method)})
    columns = {"method": "method", "simulated": "simulated", "published": "published"}
    text = "The number of GPUs beyond which a method gains less than 5 % more (potrf, overlapped transfers)."
    return Section("Where scaling stops", columns, lines, text)


def _overlap_section(rows: Sequence[Row]) -> Section:
    most = max(row["gpus"] for row in rows)
    lines = []
    for method in METHODS:
        speeds = {
            row["overlap"]: row["gflops"]
            for row in rows
            if (row["routine"], row["method"], row["gpus"]) == ("potrf", method, most)
        }
        added = speeds[True] - speeds[False]
        lines.append({"method": method, "simulated": added, "published": PAPER["overlap_adds"].get(method)})
    columns = {"method": "method", "simulated": "simulated GFlop/s", "published": "published GFlop/s"}
    return Section(f"What overlapping transfers adds, potrf on {most} GPUs", columns, lines)


def charts(rows: Sequence[Row]) -> list[Chart]:
    drawn = []
    for routine in VARIANTS:
        for key, y in (("gflops", "GFlop/s"), ("bytes_moved", "bytes moved")):
            curves = []
            for method in METHODS:
                chosen = [row for row in rows if (row["routine"], row["method"], row["overlap"]) == (routine, method, True)]
                published = [(row["gpus"], row["published"]) for row in chosen if row["published"] and key == "gflops"]
                curves.append(Curve(method, [(row["gpus"], row[key]) for row in chosen], published))
            drawn.append(Chart(f"{routine}-{key}", f"{routine} on Idgraf (simulated)", "GPUs", y, curves))
    return drawn
