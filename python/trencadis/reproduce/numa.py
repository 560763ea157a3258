"""Matrix products on one to four memory nodes of two Kunpeng 920."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from ..seeds import Estimate, spread
from ..simulations import Simulation
from . import numa_traffic
from .gallery import Case, Chart, Curve, Row, Section, beside, cores_of_node, cores_of_nodes, published_figures
from .scores import Figure, Order, Scores, in_order, notes_of

TITLE = "Memory nodes: matrix product on two Kunpeng 920"
COLUMNS = {
    "method": "method", "nodes": "nodes", "n": "n", "nb": "nb", "gflops": "GFlop/s", "of_peak": "of peak, %",
    "speedup": "speed-up",
    "local_bytes": "local bytes", "remote_bytes": "remote bytes", "bytes_moved": "copied", "idle_fraction": "idle",
    "set": "on", "interval": "95 %", "runs": "runs", "published": "published", "difference": "difference",
    "adjusted": "adjusted to",
}  # fmt: skip

PAPER = published_figures("numa")
UNADJUSTED = ()  #: no figure of its machine is adjusted to a result
#: Form of the product, scheduler, where the matrices lie at the start, and are operands copied? The paper starts from one product
#: for all threads, with a packed panel of B and the matrices on the first node. Its method computes where C lies and copies what
#: a node needs of A and B into its memory; numa-ws reads it in place.
METHODS = {
    "default": ("shared-panel", "eager", "first-touch", False),
    "copies": ("in-place", "numa-ws", "interleave", True),
    "numa-ws": ("in-place", "numa-ws", "interleave", False),
    "ours": ("in-place", "mosaic", "interleave", False),
}
#: What a session runs by itself, on all nodes alone: it packs its operands and does not ask where they lie.
PACKED = {"packed": ("packed", "mosaic", "interleave", False)}
#: Of the speed over one node.
N, NB = 16384, 512
QUICK_N = 6144
#: Of the sweep on all nodes, with at most 40 tiles in a row; and where one node is
#: compared with four, since the paper's figure is of an n that it does not name.
SWEEP = ((10240, 512), (15360, 512), (20480, 512), (30720, 1024), (40960, 1024), (61440, 1536))
SMALL = ((2048, 512), (4096, 512), (8192, 512))
#: Where few tiles are left for each node: tried, for the speeds over one node of the paper's method.
FEW_TILES = ((4096, 512), (6144, 512), (8192, 512))
#: Peak of one node: 24 cores at 10.4 GFlop/s.
NODE_PEAK = 24 * 10.4


def case(method: str, nodes: int, n: int, nb: int) -> Case:
    variant, scheduler, placement, copied = {**METHODS, **PACKED}[method]
    effects = {"placement": placement if nodes > 1 else "first-touch", **({"copy_operands": True} if copied else {})}
    simulation = Simulation(
        "gemm", n, PAPER["machine"], nb, variant=variant, scheduler=scheduler, workers=cores_of_nodes(PAPER["machine"], nodes),
        effects=effects,
    )  # fmt: skip
    return Case(simulation, {"method": method, "nodes": nodes, "n": n, "nb": nb})


def traffic_case(nodes: str) -> Case:
    """The one-level product on some nodes, by their numbers."""
    one = case("default", len(nodes.split(",")), numa_traffic.N, numa_traffic.NB)
    cores = [core for node in nodes.split(",") for core in cores_of_node(PAPER["machine"], int(node))]
    return replace(one, simulation=replace(one.simulation, workers=tuple(cores)), labels={**one.labels, "set": nodes})


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else N
    planned = [case(method, nodes, n, NB) for method in METHODS for nodes in range(1, 5)]
    if not quick:
        planned.append(case("packed", 4, n, NB))
        planned += [traffic_case(nodes) for nodes in numa_traffic.SETS]
        planned += [case("default", nodes, n, nb) for n, nb in SMALL for nodes in (1, 4)]
        planned += [case("copies", nodes, n, nb) for n, nb in FEW_TILES for nodes in range(1, 5)]
        planned += [case(method, 4, n, nb) for n, nb in SWEEP for method in ("default", "copies", "numa-ws")]
    return planned


def _published(labels: Row) -> float | None:
    if labels["n"] != N:
        return None
    found = [e["value"] for e in PAPER["speedup"] if (e["method"], e["nodes"]) == (labels["method"], labels["nodes"])]
    return found[0] if found else None


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    alone: dict[tuple, Estimate] = {}
    for planned, record in runs:
        labels, speed = planned.labels, record["estimates"]["gflops"]
        curve = (labels["method"], labels["n"])
        if labels["nodes"] == 1:
            alone[curve] = speed
        over_one = None
        if curve in alone:
            over_one = speed / alone[curve] if labels["nodes"] > 1 else Estimate(1.0)
        yield {
            **labels,
            "gflops": record["gflops"],
            "of_peak": 100 * record["gflops"] / (labels["nodes"] * NODE_PEAK),
            "speedup": over_one.mean if over_one else None,
            "local_bytes": record["local_bytes"],
            "remote_bytes": record["remote_bytes"],
            "bytes_moved": record["bytes_moved"],
            "traffic": record["traffic"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **spread(record, over_one or speed),
            **beside(over_one.mean if over_one else None, _published(labels), "speedup"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    text = "Bytes are those that tasks read and wrote where they lay, and those that were copied between nodes."
    whole = bool(_swept(rows))
    return [*score(rows).sections(), *([_sweep_section(rows), _small_section(rows), _few_section(rows)] if whole else []),
            *numa_traffic.sections(PAPER, rows), Section("All runs", COLUMNS, rows, text)]  # fmt: skip


def _swept(rows: Sequence[Row]) -> dict[int, dict[str, Row]]:
    """The rows on all nodes by n and method, for the sizes that the paper has."""
    found: dict[int, dict[str, Row]] = {}
    for row in rows:
        if row["nodes"] == 4 and row["n"] in dict(SWEEP):
            found.setdefault(row["n"], {})[row["method"]] = row
    return found


def over(swept: dict[int, dict[str, Row]], method: str, other: str) -> dict[int, float]:
    """Percent of speed by n."""
    return {n: 100 * (by[method]["gflops"] / by[other]["gflops"] - 1) for n, by in swept.items()}


def crossover(rows: Sequence[Row]) -> int:
    """The least n of the sweep from which on the paper's method is faster; 0: of none."""
    ahead = over(_swept(rows), "copies", "default")
    behind = [n for n, percent in ahead.items() if percent <= 0]
    later = [n for n in ahead if n > max(behind, default=0)]
    return min(later, default=0)


def score(rows: Sequence[Row]) -> Scores:
    """Nothing of other sizes than the paper's."""
    figures = [
        Figure(f"{row['method']} on {row['nodes']} nodes over one", row["published"], row["speedup"], row["interval"])
        for row in rows if row["published"] is not None
    ]  # fmt: skip
    swept = _swept(rows)
    if not swept:
        return Scores(figures, [], notes_of(PAPER))
    for method in ("copies", "default"):
        shares = [by[method]["of_peak"] for by in swept.values()]
        for what, published, ours in zip(
            ("best", "mean"), PAPER["peak_percent"][method], (max(shares), fmean(shares)), strict=True
        ):
            figures.append(Figure(f"{method} on 4 nodes, percent of the peak, {what} over n", published, ours))
    gains = over(swept, "copies", "default").values()
    figures += [
        Figure("copies over default, percent of speed, mean over n", PAPER["over_default"]["mean_percent"], fmean(gains)),
        Figure("copies over default, percent of speed, at most", PAPER["over_default"]["most_percent"], max(gains)),
        Figure("what copying operands gives, percent of speed", PAPER["copying"]["percent"],
               fmean(over(swept, "copies", "numa-ws").values())),
        Figure("n from which on copies are faster than default", PAPER["crossover"]["n"], crossover(rows)),
        *numa_traffic.figures(PAPER, rows),
    ]  # fmt: skip
    return Scores(figures, _orders(rows), notes_of(PAPER))


def _orders(rows: Sequence[Row]) -> list[Order]:
    four = {row["method"]: row for row in rows if row["nodes"] == 4 and row["n"] == N}
    remote = {row["nodes"]: row["remote_bytes"] for row in rows if (row["method"], row["n"]) == ("default", N)}
    names = ["copies", "numa-ws", "default"]
    nodes = ["4 nodes", "3 nodes", "2 nodes", "1 node"]
    return [
        in_order(f"4 nodes, n = {N}, by speed", names, sorted(names, key=lambda method: -four[method]["gflops"])),
        in_order("default, remote bytes", nodes, sorted(nodes, key=lambda name: -remote[int(name[0])])),
    ]


def _sweep_section(rows: Sequence[Row]) -> Section:
    lines = [
        {"n": n, **{method: row["of_peak"] for method, row in by.items()},
         "gain": over({n: by}, "copies", "default")[n], "copying": over({n: by}, "copies", "numa-ws")[n]}
        for n, by in _swept(rows).items()
    ]  # fmt: skip
    columns = {"n": "n", "default": "default", "copies": "copies", "numa-ws": "read in place", "gain": "copies over default, %",
               "copying": "over read in place, %"}  # fmt: skip
    tiles = ", ".join(f"{nb} at {n}" for n, nb in SWEEP)
    text = f"Percent of the peak of 96 cores; tiles: {tiles}."
    return Section("Four nodes by size", columns, lines, text)


def _small_section(rows: Sequence[Row]) -> Section:
    lines = [row for row in rows if row["method"] == "default" and row["nodes"] == 4 and row["speedup"] is not None]
    columns = {"n": "n", "gflops": "GFlop/s", "of_peak": "of peak, %", "speedup": "over one node"}
    text = "The published 2.01 is of an n that the paper does not name, and does not fit its 80.70 % of the peak at any."
    return Section("The one-level product by size", columns, sorted(lines, key=lambda row: row["n"]), text)


def few_lines(rows: Sequence[Row]) -> list[Row]:
    return [
        {"n": n, **{f"on {row['nodes']}": row["speedup"] for row in rows if (row["method"], row["n"]) == ("copies", n)}}
        for n in (*dict(FEW_TILES), N)
    ]


def _few_section(rows: Sequence[Row]) -> Section:
    published = {f"on {e['nodes']}": e["value"] for e in PAPER["speedup"] if e["method"] == "copies"}
    columns = {"n": "n", **{f"on {nodes}": f"{nodes} nodes" for nodes in range(2, 5)}}
    text = "Speed over one node; published, of an n that is not named, in the last line. Tried: fewer tiles for each node."
    return Section("Copies by size", columns, [*few_lines(rows), {"n": "published", **published}], text)


def charts(rows: Sequence[Row]) -> list[Chart]:
    curves = []
    for method in METHODS:
        chosen = [row for row in rows if row["method"] == method and row["n"] in (N, QUICK_N)]
        published = [(row["nodes"], row["published"]) for row in chosen if row["published"] is not None]
        curves.append(Curve(method, [(row["nodes"], row["speedup"]) for row in chosen], published))
    return [Chart("speedup", "Product on two Kunpeng 920 (simulated)", "memory nodes", "speed over one node", curves)]
