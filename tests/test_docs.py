"""The examples of the pages in docs/ do what they say."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def blocks(language):
    return [
        block
        for page in sorted(DOCS.glob("*.md"))
        for block in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]


def commands():
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("trencadis ")]


def run(words, folder):
    return subprocess.run([sys.executable, "-m", "trencadis", *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_page_of_routines_is_what_its_script_makes_of_the_lists():
    words = "import routines_page as made; print(made.page(), end='')"
    result = subprocess.run(
        [sys.executable, "-c", words], cwd=DOCS.parent / "scripts", capture_output=True, text=True, timeout=60
    )
    assert result.stdout == (DOCS / "routines.md").read_text(), result.stderr


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_pages_works(line, tmp_path):
    result = run(shlex.split(line.replace("--n 4096", "--n 300"))[1:], tmp_path)
    assert result.returncode == 0, result.stderr
    output = re.search(r"-o (\S+)", line)
    assert output is None or (tmp_path / output[1]).stat().st_size > 0


def test_the_machine_in_the_pages_can_be_simulated(tmp_path):
    (description,) = blocks("toml")
    (tmp_path / "machine.toml").write_text(description)
    words = ["simulate", "potrf", "--machine", "machine.toml", "--n", "600", "--nb", "200"]
    for extra in ([], ["--model", "cluster-switching", "--effect", "power-state=nominal"]):
        result = run([*words, *extra], tmp_path)
        assert result.returncode == 0, result.stderr
