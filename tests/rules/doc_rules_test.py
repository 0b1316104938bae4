#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of doc_rules.py once and checks that it is reported."""

import unittest

from breaking import Breaking
from doc_rules import CTEST, UNIT, breaches, test_breaches

DEV = "usage() {\n  setup   installs\n  test    tests\nEND\n}\n"


class DocRules(Breaking):
    def reported(self, text):
        return list(breaches(self.directory({"dev": DEV, "hal/boards/virt.cpp": "", "docs/a.md": text, "docs/b.md": "# One Thing\n"})))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported("# Here\n[b](b.md#one-thing) [here](#here) `hal/boards/virt.cpp` `hal/boards/*.cpp` "
                                       "`hal/boards/NAME.cpp` `./dev test` [x](https://example.org/x)\n"), [])

    def test_breaches(self):
        for text, said in [("[c](c.md)", "there is no c.md"), ("[b](b.md#two)", "no heading #two"), ("[b](#two)", "no heading #two"),
                           ("`hal/boards/pi.cpp`", "there is no hal/boards/pi.cpp"), ("`hal/boards/*.S`", "there is no hal/boards/*.S"),
                           ("`hal/devices/NAME.cpp`", "there is no hal/devices/NAME.cpp"), ("    ./dev fly\n", "no verb fly"),
                           ("### Z: 0 files\n\nx\n\n### A: 2 files\n\n- [ ] `dev`: x\n\nSee `docs/b.md`\n", "1 files are listed, not 2")]:
            with self.subTest(text=text):
                self.one(self.reported(text), said)

    def test_tests(self):
        for pattern, command in ((CTEST, "ctest -R"), (UNIT, "./dev unit")):
            for names, said in ((f"`{command} NAME` `{command} line`", []), (f'`{command} "line|lion"`', [f"{command} lion selects no test"])):
                self.assertEqual(list(test_breaches(pattern, command, ["cli.line"], names)), said)


if __name__ == "__main__":
    unittest.main()
