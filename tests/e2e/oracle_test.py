#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares call counts with independent ones, in deterministic runs. Each function's calls equal the executions of its site's word while it
was a BL, both in the host tools' report and in the second decoder's count. On several cores the counts of each task are compared, too.

    oracle_test.py MACHINE IMAGE [WORD]...
"""

import collections
import sys
import unittest

import machines
import wire

FEWEST = {"demo": (400, 100000), "torture": (300, 30000), "sweep": (30, 20000), "sweep-deferring": (30, 20000)}


class Oracle(machines.Recorded):
    OPTIONS = {"oracle": True}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.is_on_several_cores = cls.report["cores"] > 1
        cls.report["functions"] = machines.with_profile(cls.report)

    def test_it_ran_to_its_end(self):
        self.assertEqual(self.run_.status, 0, self.run_.console + self.run_.errors)
        if self.IMAGE != "demo":
            self.assertRegex(self.run_.console, f"{self.IMAGE.removesuffix('-deferring')}: passed: ")

    def test_every_function_s_count_is_the_oracle_s(self):
        self.assert_as_oracle(self.report, self.run_.oracle)

    def test_every_function_s_count_in_each_task_is_the_oracle_s(self):
        if not self.is_on_several_cores:
            self.skipTest("one core has no tasks")
        told, counted = machines.counts_of_tasks(self.run_)
        self.assertEqual(told, counted)
        self.assertGreaterEqual(told.total(), 6)  # four with Lua, the logger, and the boot core's own

    def test_the_second_decoder_counts_the_same(self):
        seen = {int(function["address"], 16): function["calls"] for function in self.run_.oracle["functions"]}
        counts = collections.Counter(wire.calls(self.line))
        functions, calls = FEWEST[self.IMAGE]
        self.assertGreaterEqual(len(counts), functions)
        self.assertGreaterEqual(counts.total(), calls)
        counts.update({site: of.calls for (_, site), of in self.line.profile.items()})
        self.assertEqual(counts, seen)

    def test_every_entry_has_its_return_innermost_first(self):
        if not self.is_on_several_cores:
            self.assertEqual(wire.faults(self.line) + wire.pairing_faults(self.line), [])
        self.assertEqual(self.integrity.get("orphan_returns", 0), 0)


if __name__ == "__main__":
    Oracle.MACHINE, Oracle.IMAGE, *Oracle.WORDS = sys.argv[1:]
    del sys.argv[1:]
    unittest.main()
