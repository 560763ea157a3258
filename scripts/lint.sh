#!/bin/bash
# What can be said about the sources without running them: layers, lengths of lines, files and functions (scripts/sizes.toml),
# layout (clang-format), Python (ruff), and a short list of mistakes (clang-tidy, on the sources that differ from the last commit
# or, with --all, on every one).
# Usage: lint.sh [--fix] [--all]. --fix lays out files anew.
set -euo pipefail
cd "$(dirname "$0")/.."
fix=no all=no
for option in "$@"; do
    case $option in
        --fix) fix=yes ;;
        --all) all=yes ;;
        *) echo "unknown option $option; known: --fix --all" >&2; exit 2 ;;
    esac
done

existing() { while read -r f; do [ -e "$f" ] && echo "$f"; done; }
mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | existing)
status=0
if [ $fix = yes ]; then
    clang-format -i "${sources[@]}"
    .venv/bin/ruff check --fix --quiet . || status=1
else
    clang-format --dry-run --Werror --ferror-limit=1 "${sources[@]}" ||
        { echo "lint: 'make format' lays these files out" >&2; status=1; }
    .venv/bin/ruff check . || status=1
fi
python3 scripts/check_layers.py || status=1
python3 scripts/check_sizes.py || status=1

cmake --preset dev >/dev/null # which names every source; where sources are compiled together only their groups are named
changed() {
    if [ $all = yes ]; then
        printf '%s\n' "${sources[@]}"
    else
        git diff --name-only HEAD -- '*src/*.cpp'
        git ls-files --others --exclude-standard '*src/*.cpp'
    fi
}
mapfile -t tidy < <(changed | grep -E '^(glt/)?src/.*\.cpp$' | grep -v '_test\.cpp$' | existing || true)
if [ ${#tidy[@]} -gt 0 ]; then
    # Through a shell: xargs would end at a crash, and leave the others out.
    printf '%s\0' "${tidy[@]}" | xargs -0 -n 1 -P "$(nproc)" sh -c 'clang-tidy-19 --quiet -p build-dev "$0" || exit 1' || status=1
fi
exit $status
