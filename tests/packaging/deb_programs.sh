#!/bin/bash
# Makes programs for deb.sh in FOLDER, linked as anybody's are with a system's BLAS and LAPACK: here, where there are compilers,
# and against libraries that have the names and nothing behind them. Usage: deb_programs.sh FOLDER
set -euo pipefail
here=$(dirname "$0") folder=$1
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
called() { nm -u "$1" | sed -n 's/^ *U \([a-z0-9]*_\)$/void \1(void) {}/p'; } # Fortran's names, defined
make_program() { # NAME COMPILER SOURCE
    "$2" -O1 -c "$here/$3" -o "$parts/$1.o"
    called "$parts/$1.o" | cc -shared -fPIC -x c - -Wl,-soname,libblas.so.3 -o "$parts/libblas.so.3"
    cc -shared -fPIC -x c /dev/null -Wl,-soname,liblapack.so.3 -o "$parts/liblapack.so.3"
    "$2" "$parts/$1.o" -Wl,--no-as-needed "$parts/liblapack.so.3" "$parts/libblas.so.3" -Wl,--as-needed -lm -o "$folder/$1"
}
make_program consumer_c cc consumer.c
if command -v gfortran >/dev/null; then make_program consumer_f gfortran consumer.f90
else echo "note: there is no gfortran here; the program in Fortran is left out" >&2; fi
