"""Objectives that nothing can go by."""

import subprocess
import sys

import pytest
from test_choices import environment
from trencadis import _core

OTHERWISE = {
    "in a reproducible session": {"reproducible": True},
    "of engine 'sequential'": {"engine": "sequential"},
    "with scheduler 'ws'": {"scheduler": "ws"},
    "on machine 'uniform64'": {"machine": "uniform64"},
    "with cores that are slowed": {"slow": {0: 0.5}},
    "with devices 'emulated:1'": {"devices": "emulated:1"},
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_an_objective_is_refused_where_a_session_chooses_nothing(what):
    for objective in ("energy", "energy-delay"):
        with pytest.raises(ValueError, match=f"objective '{objective}' was asked for, and nothing is chosen {what}"):
            _core.Session(objective=objective, **OTHERWISE[what])
    for objective in ("", "time", "rule"):
        _core.Session(objective=objective, **OTHERWISE[what])


def test_an_objective_of_the_environment_that_nothing_goes_by_is_said_once(tmp_path):
    program = "from trencadis import _core; _core.Session(engine='sequential'); _core.Session(); _core.Session()"
    for objective, lines in (("energy", 1), ("time", 0), ("rule", 0)):
        run = subprocess.run([sys.executable, "-c", program], env=environment(tmp_path, TRENCADIS_OBJECTIVE=objective), text=True,
                             capture_output=True, timeout=300, check=False)  # fmt: skip
        assert run.returncode == 0 and run.stderr.count("\n") == lines
        assert not lines or "nothing is chosen of engine 'sequential'" in run.stderr
