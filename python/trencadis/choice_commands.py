"""`trencadis tune` and `trencadis explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _core, elsewhere
from .checks import one_of
from .cores import core_list
from .errors import UsageError
from .files import warn
from .options import SESSION_PANEL, Devices, shape_list, size_list, unit_list
from .records import JsonTo, check_record_target, emit, progress_bar
from .tables import console, print_named, print_table

Workers = Annotated[
    str,
    typer.Option(
        "--workers", metavar="LIST", rich_help_panel=SESSION_PANEL,
        help="Cores to use: 0,1,4-7 or the name of a core kind; default: all allowed",
    ),
]  # fmt: skip
Seconds = Annotated[float, typer.Option("--seconds", help="Time for it; large sizes are left out where it is short")]
Precision = Annotated[str, typer.Option("--precision", help="s, d, c or z; several together, as sd")]
Only = Annotated[str, typer.Option("--routines", metavar="LIST", help="Some of those whose calls are chosen", show_default="all")]


def register(app: typer.Typer) -> None:
    app.command("tune")(tune_command)
    app.command("explain")(explain_command)


def tune_command(
    routines: Only = "", precision: Precision = "d", seconds: Seconds = 50.0, workers: Workers = "", json: JsonTo = None
) -> None:
    """Measure what calls take on this host in all their forms and tile sizes, and keep it: from then on the forms and tile sizes
    of calls are chosen from it. About a minute, on a machine that does nothing else. See docs/choices.md."""
    from . import tune

    check_record_target(json)
    names = _routines(routines)
    if not precision or set(precision) - set("sdcz"):
        raise UsageError(f"--precision: '{precision}' must be of the letters s, d, c and z")
    if not 1 <= seconds <= 3600:
        raise UsageError(f"--seconds: {seconds:g} must be from 1 to 3600")
    session = _core.Session(workers=core_list(workers), objective="rule")
    found = _core.read_calibration(session)
    if not found["path"]:
        raise UsageError("there is no cache folder to keep a calibration in: set XDG_CACHE_HOME or HOME")
    if found["trouble"]:
        warn(f"{found['path']} {found['trouble']}; it is made anew")
    letters = "".join(dict.fromkeys(precision))
    with tune.alone(Path(found["path"]), warn) as waited:
        if waited and tune.is_measured_since(found, session, names, letters):
            return print(f"{found['path']}: calibrated meanwhile by another process")
        sizes = tune.sizes(names, letters)
        cores = session.options()["workers"]
        neighbour = cores[-1] if len(cores) > 1 else None
        with progress_bar(len(sizes) * (2 + (neighbour is not None))) as step:
            measured = tune.calibrate(session, sizes, seconds, neighbour, step)
        _core.write_calibration(session, tune.merged(session, measured))
    left = len(sizes) - len(measured)
    print(f"{found['path']}: {len(measured)} sizes of {', '.join(names)}" + (f"; no time for {left}" if left else ""))
    if json:
        emit([row for size in measured for row in size.rows(session.workers)], json)
    return None


def explain_command(
    routine: Annotated[str, typer.Argument(metavar="ROUTINE", help="One of those whose calls are chosen", show_default=False)],
    n: Annotated[str, typer.Option("--n", help="Orders: 1024,2048 or FROM:TO:STEP")] = "",
    shape: Annotated[str, typer.Option("--shape", metavar="MxN[xK]", help="Other shapes, as 4096x32x4096 of products")] = "",
    precision: Annotated[str, typer.Option("--precision", help="s, d, c or z")] = "d",
    objective: Annotated[str, typer.Option("--objective", help="time, energy, energy-delay or rule")] = "",
    workers: Workers = "",
    devices: Devices = "",
    machine: Annotated[
        str, typer.Option("--machine", metavar="NAME|FILE", help="Of a described machine, not this host", show_default=False)
    ] = "",
    json: JsonTo = None,
) -> None:
    """Say how a call would be carried out on this host, or on a described machine, why, and what else was considered."""
    check_record_target(json)
    one_of("routine whose calls are chosen", routine, _core.chosen_routines())
    calls = [(order, order, order if routine == "gemm" else 0) for order in (size_list(n) if n else [])] + shape_list(shape)
    if not calls:
        raise UsageError("--n: give a size to explain, such as --n 1024")
    for m, columns, k in calls:
        if min(m, columns) < 1 or (routine == "gemm") != (k > 0) or (routine == "potrf" and m != columns):
            option = "--shape" if shape else "--n"
            raise UsageError(f"{option}: {m}x{columns}" + (f"x{k}" if k else "") + f" is no shape of {routine}")
    if machine:
        if devices:
            raise UsageError("--devices: choices of a described machine are of its cores; leave out the one or the other")
        if objective not in ("", "time"):
            raise UsageError(f"--objective: '{objective}' of a described machine is not known, only time is")
        rows = [elsewhere.explained(machine, unit_list(workers), routine, precision, *call) for call in calls]
    else:
        session = _core.Session(workers=core_list(workers), objective=objective, devices=devices)
        rows = [_explained(session, routine, precision, *call) for call in calls]
    if json:
        emit(rows, json)
    else:
        for row in rows:
            _print(row)


def _routines(text: str) -> list[str]:
    known = _core.chosen_routines()
    if not text:
        return known
    return list(dict.fromkeys(one_of("--routines", word.strip(), known) for word in text.split(",")))


def _explained(session: Any, routine: str, precision: str, m: int, n: int, k: int) -> dict[str, Any]:
    considered = _core.considered(session, routine, precision, m, n, k)
    options = session.options()
    row: dict[str, Any] = {"routine": routine, "precision": precision, "m": m, "n": n, "k": k or None,
                           "workers": options["workers"], "objective": options["objective"]}  # fmt: skip
    known = [one for one in considered if one["seconds"] > 0]
    row["chosen"] = considered[0]["plan"] if considered else "rule"
    row["why"] = _why(session, considered, known)
    row["considered"] = known
    row["last"] = _core.last_calls(session, routine, precision, m, n, k)
    row["rule"] = _rule(session, row)
    row["calibration"] = _core.read_calibration(session)["path"]
    row["devices"] = options["devices"] or None
    if row["devices"]:
        row["foreseen"] = _core.foreseen(session, routine, precision, m, n, k)
        row["chosen"], row["why"] = _with_devices(row["foreseen"])
    return row


def _rule(session: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What the fixed rule comes to, what is expected of it, and what it took lately; the same in its row of the others."""
    call = row["routine"], row["precision"], row["m"], row["n"], row["k"] or 0
    rule = _core.rule(session, *call)
    own = next((one for one in row["considered"] if one["plan"] == "rule"), None)
    if own:
        own.update({key: rule[key] for key in ("variant", "nb", "grain")})
    last = [one["seconds"] for one in row["last"] if one["plan"] == "rule" and one["workers"] == rule["workers"]]
    return {**rule, "seconds": (own and own["seconds"]) or None, "last": last}


def _with_devices(foreseen: list[dict[str, Any]]) -> tuple[str, str]:
    """What is chosen of the forms that devices could take part in, and why."""
    if not foreseen:
        return "rule", "calls of this routine are not laid out for devices: cores alone"
    taken = next((one for one in foreseen if one["chosen"]), None)
    best = min((one["seconds"] for one in foreseen if one["seconds"]), default=None)
    alone = foreseen[0]["alone"]
    if taken is None:
        found = f"the best form is expected to take {1e3 * best:.3f} ms with them" if best else "no task of it can be theirs"
        return "rule", f"devices are left out: {found}, cores alone {1e3 * alone:.3f} ms, and three tenths less is asked for"
    what = f"{taken['variant']}, tiles of {taken['nb']}" if taken["nb"] else taken["variant"]
    if taken["seconds"] is None:
        return what, "devices take part in every call (always=yes)"
    return what, f"expected to take {1e3 * taken['seconds']:.3f} ms with devices, cores alone {1e3 * alone:.3f} ms"


def _why(session: Any, considered: list[dict[str, Any]], known: list[dict[str, Any]]) -> str:
    if not considered:
        found = _core.read_calibration(session)
        if session.options()["objective"] == "rule":
            return "the objective is rule: calls go by the fixed rule"
        there = bool(found["path"]) and Path(found["path"]).exists()
        trouble = found["trouble"] or ("has none for this session" if there else "is not there")
        where = found["path"] or "its cache folder"
        return f"no calibration is used ({where} {trouble}): the fixed rule, until `trencadis tune` has measured others"
    if not known:
        return "nothing was measured near this size: the fixed rule"
    first, others = considered[0], [one for one in known if one is not considered[0]]
    if first["plan"] == "rule":
        if not others:
            return "nothing else was measured near this size: the fixed rule"
        best = min(others, key=lambda one: one["against"])
        text = f"the best of the others, {best['plan']}, takes {best['against']:.3f} of the fixed rule"
        if best["against"] * best["scatter"] > 1 > best["against"]:
            text += f", which differed from itself by {100 * (best['scatter'] - 1):.1f} % near this size"
        octaves = f", {best['nearest']:.1f} octaves from what was measured" if best["nearest"] > 0 else ""
        return f"{text}; it would have to take {best['enough']:.3f} at most{octaves}"
    text = f"expected to take {first['against']:.3f} of the fixed rule, which would stay from {first['enough']:.3f} on"
    rivals = [one for one in others if one["plan"] != "rule"]
    if rivals:
        lead = rivals[0]["against"] / first["against"] - 1
        text += f"; {rivals[0]['plan']} would be chosen were {first['plan']} {100 * lead:.1f} % slower"
    return text


def _rule_text(rule: dict[str, Any]) -> str:
    if rule["variant"]:
        cut = f" in tiles of {rule['nb']}" if rule["nb"] else f" cut for {rule['grain']} workers" if rule["grain"] else ""
        text = f"the fixed rule: {rule['variant']}{cut}"
    else:
        text = "the fixed rule: its caller, without tiles or tasks"
    if rule["seconds"]:
        text += f", expected to take {1e3 * rule['seconds']:.3g} ms"
    if rule["last"]:
        text += f"; the last times {', '.join(f'{1e3 * took:.3g}' for took in reversed(rule['last']))} ms"
    return text


def _last_times(last: list[dict[str, Any]]) -> str:
    """What such calls took, the last one first, by plan and number of workers."""
    kinds = {(one["plan"], one["workers"]): None for one in reversed(last)}
    if not kinds:
        return "no call of this size was timed lately\n"
    lines = []
    for plan, workers in kinds:
        took = [f"{one['seconds'] * 1e3:.3g}" for one in reversed(last) if (one["plan"], one["workers"]) == (plan, workers)]
        by = "its caller alone" if workers == 1 else f"{workers} workers"
        lines.append(f"the last times, {plan} by {by}: {', '.join(took)} ms")
    return "\n".join(lines) + "\n"


def _print(row: dict[str, Any]) -> None:
    out = console()
    size = f"{row['m']}x{row['n']}" + (f"x{row['k']}" if row["k"] else "")
    how = f" {size}, precision {row['precision']}, {len(row['workers'])} workers, objective {row['objective']}: "
    print_named(row["routine"], how, row["chosen"], f", on {row['machine']}, estimated" if "machine" in row else "")
    out.print(row["why"] + "\n", soft_wrap=True, markup=False)
    if "rule" in row:
        out.print(_rule_text(row["rule"]) + "\n", soft_wrap=True, markup=False)
    if by_cores := row.get("by_cores"):
        rows = [{**one, "milliseconds": one["seconds"] * 1e3, "mark": "chosen" if one["chosen"] else ""} for one in by_cores]
        print_table(rows, {"workers": "cores", "plan": "plan", "milliseconds": "expected ms", "mark": ""})
        out.print()
    if "last" in row:
        out.print(_last_times(row["last"]), soft_wrap=True, markup=False)
    shown = [{**one, "milliseconds": one["seconds"] * 1e3, "mark": "chosen" if one["chosen"] else ""}
             for one in row["considered"]]  # fmt: skip
    if foreseen := row.get("foreseen"):
        rows = [{**one, "with": one["seconds"] and one["seconds"] * 1e3, "cores": one["alone"] and one["alone"] * 1e3,
                 "which": " ".join(map(str, one["devices"])), "mark": "chosen" if one["chosen"] else ""}
                for one in foreseen]  # fmt: skip
        print_table(rows, {"variant": "form", "nb": "nb", "which": "devices", "with": "expected ms with them",
                           "cores": "ms of cores alone", "mark": ""})  # fmt: skip
    if shown:
        columns = {"plan": "plan", "workers": "workers", "variant": "form", "nb": "nb", "grain": "cut for workers",
                   "milliseconds": "expected ms", "against": "of the rule", "nearest": "octaves to a measured size",
                   "mark": ""}  # fmt: skip
        print_table(shown, columns)
