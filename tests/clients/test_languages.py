"""R, Octave, Armadillo and Eigen solve, invert and factor through us: the programs check their results, we count our calls."""

import os
import subprocess
from pathlib import Path

import pytest
from drop_in import CUT, assert_served, built, needs, needs_program, other_lines, run

PROGRAMS = Path(__file__).parent / "programs"
INCLUDE = Path("/usr/include")

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
