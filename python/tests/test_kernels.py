"""Who computes the tiles: our own kernels without any vendor's library, and mixtures of several."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import trencadis
from commands import rows
from commands import trencadis as trencadis_command
from matrices import positive_definite
from trencadis import _core

#: An environment in which no vendor's library can be opened.
NO_VENDOR = {
    **{name: value for name, value in os.environ.items() if name != "TRENCADIS_KERNELS"},
    **{f"TRENCADIS_{vendor}_LIBRARY": "/nowhere/lib.so" for vendor in ("OPENBLAS", "MKL", "BLIS")},
}


def test_our_own_kernels_are_listed_first_with_their_instruction_set():
    out, _ = trencadis_command("list", "kernels", "--json", environment=NO_VENDOR)
    first, *others = map(json.loads, out.splitlines())
    assert first["name"] == "native" and first["available"]
    instruction_set, block = first["version"].split(" ")
    assert instruction_set in ("avx512", "avx2", "neon", "generic") and all(map(str.isdecimal, block.split("x")))
    assert "libtrencadis" in first["path"]
    for row in others:
        assert not row["available"] and "/nowhere/lib.so" in row["why_not"], row


def test_the_default_needs_no_vendors_library():
    (row,) = rows("bench", "posv", "--n", "300", "--check", "--repeat", "1", environment=NO_VENDOR)
    assert row["kernels"] == "native" and row["residual"] < 30


def test_a_program_computes_without_a_vendors_library():
    program = "import numpy as np, trencadis; a = np.eye(5) * 4; print(trencadis.solve(a, np.ones(5), assume_a='pos')[0])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=NO_VENDOR, timeout=300)
    assert run.stdout == "0.25\n", run.stderr


def available():
    return [row["name"] for row in _core.list_kernels() if row["available"]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("kernels", [*available(), "native,potrf=" + available()[-1], available()[-1] + ",gemm=native"])
def test_every_provider_and_mixtures_solve(kernels, dtype):
    A, b = positive_definite(300, dtype), np.ones((300, 3), dtype)
    with trencadis.session(kernels=kernels) as session:
        x = trencadis.solve(A, b, assume_a="pos")
        assert session.options()["kernels"] == kernels
    assert np.abs(A @ x - b).max() < 300 * np.finfo(dtype).eps * np.abs(A).sum(axis=0).max() * np.abs(x).max()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("natvie", "did you mean 'native'"),
        ("native,ptrf=native", "unknown routine 'ptrf'; did you mean 'potrf'"),
        ("native,potrf=mlk", "did you mean 'mkl'"),
        ("native,potrf", "'potrf' is not routine=provider"),
        ("potrf=native", "'potrf=native' stands where the provider of all other routines does"),
    ],
)
def test_a_text_that_names_no_kernels_is_refused_with_the_nearest(text, message):
    with pytest.raises(ValueError, match=message.replace("(", "\\(")):
        trencadis.session(kernels=text)


def test_a_vendors_library_that_is_missing_is_named_in_a_mixture_too():
    program = "import trencadis; trencadis.session(kernels='native,potrf=mkl')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=NO_VENDOR, timeout=300)
    assert "BackendError: mkl kernels: no library could be opened (/nowhere/lib.so" in run.stderr, run.stderr
