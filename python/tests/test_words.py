"""The words of the command line: --json in its forms, options given twice, names that are not there, bytes that are no text."""

import json
import os
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer
from commands import COMMAND, refusal, trencadis
from trencadis import cli
from trencadis.cli import application
from trencadis.errors import UsageError
from trencadis.words import prepared

MACHINES = Path(__file__).parents[2] / "machines"
GROUP = typer.main.get_command(application())


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("machine --json", "machine --json=-"),
        ("machine --json -", "machine --json=-"),
        ("machine --json m.json", "machine --json=m.json"),
        ("machine --json exynos5422", "machine --json=- exynos5422"),
        ("machine exynos5422 --json m", "machine exynos5422 --json=m"),
        ("machine --json=m", "machine --json=m"),
        ("list --json schedulers", "list --json=- schedulers"),
        ("list schedulers --json ws", "list schedulers --json=- ws"),
        ("list schedulers ws --json out", "list schedulers ws --json=out"),
        ("solve --json A.npy b.npy", "solve --json=- A.npy b.npy"),
        ("solve A.npy --json b.npy", "solve A.npy --json=- b.npy"),
        ("solve A.npy b.npy --json", "solve A.npy b.npy --json=-"),
        ("solve A.npy b.npy --json -o x.npy", "solve A.npy b.npy --json=- -o x.npy"),
        ("solve A.npy b.npy --json rows --lower", "solve A.npy b.npy --json=rows --lower"),
        ("bench potrf --n 9 --json", "bench potrf --n 9 --json=-"),
        ("bench --json potrf --n 9", "bench --json=- potrf --n 9"),
        ("bench --json out.jsonl potrf --n 9", "bench --json=out.jsonl potrf --n 9"),
        ("bench potrf --json out --n 9", "bench potrf --json=out --n 9"),
        ("growth --json --n 9", "growth --json=- --n 9"),
        ("sweep gemm --json rows", "sweep gemm --json=rows"),
        ("-h", "-h"),
        ("nothing --json", "nothing --json"),
    ],
)
def test_json_alone_and_with_a_dash_are_standard_output_and_a_file_is_one(line, becomes):
    assert prepared(GROUP, line.split()) == becomes.split()


def test_every_command_with_json_takes_all_three_forms(tmp_path):
    np.save(tmp_path / "A.npy", 2 * np.eye(3))
    for words in (
        ["machine", "exynos5422"], ["list", "engines"], ["solve", "A.npy", "A.npy"], ["factor", "A.npy", "--method", "lu"],
        ["bench", "gemm", "--n", "9", "--repeat", "1"], ["growth", "--n", "9", "--matrix", "random", "--variant", "panel"],
        ["simulate", "potrf", "--machine", "exynos5422", "--n", "448", "--nb", "448"],
    ):  # fmt: skip
        for form in (["--json"], ["--json", "-"]):
            lines = trencadis(*words, *form, cwd=tmp_path)[0].splitlines()
            assert lines and all(json.loads(line) for line in lines)
        out, _ = trencadis(*words, "--json", "rows.json", cwd=tmp_path)
        assert out == "" and len((tmp_path / "rows.json").read_text().splitlines()) == len(lines)
        (tmp_path / "rows.json").unlink()


#: No integer of the library, nor of a core's number, holds it.
LARGE = "9" * 20


@pytest.mark.parametrize(
    "line",
    [
        f"solve A.npy b.npy --workers {LARGE}", f"bench potrf --n 9 --workers 0-{LARGE}", f"bench potrf --n 9 --slow {LARGE}=0.5",
        f"bench potrf --n 9 --window {LARGE}", f"bench potrf --n 9 --busy {LARGE}=1", f"bench potrf --n {LARGE}",
        f"bench potrf --n 9:{LARGE}:{LARGE}", f"simulate potrf --machine exynos5422 --n {LARGE}",
        f"simulate potrf --machine exynos5422 --n {'9' * 12}", f"simulate potrf --machine exynos5422 --n 9 --workers {LARGE}",
        f"scaling potrf --machine fat-tree --hosts 4 --strong {LARGE}", f"scaling potrf --machine fat-tree --weak {LARGE}",
        f"scaling potrf --machine fat-tree --hosts {LARGE} --weak 9", f"scaling potrf --machine fat-tree --weak 9 --nb {LARGE}",
    ],
)  # fmt: skip
def test_numbers_beyond_all_integers_are_refused_in_one_line(line):
    refusal(*line.split())


def test_the_option_that_is_wrong_is_named():
    said = refusal("scaling", "potrf", "--machine", "fat-tree", "--hosts", "4,x", "--strong", "9")
    assert said.startswith("trencadis: --hosts: ")


def test_an_option_given_twice_is_refused(tmp_path):
    assert "--n: given twice, as '64' and '128'; give it once; several with commas, --n 64,128" in refusal(
        "bench", "potrf", "--n", "64", "--n", "128"
    )
    assert "--seed: given twice" in refusal("growth", "--seed=1", "--seed=1")
    assert "-o: given twice" in refusal("solve", "a", "b", "-o", "x.npy", "-oy.npy")
    twice = ["--busy", "0=1", "--busy", "1=1", "--check", "--check"]
    assert prepared(GROUP, ["bench", "potrf", "--n", "9", *twice])[-len(twice) :] == twice, "may be repeated"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("bench potr --n 9", "potrf"),
        ("bench potrf --n 9 --variant pakced", "packed"),
        ("compare gemm --against mk --n 9", "mkl"),
        ("reproduce asy", "asym"),
        ("factor A.npy --method choleski", "cholesky"),
        ("solve A.npy b.npy --assume sdp", "spd"),
        ("bench potrf --n 9 --scheduler mosiac", "mosaic"),
        ("simulate potr --machine exynos5422 --n 9", "potrf"),
        ("simulate potrf --machine exynos542 --n 9", "exynos5422"),
        ("simulate getrf --variant kastor --machine exynos5422 --n 9", "kastors"),
        ("growth --matrix randm", "random"),
        ("growth --variant panl", "panel"),
        ("sweep potr", "potrf"),
        ("sweep gemm --precision d --against opneblas", "openblas"),
        ("list scheduler", "schedulers"),
        ("list schedulers mosiac", "mosaic"),
        ("demo wnd", "wind"),
        ("trace potrf --n 9 -o t.svg --view ordre", "order"),
        ("compare gemm --against mkl --n 9 --through sesion", "session"),
        ("bench potrf --n 9 --machine exynos5422 --workers cortex-a16", "cortex-a15"),
        ("tune --routines potr", "potrf"),
        ("explain potr --n 9", "potrf"),
        ("explain potrf --n 9 --objective tim", "time"),
        ("bench potrf --n 9 --devices emulatd:1", "emulated"),
        ("simulate potrf --machine exynos5422 --n 9 --distribution symetric", "symmetric"),
        ("simulate potrf --machine exynos5422 --n 9 --model globl", "global"),
        ("simulate potrf --machine exynos5422 --n 9 --effect jittr", "jitter"),
        ("scaling potrf --machine fattree --hosts 4 --strong 9", "fat-tree"),
        ("compare-engines potrf --n 9 --engines starpo", "starpu"),
        ("compare-engines potrf --n 9 --schedulers mosiac", "mosaic"),
        ("sweep trsm --side lft", "left"),
    ],
)
def test_the_nearest_name_is_suggested(line, meant):
    assert f"did you mean '{meant}'?" in refusal(*line.split())


def test_kinds_of_a_machine_that_is_laid_over_are_workers():
    words = ["bench", "potrf", "--n", "9", "--repeat", "1", "--machine", "exynos5422", "--workers", "cortex-a15", "--json"]
    assert json.loads(trencadis(*words)[0])["workers"] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    "words",
    [
        [b"simulate", b"potrf", b"--machine", b"ex\xff", b"--n", b"9"],
        [b"bench", b"potrf", b"--n", b"9", b"--scheduler", b"\xff"],
        [b"bench", b"potrf", b"--n", b"9", b"--kernels", b"m\xffkl"], [b"bench", b"\xff", b"--n", b"9"], [b"list", b"\xff"],
        [b"machine", b"\xff.toml"], [b"\xff"], [b"compare", b"gemm", b"--against", b"\xff", b"--n", b"9"],
    ],
)  # fmt: skip
def test_bytes_that_are_no_text_are_refused_in_one_line(words):
    run = subprocess.run([*map(os.fsencode, COMMAND), *words], capture_output=True, timeout=300)
    assert run.returncode == 2 and run.stdout == b"" and run.stderr.count(b"\n") == 1, run.stderr
    assert run.stderr.startswith(b"trencadis: ") and (b"\\udcff" in run.stderr or b"No such command" in run.stderr)


@pytest.mark.parametrize(
    ("variable", "words", "code", "said"),
    [
        ("TRENCADIS_SCHEDULER", ["bench", "potrf", "--n", "9"], 2, b"unknown scheduler '"),
        ("TRENCADIS_MKL_LIBRARY", ["list", "kernels"], 0, rb"/\xff"),
        ("XDG_CACHE_HOME", ["explain", "gemm", "--n", "9"], 0, b"/trencadis/"),
    ],
)
def test_variables_of_the_environment_that_are_no_text_are_shown(tmp_path, variable, words, code, said):
    environment = {**os.environb, variable.encode(): os.fsencode(tmp_path) + b"/\xff"}
    run = subprocess.run([*COMMAND, *words], capture_output=True, timeout=300, env=environment)
    assert run.returncode == code and said in (run.stderr if code else run.stdout), run


def test_files_may_have_any_name(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.npy"
    np.save(open(name, "wb"), 2 * np.eye(3))  # noqa: PTH123, SIM115
    out = os.fsencode(tmp_path) + b"/x\xff.npy"
    run = subprocess.run([*map(os.fsencode, COMMAND), b"solve", name, name, b"-o", out], capture_output=True, timeout=300)
    assert run.returncode == 0 and np.load(open(out, "rb")).shape == (3, 3), run.stderr  # noqa: PTH123, SIM115


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path):
    folder = tmp_path / "[" / "bold]:x:"
    folder.mkdir(parents=True)
    text = (
        (MACHINES / "exynos5422.toml")
        .read_text()
        .replace("cortex-a15", "a[/15]")
        .replace('name = "exynos', 'name = "[/exynos]:x:')
    )
    (folder / "m.toml").write_text(text)
    shown, _ = trencadis("machine", folder / "m.toml")
    assert "[/exynos]:x:5422  " in shown and f"{folder}/m.toml\n" in shown and "a[/15]" in shown
    shown, _ = trencadis("explain", "potrf", "--n", "512", "--machine", folder / "m.toml")
    assert f"on {folder}/m.toml, estimated\n" in shown


def test_a_word_that_is_no_text_is_named():
    with pytest.raises(UsageError, match=r"m\\udcff: holds bytes that are no text"):
        prepared(GROUP, ["list", "engines", "m\udcff"])


def test_each_command_is_registered_by_the_module_that_is_loaded_for_it():
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*_commands.py")}
    registered = {}
    for module in modules:
        app = typer.Typer()
        import_module(f"trencadis.{module}").register(app)
        registered |= {command.name: module for command in app.registered_commands}
    assert registered == cli._COMMANDS
    assert set(typer.main.get_command(application()).commands) == set(registered)
    assert list(typer.main.get_command(application(["list"])).commands) == ["machine", "list"]
