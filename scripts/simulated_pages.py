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

from simulated_best import best, levers
from simulated_chance import chance
from simulated_scaling import scaling
from simulated_unexplained import few, tried, unexplained
from trencadis.reproduce import GALLERIES, asym, asym_units, energy, energy_tables, locality, numa, numa_traffic
from trencadis.reproduce.scores import CLOSE, NEAR

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]


class NotSimulated(Exception):
    """Rows are missing."""


@cache
def rows_of(name: str) -> tuple[Row, ...]:
    """The rows that stand in the repository, without their heading."""
    path = ROOT / "docs" / "simulated" / f"{name}.jsonl"
    making = {"energy-seeds": "seeds", "scaling": "scaling"}.get(name, f"rows {name}")
    try:
        return tuple(map(json.loads, path.read_text().splitlines()[1:]))
    except (OSError, ValueError):
        raise NotSimulated(f"{path}: no rows; scripts/simulated.py {making} makes them") from None


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
        lines.append([n, f"{plain['published']:.3f}", f"{plain['gain']:.3f}", percent(plain["difference"]),
                      f"{plain['gain_unadjusted']:.3f}", f"{full['gain']:.3f}", percent(full["difference"])])  # fmt: skip
    headings = ["n", "published", "kernel times and policy alone", "off by", "unadjusted", "with all effects", "off by"]
    return (
        "GFlop/s of four virtual cores over the four big cores alone:\n\n" + table(headings, lines, left=0)
        + f"\n- Within 25 % of the published gain, with kernel times and policy alone: {_near('virtual-cores')} of four virtual "
        f"cores, {_near('one-virtual-core')} of one; with the unadjusted `half_edge` {_near('virtual-cores', '_unadjusted')} and "
        f"{_near('one-virtual-core', '_unadjusted')}."
    )  # fmt: skip


def _near(method: str, which: str = "") -> str:
    rows = [row for row in rows_of("asym") if row["method"] == method and not row["effects"] and row["published"] is not None]
    near = sum(abs(row[f"gain{which}"] - row["published"]) <= CLOSE * abs(row["published"]) for row in rows)
    return f"{near} of {len(rows)}"


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
        f"that 6 + 6 is better.\n" + _single_sentence() + _size_sentence()
    )


def _single_sentence() -> str:
    words = []
    for entry in locality.PAPER["single"]:
        row = one("locality", routine=entry["routine"], method=entry["method"], precision="s")
        words.append(f"{spanned(row)} GFlop/s for {entry['routine']} (published {entry['value']})")
    return f"- Single precision, `h2`, 8 GPUs: {', '.join(words)}.\n"


def _size_sentence() -> str:
    """Published: h2 is the fastest at every size but the smallest."""
    found = []
    for routine in locality.VARIANTS:
        speeds = {
            n: {method: one("locality", routine=routine, method=method, n=n)["gflops"] for method in ("default", "h1", "h2")}
            for n in locality.SIZES
        }
        ahead = [str(n) for n, by in speeds.items() if max(by, key=by.__getitem__) == "h2"]
        small = ", ".join(f"`{method}` {speed:.0f}" for method, speed in speeds[locality.EQUAL_N].items())
        found.append(f"{routine} at {', '.join(ahead) or 'none'} (at {locality.EQUAL_N} {small})")
    sizes = ", ".join(map(str, locality.SIZES))
    return f"- Of n = {sizes} on 8 GPUs `h2` is the fastest of the three for {'; for '.join(found)}; published: all but 4096.\n"


def units() -> str:
    """Of the chip with unequal cores: workers, tiles, ways to run it."""
    rows = rows_of("asym")
    lines = []
    for n in asym_units.SIZES:
        speeds = [one("asym", n=n, method=f"workers-{count}")["gflops"] for count in asym_units.WORKERS]
        cats = [one("asym", n=n, method=f"cats-4+{little}")["gflops"] for little in (1, 2, 3)]
        cats.append(one("asym", n=n, method="cats", effects=[])["gflops"])
        lines.append([n, *(f"{speed:.2f}" for speed in [*speeds, *cats])])
    headings = ["n, workers", *asym_units.WORKERS, *(f"CATS 4+{little}" for little in (1, 2, 3, 4))]
    return table(headings, lines, left=0) + "\n" + _tile_sentence(rows) + _model_sentence()


def _tile_sentence(rows: Sequence[Row]) -> str:
    lines = asym_units._tile_lines(asym.PAPER, rows)
    same = sum(line["ours"] == line["published"] for line in lines)
    smaller = sum(line["ours"] < line["published"] for line in lines)
    before = sum(line["unadjusted"] == line["published"] for line in lines)
    worst = max(lines, key=lambda line: line["loss"])
    return (
        f"- Best tiles of one to four big cores: {same} of {len(lines)} are the published ones, {smaller} are smaller (with the "
        f"unadjusted `half_edge` {before} are the published ones); with the "
        f"published ones a run here is at most {worst['loss']:.0f} % slower (n = {worst['n']}, {worst['workers']} workers).\n"
    )


def _model_sentence() -> str:
    words = [f"{name} {one('asym', method=f'model-{name}')['gflops']:.2f}" for name in asym_units.MODELS]
    return f"- The ways to run the chip, conventional runtime, n = {asym_units.MODEL_N}, GFlop/s: {', '.join(words)}.\n"


def runtimes() -> str:
    return "\n".join((_measured_table(), _runtime_orders(), _runtime_sentences()))


def _beside(ours: float, published: float | None, digits: int) -> str:
    return f"{ours:.{digits}f}" + (f" ({published:.{digits}f})" if published is not None else "")


def _measured_table() -> str:
    lines = []
    for entry in energy.PAPER["measured"]:
        labels = {key: entry[key] for key in ("routine", "variant", "preset", *energy.FASTEST)}
        row = energy_tables.pick(rows_of("energy"), **labels)
        levers = f"{'turbo' if entry['turbo'] else 'no turbo'}, C-states {entry['c_states']}, {entry['governor']}"
        name = f"{entry['routine']} {entry['variant']}, `{entry['preset']}`"
        lines.append([name, levers, f"{spanned(row)} ({entry['gflops']:.0f})",
                      _beside(row["package_kj"], entry.get("package_kj"), 1), f"{row['cores_kj']:.1f}",
                      _beside(row["memory_kj"], entry.get("memory_kj"), 1),
                      _beside(row["kilojoules"], energy.kilojoules_of(entry), 1),
                      _beside(row["watts"], energy.watts_of(entry), 0)])  # fmt: skip
    headings = ["simulated (published)", "levers", "GFlop/s", "PKG kJ", "of it PP0", "DRAM kJ", "PKG + DRAM kJ", "mean W"]
    return table(headings, lines, left=2)


def _runtime_orders() -> str:
    lines = []
    for entry in energy.PAPER["order"]:
        for placement in energy.PLACEMENTS:
            order = energy_tables._order(rows_of("energy"), entry, placement)
            words = [f"{name} {_speed_of(entry['routine'], name, placement):.0f}" for name in order.ours]
            said = "yes" if order.right else " > ".join(order.published)
            lines.append([entry["routine"], placement, " > ".join(words), said])
    return table(["", "tiles", "simulated, GFlop/s", "as published"], lines, left=4)


def _speed_of(routine: str, name: str, placement: str) -> float:
    variant, preset = name.split()
    labels = {"routine": routine, "variant": variant, "preset": preset, "placement": placement}
    return energy_tables.pick(rows_of("energy"), **labels)["gflops"]


def _probability(p: float) -> str:
    """What is less is rounding."""
    return f"{p:.2g}" if p >= 1e-15 else "< 1e-15"


def _runtime_sentences() -> str:
    rows = rows_of("energy")
    entry = next(entry for entry in energy.PAPER["over_libgomp"] if entry["routine"] == "getrf")
    gains = [f"{energy_tables._over_libgomp(rows, entry, placement):.0f} % ({placement})" for placement in energy.PLACEMENTS]
    sizes = ", ".join(f"{line['percent']:.0f} % at {line['n']}" for line in energy_tables._writes_section(rows).rows)
    plasma = _speed_of("getrf", "panel libgomp", energy.PLACEMENTS[0])
    levers = [
        f"{line['routine']} {line['slower']:.1f} % slower and {line['saved']:.1f} % less energy "
        f"({line['published_slower']} and {line['published_saved']})"
        for line in energy_tables._lever_lines(rows)
    ]
    pairs = [
        f"{line['routine']} {line['pair'].replace(' ', '-')} "
        + (f"{line['r']:.2f}, p {_probability(line['p'])}" if line["r"] is not None else "does not vary")
        + f" ({line['published']})"
        for line in energy_tables.correlation_lines(rows) if line["published"] is not None
    ]  # fmt: skip
    return (
        f"- LU with concurrent writes on `libkomp` over KASTORS' on `libgomp`: {', '.join(gains)}; published 63.8 %. By size, "
        f"{energy.PLACEMENTS[0]}: {sizes}; published up to 165.1 % at a size that is not named.\n"
        f"- PLASMA's LU (`panel`) on `libgomp`: {plasma:.0f} GFlop/s; the paper has it second, behind concurrent writes.\n"
        f"- The paper's configuration of least energy instead of its fastest (published): {'; '.join(levers)}.\n"
        f"- Pearson's r over the eight settings of the levers (published): {'; '.join(pairs)}.\n"
    )


def sweep() -> str:
    rows = rows_of("numa")
    lines = []
    for n, by in numa._swept(rows).items():
        gains = [numa.over({n: by}, "copies", other)[n] for other in ("default", "numa-ws")]
        lines.append([n, *(f"{by[method]['of_peak']:.1f}" for method in ("default", "copies", "numa-ws")),
                      *(f"{gain:+.1f}" for gain in gains)])  # fmt: skip
    headings = ["n", "`default`", "`copies`", "read in place", "copies over default, %", "over read in place, %"]
    small = [f"{row['speedup']:.2f} at {row['n']}" for row in numa._small_section(rows).rows]
    first = numa.crossover(rows)
    said = f"From n = {first} on copies are faster" if first else "Copies are faster at no n of these"
    return (
        "Percent of the peak of 96 cores:\n\n" + table(headings, lines, left=0)
        + f"\n- {said} than the one-level product; published is 15,360.\n"
        + f"- The one-level product on 4 nodes over one: {', '.join(small)}; published 2.01 at an n that is not named.\n"
    )  # fmt: skip


def nodes() -> str:
    lines = []
    for method in numa.METHODS:
        rows = [one("numa", method=method, nodes=count, n=numa.N) for count in range(1, 5)]
        cells = [f"{row['speedup']:.2f}" + (f" ({row['published']})" if row["published"] else "") for row in rows]
        lines.append([f"`{method}`" if method != "ours" else method, *cells, f"{rows[-1]['gflops']:.0f}"])
    return table(["speed over one node (published)", 1, 2, 3, 4, "GFlop/s on 4"], lines) + "\n" + _packed_sentence()


def _packed_sentence() -> str:
    packed, read = one("numa", method="packed", n=numa.N), one("numa", method="numa-ws", n=numa.N, nodes=4)
    remote, idle = ([f"{factor * row[key]:.0f}" for row in (packed, read)] for key, factor in
                    (("remote_bytes", 1e-9), ("idle_fraction", 100)))  # fmt: skip
    return (
        f"- `packed`, the form that a session takes by itself: {packed['gflops']:.0f} GFlop/s on 4 nodes. Its tasks do not ask "
        f"where their part of C lies: {remote[0]} GB are used from other nodes, {remote[1]} by `numa-ws`, and workers idle for "
        f"{idle[0]} % of the time, {idle[1]} % there.\n"
    )


def traffic() -> str:
    lines = []
    for line in numa_traffic.set_lines(numa.PAPER, rows_of("numa")):
        cells = (f"{line[f'{name} share']:.0f} ({line[f'{name} published']:.0f})" for name in numa_traffic.DISTANCES)
        lines.append([line["set"], f"{line['kind']}s", *cells])
    return (
        table(["nodes", "percent of all (published)", *numa_traffic.DISTANCES], lines, left=2)
        + f"\nGB on four nodes, n = {numa.N}, by distance and by the node of those who use them:\n\n" + _traffic_by_node()
    )  # fmt: skip


def _traffic_by_node() -> str:
    lines = []
    for line in numa_traffic.node_lines(numa.PAPER["machine"], [row for row in rows_of("numa") if row["n"] == numa.N]):
        if line["method"] in ("default", "copies", "numa-ws"):
            cells = (f"{1e-9 * line[f'{name} {kind}']:.1f}" for kind in numa_traffic.KINDS for name in numa_traffic.DISTANCES)
            copied = sum(line[f"{name} copy"] for name in numa_traffic.DISTANCES)
            lines.append([f"`{line['method']}`", line["node"], *cells, f"{1e-9 * copied:.1f}"])
    kinds = [f"{kind} {name}" for kind in ("read", "written") for name in numa_traffic.DISTANCES]
    return table(["", "workers of", *kinds, "copied to it"], lines, left=2)


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
    ("docs/reproduce.md", "traffic"): traffic,
    ("docs/reproduce.md", "units"): units,
    ("docs/reproduce.md", "runtimes"): runtimes,
    ("docs/reproduce.md", "best"): lambda: best(rows_of("energy"), table),
    ("docs/energy.md", "levers"): lambda: levers(rows_of("energy")),
    ("docs/reproduce.md", "chance"): lambda: chance(rows_of("energy-seeds"), table),
    ("docs/reproduce.md", "sweep"): sweep,
    ("docs/simulation.md", "scaling-cholesky"): lambda: scaling(rows_of("scaling"), "potrf", table),
    ("docs/simulation.md", "scaling-lu"): lambda: scaling(rows_of("scaling"), "getrf", table),
    ("docs/reproduce.md", "tried"): lambda: tried(rows_of("locality"), table),
    ("docs/reproduce.md", "few"): lambda: few(rows_of("numa"), table),
    ("docs/reproduce.md", "unexplained"): lambda: unexplained(
        {name: gallery.score(rows_of(name)) for name, gallery in _simulated().items()}
    ),
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
