#!/bin/bash
# In a bare system without compilers: a clean virtual environment, the wheel and what it needs, and no network.
set -euo pipefail
passed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
command -v cc >/dev/null && fail "there is a compiler here"
rm -rf /tmp/venv
python3 -m venv /tmp/venv
/tmp/venv/bin/pip install --quiet --disable-pip-version-check --no-index --find-links /dist/needs --find-links /dist trencadis
ok "installed: $(basename /dist/trencadis-*.whl)"
export PATH=/tmp/venv/bin:$PATH
cd /tmp

folder=$(python -c 'import pathlib, trencadis; print(pathlib.Path(trencadis.__file__).parent)')
for library in "$folder"/*.so*; do
    case $library in *simgrid* | *openmp* | *starpu* | *opencl*) continue ;; esac
    ! ldd "$library" | grep -e 'not found' || fail "$library needs what is not here"
done
! grep -l -a -r -e /build-wheel/ "$folder" --include "*.so*" || fail "a folder of the building machine is named"
ok "needs nothing that is not in it"

trencadis machine >/tmp/out || fail "trencadis machine"
grep -q -i core /tmp/out || fail "$(cat /tmp/out)"
trencadis list machines >/tmp/out && grep -q exynos5422 /tmp/out || fail "no described machines"
ok "trencadis machine, described machines"
python - <<'PROGRAM'
import numpy as np, trencadis
rng = np.random.default_rng(1)
A, b = rng.standard_normal((600, 600)), rng.standard_normal(600)
assert abs(A @ trencadis.solve(A, b) - b).max() < 1e-9
P = A @ A.T + 600 * np.eye(600)
assert abs(P @ trencadis.solve(P, b, assume_a="pos") - b).max() < 1e-9
tall = A[:, :200]
Q, R = trencadis.qr(tall, mode="economic")
assert abs(Q @ R - tall).max() < 1e-12 and abs(Q.T @ Q - np.eye(200)).max() < 1e-12
fit = trencadis.lstsq(tall, b)[0]
assert abs(tall.T @ (b - tall @ fit)).max() < 1e-10
np.save("/tmp/P.npy", P), np.save("/tmp/b.npy", b), np.save("/tmp/tall.npy", tall)
PROGRAM
trencadis solve /tmp/P.npy /tmp/b.npy -o /tmp/x.npy >/tmp/out || fail "trencadis solve"
trencadis solve --assume least-squares /tmp/tall.npy /tmp/b.npy -o /tmp/x.npy >/tmp/out ||
    fail "trencadis solve --assume least-squares"
trencadis factor --method qr /tmp/tall.npy -o /tmp/x.npz >/tmp/out || fail "trencadis factor --method qr"
ok "solves from Python and from the command line"
trencadis simulate potrf --machine exynos5422 --n 2048 --nb 256 >/tmp/out 2>&1 && fail "a simulation without SimGrid"
grep -q -i simgrid /tmp/out || fail "no word of SimGrid: $(cat /tmp/out)"
ok "simulate says what is missing: $(tr -s ' \n' ' ' </tmp/out | cut -c1-160)"

drop_in=$(python -m trencadis.preload)
[ -f "$drop_in" ] || fail "no drop-in library at $drop_in"
cat >/tmp/client.py <<'PROGRAM'
import numpy as np, scipy.linalg
A = np.random.default_rng(1).standard_normal((500, 500))
assert abs(A @ np.linalg.solve(A, A) - A).max() < 1e-8
lu = scipy.linalg.lu_factor(A)
assert abs(A @ scipy.linalg.lu_solve(lu, A[0]) - A[0]).max() < 1e-8
for qr in np.linalg.qr, lambda A: scipy.linalg.qr(A, mode="economic"):
    Q, R = qr(A[:, :200])
    assert abs(Q @ R - A[:, :200]).max() < 1e-12
assert abs(scipy.linalg.lapack.zgels(A[:, :200] + 0j, A[:, :200].sum(axis=1))[1][:200] - 1).max() < 1e-10
PROGRAM
TRENCADIS_VERBOSE=1 LD_PRELOAD=$drop_in python /tmp/client.py 2>/tmp/err || { cat /tmp/err >&2; fail "LD_PRELOAD"; }
for routine in dgesv dgetrf dgemm dgeqrf dorgqr zgels; do
    grep -q "^trencadis: $routine " /tmp/err || fail "$routine was not ours"
done
TRENCADIS_VERBOSE=1 python -m trencadis.preload python /tmp/client.py 2>/tmp/err2
[ "$(grep -c '^trencadis: ' /tmp/err2)" = "$(grep -c '^trencadis: ' /tmp/err)" ] || fail "python -m trencadis.preload PROGRAM"
ok "the drop-in library: $(grep -c '^trencadis: ' /tmp/err) calls of the wheels of NumPy and SciPy are ours"

pip uninstall --quiet -y trencadis
[ ! -e "$folder" ] && [ ! -e "$folder.libs" ] || fail "left behind: $(ls -d "$folder"*)"
ok "uninstalled: nothing is left"
echo "$passed passed, 0 failed"
