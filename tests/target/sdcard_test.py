#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""firmware/sdcard/make.sh with selftest: the card's one partition holds what it must, with the boot
firmware's package and without, and its kernel8.img boots.

    sdcard_test.py SELFTEST.img SELFTEST-OF-THE-MINI-UART.img
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

SDCARD = pathlib.Path(__file__).resolve().parents[2] / "firmware" / "sdcard"
IMAGE = pathlib.Path(sys.argv.pop(1))
MINI_UART = pathlib.Path(sys.argv.pop(1))
BOOT_FIRMWARE = ["bcm2711-rpi-4-b.dtb", "fixup4.dat", "start4.elf"]


class Card(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.out = self.root / "card"
        self.apt("exit 100")

    def apt(self, script):
        """What make.sh finds as apt-get: no test asks the network."""
        stand_in = self.root / "bin" / "apt-get"
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text("#!/bin/sh\n" + script)
        stand_in.chmod(0o755)

    def make(self, image=IMAGE, *console):
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return subprocess.run([SDCARD / "make.sh", image, self.out, *console], check=True, text=True,
                              stderr=subprocess.PIPE,
                              env={**os.environ, "PATH": path, "XDG_CACHE_HOME": str(self.root)}).stderr

    def card(self):
        return f"{self.out}.img@@1M"

    def names(self):
        listed = subprocess.run(["mdir", "-b", "-i", self.card(), "::"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        return sorted(line.strip().removeprefix("::/") for line in listed.splitlines())

    def content(self, name):
        return subprocess.run(["mcopy", "-n", "-i", self.card(), "::" + name, "-"], check=True,
                              stdout=subprocess.PIPE).stdout

    def test_one_fat32_partition_that_fills_the_card(self):
        self.make()
        card = pathlib.Path(f"{self.out}.img").read_bytes()
        kind, = struct.unpack_from("<B", card, 446 + 4)
        first, sectors = struct.unpack_from("<II", card, 446 + 8)
        self.assertEqual(card[510:512], b"\x55\xaa")
        self.assertEqual((kind, first), (0x0C, 2048))
        self.assertEqual((first + sectors) * 512, len(card))
        self.assertEqual(card[462:510], bytes(48))
        partition = card[first * 512:]
        self.assertEqual(partition[82:90], b"FAT32   ")
        hidden, total = struct.unpack_from("<II", partition, 28)
        self.assertEqual((hidden, total), (first, sectors))

    def test_without_the_package_it_says_what_to_copy(self):
        said = self.make()
        self.assertEqual(len(said.splitlines()), 1)
        for name in BOOT_FIRMWARE:
            self.assertIn(name, said)
        self.assertEqual(self.names(), ["config.txt", "kernel8.img"])

    def test_what_was_copied_by_hand_is_on_the_next_card(self):
        self.make()
        for name in BOOT_FIRMWARE:
            (self.out / name).write_text("by hand: " + name)
        self.assertEqual(self.make(), "")
        self.assertEqual(self.names(), sorted(["config.txt", "kernel8.img", *BOOT_FIRMWARE]))
        self.assertEqual(self.content("start4.elf"), b"by hand: start4.elf")

    def test_the_package_gives_what_it_has(self):
        tree = self.root / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN" / "control").write_text(
            "Package: raspi-firmware\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n")
        files = tree / "usr" / "lib" / "raspi-firmware"
        files.mkdir(parents=True)
        (files / "start4.elf").write_text("packaged")
        (files / "fixup4.dat").write_text("packaged, too")
        self.apt(f"[ $1 = download ] && dpkg-deb -b {tree} raspi-firmware_1_all.deb")
        said = self.make()
        self.assertIn("bcm2711-rpi-4-b.dtb", said)
        self.assertNotIn("start4.elf", said)
        self.assertEqual(self.content("start4.elf"), b"packaged")
        self.assertEqual(self.content("fixup4.dat"), b"packaged, too")

    def boots(self, image, console, *first_serial):
        self.make(image, console)
        self.assertEqual(self.content("config.txt"),
                         (SDCARD / "config.txt").read_bytes() + (SDCARD / f"{console}.txt").read_bytes())
        kernel = self.root / "kernel8.img"
        kernel.write_bytes(self.content("kernel8.img"))
        self.assertEqual(kernel.read_bytes(), image.read_bytes())
        done = subprocess.run(
            ["qemu-system-aarch64", "-M", "raspi4b", "-display", "none", "-monitor", "none",
             *first_serial, "-serial", "stdio", "-semihosting-config",
             "enable=on,target=native,arg=selftest,arg=boot", "-kernel", kernel],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=100, check=True)
        self.assertIn("entered at EL2", done.stdout)

    def test_its_kernel_boots(self):
        self.boots(IMAGE, "pl011")
        self.assertNotIn(b"enable_uart", self.content("config.txt"))

    def test_it_boots_with_the_mini_uart(self):
        self.boots(MINI_UART, "mini-uart", "-serial", "null")
        self.assertIn(b"\nenable_uart=1\n", self.content("config.txt"))


if __name__ == "__main__":
    unittest.main()
