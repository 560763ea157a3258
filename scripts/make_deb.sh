#!/bin/bash
# Makes a Debian package of the build in BUILD (the preset deb), in FOLDER, which is dist. By dpkg-deb itself, which every Debian
# has: what debhelper would add, a package of one build system that brings its own description does not need; and dpkg-shlibdeps
# can tell what is needed from what one module would like to have, which CPack cannot. Usage: make_deb.sh BUILD [FOLDER]; prints
# the package's path.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=${2:-dist}
stage=$build/stage
own=$build/shlibdeps
rm -rf "$stage" "$own"
DESTDIR=$stage cmake --install "$build" --component library --strip >/dev/null
mkdir -p "$stage/usr/share/doc/trencadis" "$stage/DEBIAN" "$own/debian" "$out"
install -m 644 README.md docs/install.md docs/blas.md "$stage/usr/share/doc/trencadis"
install -m 644 LICENSE "$stage/usr/share/doc/trencadis/copyright"

# What the libraries need; what only the simulator, the engines over others' runtimes and ScaLAPACK's names need is suggested.
printf 'Source: trencadis\n\nPackage: trencadis\nArchitecture: any\n' >"$own/debian/control"
modules=(-name 'libtrencadis_simgrid.so' -o -name 'libtrencadis_openmp_*.so' -o -name 'libtrencadis_starpu*.so'
    -o -name 'libtrencadis_opencl.so' -o -name 'libtrencadis_scalapack.so*')
mapfile -t suggested < <(find "$stage" -type f '(' "${modules[@]}" ')')
mapfile -t needed < <(find "$stage" -type f -name '*.so*' ! '(' "${modules[@]}" ')')
libraries=$(dirname "$(find "$stage" -name libtrencadis.so.0)")
shlibs=$(cd "$own" && dpkg-shlibdeps -O --ignore-missing-info -xtrencadis "-l$libraries" "-l$build/src/interfaces/system" \
    -dDepends "${needed[@]/#/-e}" -dSuggests "${suggested[@]/#/-e}" 2>"$own/words") || { cat "$own/words" >&2; exit 1; }
field() { sed -n "s/^shlibs:$1=//p" <<<"$shlibs"; }

set_field() { sed -i "s#@$1@#$2#" "$stage/DEBIAN/control"; }
cp packaging/debian/control.in "$stage/DEBIAN/control"
set_field version "$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")"
set_field architecture "$(dpkg --print-architecture)"
set_field size "$(du -sk --apparent-size "$stage" | cut -f1)"
set_field depends "$(field Depends)"
set_field suggests "$(field Suggests)"
sed -i 's/, $//' "$stage/DEBIAN/control" # where there are none
install -m 755 packaging/debian/postinst packaging/debian/prerm "$stage/DEBIAN"
install -m 644 packaging/debian/triggers "$stage/DEBIAN"
(cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
package=$out/trencadis_$(sed -n "s/^Version: //p" "$stage/DEBIAN/control")_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group --build "$stage" "$package" >/dev/null
echo "$package"
