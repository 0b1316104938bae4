#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The boot report on each machine: the lines that begin with "boot: ", in their order, word by word.

    boot_report_test.py BUILD_ROOT
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BUILD_ROOT = pathlib.Path(sys.argv.pop(1))
QEMU = ["qemu-system-aarch64", "-nic", "none", "-display", "none", "-monitor", "none"]
CORTEX_A53, CORTEX_A72 = "0x410fd034", "0x410fd083"
# What QEMU's mailbox says, whatever the UART's clock is set to.
PI_CLOCKS = {"arm_hz": "700000000", "core_hz": "350000000"}


def run(machine, board, image="selftest", serial=("-serial", "stdio"), semihosting="arg=selftest,arg=boot"):
    """What the image sends, as bytes; it ends by itself."""
    extension = "img" if board.startswith("rpi") else "elf"
    command = [*QEMU, "-M", *machine, *serial,
               "-semihosting-config", "enable=on,target=native," + semihosting,
               "-kernel", BUILD_ROOT / board / "firmware" / f"{image}.{extension}"]
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=100).stdout


def report(sent):
    """Its lines, each as {key: value}; what comes before or between them is an error."""
    lines = sent.decode(errors="replace").split("\n")
    found = [line for line in lines if line.startswith("boot: ")]
    assert lines[:len(found)] == found, sent
    words = [line.split(" ")[1:] for line in found]
    assert words[0].pop(0) == "nopscope"
    return [dict(word.split("=") for word in line) for line in words]


class BootReport(unittest.TestCase):
    maxDiff = None

    def check(self, lines, board, level, midr, clocks, gic, baud):
        entry, core, rates, controller, end = lines
        self.assertEqual(entry, {"board": board, "level": level, "dtb": "none"})
        self.assertEqual(list(core), ["midr", "revidr", "mpidr", "ctr", "erg", "pfr0"])
        self.assertEqual((core["midr"], core["mpidr"]), (midr, "0x80000000"))
        # Arm ARM: log2 of the words of a reservation.
        granule = int(core["ctr"], 16) >> 20 & 15
        self.assertEqual(int(core["erg"]), 4 << granule if granule else 0)
        self.assertEqual(int(core["pfr0"], 16) & 0xff, 0x22)  # EL0 and EL1 in both states
        self.assertEqual(rates, clocks)
        self.assertEqual(controller, gic)
        self.assertEqual(end, {"baud": baud})

    def test_virt(self):
        gic = {"gic": "3", "priority_bits": "8"}
        for machine, level in (("virt,gic-version=3", "1"), ("virt,gic-version=3,virtualization=on", "2")):
            with self.subTest(machine=machine):
                lines = report(run([machine, "-cpu", "cortex-a72"], "virt"))
                self.check(lines, "virt", level, CORTEX_A72, {"counter_hz": "62500000"}, gic, "3000000")

    def test_raspi4b(self):
        self.check(report(run(["raspi4b"], "rpi4")), "rpi4", "2", CORTEX_A72,
                   {"counter_hz": "62500000", **PI_CLOCKS, "uart_hz": "3000000"}, {"gic": "2", "priority_bits": "8"},
                   "3000000")

    def test_raspi4b_with_the_mini_uart(self):
        began = time.monotonic()
        lines = report(run(["raspi4b"], "rpi4-mini-uart", serial=("-serial", "null", "-serial", "stdio")))
        self.assertGreater(time.monotonic() - began, 0.05)
        self.check(lines, "rpi4", "2", CORTEX_A72, {"counter_hz": "62500000", **PI_CLOCKS},
                   {"gic": "2", "priority_bits": "8"}, "1000000")

    def test_raspi3b(self):
        self.check(report(run(["raspi3b"], "rpi3")), "rpi3", "2", CORTEX_A53,
                   {"counter_hz": "62500000", **PI_CLOCKS, "uart_hz": "3000000"}, {"gic": "none"}, "3000000")

    def test_zcu102(self):
        self.check(report(run(["xlnx-zcu102", "-m", "2G", "-audio", "none"], "zcu102")), "zcu102", "1", CORTEX_A53,
                   {"counter_hz": "62500000", "uart_hz": "100000000"}, {"gic": "2", "priority_bits": "8"}, "2000000")

    def test_a_device_tree_is_found_by_its_magic(self):
        with tempfile.NamedTemporaryFile(suffix=".dtb") as tree:  # any machine's: nobody reads further
            subprocess.run([*QEMU, "-M", "virt,dumpdtb=" + tree.name], check=True, stderr=subprocess.DEVNULL)
            entry = report(run(["raspi3b", "-dtb", tree.name], "rpi3"))[0]
        self.assertRegex(entry["dtb"], "^0x[0-9a-f]+$")
        self.assertEqual(int(entry["dtb"], 16) % 8, 0)

    def test_a_zero_byte_comes_before_the_first_frame(self):
        sent = run(["virt,gic-version=3", "-cpu", "cortex-a72"], "virt", image="minimal", semihosting="arg=minimal")
        end_of_report = sent.index(b"\n", sent.index(b"boot: baud=")) + 1
        self.assertEqual(len(report(sent[:end_of_report])), 5)
        self.assertEqual(sent[end_of_report:end_of_report + 1], b"\0")


if __name__ == "__main__":
    unittest.main()
