#!/bin/bash
# Makes .venv with the pinned packages of requirements/ and this checkout's package in it. A stamp, named by the hash of what went in,
# makes the next call quick.
set -euo pipefail
cd "$(dirname "$0")/.."

usable() { # at least 3.11, able to make an environment, with the headers the extension needs
    "$1" -c 'import os, sys, sysconfig, ensurepip, venv
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))))' 2>/dev/null
}
python=""
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
    if usable "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    echo "no Python 3.11 or later with venv and headers (on Debian: apt-get install python3 python3-dev python3-venv); PYTHON=... names one" >&2
    exit 1
fi

stamp=.venv/.stamp-$( (cat requirements/*.txt scripts/install_checkout.py pyproject.toml; "$python" --version; pwd) | sha256sum | cut -c1-16)
if [ -e "$stamp" ]; then exit 0; fi
rm -f .venv/.stamp-*
if ! [ -x .venv/bin/python ] || ! .venv/bin/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    rm -rf .venv
    "$python" -m venv .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/venv.txt
.venv/bin/python scripts/install_checkout.py
touch "$stamp"
