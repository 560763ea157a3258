#!/bin/bash
# In a bare system, beside other registered BLAS: installs the package, switches, lets programs run, takes it away again.
set -euo pipefail
triplet=$(dpkg --print-architecture | sed 's/amd64/x86_64-linux-gnu/; s/arm64/aarch64-linux-gnu/')
links=/usr/lib/$triplet
passed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
chosen() { update-alternatives --query "$1-$triplet" | sed -n 's/^Value: //p'; }
link_of() { echo "$links/trencadis/behind/lib$1.so.3-behind-trencadis--run-trencadis-system-blas-register"; }
behind() { readlink "$(link_of "$1")"; }
quiet() { "$@" >/tmp/log 2>&1 || { cat /tmp/log >&2; fail "$*"; }; }
# Everything but logs, caches and what a Python program leaves.
everything() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/log -o -path /var/cache -o -path /root \
        -o -name __pycache__ \) -prune -o -print | sort
}
calls() { grep -c "^trencadis: $1 " "$2" || true; }

# As it was before an earlier run that failed.
dpkg --purge trencadis libblas64-3 liblapack64-3 >/dev/null 2>&1 || true
rm -rf "$links/trencadis" /tmp/go
for kind in blas lapack; do update-alternatives --quiet --auto "lib$kind.so.3-$triplet"; done

everything >/tmp/before
update-alternatives --get-selections | sort >/tmp/selections-before
blas_before=$(chosen libblas.so.3) lapack_before=$(chosen liblapack.so.3)

quiet apt-get install -y --no-install-recommends /dist/trencadis_*.deb
[ "$(chosen libblas.so.3)" = "$links/trencadis/libblas.so.3" ] || fail "libblas.so.3 is $(chosen libblas.so.3)"
[ "$(chosen liblapack.so.3)" = "$links/trencadis/liblapack.so.3" ] || fail "liblapack.so.3 is $(chosen liblapack.so.3)"
[ "$(behind blas)" = "$blas_before" ] || fail "behind ours is $(behind blas)"
[ "$(behind lapack)" = "$lapack_before" ] || fail "behind ours is $(behind lapack)"
update-alternatives --query "libblas64.so.3-$triplet" 2>/dev/null && fail "a 64-bit BLAS without one behind it"
ok "installed beside others, chosen, the best of the others behind it"

cat >/tmp/client.py <<'P'
import numpy as np
rng = np.random.default_rng(1)
A = rng.standard_normal((400, 400))
b = rng.standard_normal(400)
x = np.linalg.solve(A, b)
assert abs(A @ x - b).max() < 1e-9
assert abs((A @ A) @ b - A @ (A @ b)).max() < 1e-9      # gemm: ours; gemv: behind
U, s, V = np.linalg.svd(A)                               # gesdd: behind, its gemm: ours
assert abs(U * s @ V - A).max() < 1e-10
w, Q = np.linalg.eigh(A + A.T)
assert abs(Q * w @ Q.T - A - A.T).max() < 1e-10
tall, many = A[:, :150], rng.standard_normal((2000, 60))
for mode in "reduced", "complete":
    Q, R = np.linalg.qr(tall, mode)
    assert abs(Q @ R - tall).max() < 1e-12 and abs(Q.T @ Q - np.eye(Q.shape[1])).max() < 1e-12
assert abs(np.linalg.qr(tall, "r") - R[:150]).max() == 0
fit = np.linalg.lstsq(many, many @ x[:60], rcond=None)[0]  # gelsd: behind, its QR of a tall matrix: ours
assert abs(fit - x[:60]).max() < 1e-10
z = b + 1j * x
assert abs(np.vdot(z, z) - (abs(z) ** 2).sum()) < 1e-9   # zdotc, which gives back a complex number
print("right")
P
run_numpy() {
    TRENCADIS_VERBOSE=1 python3 /tmp/client.py >/tmp/out 2>/tmp/err && grep -q right /tmp/out ||
        { cat /tmp/err >&2; fail "NumPy"; }
}
ours() {
    for routine in "$@"; do
        [ "$(calls "$routine" /tmp/err)" -ge 1 ] || fail "$routine was not ours: $(cut -d' ' -f2 /tmp/err | sort | uniq -c)"
    done
}
run_numpy
ours dgesv dgeqrf dorgqr
[ "$(calls dgemm /tmp/err)" -gt 10 ] || fail "NumPy does not call us: $(cut -d' ' -f2 /tmp/err | sort | uniq -c)"
[ "$(calls dgeqrf /tmp/err)" -ge 4 ] || fail "three calls of qr and one of lstsq are $(calls dgeqrf /tmp/err) of dgeqrf"
counted=$(grep -c '^trencadis: ' /tmp/err)
ok "Debian's NumPy: $counted calls are ours, $(calls dgemm /tmp/err) of dgemm, also those of the library behind"

cat >/tmp/qr_client.py <<'P'
import numpy as np
from scipy import linalg
rng = np.random.default_rng(2)
for kind in float, complex:
    A = rng.standard_normal((300, 120)).astype(kind)
    b = A.sum(axis=1)
    Q, R = linalg.qr(A, mode="economic")
    assert abs(Q @ R - A).max() < 1e-12
    assert abs(linalg.qr_multiply(A, A.T.conj(), mode="right")[0] - A.T.conj() @ Q).max() < 1e-11
    Q, R, pivots = linalg.qr(A, mode="economic", pivoting=True)
    assert abs(Q @ R - A[:, pivots]).max() < 1e-12
    R, Q = linalg.rq(A)
    assert abs(R @ Q - A).max() < 1e-12
    for driver in "gelsy", "gelsd", "gelss":
        assert abs(linalg.lstsq(A, b, lapack_driver=driver)[0] - 1).max() < 1e-10
    gels, = linalg.get_lapack_funcs(("gels",), (A,))
    assert abs(gels(A, b)[1][:120] - 1).max() < 1e-10
print("right")
P
# Unpacked only: as a package it brings compilers, and with them another OpenBLAS.
rm -rf /tmp/unpacked && mkdir /tmp/unpacked
(cd /tmp/unpacked && quiet apt-get download python3-scipy && dpkg-deb -x python3-scipy_*.deb .)
TRENCADIS_VERBOSE=1 PYTHONPATH=/tmp/unpacked/usr/lib/python3/dist-packages \
    python3 /tmp/qr_client.py >/tmp/out 2>/tmp/err && grep -q right /tmp/out ||
    { cat /tmp/err >&2; fail "SciPy"; }
ours dgeqrf zgeqrf dorgqr zungqr dormqr zunmqr dgels zgels
ok "Debian's SciPy: QR, with and without pivots, and every driver of least squares"

for program in /tests/consumer_?; do
    TRENCADIS_VERBOSE=1 $program >/tmp/out 2>/tmp/err && grep -q right /tmp/out || { cat /tmp/err >&2; fail "$program"; }
    case $program in *_c) ours dgeqrf dormqr dgels ;; *) ours dgeqrf dorgqr dgelqf dgels ;; esac
    ok "$program, linked with -llapack -lblas: $(grep -c '^trencadis: ' /tmp/err) calls are ours"
done

cat >/tmp/client.R <<'P'
set.seed(1); A <- matrix(rnorm(160000), 400); b <- rnorm(400)
stopifnot(max(abs(A %*% solve(A, b) - b)) < 1e-9, max(abs(crossprod(A) - t(A) %*% A)) < 1e-9)
e <- eigen(crossprod(A)); stopifnot(all(e$values > 0)); s <- svd(A); stopifnot(max(abs(s$u %*% (s$d * t(s$v)) - A)) < 1e-10)
T <- A[, 1:150]; q <- qr(T, LAPACK = TRUE)    # geqp3: behind, what applies its reflectors: ours
stopifnot(max(abs(qr.Q(q) %*% qr.R(q) - T[, q$pivot])) < 1e-12, max(abs(qr.coef(q, T %*% b[1:150]) - b[1:150])) < 1e-9)
P
if command -v Rscript >/dev/null; then
    TRENCADIS_VERBOSE=1 Rscript /tmp/client.R >/tmp/out 2>/tmp/err || { cat /tmp/err >&2; fail R; }
    ours dgesv dsyrk dormqr
    ok "R: $(grep -c '^trencadis: ' /tmp/err) calls are ours"
fi

for kind in blas lapack; do update-alternatives --quiet --set "lib$kind.so.3-$triplet" "$links/$kind/lib$kind.so.3"; done
run_numpy
[ ! -s /tmp/err ] || fail "still ours after the switch"
trencadis-system-blas register
[ "$(behind blas)" = "$links/blas/libblas.so.3" ] || fail "behind ours is $(behind blas), not the one chosen by hand"
for kind in blas lapack; do update-alternatives --quiet --set "lib$kind.so.3-$triplet" "$links/trencadis/lib$kind.so.3"; done
run_numpy
[ "$(calls dgemm /tmp/err)" -gt 10 ] || fail "not ours after the switch back"
ok "switched away and back by hand, with the reference BLAS behind"
for kind in blas lapack; do update-alternatives --quiet --auto "lib$kind.so.3-$triplet"; done
trencadis-system-blas register
[ "$(behind blas)" = "$blas_before" ] || fail "behind ours is $(behind blas) again in automatic mode"

# The best one behind goes: another takes its place, also for what starts then.
quiet apt-get remove -y libopenblas0-pthread
[ "$(behind blas)" = "$links/blas/libblas.so.3" ] || fail "behind ours is $(behind blas) after OpenBLAS went"
run_numpy
ok "OpenBLAS removed: the reference BLAS is behind ours at once"
quiet apt-get install -y --no-install-recommends libopenblas0-pthread
[ "$(behind lapack)" = "$links/openblas-pthread/liblapack.so.3" ] || fail "OpenBLAS is back, but not behind ours"
ok "OpenBLAS installed again: it is behind ours"

# 64-bit integers, once there is something behind.
quiet apt-get install -y --no-install-recommends libblas64-3 liblapack64-3
[ "$(chosen libblas64.so.3)" = "$links/trencadis/libblas64.so.3" ] || fail "libblas64.so.3 is not ours"
python3 - 2>/tmp/err <<P || { cat /tmp/err >&2; fail "64-bit integers"; }
import ctypes, os
os.environ["TRENCADIS_VERBOSE"] = "1"
lapack = ctypes.CDLL("liblapack64.so.3")
blas = ctypes.CDLL("libblas64.so.3")
n = (ctypes.c_int64 * 1)(2)
one = (ctypes.c_int64 * 1)(1)
A = (ctypes.c_double * 4)(4, 2, 2, 3)
info = (ctypes.c_int64 * 1)(-7)
lapack.dpotrf_(b"L", n, A, n, info)
assert info[0] == 0 and A[0] == 2 and A[1] == 1, list(A)
w, work, lwork = (ctypes.c_double * 2)(), (ctypes.c_double * 64)(), (ctypes.c_int64 * 1)(64)
lapack.dsyev_(b"N", b"L", n, (ctypes.c_double * 4)(1, 0, 0, 2), n, w, work, lwork, info)
assert list(w) == [1, 2]
blas.ddot_.restype = ctypes.c_double
assert blas.ddot_(n, w, one, w, one) == 5
P
grep -q "dpotrf 2 directly" /tmp/err || fail "64-bit dpotrf was not ours: $(cat /tmp/err)"
ok "64-bit integers: ours and what is behind"

# Nothing behind, against the package's word: a message, no loop.
rm "$(link_of blas)"
timeout 60 python3 /tmp/client.py >/tmp/out 2>/tmp/err && fail "NumPy ran without level 1"
grep -q "libblas.so.3-behind-trencadis--run-trencadis-system-blas-register: cannot open" /tmp/err ||
    fail "no clear message: $(cat /tmp/err)"
ok "nothing behind: $(grep -m1 'cannot open' /tmp/err)"
ln -s "$links/trencadis/libblas.so.3" "$(link_of blas)"
timeout 60 python3 /tmp/client.py >/tmp/out 2>/tmp/err && fail "NumPy ran with us behind ourselves"
ok "we behind ourselves: an end, no loop: $(grep -m1 -e undefined /tmp/err)"
trencadis-system-blas register
[ "$(behind blas)" = "$links/openblas-pthread/libblas.so.3" ] || fail "not put right"
run_numpy
ok "put right by trencadis-system-blas register"

quiet apt-get install -y --reinstall /dist/trencadis_*.deb
run_numpy
ok "installed over itself"

# A package that takes our place, and then cannot be installed: the removal is taken back.
mkdir -p /tmp/rival/DEBIAN
printf '%s\n' 'Package: rival' 'Version: 1' 'Architecture: all' 'Maintainer: a stranger <stranger@localhost>' \
    'Description: a rival' 'Conflicts: trencadis' >/tmp/rival/DEBIAN/control
printf '#!/bin/sh\nexit 1\n' >/tmp/rival/DEBIAN/preinst
chmod 755 /tmp/rival/DEBIAN/preinst
dpkg-deb --build /tmp/rival /tmp/rival.deb >/dev/null
dpkg --force-remove-protected --auto-deconfigure -B -i /tmp/rival.deb >/tmp/log 2>&1 && fail "the rival was installed"
dpkg -s trencadis | grep -q '^Status: install ok installed' || fail "not taken back: $(dpkg -s trencadis | grep ^Status)"
run_numpy
ours dgeqrf
ok "a removal that is broken off is taken back"

# Removed while a program computes.
cat >/tmp/long.py <<'P'
import numpy as np, sys
A = np.random.default_rng(1).standard_normal((500, 500))
np.linalg.solve(A, A); print("begun", flush=True); sys.stdin.readline()
for _ in range(20):
    assert abs(A @ np.linalg.solve(A, A[:, :300]) - A[:, :300]).max() < 1e-8
assert np.linalg.svd(A)[1][0] > 0
print("ended")
P
mkfifo /tmp/go
python3 /tmp/long.py </tmp/go >/tmp/long.out 2>/tmp/long.err &
program=$!
exec 9>/tmp/go
for _ in $(seq 600); do if grep -q begun /tmp/long.out; then break; fi; sleep 0.1; done
quiet apt-get remove -y trencadis
echo >&9
wait $program || { cat /tmp/long.err >&2; fail "the program that ran ended badly"; }
grep -q ended /tmp/long.out || fail "the program that ran did not end"
ok "removed while a program ran, which went on"
[ "$(chosen libblas.so.3)" = "$blas_before" ] && [ "$(chosen liblapack.so.3)" = "$lapack_before" ] ||
    fail "the system's choice is not what it was"
run_numpy
[ ! -s /tmp/err ] || fail "ours after removal"

quiet dpkg --purge trencadis libblas64-3 liblapack64-3
quiet apt-get autoremove -y --purge
everything >/tmp/after
update-alternatives --get-selections | sort >/tmp/selections-after
diff /tmp/selections-before /tmp/selections-after || fail "other choices than before"
comm -13 /tmp/before /tmp/after | grep -v -e '^/var/lib/dpkg' -e '^/var/lib/apt' -e '^/etc/alternatives$' >/tmp/left || true
[ ! -s /tmp/left ] || { cat /tmp/left >&2; fail "left behind"; }
grep -rl trencadis /var/lib/dpkg /etc 2>/dev/null && fail "still named there"
ok "purged: nothing is left, the choices are what they were"
echo "$passed passed, 0 failed"
