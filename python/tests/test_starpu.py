"""Engine `starpu`: routines through sessions, from Python and the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import refusal, rows
from trencadis import _core

ENGINE = next(row for row in _core.list_engines() if row["name"] == "starpu")
CORES = sorted(os.sched_getaffinity(0))
N, NB = 300, 48

pytestmark = [pytest.mark.alone, pytest.mark.skipif(not ENGINE["available"], reason=ENGINE.get("why_not", ""))]


def general(n=N):
    return np.asfortranarray(np.random.default_rng(5).standard_normal((n, n)))


def definite(n=N):
    G = general(n)
    return np.asfortranarray(G @ G.T + n * np.eye(n))


def potrf(session, variant):
    A = definite()
    assert _core.potrf(session, "L", A, nb=NB, variant=variant) == 0
    return np.tril(A)


def getrf(session, variant):
    A = definite() if variant == "nopiv" else general()
    pivots = np.zeros(N, np.int64)
    assert _core.lapack("getrf", session, N, N, A, pivots, nb=NB, variant=variant) == 0
    return A, pivots


def geqrf(session, variant):
    if variant not in ("blocked", "tsqr"):  # trees of tiles
        A, C = general(), definite()
        _core.TileFactors(session, A, variant, NB).apply(C, adjoint=True)
        return A, C
    A, tau = general(), np.zeros(N)
    assert _core.lapack("geqrf", session, N, N, A, tau, nb=NB, variant=variant) == 0
    return A, tau


def gesv(session, variant):
    if variant == "incremental":
        A, B = general(), np.asfortranarray(general()[:, :5])
        factors = _core.IncrementalFactors(session, A, NB)
        assert factors.info == 0
        factors.solve(B)
        return A, B
    A, B = (definite() if variant == "nopiv" else general()), np.asfortranarray(general()[:, :5])
    assert _core.lapack("gesv", session, N, 5, A, np.zeros(N, np.int64), B, nb=NB, variant=variant) == 0
    return B


def gemm(session, variant):
    C = np.zeros((N, N), order="F")
    _core.gemm(session, "N", "N", 1.0, general(), definite(), 0.0, C, nb=NB, variant=variant)
    return C


CASES = [
    (call, variant)
    for call in (potrf, getrf, geqrf, gesv, gemm)
    for row in _core.list_routines()
    if row["name"] == call.__name__
    for variant in row["variants"]
    if (call.__name__, variant) not in (("gemm", "nodes"), ("getrf", "incremental"))  # of several memory nodes; as of gesv
]


@pytest.mark.parametrize(("call", "variant"), CASES)
def test_every_form_gives_the_bits_of_execution_in_order(call, variant):
    """With one worker as with two: which task runs when does not change what it computes."""
    expected = call(_core.Session(engine="sequential"), variant)
    for workers in CORES[:1], CORES[:2]:
        seen = call(_core.Session(engine="starpu", workers=workers), variant)
        for one, other in zip(expected, seen, strict=True) if isinstance(expected, tuple) else [(expected, seen)]:
            np.testing.assert_array_equal(one, other)


def test_the_record_says_whose_runtime_it_was_and_what_its_build_allows():
    (row,) = rows("bench", "posv", "--engine", "starpu", "--n", "200", "--nb", "48", "--repeat", "1", "--check")
    assert row["engine"] == "starpu" and row["residual"] < 30
    assert row["runtime"].startswith("StarPU 1.") and "workers" in row["runtime"] and "data of a task" in row["runtime"]
    assert row["scheduler"] in _core.Session(engine="starpu").options()["scheduler"]


def test_schedulers_are_those_of_starpu_by_name():
    (row,) = rows("bench", "potrf", "--engine", "starpu", "--n", "200", "--repeat", "1", "--scheduler", "dmdas")
    assert row["scheduler"] == "dmdas"
    said = refusal("bench", "potrf", "--engine", "starpu", "--n", "200", "--scheduler", "mosaic")
    assert "unknown scheduler of engine 'starpu'" in said and "dmdas" in said


def test_performance_models_lie_in_our_folder(tmp_path):
    program = "from trencadis import _core; import numpy as np; " \
        "_core.potrf(_core.Session(engine='starpu', scheduler='dmdas'), 'L', np.eye(400, order='F'), nb=48)"  # fmt: skip
    environment = os.environ | {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    models = [path.name for path in (tmp_path / "cache" / "trencadis").rglob("codelets/**/*") if path.is_file()]
    assert any(name.startswith("gemm") for name in models), models
    assert not (tmp_path / "home").exists()


def test_a_build_without_it_says_what_to_install(tmp_path):
    """The module is looked for beside the library; here the library lies alone."""
    library = next(row for row in _core.list_kernels() if row["name"] == "native")["path"]
    (tmp_path / "libtrencadis.so.0").write_bytes(Path(library).read_bytes())
    program = "from trencadis import _core; import json; " \
        "print(json.dumps(next(row for row in _core.list_engines() if row['name'] == 'starpu')))\n" \
        "try: _core.Session(engine='starpu')\nexcept Exception as error: print(error)"  # fmt: skip
    environment = os.environ | {"LD_PRELOAD": str(tmp_path / "libtrencadis.so.0")}
    out = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300).stdout
    row, said = out.splitlines()
    assert json.loads(row)["available"] is False and "apt install libstarpu-dev" in json.loads(row)["why_not"]
    assert "no engine 'starpu'" in said and "apt install libstarpu-dev" in said
