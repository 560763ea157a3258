"""`trencadis machine` and `trencadis list`."""

from __future__ import annotations

from collections.abc import Callable
from json import loads
from typing import Annotated, Any

import typer

from . import _core
from .checks import one_of
from .energy import meters, nothing_counts
from .errors import UsageError
from .records import JsonTo, check_record_target, emit
from .tables import console, print_named, print_table

_LISTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "schedulers": _core.list_schedulers,
    "engines": _core.list_engines,
    "kernels": _core.list_kernels,
    "threads": _core.list_threads,
    "machines": _core.list_machines,
    "routines": _core.list_routines,
    "devices": _core.list_devices,
}

#: Keys that every scheduler takes; `list schedulers NAME` shows them, a table of all schedulers only what is a policy's own.
_COMMON_OPTIONS = ("throttle", "dependences")


def register(app: typer.Typer) -> None:
    app.command("machine")(machine)
    app.command("list")(list_kind)


def machine(
    name: Annotated[
        str, typer.Argument(metavar="[NAME|FILE]", help="A described machine; default: this one", show_default=False)
    ] = "",
    json: JsonTo = None,
    devices: Annotated[
        str,
        typer.Option("--devices", metavar="BACKEND[:WHICH][,KEY=VALUE]", help="Open and measure these; default: those here"),
    ] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure the speed again instead of reading this host's cache")] = False,
) -> None:
    """Show the cores by kind with measured speed, caches, memory nodes, devices, and how our kernels cut a product."""
    check_record_target(json)
    if name and devices:
        raise UsageError(f"--devices: they are of this machine, and '{name}' is another one; leave out the one or the other")
    found = [] if name else _core.devices(devices)
    text = _core.load_machine(name) if name else _core.machine(True, fresh)
    description = {**loads(text), "blocks": _core.native_blocks(name)}
    if not name:
        description["meters"] = meter_rows()
        description["devices"] = found
    if json:
        emit([description], json)
    else:
        _print_machine(description)


def list_kind(
    kind: Annotated[str, typer.Argument(metavar="|".join(_LISTS), help="What to list", show_default=False)],
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Only this one, a scheduler with its options", show_default=False)
    ] = "",
    json: JsonTo = None,
) -> None:
    """List what this build has: a line each, with its source. A scheduler's options are given as NAME:KEY=VALUE,KEY=VALUE."""
    rows = _LISTS[one_of("kind", kind, _LISTS)]()
    if name:
        rows = [_row_called(kind, name, rows)]
    check_record_target(json)
    if json:
        emit(rows, json)
    elif not rows:
        console().print(f"no {kind}")
    elif name:
        _print_entry(rows[0])
    else:
        _print_list(rows)


def _row_called(kind: str, name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = {row["name"]: row for row in rows}
    return names[one_of(f"name in list {kind}", name, names)]


def _print_list(rows: list[dict[str, Any]]) -> None:
    shown = [{**row, "note": _note(row)} for row in rows]
    columns = {"name": "name", "available": "available", "summary": "summary"}
    if any(row["note"] for row in shown):
        columns["note"] = ""
    if any(row.get("source") for row in shown):
        columns["source"] = "source"
    print_table(shown, columns)


def _print_entry(row: dict[str, Any]) -> None:
    """One entry in full. A scheduler's options come as a table."""
    out = console()
    print_named(row["name"], f"  {row['summary']}")
    if row.get("source"):
        out.print(f"source: {row['source']}", soft_wrap=True, markup=False)
    if not row["available"]:
        out.print(f"not available: {row.get('why_not', '')}", soft_wrap=True, markup=False)
    if row.get("options"):
        out.print(f"\noptions, as {row['name']}:key=value,key=value", markup=False)
        columns = {"name": "key", "values": "values", "standard": "when not given", "summary": "summary"}
        print_table(row["options"], columns)


def _note(row: dict[str, Any]) -> str:
    if not row["available"]:
        simulated = row.get("simulated_variants")
        return row.get("why_not", "") + (f"; variants: {' '.join(simulated)}" if simulated else "")
    if "variants" in row:
        parts = {"variants": row["variants"], "simulated": row["simulated_variants"]}
        return "; ".join(f"{what}: {' '.join(names)}" for what, names in parts.items() if names)
    if "options" in row:
        own = [option["name"] for option in row["options"] if option["name"] not in _COMMON_OPTIONS]
        return "options: " + " ".join(own) if own else ""
    return row.get("version", "")


def _print_machine(machine: dict[str, Any]) -> None:
    out = console()
    print_named(machine["name"], f"  {machine.get('summary', '')}")
    out.print(f"{machine['origin']}\n", soft_wrap=True, markup=False)
    print_table(
        _kind_rows(machine),
        {"kind": "core kind", "count": "cores", "cpus": "cpu numbers", "gflops": "GFlop/s per core", "node": "memory node"},
    )
    if machine.get("caches"):
        out.print()
        print_table(
            _cache_rows(machine), {"level": "cache level", "count": "count", "size": "size each", "sharers": "cores per cache"}
        )
    out.print()
    print_table(_node_rows(machine), {"name": "memory node", "size": "size"})
    if machine.get("network"):
        out.print(f"\nnetwork: {_network_text(machine['network'])}", soft_wrap=True, markup=False)
    out.print()
    sizes = {key: key for key in ("mr", "nr", "kc", "mc", "nc")}
    print_table(machine["blocks"], {"precision": "our kernels", "kind": "core kind", **sizes})
    out.print()
    if machine.get("devices"):
        print_table(_device_rows(machine["devices"]), _DEVICE_COLUMNS)
    else:
        out.print("no device; trencadis list devices says what could bring some")
    if "meters" in machine:
        out.print()
        _print_meters(machine["meters"])


def meter_rows() -> list[dict[str, Any]]:
    """Those that count, then those that were found and do not, with the reason."""
    there = [{**meter, "available": True} for meter in meters().list()]
    return there + [{**meter, "available": False} for meter in meters().missing()]


def _print_meters(rows: list[dict[str, Any]]) -> None:
    if not any(row["available"] and row["kind"] != "temperature" for row in rows):
        print(nothing_counts())
    if any(row["available"] for row in rows):
        columns = {"source": "meters", "domain": "domain", "name": "name", "kind": "tells", "available": "counts", "why": ""}
        print_table(rows, columns)


_DEVICE_COLUMNS = {
    "name": "device", "kind": "kind", "size": "memory", "speed": "GFlop/s", "to": "GB/s to it", "from": "GB/s from it",
}  # fmt: skip


def _device_rows(devices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a described one the peak; else what was measured, if it was."""
    rows = []
    for device in devices:
        row = {"name": device["name"], "kind": device["kind"], "size": _size(device["bytes"])}
        how = "emulated" if device.get("emulated") else "measured"
        if "gflops" in device:
            row["speed"] = f"{device['gflops']:.3g}, {how}"
            row |= {way: f"{device[f'bandwidth_{way}'] / 1e9:.3g}, {how}" for way in ("to", "from")}
        elif device.get("peak_gflops"):
            row["speed"] = f"{device['peak_gflops']:g}, described"
        rows.append({"speed": "", "to": "", "from": "", **row})
    return rows


def _kind_rows(machine: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for kind in machine["kinds"]:
        cores = [core for core in machine["cores"] if core["kind"] == kind["name"]]
        speeds = [core["gflops"] for core in cores if core.get("gflops")]
        speed = f"{min(speeds):.1f} to {max(speeds):.1f}, measured" if speeds else ""
        if not speed and kind.get("peak_gflops"):
            speed = f"{kind['peak_gflops']:.1f}, described"
        nodes = sorted({core["node"] for core in cores})
        if machine.get("network"):
            nodes = [f"{len(nodes)} hosts"]
        rows.append(
            {
                "kind": kind["name"],
                "count": len(cores),
                "cpus": ranges(sorted(core["cpu"] for core in cores)),
                "gflops": speed,
                "node": ", ".join(nodes),
            }
        )
    return rows


def _node_rows(machine: dict[str, Any]) -> list[dict[str, Any]]:
    """Hosts of a cluster that are alike and follow each other as one row."""
    rows: list[dict[str, Any]] = []
    for node in machine["nodes"]:
        size = _size(node["bytes"])
        if machine.get("network") and rows and rows[-1]["size"] == size:
            rows[-1]["name"] = f"{rows[-1]['name'].split(' ')[0]} to {node['name']}"
        else:
            rows.append({"name": node["name"], "size": size})
    return rows


def _network_text(network: dict[str, Any]) -> str:
    values = [f"{key} {value}" for key, value in network.items() if key not in ("kind", "bandwidth", "latency")]
    link = f"{network['bandwidth'] / 1e9:g} GB/s and {network['latency'] * 1e6:g} us per link"
    return ", ".join([network["kind"], link, *values])


def _cache_rows(machine: dict[str, Any]) -> list[dict[str, Any]]:
    groups: dict[tuple, int] = {}
    for cache in machine["caches"]:
        key = (cache["level"], cache["bytes"], len(cache["cores"]))
        groups[key] = groups.get(key, 0) + 1
    return [
        {"level": f"L{level}", "count": count, "size": _size(size), "sharers": sharers}
        for (level, size, sharers), count in sorted(groups.items())
    ]


def ranges(numbers: list[int]) -> str:
    """[0, 1, 2, 5] -> "0-2,5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.4g} {unit}"
        size /= 1024
    raise AssertionError("not reached")
