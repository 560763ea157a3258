"""Puts the library in front of a program's own BLAS and LAPACK.

    python -m trencadis.preload                        prints the path of the library, for LD_PRELOAD
    python -m trencadis.preload python my_program.py   runs a program with it

What it serves, and how to see that it does: docs/blas.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import _core

LIBRARY = "libtrencadis_lapack.so"
MAPS = Path("/proc/self/maps")


def loaded_library() -> Path:
    """The libtrencadis.so that this package runs on: a wheel has it beside the extension, a checkout in its build folder."""
    with MAPS.open() as maps:
        for line in maps:
            path = Path(line.split(maxsplit=5)[-1].rstrip("\n"))  # which may have blanks
            if path.name.startswith("libtrencadis.so"):
                return path
    raise RuntimeError(f"{_core.__file__} is loaded, and no libtrencadis.so with it")


def path() -> str:
    """Where the drop-in library is."""
    library = loaded_library().parent / LIBRARY
    if not library.exists():
        raise RuntimeError(f"{library} is not there: build the library again (make build), or install the wheel again")
    return str(library)


def for_preloading() -> str:
    """path(), if the loader can be told of it."""
    ours = path()
    if set(ours) & set(" :"):
        raise RuntimeError(f"LD_PRELOAD takes no path with blanks or colons, as {ours} has: install into another folder")
    return ours


def environment(variables=os.environ) -> dict[str, str]:
    """`variables` with the drop-in library before whatever is preloaded already."""
    ours = for_preloading()
    others = [name for name in variables.get("LD_PRELOAD", "").replace(":", " ").split() if name != ours]
    return {**variables, "LD_PRELOAD": ":".join([ours, *others])}


def run(command: list[str]) -> int:
    """Becomes the program; returns only where there is none, with the exit status that shells give."""
    try:
        if not command[0]:
            raise FileNotFoundError
        os.execvpe(command[0], command, environment())
    except FileNotFoundError:
        print(f"trencadis.preload: there is no program {command[0] or repr('')}", file=sys.stderr)
        return 127
    except OSError as failure:  # no right to, a folder, no program's format
        print(f"trencadis.preload: {command[0]} cannot be run: {failure.strerror}", file=sys.stderr)
        return 126


def main(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    try:
        if arguments:
            return run(arguments)
        print(for_preloading())
        return 0
    except RuntimeError as failure:
        print(f"trencadis.preload: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
