"""What the pages say of factorizations on many hosts: the rows of two commands, and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trencadis.scaling import Point, plan, run, where_it_binds
from trencadis.scaling_commands import distribution_list
from trencadis.simulations import Progress, Simulation

Row = dict[str, Any]
#: Of headings, lines, and how many columns are words.
Table = Callable[..., str]
MACHINE, HOSTS, TILE = "fat-tree", (4, 16, 64, 256, 1000), 500
#: n of strong scaling, and of weak scaling on the fewest hosts.
SIZES = {"potrf": (30000, 3000), "getrf": (20000, 2500)}
_KEPT = (
    "routine", "scaling", "distribution", "grid", "hosts", "n", "makespan_s", "gflops_per_host", "bound_gflops", "messages",
    "bytes_sent", "of_published_bytes", "lost_to_messages",
)  # fmt: skip


def command(routine: str) -> str:
    strong, weak = SIZES[routine]
    return f"trencadis scaling {routine} --machine {MACHINE} --strong {strong} --weak {weak}"


def points() -> list[Point]:
    return [
        point
        for routine, orders in SIZES.items()
        for scaling, n in zip(("strong", "weak"), orders, strict=True)
        for point in plan(Simulation(routine, n, MACHINE, TILE), scaling, HOSTS, distribution_list("", routine))
    ]


def simulated(step: Progress) -> Iterator[Row]:
    return ({key: row[key] for key in _KEPT} for row in run(points(), step))


def scaling(rows: Sequence[Row], routine: str, table: Table) -> str:
    mine = [row for row in rows if row["routine"] == routine]
    lines = [
        [row["scaling"], row["distribution"], row["grid"], row["hosts"], f"{row['n']:,}", f"{row['makespan_s']:.3f}",
         f"{row['gflops_per_host']:.0f}", f"{row['bound_gflops'] / row['hosts']:.0f}", f"{row['messages']:,}",
         f"{row['bytes_sent'] / 1e9:.1f}", f"{row['of_published_bytes']:.2f}", f"{100 * row['lost_to_messages']:.0f} %"]
        for row in mine
    ]  # fmt: skip
    headings = [
        "scaling", "distribution", "grid", "hosts", "n", "simulated s", "GFlop/s per host", "at most", "messages", "GB sent",
        "of published", "lost to messages",
    ]  # fmt: skip
    return table(headings, lines, left=3) + "\n" + "".join(f"- {line}\n" for line in where_it_binds(mine))
