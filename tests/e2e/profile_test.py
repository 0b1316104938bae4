#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile recorder: its counts against the oracle's, the report against the second decoder, and
interrupts at each instruction.

    profile_test.py MACHINE
"""

import copy
import sys
import unittest

import machines  # puts tests/verification/oracle on the path
import compare
import wire


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machines.record(cls.enterClassContext(machines.Directory()), MACHINE, "demo",
                                   ["rounds=1", "baud=0", "recorder=profile", "cores=1"], oracle=True)
        cls.report = cls.run_.report_json()
        cls.functions = cls.report["profile"]["functions"]
        cls.line = wire.Line(cls.run_.line)

    def test_it_ran_to_its_end(self):
        self.assertEqual(self.run_.status, 0, self.run_.errors)
        self.assertIn("every script's result is right", self.run_.console)
        self.assertTrue(self.report["integrity"]["clean"])
        self.assertGreater(len(self.functions), 400)
        self.assertGreater(sum(f["calls"] for f in self.functions), 100000)

    def test_every_function_s_count_is_the_oracle_s(self):
        counted = dict(self.report, functions=copy.deepcopy(self.functions))
        self.assertEqual(compare.differences(counted, self.run_.oracle), [])
        counted["functions"][len(self.functions) // 2]["calls"] += 1
        self.assertEqual(len(compare.differences(counted, self.run_.oracle)), 1)

    def test_the_second_decoder_reads_the_same(self):
        self.assertEqual(wire.faults(self.line), [])
        parts = self.line.read_outs[0]
        self.assertEqual(parts, [*range(len(parts) - 1), True])
        hertz, base = self.line.hello["clock_hz"], self.line.hello["load_bias"]

        def ns(ticks):
            return (ticks * 10**9 + hertz // 2) // hertz

        mine = {site - base: (of.calls, ns(of.total), ns(of.self), ns(of.min), ns(of.max), sorted(of.bins.items()))
                for (_, site), of in self.line.profile.items()}
        theirs = {int(f["address"], 16): (f["calls"], f["total_ns"], f["self_ns"], f["min_ns"],
                                          f["max_ns"], [tuple(b) for b in f["bins"]]) for f in self.functions}
        self.assertEqual(mine, theirs)

    def test_times_are_possible(self):
        for of in self.line.profile.values():
            self.assertLessEqual(of.self, of.total)
            self.assertGreaterEqual(of.self, 0)
            self.assertLessEqual(of.min * of.calls, of.total)
            self.assertLessEqual(of.total, of.max * of.calls)
            self.assertEqual(min(of.bins), of.min.bit_length())
            self.assertEqual(max(of.bins), of.max.bit_length())
        self.assertLessEqual(sum(f["self_ns"] for f in self.functions), self.report["duration_ns"])
        for f in self.functions:
            self.assertLessEqual(f["min_ns"], f["p50_ns"])
            self.assertLessEqual(f["p50_ns"], f["p99_ns"])
            self.assertLessEqual(f["p99_ns"], f["max_ns"])

    def test_it_takes_little_of_the_line(self):
        self.assertLess(len(self.run_.line), 64 * len(self.functions))

    def test_orders_and_formats(self):
        for key, field in (("self", "self_ns"), ("total", "total_ns"), ("calls", "calls"), ("max", "max_ns")):
            rows = self.run_.report("--format", "csv", "--sort", key, "--top", "5").splitlines()
            column = rows[0].split(",").index(field)
            self.assertEqual(int(rows[1].split(",")[column]), max(f[field] for f in self.functions))
            self.assertEqual(len(rows), 6)
        self.assertIn("p99 <=", self.run_.report("--top", "3"))


class Sweep(unittest.TestCase):
    def test_an_interrupt_on_every_instruction(self):
        self.sweep()

    def test_in_adaptive_mode_with_a_full_ring(self):
        self.sweep("adaptive=1")

    def test_interrupts_at_each_instruction_that_counts_events(self):
        self.sweep("events=1")

    def sweep(self, *words):
        with machines.Directory() as directory:
            run = machines.record(directory, MACHINE, "profile_sweep", words)
            self.assertEqual(run.status, 0, run.console + run.errors)
            self.assertRegex(run.console, "profile_sweep: passed: ")
            sweep = run.report_json()["profile"]["functions"]
            names = {f["name"] for f in sweep}
            self.assertLessEqual({"torture_landing", "torture_leaper"}, names)


if __name__ == "__main__":
    MACHINE = sys.argv.pop(1)
    unittest.main()
