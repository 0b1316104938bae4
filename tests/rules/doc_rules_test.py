#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of doc_rules.py once and checks that it is reported."""

import tempfile
import unittest
from pathlib import Path

from doc_rules import breaches, ctest_breaches

DEV = "usage() {\n  setup   installs\n  test    tests\nEND\n}\n"


class DocRules(unittest.TestCase):
    def reported(self, text):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "dev").write_text(DEV, encoding="utf-8")
            (root / "docs").mkdir()
            (root / "hal/boards").mkdir(parents=True)
            (root / "hal/boards/virt.cpp").touch()
            (root / "docs/a.md").write_text(text, encoding="utf-8")
            (root / "docs/b.md").write_text("# One Thing\n", encoding="utf-8")
            return list(breaches(root))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported("# Here\n[b](b.md#one-thing) [here](#here) `hal/boards/virt.cpp` `hal/boards/*.cpp` "
                                       "`hal/boards/NAME.cpp` `./dev test` [x](https://example.org/x)\n"), [])

    def test_breaches(self):
        for text, said in [("[c](c.md)", "there is no c.md"), ("[b](b.md#two)", "no heading #two"), ("[b](#two)", "no heading #two"),
                           ("`hal/boards/pi.cpp`", "there is no hal/boards/pi.cpp"), ("`hal/boards/*.S`", "there is no hal/boards/*.S"),
                           ("`hal/devices/NAME.cpp`", "there is no hal/devices/NAME.cpp"), ("    ./dev fly\n", "no verb fly"),
                           ("### Z: 0 files\n\nx\n\n### A: 2 files\n\n- [ ] `dev`: x\n\nSee `docs/b.md`\n", "1 files are listed, not 2")]:
            with self.subTest(text=text):
                found = self.reported(text)
                self.assertEqual(len(found), 1, found)
                self.assertIn(said, found[0])

    def test_tests(self):
        self.assertEqual(list(ctest_breaches(["cli.line"], "`ctest --test-dir build/host -R 'cli.line'` `ctest -R NAME`")), [])
        self.assertEqual(list(ctest_breaches(["cli.line"], "`ctest -R \"cli.line|cli.lion\"`")), ["ctest -R cli.lion selects no test"])


if __name__ == "__main__":
    unittest.main()
