#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++ exceptions, a forced unwinding and backtraces in traced calls, on two cores, in a task and in
interrupts that come at any instruction. The image checks what the program sees (it exits with a
status), and prints how often it called each function. The recording has to say the same.

    unwinding_test.py MACHINE
"""

import sys
import unittest

import machines


class Unwinding(unittest.TestCase):
    def record(self, *words):
        """Returns the report, {function: (calls, calls that an exception left)} and the callbacks' entries and exits."""
        with machines.Directory() as directory:
            run = machines.record(directory, MACHINE, "unwinding", words)
            self.assertEqual(run.status, 0, run.console + run.errors)
            report = run.report_json()
        rows = [line.split() for line in run.console.splitlines()]
        told = {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[2].isdigit()}
        callbacks = told.pop("callbacks")
        self.assertGreater(sum(left for _, left in told.values()), 1000, run.console)
        integrity = report["integrity"]
        self.assertTrue(integrity["complete"] and integrity["clean"], integrity)
        self.assertFalse(any(integrity[key] for key in ("orphan_returns", "gaps")), integrity)
        return report, told, callbacks

    def check_calls(self, report, told, *columns):
        shown = {f["name"]: tuple(f[column] for column in columns) for f in report if f["name"] in told}
        self.assertEqual(shown, {name: numbers[:len(columns)] for name, numbers in told.items()})

    def test_every_call_that_an_exception_leaves_is_unwound(self):
        for words in (["recorder=graph"], ["recorder=graph", "events=1"], ["recorder=sampled"], ["recorder=graph", "ops=return"],
                      ["recorder=graph", "only"]):
            with self.subTest(words):
                report, told, _ = self.record(*words)
                self.check_calls(report["functions"], told, "calls", "unwound")
                self.assertFalse(any(f["open"] or f["lost"] or f["incomplete"] for f in report["functions"] if f["name"] in told))

    def test_a_handler_has_its_time(self):
        """From the catch on, not from the next record. The handler's 1000 instructions are followed by a traced call."""
        report, _, _ = self.record("recorder=graph")
        catches, = (f for f in report["functions"] if f["name"] == "catches")
        self.assertTrue(1000 <= catches["self_ns"] / catches["calls"] < 2000, catches)

    def test_the_function_recorder(self):
        report, told, _ = self.record("recorder=function")
        self.check_calls(report["functions"], told, "calls")

    def test_the_profile(self):
        for words in (["recorder=profile"], ["recorder=profile", "events=1"]):
            with self.subTest(words):
                report, told, _ = self.record(*words)
                self.check_calls(report["profile"]["functions"], told, "calls")

    def test_durations(self):
        """None is dropped, although exceptions also end calls while the ring is full."""
        report, told, _ = self.record("recorder=duration")
        self.check_calls(report["functions"], told, "calls")

    def test_callbacks(self):
        for words in (["ops=return"], ["recorder=graph", "ops=return"]):
            with self.subTest(words):
                _, told, (entries, exits) = self.record(*words)
                self.assertEqual(entries - exits, sum(left for _, left in told.values()))

    def test_the_same_program_untraced(self):
        self.record("recorder=none")


if __name__ == "__main__":
    MACHINE = sys.argv.pop()
    unittest.main()
