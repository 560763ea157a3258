"""NumPy's and SciPy's own tests, as PyPI's wheels and as Debian's packages, with our library in front of their BLAS.

Where a test fails with us the suite runs again without us, and the test must fail there, too: nobody pays for a second run where
there is nothing to compare. What is `thorough` runs in `make test-clients` alone, and of NumPy's and SciPy's suites one with a
commit, in turn.
"""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import pytest
from drop_in import CUT, assert_served, built, in_turn, needs, of_wheels, run

DEBIAN = "/usr/bin/python3"
thorough = pytest.mark.thorough

#: Where matrices are multiplied, solved with or factored.
NUMPY_LINALG = ["numpy.linalg.tests.test_linalg", "numpy.linalg.tests.test_regression"]
NUMPY_PRODUCTS = ["test_multiarray.py", "test_numeric.py", "test_einsum.py", "test_regression.py", "test_multithreading.py"]
FACTORS_IN = ("basic", "decomp", "decomp_cholesky", "decomp_lu", "lapack", "blas", "batch")
SCIPY_FACTORS = [f"scipy.linalg.tests.test_{name}" for name in FACTORS_IN]
SCIPY_USERS = [
    *("scipy.sparse.linalg", "scipy.optimize", "scipy.interpolate", "scipy.signal.tests.test_ltisys"),
    *("scipy.cluster", "scipy.stats.tests.test_multivariate", "scipy.stats.tests.test_kdeoth"),
    *("scipy.integrate.tests.test_ivp", "scipy.linalg.tests.test_cython_lapack", "scipy.linalg.tests.test_cython_blas"),
]


@dataclass(frozen=True)
class Suite:
    python: str
    modules: tuple
    environment: tuple = ()
    #: What must have been ours, in this suite.
    served: tuple = ()
    chosen: str = ""
    limit: int = 1800


def each(precisions, *routines):
    return tuple(precision + routine for precision in precisions for routine in routines)


def outcomes(suite, folder, ours):
    """The names of the tests that failed, that passed, and the run."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")  # not our own settings, which lie above the environment's packages
    report = folder / "report.xml"
    options = ["-c", folder / "pytest.ini", f"--rootdir={folder}", "-p", "no:cacheprovider", "-q", f"--junitxml={report}"]
    # Python's own output is kept from the screen, the library's goes to standard error.
    options += ["--capture=sys", *(["-m", suite.chosen] if suite.chosen else [])]
    command = [suite.python, "-m", "pytest", *options, "--pyargs", *suite.modules]
    result = run(command, ours=ours, environment=dict(suite.environment), cwd=folder, timeout=suite.limit)
    said = result.stdout[-2000:] + result.stderr[-4000:]
    assert report.exists(), f"the suite did not come to its end: {result.returncode}\n{said}"
    failed, passed = set(), set()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(name)
        elif case.find("skipped") is None:
            passed.add(name)
    return failed, passed - failed, result


def check(suite, folder):
    failed, passed, result = outcomes(suite, folder / "with", ours=True)
    assert len(passed) > 50, result.stdout[-2000:]
    assert_served(result, *suite.served)
    if failed:
        without = outcomes(suite, folder / "without", ours=False)[0]
        assert not failed - without, f"{sorted(failed - without)} fail with us alone\n{result.stdout[-20000:]}"


def modules_of(python, package):
    """Is the package with its tests and pytest there for that interpreter?"""
    probe = f"import pytest, hypothesis, {package}.linalg.tests"
    return subprocess.run([python, "-c", probe], capture_output=True, check=False).returncode == 0


def files_of(python, package, folders, names):
    """Names of modules as pytest takes them: folders move between versions."""
    probe = f"import {package}; print({package}.__path__[0])"
    place = Path(subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True).stdout.strip())
    folder = next(place / folder for folder in folders if (place / folder / "tests").is_dir())
    return [str(folder / "tests" / name) for name in names if (folder / "tests" / name).exists()]


def numpy_products(python):
    return files_of(python, "numpy", ("_core", "core"), NUMPY_PRODUCTS)


#: NumPy factors in double precision, whatever it is given.
LINALG = (*each("dz", "gesv", "getrf", "potrf", "geqrf"), *each("sdcz", "gemm"), "ssyrk", "dsyrk", "dorgqr", "zungqr")
FACTORS = (*each("sdcz", "getrf", "getrs", "getri", "potrf", "potrs", "gemm", "geqrf", "gels"), "dpotri", "zpotri")
FACTORS += (*each("sd", "orgqr", "ormqr"), *each("cz", "ungqr", "unmqr"))

SUITES = ("numpy", "scipy")
wheels = pytest.mark.skipif(
    not (of_wheels("numpy") and of_wheels("scipy")), reason="NumPy and SciPy are not PyPI's wheels in this environment"
)


@in_turn("numpy", *SUITES)
@built
@wheels
@pytest.mark.parametrize("cut", [pytest.param({}, id="whole"), pytest.param(CUT, id="cut", marks=thorough)])
def test_numpys_tests_of_linear_algebra_from_pypi(tmp_path, cut):
    check(Suite(sys.executable, tuple(NUMPY_LINALG), tuple(cut.items()), LINALG), tmp_path)


@in_turn("scipy", *SUITES)
@built
@wheels
def test_scipys_tests_of_factorizations_from_pypi(tmp_path):
    check(Suite(sys.executable, tuple(SCIPY_FACTORS), (), FACTORS, "not slow"), tmp_path)


@thorough
@built
@wheels
@pytest.mark.parametrize("cut", [{}, CUT], ids=["whole", "cut"])
def test_numpys_tests_of_products_from_pypi(tmp_path, cut):
    modules = tuple(numpy_products(sys.executable))
    check(Suite(sys.executable, modules, tuple(cut.items()), each("sdcz", "gemm", "syrk")), tmp_path)


@thorough
@built
@wheels
@pytest.mark.parametrize("cut", [{}, CUT], ids=["whole", "cut"])
def test_all_of_scipys_tests_of_linear_algebra_from_pypi(tmp_path, cut):
    check(Suite(sys.executable, ("scipy.linalg",), tuple(cut.items()), FACTORS), tmp_path)


@thorough
@built
@wheels
@pytest.mark.parametrize("module", SCIPY_USERS)
def test_scipys_users_of_linear_algebra_from_pypi(tmp_path, module):
    check(Suite(sys.executable, (module,), chosen="not slow"), tmp_path)


def debian(package):
    names = f"python3-{package} python3-pytest python3-hypothesis"
    return needs(modules_of(DEBIAN, package), f"Debian's {package} with pytest and hypothesis", names)


@built
@debian("numpy")
def test_numpys_tests_of_linear_algebra_from_debian(tmp_path):
    check(Suite(DEBIAN, tuple(NUMPY_LINALG), (), LINALG), tmp_path)


@thorough
@built
@debian("numpy")
def test_numpys_tests_of_products_from_debian(tmp_path):
    check(Suite(DEBIAN, tuple(numpy_products(DEBIAN)), (), each("sdcz", "gemm", "syrk")), tmp_path)


@thorough
@built
@debian("scipy")
@pytest.mark.parametrize("cut", [{}, CUT], ids=["whole", "cut"])
def test_all_of_scipys_tests_of_linear_algebra_from_debian(tmp_path, cut):
    check(Suite(DEBIAN, ("scipy.linalg",), tuple(cut.items()), FACTORS), tmp_path)


#: What some suites call without fail.
SERVED_TO_USERS = {
    "scipy.sparse.linalg": (*each("dz", "gemm", "trsm", "getrf", "getri", "potrf"), "dsyrk", "dormqr"),
    "scipy.optimize": (),
    "scipy.interpolate": each("d", "gemm", "gesv", "getrf", "getrs", "gecon", "potrf", "geqrf", "orgqr"),
}


@thorough
@built
@debian("scipy")
@pytest.mark.parametrize("module", SERVED_TO_USERS)
def test_scipys_users_of_linear_algebra_from_debian(tmp_path, module):
    check(Suite(DEBIAN, (module,), (), SERVED_TO_USERS[module], "not slow"), tmp_path)
