#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A firmware in C (firmware/examples/minimal-c) on MACHINE: its own checks, and its recording.

    minimal_c_test.py MACHINE
"""

import sys
import unittest

import machines


class MinimalC(unittest.TestCase):
    def test_it_traces_itself(self):
        with machines.Directory() as directory:
            run = machines.record(directory, MACHINE, "minimal-c")
            self.assertEqual(run.status, 0, run.console + run.errors)
            self.assertIn("minimal-c: 0 failures", run.console)
            report = run.report_json()
        self.assertTrue(report["integrity"]["clean"])
        calls = {function["name"]: function["calls"] for function in report["functions"]}
        # A thousand calls of `thrice`, which calls `twice`, and one other call of `twice`.
        self.assertEqual(calls, {"thrice": 1000, "twice": 1001})


if __name__ == "__main__":
    MACHINE = sys.argv.pop()
    unittest.main()
