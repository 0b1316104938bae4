#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""firmware/tools/sdcard/make.sh with selftest: which files a card needs and where they come from, what its one partition
holds, and that its kernel8.img boots (not a Raspberry Pi 5's card: QEMU has no model of it). No test asks
the network.

    sdcard_test.py SELFTEST.img SELFTEST-OF-THE-MINI-UART.img SELFTEST-OF-THE-PI-3.img
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from qemu import MACHINES  # noqa: E402

SDCARD = pathlib.Path(__file__).resolve().parents[2] / "firmware/tools/sdcard"
IMAGE = pathlib.Path(sys.argv.pop(1))
MINI_UART = pathlib.Path(sys.argv.pop(1))
PI_3 = pathlib.Path(sys.argv.pop(1))
OURS = ["config.txt", "kernel8.img"]
# What the board does not start without.
NEEDED = {
    "rpi4": ["bcm2711-rpi-4-b.dtb", "fixup4.dat", "start4.elf"],
    "rpi3": ["bcm2710-rpi-3-b-plus.dtb", "bcm2710-rpi-3-b.dtb", "bootcode.bin", "fixup.dat", "start.elf"],
}
# What boards of the same family need beside it.
ALSO = ["bcm2711-rpi-400.dtb", "bcm2711-rpi-cm4.dtb"]


class Card(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.out = self.root / "card"
        self.stand_in("apt-get", "exit 100")
        self.stand_in("apt-cache", "exit 100")

    def stand_in(self, command, script):
        """What make.sh finds as `command`."""
        path = self.root / "bin" / command
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def run_make(self, *arguments):
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return subprocess.run([SDCARD / "make.sh", *arguments], check=False, text=True, stderr=subprocess.PIPE,
                              env={**os.environ, "PATH": path, "XDG_CACHE_HOME": str(self.root / "cache")})

    def make(self, board="rpi4", image=IMAGE, *console, status=0, says=()):
        """Says one line, which has each of `says`; without them nothing. Makes no card if `status` is not 0."""
        done = self.run_make(board, image, self.out, *console)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (status, 1 if says else 0), done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        if status:
            self.assertEqual(list(self.root.glob("card.*")), [])
        return done.stderr

    def put(self, *names):
        self.out.mkdir(exist_ok=True)
        for name in names:
            (self.out / name).write_text("by hand: " + name)


    def card(self):
        return f"{self.out}.img@@1M"

    def names(self):
        listed = subprocess.run(["mdir", "-b", "-i", self.card(), "::"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        return sorted(line.strip().removeprefix("::/") for line in listed.splitlines())

    def content(self, name):
        return subprocess.run(["mcopy", "-n", "-i", self.card(), "::" + name, "-"], check=True,
                              stdout=subprocess.PIPE).stdout

    def test_one_fat32_partition_that_fills_the_card_though_a_device_tree_is_missing(self):
        self.put(*NEEDED["rpi4"])
        self.make(says=["a Raspberry Pi 400 or a Compute Module 4", *ALSO])  # whose device tree is not on the card
        self.assertEqual(self.names(), sorted([*OURS, *NEEDED["rpi4"]]))
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

    def test_a_missing_boot_file_is_an_error_and_there_is_no_card(self):
        for board, names in NEEDED.items():
            for name in names:
                with self.subTest(name=name):
                    self.put(*names, *ALSO)
                    self.make(board)
                    (self.out / name).unlink()
                    self.make(board, status=1, says=[f"does not start without {name}:"])

    def test_it_names_all_files_that_are_missing(self):
        self.make(status=1, says=NEEDED["rpi4"])
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), OURS)

    def test_a_card_that_cannot_be_written_is_not_left(self):
        self.put(*NEEDED["rpi4"], *ALSO)
        self.stand_in("mcopy", "echo no room >&2; exit 1")
        self.assertEqual(self.make(status=1, says=["no room"]), "no room\n")

    def test_one_card_for_the_3_and_one_for_the_4_the_400_and_the_compute_module(self):
        for board, also in (("rpi3", []), ("rpi4", ALSO)):
            with self.subTest(board=board):
                self.setUp()
                self.put(*NEEDED[board], *also)
                self.make(board)
                self.assertEqual(self.names(), sorted([*OURS, *NEEDED[board], *also]))
                self.assertEqual(self.content(NEEDED[board][-1]), f"by hand: {NEEDED[board][-1]}".encode())

    def test_a_card_for_the_5_needs_no_boot_file_and_takes_a_device_tree(self):
        for trees in ([], ["bcm2712-rpi-5-b.dtb"]):
            self.put(*trees)
            self.make("rpi5")
            self.assertEqual(self.names(), sorted(["config.txt", "kernel_2712.img", *trees]))
        self.assertEqual(self.settings(), {"arm_64bit=1", "kernel=kernel_2712.img", "kernel_address=0x80000", "os_check=0",
                                           "force_turbo=1", "enable_uart=1", "uart_2ndstage=1"})
        self.assertEqual(self.content("kernel_2712.img"), IMAGE.read_bytes())

    def test_another_board_is_refused(self):
        for arguments in (("virt", IMAGE, self.out), ("config", IMAGE, self.out), ("rpi4", IMAGE),
                          ("rpi4", IMAGE, self.out, "none"), ("rpi4", IMAGE, self.out, "debug-uart"),
                          ("rpi5", IMAGE, self.out, "mini-uart")):
            with self.subTest(arguments=arguments):
                done = self.run_make(*arguments)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))

    def package(self, name, directory, *files):
        """A tree that dpkg-deb makes a package of."""
        tree = self.root / name
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN" / "control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n")
        (tree / directory).mkdir(parents=True)
        for file in files:
            (tree / directory / file).write_text("packaged: " + file)
        return tree

    def have_packages(self, firmware_files):
        firmware = self.package("raspi-firmware", "usr/lib/raspi-firmware", *firmware_files)
        kernel = self.package("linux-image-6.1.0-1-arm64", "usr/lib/linux-image-6.1.0-1-arm64/broadcom",
                              "bcm2711-rpi-4-b.dtb", "bcm2711-rpi-400.dtb", "bcm2711-rpi-cm4-io.dtb",
                              "bcm2837-rpi-3-b.dtb", "bcm2837-rpi-3-b-plus.dtb")
        self.stand_in("apt-cache", "echo Package: linux-image-arm64\n"
                      "echo 'Depends: linux-image-6.1.0-1-arm64 (= 6.1.1-1)'\n")
        self.stand_in("apt-get", f"""
            echo "$@" >>{self.root}/asked
            case "$*" in
            *update) ;;
            *'download raspi-firmware') dpkg-deb -b {firmware} raspi-firmware_1_all.deb ;;
            *APT::Architecture=arm64*'download linux-image-6.1.0-1-arm64')
                dpkg-deb -b {kernel} linux-image-6.1.0-1-arm64_1_arm64.deb ;;
            *) exit 100 ;;
            esac""")

    def test_the_packages_give_what_it_needs(self):
        for board, firmware, tree, linux_tree in (
                ("rpi4", ["start4.elf", "fixup4.dat"], "bcm2711-rpi-cm4.dtb", "bcm2711-rpi-cm4-io.dtb"),
                ("rpi3", ["bootcode.bin", "start.elf", "fixup.dat"], "bcm2710-rpi-3-b-plus.dtb",
                 "bcm2837-rpi-3-b-plus.dtb")):
            with self.subTest(board=board):
                self.setUp()
                self.have_packages(firmware)
                self.make(board, says=["fetching"])
                also = ALSO if board == "rpi4" else []
                self.assertEqual(self.names(), sorted([*OURS, *NEEDED[board], *also]))
                self.assertEqual(self.content(firmware[0]), f"packaged: {firmware[0]}".encode())
                self.assertEqual(self.content(tree), f"packaged: {linux_tree}".encode())
                # A cache has them the next time; a file put by hand comes first.
                asked = (self.root / "asked").read_text()
                for name in NEEDED[board]:
                    (self.out / name).unlink()
                self.put(firmware[1])
                self.make(board)
                self.assertEqual(self.content(firmware[1]), f"by hand: {firmware[1]}".encode())
                self.assertEqual(self.content(tree), f"packaged: {linux_tree}".encode())
                self.assertEqual((self.root / "asked").read_text(), asked)
                self.assertEqual(sorted(path.name for path in (self.root / "cache" / "nopscope").iterdir()),
                                 ["raspi-device-trees", "raspi-firmware"])

    def test_no_kernel_is_fetched_if_other_files_are_missing(self):
        self.have_packages(["start4.elf"])
        self.make(status=1, says=["without fixup4.dat, bcm2711-rpi-4-b.dtb:"])
        self.assertNotIn("linux-image", (self.root / "asked").read_text())

    def settings(self):
        lines = self.content("config.txt").decode().splitlines()
        return {line for line in lines if line and not line.startswith("#")}

    def test_its_kernel_boots(self):
        for machine, image, console, settings in (
                ("rpi4", IMAGE, "pl011", ["enable_gic=1", "init_uart_clock=64000000"]),
                ("rpi4-mini-uart", MINI_UART, "mini-uart",
                 ["enable_gic=1", "enable_uart=1", "core_freq=500", "core_freq_min=500"]),
                ("rpi3", PI_3, "pl011", ["init_uart_clock=64000000"])):
            with self.subTest(machine=machine):
                self.setUp()
                board = machine.removesuffix("-mini-uart")
                self.put(*NEEDED[board], *ALSO)
                self.make(board, image, console)
                common = {"arm_64bit=1", "kernel=kernel8.img", "kernel_address=0x80000", "force_turbo=1"}
                self.assertEqual(self.settings(), common.union(settings))
                kernel = self.root / "kernel8.img"
                kernel.write_bytes(self.content("kernel8.img"))
                self.assertEqual(kernel.read_bytes(), image.read_bytes())
                done = subprocess.run(
                    ["qemu-system-aarch64", *MACHINES[machine][1], "-display", "none", "-monitor", "none", "-serial", "stdio",
                     "-semihosting-config", "enable=on,target=native,arg=selftest,arg=boot", "-kernel", kernel],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=100, check=True)
                self.assertIn("entered at EL2", done.stdout)


if __name__ == "__main__":
    unittest.main()
