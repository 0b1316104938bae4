#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SHIPPING.md's sizes are those that footprint.py measures. The smallest configuration boots, and
its recording is exact. Sizes are not compared if the compiler is not the page's.
"""

import collections
import re
import sys
import unittest

import empty_test
import footprint
import machines
from footprint import integration


class Footprint(integration.Integration):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(machines.Directory())
        cls.columns, cls.smallest = footprint.measure(cls.directory)

    def test_the_page_has_what_is_measured(self):
        page = footprint.parts()[1]
        if f"GCC {footprint.compiler()}," not in page:
            self.skipTest(f"the page is not about GCC {footprint.compiler()}")
        self.assertEqual(page, footprint.tables(self.columns), "if this is meant: tests/shipping/footprint.py --update")

    def test_the_smallest_configuration_records_exactly(self):
        machines.nopscope("check", self.smallest)
        for cpu in ("max", "cortex-a72"):
            self.assert_profiled(self.smallest, cpu)

    def test_cmake_s_option_leaves_nothing(self):
        for name, where in (("found", f"-DCMAKE_PREFIX_PATH={self.directory / 'O2/prefix'}"),
                            ("added", f"-DNOPSCOPE_SOURCE={footprint.ROOT}")):
            for enabled in ("OFF", "ON"):
                build = self.directory / f"{name}-{enabled}"
                integration.run("cmake", "-S", integration.HERE / "project", "-B", build, "-G", "Ninja", *integration.PROJECT,
                                where, f"-DNOPSCOPE_ENABLED={enabled}")
                if enabled == "OFF":
                    integration.run("cmake", "--build", build)
                    self.assertEqual(empty_test.remains(build / "foreign.elf"), [])
                else:
                    self.assertIn("patchable", (build / "build.ninja").read_text())

    def test_the_package_has_the_tracer(self):
        with self.assertRaisesRegex(AssertionError, "NOPSCOPE_ENABLED=OFF is for the project of a firmware"):
            integration.cmake(footprint.ROOT, self.directory / "off", *integration.PACKAGE, "-DNOPSCOPE_ENABLED=OFF")

    def test_sizes_are_those_of_the_image(self):
        # The firmware's memory: code, two page tables, and the padding to its pages.
        own = 12288
        listed = dict(re.findall(r"^(\.\S+)\s+(\d+)", integration.run(integration.CROSS + "size", "-A", self.smallest), re.M))
        self.assertEqual(int(listed[".nopscope.ring"]), self.columns["smallest"]["ring"])
        for section, kind in ((".text", "code"), (".data", "data"), (".bss", "zeroed")):
            self.assertLess(self.columns["smallest"][kind], int(listed[section]))
            self.assertLess(int(listed[section]) - self.columns["smallest"][kind], own)

    def test_a_byte_more_is_noticed(self):
        more = {name: collections.Counter(sizes) for name, sizes in self.columns.items()}
        more["smallest"]["code"] += 1
        self.assertNotEqual(footprint.tables(more), footprint.tables(self.columns))


if __name__ == "__main__":
    # Without the inherited tests.
    names = [name for name in vars(Footprint) if name.startswith("test_")]
    suite = unittest.TestSuite(map(Footprint, names))
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
