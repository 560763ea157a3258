#!/bin/bash
# Makes .venv with the pinned packages of requirements/ and this checkout's package in it; or, with the word docs, build/docs-venv
# with what builds the site. A stamp, named by the hash of what went in, makes the next call quick. Usage: make_venv.sh [docs]
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
    "") venv=.venv packages=requirements/venv.txt ;;
    docs) venv=build/docs-venv packages=requirements/docs.txt ;;
    *) echo "unknown word $1; known: docs" >&2; exit 2 ;;
esac

usable() { # at least 3.11, able to make an environment, with the headers the extension needs
    "$1" -c 'import os, sys, sysconfig, ensurepip, venv
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(headers)))' 2>/dev/null
}
python=""
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
    if usable "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    echo "no Python 3.11 or later with venv and headers (on Debian: apt-get install python3 python3-dev python3-venv);" \
        "PYTHON=... names one" >&2
    exit 1
fi

ingredients=("$packages" requirements/constraints.txt)
if [ $venv = .venv ]; then ingredients+=(scripts/install_checkout.py pyproject.toml); fi
stamp=$venv/.stamp-$( (cat "${ingredients[@]}"; "$python" --version; pwd) | sha256sum | cut -c1-16)
if [ -e "$stamp" ]; then exit 0; fi
rm -f $venv/.stamp-*
if ! [ -x $venv/bin/python ] || ! $venv/bin/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    rm -rf $venv
    "$python" -m venv $venv
fi
$venv/bin/python -m pip install --quiet --disable-pip-version-check -r $packages
if [ $venv = .venv ]; then .venv/bin/python scripts/install_checkout.py; fi
touch "$stamp"
