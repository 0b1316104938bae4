#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report's calls and times equal the plugin's for every function. Wrong ones are found.

    truth_test.py MACHINE IMAGE [WORD]...
"""

import collections
import copy
import sys
import unittest

import truth  # puts tests/e2e on the path
import machines


class Truth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with machines.Directory() as directory:
            cls.report, cls.truth = truth.record(directory, MACHINE, IMAGE, WORDS)
        cls.compared = truth.compare_times(cls.report, cls.truth)
        print("\n" + truth.table(cls.compared.rows[:10]) + "\n" + truth.summary(cls.compared))

    def test_every_function_s_calls_are_equal(self):
        self.assertEqual(self.compared.faults, [])
        self.assertGreater(len(self.compared.rows), 10)

    def test_times_are_true_but_for_what_is_known(self):
        self.assertEqual([(row.name, row.worst()) for row in self.compared.unexplained()], [])
        self.assertEqual(self.compared.too_many_outside(), [])
        self.assertEqual([row.name for row in self.compared.inexact()], [])

    def test_each_task_s_times_are_true_too(self):
        if len(self.truth["tasks"]) < 2:
            return
        rows, faults = truth.compare_tasks(self.report, self.truth)
        self.assertEqual(faults, [])
        tasks = {row.name.split(":")[0] for row in rows}
        self.assertEqual(tasks, {*truth.TASKS, "no task"})
        self.assertEqual([(row.name, row.worst()) for row in rows if not row.is_explained()], [])
        on_cpu = collections.Counter()
        for row in rows:
            on_cpu[row.name.partition(": ")[2]] += row.told["inclusive"]
        rounded = len({row["task"] for row in self.report["by_task"]})
        for row in self.compared.rows:
            self.assertLessEqual(abs(on_cpu[row.name] - row.told["inclusive"]), rounded, row.name)

    def test_a_constant_that_is_off_is_found_out(self):
        """Off by two ticks, or by one instruction if that is a tick."""
        def off_by(ns):
            report = copy.deepcopy(self.report)
            for function in report["functions"]:
                function["corrected_self_ns"] += ns * function["calls"]
            return truth.compare_times(report, self.truth)
        tick_ns = round(1e9 / self.report["clock_hz"])
        self.assertTrue(off_by(2 * tick_ns).unexplained())
        if tick_ns == 1:
            self.assertGreater(len(off_by(1).inexact()), len(self.compared.rows) // (12 if self.compared.rows[0].tasks else 4))

    def test_a_call_too_many_is_found_out(self):
        for by in (-1, 1):
            report = copy.deepcopy(self.report)
            report["functions"][len(report["functions"]) // 2]["calls"] += by
            self.assertEqual(len(truth.compare_times(report, self.truth).faults), 1)


if __name__ == "__main__":
    MACHINE, IMAGE, *WORDS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
