#!/bin/sh
# Runs the tests of the memory-node level in a virtual machine with 4 emulated NUMA nodes, two cores each. Opt-in: not part of
# `make test`, because it needs packages that nothing else does. On Debian 12:
#
#   apt-get install qemu-system-x86 busybox-static cpio
#   apt-get download linux-image-cloud-amd64 ...   (done here, into the work folder, unless KERNEL names a kernel image)
#
# usage: scripts/qemu_nodes.sh [gtest arguments...]      from the repository, after `ninja -C build test_nodes`
#   KERNEL=/boot/vmlinuz-...   a kernel with CONFIG_NUMA (Debian's have it)      WORK=folder   default: build/qemu_nodes
#   KVM=1   use /dev/kvm (nested virtualisation may hang); default: full emulation, some 10 s for --gtest_filter="RealNodes*"
# Exit code: the tests'; 2 when something is missing. Emulated nodes show where pages are, not how fast they are.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$root/build/qemu_nodes}
program=$(find "$root/build" -name test_nodes -type f -not -path "*/guest/*" | head -n 1)

missing() { echo "qemu_nodes: $1" >&2; exit 2; }
for tool in qemu-system-x86_64 busybox cpio; do
    command -v $tool >/dev/null || missing "$tool is not here; apt-get install qemu-system-x86 busybox-static cpio"
done
[ -n "$program" ] || missing "build/.../test_nodes is not built; ninja -C build test_nodes"
mkdir -p "$work"

if [ -z "${KERNEL:-}" ]; then
    KERNEL=$(find "$work" -name 'vmlinuz-*' | head -n 1)
    if [ -z "$KERNEL" ]; then
        package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
        [ -n "$package" ] || missing "apt knows no linux-image-cloud-amd64; set KERNEL to a kernel image"
        (cd "$work" && apt-get download "$package" && dpkg-deb -x "$package"_*.deb kernel) >/dev/null
        KERNEL=$(find "$work" -name 'vmlinuz-*' | head -n 1)
    fi
fi
[ -r "$KERNEL" ] || missing "cannot read the kernel image '$KERNEL'"

# The guest: busybox, the program and what it links to, in memory.
guest=$work/guest
rm -rf "$guest"
mkdir -p "$guest/bin" "$guest/proc" "$guest/sys" "$guest/dev" "$guest/tmp"
cp "$(command -v busybox)" "$guest/bin/busybox"
cp "$program" "$guest/bin/test_nodes"
ldd "$program" | awk '/=> \// {print $3} $1 ~ /^\// {print $1}' | while read -r library; do
    mkdir -p "$guest$(dirname "$library")"
    cp -L "$library" "$guest$library"
done
cat > "$guest/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
echo "memory nodes: \$(/bin/busybox ls -d /sys/devices/system/node/node* | /bin/busybox wc -l)"
cd /tmp && HOME=/tmp /bin/test_nodes --gtest_brief=1 $*
echo "qemu_nodes: exit \$?"
/bin/busybox poweroff -f
INIT
ln -s busybox "$guest/bin/sh"
sed -i 's|^#!/bin/busybox sh|#!/bin/sh|' "$guest/init"
chmod +x "$guest/init"
(cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/guest.gz"

acceleration="-accel tcg -cpu max"
if [ -n "${KVM:-}" ]; then acceleration="-accel kvm -cpu host,-arch-capabilities"; fi
nodes=""
for node in 0 1 2 3; do
    nodes="$nodes -object memory-backend-ram,id=m$node,size=512M"
    nodes="$nodes -numa node,nodeid=$node,memdev=m$node,cpus=$((2 * node))-$((2 * node + 1))"
done
# shellcheck disable=SC2086 # options are words
timeout "${LIMIT:-600}" qemu-system-x86_64 $acceleration -smp 8 -m 2G $nodes -kernel "$KERNEL" -initrd "$work/guest.gz" \
    -append "console=ttyS0 panic=-1" -nographic -no-reboot -nodefaults -serial stdio > "$work/log" 2>&1 || true
tr -d '\r' < "$work/log" | grep -v '^\[ *[0-9.]*\]' || true
code=$(tr -d '\r' < "$work/log" | sed -n 's/^qemu_nodes: exit \([0-9]*\)$/\1/p')
exit "${code:-1}"
