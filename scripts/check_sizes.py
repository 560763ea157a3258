#!/usr/bin/env python3
"""Checks that no line, file or function is longer than scripts/sizes.toml allows.

Usage: check_sizes.py [ROOT]. Of the sources that git knows or would take: C, C++, Python, CMake and shell. Prints one line for
each that is too long, `file:line: ...`, and for each entry of the table that nobody needs any more, and exits 1 if there is
one; 2 if the table cannot be read.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("line", "file", "function")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".py", ".pyi", ".cmake", ".sh"}
UNITS = {"line": "columns", "file": "lines", "function": "lines"}


@dataclass(frozen=True)
class Found:
    kind: str
    path: str
    line: int
    size: int


def sources(root: Path) -> list[str]:
    words = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = [name for name in names if Path(name).suffix in SUFFIXES or Path(name).name == "CMakeLists.txt"]
    return sorted({name for name in wanted if (root / name).is_file()})


def braced(lines: list[str]) -> Iterator[tuple[int, int]]:
    """(line of the brace, lines between the braces) of each function in C or C++: its braces stand alone, above one another."""
    opened: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if match := re.fullmatch(r"( *)\{", line):
            opened[match[1]] = number
        elif (match := re.match(r"( *)\}", line)) and match[1] in opened:
            begin = opened.pop(match[1])
            yield begin, number - begin - 1


def defined(text: str) -> Iterator[tuple[int, int]]:
    """The same of Python; without the docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if body:
                yield node.lineno, node.end_lineno - body[0].lineno + 1


def sizes(root: Path, path: str) -> Iterator[Found]:
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    yield Found("file", path, 1, len(lines))
    for number, line in enumerate(lines, start=1):
        yield Found("line", path, number, len(line))
    functions = {".py": lambda: defined(text), **dict.fromkeys((".c", ".h", ".cpp", ".hpp"), lambda: braced(lines))}
    for number, size in functions.get(Path(path).suffix, list)():
        yield Found("function", path, number, size)


def limit_for(path: str, table: dict[str, int]) -> tuple[str, int]:
    """The entry that holds for a file: its own, that of the nearest folder, or the standard."""
    for name in (path, *map(str, Path(path).parents)):
        if name in table:
            return name, table[name]
    return "standard", table["standard"]


def check(root: Path, tables: dict[str, dict[str, int]]) -> list[str]:
    problems, needed = [], {}
    for path in sources(root):
        for found in sizes(root, path):
            name, limit = limit_for(path, tables[found.kind])
            key = (found.kind, name)
            needed[key] = max(needed.get(key, 0), found.size)
            if found.size > limit:
                problems.append(f"{path}:{found.line}: a {found.kind} of {found.size} {UNITS[found.kind]}; at most {limit}")
    for kind in KINDS:
        standard = tables[kind]["standard"]
        for name in tables[kind]:
            if name != "standard" and needed.get((kind, name), 0) <= standard:
                problems.append(f"sizes.toml: [{kind}] {name} keeps to the standard of {standard} now: take the entry away")
    return problems


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    try:
        tables = tomllib.loads((root / "scripts" / "sizes.toml").read_text(encoding="utf-8"))
        problems = check(root, {kind: tables[kind] for kind in KINDS})
    except (OSError, KeyError, SyntaxError, tomllib.TOMLDecodeError, subprocess.CalledProcessError) as error:
        print(f"check_sizes: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print("\n".join([*problems, f"check_sizes: {len(problems)} too long"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
