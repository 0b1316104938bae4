#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/riscv.md's commands: the target library is built and installed, and a RISC-V firmware with its own start-up is linked with it,
runs, and is profiled. The same with the other clocks, and built by CMake.

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
PROJECT = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DFOREIGN={SOURCE}/firmware/examples/own-startup-riscv",
           *(f"-DCMAKE_{language}_COMPILER=riscv64-unknown-elf-{name}" for language, name in (("C", "gcc"), ("CXX", "g++"))),
           *(f"-DCMAKE_{language}_FLAGS=-march=rv64gc -mabi=lp64d -mcmodel=medany" for language in ("C", "CXX", "ASM"))]
CALLS = {"fibonacci": 987, "next": 111, "steps_to_one": 1}  # GCC makes a loop of one of fibonacci's two calls


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout


class OwnFirmware(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, name, *options):
        """Builds the package with these options, and the firmware. Returns the directory of both."""
        directory = self.directory / name
        directory.mkdir()
        text = (SOURCE / "docs/riscv.md").read_text()
        commands = re.search(r"```sh\n(.*?qemu-system-riscv64)", text, re.S)[1].rsplit("\n", 1)[0]
        (directory / "nopscope").symlink_to(SOURCE)
        commands = commands.replace("-DNOPSCOPE_PACKAGE=ON", " ".join(["-DNOPSCOPE_PACKAGE=ON", *options]))
        run("bash", "-e", "-c", commands, cwd=directory, env={**os.environ, "CMAKE_C_COMPILER_LAUNCHER": "", "CMAKE_CXX_COMPILER_LAUNCHER": ""})
        return directory

    def profile(self, elf):
        """Returns what the report says."""
        line = elf.parent / "line.bin"
        line.write_bytes(run(*QEMU, elf))
        self.assertIn("0 problems", run(NOPSCOPE, "check", elf).decode())
        report = json.loads(run(NOPSCOPE, "report", line, "--image", elf, "--format", "json"))
        self.assertEqual({function["name"]: function["calls"] for function in report["functions"]}, CALLS)
        self.assertEqual(report["integrity"]["dropped"], 0)
        return report

    def test_each_clock_tells_the_same(self):
        totals = []
        for clock, hertz in (("time", 10_000_000), ("cycle", 1_000_000_000), ("0x200bff8", 10_000_000)):
            with self.subTest(clock=clock):
                report = self.profile(self.build(clock, f"-DNOPSCOPE_CLOCK={clock}") / "foreign.elf")
                self.assertAlmostEqual(report["clock_hz"] / hertz, 1, delta=0.01)
                totals.append(sum(function["corrected_self_ns"] for function in report["functions"]))
        self.assertEqual(len(totals), 3)
        self.assertGreater(min(totals), 10_000)
        self.assertLess(max(totals) / min(totals), 1.05, totals)

    def test_cmake(self):
        """With an installed nopscope, and with its sources."""
        package = self.build("package")
        for name, option in (("found", f"-DCMAKE_PREFIX_PATH={package}/nopscope-target"), ("added", f"-DNOPSCOPE_SOURCE={SOURCE}")):
            with self.subTest(name):
                build = self.directory / name
                run("cmake", "-S", SOURCE / "tests/guide/project", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *PROJECT, option)
                run("cmake", "--build", build)
                self.profile(build / "foreign.elf")


if __name__ == "__main__":
    unittest.main()
