#!/usr/bin/env python3
"""Checks that includes between the floors of src/ follow scripts/layers.toml, and that glt/ includes nothing but itself.

Usage: check_layers.py [ROOT]. Prints one line per wrong include, `file:line: ...`, and exits 1 if there is one;
2 if the table is wrong.
"""

import re
import sys
import tomllib
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
PUBLIC = "trencadis"  # include/trencadis, written #include "trencadis/..."
GLT = "glt"  # the project in glt/: its public headers are "trencadis/glt...", its inner ones "glt/..."
SOURCES = {".hpp", ".cpp", ".h", ".c"}


class TableError(Exception):
    pass


def read_table(root):
    table = tomllib.loads((root / "scripts" / "layers.toml").read_text(encoding="utf-8"))
    floors = {name: set(allowed) for name, allowed in table["floors"].items()}
    for name, allowed in floors.items():
        for other in allowed:
            if other in (PUBLIC, GLT):
                continue
            if other not in floors:
                raise TableError(f"layers.toml: {name} may include {other}, which is no floor")
            if name in floors[other]:
                raise TableError(f"layers.toml: {name} and {other} may include each other")
    outside, parts = ({name: set(allowed) for name, allowed in table.get(key, {}).items()} for key in ("outside", GLT))
    return floors, outside, parts


def includes(path, pattern=INCLUDE):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := pattern.match(line):
            yield number, match.group(1)


def floor_of(target):
    """The first folder of an include, which is a floor; those of glt/ begin in two ways."""
    if re.match(r"trencadis/(fast_)?glt\b", target):
        return GLT
    return target.split("/")[0] if "/" in target else None


def check_file(path, name, allowed, floors):
    """Yields (line, message) for each include of `path`, which belongs to `name`, that `allowed` does not cover."""
    for number, target in includes(path):
        if name not in floors and (path.parent / target).is_file():
            continue  # outside src/, a neighbour may be named as it is
        floor = floor_of(target)
        if floor not in floors and floor not in (PUBLIC, GLT):
            yield number, f'"{target}" does not begin with a floor; write "floor/file.hpp", or <...> for what is not ours'
        elif floor != name and floor not in allowed:
            yield number, f'{name} may not include "{target}" (it may include: {" ".join(sorted(allowed)) or "nothing"})'


def check_glt_file(path, project, parts):
    """The same for a file of glt/: what it includes is in glt/ or no file of ours, and between its parts the table holds."""
    inside = project / "src" / GLT
    part = path.relative_to(inside).parts[0] if path.is_relative_to(inside) else None
    quoted = {number for number, _ in includes(path)}
    for number, target in includes(path, ANY_INCLUDE):
        places = [(folder / target).resolve() for folder in (path.parent, project / "include", project / "src")]
        found = next((place for place in places if place.is_file()), None)
        if found is None and number not in quoted and floor_of(target) not in (PUBLIC, GLT):
            continue  # of the system, or of a library under a back end
        if found is None or not found.is_relative_to(project):
            yield number, f'"{target}" is not in {GLT}/, which is built without the rest'
        elif found.is_relative_to(inside) and found.relative_to(inside).parts[0] not in {part, *parts.get(part, ())}:
            yield number, f'{GLT}/{part or path.parent.name} may not include "{target}"'


def check_glt(root, parts):
    project = (root / GLT).resolve()
    for path in sorted(p for p in project.rglob("*") if p.suffix in {*SOURCES, ".def"}):
        yield path, list(check_glt_file(path, project, parts))


def check(root):
    floors, outside, parts = read_table(root)
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
    for path, wrong in check_glt(root, parts):
        checked += 1
        problems += [f"{path.relative_to(root.resolve())}:{line}: {text}" for line, text in wrong]
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
