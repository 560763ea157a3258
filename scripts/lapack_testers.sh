#!/bin/bash
# Builds the testers of the reference LAPACK's linear equations for larger matrices than Debian's liblapack-test knows (132 rows),
# from the source package, into build-lapack-testers/bin. They are linked with liblapack and libblas as Debian's are, so that a
# preloaded library stands before those. Sources come through a package list of their own: the system's stay as they are. Needs
# gfortran, dpkg-dev, liblapack3 and libblas3. Quick when it has been done. Usage: lapack_testers.sh [ROWS]
set -euo pipefail
cd "$(dirname "$0")/.."
rows=${1:-600}
folder=$PWD/build-lapack-testers bin=$PWD/build-lapack-testers/bin
if [ -e "$bin/.of-$rows" ]; then exit 0; fi

libraries=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
lapack=$libraries/lapack/liblapack.so.3 blas=$libraries/blas/libblas.so.3
for file in "$lapack" "$blas" "$(command -v gfortran || echo /usr/bin/gfortran)"; do
    [ -e "$file" ] || { echo "no $file; make clients-packages installs what is needed" >&2; exit 1; }
done

rm -rf "$folder"
mkdir -p "$folder"/{parts,lists,cache,source,bin}
# The system's lists, with sources in the place of packages.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$list" ] && sed -n 's/^deb /deb-src /p' "$list" >>"$folder/parts/here.list"
done
for list in /etc/apt/sources.list.d/*.sources; do
    [ -e "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"$folder/parts/${list##*/}"
done
apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder/parts" -o "Dir::State::Lists=$folder/lists"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update >/dev/null
(cd "$folder/source" && "${apt[@]}" source --download-only lapack >/dev/null && tar xzf lapack_*.orig.tar.gz --strip-components=1)

cd "$folder/source"
grep -l 'NMAX = 132' TESTING/LIN/[sdcz]chka[ab].[fF] | xargs sed -i "s/NMAX = 132/NMAX = $rows/"
cat >make.inc <<END
SHELL = /bin/sh
FC = gfortran
FFLAGS = -O1 -frecursive -w
FFLAGS_DRV = \$(FFLAGS)
FFLAGS_NOOPT = -O0 -frecursive -w
AR = ar
ARFLAGS = cr
RANLIB = ranlib
TIMER = INT_ETIME
BLASLIB = $blas
LAPACKLIB = $lapack
TMGLIB = \$(TOPSRCDIR)/libtmglib.a
END
make -s -j "$(nproc)" -C TESTING/MATGEN >/dev/null
make -s -j "$(nproc)" -C TESTING/LIN xlintst{s,d,c,z,ds,zc} >/dev/null
cp TESTING/LIN/xlintst* "$bin"
rm -rf "$folder"/{parts,lists,cache,source}
touch "$bin/.of-$rows"
