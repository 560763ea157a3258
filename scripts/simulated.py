#!/usr/bin/env python3
"""Simulated results that stand in the repository, and what is made of them.

    scripts/simulated.py quick [NAME...] [--write]   the table of results of `reproduce --quick`, of one seed; with --slice K/N
                                                     instead of --write the K-th of N parts of each paper's
    scripts/simulated.py rows NAME... [--seeds N]    the rows of `reproduce NAME`, which take minutes to hours; broken off, the
                                                     next one goes on where it was
    scripts/simulated.py seeds [--seeds N]           the levers and runtimes of energy over 30 seeds, a quarter of an hour
    scripts/simulated.py scaling                     two factorizations on up to 1,000 hosts, some minutes
    scripts/simulated.py pages [--write]             the figures and sentences of README.md and docs/ that are made of those rows

Simulations are exact for a seed. `quick` simulates all of them again and says which differ from the table by more than 0.5 %;
`pages` says which region of a page is not what the rows give. With --write the table or the pages are replaced. Run it with
.venv/bin/python. Exit status: 0 nothing differs, 1 something does, 2 bad arguments or files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import simulated_scaling
import trencadis
from simulated_kept import Kept
from simulated_pages import REGIONS, NotSimulated, rendered
from soak import fraction, slice_of
from trencadis.errors import UsageError
from trencadis.files import write_text
from trencadis.records import progress_bar
from trencadis.reproduce import GALLERIES, energy_seeds
from trencadis.reproduce.gallery import SEEDS, count_runs, plan, run_gallery
from trencadis.simulations import simulate_all

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "simulated" / "quick.tsv"
#: A line that moves by more is a change that needs its reason.
MOST = 0.005
FORMAT = 1  #: of the table
HEADING = f"# results of reproduce --quick, seed 1, format {FORMAT}"
COLUMNS = ("paper", "machine", "case", "scheduler", "gflops", "joules", "bytes_moved")
_NUMBERS = COLUMNS[4:]

Table = dict[tuple[str, ...], tuple[str, ...]]


def simulated(names: Sequence[str], part: tuple[int, int] = (1, 1)) -> Iterator[tuple[str, ...]]:
    """The lines of the table, or a part of them, as they come out now."""
    cases = slice_of([(name, case) for name in names for case in GALLERIES[name].cases(True)], *part)
    with progress_bar(len(cases)) as step:
        records = simulate_all([case.simulation for _, case in cases], step)
        for (name, case), record in zip(cases, records, strict=True):
            labels = " ".join(f"{key}={_word(value)}" for key, value in case.labels.items())
            numbers = (record["gflops"], record["energy_j"], record["bytes_moved"])
            yield (name, record["machine"], labels, record["scheduler"], *(f"{number or 0:.6g}" for number in numbers))


def _word(value: object) -> str:
    return ("+".join(value) or "none") if isinstance(value, list) else str(value)


def read_table(path: Path) -> Table:
    """Lines by everything but their numbers. UsageError for what is no such table."""
    try:
        heading, columns, *lines = path.read_text().splitlines()
    except (OSError, ValueError):
        raise UsageError(f"{path}: no table of results; scripts/simulated.py quick --write makes it") from None
    if heading != HEADING or tuple(columns.split("\t")) != COLUMNS:
        raise UsageError(f"{path}: a table of another version, '{heading}' instead of '{HEADING}'; make it anew with --write")
    table: Table = {}
    for number, line in enumerate(lines, start=3):
        cells = tuple(line.split("\t"))
        try:
            [float(cell) for cell in cells[4:]]
        except ValueError:
            cells = ()
        if len(cells) != len(COLUMNS):
            raise UsageError(f"{path}:{number}: {len(COLUMNS)} cells, the last {len(_NUMBERS)} numbers, are wanted: '{line}'")
        table[cells[:4]] = cells[4:]
    return table


def part_of(table: Table, names: Sequence[str], part: tuple[int, int]) -> Table:
    """The lines of these papers are in the order of their cases."""
    return dict(slice_of([item for item in table.items() if item[0][0] in names], *part))


def moved(table: Table, lines: Sequence[tuple[str, ...]], names: Sequence[str]) -> list[str]:
    """What is not as the table has it, in words."""
    found = []
    now = {line[:4]: line[4:] for line in lines}
    for key in (key for key in table if key[0] in names and key not in now):
        found.append(f"{' '.join(key)}: in the table, but not simulated any more")
    for key, numbers in now.items():
        if key not in table:
            found.append(f"{' '.join(key)}: simulated, but not in the table")
            continue
        for name, new, old in zip(_NUMBERS, map(float, numbers), map(float, table[key]), strict=True):
            if abs(new - old) > MOST * abs(old):
                change = f" ({100 * (new / old - 1):+.1f} %)" if old else ""
                found.append(f"{' '.join(key)}: {name} {old:g} -> {new:g}{change}")
    return found


def quick(names: Sequence[str], write: bool, part: tuple[int, int] = (1, 1)) -> int:
    table = {} if write and not TABLE.exists() else read_table(TABLE)
    lines = list(simulated(names, part))
    found = moved(part_of(table, names, part), lines, names)
    print("\n".join(found) or f"{len(lines)} results are as the table has them")
    if not write:
        return bool(found)
    kept = [(*key, *numbers) for key, numbers in table.items() if key[0] not in names]
    merged = sorted([*kept, *lines], key=lambda line: list(GALLERIES).index(line[0]))
    write_text(TABLE, "".join("\t".join(line) + "\n" for line in [(HEADING,), COLUMNS, *merged]))
    return 0


def rows(names: Sequence[str], seeds: int) -> int:
    for name in names:
        gallery = GALLERIES[name]
        cases = plan(gallery, quick=False, folder=None)
        with progress_bar(count_runs(cases, seeds or SEEDS), lines=True) as step:
            found = [_short(row) for row in run_gallery(gallery, cases, seeds or SEEDS, step, Kept(name))]
        command = f"trencadis reproduce {name}" + (f" --seeds {seeds}" if seeds else "")
        _write_rows(name, command, found)
    return 0


def seeds_of_energy(seeds: int) -> int:
    with progress_bar(energy_seeds.runs(seeds), lines=True) as step:
        found = [_short(row) for row in energy_seeds.simulated(seeds, step, Kept("energy-seeds"))]
    _write_rows("energy-seeds", f"scripts/simulated.py seeds --seeds {seeds}", found)
    return 0


def on_hosts() -> int:
    with progress_bar(2 * len(simulated_scaling.points()), lines=True) as step:
        found = [_short(row) for row in simulated_scaling.simulated(step)]
    _write_rows("scaling", "; ".join(map(simulated_scaling.command, simulated_scaling.SIZES)), found)
    return 0


def _write_rows(name: str, command: str, found: Sequence[dict]) -> None:
    first = {"rows_of": command, "version": trencadis.__version__}
    write_text(ROOT / "docs" / "simulated" / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in [first, *found]))


def _short(row: dict) -> dict:
    """Without what no page shows; numbers of six digits."""
    shown = {key: value for key, value in row.items() if key not in ("per_worker", "per_kernel", "runs", "simulated", "adjusted")}
    return json.loads(json.dumps(shown), parse_float=lambda text: float(f"{float(text):.6g}"))


def pages(write: bool) -> int:
    differ = 0
    for page in dict.fromkeys(page for page, _ in REGIONS):
        path = ROOT / page
        old = path.read_text()
        new = rendered(page, old)
        if new != old:
            differ += 1
            print(f"{page}: differs from what the rows give; scripts/simulated.py pages --write makes it anew")
            if write:
                write_text(path, new)
    return 0 if write else bool(differ)


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("what", choices=("quick", "rows", "seeds", "scaling", "pages"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--slice", type=fraction, default=(1, 1))
    parser.add_argument("--seeds", type=int, default=0)
    given = parser.parse_intermixed_args()
    if given.write and given.slice != (1, 1):
        parser.error("--write is of the whole table")
    if unknown := [name for name in given.names if name not in GALLERIES]:
        parser.error(f"'{unknown[0]}' is no published system; one of {', '.join(GALLERIES)}")
    names = [name for name in GALLERIES if name in (given.names or GALLERIES)]
    try:
        if given.what == "quick":
            return quick(names, given.write, given.slice)
        if given.what == "seeds":
            return seeds_of_energy(given.seeds or energy_seeds.SEEDS)
        if given.what == "scaling":
            return on_hosts()
        return rows(names, given.seeds) if given.what == "rows" else pages(given.write)
    except (UsageError, NotSimulated) as error:
        print(f"simulated.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
