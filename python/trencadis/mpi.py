"""The command as one of several processes that mpirun has started."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from .errors import LinAlgError, UsageError


def is_first() -> bool:
    """Also where there is one process, without mpirun."""
    return os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0"


_PATIENCE_S = 5.0


def let_the_first_speak() -> None:
    """Before an error is said that came before the processes knew of each other. Mostly all of them have it: then the first says
    it and ends, and mpirun ends the others meanwhile. Who has it alone says it."""
    if not is_first():
        time.sleep(_PATIENCE_S)


@contextmanager
def one_voice() -> Iterator[None]:
    """What all processes refuse alike, the first one says; the others end with the same exit code in silence."""
    try:
        yield
    except (UsageError, LinAlgError, ValueError, MemoryError, RuntimeError, OSError) as error:
        if is_first():
            raise
        sys.stdout.flush()
        raise typer.Exit(1 if isinstance(error, LinAlgError) else 2) from None
