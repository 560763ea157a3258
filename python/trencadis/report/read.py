"""The runs of one or several campaigns, in groups: what ran on different machines, or from different commits, is never put
together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from ..campaign.factors import FACTORS, LEVERS
from ..campaign.plan import read_plan
from ..campaign.store import ABOUT, RUNS, read_about, read_runs
from ..checks import unknown
from ..errors import UsageError
from ..files import warn

Record = dict[str, Any]

#: What makes a problem: only runs of one problem compete with each other.
PROBLEM = ("routine", "n", "precision")


@dataclass
class Group:
    """Runs that may be compared: of one campaign, machine (of a described one, of one state of its file), host and commit, all
    measured, or all with emulated devices, or all simulated."""

    campaign: str
    machine: str
    host: str | None  #: None of simulated runs, which are the same everywhere
    commit: str
    simulated: bool
    description: str | None = None  #: a hash of the described machine's file; None: the records do not say
    emulated: bool = False  #: devices whose speed is emulated took part
    records: list[Record] = field(default_factory=list)
    resolved: dict[str, dict[str, None]] = field(default_factory=dict)  #: factors by which runs of one configuration differ
    _levels: dict[str, tuple[list[Any], int]] = field(default_factory=dict, repr=False)  #: and of how many records

    @property
    def how(self) -> str:
        return "simulated" if self.simulated else "with emulated devices" if self.emulated else "measured"

    @property
    def name(self) -> str:
        how = self.how if self.simulated else f"{self.how} on {self.host}"
        described = f", description {self.description}" if self.description else ""
        return f"{self.campaign}: {self.machine}, {how}, commit {self.commit}{described}"

    @property
    def succeeded(self) -> list[Record]:
        return [record for record in self.records if record["error"] is None]

    def levels(self, factor: str) -> list[Any]:
        """Those that occur, numbers by size, others by their names."""
        known, count = self._levels.get(factor, ([], -1))
        if count != len(self.records):
            levels = (record["configuration"].get(factor) for record in self.records)
            known = in_order({level_key(level): level for level in levels}.values())
            self._levels[factor] = known, len(self.records)
        return known

    def varied(self) -> list[str]:
        return [name for name in FACTORS if len(self.levels(name)) > 1]

    def unset(self) -> dict[str, tuple[int, str]]:
        """Levers that the runs asked for and did not get: how many runs, and why."""
        found: dict[str, tuple[int, str]] = {}
        for record in self.records:
            for lever, outcome in (record.get("levers") or {}).items():
                if not outcome.get("set"):
                    found[lever] = (found.get(lever, (0, ""))[0] + 1, outcome.get("why", ""))
        return found

    def levers(self) -> list[str]:
        """The factors whose effect on a problem can be asked for; not those that the campaign could not move."""
        unset = self.unset()
        return [name for name in self.varied() if name not in PROBLEM and not (name in unset and not self._moved(name))]

    def _moved(self, lever: str) -> bool:
        """Was it set to more than one level?"""
        outcomes = ((record["levers"].get(lever) or {}, record) for record in self.records)
        return len({level_key(record["configuration"].get(lever)) for outcome, record in outcomes if outcome.get("set")}) > 1

    def domains(self) -> list[str]:
        """Of energy, those that some run has."""
        return sorted({domain for record in self.succeeded for domain in record["energy"]})

    def problems(self) -> dict[tuple[Any, ...], list[Record]]:
        return by(self.succeeded, lambda record: tuple(record["configuration"].get(name) for name in PROBLEM))

    def problem_name(self, problem: Sequence[Any]) -> str:
        routine, n, precision = problem
        return f"{precision}{routine} n = {n}" if routine != "tasks" else f"tasks of {n} tile rows"


def by(records: Iterable[Record], key: Any) -> dict[Any, list[Record]]:
    parts: dict[Any, list[Record]] = {}
    for record in records:
        parts.setdefault(key(record), []).append(record)
    return parts


def level_key(level: Any) -> str:
    """1 and "1" are two."""
    return json.dumps(level, sort_keys=True)


def in_order(levels: Iterable[Any]) -> list[Any]:
    found = list(levels)
    numbers = all(isinstance(level, int | float) for level in found)
    return sorted(found) if numbers else sorted(found, key=lambda level: (str(level), isinstance(level, str)))


def configuration_key(record: Mapping[str, Any]) -> str:
    return level_key(record["configuration"])


def read_groups(paths: Sequence[Path], machine: str = "") -> list[Group]:
    """UsageError where nothing is there to report of."""
    groups: dict[tuple[Any, ...], Group] = {}
    failed: list[Record] = []
    for record in _records_of(paths):
        if _lacks_machine(record):
            failed.append(record)
        else:
            key = (*_place(record), str(record.get("machine")), _is_emulated(record))
            groups.setdefault(key, _group(key)).records.append(record)
    for record in failed:
        _put_beside(groups, record)
    for group in groups.values():
        _tell_apart(group)
    found = _of_machine(list(groups.values()), machine)
    if not any(group.succeeded for group in found):
        said = next((record["message"] for group in found for record in group.records), None)
        raise UsageError(f"{paths[0]}: " + (f"all runs failed: {said}" if said else "no run is there yet"))
    for group in found:
        if not group.succeeded:
            warn(f"{group.name}: all {len(group.records)} runs failed: {group.records[0]['message']}")
    return [group for group in found if group.succeeded]


def _place(record: Record) -> tuple[str, str | None, str, bool, str | None]:
    """Campaign, host, commit, whether it is simulated, and by which description."""
    software = record.get("software") or {}
    simulated = bool(record.get("simulated")) or record["configuration"].get("machine") not in ("real", None)
    commit = str(software.get("commit") or f"unknown, library {software.get('library')}")
    if commit.endswith("+"):
        commit += f" (changed, library {software.get('library')})"
    host = None if simulated else f"{software.get('host')}, {software.get('cpu') or 'unknown processor'}"
    described = record.get("description")
    return str(record.get("campaign")), host, commit, simulated, str(described) if simulated and described else None


def _group(key: tuple[Any, ...]) -> Group:
    campaign, host, commit, simulated, description, machine, emulated = key
    return Group(campaign, machine, host, commit, simulated, description, emulated)


#: What the library chooses where nothing is asked for, and may choose otherwise in another session: by what the environment says,
#: or by the cores that it may use there.
_RESOLVED = ("engine", "scheduler", "kernels", "threads", "workers")


def _tell_apart(group: Group) -> None:
    """Runs of one configuration that were resolved in different ways have each their own, named by what it was; `asked` keeps
    what the campaign asked for."""
    for alike in by(group.succeeded, configuration_key).values():
        for factor in _RESOLVED:
            asked = alike[0]["configuration"].get(factor)
            resolved = [_text_of(record.get(factor)) for record in alike]
            if len(set(resolved) - {""}) < 2:
                continue
            group.resolved.setdefault(factor, {}).update(dict.fromkeys(resolved))
            for record, text in zip(alike, resolved, strict=True):
                level = f"{asked or 'default'}: {text or 'unknown'}"
                record["configuration"] = {**record["configuration"], factor: level}


def _text_of(resolved: Any) -> str:
    """ "0,1" of a list of workers."""
    if isinstance(resolved, list):
        return ",".join(map(str, resolved))
    return "" if resolved is None else str(resolved)


def _is_emulated(record: Record) -> bool:
    """The devices that took part; of a failed run those that were asked for."""
    return bool(record.get("emulated")) or str(record["configuration"].get("devices") or "").startswith("emulated")


def _lacks_machine(record: Record) -> bool:
    """A real run that failed has only what was asked for: "real"."""
    return record.get("error") is not None and record["configuration"].get("machine") in ("real", None)


def _put_beside(groups: dict[tuple[Any, ...], Group], record: Record) -> None:
    """A failed run to the others of its campaign, host and commit; on which machine that was they know."""
    place, emulated = _place(record), _is_emulated(record)
    alike = [group for key, group in groups.items() if key[: len(place)] == place]
    same = [group for group in alike if group.emulated == emulated]
    if not alike:
        key = (*place, str(record.get("machine")), emulated)
        alike = [groups.setdefault(key, _group(key))]
    (same or alike)[0].records.append(record)


def _of_machine(groups: list[Group], machine: str) -> list[Group]:
    if not machine:
        return groups
    names = dict.fromkeys(group.machine for group in groups)
    if machine not in names:
        raise UsageError(f"--machine: {unknown('machine of these runs', machine, names)}")
    return [group for group in groups if group.machine == machine]


def _records_of(paths: Sequence[Path]) -> list[Record]:
    """Each run once: a folder may be named twice, and so may a copy of it."""
    files: dict[Path, Path] = {}
    for file in map(_runs_at, paths):
        files.setdefault(file.resolve(), file)
    found: list[Record] = []
    known: set[str] = set()
    twice = 0
    for file in files.values():
        for record in _records_in(file):
            key = str((record.get("campaign"), record["index"], record.get("ended"), record["software"].get("host")))
            if record.get("ended") is not None and key in known:
                twice += 1
            else:
                known.add(key)
                found.append(record)
    if twice:
        warn(f"{twice} runs are in several of these files, and count once")
    return found


def _runs_at(path: Path) -> Path:
    """Of a folder, of a campaign's file whose folder has its name, or the file of runs itself."""
    if path.suffix == ".toml":
        folder = path.parent / read_plan(path).name
        if not folder.is_dir():
            folder = Path(read_plan(path).name)
        path = folder
    if path.is_dir():
        if not (path / RUNS).is_file():
            raise UsageError(f"{path}: no campaign has run there: it has no {RUNS}")
        if (path / ABOUT).exists():
            read_about(path)
        path = path / RUNS
    return path


def _records_in(path: Path) -> list[Record]:
    records, _ = read_runs(path)
    for record in records:
        _check(path, record)
    return list({record["index"]: record for record in reversed(records)}.values())[::-1]


def _check(path: Path, record: Record) -> None:
    """UsageError for a record that no campaign writes; what may be left out is filled in."""
    where = f"{path}: run {record['index']}"
    for key, standard in {"error": None, "message": None, "levers": {}, "software": {}, "block": 0, "matrix_seed": 0}.items():
        record[key] = standard if record.get(key) is None else record[key]
    _check_tables(where, record)
    for key in ("seconds", "gflops"):
        if not (record.get(key) is None or _is_number(record[key])):
            raise UsageError(f"{where}: its `{key}` is no number")
        record.setdefault(key, None)
    if record["error"] is None and not (record["seconds"] and record["seconds"] > 0):
        raise UsageError(f"{where}: its `seconds` is not above 0")
    if record["error"] is None and record["gflops"] is not None and not record["gflops"] > 0:
        raise UsageError(f"{where}: its `gflops` is not above 0")
    for domain, value in record["energy"].items():
        if not isinstance(value, dict) or not (value.get("joules") is None or _is_number(value["joules"])):
            raise UsageError(f"{where}: its energy of {domain} is no number of joules")
    record["energy"] = {d: v for d, v in record["energy"].items() if v.get("joules") is not None}
    # A factor that there was not yet, or that somebody took out, was as where no file names it.
    record["asked"] = {name: factor.standard for name, factor in FACTORS.items()} | record["configuration"]
    record["configuration"] = record["asked"] | _states_instead(record)


def _states_instead(record: Record) -> dict[str, Any]:
    """Of levers that were asked for and not set, what the machine had beside the run, or before it; None: it does not say. Else
    runs that differ in nothing but a wish would count as different configurations."""
    beside = record.get("state") if isinstance(record.get("state"), dict) else {}
    unset = {lever: outcome for lever, outcome in record["levers"].items() if lever in LEVERS and not outcome.get("set")}
    found = {lever: outcome.get("was") if beside.get(lever) is None else beside[lever] for lever, outcome in unset.items()}
    return {lever: level if isinstance(level, str | bool) else None for lever, level in found.items()}


def _check_tables(where: str, record: Record) -> None:
    record["energy"] = record.get("energy") or {}
    for key in ("energy", "levers", "software"):
        if not isinstance(record[key], dict):
            raise UsageError(f"{where}: its `{key}` is no table")
    if not all(isinstance(outcome, dict) for outcome in record["levers"].values()):
        raise UsageError(f"{where}: its `levers` hold something else than outcomes")
    for key in ("error", "message"):
        if record[key] is not None and not (isinstance(record[key], str) and record[key]):
            raise UsageError(f"{where}: its `{key}` is no text")
    if not isinstance(record["configuration"].get("routine"), str) or type(record["configuration"].get("n")) is not int:
        raise UsageError(f"{where}: its configuration has no `routine` and `n`")
    plain = (str, int, float, bool, type(None))
    for key, level in record["configuration"].items():
        if not isinstance(level, plain) or (isinstance(level, float) and not isfinite(level)):
            raise UsageError(f"{where}: its level of `{key}` is none")
    for key in ("block", "matrix_seed"):
        if type(record[key]) is not int or record[key] < 0:
            raise UsageError(f"{where}: its `{key}` is no number of a run")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
