#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/riscv.md's commands: the target library is built and installed, and a RISC-V firmware with its own start-up is linked with it,
runs, and is profiled. The same with the other clocks.

    riscv_test.py NOPSCOPE SOURCE
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NOPSCOPE, SOURCE = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
QEMU = ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-display", "none", "-serial", "stdio", "-monitor", "none", "-icount",
        "shift=0,sleep=off", "-kernel"]
CALLS = {"fibonacci": 987, "next": 111, "steps_to_one": 1}  # GCC makes a loop of one of fibonacci's two calls


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout


class OwnFirmware(unittest.TestCase):
    def profile(self, *options):
        """Builds the package with these options and the firmware, and returns what the report says."""
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        text = (SOURCE / "docs/riscv.md").read_text()
        commands = re.search(r"```sh\n(.*?qemu-system-riscv64)", text, re.S)[1].rsplit("\n", 1)[0]
        (directory / "nopscope").symlink_to(SOURCE)
        commands = commands.replace("-DNOPSCOPE_PACKAGE=ON", " ".join(["-DNOPSCOPE_PACKAGE=ON", *options]))
        run("bash", "-e", "-c", commands, cwd=directory, env={**os.environ, "CMAKE_C_COMPILER_LAUNCHER": "", "CMAKE_CXX_COMPILER_LAUNCHER": ""})
        line, elf = directory / "line.bin", directory / "foreign.elf"
        line.write_bytes(run(*QEMU, elf))
        self.assertIn("0 problems", run(NOPSCOPE, "check", elf).decode())
        return json.loads(run(NOPSCOPE, "report", line, "--image", elf, "--format", "json"))

    def test_each_clock_tells_the_same(self):
        totals = []
        for clock, hertz in (("time", 10_000_000), ("cycle", 1_000_000_000), ("0x200bff8", 10_000_000)):
            with self.subTest(clock=clock):
                report = self.profile(f"-DNOPSCOPE_CLOCK={clock}")
                self.assertAlmostEqual(report["clock_hz"] / hertz, 1, delta=0.01)
                self.assertEqual({function["name"]: function["calls"] for function in report["functions"]}, CALLS)
                self.assertEqual(report["integrity"]["dropped"], 0)
                totals.append(sum(function["corrected_self_ns"] for function in report["functions"]))
        self.assertEqual(len(totals), 3)
        self.assertGreater(min(totals), 10_000)
        self.assertLess(max(totals) / min(totals), 1.05, totals)


if __name__ == "__main__":
    unittest.main()
