#!/bin/bash
# Installs the Debian packages of the given groups (scripts/packages.debian) that are missing. As root or with sudo; without,
# says what to install and fails. The groups "peers" and "clients" are wanted, not needed: what cannot be had is named and the
# rest goes on. Quick when nothing is missing. Usage: system_packages.sh build|peers|clients|lint...
set -euo pipefail
cd "$(dirname "$0")"

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
case "$*" in peers | clients) wanted=yes ;; *) wanted=no ;; esac
listed() { awk -v group="$1" '$1 == group { print $2 }' packages.debian; }

missing=()
for group in "$@"; do
    for package in $(listed "$group"); do
        if ! command -v dpkg-query >/dev/null; then missing+=("$package"); continue; fi
        installed "$package" || missing+=("$package")
    done
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
    echo "note: no apt here; install what your system calls: ${missing[*]}. Going on; CMake names what it does not find." >&2
    exit 0
fi
become=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        echo "These packages are missing, and this is neither root nor a user with sudo. As root, run:" >&2
        echo "    apt-get install -y ${missing[*]}" >&2
        if [ $wanted = yes ]; then exit 0; fi
        exit 1
    fi
    become=(sudo)
fi
# Another installation may be under way, as the system's own upgrades are behind a boot: waits for its end.
apt() { "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 "$@"; }

echo "installing: ${missing[*]}"
apt update || echo "note: the package lists could not all be refreshed" >&2
if [ $wanted = no ]; then
    apt install -y --no-install-recommends "${missing[@]}"
    exit 0
fi
for package in "${missing[@]}"; do
    apt install -y --no-install-recommends "$package" || echo "note: $package cannot be installed; what needs it is left out" >&2
done
