#!/bin/bash
# Prints which of the words has its turn at the commit that is checked out: it follows from the commit's hash, so that the same
# commit gets the same one everywhere, and each word its share of commits. Without git the first.
# Usage: turn.sh WORD...
set -euo pipefail
commit=$(git rev-parse HEAD 2>/dev/null || echo 0000000)
words=("$@")
echo "${words[$((16#${commit:0:7} % $#))]}"
