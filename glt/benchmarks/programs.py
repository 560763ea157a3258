"""The benchmark programs that this build has, by library and form; shared by compare.py and callgrind.py."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = ("native", "argobots", "qthreads", "massivethreads")
#: Ways to use a library that are each better at something; the first is what a program without a variant gets.
VARIANTS = {"argobots": {"stealing": {}, "private": {"LWT_ARGOBOTS": "private"}}}
FORMS = ("direct", "header-only", "dynamic")
BIN = Path(__file__).resolve().parents[2] / "build" / "bin"


@dataclass(frozen=True)
class Contestant:
    """One library in one form; `path` gives the program of a benchmark, `environment` what it is started with."""

    library: str
    form: str
    folder: Path
    variant: str = ""

    def path(self, benchmark: str) -> Path:
        names = {"direct": f"{self.library}_{benchmark}", "header-only": f"glt_{benchmark}_{self.library}"}
        return self.folder / names.get(self.form, f"glt_{benchmark}")

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GLT_")}
        if self.variant:
            kept |= VARIANTS[self.library][self.variant]
        return {**kept, "GLT_BACKEND": self.library} if self.form == "dynamic" else kept

    def starts(self, benchmark: str) -> bool:
        """Whether it is there and runs; the dynamic form may be there without this back end."""
        if not self.path(benchmark).exists():
            return False
        if self.form != "dynamic":
            return True
        command = [self.path("nqueens"), "4", "--threads", "1"]
        return subprocess.run(command, env=self.environment(), capture_output=True, timeout=60).returncode == 0


def contestants(folder: Path, benchmark: str, libraries: tuple[str, ...] = LIBRARIES) -> list[Contestant]:
    every = [Contestant(library, form, folder) for library in libraries for form in FORMS]
    return [contestant for contestant in every if contestant.starts(benchmark)]
