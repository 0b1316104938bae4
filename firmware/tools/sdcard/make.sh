#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh BOARD KERNEL OUT [CONSOLE]: makes a card that boots KERNEL on BOARD. Needs no root. BOARD
# is rpi4 (also a 400 or a Compute Module 4), rpi3 (a 3 B or 3 B+) or rpi5.
#
#   OUT/     the files of the boot partition: KERNEL (named by config.txt), config.txt, boot files
#   OUT.img  a card with that one partition; only if no file is missing
#
# OUT's config.txt joins config.txt, BOARD.txt and CONSOLE.txt of this directory. CONSOLE is pl011
# or mini-uart (KERNEL's NOPSCOPE_RPI_CONSOLE), or debug-uart (rpi5). Boot files already in OUT/
# stay. The others come from Debian's packages if apt has them, and are cached: raspi-firmware, and
# for device trees linux-image-arm64's kernel.
#
# Exit status: 0; 1: a boot file is missing, or the card could not be written; 2: usage.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nopscope
package=$cache/raspi-firmware
device_trees=$cache/raspi-device-trees

partition_mib=64
first_sector=2048  # 1 MiB

say() { printf '%s\n' "$*" >&2; }

usage() {
    say "usage: make.sh rpi4|rpi3 KERNEL OUT [pl011|mini-uart], or make.sh rpi5 KERNEL OUT"
    exit 2
}
[ $# -ge 3 ] || usage
board=$1
kernel=$2
out=$3
consoles='pl011 mini-uart'

# The board does not start without the `needed` files (sources: docs/rpi4.md). A variant of the
# board needs its device tree from `also`.
case $board in
rpi5)  # docs/rpi5.md: the firmware is in its EEPROM
    needed=()
    also=()
    also_boards=
    consoles=debug-uart ;;
rpi4)
    needed=(start4.elf fixup4.dat bcm2711-rpi-4-b.dtb)
    also=(bcm2711-rpi-400.dtb bcm2711-rpi-cm4.dtb)
    also_boards="a Raspberry Pi 400 or a Compute Module 4" ;;
rpi3)
    needed=(bootcode.bin start.elf fixup.dat bcm2710-rpi-3-b.dtb bcm2710-rpi-3-b-plus.dtb)
    also=()
    also_boards= ;;
*) usage ;;
esac
console=${4:-${consoles%% *}}
[[ " $consoles " == *" $console "* ]] || usage

# Linux' name of the device tree that the boot firmware calls $1.
linux_name() {
    case $1 in
    bcm2711-rpi-cm4.dtb) echo bcm2711-rpi-cm4-io.dtb ;;
    bcm2710-*) echo "bcm2837-${1#bcm2710-}" ;;
    *) echo "$1" ;;
    esac
}

# All temporary files are in $work, which the trap removes.
work=$(mktemp -d)
trap 'rm -rf "$work" "$out.img.part"' EXIT

fetch_package() {
    mkdir -p "$work/firmware" "$cache"
    (cd "$work/firmware" && apt-get download raspi-firmware && dpkg-deb -x raspi-firmware_*.deb x) \
        >/dev/null 2>&1 || return 0
    rm -rf "$package"
    mv "$work/firmware/x" "$package"
}

# Uses its own lists of arm64 packages in $work: this machine may have another architecture.
fetch_device_trees() {
    local apt="$work/apt" image options
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/trees" "$cache"
    options=(-o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Architecture=arm64
             -o APT::Architectures=arm64)
    apt-get "${options[@]}" update >/dev/null 2>&1 || return 0
    image=$(apt-cache "${options[@]}" show --no-all-versions linux-image-arm64 2>/dev/null |
            sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p') || return 0
    [ -n "$image" ] || return 0
    say "fetching Debian's arm64 kernel for its device trees (some 70 MB, once)"
    (cd "$apt" && apt-get "${options[@]}" download "$image" && dpkg-deb --fsys-tarfile "$image"_*.deb |
        tar -x -C trees --strip-components=5 --wildcards './usr/lib/linux-image-*/broadcom/bcm*-rpi-*.dtb') \
        >/dev/null 2>&1 || return 0
    rm -rf "$device_trees"
    mv "$apt/trees" "$device_trees"
}

# put NAME...: copies from the caches to OUT/. Prints the names that it did not find.
put() {
    local name
    for name in "$@"; do
        [ ! -f "$out/$name" ] || continue
        cp "$package/usr/lib/raspi-firmware/$name" "$out/" 2>/dev/null ||
            cp "$device_trees/$(linux_name "$name")" "$out/$name" 2>/dev/null || echo "$name"
    done
}

# Prints a number as four bytes for printf, low byte first.
le32() {
    printf '\\x%02x\\x%02x\\x%02x\\x%02x' \
        $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24))
}

make_card() {
    local sectors=$((partition_mib * 2048)) card=$out.img.part
    rm -f "$card"
    truncate -s "$(((first_sector + sectors) * 512))" "$card"
    # One entry: FAT32 with LBA (0x0c), no CHS addresses.
    printf '\x00\xfe\xff\xff\x0c\xfe\xff\xff%b%b' "$(le32 $first_sector)" "$(le32 $sectors)" |
        dd of="$card" bs=1 seek=446 conv=notrunc status=none
    printf '\x55\xaa' | dd of="$card" bs=1 seek=510 conv=notrunc status=none
    mformat -i "$card@@1M" -F -c 1 -T "$sectors" -H "$first_sector" -h 255 -s 63 -v NOPSCOPE ::
    mcopy -i "$card@@1M" -s "$out"/* ::
    mv "$card" "$out.img"
}

rm -f "$out.img"
mkdir -p "$out"
cat "$here/config.txt" "$here/$board.txt" "$here/$console.txt" >"$out/config.txt"
cp "$kernel" "$out/$(sed -n 's/^kernel=//p' "$out/config.txt")"
missing=$(put "${needed[@]}")
if [ -n "$missing" ] && [ ! -d "$package" ]; then
    fetch_package
    missing=$(put "${needed[@]}")
fi
# Only device trees are missing.
if [ -n "$missing" ] && ! grep -qv '\.dtb$' <<<"$missing" && [ ! -d "$device_trees" ]; then
    fetch_device_trees
    missing=$(put "${needed[@]}")
fi
from="copy from github.com/raspberrypi/firmware, directory boot/, to $out/ and run this again"
if [ -n "$missing" ]; then
    say "no card was made, because the board does not start without ${missing//$'\n'/, }: $from"
    exit 1
fi
absent=$(put "${also[@]}")
[ -z "$absent" ] || say "for $also_boards the card also needs ${absent//$'\n'/, }: $from"
make_card
