"""The README's examples do what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import test_docs

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def run(command, folder, **options):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, **options)


def test_the_python_example_solves_its_system_and_draws_the_chart(tmp_path):
    (example,) = blocks("python")
    result = run([sys.executable, "-c", example], tmp_path)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout.split()[-1]) < 1e-12
    assert "<svg" in (tmp_path / "solve.svg").read_text()


def test_the_c_example_is_the_one_in_the_examples_and_solves_its_system(tmp_path):
    (example,) = blocks("c")
    assert example in (ROOT / "examples" / "posv.c").read_text()
    (tmp_path / "posv.c").write_text(example)
    library = ROOT / "build" / "lib"
    flags = [f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltrencadis"]
    compiled = run(["cc", "posv.c", *flags, "-o", "posv"], tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    result = run(["./posv"], tmp_path)
    assert result.stdout == "x = 1 2 3\n", result.stderr


def smaller(line: str) -> str:
    if line.startswith("trencadis tune"):
        return f"{line} --seconds 2"
    small = line.replace("1024,4096 --busy", "300 --busy")  # neighbours compute while anything is measured
    small = small.replace("1024,4096", "128,300").replace("4096", "300").replace("100000x200", "3000x20")
    small = small.replace("--against mkl,openblas", "--against openblas").replace("demo wind", "demo wind --points 900")
    small = small.replace("growth --n 500", "growth --n 100").replace("4,16,64 --strong 16000", "4,16 --strong 8000")
    small = small.replace("compare-engines potrf --n 2048", "compare-engines potrf --n 300")  # as docs/engines.md does
    small = small.replace("sweep gemm", "sweep gemm --n 64 --ld tight")  # one point has nothing to fall off from
    return f"{small} --repeat 2" if line.startswith(test_docs.MEASURING) else small


def commands() -> list[str]:
    """Those that the pages do not have, too, which test_docs.py runs."""
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    small = [smaller(line) for line in lines if line.startswith("trencadis ")]
    assert len(small) > 20, "the README shows its commands"
    pages = {test_docs.smaller(line) for line in test_docs.commands()}
    return [line for line in small if line not in pages]


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_readme_works(line, tmp_path):
    rng = np.random.default_rng(1)
    M = rng.standard_normal((50, 50))
    A = M @ M.T + 50 * np.eye(50)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", rng.standard_normal(50))
    scipy.io.mmwrite(tmp_path / "A.mtx", A)
    own_cache = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}  # what is calibrated here is nobody else's
    result = run([sys.executable, "-m", *shlex.split(line)], tmp_path, env=own_cache)
    assert result.returncode == 0, result.stderr
    output = re.search(r"-o (\S+)", line)
    assert output is None or (tmp_path / output[1]).stat().st_size > 0
