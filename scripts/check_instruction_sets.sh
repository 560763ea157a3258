#!/bin/sh
# check_instruction_sets.sh ARCHIVE MEMBER...: fails if an object made for one instruction set offers anything weak. The linker
# may take its copy of an inline function for all, and then a processor without that instruction set stops with SIGILL.
set -eu
archive=$1
shift
leaks=$(nm -C "$archive" 2> /dev/null | awk -v members="$*" '
    BEGIN { split(members, list, " "); for (i in list) wanted[list[i] ":"] = 1 }
    /^[^ ]*:$/ { inside = $1 in wanted; found += inside; next }
    inside && $2 ~ /^[WVu]$/ { print "    " $0 }
    END { if (!found) print "    none of " members " is in the archive" }')
[ -z "$leaks" ] && exit 0
echo "instruction sets leak into the rest of the program:"
echo "$leaks"
exit 1
