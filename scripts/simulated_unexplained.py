"""What the pages say of misses: what is unexplained, what was tried, and what that gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trencadis.reproduce import locality, numa
from trencadis.reproduce.scores import NEAR, Scores

Row = dict[str, Any]
#: Of headings, lines, and how many columns are words.
Table = Callable[..., str]


def unexplained(scores: Mapping[str, Scores]) -> str:
    """By the name of the reproduction."""
    words = [f"Of each published figure missed by more than {NEAR:.0%}, and of each order that comes out otherwise:\n\n"]
    for name, score in scores.items():
        for number, note in score.used_notes().items():
            missed = [one.what for one in (*score.figures, *score.orders) if score.note(one) == number]
            more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
            words.append(f"- `{name}`, {missed[0]}{more}. {note.text}\n")
    return "".join(words)


def tried(rows: Sequence[Row], table: Table) -> str:
    """Of Cholesky on GPUs."""
    lines = []
    for line in locality.tried_lines(rows):
        speeds = [f"{line[f'on {gpus}']:.0f}" for gpus in locality.TRIED_GPUS]
        lines.append([line["tried"], f"`{line['method']}`", *speeds, f"{line['moved'] / 1e9:.0f}", f"{line['added']:.0f}",
                      f"{line['added_one_stream']:.0f}"])  # fmt: skip
    headings = ["tried", "", *(f"{gpus} GPUs" for gpus in locality.TRIED_GPUS), "GB moved", "overlap adds", "beside one stream"]
    return (
        f"GFlop/s of Cholesky, means of {locality.tried_seeds(rows)} seeds; what overlap adds, beside one task in flight, and "
        "beside one stream as well:\n\n" + table(headings, lines, left=2)
    )


def few(rows: Sequence[Row], table: Table) -> str:
    """Of a product on memory nodes, by size."""
    lines = [[line["n"], *(f"{line[f'on {nodes}']:.2f}" for nodes in range(2, 5))] for line in numa.few_lines(rows)]
    published = {entry["nodes"]: entry["value"] for entry in numa.PAPER["speedup"] if entry["method"] == "copies"}
    lines.append(["published", *(f"{published[nodes]:.2f}" for nodes in range(2, 5))])
    headings = ["n", "2 nodes", "3 nodes", "4 nodes"]
    return "Speed of `copies` over one node by n, tiles of 512:\n\n" + table(headings, lines, left=0)
