"""What the pages say of simulated results: all figures, and all sentences that hang on one, made of the rows in docs/simulated.

A region of a page stands between `<!-- simulated: begin NAME -->` and `<!-- simulated: end NAME -->`. Each function gives the
text of one. Where a sentence holds for some results only, the function chooses it by them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from trencadis.reproduce import GALLERIES, asym, locality
from trencadis.reproduce.scores import CLOSE, NEAR

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]


class NotSimulated(Exception):
    """Rows are missing."""


@cache
def rows_of(name: str) -> tuple[Row, ...]:
    """The rows that stand in the repository, without their heading."""
    path = ROOT / "docs" / "simulated" / f"{name}.jsonl"
    try:
        return tuple(map(json.loads, path.read_text().splitlines()[1:]))
    except (OSError, ValueError):
        raise NotSimulated(f"{path}: no rows; scripts/simulated.py rows {name} makes them") from None


def one(name: str, **labels: Any) -> Row:
    found = [row for row in rows_of(name) if all(row[key] == value for key, value in labels.items())]
    if len(found) != 1:
        raise NotSimulated(f"{name}: {len(found)} rows are {labels}")
    return found[0]


def table(headings: Sequence[str], lines: Sequence[Sequence[object]], left: int = 1) -> str:
    """The first columns are words, the others numbers."""
    rule = ["---"] * left + ["---:"] * (len(headings) - left)
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in [headings, rule, *lines])


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:+.{digits}f} %"


def spanned(row: Row, digits: int = 0) -> str:
    """A mean with its interval, where chance has a part in it."""
    low, high = row["interval"] or (row["gflops"], row["gflops"])
    value = f"{row['gflops']:.{digits}f}"
    return value if high - low < 0.5 * 10**-digits else f"{value} ({low:.{digits}f} to {high:.{digits}f})"


EVERY = list(asym.EFFECTS)
BOARD = ("big-only", "oblivious", "virtual-cores", "cats", "ours")


def exynos() -> str:
    lines = []
    for n in (2048, 4096, 6144, 7680):
        speeds = [one("asym", n=n, method=method, effects=[]) for method in BOARD]
        lines.append([n, *(f"{row['gflops']:.2f}" for row in speeds[:-1]), f"**{speeds[-1]['gflops']:.2f}**",
                      f"{speeds[-1]['of_bound']:.2f}"])  # fmt: skip
    headings = ["n", "big cores only", "all 8, oblivious", "virtual cores", "CATS", "`mosaic`, ours", "of the capacity bound"]
    return table(headings, lines, left=0)


def board() -> str:
    return "\n".join((_gains(), _orders() + _moved_threads() + _lead()))


def _gains() -> str:
    lines = []
    for n in asym.PAPER["gain_over_big_only"]["n"]:
        plain, full = (one("asym", n=n, method="virtual-cores", effects=effects) for effects in ([], EVERY))
        lines.append([n, f"{plain['published']:.3f}", f"{plain['gain']:.3f}", percent(plain["difference"]), f"{full['gain']:.3f}",
                      percent(full["difference"])])  # fmt: skip
    headings = ["n", "published", "kernel times and policy alone", "off by", "with all effects", "off by"]
    return "GFlop/s of four virtual cores over the four big cores alone:\n\n" + table(headings, lines, left=0)


def order(n: int, effects: Sequence[str]) -> list[str]:
    return asym.order_of(rows_of("asym"), n, effects)


def _orders() -> str:
    sentences = []
    for n in (6144, 7680):
        published = asym._published_order(n)
        sets = asym._sets(rows_of("asym"), n)
        back = [" + ".join(effects) for effects in sets if asym.as_published(order(n, effects), published)]
        with_all = " > ".join(order(n, EVERY))
        held = f"The published order comes back with: {'; '.join(back)}." if back else "No set of effects brings it as published."
        sentences.append(f"- n = {n}: {' > '.join(order(n, []))} without effects, {with_all} with all. {held}\n")
    return "".join(sentences)


def _moved_threads() -> str:
    words = []
    for n in (6144, 7680):
        still, moved = (one("asym", n=n, method="oblivious", effects=effects)["gflops"] for effects in ([], ["os-mapping"]))
        words.append(f"{moved:.2f} instead of {still:.2f} GFlop/s at {n}")
        faster = moved > still
    change = "*faster*" if faster else "slower"
    return f"- Threads that the system moves about make the oblivious runtime {change}: {', '.join(words)}.\n"


def _lead() -> str:
    leads = {}
    for row in rows_of("asym"):
        if row["method"] == "ours" and not row["effects"]:
            others = [one("asym", n=row["n"], method=method, effects=[])["gflops"] for method in BOARD[:-1]]
            leads[row["n"]] = row["gflops"] / max(others) - 1
    least, most = min(leads, key=leads.__getitem__), max(leads, key=leads.__getitem__)
    idle = one("asym", n=6144, method="ours", effects=[])["idle_fraction"]
    ahead = "ahead of all four" if leads[least] > 0 else "not always ahead"
    return (
        f"- `mosaic` is {ahead} at every n from {min(leads)} to {max(leads)}, by {100 * leads[least]:.0f} % (n = {least}) to "
        f"{100 * leads[most]:.0f} % (n = {most}), and idles {100 * idle:.1f} % at 6144.\n"
    )


def gpus() -> str:
    return "\n".join((_gpu_table(), _gpu_sentences()))


def _curve(routine: str, method: str, overlap: bool = True) -> list[Row]:
    return locality.curve_of(rows_of("locality"), routine, method, overlap)


def _gpu_table() -> str:
    lines = []
    for method in locality.METHODS:
        curve, without = _curve("potrf", method), _curve("potrf", method, overlap=False)[-1]
        name = method if method == "ours" else f"`{method}`"
        moved = f"{curve[-1]['bytes_moved'] / 1e9:.0f}"
        lines.append([name, *(f"{row['gflops']:.0f}" for row in curve[:-1]), spanned(curve[-1]), moved, spanned(without)])
    headings = ["Cholesky, GPUs", *range(1, 8), "8 (95 %)", "GB moved by 8", "without overlap, 8 (95 %)"]
    return table(headings, lines)


def _gpu_sentences() -> str:
    h2, lu = _curve("potrf", "h2")[-1], _curve("getrf", "h2")[-1]
    stops = ", ".join(
        f"`{method}` stops at {locality.stops_at(_curve('potrf', method))} GPUs (published {published})"
        for method, published in locality.PAPER["scales_to"].items()
    )
    added = []
    for method, published in locality.PAPER["overlap_adds"].items():
        on, off = (locality._estimate(_curve("potrf", method, overlap)[-1]) for overlap in (True, False))
        low, high = (on - off).interval
        added.append(f"{(on - off).mean:.0f} GFlop/s ({low:.0f} to {high:.0f}) to `{method}` (published {published})")
    speedups = ", ".join(
        f"{_curve(entry['routine'], entry['method'])[-1]['speedup']:.2f} for {entry['routine']} (published {entry['value']})"
        for entry in locality.PAPER["speedup"]
    )
    six = _curve("getrf", "h2")[5]
    return (
        f"- `h2` on 8 GPUs does {spanned(h2)} GFlop/s beside the published 1790, mean and 95 % interval of {h2['seeds']} seeds; "
        f"LU {spanned(lu)} beside 816.5.\n"
        f"- {stops}.\n"
        f"- Overlap (two tasks in flight instead of one) adds {', '.join(added)}.\n"
        f"- 8 GPUs and 4 cores over 1 GPU and 1 core, `h2`: {speedups}.\n"
        f"- LU with `h2` on 6 GPUs and 6 cores: {spanned(six)} GFlop/s beside {spanned(lu)} on 8 GPUs and 4 cores; published is "
        f"that 6 + 6 is better.\n"
    )


def nodes() -> str:
    lines = []
    for method in ("default", "numa-ws", "ours"):
        rows = [one("numa", method=method, nodes=count) for count in range(1, 5)]
        cells = [f"{row['speedup']:.2f}" + (f" ({row['published']})" if row["published"] else "") for row in rows]
        lines.append([f"`{method}`" if method != "ours" else method, *cells, f"{rows[-1]['gflops']:.0f}"])
    return table(["speed over one node (published)", 1, 2, 3, 4, "GFlop/s on 4"], lines)


def _simulated() -> dict[str, Any]:
    """The galleries whose rows stand in the repository."""
    return {name: gallery for name, gallery in GALLERIES.items() if (ROOT / "docs" / "simulated" / f"{name}.jsonl").exists()}


def scores() -> str:
    lines = []
    for name, gallery in _simulated().items():
        found = gallery.score(rows_of(name))
        near, close = (sum(figure.within(share) for figure in found.figures) for share in (NEAR, CLOSE))
        inside = sum(figure.contained() for figure in found.figures)
        wrong = sum(not figure.right_sign for figure in found.figures)
        right = sum(order.right for order in found.orders)
        lines.append([f"`{name}`", len(found.figures), near, close, inside, wrong, f"{right} of {len(found.orders)}"])
    headings = ["", "published figures", "within 15 %", "within 25 %", "inside our interval", "wrong sign", "orders"]
    return table(headings, lines) + "\n" + _misses()


def _misses() -> str:
    words = []
    for name, gallery in _simulated().items():
        missed = [line for line in gallery.score(rows_of(name)).lines() if line["said"] in ("missed", "wrong sign")]
        said = "; ".join(f"{line['what']}: {line['ours']:.4g} beside {line['published']:.4g}" for line in missed[:6])
        words.append(f"- `{name}` misses {len(missed)}" + (f", the worst first: {said}." if missed else "."))
    return "\n".join(words) + "\n"


#: By page and region.
REGIONS: dict[tuple[str, str], Callable[[], str]] = {
    ("README.md", "exynos"): exynos,
    ("docs/reproduce.md", "scores"): scores,
    ("docs/reproduce.md", "board"): board,
    ("docs/reproduce.md", "gpus"): gpus,
    ("docs/reproduce.md", "nodes"): nodes,
}


def wrapped(text: str) -> str:
    """Sentences of a list folded; tables as they are."""
    lines = (line if line.startswith("|") else fill(line, 127, subsequent_indent="  ") for line in text.split("\n"))
    return "\n".join(lines)


def rendered(page: str, text: str) -> str:
    """The page with all its regions as the rows give them; NotSimulated where the page has others than are made."""
    found = re.findall(r"<!-- simulated: begin (\S+) -->", text)
    wanted = [name for where, name in REGIONS if where == page]
    if sorted(found) != sorted(wanted):
        raise NotSimulated(f"{page}: has the regions {', '.join(found) or 'none'}, but {', '.join(wanted)} are made")
    for name in wanted:
        begin, end = f"<!-- simulated: begin {name} -->\n", f"<!-- simulated: end {name} -->\n"
        if text.count(end) != 1:
            raise NotSimulated(f"{page}: the region {name} has no end, or more than one")
        before, rest = text.split(begin)
        text = before + begin + wrapped(REGIONS[page, name]()) + end + rest.split(end)[1]
    return text
