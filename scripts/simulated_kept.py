"""Simulations that are kept as they come, so that hours of them go on where they were broken off.

Each run stands in `build/simulated-runs/NAME.jsonl` under what it follows from: the library and its simulator, byte by byte, the
machine as it is read, and the configuration with its seed. Deleting the folder begins anew; nothing else reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from trencadis import _core
from trencadis.simulations import Progress, Simulation, simulate_all

FOLDER = Path(__file__).resolve().parents[1] / "build" / "simulated-runs"
Record = dict[str, Any]


class Kept:
    """Simulates as `simulate_all`, and keeps the records in the file of a name."""

    def __init__(self, name: str) -> None:
        self.path = FOLDER / f"{name}.jsonl"
        self.records: dict[str, Record] = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            with suppress(ValueError):  # where writing it was broken off
                self.records.update(json.loads(line))

    def __call__(self, simulations: Sequence[Simulation], progress: Progress) -> Iterator[Record]:
        keys = {key_of(simulation): simulation for simulation in simulations}
        missing = {key: one for key, one in keys.items() if key not in self.records}
        progress("kept", len(keys) - len(missing))
        found = zip(missing, simulate_all(list(missing.values()), progress), strict=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            for key in keys:
                if key in missing:
                    self.records.update([next(found)])
                    file.write("\n" + json.dumps({key: self.records[key]}))  # the one before may have been broken off
                    file.flush()
                yield self.records[key]


@cache
def _library() -> str:
    """Of the library that is loaded, and of the simulator beside it."""
    loaded = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libtrencadis.so" in line)
    files = (Path(loaded), Path(loaded).with_name("libtrencadis_simgrid.so"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@cache
def _machine(name: str) -> str:
    return sha256(_core.load_machine(name).encode()).hexdigest()


def key_of(simulation: Simulation) -> str:
    configuration = {**asdict(simulation), "outputs": ()}
    return sha256(json.dumps([_library(), _machine(simulation.machine), configuration]).encode()).hexdigest()
