"""Files in which the kernel says what the machine is, below a root that tests choose."""

from __future__ import annotations

import os
from pathlib import Path


def system_root() -> Path:
    """Where sys and proc are looked for: /, or TRENCADIS_SYSTEM_ROOT."""
    return Path(os.environ.get("TRENCADIS_SYSTEM_ROOT") or "/")


def read_word(path: Path) -> str | None:
    """What a file of the kernel says; None where it says nothing."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
