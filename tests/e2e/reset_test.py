#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A firmware in flight mode resets its machine. The next boot sends the first boot's last records.

    reset_test.py MACHINE
"""

import re
import sys
import unittest

import machines

SLOTS = (1 << 18) // 8


class Reset(unittest.TestCase):
    def run_with(self, word):
        with machines.Directory() as at:
            run = machines.record(at, MACHINE, "reset", [word])
            self.assertEqual(run.status, 0, run.errors)
            counts = re.search(r"reset: (\d+) records of before, (\d+) refused, (\d+) headers refused", run.console)
            self.assertTrue(counts, run.console)
            return run.report_json(), *map(int, counts.groups())

    def calls(self, report, name):
        return sum(row["calls"] for row in report["functions"] if row["name"] == name)

    def expect_exact(self, report):
        integrity = report["integrity"]
        parts = ("delivered", "dropped", "overwritten", "aggregated", "filtered", "lost")
        self.assertEqual(integrity["generated"], sum(integrity[part] for part in parts), integrity)
        for name in ("corrupt_frames", "lost", "lost_frames", "duplicate_frames", "malformed_frames", "inconsistent_cores"):
            self.assertEqual(integrity[name], 0, integrity)
        for part in ("lost", "overwritten", "dropped"):
            self.assertEqual(sum(gap[part] for gap in report["gaps_list"]), integrity[part])

    def expect_the_last_calls(self, report, records):
        self.assertEqual(report["sessions"], 2)
        self.assertEqual(report["integrity"]["recovered_sessions"], 1)
        self.assertTrue(report["flight"])
        self.assertGreater(records, SLOTS - 100)
        self.assertEqual(self.calls(report, "before_the_reset"), 1)
        self.assertEqual(self.calls(report, "after_the_reset"), 1)
        self.assertGreater(self.calls(report, "leaf"), SLOTS // 4)
        self.expect_exact(report)

    def test_announced(self):
        report, records, refused, headers = self.run_with("announced")
        self.expect_the_last_calls(report, records)
        self.assertEqual((refused, headers), (0, 0))

    def test_sudden(self):
        report, records, refused, headers = self.run_with("sudden")
        self.expect_the_last_calls(report, records)
        self.assertEqual((refused, headers), (0, 0))

    def test_a_target_that_keeps_nothing(self):
        report, *counts = self.run_with("forget")
        self.assertEqual(counts, [0, 0, 0])
        self.assertEqual((report["sessions"], report["integrity"]["recovered_sessions"]), (2, 0))
        self.assertEqual(self.calls(report, "after_the_reset"), 1)

    def test_spoiled_records_are_left_out_and_counted(self):
        report, records, refused, headers = self.run_with("records")
        self.expect_the_last_calls(report, records)
        self.assertEqual((refused, headers), (3, 0))
        ones = [gap for gap in report["gaps_list"] if gap["overwritten"] == 1]
        self.assertEqual(len(ones), 3, report["gaps_list"])

    def test_a_spoiled_header_is_refused(self):
        report, records, refused, headers = self.run_with("header")
        self.assertEqual((records, refused, headers), (0, 0, 1))
        self.assertEqual(report["integrity"]["recovered_sessions"], 0)
        self.assertEqual(self.calls(report, "before_the_reset"), 0)
        self.assertEqual(self.calls(report, "after_the_reset"), 1)


if __name__ == "__main__":
    MACHINE = sys.argv.pop()
    unittest.main()
