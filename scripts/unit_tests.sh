#!/bin/bash
# Runs the tests that ctest knows, but those of the long rest (scripts/soak.py): the calm ones (cmake/Floor.cmake) beside one
# another, then each of the others alone, since they have threads and say when something must have happened.
# Usage: unit_tests.sh BUILD JOBS [OPTION OF CTEST...]
set -euo pipefail
build=$1 jobs=$2
status=0
ctest --test-dir "$build" --output-on-failure "${@:3}" -L '^calm$' -LE '^soak$' -j "$jobs" || status=$?
ctest --test-dir "$build" --output-on-failure "${@:3}" -LE '^(calm|soak)$' || status=$?
exit $status
