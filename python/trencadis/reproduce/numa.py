"""Matrix products on one to four memory nodes of two Kunpeng 920."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..seeds import Estimate, spread
from ..simulations import Simulation
from .gallery import Case, Chart, Curve, Row, Section, beside, cores_of_nodes, published_figures
from .scores import Figure, Scores, in_order

TITLE = "Memory nodes: matrix product on two Kunpeng 920"
COLUMNS = {
    "method": "method", "nodes": "nodes", "n": "n", "nb": "nb", "gflops": "GFlop/s", "speedup": "speed-up",
    "local_bytes": "local bytes", "remote_bytes": "remote bytes", "idle_fraction": "idle", "interval": "95 %", "runs": "runs",
    "published": "published", "difference": "difference", "adjusted": "adjusted to",
}  # fmt: skip

#: Of a case beside a published figure, where chance has a part in it.
SEEDS = 30
PAPER = published_figures("numa")
#: Form of the product, scheduler, and where the matrices lie at the start. The paper starts from one product for all threads,
#: with a packed panel of B and the matrices on the first node. Its method copies what a node needs into its memory: numa-ws finds
#: the matrices spread over the nodes and runs tasks where their data are.
METHODS = {
    "default": ("shared-panel", "eager", "first-touch"),
    "numa-ws": ("in-place", "numa-ws", "interleave"),
    "ours": ("in-place", "mosaic", "interleave"),
}
#: Above 15360, from where on the paper's method pays.
N, NB = 16384, 512
QUICK_N = 6144


def cases(quick: bool) -> list[Case]:
    n = QUICK_N if quick else N
    planned = []
    for method, (variant, scheduler, placement) in METHODS.items():
        for nodes in range(1, 5):
            simulation = Simulation(
                "gemm", n, PAPER["machine"], NB, variant=variant, scheduler=scheduler,
                workers=cores_of_nodes(PAPER["machine"], nodes),
                effects={"placement": placement if nodes > 1 else "first-touch"},
            )  # fmt: skip
            planned.append(Case(simulation, {"method": method, "nodes": nodes, "n": n, "nb": NB}))
    return planned


def _published(labels: Row) -> float | None:
    if labels["n"] < N:
        return None
    found = [e["value"] for e in PAPER["speedup"] if (e["method"], e["nodes"]) == (labels["method"], labels["nodes"])]
    return found[0] if found else None


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    alone: dict[str, Estimate] = {}
    for planned, record in runs:
        labels, gflops = planned.labels, record["gflops"]
        if labels["nodes"] == 1:
            alone[labels["method"]] = record["estimates"]["gflops"]
        over_one = record["estimates"]["gflops"] / alone[labels["method"]] if labels["nodes"] > 1 else Estimate(1.0)
        speedup = over_one.mean
        yield {
            **labels,
            "gflops": gflops,
            "speedup": speedup,
            "local_bytes": record["local_bytes"],
            "remote_bytes": record["remote_bytes"],
            "bound_gflops": record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            **spread(record, over_one),
            **beside(speedup, _published(labels), "speedup"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def sections(rows: Sequence[Row]) -> list[Section]:
    text = f"n = {rows[0]['n']}, tiles of {rows[0]['nb']}. Bytes are those that tasks read and wrote, by where they lay."
    return [score(rows).section(), Section("Speed over one node", COLUMNS, rows, text)]


#: Peak of one node: 24 cores at 10.4 GFlop/s.
NODE_PEAK = 24 * 10.4


def score(rows: Sequence[Row]) -> Scores:
    figures = [
        Figure(f"{row['method']} on {row['nodes']} nodes over one", row["published"], row["speedup"], row["interval"])
        for row in rows if row["published"] is not None
    ]  # fmt: skip
    if rows[0]["n"] >= N:
        four = {row["method"]: row["gflops"] / (4 * NODE_PEAK) for row in rows if row["nodes"] == 4}
        figures += [
            Figure(f"{method} on 4 nodes, share of the peak in percent, best over all n", PAPER["peak_percent"][named][0],
                   100 * four[method])
            for method, named in (("numa-ws", "numa-ws"), ("default", "openblas"))
        ]  # fmt: skip
        above = sorted(("numa-ws", "default"), key=lambda method: -four[method])
        return Scores(figures, [in_order(f"4 nodes, n = {N}", ["numa-ws", "default"], above)])
    return Scores(figures, [])


def charts(rows: Sequence[Row]) -> list[Chart]:
    curves = []
    for method in METHODS:
        chosen = [row for row in rows if row["method"] == method]
        published = [(row["nodes"], row["published"]) for row in chosen if row["published"] is not None]
        curves.append(Curve(method, [(row["nodes"], row["speedup"]) for row in chosen], published))
    return [Chart("speedup", "Product on two Kunpeng 920 (simulated)", "memory nodes", "speed over one node", curves)]
