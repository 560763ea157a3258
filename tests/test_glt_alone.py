"""The folder glt/ is a project of its own: taken away, it configures, builds, tests and installs without anything of the rest."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What says that it works, in a minute: both back ends that need no library, our threads' own tests, examples, programs.
EXAMPLES = ["example_glt_capabilities", "example_glt_sum", "example_glt_pipeline"]
TARGETS = ["glt", "glt_native", "glt_os", "test_glt_threads", "glt_nqueens", "glt_uts", *EXAMPLES]


def run(*words, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, **options)
    assert result.returncode == 0, f"{words}\n{result.stdout[-4000:]}{result.stderr[-4000:]}"
    return result.stdout


@pytest.fixture(scope="module")
def taken_away(tmp_path_factory):
    """A copy of the folder where nothing of ours is around it, and its build."""
    folder = tmp_path_factory.mktemp("away")
    shutil.copytree(ROOT / "glt", folder / "threads", ignore=shutil.ignore_patterns("build*", "__pycache__"))
    build = folder / "build"
    flags = [f"-DCMAKE_{language}_FLAGS=-O1" for language in ("C", "CXX")]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run("cmake", *generator, "-S", folder / "threads", "-B", build, "-DCMAKE_BUILD_TYPE=None", "-DGLT_MINIMAL=ON", *flags)
    run("cmake", "--build", build, "-j", os.cpu_count(), "--target", *TARGETS)
    return folder


def test_it_builds_and_its_tests_and_what_it_installs_work(taken_away):
    chosen = "^(glt_threads|glt_installed_examples|example_glt_(sum|pipeline|capabilities)|.*_dynamic_(os|native)_nqueens)$"
    said = run("ctest", "--test-dir", taken_away / "build", "--output-on-failure", "--no-tests=error", "-R", chosen)
    assert "100% tests passed, 0 tests failed out of 7" in said


def test_its_libraries_and_its_page_agree(taken_away):
    """The tests in Python that the folder brings, with its own build."""
    environment = {**os.environ, "GLT_BUILD": str(taken_away / "build")}
    folder = taken_away / "threads" / "tests"
    said = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, env=environment, cwd=taken_away)
    assert "passed" in said and "skipped" not in said


def test_its_libraries_need_nothing_of_ours(taken_away):
    for library in (taken_away / "build" / "lib").glob("lib*.so"):
        needed = run("readelf", "--dynamic", library)
        assert "libtrencadis" not in needed, library


def test_nothing_in_the_folder_names_a_file_outside():
    lists = [*(ROOT / "glt").rglob("CMakeLists.txt"), *(ROOT / "glt").rglob("*.cmake")]
    assert len(lists) > 10
    for path in lists:
        text = path.read_text()
        assert "TRC_" not in text and "trc_" not in text, path
        assert "CMAKE_SOURCE_DIR" not in text, path  # which is the house's, where there is one
