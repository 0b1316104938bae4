#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adaptive mode: the demo on a line of 115200 baud, which carries a hundredth of its records. Each
call is in the trace or in the profile, as by the oracle. The remaining trace is useful.

    adaptive_test.py MACHINE
"""

import collections
import copy
import sys
import time
import unittest

import machines  # puts tests/verification/oracle on the path
import compare
import wire

BAUD = 115200
ROUNDS = 20


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        begin = time.monotonic()
        # Uses the host's clock: the line's pace follows it, and the plugin makes the target slow.
        cls.run_ = machines.record(cls.enterClassContext(machines.Directory()), MACHINE, "demo",
                                   [f"rounds={ROUNDS}", f"baud={BAUD}", "mode=adaptive", "cores=1"], icount=False, oracle=True)
        cls.seconds = time.monotonic() - begin
        cls.report = cls.run_.report_json()
        cls.functions = cls.report["functions"]
        cls.line = wire.Line(cls.run_.line)

    def test_it_ran_to_its_end_and_lost_nothing(self):
        self.assertEqual(self.run_.status, 0, self.run_.errors)
        self.assertIn("every script's result is right", self.run_.console)
        integrity = self.report["integrity"]
        self.assertTrue(integrity["clean"], integrity)
        self.assertEqual(integrity["dropped"], 0)
        self.assertEqual(integrity["generated"], integrity["delivered"] + integrity["aggregated"])

    def test_every_function_s_calls_are_the_oracle_s(self):
        self.assertEqual(compare.differences(self.report, self.run_.oracle), [])
        counted = copy.deepcopy(self.report)
        counted["functions"][len(self.functions) // 2]["calls"] += 1
        self.assertEqual(len(compare.differences(counted, self.run_.oracle)), 1)

    def test_the_second_decoder_counts_the_same(self):
        self.assertEqual(wire.faults(self.line), [])
        self.assertEqual(wire.pairing_faults(self.line), [])
        counts = collections.Counter(wire.calls(self.line))
        profiled = collections.Counter()
        for (_, site), added in self.line.profile.items():
            profiled[site] += added.calls
        self.assertEqual(sum(profiled.values()), self.line.stats["aggregated"])
        bias = self.line.hello["load_bias"]
        mine = {site - bias: (calls, profiled[site]) for site, calls in (counts + profiled).items()}
        theirs = {int(f["address"], 16): (f["calls"], f["profiled"]) for f in self.functions}
        self.assertEqual(mine, theirs)

    def test_what_moved_is_told(self):
        adaptive = self.report["adaptive"]
        away = [m for m in adaptive["moved"] if m["to"] == "profile"]
        self.assertGreater(len(away), 20)
        self.assertGreaterEqual(adaptive["moves"], len(adaptive["moved"]))
        profiled = {f["address"]: f["profiled"] for f in self.functions}
        for move in adaptive["moved"]:
            self.assertLessEqual(move["at_ns"], self.report["duration_ns"])
        # The hottest functions moved, and were called afterwards.
        self.assertGreater(sum(profiled.get(m["address"], 0) > 0 for m in away), len(away) // 2)
        hottest = max(self.functions, key=lambda f: f["calls"])
        self.assertIn(hottest["address"], {m["address"] for m in away})

    def test_most_calls_are_in_the_profile_and_some_thousand_records_on_the_line(self):
        integrity = self.report["integrity"]
        self.assertGreater(integrity["aggregated"], 10 * integrity["delivered"])
        self.assertGreater(integrity["delivered"], 5000)
        # Throughout the run, not only before the ring was full.
        clocks = [e.clock for e in self.line.events if e.kind == wire.ENTRY]
        middle = (clocks[0] + clocks[-1]) // 2
        self.assertGreater(sum(clock > middle for clock in clocks), 100)

    def test_the_tree_keeps_its_upper_part(self):
        tree = self.run_.graph_json()["nodes"]
        names = {node["id"]: node["name"] for node in tree}
        edges = {(names.get(node["parent"]), node["name"]) for node in tree}
        # main() makes these calls: it opens a state and loads a script.
        self.assertLessEqual({("luaL_loadbufferx", "lua_load"), ("luaL_newstate", "lua_newstate")}, edges)
        roots = {node["name"] for node in tree if node["parent"] is None}
        self.assertLessEqual({"luaL_newstate", "luaL_openlibs", "luaL_loadbufferx"}, roots)

    def test_it_keeps_to_the_line_s_pace(self):
        hertz, clocks = self.line.hello["clock_hz"], [e.clock for e in self.line.events]
        self.assertEqual(self.line.hello["line_bytes_per_second"], BAUD // 10)
        self.assertGreater(len(self.run_.line), 10000)
        self.assertLess(len(self.run_.line), (self.seconds + 1) * BAUD / 10)
        # At the end there is half a second of trace and the profile to send.
        self.assertLess(self.seconds, (clocks[-1] - clocks[0]) / hertz + 30)

    def test_the_text_says_what_is_where(self):
        text = self.run_.report("--top", "5")
        self.assertRegex(text, r"[0-9,]+ moves between trace and profile")
        self.assertRegex(text, r"\[([0-9,]+ unwound, )?[0-9,]+ in the profile\]")
        self.assertRegex(text, r"recorded: .* of the program, .* of the tracer; graph, adaptive")


if __name__ == "__main__":
    MACHINE = sys.argv.pop(1)
    unittest.main()
