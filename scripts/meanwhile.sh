#!/bin/bash
# Runs a command and, while it waits or leaves cores idle, another one in the background that nobody is waiting for: it takes what
# processor time is left, is shown when it has ended, and ended when the first one fails. Exit status: of the one that failed.
# Usage: meanwhile.sh 'BACKGROUND' COMMAND...
set -euo pipefail
idle=(nice -n 19)
if chrt -i 0 true 2>/dev/null; then idle+=(chrt -i 0); fi # who has work preempts it at once, and does not count it as a neighbour

log=$(mktemp)
set -m # a group of its own, which can be ended whole
"${idle[@]}" bash -c "$1" >"$log" 2>&1 </dev/null &
background=$!
set +m
trap '[ -z "$background" ] || kill -- "-$background" 2>/dev/null || true; rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"${@:2}"
status=0
wait "$background" || status=$?
background=""
echo "meanwhile: $1"
if [ $status -ne 0 ]; then cat "$log"; else tail -n 3 "$log"; fi
exit $status
