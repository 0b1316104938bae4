#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The known ways to lose a site still lose it, and the project's remedy still helps: with cold.c and every installed compiler.

    alignment_test.py
"""

import unittest

import alignment


class Alignment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = alignment.table(None, None)

    def cells(self, remedy):
        return [(row["compiler"], level, cell) for row in self.result["rows"]
                if row["remedy"] == remedy
                for level, cell in zip(self.result["levels"], row["cells"]) if cell]

    def test_there_is_a_compiler(self):
        self.assertGreater(len(self.result["rows"]), 0)

    def test_without_a_remedy_sites_are_misaligned_at_os(self):
        for compiler, level, cell in self.cells("none"):
            self.assertGreater(cell["sites"], 8)
            if level == "Os":
                self.assertGreater(cell["misaligned"], 0, compiler)

    def test_the_project_s_and_the_compiler_s_own_remedy_leave_none(self):
        for remedy in ("own sections, SUBALIGN(8)", "-fmin-function-alignment=8"):
            for compiler, level, cell in self.cells(remedy):
                self.assertEqual((cell["misaligned"], cell["lost"]), (0, 0), (compiler, level, remedy))
                if remedy.endswith("SUBALIGN(8)"):
                    self.assertEqual(cell["sites"], cell["functions"], (compiler, level))


if __name__ == "__main__":
    unittest.main()
