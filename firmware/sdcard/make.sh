#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh KERNEL OUT [CONSOLE]: OUT/ with the files of a Raspberry Pi 4's boot partition, KERNEL as kernel8.img,
# config.txt with CONSOLE.txt behind (pl011 or mini-uart, as KERNEL was built: NOPSCOPE_RPI_CONSOLE), and OUT.img, a card with that one partition. Needs no root. The boot firmware's files come from
# Debian's package raspi-firmware where apt has it, or were put into OUT/ by hand: what is there stays.
set -euo pipefail
kernel=$1
out=$2
console=${3:-pl011}
here=$(dirname "$(readlink -f "$0")")
package=${XDG_CACHE_HOME:-$HOME/.cache}/nopscope/raspi-firmware
boot_firmware=(start4.elf fixup4.dat bcm2711-rpi-4-b.dtb)

partition_mib=64
first_sector=2048  # 1 MiB

say() { printf '%s\n' "$*" >&2; }

fetch_package() {
    local temporary
    temporary=$(mktemp -d)
    if (cd "$temporary" && apt-get download raspi-firmware && dpkg-deb -x raspi-firmware_*.deb x) \
            >/dev/null 2>&1; then
        mkdir -p "$(dirname "$package")"
        rm -rf "$package"
        mv "$temporary/x" "$package"
    fi
    rm -rf "$temporary"
}

# put_boot_firmware: prints the names of those that are nowhere.
put_boot_firmware() {
    local name
    for name in "${boot_firmware[@]}"; do
        [ ! -f "$out/$name" ] || continue
        cp "$package/usr/lib/raspi-firmware/$name" "$out/" 2>/dev/null || echo "$name"
    done
}

# The four bytes of a number, low first, for printf.
le32() {
    printf '\\x%02x\\x%02x\\x%02x\\x%02x' \
        $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24))
}

make_card() {
    local sectors=$((partition_mib * 2048))
    rm -f "$out.img"
    truncate -s "$(((first_sector + sectors) * 512))" "$out.img"
    # One entry, FAT32 by sector numbers (0x0c), no addresses by cylinder.
    printf '\x00\xfe\xff\xff\x0c\xfe\xff\xff%b%b' "$(le32 $first_sector)" "$(le32 $sectors)" |
        dd of="$out.img" bs=1 seek=446 conv=notrunc status=none
    printf '\x55\xaa' | dd of="$out.img" bs=1 seek=510 conv=notrunc status=none
    mformat -i "$out.img@@1M" -F -c 1 -T "$sectors" -H "$first_sector" -h 255 -s 63 -v NOPSCOPE ::
    mcopy -i "$out.img@@1M" -s "$out"/* ::
}

mkdir -p "$out"
cp "$kernel" "$out/kernel8.img"
cat "$here/config.txt" "$here/$console.txt" >"$out/config.txt"
missing=$(put_boot_firmware)
if [ -n "$missing" ] && [ ! -d "$package" ]; then
    fetch_package
    missing=$(put_boot_firmware)
fi
make_card
[ -z "$missing" ] || say "to boot it also needs ${missing//$'\n'/, } (github.com/raspberrypi/firmware, boot/):" \
    "copy them to $out/ and run this again"
