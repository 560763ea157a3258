"""R, Octave, scikit-learn, Armadillo and Eigen compute through us: the programs check their results, we count our calls."""

import os
import subprocess
from pathlib import Path

import numpy
import pytest
from drop_in import CUT, assert_served, built, needs, needs_program, other_lines, run

PROGRAMS = Path(__file__).parent / "programs"
INCLUDE = Path("/usr/include")

DEBIAN = "/usr/bin/python3"

pytestmark = built
each_way = pytest.mark.parametrize("environment", [{}, CUT], ids=["whole", "cut"])


def each(precisions, *routines):
    return [precision + routine for precision in precisions for routine in routines]


def check(command, environment, *routines):
    """Right with us and without a word on standard error that is not there without us."""
    result = run(command, environment=environment)
    assert result.returncode == 0, result.stderr[-2000:] + result.stdout
    assert result.stdout.splitlines()[-1:] == ["right"], result.stdout
    assert_served(result, *routines)
    said = other_lines(result.stderr)
    if said:
        assert said == other_lines(run(command, ours=False, environment=environment).stderr)


@needs_program("Rscript", "r-base-core")
@each_way
def test_r_computes_through_us(environment):
    routines = ("dgesv", "dgetrf", "dpotrf", "dpotri", "dsyrk", "dgemm", "dtrsm", "zgesv", "zgemm")
    check(["Rscript", "--vanilla", PROGRAMS / "solves.R"], environment, *routines, "dormqr", "zunmqr", "dgeqrf", "dorgqr")


@needs_program("octave-cli", "octave")
@each_way
def test_octave_computes_through_us(environment):
    # Of an installation's start-up files nothing, of ours no window.
    command = ["octave-cli", "--no-init-file", "--no-site-file", "--no-history", PROGRAMS / "solves.m"]
    routines = each("sdcz", "gemm", "getrf", "getrs", "getri", "potrf", "potrs", "potri", "geqrf")
    check(command, environment, *routines, "dsyrk", "zherk", "dorgqr", "zungqr")


def has_sklearn(python):
    return subprocess.run([python, "-c", "import sklearn"], capture_output=True, check=False).returncode == 0


def numbers(archive):
    with numpy.load(archive) as found:
        return dict(found)


@needs(has_sklearn(DEBIAN), "Debian's scikit-learn", "python3-sklearn")
@each_way
def test_scikit_learn_computes_through_us(environment, tmp_path):
    program = PROGRAMS / "solves_sklearn.py"
    routines = each("sd", "gemm", "getrf", "geqrf", "orgqr", "ormqr", "posv", "syrk")
    check([DEBIAN, program, tmp_path / "ours.npz"], environment, *routines)
    without = run([DEBIAN, program, tmp_path / "theirs.npz"], ours=False)
    assert without.returncode == 0, without.stderr
    ours, theirs = numbers(tmp_path / "ours.npz"), numbers(tmp_path / "theirs.npz")
    assert ours.keys() == theirs.keys()
    for name, right in theirs.items():
        # Either run may be off by some eps sqrt(n), 37 times as much where the singular value that is left out is 1/37 away.
        bound = 37 * 2 * 4 * 30 * numpy.finfo(right.dtype).eps
        assert numpy.abs(ours[name] - right).max() <= bound * numpy.abs(right).max(), name


def compiled(name, folder, *options):
    program = folder / name
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O1", PROGRAMS / f"{name}.cpp", *options, "-o", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return program


needs_compiler = needs_program(os.environ.get("CXX", "c++"), "g++")


@pytest.fixture(scope="module")
def armadillo(tmp_path_factory):
    return compiled("solves_armadillo", tmp_path_factory.mktemp("armadillo"), "-llapack", "-lblas")


@pytest.fixture(scope="module")
def eigen(tmp_path_factory):
    return compiled("solves_eigen", tmp_path_factory.mktemp("eigen"), f"-I{INCLUDE / 'eigen3'}", "-llapacke", "-lblas")


@pytest.mark.thorough
@needs_compiler
@needs((INCLUDE / "armadillo").exists(), "Armadillo", "libarmadillo-dev")
@each_way
def test_armadillo_computes_through_us(armadillo, environment):
    routines = each("sdcz", "gemm", "gesv", "getrf", "getrs", "getri", "potrf", "potrs", "potri")
    check([armadillo], environment, *routines, "ssyrk", "dsyrk", "cherk", "zherk")


@pytest.mark.thorough
@needs_compiler
@needs((INCLUDE / "eigen3").exists() and (INCLUDE / "lapacke.h").exists(), "Eigen with LAPACKE", "libeigen3-dev liblapacke-dev")
@each_way
def test_eigen_computes_through_us(eigen, environment):
    routines = each("sdcz", "gemm", "getrf", "potrf", "trsm", "trmm")
    check([eigen], environment, *routines, *each("sd", "symm", "syrk"), "chemm", "zhemm")
