"""What is read and written on the memory nodes of two Kunpeng 920: by node, within a die, between dies of a chip and of two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from .. import _core
from .gallery import Row, Section
from .scores import Figure

#: Sets of nodes that the paper counted on, at one n; a node is a die. Tiles: 40 in a row.
SETS = ("0", "0,1", "0,2", "0,3", "0,1,2", "0,1,2,3")
N, NB = 50000, 1250
DISTANCES = ("local", "cross-die", "cross-chip")
KINDS = ("read", "write")
_FIELD = {"read": "read_bytes", "write": "written_bytes"}
#: A published share below this, in percent, counts as none and is not scored.
LEAST = 1.0


@cache
def _packages(machine: str) -> dict[str, int]:
    return {node["name"]: node["package"] for node in json.loads(_core.load_machine(machine))["nodes"]}


def distance(machine: str, at: str, by: str) -> str:
    """Between the node where data lie and that of who uses them."""
    packages = _packages(machine)
    return DISTANCES[0 if at == by else 1 if packages[at] == packages[by] else 2]


def by_distance(machine: str, traffic: Iterable[Mapping[str, Any]], field: str) -> dict[str, float]:
    """Bytes of the field."""
    sums = dict.fromkeys(DISTANCES, 0.0)
    for pair in traffic:
        sums[distance(machine, pair["at"], pair["by"])] += pair[field]
    return sums


def shares(amounts: Mapping[str, float]) -> dict[str, float]:
    """In percent of all."""
    whole = sum(amounts.values())
    return {name: 100 * amount / whole if whole else 0.0 for name, amount in amounts.items()}


def _published(paper: Mapping[str, Any], nodes: str) -> dict[str, dict[str, float]]:
    counts = next(entry for entry in paper["events"] if entry["nodes"] == nodes)
    return {kind: dict(zip(DISTANCES, counts[kind], strict=True)) for kind in KINDS}


def counted(rows: Sequence[Row]) -> dict[str, Row]:
    """The rows on the paper's sets of nodes."""
    return {row["set"]: row for row in rows if row.get("set")}


def figures(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[Figure]:
    """Shares, since the paper does not say what an event is; of several nodes, and none that it has as good as none of."""
    found = []
    for nodes, row in counted(rows).items():
        for kind, counts in _published(paper, nodes).items():
            ours = shares(by_distance(paper["machine"], row["traffic"], _FIELD[kind]))
            found += [
                Figure(f"default on nodes {nodes}: {name} {kind}s, percent of all {kind}s", share, ours[name])
                for name, share in shares(counts).items() if LEAST <= share < 100 - LEAST
            ]  # fmt: skip
    return found


def sections(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[Section]:
    return [*([_sets_section(paper, rows)] if counted(rows) else []), _nodes_section(paper, rows)]


def set_lines(paper: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, Any]]:
    lines = []
    for nodes, row in counted(rows).items():
        for kind, counts in _published(paper, nodes).items():
            amounts = by_distance(paper["machine"], row["traffic"], _FIELD[kind])
            line: dict[str, Any] = {"set": nodes, "kind": kind}
            for name in DISTANCES:
                line |= {
                    f"{name} bytes": amounts[name], f"{name} share": shares(amounts)[name],
                    f"{name} events": counts[name], f"{name} published": shares(counts)[name],
                }  # fmt: skip
            lines.append(line)
    return lines


def _sets_section(paper: Mapping[str, Any], rows: Sequence[Row]) -> Section:
    columns = {"set": "nodes", "kind": ""}
    for name in DISTANCES:
        columns |= {f"{name} bytes": f"{name}, bytes", f"{name} share": "%", f"{name} events": "published events",
                    f"{name} published": "% of published"}  # fmt: skip
    text = (
        f"One product for all threads, n = {N}, matrices on node 0. The paper counts events and does not say of what size, so "
        "shares are compared. Two entries are as printed that do not fit the others: cross-chip reads on 0,2, ten times those on "
        "0,3, and what is local on node 0 alone. Nodes 0,2 and 0,3 have no two dies of one chip, and yet cross-die events: the "
        "counters see where a cache line was found, not where its memory is."
    )
    return Section("Reads and writes by die and chip", columns, set_lines(paper, rows), text)


def node_lines(machine: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """On four nodes, without the paper's sets: for each method and node what its workers used, and what was copied to it."""
    lines = []
    for row in (row for row in rows if row["nodes"] == 4 and not row.get("set")):
        for node in _packages(machine):
            used = [pair for pair in row["traffic"] if pair["by"] == node]
            line: dict[str, Any] = {"method": row["method"], "n": row["n"], "node": node}
            for kind, field in {**_FIELD, "copy": "copied_bytes"}.items():
                for name, amount in by_distance(machine, used, field).items():
                    line[f"{name} {kind}"] = amount
            lines.append(line)
    return lines


def _nodes_section(paper: Mapping[str, Any], rows: Sequence[Row]) -> Section:
    columns = {"method": "method", "n": "n", "node": "workers of"}
    columns |= {f"{name} {kind}": f"{name} {kind}s" for kind in KINDS for name in DISTANCES}
    columns |= {f"{name} copy": f"copied, {name}" for name in DISTANCES[1:]}
    text = (
        "Bytes by the node of those who used them: operands read and written where they lie, once per task, and what was copied "
        "to the node. Where copies are made, they are read there as copies, which are no node's own data and not counted as read."
    )
    return Section("Reads and writes by node", columns, node_lines(paper["machine"], rows), text)
