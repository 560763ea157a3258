"""Work stealing that knows where data are: Cholesky and LU on one to eight GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..seeds import Estimate, spread
from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures
from .scores import Figure, Scores, in_order, notes_of

TITLE = "Locality on many GPUs: Cholesky and LU on Idgraf"
COLUMNS = {
    "routine": "routine", "precision": "precision", "method": "method", "gpus": "GPUs", "cores": "cores", "n": "n",
    "overlap": "overlap",
    "gflops": "GFlop/s", "speedup": "speed-up",
    "bytes_moved": "bytes moved", "idle_fraction": "idle", "interval": "95 %", "runs": "runs", "published": "published",
    "difference": "difference", "adjusted": "adjusted to",
}  # fmt: skip

PAPER = published_figures("locality")
UNADJUSTED = ()  #: no figure of its machine is adjusted to a result
METHODS = {"default": "locality-default", "h1": "h1", "h2": "h2", "ours": "mosaic"}
VARIANTS = {"potrf": "two-level", "getrf": "incremental"}
#: As in the paper: up to four GPUs are on switches of their own, above that pairs share one; each takes a core for its thread.
GPUS = (0, 2, 4, 6, 1, 3, 5, 7)
HOST_CORES = (0, 1, 2, 3, 6, 7, 8, 9)  #: of each GPU
#: Those that drive no GPU even when there are eight come first.
CORES = (4, 10, 5, 11, 1, 7, 3, 9, 2, 8, 0, 6)
QUICK_N = 16384
#: As in the paper, results leave a GPU when somebody needs them, to the memory of the host: for every method, ours too.
STAGED = {"peer": False}
#: LU, the paper says: GETRF and TSTRF on cores, GESSM and SSSSM on GPUs. So its methods leave GPUs what these can run; ours need
#: not. Of Cholesky it says only that the other cores compute, too.
ON_GPUS = {"device_only": True}
#: What was tried to explain the misses of Cholesky: none of it is in the other rows. Effects, and options of the policy.
TRIED: dict[str, tuple[Row, str]] = {
    "as it stands": ({}, ""),
    "updates on GPUs alone": (ON_GPUS, ""),
    "a GPU's thread waits for what it fetches of others": ({"fetch_and_wait": True}, ""),
    "both": ({**ON_GPUS, "fetch_and_wait": True}, ""),
    "cores steal from GPUs": ({}, "steal=anybody"),
    "GPUs steal for their second task": ({}, "thieves=any"),
}
#: Beside one task in flight: all that a GPU does in one stream.
ONE_STREAM = {"overlap": False, "one_stream": True}
TRIED_METHODS, TRIED_GPUS = ("default", "h1", "h2"), (4, 8)


#: Sizes of the curves over n: almost equal at the smallest, the paper says, and H2 the best at all others.
SIZES = (4096, 8192, 12288, 20480, 30720)
EQUAL_N = 4096


def workers(gpus: int, cores: int = 0) -> tuple[str, ...]:
    """So many GPUs and so many cores; 0: all that drive none of these GPUs."""
    taken = {HOST_CORES[gpu] for gpu in GPUS[:gpus]}
    free = [str(core) for core in CORES if core not in taken]
    return (*(free[:cores] if cores else free), *(f"gpu{gpu}" for gpu in GPUS[:gpus]))


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else PAPER["n"]
    counts = (1, 4, 8) if quick else range(1, 9)
    planned = []
    for routine in VARIANTS:
        for method in METHODS:
            for overlap in (True, False):
                planned.append(case(routine, method, n, 1, overlap, cores=1))
                planned += [case(routine, method, n, gpus, overlap) for gpus in counts]
            planned += [case(routine, method, size, 8, True) for size in (SIZES[:1] if quick else SIZES)]
    if not quick:
        planned += [case(entry["routine"], entry["method"], n, entry["gpus"], True, precision="s") for entry in PAPER["single"]]
        planned += [tried(name, method, *how) for name in TRIED for method in TRIED_METHODS for how in _ways()]
    return planned


def _ways() -> Iterator[tuple[int, Row]]:
    """GPUs, and what is switched off."""
    yield from ((gpus, {}) for gpus in TRIED_GPUS)
    yield TRIED_GPUS[-1], {"overlap": False}
    yield TRIED_GPUS[-1], ONE_STREAM


def tried(name: str, method: str, gpus: int, off: Row) -> Case:
    effects, options = TRIED[name]
    one = case("potrf", method, PAPER["n"], gpus, not off)
    scheduler = METHODS[method] + (f":{options}" if options else "")
    simulation = replace(one.simulation, scheduler=scheduler, effects={**STAGED, **effects, **off})
    labels = {**one.labels, "tried": name, "one_stream": off == ONE_STREAM}
    return Case(simulation, labels)


def case(routine: str, method: str, n: int, gpus: int, overlap: bool, cores: int = 0, precision: str = "d") -> Case:
    units = workers(gpus, cores)
    on_gpus = routine == "getrf" and method != "ours"
    simulation = Simulation(
        routine, n, PAPER["machine"], PAPER["nb"], variant=VARIANTS[routine], scheduler=METHODS[method], workers=units,
        effects={**STAGED, **({"overlap": False} if not overlap else {}), **(ON_GPUS if on_gpus else {})}, precision=precision,
    )  # fmt: skip
    labels = {
        "routine": routine, "method": method, "gpus": gpus, "cores": len(units) - gpus, "overlap": overlap, "n": n,
        "nb": PAPER["nb"],
    }  # fmt: skip
    if precision != "d":
        labels["precision"] = precision
    drawn = gpus == 8 and overlap and n not in SIZES and precision == "d"
    return Case(simulation, labels, f"{routine}-{method}-{gpus}-gpus" if drawn else "")


def _published(labels: Row) -> float | None:
    """GFlop/s of the paper: given for eight GPUs, and without overlap as what overlap adds."""
    if labels["n"] != PAPER["n"] or labels["cores"] == 1 or "tried" in labels:
        return None
    if "precision" in labels:
        return next(e["value"] for e in PAPER["single"] if all(e[key] == labels[key] for key in ("routine", "method", "gpus")))
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
        if labels["cores"] == 1:
            alone[curve] = gflops
        yield {
            "precision": "d",
            "tried": None,
            **labels,
            "gflops": gflops,
            "speedup": None if labels["n"] in SIZES or {"precision", "tried"} & set(labels) else gflops / alone[curve],
            "bytes_moved": record["bytes_moved"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **spread(record, record["estimates"]["gflops"]),
            **beside(gflops, _published(labels), "gflops"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    parts = [_speedup_section, _scales_section, _overlap_section]
    if any(row["tried"] for row in rows):
        parts.append(_tried_section)
    return [*score(rows).sections(), *(part(rows) for part in parts), Section("All runs", COLUMNS, rows)]


def score(rows: Sequence[Row]) -> Scores:
    """Nothing where n is not the paper's."""
    if all(row["n"] != PAPER["n"] for row in rows):
        return Scores([], [])
    figures = [
        Figure(f"{row['routine']} {row['method']} on {row['gpus']} GPUs{', single precision' * _single(row)}, GFlop/s",
               row["published"], row["gflops"], row["interval"])
        for row in rows if row["published"] is not None and row["overlap"]
    ]  # fmt: skip
    figures += [
        Figure(f"{line['routine']} {line['method']}, 8 GPUs over 1", line["published"], line["speedup"])
        for line in _speedup_section(rows).rows
    ]
    figures += [
        Figure(f"GFlop/s that overlap adds to {line['method']}", line["published"], line["added"], line["interval"])
        for line in _overlap_section(rows).rows if line["published"] is not None
    ]  # fmt: skip
    figures += [
        Figure(f"GPUs where {line['method']} stops", line["published"], line["simulated"])
        for line in _scales_section(rows).rows if line["published"] is not None
    ]  # fmt: skip
    eight = {method: curve_of(rows, "potrf", method)[-1] for method in ("default", "h1", "h2")}
    lu = {f"{gpus} + {12 - gpus}": curve_of(rows, "getrf", "h2")[gpus - 1]["gflops"] for gpus in (6, 8)}
    orders = [
        in_order("potrf on 8 GPUs, by speed", ["h2", "h1", "default"], sorted(eight, key=lambda m: -eight[m]["gflops"])),
        in_order("potrf on 8 GPUs, by bytes", ["default", "h1", "h2"], sorted(eight, key=lambda m: -eight[m]["bytes_moved"])),
        in_order("getrf h2, GPUs + cores, by speed", ["6 + 6", "8 + 4"], sorted(lu, key=lambda units: -lu[units])),
    ]
    for routine in VARIANTS:
        for n in SIZES:
            speeds = {row["method"]: row["gflops"] for row in rows if row["n"] == n and row["routine"] == routine}
            published = [method for method in speeds if method != "ours"]
            if speeds and n != EQUAL_N:
                fastest = sorted(published, key=lambda method: -speeds[method])
                orders.append(in_order(f"{routine} on 8 GPUs, n = {n}, the fastest", ["h2"], fastest))
    return Scores(figures, orders, notes_of(PAPER))


def _single(row: Row) -> bool:
    return row.get("precision", "d") == "s"


def _speedup_section(rows: Sequence[Row]) -> Section:
    lines = []
    for entry in PAPER["speedup"]:
        for row in curve_of(rows, entry["routine"], entry["method"]):
            if row["gpus"] == entry["gpus"]:
                lines.append({**row, **beside(row["speedup"], entry["value"] if row["n"] == PAPER["n"] else None, "speedup")})
    columns = {
        "routine": "routine", "method": "method", "gpus": "GPUs", "cores": "cores", "speedup": "simulated",
        "published": "published", "difference": "difference",
    }  # fmt: skip
    return Section("Speed over one GPU and one core", columns, lines)


def curve_of(rows: Sequence[Row], routine: str, method: str, overlap: bool = True) -> list[Row]:
    """From one GPU up, at the largest n, with all cores that drive none."""
    return [
        row for row in rows
        if (row["routine"], row["method"], row["overlap"]) == (routine, method, overlap) and not _single(row)
        and not row.get("tried") and row["n"] not in SIZES and row["gpus"] + row["cores"] == len(CORES)
    ]  # fmt: skip


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
        curve = curve_of(rows, "potrf", method)
        lines.append({"method": method, "simulated": stops_at(curve), "published": PAPER["scales_to"].get(method)})
    columns = {"method": "method", "simulated": "simulated", "published": "published"}
    text = "The number of GPUs beyond which a method gains less than 5 % more (potrf, overlapped transfers)."
    return Section("Where scaling stops", columns, lines, text)


def _estimate(row: Row) -> Estimate:
    low, high = row["interval"] or [row["gflops"], row["gflops"]]
    return Estimate(row["gflops"], (high - low) / 2)


def _overlap_section(rows: Sequence[Row]) -> Section:
    most = max(row["gpus"] for row in rows)
    lines = []
    for method in METHODS:
        speeds = {
            row["overlap"]: row
            for overlap in (True, False)
            for row in curve_of(rows, "potrf", method, overlap)
            if row["gpus"] == most
        }
        added = _estimate(speeds[True]) - _estimate(speeds[False])
        published = PAPER["overlap_adds"].get(method) if speeds[True]["n"] == PAPER["n"] else None
        line = {"method": method, "added": added.mean, **spread(speeds[True], added), **beside(added.mean, published, "added")}
        lines.append(line)
    columns = {
        "method": "method", "added": "simulated GFlop/s", "interval": "95 %", "runs": "runs", "published": "published GFlop/s",
        "difference": "difference",
    }  # fmt: skip
    return Section(f"What overlapping transfers adds, potrf on {most} GPUs", columns, lines)


def tried_seeds(rows: Sequence[Row]) -> int:
    return next(row["seeds"] for row in rows if row.get("tried"))


def tried_lines(rows: Sequence[Row]) -> list[Row]:
    """By what was tried and method: GFlop/s, and what overlap adds to that beside each way to do without."""
    lines = []
    for name in dict.fromkeys(row["tried"] for row in rows if row.get("tried")):
        for method in TRIED_METHODS:
            chosen = [row for row in rows if row.get("tried") == name and row["method"] == method]
            speed = {row["gpus"]: row["gflops"] for row in chosen if row["overlap"]}
            without = {row["one_stream"]: row["gflops"] for row in chosen if not row["overlap"]}
            most = speed[TRIED_GPUS[-1]]
            moved = next(row["bytes_moved"] for row in chosen if row["overlap"] and row["gpus"] == TRIED_GPUS[-1])
            lines.append({"tried": name, "method": method, **{f"on {gpus}": value for gpus, value in speed.items()},
                          "moved": moved, "added": most - without[False], "added_one_stream": most - without[True]})  # fmt: skip
    return lines


def _tried_section(rows: Sequence[Row]) -> Section:
    columns = {
        "tried": "tried", "method": "method", **{f"on {gpus}": f"{gpus} GPUs" for gpus in TRIED_GPUS}, "moved": "bytes moved",
        "added": "overlap adds", "added_one_stream": "beside one stream as well",
    }  # fmt: skip
    text = f"GFlop/s of Cholesky, means of {tried_seeds(rows)} seeds. None of it is in the rows that are compared."
    return Section("What was tried", columns, tried_lines(rows), text)


def charts(rows: Sequence[Row]) -> list[Chart]:
    drawn = []
    for routine in VARIANTS:
        for key, y in (("gflops", "GFlop/s"), ("bytes_moved", "bytes moved")):
            curves = []
            for method in METHODS:
                chosen = curve_of(rows, routine, method)
                published = [(row["gpus"], row["published"]) for row in chosen if row["published"] and key == "gflops"]
                curves.append(Curve(method, [(row["gpus"], row[key]) for row in chosen], published))
            drawn.append(Chart(f"{routine}-{key}", f"{routine} on Idgraf (simulated)", "GPUs", y, curves))
    return drawn
