"""What real processes send each other is what is simulated of as many hosts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import rows
from trencadis import _core

ENGINE = {row["name"]: row for row in _core.list_engines()}.get("starpu-mpi", {"available": False})
MPIRUN = shutil.which("mpirun")
pytestmark = [
    pytest.mark.skipif(not ENGINE["available"], reason=ENGINE.get("why_not", "this build has no engine starpu-mpi")),
    pytest.mark.skipif(MPIRUN is None, reason="no mpirun: on Debian and Ubuntu apt install openmpi-bin"),
]


@pytest.mark.alone
@pytest.mark.parametrize(
    ("routine", "variant", "processes", "grid", "owners", "told"),
    [
        ("potrf", "in-place", 2, "1x2", "block-cyclic", 0),
        ("potrf", "in-place", 4, "2x2", "block-cyclic", 0),
        ("potrf", "in-place", 3, "3x3", "symmetric", 0),
        ("getrf", "nopiv", 4, "2x2", "block-cyclic", 0),
        # The call hands all pivots to all processes, and two of them have no use of their own for the last panel's.
        ("getrf", "tournament", 4, "2x2", "block-cyclic", 2),
    ],
)
def test_processes_send_as_many_messages_and_bytes_as_simulated_hosts(routine, variant, processes, grid, owners, told):
    size = ["--variant", variant, "--n", "1000", "--nb", "128", "--grid", grid, "--json", "-"]
    trencadis = str(Path(sys.executable).parent / "trencadis")
    words = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(processes), trencadis, "bench", routine]
    words += [*size, "--engine", "starpu-mpi", "--distribution", owners, "--repeat", "1"]
    real = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=300, check=True).stdout)
    (simulated,) = rows("simulate", routine, "--machine", "fat-tree", "--distribution", owners, *size[:-2])
    pivots = 8 * (1000 % 128)
    assert (real["messages"], real["bytes_sent"]) == (simulated["messages"] + told, simulated["bytes_sent"] + told * pivots)
