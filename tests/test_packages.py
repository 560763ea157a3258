"""What `make deb` packs. That it installs and goes away again in a bare system: `make test-deb`; the wheel: `make test-wheel`."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"

pytestmark = [
    pytest.mark.skipif(not (BUILD / "lib" / "system" / "libblas.so.3").exists(), reason=f"{BUILD} has no libraries yet"),
    pytest.mark.skipif(not shutil.which("dpkg-shlibdeps"), reason="dpkg-shlibdeps is not here: on Debian apt install dpkg-dev"),
]


def run(*words, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    plain = {**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "none"}  # `make test-deb` packs as users get it
    made = run(ROOT / "scripts" / "make_deb.sh", BUILD, folder, env=plain).split()[-1]
    shutil.rmtree(BUILD / "stage")
    return Path(made)


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def test_it_needs_a_blas_behind_it_by_name_and_the_libraries_under_ours(package):
    needs = re.split(r", *", field(package, "Depends"))
    names = {need.split()[0] for need in needs}
    assert {"libblas3", "liblapack3", "libhwloc15", "libc6", "libstdc++6"} <= names, needs
    absent = ("trencadis", "simgrid", "starpu", "scalapack", "openmpi", "ocl", "clblast")
    assert not any(word in name for name in names for word in absent)
    assert field(package, "Provides") == "libblas.so.3, liblapack.so.3"


def test_its_version_is_the_projects_and_its_description_is_complete(package):
    version = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().partition("project(")[2])[1]
    assert field(package, "Version") == version
    assert not re.search(r"@\w+@|,\s*$", run("dpkg-deb", "-f", package), re.MULTILINE)


def test_it_has_the_libraries_the_headers_the_machines_and_scripts_that_a_shell_understands(package, tmp_path):
    run("dpkg-deb", "-R", package, tmp_path)
    files = {path.name for path in tmp_path.rglob("*")}
    assert {
        "libtrencadis.so.0",
        "libtrencadis_lapack.so",
        "libopenblas-trencadis.so",
        "libblas.so.3",
        "liblapack64.so.3",
        "trencadis.hpp",
        "trencadis.h",
    } <= files
    assert {"trencadis-config.cmake", "trencadis.pc", "trencadis-lapack.pc", "exynos5422.toml", "install.md"} <= files
    for script in (tmp_path / "DEBIAN" / "postinst", tmp_path / "DEBIAN" / "prerm", *tmp_path.rglob("trencadis-system-blas")):
        run("sh", "-n", script)
    run("md5sum", "--quiet", "-c", tmp_path / "DEBIAN" / "md5sums", cwd=tmp_path)
