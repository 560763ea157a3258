"""Four ways to schedule tile Cholesky on an Exynos 5422, and ours, with and without what else was at work on the board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..options import FLOW_OPTIONS
from ..seeds import Estimate, spread
from ..simulations import Simulation
from . import asym_units
from .gallery import Case, Chart, Curve, Row, Section, beside, published_figures
from .scores import Figure, Order, Scores, notes_of

TITLE = "Unequal cores: tile Cholesky on an Exynos 5422"
COLUMNS = {
    "method": "method", "n": "n", "nb": "nb", "effects": "effects", "gflops": "GFlop/s", "of_bound": "of bound",
    "idle_fraction": "idle", "gain": "over big-only", "interval": "95 %", "runs": "runs", "published": "published",
    "difference": "difference", "gflops_unadjusted": "GFlop/s unadjusted", "gain_unadjusted": "gain unadjusted",
    "adjusted": "adjusted to",
}  # fmt: skip

PAPER = published_figures("asym")
UNADJUSTED = ("gflops", "gain")
BIG, LITTLE = "cortex-a15", "cortex-a7"

#: Scheduler and workers of each method; big-only comes first, because the others are measured against it.
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "big-only": ("ompss-bf", (BIG,)),
    "oblivious": ("ompss-bf", (LITTLE, BIG)),
    "virtual-cores": ("virtual-cores:inside=ompss-bf", (LITTLE, BIG)),
    "cats": ("botlev", (LITTLE, BIG)),
    "ours": ("mosaic", (LITTLE, BIG)),
}

#: The same with one worker: one Cortex-A15, or one virtual core, while the others idle, on a machine of its own.
SINGLE: dict[str, tuple[str, tuple[str, ...]]] = {
    "one-big": ("ompss-bf", (f"{BIG}:1",)),
    "one-virtual-core": ("virtual-cores:inside=ompss-bf", (f"{LITTLE}:1", f"{BIG}:1")),
}
_BASE = {"one-virtual-core": "one-big", "one-big": "one-big"}

#: What was at work on the board beside kernel times and policy: for each effect its cause, and what it changes for whom (`*`: for
#: every method). Values are estimates of the cause alone.
EFFECTS: dict[str, dict[str, Any]] = {
    "os-mapping": {
        "cause": "threads of the conventional runtime are not pinned: the system maps them to cores of either kind, anew every "
        "100 ms, whatever their speed (virtual cores and CATS pin theirs, they are about certain cores)",
        "oblivious": {"remap_s": 0.1},
    },
    "discovery": {
        "cause": "creating a task takes about 50 us on such a core, and bottom levels are known only for the part of the graph "
        "that was discovered",
        "*": {"submit_s": 50e-6},
    },
    "slow-steals": {
        "cause": "a LITTLE core with nothing else to do takes critical tasks (the paper's traces show a potrf on one)",
        "cats": {"scheduler": "stealing=both"},
    },
    "ready-order": {
        "cause": "the ready queue of the conventional runtime hands out what became ready last",
        "oblivious": {"scheduler": "order=newest"},
        "big-only": {"scheduler": "order=newest"},
        "virtual-cores": {"scheduler": "order=newest"},
    },
}

#: The same effects with other values, each alone, to see how much of what they do hangs on the estimate.
OTHER_VALUES: dict[str, dict[str, Any]] = {
    "os-mapping every 10 ms": {"oblivious": {"remap_s": 0.01}},
    "os-mapping every second": {"oblivious": {"remap_s": 1.0}},
    "discovery at 5 us": {"*": {"submit_s": 5e-6}},
    "discovery at 500 us": {"*": {"submit_s": 500e-6}},
    "discovery of 64 tasks ahead": {"*": {"scheduler": "throttle=64"}},
    "slow-steals alone": {"cats": {"scheduler": "stealing=slow-from-fast"}},
    "ready-order by priority": {method: {"scheduler": "order=priority"} for method in ("oblivious", "big-only", "virtual-cores")},
}

_TABLE_N = 6144  #: of the timelines and idle shares
#: Where the paper gives the whole order: there each effect is simulated alone, too.
_ORDERED_N = [n for entry in PAPER["order"] if len(entry["methods"]) > 1 for n in entry["n"]]


def sizes(quick: bool) -> list[tuple[int, int]]:
    """n and the published best tile."""
    tiles = PAPER["best_tiles"]
    pairs = list(zip(tiles["n"], tiles["nb"], strict=True))
    return [pair for pair in pairs if pair[0] in (512, 2048, _TABLE_N)] if quick else pairs


def case(method: str, n: int, nb: int, effects: Sequence[str], timeline: str = "") -> Case:
    """`effects` by name; each changes what it changes for this method."""
    scheduler, workers = {**METHODS, **SINGLE}[method]
    options: dict[str, Any] = {}
    for name in effects:
        of = {**EFFECTS, **OTHER_VALUES}[name]
        change = {**of.get("*", {}), **of.get(method, {})}
        if extra := change.pop("scheduler", ""):
            scheduler = _with_option(scheduler, extra)
        options |= change
    machine = PAPER["pair" if method in SINGLE else "machine"]
    simulation = Simulation(
        "potrf", n, machine, nb, variant="in-place", scheduler=scheduler, workers=workers, effects=options
    )  # fmt: skip
    return Case(simulation, {"method": method, "n": n, "nb": nb, "effects": list(effects)}, timeline)


def _with_option(scheduler: str, option: str) -> str:
    """Another option of the policy: of the one inside, for virtual cores, unless the flow carries it out."""
    name, _, words = scheduler.partition(":")
    if name == "virtual-cores" and not option.startswith(FLOW_OPTIONS):
        own, inside = words.split("inside=")
        return f"{name}:{own}inside={inside}{';' if ':' in inside else ':'}{option}"
    return f"{scheduler}{',' if words else ':'}{option}"


def effect_sets(quick: bool) -> list[tuple[str, ...]]:
    """None, each alone, each with other values, all but each, all."""
    every = tuple(EFFECTS)
    if quick:
        return [(), every]
    alone = [(name,) for name in (*every, *OTHER_VALUES)]
    return [(), *alone, *(tuple(e for e in every if e != name) for name in every), every]


def cases(quick: bool) -> list[Case]:
    planned = []
    for n, nb in sizes(quick):
        for effects in effect_sets(quick) if n in _ORDERED_N else [(), tuple(EFFECTS)]:
            drawn = n == _TABLE_N and effects in ((), tuple(EFFECTS))
            for method in METHODS:
                name = f"{method}-{'effects' if effects else 'plain'}" if drawn else ""
                planned.append(case(method, n, nb, effects, name))
    of_one = PAPER["gain_over_big_only_one"]
    chosen = {n for n, _ in sizes(quick)}
    single = [pair for pair in zip(of_one["n"], of_one["nb"], strict=True) if pair[0] in chosen]
    planned += [case(method, n, nb, ()) for n, nb in single for method in SINGLE]
    return planned + asym_units.cases(PAPER, quick)


def rows(runs: Iterable[tuple[Case, Row]]) -> Iterator[Row]:
    big_only: dict[tuple, Estimate] = {}
    for planned, record in runs:
        labels = planned.labels
        base = _BASE.get(labels["method"], "big-only")
        configuration = (base, labels["n"], *labels["effects"])
        speed, gflops = record["estimates"]["gflops"], record["gflops"]
        if labels["method"] == base:
            big_only[configuration] = speed
        over = speed - big_only[configuration]
        gain = over.mean
        published = published_gain(labels["method"], labels["n"])
        yield {
            **labels,
            "gflops": gflops,
            "bound_gflops": record["bound_gflops"],
            "of_bound": gflops / record["bound_gflops"],
            "idle_fraction": record["idle_fraction"],
            "per_worker": [{key: worker[key] for key in ("name", "kind", "idle_fraction")} for worker in record["per_worker"]],
            "per_kernel": record["per_kernel"],
            "gain": gain,
            **spread(record, speed if published is None else over),
            **beside(gain, published, "gain"),
            "scheduler": record["scheduler"],
            "simulated": True,
        }


def published_gain(method: str, n: int) -> float | None:
    name = {"virtual-cores": "gain_over_big_only", "one-virtual-core": "gain_over_big_only_one"}.get(method)
    return dict(zip(PAPER[name]["n"], PAPER[name]["gflops"], strict=True)).get(n) if name else None


def score(rows: Sequence[Row]) -> Scores:
    """Of kernel times and policies alone."""
    plain = [row for row in rows if not row["effects"]]
    figures = [
        Figure(f"gain of {'4 virtual cores' if row['method'] == 'virtual-cores' else '1 virtual core'}, n = {row['n']}, GFlop/s",
               row["published"], row["gain"], unadjusted=row.get("gain_unadjusted"))
        for row in plain if row["published"] is not None
    ]  # fmt: skip
    orders = [
        Order(f"n = {n}", _published_order(n), order_of(rows, n, ()), as_published(order_of(rows, n, ()), _published_order(n)))
        for n in dict.fromkeys(row["n"] for row in plain) if _published_order(n)
    ]  # fmt: skip
    return Scores([*figures, *asym_units.tile_figures(PAPER, rows)], [*orders, *asym_units.orders(rows)], notes_of(PAPER))


def order_of(rows: Sequence[Row], n: int, effects: Sequence[str]) -> list[str]:
    """The published methods, fastest first."""
    speeds = {
        row["method"]: row["gflops"]
        for row in rows
        if row["n"] == n and row["effects"] == list(effects) and row["method"] in METHODS and row["method"] != "ours"
    }
    return sorted(speeds, key=lambda method: -speeds[method])


def as_published(order: Sequence[str], published: Sequence[str]) -> bool:
    """Are those that the paper puts in an order in that order; where it names one, is it the first?"""
    named = [method for method in order if method in published] if len(published) > 1 else order[:1]
    return list(named) == list(published)


def _published_order(n: int) -> list[str]:
    return next((entry["methods"] for entry in PAPER["order"] if n in entry["n"]), [])


def sections(rows: Sequence[Row]) -> list[Section]:
    parts = (
        _gain_section, _bound_section, _unadjusted_section, _effects_section,
        _order_section, _unexplained_section, _idle_section, _kernel_section,
    )  # fmt: skip
    return [*score(rows).sections(), *(part(rows) for part in parts), *asym_units.sections(PAPER, rows)]


def _gain_section(rows: Sequence[Row]) -> Section:
    chosen = [row for row in rows if row["method"] == "virtual-cores" and row["effects"] in ([], list(EFFECTS))]
    shown = [
        {**row, "effects": _named(row["effects"]), "each": row["gain"] / 4,
         "published_each": None if row["published"] is None else row["published"] / 4}
        for row in chosen
    ]  # fmt: skip
    columns = {
        "n": "n", "nb": "nb", "effects": "effects", "gain": "ours", "gain_unadjusted": "unadjusted", "published": "published",
        "difference": "difference", "each": "per LITTLE core", "published_each": "published",
    }  # fmt: skip
    text = "GFlop/s of 4 virtual cores less those of 4 workers on the big cores; per LITTLE core as in the paper's Table 3."
    return Section("Gain of virtual cores over big cores only", columns, shown, text)


def _bound_section(rows: Sequence[Row]) -> Section:
    table: dict[tuple, Row] = {}
    for row in rows:
        if row["effects"] in ([], list(EFFECTS)) and row["method"] in METHODS:
            line = table.setdefault(
                (row["n"], bool(row["effects"])), {"n": row["n"], "effects": "all" if row["effects"] else "none"}
            )
            line[row["method"]] = row["gflops"]
            line[f"{row['method']} of bound"] = row["of_bound"]
    columns = {"n": "n", "effects": "effects"}
    for method in METHODS:
        columns |= {method: method, f"{method} of bound": "of bound"}
    text = (
        "GFlop/s of each method, and the share of its capacity bound: the fastest that any policy could be on the workers in "
        "use, all busy all the time, each kernel where it is best done, or as long as the longest chain of tasks."
    )
    return Section("Speed and distance to the capacity bound", columns, list(table.values()), text)


def _unadjusted_section(rows: Sequence[Row]) -> Section:
    table: dict[tuple, Row] = {}
    for row in rows:
        if row["effects"] in ([], list(EFFECTS)) and row["method"] in METHODS and "gflops_unadjusted" in row:
            line = table.setdefault((row["n"], bool(row["effects"])), {"n": row["n"], "effects": _named(row["effects"])})
            line[row["method"]] = row["gflops_unadjusted"]
            line[f"{row['method']} by"] = f"{100 * (row['gflops_unadjusted'] / row['gflops'] - 1):+.1f} %"
    columns = {"n": "n", "effects": "effects"}
    for method in METHODS:
        columns |= {method: method, f"{method} by": "by"}
    text = (
        "GFlop/s with a half_edge that was adjusted to nothing, the estimate that all machines here share, and how much that "
        "changes."
    )
    return Section("The same without the figures that were adjusted to a result", columns, list(table.values()), text)


def _sets(rows: Sequence[Row], n: int) -> list[tuple[str, ...]]:
    """The sets of effects that were simulated at this n."""
    return list(dict.fromkeys(tuple(row["effects"]) for row in rows if row["n"] == n))


def _effects_section(rows: Sequence[Row]) -> Section:
    lines: list[dict[str, Any]] = []
    for n in _ORDERED_N:
        for effects in _sets(rows, n):
            speeds = {row["method"]: row["gflops"] for row in rows if row["n"] == n and tuple(row["effects"]) == effects}
            order = order_of(rows, n, effects)
            agrees = as_published(order, _published_order(n))
            lines.append({"n": n, "effects": _named(effects), **speeds, "order": " > ".join(order), "agrees": agrees})
    columns = {"n": "n", "effects": "effects", **dict(zip(METHODS, METHODS, strict=True))}
    columns |= {"order": "order", "agrees": "as published"}
    causes = "\n".join(f"- *{name}*: {effect['cause']}." for name, effect in EFFECTS.items())
    order = " > ".join(_published_order(_TABLE_N))
    text = f"GFlop/s. Published order: {order}. The effects, each with its cause:\n\n{causes}"
    return Section("What the effects on the board do", columns, lines, text)


def _order_section(rows: Sequence[Row]) -> Section:
    """Which effects bring back which part of the published order, and what none of them does."""
    lines = []
    for n in _ORDERED_N:
        published, sets = _published_order(n), _sets(rows, n)
        for better, worse in zip(published, published[1:], strict=False):
            orders = {effects: order_of(rows, n, effects) for effects in sets}
            held = [_named(effects) for effects in sets if orders[effects].index(better) < orders[effects].index(worse)]
            lines.append({"n": n, "pair": f"{better} > {worse}", "with": "; ".join(held) or "nothing that was simulated"})
    columns = {"n": "n", "pair": "published", "with": "holds with"}
    return Section("Which effects bring back the published order", columns, lines)


#: A gain further than this from the published one is listed as unexplained.
_CLOSE = 0.25


def _unexplained_section(rows: Sequence[Row]) -> Section:
    """What neither plain runs nor all effects together bring back."""
    lines: list[dict[str, Any]] = []
    for n in PAPER["gain_over_big_only"]["n"]:
        found = [row for row in rows if row["n"] == n and row["method"] == "virtual-cores" and row["published"] is not None]
        if found and all(abs(row["difference"]) > _CLOSE for row in found):
            nearest = min(found, key=lambda row: abs(row["difference"]))
            ours = f"{nearest['gain']:.3f} at the nearest, with {_named(nearest['effects'])}"
            lines.append({"n": n, "what": "gain of virtual cores", "published": f"{nearest['published']:.3f}", "ours": ours})
    for n in dict.fromkeys(row["n"] for row in rows):
        published = _published_order(n)
        orders = {effects: order_of(rows, n, effects) for effects in _sets(rows, n)}
        if published and not any(as_published(order, published) for order in orders.values()):
            ours = "; ".join(f"{' > '.join(orders[e])} ({_named(e)})" for e in ((), tuple(EFFECTS)))
            lines.append({"n": n, "what": "order, fastest first", "published": " > ".join(published), "ours": ours})
    columns = {"n": "n", "what": "what", "published": "published", "ours": "simulated"}
    text = f"Gains more than {_CLOSE:.0%} off and orders that do not come back with any set of effects simulated at that n."
    return Section("What remains unexplained", columns, lines, text)


def _idle_section(rows: Sequence[Row]) -> Section:
    shown = [row for row in rows if row["n"] == _TABLE_N and row["effects"] in ([], list(EFFECTS)) and row["method"] in METHODS]
    table: dict[str, dict[str, Any]] = {}
    columns = {"worker": "worker", "kind": "kind"}
    for row in shown:
        name = f"{row['method']}, {_named(row['effects'])}"
        columns[name] = name
        for worker in row["per_worker"]:
            line = table.setdefault(worker["name"], {"worker": worker["name"], "kind": worker["kind"]})
            line[name] = round(100 * worker["idle_fraction"], 1)
    return Section(f"Idle share per worker, percent, n = {_TABLE_N}", columns, list(table.values()))


def _kernel_section(rows: Sequence[Row]) -> Section:
    """The described machine is calibrated with these times; the table shows that the description says what was published."""
    lines = []
    paper = PAPER["mean_ms"]
    for row in rows:
        if row["n"] != paper["n"] or row["effects"] or row["method"] not in METHODS:
            continue
        for kernel in row["per_kernel"]:
            # Who begins a kernel is one core, also of a virtual core; the time is then that of the pair.
            kind = "virtual" if row["method"] == "virtual-cores" else kernel["kind"]
            published = dict(zip(paper["kernels"], paper.get(kind, []), strict=False)).get(kernel["name"])
            lines.append({"method": row["method"], **kernel, "published": published})
    columns = {
        "method": "method", "name": "kernel", "kind": "kind", "calls": "calls", "mean_ms": "mean ms", "published": "published ms",
    }  # fmt: skip
    text = (
        "A shared call lasts from its first chunk to its last. The published times calibrate the description of the machine; "
        "where a method gives the narrower tiles of the last row to one kind of core, its means differ from them."
    )
    return Section("Mean time per kernel and kind of core", columns, lines, text)


def charts(rows: Sequence[Row]) -> list[Chart]:
    drawn = []
    for with_effects, name, what in ((False, "plain", "kernel times and policy alone"), (True, "effects", "with all effects")):
        chosen = [row for row in rows if row["effects"] == (list(EFFECTS) if with_effects else [])]
        curves = [Curve(method, [(row["n"], row["gflops"]) for row in chosen if row["method"] == method]) for method in METHODS]
        bound = Curve("capacity bound", [(row["n"], row["bound_gflops"]) for row in chosen if row["method"] == "ours"])
        drawn.append(Chart(f"gflops-{name}", f"Exynos 5422, {what} (simulated)", "n", "GFlop/s", [*curves, bound]))
        gains = [row for row in chosen if row["method"] == "virtual-cores"]
        gain = Curve(
            "virtual cores over big cores", [(row["n"], row["gain"]) for row in gains],
            [(row["n"], row["published"]) for row in gains if row["published"] is not None],
        )  # fmt: skip
        drawn.append(Chart(f"gain-{name}", f"Gain, {what} (simulated)", "n", "GFlop/s", [gain], baseline=0))
    return drawn


def _named(effects: Sequence[str]) -> str:
    if not effects:
        return "no effect"
    return "all" if list(effects) == list(EFFECTS) else " + ".join(effects)
