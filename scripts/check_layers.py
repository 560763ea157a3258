#!/usr/bin/env python3
"""Checks that includes between the floors of src/ follow scripts/layers.toml.

Usage: check_layers.py [ROOT]. Prints one line per wrong include, `file:line: ...`, and exits 1 if there is one;
2 if the table is wrong.
"""

import re
import sys
import tomllib
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
PUBLIC = "trencadis"  # include/trencadis, written #include "trencadis/..."
SOURCES = {".hpp", ".cpp", ".h", ".c"}


class TableError(Exception):
    pass


def read_table(root):
    table = tomllib.loads((root / "scripts" / "layers.toml").read_text(encoding="utf-8"))
    floors = {name: set(allowed) for name, allowed in table["floors"].items()}
    for name, allowed in floors.items():
        for other in allowed:
            if other == PUBLIC:
                continue
            if other not in floors:
                raise TableError(f"layers.toml: {name} may include {other}, which is no floor")
            if name in floors[other]:
                raise TableError(f"layers.toml: {name} and {other} may include each other")
    return floors, {name: set(allowed) for name, allowed in table.get("outside", {}).items()}


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match.group(1)


def check_file(path, name, allowed, floors):
    """Yields (line, message) for each include of `path`, which belongs to `name`, that `allowed` does not cover."""
    for number, target in includes(path):
        if name not in floors and (path.parent / target).is_file():
            continue  # outside src/, a neighbour may be named as it is
        floor = target.split("/")[0] if "/" in target else None
        if floor not in floors and floor != PUBLIC:
            yield number, f'"{target}" does not begin with a floor; write "floor/file.hpp", or <...> for what is not ours'
        elif floor != name and floor not in allowed:
            yield number, f'{name} may not include "{target}" (it may include: {" ".join(sorted(allowed)) or "nothing"})'


def check(root):
    floors, outside = read_table(root)
    folders = [(folder, folder.name, floors.get(folder.name)) for folder in sorted((root / "src").iterdir()) if folder.is_dir()]
    folders += [(root / name, name, allowed) for name, allowed in outside.items()]
    problems, checked = [], 0
    for folder, name, allowed in folders:
        if allowed is None:
            problems.append(f"{folder.relative_to(root)}: no line for this floor in scripts/layers.toml")
            continue
        for path in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
            checked += 1
            problems += [f"{path.relative_to(root)}:{line}: {text}" for line, text in check_file(path, name, allowed, floors)]
    return problems, checked


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    try:
        problems, checked = check(root)
    except (OSError, KeyError, TableError, tomllib.TOMLDecodeError) as error:
        print(f"check_layers: {error}", file=sys.stderr)
        return 2
    print("\n".join(problems + [f"check_layers: {checked} files, {len(problems)} wrong includes"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
