"""Runs programs under Open MPI's mpirun, with libtrencadis_scalapack.so in front of their ScaLAPACK or without."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "build" / "lib" / "libtrencadis_scalapack.so"
needs_mpirun = pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun is not here: apt install openmpi-bin")
needs_library = pytest.mark.skipif(
    not LIBRARY.exists(), reason=f"{LIBRARY} is not built: it needs libscalapack-openmpi-dev and libopenmpi-dev"
)


def mpirun(processes, command, *, ours=True, timeout=300, environment=None, **options):
    """More processes than cores, and root: both want a word. `ours`: our library before all others, and its say on stderr."""
    variables = {"OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    if ours:
        variables |= {"LD_PRELOAD": str(LIBRARY), "TRENCADIS_VERBOSE": "1"}
    handed = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    options_here = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(processes)]
    return subprocess.run(
        ["mpirun", *options_here, *handed, *map(str, command)],
        env=os.environ,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        **options,
    )
