#!/bin/bash
# Builds and runs the test programs whose ctest name matches a pattern as a whole, under a sanitizer; or builds them only.
# Random tests do fewer cases there by themselves, since a sanitizer slows them by 5 to 15 times.
# Usage: sanitized_tests.sh asan|tsan JOBS PATTERN [compile]; !PATTERN: those whose name does not match
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 jobs=$2 pattern="^(${3#!})\$"
choose=(grep -E)
if [[ $3 == '!'* ]]; then choose+=(-v); fi

[ -e "build-$preset/build.ninja" ] || cmake --preset "$preset"
ninja -C "build-$preset" build.ninja >/dev/null # a test program that is new since the last time must be in the list
programs() { ninja -C "build-$preset" -t targets all | sed -n 's/^test_\([a-z0-9_]*\): phony$/\1/p'; }
mapfile -t names < <(programs | "${choose[@]}" "$pattern")
if [ ${#names[@]} -eq 0 ]; then echo "no test program matches $pattern" >&2; exit 1; fi
cmake --build "build-$preset" -j "$jobs" --target "${names[@]/#/test_}"
if [ "$preset" = asan ]; then # without optimisation the body of every function is in its object
    ninja -C "build-$preset" -t inputs "${names[@]/#/test_}" | scripts/one_definition.py "build-$preset"
fi
if [ "${4:-}" = compile ]; then exit 0; fi

export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp print_suppressions=0 ${LSAN_OPTIONS:-}"
export HWLOC_PLUGINS_PATH=/nonexistent # OpenCL and others leak by themselves, in libraries closed before the report
# The leak checker of GCC 12 misreads the thread-local data of libraries opened at run time, and crashes at exit.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:intercept_tls_get_addr=0} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=0} suppressions=$PWD/scripts/tsan.supp"
# ThreadSanitizer of GCC 12 cannot place its shadow where the kernel randomises addresses by more than 28 bits.
without_randomisation=()
if [ "$preset" = tsan ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ]; then
    if setarch "$(uname -m)" -R true 2>/dev/null; then
        without_randomisation=(setarch "$(uname -m)" -R)
    else
        echo "tsan: SKIPPED, because addresses are randomised by more than 28 bits here and setarch -R is not permitted" >&2
        exit 0
    fi
fi
# What computes most says least of threads and memory that its neighbours do not say too: a third of the tests of each of these
# programs runs, another third with another commit. SANITIZED_PARTS=1 runs all of them.
parts=${SANITIZED_PARTS:-3} long=()
for name in blas kernels algorithms routines; do
    if [[ " ${names[*]} " == *" $name "* ]]; then long+=("$name"); fi
done
# By another digit than scripts/turn.sh takes, which has nine words.
part=$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0) / 9 % parts))
among() { echo "^($(IFS='|'; echo "$*"))$"; }
short=()
for name in "${names[@]}"; do [[ " ${long[*]} " == *" $name "* ]] || short+=("$name"); done
status=0
if [ ${#long[@]} -gt 0 ]; then
    echo "$preset: part $((part + 1)) of $parts of ${long[*]} (SANITIZED_PARTS=1 runs all)"
    GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part \
        "${without_randomisation[@]}" ctest --test-dir "build-$preset" --output-on-failure -j "$jobs" \
        -R "$(among "${long[@]}")" || status=$?
fi
if [ ${#short[@]} -gt 0 ]; then
    "${without_randomisation[@]}" scripts/unit_tests.sh "build-$preset" "$jobs" -R "$(among "${short[@]}")" || status=$?
fi
exit $status
