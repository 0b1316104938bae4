#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The boot report on each machine: the lines that begin with "boot: ", in their order, word by word.

    boot_report_test.py BUILD_ROOT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from qemu import MACHINES, qemu_command  # noqa: E402

BUILD_ROOT = pathlib.Path(sys.argv.pop(1))
CORTEX_A53, CORTEX_A72 = "0x410fd034", "0x410fd083"
# What QEMU's mailbox says, whatever the UART's clock is set to.
PI_CLOCKS = {"arm_hz": "700000000", "core_hz": "350000000"}


def run(machine, *options, image="selftest"):
    """What the image sends, as bytes; it ends by itself."""
    elf = BUILD_ROOT / MACHINES[machine][0] / "firmware" / f"{image}.elf"
    command = [*qemu_command(machine, image, ["boot"], icount=False, elf=elf), "-nic", "none", *options]
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

    def test_each_machine(self):
        gic = {"gic": "2", "priority_bits": "8"}
        for machine, board, level, midr, clocks, controller, baud in (
                ("virt-a72", "virt", "1", CORTEX_A72, {}, {**gic, "gic": "3"}, "3000000"),
                ("virt-a72-el2", "virt", "2", CORTEX_A72, {}, {**gic, "gic": "3"}, "3000000"),
                ("rpi4", "rpi4", "2", CORTEX_A72, {**PI_CLOCKS, "uart_hz": "3000000"}, gic, "3000000"),
                ("rpi4-mini-uart", "rpi4", "2", CORTEX_A72, PI_CLOCKS, gic, "1000000"),
                ("rpi3", "rpi3", "2", CORTEX_A53, {**PI_CLOCKS, "uart_hz": "3000000"}, {"gic": "none"}, "3000000"),
                ("zcu102", "zcu102", "1", CORTEX_A53, {"uart_hz": "100000000"}, gic, "2000000")):
            with self.subTest(machine=machine):
                entry, core, *others = report(run(machine))
                self.assertEqual(entry, {"board": board, "level": level, "dtb": "none"})
                self.assertEqual(others, [{"counter_hz": "62500000", **clocks}, controller, {"baud": baud}])
                self.assertEqual(list(core), ["midr", "revidr", "mpidr", "ctr", "erg", "pfr0"])
                self.assertEqual((core["midr"], core["mpidr"]), (midr, "0x80000000"))
                # Arm ARM: log2 of the words of a reservation.
                granule = int(core["ctr"], 16) >> 20 & 15
                self.assertEqual(int(core["erg"]), 4 << granule if granule else 0)
                self.assertEqual(int(core["pfr0"], 16) & 0xff, 0x22)  # EL0 and EL1 in both states

    def test_a_device_tree_is_found_by_its_magic(self):
        with tempfile.NamedTemporaryFile(suffix=".dtb") as tree:  # any machine's: nobody reads further
            subprocess.run(["qemu-system-aarch64", "-display", "none", "-M", "virt,dumpdtb=" + tree.name], check=True, stderr=subprocess.DEVNULL)
            entry = report(run("rpi3", "-dtb", tree.name))[0]
        self.assertRegex(entry["dtb"], "^0x[0-9a-f]+$")
        self.assertEqual(int(entry["dtb"], 16) % 8, 0)

    def test_a_zero_byte_comes_before_the_first_frame(self):
        sent = run("virt-a72", image="minimal")
        end_of_report = sent.index(b"\n", sent.index(b"boot: baud=")) + 1
        self.assertEqual(len(report(sent[:end_of_report])), 5)
        self.assertEqual(sent[end_of_report:end_of_report + 1], b"\0")


if __name__ == "__main__":
    unittest.main()
