#!/bin/bash
# The same call, the same bits (docs/bits.md): every routine of BLAS 3, factorizations and solvers at sizes that include the
# thresholds at which a call is cut up
# otherwise, 50 calls each, with workers awake, asleep, preempted and relieved, and from several threads. Takes hours; the words
# behind BUILD go to
# the program and replace what is here. Usage: same_bits.sh BUILD [only=gemm] [precisions=d] [calls=50] [sizes=1,2,3]
set -euo pipefail
program=$(find "$1" -name same_bits -type f -perm -u+x -print -quit)
[[ -n $program ]] || { echo "same_bits.sh: there is no program same_bits in $1: build the target same_bits first" >&2; exit 2; }
small=sizes=1,2,3,5,8,13,16,24,31,32,33,48,64,65,80,100,113,128,129,150,162,192
medium=sizes=226,230,256,257,300,320,360,384,385,400,440,490,512
large=sizes=540,600,640,641,720,800,900,1024,1100
status=0
for relief in never held-up always; do
    for sizes in "$small" "$medium" "$large"; do
        shapes=shapes=all
        [[ $sizes == "$large" ]] && shapes=shapes=square
        TRENCADIS_RELIEF=$relief "$program" calls=50 "$sizes" "$shapes" "${@:2}" || status=1
    done
done
exit $status
