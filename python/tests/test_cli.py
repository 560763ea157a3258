"""The command line in a process of its own: results, messages, exit codes."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from commands import COMMAND, warm
from matrices import positive_definite, random_array, solve_error
from waiting import computes, interrupted

CORES = sorted(os.sched_getaffinity(0))


def trencadis(*arguments, cwd, **environment):
    if not environment:
        return warm().run([str(argument) for argument in arguments], cwd, 100)
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )


def failed(result, code, *words):
    """Exit code, one line on standard error, nothing on standard output, no traceback."""
    assert result.returncode == code, result
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("trencadis: ") and not result.stdout, result
    for word in words:
        assert word in lines[0], result.stderr
    return True


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    A, b = positive_definite(100, np.float64), random_array(100, np.float64)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    return tmp_path


def test_solve_writes_the_solution_and_reports(folder):
    result = trencadis("solve", "A.npy", "b.npy", "-o", "x.npy", cwd=folder)
    assert result.returncode == 0 and not result.stderr
    assert "dposv" in result.stdout and "GFlop/s" in result.stdout and "residual" in result.stdout and "x.npy" in result.stdout
    A, b, x = (np.load(folder / name) for name in ("A.npy", "b.npy", "x.npy"))
    assert x.shape == b.shape and solve_error(A, x, b) < 10


def test_solve_json_is_one_object_and_nothing_else(folder):
    result = trencadis(
        "solve",
        "A.npy",
        "b.npy",
        "--json",
        "--scheduler",
        "ws",
        "--engine",
        "native",
        "--kernels",
        "openblas",
        "--workers",
        CORES[0],
        "--threads-backend",
        "os",
        "--nb",
        "32",
        cwd=folder,
    )
    row = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1 and result.returncode == 0 and not result.stderr
    assert (row["routine"], row["n"], row["nrhs"], row["nb"], row["precision"]) == ("posv", 100, 1, 32, "d")
    assert (row["scheduler"], row["engine"], row["kernels"], row["threads"], row["workers"]) == (
        "ws",
        "native",
        "openblas",
        "os",
        [CORES[0]],
    )
    assert row["seconds"] > 0 and row["gflops"] > 0 and 0 <= row["residual"] < 30 and row["simulated"] is False


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128, np.int64, np.float16])
@pytest.mark.parametrize("lower", [False, True])
def test_solve_takes_every_number_type_and_either_triangle(tmp_path, dtype, lower):
    A = positive_definite(40, np.complex128 if np.dtype(dtype).kind == "c" else np.float64)
    A = np.round(A * 50).astype(dtype) if np.dtype(dtype).kind == "i" else A.astype(dtype)
    np.save(tmp_path / "A.npy", np.tril(A) if lower else np.triu(A))
    np.save(tmp_path / "b.npy", np.ones((40, 2), dtype))
    result = trencadis("solve", "A.npy", "b.npy", "--assume", "spd", *["--lower"] * lower, "-o", "x.mtx", "--json", cwd=tmp_path)
    assert result.returncode == 0, result
    assert json.loads(result.stdout)["residual"] < 30
    x = scipy.io.mmread(tmp_path / "x.mtx")
    assert np.allclose(A @ x, 1, rtol=2e-2 if dtype == np.float16 else 1e-3)


def test_a_sparse_matrix_market_file_is_made_dense_and_that_is_said(tmp_path):
    scipy.io.mmwrite(tmp_path / "A.mtx", scipy.sparse.eye_array(30) * 4, symmetry="symmetric")
    scipy.io.mmwrite(tmp_path / "b.mtx", np.ones((30, 1)))
    result = trencadis("solve", "A.mtx", "b.mtx", "--json", "-o", "x.npy", cwd=tmp_path)
    assert result.returncode == 0 and json.loads(result.stdout)["n"] == 30
    assert "made dense: 30 stored entries of a sparse 30 x 30 matrix" in result.stderr
    assert np.allclose(np.load(tmp_path / "x.npy"), 0.25)


@pytest.mark.parametrize("lower", [False, True])
def test_factor_writes_the_factor(folder, lower):
    result = trencadis("factor", "A.npy", "--method", "cholesky", "-o", "F.npy", "--json", *["--lower"] * lower, cwd=folder)
    row = json.loads(result.stdout)
    assert result.returncode == 0 and row["routine"] == "potrf" and row["residual"] < 30
    A, F = np.load(folder / "A.npy"), np.load(folder / "F.npy")
    assert np.array_equal(F, np.tril(F) if lower else np.triu(F))
    assert np.allclose(F @ F.T if lower else F.T @ F, A)


def test_not_positive_definite_is_exit_1_and_names_the_order(folder):
    A = np.load(folder / "A.npy")
    A[41, 41] = -1
    np.save(folder / "A.npy", A)
    for command in (["solve", "A.npy", "b.npy", "--assume", "spd"], ["factor", "A.npy", "--method", "cholesky"]):
        result = trencadis(*command, "-o", "out.npy", "--json", cwd=folder)
        assert failed(result, 1, "A.npy: is not positive definite: the leading minor of order 42 is not positive")
        assert not (folder / "out.npy").exists()


def test_systems_of_order_zero_are_solved(tmp_path):
    np.save(tmp_path / "A.npy", np.zeros((0, 0)))
    np.save(tmp_path / "b.npy", np.zeros((0, 2)))
    result = trencadis("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", cwd=tmp_path)
    assert result.returncode == 0 and json.loads(result.stdout)["n"] == 0 and np.load(tmp_path / "x.npy").shape == (0, 2)
    assert trencadis("factor", "A.npy", "--method", "cholesky", "-o", "F.npy", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "A.npy"], ["Missing argument 'B'"]),
        (["solve", "A.npy", "b.npy", "c.npy"], ["unexpected extra argument"]),
        (["solve", "A.npy", "b.npy", "--assume", "sym"], ["unknown --assume 'sym'", "(known: spd general least-squares)"]),
        (["solve", "A.npy", "b.npy", "--lower"], ["--lower: goes with --assume spd"]),
        (["solve", "A.npy", "b.npy", "--scheduler", "eagre"], ["unknown scheduler 'eagre'; did you mean 'eager'"]),
        (["solve", "A.npy", "b.npy", "--engine", "x"], ["unknown engine 'x'"]),
        (["solve", "A.npy", "b.npy", "--kernels", "openblass"], ["'openblass'; did you mean 'openblas'"]),
        (["solve", "A.npy", "b.npy", "--threads-backend", "p"], ["unknown thread back end 'p' (known: "]),
        (["solve", "A.npy", "b.npy", "--workers", "9999"], ["core 9999 asked for, but this process may use"]),
        (["solve", "A.npy", "b.npy", "--workers", "0-5000"], ["asked for, but this process may use"]),
        (["solve", "A.npy", "b.npy", "--workers", "big"], ["'big' is no list such as 0,1,4-7 of cores or their kinds"]),
        (["solve", "A.npy", "b.npy", "--nb", "-3"], ["'-3' is not a tile size"]),
        (["solve", "A.npy", "b.npy", "--nbb", "3"], ["No such option"]),
        (["solve", "A.npy", "b.npy", "-o", "none/x.npy"], ["cannot be written: there is no folder"]),
        (["solve", "A.npy", "b.npy", "-o", "x.csv"], ["give a file called .npy or .mtx"]),
        (["solve", "A.npy", "none.npy"], ["none.npy: cannot be read: No such file"]),
        (["solve", "A.npy", "A.txt"], ["cannot tell the format"]),
        (["solve", "b.npy", "b.npy"], ["b.npy: has shape (100,); a square matrix is needed"]),
        (["solve", "A.npy", "short.npy"], ["short.npy: has shape (7,); A.npy of shape (100, 100) needs 100 rows"]),
        (["solve", "nan.npy", "b.npy"], ["nan.npy: the element [3, 5] is nan; all must be finite"]),
        (["solve", "A.npy", "inf.npy"], ["inf.npy: the element [99] is -inf; all must be finite"]),
        (["solve", "text.npy", "b.npy"], ["text.npy: holds <U1, not numbers"]),
        (["solve", "pickle.npy", "b.npy"], ["pickled Python objects"]),
        (["solve", "truncated.npy", "b.npy"], ["is truncated: 392 of 80000 bytes"]),
        (["solve", "truncated.mtx", "b.npy"], ["truncated.mtx: is not a Matrix Market file, is truncated or damaged"]),
        (["factor", "A.npy"], ["Missing option '--method'"]),
        (["factor", "A.npy", "--method", "svd"], ["unknown --method 'svd' (known: lu cholesky qr)"]),
        (["factor", "A.npy", "--method", "lu", "-o", "F.npy"], ["F.npy: cannot tell the format", "give a file called .npz"]),
        (["factor", "A.npy", "--method", "lu", "--lower"], ["--lower: goes with --method cholesky"]),
        (["factor", "b.npy", "--method", "lu"], ["b.npy: has shape (100,); a matrix is needed"]),
        (["factor", "nan.npy", "--method", "lu"], ["nan.npy: the element [3, 5] is nan; all must be finite"]),
        (["solve", "A.npy", "b.npy", "--scheduler", "eager:jion=no"], ["scheduler 'eager' 'jion'; did you mean 'join'"]),
        (["solve", "A.npy", "b.npy", "--scheduler", "eager:join=maybe"], ["join=maybe, must be one of yes|no"]),
        (["solve", "A.npy", "b.npy", "--scheduler", "eager:join"], ["'join' is not key=value; write name:key=value"]),
        (["list", "schedulers", "eagre"], ["unknown name in list schedulers 'eagre'; did you mean 'eager'"]),
        (["list", "schedulers", "qqqqqqq"], ["unknown name in list schedulers 'qqqqqqq' (known: mosaic "]),
        (["list", "zzzzz"], ["unknown kind 'zzzzz' (known: schedulers "]),
        (["list", "enginse"], ["unknown kind 'enginse'; did you mean 'engines'"]),
        (["machine", "exynos"], ["unknown machine 'exynos'; did you mean 'exynos5422'"]),
        (["slove"], ["No such command 'slove'"]),
    ],
)
def test_bad_input_is_exit_2_and_one_line(folder, arguments, words):
    A = np.load(folder / "A.npy")
    np.save(folder / "short.npy", np.ones(7))
    np.save(folder / "text.npy", np.array([["x"]]))
    np.save(folder / "pickle.npy", np.array([[{}]], dtype=object))
    A[3, 5] = np.nan
    np.save(folder / "nan.npy", A)
    b = np.ones(100)
    b[99] = -np.inf
    np.save(folder / "inf.npy", b)
    (folder / "truncated.npy").write_bytes((folder / "A.npy").read_bytes()[:520])
    (folder / "truncated.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n")
    before = names_in(folder)
    assert failed(trencadis(*arguments, cwd=folder), 2, *words)
    assert names_in(folder) == before


def test_an_output_that_cannot_be_written_is_found_before_anything_is_read(folder):
    (folder / "x.npy").mkdir()
    assert failed(
        trencadis("solve", "none.npy", "b.npy", "-o", "x.npy", cwd=folder), 2, "x.npy: cannot be written: it is a folder"
    )


def test_an_existing_file_without_permission_is_named(folder):
    (folder / "x.npy").write_bytes(b"kept")
    (folder / "x.npy").chmod(0o444)
    as_others = []
    if os.geteuid() == 0:  # who may write everything, unless that capability is given up
        if not shutil.which("setpriv"):
            pytest.skip("root without setpriv (util-linux) cannot give up writing what it may not")
        as_others = ["setpriv", "--bounding-set=-dac_override"]
    result = subprocess.run(
        [*as_others, *COMMAND, "solve", "A.npy", "b.npy", "-o", "x.npy"], cwd=folder, capture_output=True, text=True
    )
    assert failed(result, 2, "x.npy: exists and cannot be written: no permission")
    assert (folder / "x.npy").read_bytes() == b"kept"


@pytest.mark.alone
def test_ctrl_c_is_exit_130_within_a_second_and_leaves_nothing(tmp_path):
    n = 3000
    np.save(tmp_path / "A.npy", np.eye(n) * 2)
    np.save(tmp_path / "b.npy", np.ones(n))
    # One second is promised; the machine may have other things to do.
    interrupted([*COMMAND, "solve", "A.npy", "b.npy", "-o", "x.npy", "--nb", "6"], computes(2.5), within=2.5, cwd=tmp_path)
    assert names_in(tmp_path) == ["A.npy", "b.npy"]


@pytest.mark.parametrize("kind", ["schedulers", "engines", "kernels", "threads", "machines", "routines"])
def test_list_prints_one_object_per_line(kind, tmp_path):
    result = trencadis("list", kind, "--json", cwd=tmp_path)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0 and rows
    for row in rows:
        assert row["name"] and row["summary"] and isinstance(row["available"], bool)
    table = trencadis("list", kind, cwd=tmp_path)
    assert table.returncode == 0 and all(row["name"] in table.stdout for row in rows)


def test_list_shows_the_options_of_a_scheduler(tmp_path):
    row = json.loads(trencadis("list", "schedulers", "eager", "--json", cwd=tmp_path).stdout)
    options = {option["name"]: option for option in row["options"]}
    assert options["join"]["values"] == "yes|no" and options["join"]["standard"] == "yes" and options["join"]["summary"]
    assert {"throttle", "dependences"} <= set(options)  # every scheduler takes them
    table = trencadis("list", "schedulers", "eager", cwd=tmp_path)
    assert table.returncode == 0 and "yes|no" in table.stdout and row["source"] in table.stdout


def test_a_scheduler_takes_its_options(tmp_path):
    command = ("bench", "tasks", "--n", "6", "--repeat", "1", "--json", "-", "--scheduler")
    result = trencadis(*command, "eager:join=no,throttle=4x", cwd=tmp_path)
    assert result.returncode == 0 and json.loads(result.stdout)["scheduler"] == "eager:join=no,throttle=4x"


def test_machine_prints_a_table_or_one_object(tmp_path):
    result = trencadis("machine", "--json", cwd=tmp_path)
    machine = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1 and set(CORES) >= {core["cpu"] for core in machine["cores"]}
    table = trencadis("machine", cwd=tmp_path)
    assert table.returncode == 0 and "measured" in table.stdout and machine["kinds"][0]["name"] in table.stdout
    described = json.loads(trencadis("machine", "exynos5422", "--json", cwd=tmp_path).stdout)
    assert len(described["cores"]) == 8
    blocks = {(row["precision"], row["kind"]): row for row in described["blocks"]}
    assert len(blocks) == 4 * 2 and all(row["mc"] % row["mr"] == 0 and row["nc"] % row["nr"] == 0 for row in blocks.values())
    assert blocks["d", "cortex-a15"]["mc"] > blocks["d", "cortex-a7"]["mc"] > 0, "its second-level cache is larger"
    assert "cortex-a15" in trencadis("machine", "exynos5422", cwd=tmp_path).stdout


def test_no_colours_without_a_terminal_or_with_no_color(folder):
    result = trencadis("solve", "A.npy", "b.npy", cwd=folder, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[3" not in result.stdout
    assert "\x1b" not in trencadis("list", "engines", cwd=folder).stdout


def test_help_and_version_are_exit_0(tmp_path):
    for arguments in (["--help"], ["solve", "--help"], ["-h"], ["--version"]):
        result = trencadis(*arguments, cwd=tmp_path)
        assert result.returncode == 0 and result.stdout and not result.stderr


def shell(script, cwd, **environment):
    """The script in a shell, where $T is the command; its output and errors together, each exit code as it prints it."""
    return subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        env={**os.environ, "T": " ".join(COMMAND), **environment},
    ).stdout


@pytest.mark.parametrize(
    "command",
    ["list routines", "list routines --json", "bench gemm --n 9 --repeat 1 --json -", "solve A.npy b.npy", "-h", "--version"],
)
def test_output_that_nobody_reads_is_no_error(folder, command):
    reader_gone = f"{{ sleep 0.1; $T {command}; echo $? >&2; }} 2>code | true; cat code"
    assert shell(reader_gone, folder) == "0\n"
    assert shell(f"$T {command} >&-; echo $?", folder) == "0\n"
    assert shell(f"$T {command} >&- 2>&- <&-; echo $?", folder) == "0\n"


def test_what_was_asked_for_is_done_though_nobody_reads_the_output(folder):
    A = np.load(folder / "A.npy")
    np.save(folder / "upper.npy", np.triu(A))
    reader_gone = "{{ sleep 0.1; $T {}; echo $? > code; }} 2>&1 | true; cat code"
    warning_first = "factor upper.npy --method cholesky -o F.npy"
    assert shell(reader_gone.format(warning_first), folder) == "0\n"
    assert np.allclose(np.load(folder / "F.npy").T @ np.load(folder / "F.npy"), A)
    assert shell(reader_gone.format("trace potrf --n 300 --nb 50 -o t.svg"), folder) == "0\n" and (folder / "t.svg").exists()
    assert shell("$T solve A.npy b.npy -o x.npy >&-; echo $?", folder) == "0\n" and (folder / "x.npy").exists()


def test_an_error_keeps_its_code_though_nobody_reads_it(folder):
    np.save(folder / "A.npy", np.zeros((100, 100)))
    assert shell("$T solve A.npy b.npy 2>&-; echo $?", folder) == "1\n"
    assert shell("$T list nothing >&- 2>&-; echo $?", folder) == "2\n"
    assert shell("{ sleep 0.1; $T list nothing; echo $? > code; } 2>&1 | true; cat code", folder) == "2\n"
    assert "No space left" in shell("$T list routines > /dev/full; echo $?", folder)


def test_names_that_the_terminal_cannot_show_are_no_error(folder):
    (folder / "A.npy").rename(folder / "mätrix.npy")
    for encoding, shown in (("ascii", "x\\xe4.npy"), ("utf-8", "xä.npy")):
        result = trencadis("solve", "mätrix.npy", "b.npy", "-o", "xä.npy", cwd=folder, PYTHONIOENCODING=encoding)
        assert result.returncode == 0 and f"written to {shown}" in result.stdout and not result.stderr
    no_text = b"x\xff.npy".decode(errors="surrogateescape")
    result = trencadis("solve", "mätrix.npy", "b.npy", "-o", no_text, cwd=folder, PYTHONIOENCODING="utf-8")
    assert result.returncode == 0 and "written to x\\udcff.npy" in result.stdout


def test_matrices_are_read_from_pipes(folder):
    scipy.io.mmwrite(folder / "A.mtx", np.load(folder / "A.npy"))
    script = "mkfifo f.npy g.mtx; cat b.npy > f.npy & cat A.mtx > g.mtx & $T solve g.mtx f.npy -o x.npy --json > row; echo $?"
    assert shell(script, folder) == "0\n"
    assert np.allclose(np.load(folder / "A.npy") @ np.load(folder / "x.npy"), np.load(folder / "b.npy"))
    script = "mkfifo h.npy; head -c 500 A.npy > h.npy & $T factor h.npy --method cholesky; echo $?"
    assert shell(script, folder) == (
        "trencadis: h.npy: is truncated: 372 of 80000 bytes are there for an array of shape (100, 100), float64\n2\n"
    )
    script = "mkfifo e.npy; true > e.npy & $T factor e.npy --method cholesky; echo $?"
    assert shell(script, folder).startswith("trencadis: e.npy: is not a .npy file, or its header is damaged")


def test_factor_says_what_a_complex_matrix_is_not(tmp_path):
    B = np.tril(np.ones((4, 4)), -1)
    kinds = {"complex symmetric, not Hermitian": 9 * np.eye(4) + 1j * (B + B.T), "not Hermitian": 9 * np.eye(4) + 1j * B}
    for words, A in kinds.items():
        np.save(tmp_path / "A.npy", A)
        result = trencadis("factor", "A.npy", "--method", "cholesky", cwd=tmp_path)
        assert result.returncode == 0
        assert result.stderr == f"trencadis: A.npy is {words}; its upper triangle is taken for both\n"


def test_verbose_shows_the_traceback(tmp_path):
    result = trencadis("list", "x", cwd=tmp_path, TRENCADIS_VERBOSE="1")
    assert result.returncode == 2 and "Traceback" in result.stderr and "unknown kind 'x'" in result.stderr


def test_a_missing_kernel_library_is_named_with_the_way_to_it(folder):
    result = trencadis("solve", "A.npy", "b.npy", "--kernels", "mkl", cwd=folder, TRENCADIS_MKL_LIBRARY="/nonexistent.so")
    assert failed(result, 2, "mkl", "/nonexistent.so", "TRENCADIS_MKL_LIBRARY")
    rows = trencadis("list", "kernels", "--json", cwd=folder, TRENCADIS_MKL_LIBRARY="/nonexistent.so").stdout.splitlines()
    row = next(row for row in map(json.loads, rows) if row["name"] == "mkl")
    assert not row["available"] and "/nonexistent.so" in row["why_not"]


def test_a_bad_environment_is_named(folder):
    for variable, value, words in (
        ("TRENCADIS_SCHEDULER", "eagre", "did you mean 'eager'"),
        ("TRENCADIS_NUM_THREADS", "many", "TRENCADIS_NUM_THREADS is 'many'"),
    ):
        assert failed(trencadis("solve", "A.npy", "b.npy", cwd=folder, **{variable: value}), 2, words)
