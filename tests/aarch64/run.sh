#!/bin/sh
# run.sh SOURCE BUILD: builds and runs the tests of the micro-kernels for 64-bit Arm. 77: skipped, with the reason.
set -eu
source=$1 build=$2
skip() { echo "skipped: $1"; exit 77; }
command -v aarch64-linux-gnu-g++ > /dev/null || skip "no cross compiler (on Debian and Ubuntu: apt install g++-aarch64-linux-gnu)"
command -v qemu-aarch64-static > /dev/null || skip "no emulator (on Debian and Ubuntu: apt install qemu-user-static)"
[ -e /usr/src/googletest/googletest/src/gtest-all.cc ] ||
    skip "no GoogleTest sources (on Debian and Ubuntu: apt install libgtest-dev)"
mkdir -p "$build"
make -s -j2 -C "$build" -f "$source/tests/aarch64/Makefile" SOURCE="$source" test_blas
qemu-aarch64-static "$build/test_blas" --gtest_brief=1
