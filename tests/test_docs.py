"""The examples of the pages in docs/ do what they say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"


#: What repeats its measurements, each of them 0.3 s of turns beside busy neighbours.
MEASURING = ("trencadis bench", "trencadis compare")
#: They belong together, and have a test of their own.
CAMPAIGN = ("trencadis campaign", "trencadis report")


def blocks(language, pages="*.md"):
    return [
        block
        for page in sorted(DOCS.glob(pages))
        for block in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]


def commands():
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("trencadis ") and not line.startswith(CAMPAIGN)]


def run(words, folder):
    # What is calibrated here is nobody else's.
    environment = os.environ | ({"XDG_CACHE_HOME": str(folder)} if words[0] == "tune" else {})
    return subprocess.run([sys.executable, "-m", "trencadis", *words], cwd=folder, capture_output=True, text=True, timeout=900,
                          env=environment)  # fmt: skip


def test_the_page_of_routines_is_what_its_script_makes_of_the_lists():
    words = "import routines_page as made; print(made.page(), end='')"
    result = subprocess.run(
        [sys.executable, "-c", words], cwd=DOCS.parent / "scripts", capture_output=True, text=True, timeout=900
    )
    assert result.stdout == (DOCS / "routines.md").read_text(), result.stderr


def smaller(line):
    """Orders of real runs, which would take long; simulated ones and graphs cost nothing."""
    if line.startswith(("trencadis simulate", "trencadis graph")):
        return line
    if line.startswith("trencadis tune"):
        return f"{line} --seconds 2"
    if line.startswith("trencadis growth"):  # of thirty matrices
        return re.sub(r"--n [\d,]+", "--n 100", line)
    if line.startswith(MEASURING):
        line = re.sub(r" --repeat \d+", "", line) + " --repeat 2"
    shape = "300x20x300" if "gemm" in line else "3000x20"
    return re.sub(r"--shape [\dx,]+", f"--shape {shape}", re.sub(r"--n [\d,]+", "--n 300", line))


@pytest.mark.parametrize("line", dict.fromkeys(map(smaller, commands())))  # what several pages show runs once
def test_a_command_of_the_pages_works(line, tmp_path):
    np.save(tmp_path / "A.npy", np.random.default_rng(1).standard_normal((50, 50)))
    np.save(tmp_path / "b.npy", np.ones(50))
    result = run(shlex.split(line)[1:], tmp_path)
    assert result.returncode == 0, result.stderr
    output = re.search(r"-o (\S+)", line)
    assert output is None or (tmp_path / output[1]).stat().st_size > 0


def test_the_machine_in_the_pages_can_be_simulated(tmp_path):
    description, _ = blocks("toml", "simulation.md")
    (tmp_path / "machine.toml").write_text(description)
    words = ["simulate", "potrf", "--machine", "machine.toml", "--n", "600", "--nb", "200"]
    for extra in ([], ["--model", "cluster-switching", "--effect", "power-state=nominal"]):
        result = run([*words, *extra], tmp_path)
        assert result.returncode == 0, result.stderr


def test_the_hosts_in_the_pages_can_be_simulated(tmp_path):
    description, hosts = blocks("toml", "simulation.md")
    (tmp_path / "cluster.toml").write_text(description.split("[[nodes]]")[0] + hosts)
    result = run(["simulate", "potrf", "--machine", "cluster.toml", "--n", "600", "--nb", "200", "--grid", "2x2"], tmp_path)
    assert result.returncode == 0, result.stderr


def test_the_campaign_of_its_page_runs_and_is_reported(tmp_path):
    (file,) = blocks("toml", "campaigns.md")
    (tmp_path / "c.toml").write_text(file.replace("repetitions = 30", "repetitions = 3"))
    lines = [line.split("#")[0] for block in blocks("sh", "campaigns.md") for line in block.splitlines()]
    results = [run(shlex.split(line)[1:], tmp_path) for line in lines]
    assert [result.returncode for result in results] == [0, 0], results
    assert len((tmp_path / "folder" / "runs.jsonl").read_text().splitlines()) == 24 and "Best configurations" in results[1].stdout


@pytest.mark.parametrize("example", blocks("python"), ids=range(len(blocks("python"))))
def test_a_python_example_of_the_pages_works(example, tmp_path):
    result = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    assert "False" not in result.stdout


def test_the_c_example_of_the_first_page_solves_its_system(tmp_path):
    (example,) = re.findall(r"^```c\n(.*?)^```", (DOCS / "start.md").read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "gesv.c").write_text(example)
    library = DOCS.parent / "build" / "lib"
    flags = [f"-I{DOCS.parent / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltrencadis"]
    compiled = subprocess.run(["cc", "gesv.c", *flags, "-o", "gesv"], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert compiled.returncode == 0, compiled.stderr
    assert subprocess.run(["./gesv"], cwd=tmp_path, capture_output=True, text=True, timeout=900).stdout == "x = 0.8 1.4\n"
