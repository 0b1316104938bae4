#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the oracle itself.

    known_counts.py LIBORACLE.so    exit status 0: all passed

The plugin must count known_counts.S as its header says. The compare tool must notice every kind of
wrong count.
"""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare  # noqa: E402
import sites  # noqa: E402

COMPILERS = ("aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc")
QEMU = "qemu-system-aarch64"
EXPECTED = {"first": (1005, 1010), "second": (40, 1), "never": (0, 0)}  # as BL, as another word


def build(source, elf, *options):
    """Builds an oracle's test image."""
    compiler = next(filter(shutil.which, COMPILERS))
    subprocess.run([compiler, "-nostdlib", "-static", "-Wl,-Ttext=0x40080000", "-Wl,--build-id=none",
                    "-march=armv8.5-a", *options, "-o", elf, HERE / source], check=True)


def qemu_command(elf, cpu):
    return [QEMU, "-M", "virt,gic-version=3", "-cpu", cpu, "-m", "64M", "-nic", "none", "-display", "none",
            "-monitor", "none", "-serial", "none", "-icount", "shift=0,sleep=off",
            "-semihosting-config", "enable=on,target=native", "-kernel", str(elf)]


def plugin_of_arguments():
    """Returns the last argument, the plugin. Ends the program if a tool is missing."""
    if not shutil.which(QEMU) or not any(map(shutil.which, COMPILERS)):
        sys.exit("needs qemu-system-aarch64 and one of " + ", ".join(COMPILERS) + ": ./dev setup installs them")
    return pathlib.Path(sys.argv.pop()).resolve()


def run_image(plugin, directory):
    """Builds and runs known_counts.S. Returns its symbols and the plugin's result."""
    elf, list_path, out = (directory / name for name in ("known.elf", "sites", "out.json"))
    build("known_counts.S", elf)
    image = sites.Image(elf)
    list_path.write_text("".join(f"{word:x} {function:x}\n"
                                 for word, function in sites.patch_sites(image)))
    subprocess.run([*qemu_command(elf, "cortex-a72"), "-plugin", f"{plugin},sites={list_path},out={out}"],
                   check=True, timeout=60)
    return image.symbols, json.loads(out.read_text())


class KnownCounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            cls.symbols, cls.oracle = run_image(PLUGIN, pathlib.Path(directory))
        cls.report = {
            "integrity": {"generated": 2045, "delivered": 2045, "dropped": 0, "corrupt_frames": 0,
                          "gaps": 0},
            "functions": [{"name": name, "address": hex(cls.symbols[name]), "calls": calls}
                          for name, (calls, _) in EXPECTED.items() if calls],
        }

    def differences(self, change):
        report, oracle = copy.deepcopy(self.report), copy.deepcopy(self.oracle)
        change(report, oracle)
        return compare.differences(report, oracle)

    def test_the_plugin_counts_what_ran(self):
        counted = {int(s["address"], 16): (s["bl"], s["other"]) for s in self.oracle["sites"]}
        self.assertEqual(counted, {self.symbols[n]: both for n, both in EXPECTED.items()})
        self.assertGreater(self.oracle["instructions"], 2 * (1005 + 1010 + 41))

    def test_equal_counts_agree(self):
        self.assertEqual(self.differences(lambda report, oracle: None), [])

    def test_a_count_that_is_off_by_one_is_noticed(self):
        for by in (-1, 1):
            def change(report, oracle):
                report["functions"][0]["calls"] += by
            self.assertRegex(self.differences(change)[0], r"first: nopscope 100[46], oracle 1005")

    def test_a_function_missing_from_the_report_is_noticed(self):
        found = self.differences(lambda report, oracle: report["functions"].pop())
        self.assertRegex(found[0], r"not in the report\): nopscope 0, oracle 40")

    def test_an_invented_function_is_noticed(self):
        invented = {"name": "invented", "address": "0x1000", "calls": 1}
        found = self.differences(lambda report, oracle: report["functions"].append(invented))
        self.assertRegex(found[0], "invented: reported, but no patch site")

    def test_a_loss_or_a_wrong_sum_is_noticed(self):
        for key in ("dropped", "corrupt_frames", "gaps", "generated"):
            def change(report, oracle):
                report["integrity"][key] += 1
            self.assertTrue(self.differences(change), key)

    def test_a_run_that_traced_nothing_is_noticed(self):
        def change(report, oracle):
            report["functions"].clear()
            for site in oracle["sites"]:
                site["bl"] = 0
        self.assertEqual(self.differences(change), ["the oracle saw no traced call at all"])


if __name__ == "__main__":
    PLUGIN = plugin_of_arguments()
    unittest.main()
