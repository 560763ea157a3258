#!/bin/bash
# Makes a bare Debian in FOLDER, where there is none yet, and runs a script of tests/packaging inside it with the files of dist/
# in /dist: the package or the wheel meets a system that has neither compilers nor anything of ours. Needs root and debootstrap.
# Usage: bare_system.sh FOLDER SCRIPT [PACKAGE...], with the packages that the script needs.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") script=$2
shift 2
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "bare_system.sh: needs root and debootstrap (apt-get install debootstrap)" >&2
    exit 1
fi
release=$(. /etc/os-release; echo "$VERSION_CODENAME")
[ -e "$folder/etc/debian_version" ] || debootstrap --variant=minbase "$release" "$folder" >&2

mounted=()
unmount() { for place in "${mounted[@]}"; do umount -l "$place"; done; }
trap unmount EXIT
mount -t proc proc "$folder/proc" && mounted+=("$folder/proc")
for place in sys dev; do
    mount --rbind /$place "$folder/$place" && mounted+=("$folder/$place")
    mount --make-rslave "$folder/$place"
done

# It reaches its packages as this system does.
cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
find /etc/apt/apt.conf.d -name '*registry*' -exec cp {} "$folder/etc/apt/apt.conf.d/" \;
rm -rf "$folder/dist" "$folder/tests"
cp -r dist "$folder/dist"
cp -r tests/packaging "$folder/tests"
programs=tests/packaging/${script%.sh}_programs.sh
if [ -e "$programs" ]; then bash "$programs" "$folder/tests"; fi
inside() {
    chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        OPENBLAS_NUM_THREADS=1 "$@"
}
if ! inside dpkg -s "$@" >/dev/null 2>&1; then
    inside apt-get -q update >&2
    inside apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" >&2
fi
inside bash "/tests/$script"
