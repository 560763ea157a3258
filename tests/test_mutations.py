"""The faults of `make test-mutations` fit the sources; whether our tests notice them is that command's to show."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_deliberate_fault_has_its_place_in_the_sources():
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "mutations.py", "--check"], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
