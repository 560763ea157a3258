"""How the machine is beside a run: clock, levers, temperature, load, time that a hypervisor took, and what software ran."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__, _core
from ..system_files import read_word, system_root
from .levers import level_now


def _number(path: Path) -> float | None:
    try:
        return float(read_word(path) or "")
    except ValueError:
        return None


def steal_ticks(root: Path) -> int | None:
    """Since the start of the machine, of all cores together."""
    words = (read_word(root / "proc/stat") or "").split("\n", 1)[0].split()
    return int(words[8]) if len(words) > 8 and words[0] == "cpu" and words[8].isdigit() else None


def clocks_mhz(root: Path) -> list[float] | None:
    """Of each core, as the system has it now: a guest often has only the nominal one."""
    cpus = sorted(
        (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"), key=lambda p: int(p.parts[-3][3:])
    )
    clocks = [_number(path) for path in cpus]
    if clocks and None not in clocks:
        return [clock / 1000 for clock in clocks if clock is not None]
    lines = (read_word(root / "proc/cpuinfo") or "").splitlines()
    said = [line.partition(":")[2] for line in lines if line.startswith("cpu MHz")]
    try:
        return [float(text) for text in said] or None
    except ValueError:
        return None


#: Drivers whose sensors are of the processor.
_CORE_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")


def temperature_c(root: Path) -> float | None:
    """The hottest core sensor."""
    found = []
    for chip in (root / "sys/class/hwmon").glob("hwmon*"):
        if read_word(chip / "name") in _CORE_SENSORS:
            found += [_number(path) for path in chip.glob("temp*_input")]
    for zone in (root / "sys/class/thermal").glob("thermal_zone*"):
        if read_word(zone / "type") in ("x86_pkg_temp", "cpu-thermal", "cpu_thermal"):
            found.append(_number(zone / "temp"))
    known = [value / 1000 for value in found if value is not None]
    return max(known, default=None)


def load(root: Path) -> list[float] | None:
    """Of 1, 5 and 15 minutes."""
    try:
        return [float(word) for word in (read_word(root / "proc/loadavg") or "").split()[:3]] or None
    except ValueError:
        return None


class Watch:
    """The machine's state over a run, from the making of this object to `state`."""

    def __init__(self) -> None:
        self._root = system_root()
        self._steal = steal_ticks(self._root)
        self._load = load(self._root)

    def state(self) -> dict[str, Any]:
        root, steal = self._root, steal_ticks(self._root)
        known = steal is not None and self._steal is not None
        return {
            "load": self._load,
            "steal_s": (steal - self._steal) / os.sysconf("SC_CLK_TCK") if known else None,
            "clock_mhz": clocks_mhz(root),
            "temperature_c": temperature_c(root),
            **{lever: level_now(lever, root) for lever in ("turbo", "cstates", "governor")},
        }


def description_of(machine: str) -> str:
    """A hash of what a described machine's file says now, wherever it lies."""
    described = json.loads(_core.load_machine(machine))
    del described["origin"]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]


@cache
def software() -> dict[str, Any]:
    """What ran: version, commit (null outside of a checkout, with + where files were changed), a hash of the extension and of
    what it has loaded of ours, Python, kernel, host, processor. Of this process: what is built meanwhile is another one's."""
    built = Path(_core.__file__ or "")
    return {
        "version": __version__,
        "commit": _commit(built.parent),
        "library": _hash_of([built, *_ours_below(built)]) if built.is_file() else None,
        "python": platform.python_version(),
        "kernel": platform.release(),
        "host": platform.node(),
        "cpu": _cpu(),
    }


def _hash_of(files: list[Path]) -> str:
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes() if file.is_file() else b"")
    return content.hexdigest()[:12]


def _ours_below(extension: Path) -> list[Path]:
    """Our library, where the extension has it beside itself; the modules that a session loads are not always there."""
    words = [line.split(maxsplit=5) for line in (read_word(Path("/proc/self/maps")) or "").splitlines()]
    paths = {Path(word[5]) for word in words if len(word) > 5}
    return sorted(path for path in paths if path.name.startswith("libtrencadis.so") and path != extension)


def _cpu() -> str | None:
    """The processor's own name."""
    lines = (read_word(Path("/proc/cpuinfo")) or "").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def _commit(folder: Path) -> str | None:
    """Of our own checkout: a package that is installed below another project's has none."""
    if not (folder.parents[1] / "src" / "graph").is_dir():
        return None
    git = ["git", "-C", str(folder), "-c", "safe.directory=*"]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, timeout=10)
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if head.returncode != 0:
        return None
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")
