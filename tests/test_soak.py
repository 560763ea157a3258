"""The long rest of the checks and the sanitizers' parts: nothing is left out, and a turn follows from the commit alone."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.testing
from trencadis.cli import application

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import soak  # noqa: E402 (a script, found by its folder)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_slices_are_all_parts_each_once(n):
    everything = list(soak.parts(2))
    sliced = [part for k in range(1, n + 1) for part in soak.slice_of(everything, k, n)]
    assert sorted(sliced, key=everything.index) == everything


def test_every_short_part_has_its_turn_and_no_other():
    everything = list(soak.parts(2))
    turns = {soak.turn_of(everything, f"{number:08x}" + "0" * 32) for number in range(100)}
    assert turns == {number for number, part in enumerate(everything, start=1) if part.short}


def test_a_turn_can_be_repeated_as_a_slice():
    everything = list(soak.parts(2))
    number = soak.turn_of(everything, "0123456789abcdef")
    assert soak.slice_of(everything, number, len(everything)) == [everything[number - 1]]


def test_the_sweep_follows_from_the_commit_and_each_has_its_turn():
    sweeps = {soak.sweep_of("0" * 8 + f"{number:08x}" + "0" * 24) for number in range(100)}
    assert len(sweeps) == 10 * 2 * 2
    commands = {part.command for commit in ("0" * 40, "f" * 40) for part in soak.parts(2, commit) if "sweep" in part.command}
    assert len(commands) == 2 and all(command.split(" sweep ")[1] in sweeps for command in commands)


def test_a_sweep_of_every_commit_is_one_that_the_command_takes():
    takes = typer.testing.CliRunner()
    for number in range(40):
        words = [*soak.sweep_of(f"{number:016x}").split(), "--n", "0"]
        assert "--n: a size to measure is 1 or more" in str(takes.invoke(application(), ["sweep", *words]).exception)


def test_a_part_that_fails_passes_or_takes_too_long_is_told_apart():
    assert soak.run(soak.Part("fails", "exit 3"), 60) == 3
    assert soak.run(soak.Part("passes", "true"), 60) == 0
    assert soak.run(soak.Part("lasts", "sleep 60"), 0.2) is None
    assert soak.run(soak.Part("passes without a budget", "true"), None) == 0


@pytest.mark.parametrize(("command", "status"), [("exit 75", 0), ("exit 3", 1), ("true", 0)])
def test_a_part_that_could_judge_nothing_is_no_failure_and_is_named_at_the_end(monkeypatch, capsys, command, status):
    monkeypatch.setattr(soak, "parts", lambda *_: [soak.Part("beside others", command), soak.Part("passes", "true")])
    monkeypatch.setattr(sys, "argv", ["soak.py"])
    assert soak.main() == status
    assert ("soak: judged nothing: beside others" in capsys.readouterr().out) == (command == "exit 75")


@pytest.mark.parametrize("routine", ["potrf", "getrf", "geqrf"])
def test_each_factorization_is_simulated_beside_real_cores(routine):
    (command,) = [part.command for part in soak.parts(2) if f"simulate {routine} --against-real" in part.command]
    assert "--within 0.1 " in command and "--skip-disturbed" in command


@pytest.mark.parametrize("words", ["0/3", "4/3", "half", "1/", "-1/2"])
def test_a_slice_that_is_none_is_refused_by_name(words):
    command = [sys.executable, ROOT / "scripts" / "soak.py", f"--slice={words}", "--list"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2 and f"'{words}' is not K/N" in result.stderr


def sanitized(target):
    """The test programs that a target of the Makefile builds and runs."""
    plain = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "ASAN_TESTS", "TSAN_TESTS")}
    command = ["make", "-n", target]
    said = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=True, timeout=300).stdout
    (words,) = [shlex.split(line) for line in said.splitlines() if "sanitized_tests.sh" in line]
    *_, sanitizer, _, pattern = words
    assert target.startswith(sanitizer)
    ninja = ["ninja", "-C", "build", "-t", "targets", "all"]
    listed = subprocess.run(ninja, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300).stdout
    programs = re.findall(r"^test_([a-z0-9_]+): phony$", listed, re.M)
    return {name for name in programs if bool(re.fullmatch(pattern.removeprefix("!"), name)) != pattern.startswith("!")}


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_a_sanitizers_parts_are_all_of_its_programs_each_once(sanitizer):
    parts = re.search(r"^PARTS := (.+)$", (ROOT / "Makefile").read_text(), re.M)[1]
    names = re.search(rf"addprefix {sanitizer}-,([^)]+)", parts)[1].split()
    programs = [program for name in names for program in sanitized(f"{sanitizer}-{name}")]
    assert sorted(programs) == sorted(sanitized(sanitizer)) and {"graph", "routines", "runtime", "glt_native"} <= set(programs)
