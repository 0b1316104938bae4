#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that the recorders must refuse (tests/firmware/torture/limits.cpp). They run as if
untraced, and the report gives their number.

    limits_test.py MACHINE
"""

import sys
import unittest

import machines
import wire


# check_all() of limits.cpp makes 32 traced calls (16 of four kinds: 1, 2, 2 and 3). It runs once
# with each of four recorders while recording is stopped. Only these calls are not counted.
STOPPED_CALLS = 4 * 32


class Limits(unittest.TestCase):
    def test_refused_calls_run_right_and_are_counted(self):
        with machines.Directory() as directory:
            run = machines.record(directory, MACHINE, "limits", oracle=True)
            self.assertEqual(run.status, 0, run.console + run.errors)
            self.assertRegex(run.console, "limits: passed: 0 failures")
            integrity = run.report_json()["integrity"]
            line = wire.Line(run.line)
        self.assertEqual((line.bad_frames, line.sequence_gaps), (0, 0))
        self.assertEqual(wire.pairing_faults(line), [])
        self.assertEqual(integrity["generated"], integrity["delivered"] + integrity["dropped"])
        executed = sum(site["bl"] for site in run.oracle["sites"])
        self.assertEqual(executed, sum(wire.calls(line).values()) + integrity["dropped"] +
                         integrity["shadow_stack_full"] + integrity["off_stack"] + STOPPED_CALLS)
        for key in ("generated", "delivered", "dropped", "shadow_stack_full", "off_stack"):
            self.assertEqual(integrity[key], line.stats[key], key)
            self.assertGreater(integrity[key], 0, key)
            if key in ("dropped", "shadow_stack_full", "off_stack"):
                self.assertRegex(run.console, rf"{key} {integrity[key]}\b")


if __name__ == "__main__":
    MACHINE = sys.argv.pop()
    unittest.main()
