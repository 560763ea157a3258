"""What the rows of energy show: each published figure beside ours, the orders of the runtimes, and what the levers do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .energy import BEST, COMPARED, FASTEST, LEVERS, PAPER, PLACEMENTS, WRITES_N, kilojoules_of, levers_n, watts_of
from .gallery import Row, Section
from .scores import Figure, Order, Scores, in_order, notes_of

_LEVER_VALUES = {
    "turbo": {True: 1, False: -1},
    "c_states": {"all": 1, "none": -1},
    "governor": {"performance": 1, "powersave": -1},
}


def pick(rows: Sequence[Row], **labels: Any) -> Row:
    """The one row with these labels, at the largest n and with the standard placement and levers unless they are named."""
    wanted = {"n": rows[0]["n"], "placement": PLACEMENTS[0], **FASTEST, **labels}
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def score(rows: Sequence[Row]) -> Scores:
    """Nothing where n is not the paper's. Tiles lie as the paper's programs lay them."""
    if rows[0]["n"] != PAPER["n"]:
        return Scores([], [])
    figures = [*_measured_figures(rows), *_ratio_figures(rows), *_lever_figures(rows), *_correlation_figures(rows)]
    return Scores(figures, [_order(rows, entry, PLACEMENTS[0]) for entry in PAPER["order"]], notes_of(PAPER))


def _measured_figures(rows: Sequence[Row]) -> list[Figure]:
    figures = []
    for entry in PAPER["measured"]:
        row = pick(rows, **{key: entry[key] for key in ("routine", "variant", "preset", *FASTEST)})
        name = f"{entry['routine']} {entry['variant']} {entry['preset']}, {_lever_words(entry)}"
        figures.append(Figure(f"{name}: GFlop/s", entry["gflops"], row["gflops"], row["interval"]))
        if "package_kj" in entry:
            figures.append(Figure(f"{name}: PKG kJ", entry["package_kj"], row["package_kj"]))
            figures.append(Figure(f"{name}: DRAM kJ", entry["memory_kj"], row["memory_kj"]))
        else:
            figures.append(Figure(f"{name}: PKG + DRAM kJ", kilojoules_of(entry), row["kilojoules"]))
        figures.append(Figure(f"{name}: mean watts", watts_of(entry), row["watts"]))
    return figures


def _lever_words(of: Row) -> str:
    return f"turbo {'on' if of['turbo'] else 'off'}, C-states {of['c_states']}, {of['governor']}"


def _over_libgomp(rows: Sequence[Row], entry: dict[str, Any], placement: str, n: int | None = None) -> float:
    """Percent of speed: the best form on libkomp over the plain one on libgomp."""
    best = next(variant for routine, variant, _ in BEST if routine == entry["routine"])
    where = {"routine": entry["routine"], "placement": placement, "n": n or rows[0]["n"]}
    fast = pick(rows, **where, variant=best, preset="libkomp")
    return 100 * (fast["gflops"] / pick(rows, **where, variant=entry["variant"], preset="libgomp")["gflops"] - 1)


def _ratio_figures(rows: Sequence[Row]) -> list[Figure]:
    figures = [
        Figure(f"{entry['routine']}: libkomp over libgomp, percent of speed", entry["percent"],
               _over_libgomp(rows, entry, PLACEMENTS[0]))
        for entry in PAPER["over_libgomp"]
    ]  # fmt: skip
    most = max(line["percent"] for line in _writes_section(rows).rows)
    name = "getrf: concurrent writes over libgomp at the best n, percent of speed"
    return [*figures, Figure(name, PAPER["concurrent_writes"]["up_to_percent"], most)]


def _lever_lines(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The configuration that the paper found to need least energy beside the fastest."""
    lines = []
    for entry in PAPER["least_energy"]:
        routine, variant, preset = next(best for best in BEST if best[0] == entry["routine"])
        fast = pick(rows, routine=routine, variant=variant, preset=preset)
        found = min(
            (e for e in PAPER["measured"] if (e["routine"], e["preset"], e["turbo"]) == (routine, entry["preset"], False)),
            key=kilojoules_of,
        )
        lean = pick(rows, **{key: found[key] for key in ("routine", "variant", "preset", *FASTEST)})
        lines.append(
            {"routine": routine, "lean": f"{found['preset']}, {_lever_words(found)}",
             "published_slower": entry["slower_percent"], "slower": 100 * (1 - lean["gflops"] / fast["gflops"]),
             "published_saved": entry["saved_percent"], "saved": 100 * (1 - lean["joules"] / fast["joules"])}
        )  # fmt: skip
    return lines


def _lever_figures(rows: Sequence[Row]) -> list[Figure]:
    lines = _lever_lines(rows)
    slower = [Figure(f"{e['routine']}: speed given up for energy, percent", e["published_slower"], e["slower"]) for e in lines]
    return slower + [Figure(f"{e['routine']}: energy saved so, percent", e["published_saved"], e["saved"]) for e in lines]


def correlation_lines(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Pearson's r of every pair, over the eight settings of the levers, as reports on campaigns have it."""
    from ..report.findings import pearson  # with SciPy's statistics, which take a second to load

    lines = []
    n = levers_n(rows[0]["n"])
    for routine, variant, preset in BEST:
        chosen = [pick(rows, routine=routine, variant=variant, preset=preset, n=n, **levers) for levers in LEVERS]
        columns = {"gflops": [row["gflops"] for row in chosen], "package": [row["package_kj"] for row in chosen],
                   "memory": [row["memory_kj"] for row in chosen]}  # fmt: skip
        columns |= {lever: [values[row[lever]] for row in chosen] for lever, values in _LEVER_VALUES.items()}
        entry = next(entry for entry in PAPER["correlation"] if entry["routine"] == routine)
        published = dict(zip(entry["pairs"], entry["r"], strict=True))
        names = list(columns)
        for at, first in enumerate(names[:3]):
            for second in names[at + 1 :]:
                r, p = pearson(columns[first], columns[second]) or (math.nan, math.nan)
                known = not math.isnan(r)
                lines.append({"routine": routine, "pair": f"{first} {second}", "r": r if known else None,
                              "p": p if known else None, "published": published.get(f"{first} {second}")})  # fmt: skip
    return lines


def _correlation_figures(rows: Sequence[Row]) -> list[Figure]:
    return [
        Figure(f"{line['routine']}: r of {line['pair'].replace(' ', ' and ')}", line["published"], line["r"] or 0.0)
        for line in correlation_lines(rows) if line["published"] is not None
    ]  # fmt: skip


def _order(rows: Sequence[Row], entry: dict[str, Any], placement: str) -> Order:
    """Of those that the paper names."""
    speeds = {}
    for name in entry["names"]:
        variant, preset = name.split()
        speeds[name] = pick(rows, routine=entry["routine"], variant=variant, preset=preset, placement=placement)["gflops"]
    what = f"{entry['routine']}, by speed, tiles {placement}"
    return in_order(what, entry["names"], sorted(speeds, key=lambda name: -speeds[name]))


def sections(rows: Sequence[Row]) -> list[Section]:
    parts = (
        _energy_section, _order_section, _ratio_section, _writes_section, _lever_section, _correlation_section, _waiting_section,
    )  # fmt: skip
    return [*score(rows).sections(), *(part(rows) for part in parts)]


def _energy_section(rows: Sequence[Row]) -> Section:
    lines = []
    for entry in PAPER["measured"]:
        row = pick(rows, **{key: entry[key] for key in ("routine", "variant", "preset", *FASTEST)})
        known = rows[0]["n"] == PAPER["n"]
        lines.append({
            **{key: row[key] for key in ("routine", "variant", "preset", *FASTEST, "gflops", "package_kj", "cores_kj",
                                         "memory_kj", "watts")},
            "published_gflops": entry["gflops"] if known else None,
            "published_package": entry.get("package_kj") if known else None,
            "published_memory": entry.get("memory_kj") if known else None,
            "total": row["kilojoules"], "published_total": kilojoules_of(entry) if known else None,
            "published_watts": watts_of(entry) if known else None,
        })  # fmt: skip
    columns = {
        "routine": "routine", "variant": "variant", "preset": "preset", "turbo": "turbo", "c_states": "C-states",
        "governor": "governor", "gflops": "GFlop/s", "published_gflops": "published", "package_kj": "PKG kJ",
        "published_package": "published", "cores_kj": "of it PP0", "memory_kj": "DRAM kJ", "published_memory": "published",
        "total": "PKG+DRAM", "published_total": "published", "watts": "W", "published_watts": "published",
    }  # fmt: skip
    text = "What the paper measured in its Table 2, beside the same configuration. The paper gives no PP0."
    return Section("Speed, joules and watts", columns, lines, text)


def _order_section(rows: Sequence[Row]) -> Section:
    lines = []
    for entry in PAPER["order"]:
        for placement in PLACEMENTS:
            order = _order(rows, entry, placement)
            lines.append({"routine": entry["routine"], "tiles": placement, "published": " > ".join(order.published),
                          "ours": " > ".join(order.ours), "agrees": order.right})  # fmt: skip
    columns = {"routine": "routine", "tiles": "tiles", "published": "published", "ours": "simulated", "agrees": "as published"}
    return Section("The order of the runtimes by speed, and where the tiles lie", columns, lines)


def _ratio_section(rows: Sequence[Row]) -> Section:
    lines = [
        {"routine": entry["routine"], "placement": placement, "published": entry["percent"],
         "ours": _over_libgomp(rows, entry, placement)}
        for entry in PAPER["over_libgomp"] for placement in PLACEMENTS
    ]  # fmt: skip
    columns = {"routine": "routine", "placement": "tiles", "published": "published %", "ours": "simulated %"}
    return Section("libkomp over libgomp", columns, lines, "For LU libkomp with concurrent writes over libgomp without.")


def _writes_section(rows: Sequence[Row]) -> Section:
    entry = next(entry for entry in PAPER["over_libgomp"] if entry["routine"] == "getrf")
    sizes = [n for n in (*WRITES_N, PAPER["n"]) if n <= rows[0]["n"]]
    lines = [{"n": n, "percent": _over_libgomp(rows, entry, PLACEMENTS[0], n)} for n in sizes]
    return Section("What concurrent writes on libkomp give LU over libgomp, by size", {"n": "n", "percent": "speed %"}, lines)


def _lever_section(rows: Sequence[Row]) -> Section:
    columns = {
        "routine": "routine", "lean": "least energy, published", "published_slower": "slower, published %",
        "slower": "slower, simulated %", "published_saved": "saved, published %", "saved": "saved, simulated %",
    }  # fmt: skip
    text = (
        "The configuration of least energy beside the fastest of the factorization (libkomp, turbo on, C-states none, powersave)."
    )
    return Section("Choosing energy instead of speed", columns, _lever_lines(rows), text)


def _correlation_section(rows: Sequence[Row]) -> Section:
    columns = {"routine": "routine", "pair": "pair", "published": "published", "r": "Pearson's r", "p": "p"}
    text = (
        "Over the eight settings of turbo (on +1), C-states (all +1) and governor (performance +1), for the fastest of each "
        f"factorization at n = {levers_n(rows[0]['n'])}; p below 0.05 is significant. "
        "Empty: one of the two does not vary here."
    )
    return Section("What hangs on what", columns, correlation_lines(rows), text)


def _waiting_section(rows: Sequence[Row]) -> Section:
    """Watts of those that wait asleep and awake."""
    lines = [
        {key: row[key] for key in ("routine", "variant", "preset", "gflops", "kilojoules", "watts", "idle_fraction")}
        for row in rows
        if row["n"] == rows[0]["n"] and row["placement"] == PLACEMENTS[0] and row["preset"] in (*COMPARED, "ours")
        and all(row[lever] == value for lever, value in FASTEST.items())
    ]  # fmt: skip
    columns = {"routine": "routine", "variant": "variant", "preset": "preset", "gflops": "GFlop/s", "kilojoules": "PKG+DRAM kJ",
               "watts": "W", "idle_fraction": "idle"}  # fmt: skip
    text = "libgomp's waiters sleep at once, libkomp's look for work for 200 ms first, xkaapi's for ever."
    return Section("Those that wait asleep, and those that look for work", columns, lines, text)
