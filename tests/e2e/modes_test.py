#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that have no record: the profile recorder, and adaptive mode on a line of 115200 baud, which carries a hundredth of the
demo's records. The counts are the oracle's and the second decoder's. Interrupts come at each instruction.

    modes_test.py MACHINE CLASS...        Profile, Sweep, Adaptive
"""

import collections
import sys
import time
import unittest

import machines
import wire

MACHINE = sys.argv.pop(1)
BAUD = 115200
RIGHT = "every script's result is right"


class Profile(machines.Recorded):
    MACHINE, IMAGE, WORDS, OPTIONS = MACHINE, "demo", ["rounds=1", "baud=0", "recorder=profile", "cores=1"], {"oracle": True}

    def setUp(self):
        super().setUp()
        self.profiled = self.report["profile"]["functions"]

    def test_it_ran_to_its_end(self):
        self.ended(RIGHT)
        self.assertGreater(len(self.profiled), 400)
        self.assertGreater(sum(f["calls"] for f in self.profiled), 100000)
        self.assertLess(len(self.run_.line), 64 * len(self.profiled))

    def test_every_function_s_count_is_the_oracle_s(self):
        self.assert_as_oracle(self.report | {"functions": self.profiled}, self.run_.oracle)

    def test_the_second_decoder_reads_the_same(self):
        self.assertEqual(wire.faults(self.line), [])
        self.assert_second_reader_agrees(self.run_, self.report)

    def test_times_are_possible(self):
        for of in self.line.profile.values():
            self.assertTrue(0 <= of.self <= of.total, of)
            self.assertTrue(of.min * of.calls <= of.total <= of.max * of.calls, of)
            self.assertEqual((min(of.bins), max(of.bins)), (of.min.bit_length(), of.max.bit_length()))
        self.assertLessEqual(sum(f["self_ns"] for f in self.profiled), self.report["duration_ns"])
        for f in self.profiled:
            self.assertTrue(f["min_ns"] <= f["p50_ns"] <= f["p99_ns"] <= f["max_ns"], f)
        self.assertIn("p99 <=", self.run_.report("--top", "3"))


class Sweep(machines.Case):
    def test_an_interrupt_on_every_instruction(self):
        """Also in adaptive mode with a full ring, and while events are counted."""
        for words in ([], ["adaptive=1"], ["events=1"]):
            if words == ["events=1"] and MACHINE.startswith("riscv"):  # where no recorder counts events
                continue
            with self.subTest(words):
                run, report = self.ran(MACHINE, "profile_sweep", *words, clean=False)
                self.assertRegex(run.console, "profile_sweep: passed: ")
                self.assertLessEqual({"torture_landing", "torture_leaper"}, {f["name"] for f in report["profile"]["functions"]})


class Adaptive(machines.Recorded):
    """Each call is in the trace or in the profile. The remaining trace is useful."""

    # Uses the host's clock: the line's pace follows it, and the plugin makes the target slow.
    MACHINE, IMAGE, OPTIONS = MACHINE, "demo", {"icount": False, "oracle": True}
    WORDS = ["rounds=20", f"baud={BAUD}", "mode=adaptive", "cores=1"]

    @classmethod
    def setUpClass(cls):
        begin = time.monotonic()
        super().setUpClass()
        cls.seconds = time.monotonic() - begin

    def test_it_ran_to_its_end_and_lost_nothing(self):
        self.ended(RIGHT)
        self.assertEqual(self.integrity["dropped"], 0)
        self.assert_generated(self.integrity, "delivered", "aggregated")

    def test_every_function_s_calls_are_the_oracle_s(self):
        self.assert_as_oracle(self.report, self.run_.oracle)

    def test_the_second_decoder_counts_the_same(self):
        self.assertEqual(wire.faults(self.line) + wire.pairing_faults(self.line), [])
        counts = collections.Counter(wire.calls(self.line))
        profiled = collections.Counter()
        for (_, site), added in self.line.profile.items():
            profiled[site] += added.calls
        self.assertEqual(profiled.total(), self.line.stats["aggregated"])
        bias = self.line.hello["load_bias"]
        mine = {site - bias: (calls, profiled[site]) for site, calls in (counts + profiled).items()}
        self.assertEqual(mine, {int(f["address"], 16): (f["calls"], f["profiled"]) for f in self.report["functions"]})

    def test_what_moved_is_told(self):
        adaptive, functions = self.report["adaptive"], self.report["functions"]
        away = {m["address"] for m in adaptive["moved"] if m["to"] == "profile"}
        self.assertGreater(sum(m["to"] == "profile" for m in adaptive["moved"]), 20)
        self.assertGreaterEqual(adaptive["moves"], len(adaptive["moved"]))
        self.assertLessEqual(max(move["at_ns"] for move in adaptive["moved"]), self.report["duration_ns"])
        # The hottest functions moved, and were called afterwards.
        self.assertGreater(sum(f["profiled"] > 0 for f in functions if f["address"] in away), len(away) // 2)
        self.assertIn(max(functions, key=lambda f: f["calls"])["address"], away)

    def test_most_calls_are_in_the_profile_and_some_thousand_records_on_the_line(self):
        self.assertGreater(self.integrity["aggregated"], 10 * self.integrity["delivered"])
        self.assertGreater(self.integrity["delivered"], 5000)
        # Throughout the run, not only before the ring was full.
        clocks = [e.clock for e in self.line.events if e.kind == wire.ENTRY]
        self.assertGreater(sum(clock > (clocks[0] + clocks[-1]) // 2 for clock in clocks), 100)

    def test_the_tree_keeps_its_upper_part(self):
        tree = self.run_.json("graph")["nodes"]
        names = {node["id"]: node["name"] for node in tree}
        edges = {(names.get(node["parent"]), node["name"]) for node in tree}
        # main() makes these calls: it opens a state and loads a script.
        self.assertLessEqual({("luaL_loadbufferx", "lua_load"), ("luaL_newstate", "lua_newstate"), (None, "luaL_newstate"),
                              (None, "luaL_openlibs"), (None, "luaL_loadbufferx")}, edges)

    def test_it_keeps_to_the_line_s_pace(self):
        hertz, clocks = self.line.hello["clock_hz"], [e.clock for e in self.line.events]
        self.assertEqual(self.line.hello["line_bytes_per_second"], BAUD // 10)
        self.assertGreater(len(self.run_.line), 10000)
        self.assertLess(len(self.run_.line), (self.seconds + 1) * BAUD / 10)
        # At the end there is half a second of trace and the profile to send.
        self.assertLess(self.seconds, (clocks[-1] - clocks[0]) / hertz + 30)

    def test_the_text_says_what_is_where(self):
        text = self.run_.report("--top", "5")
        for said in (r"[0-9,]+ moves between trace and profile", r"\[([0-9,]+ unwound, )?[0-9,]+ in the profile\]",
                     r"recorded: .* of the program, .* of the tracer; graph, adaptive"):
            self.assertRegex(text, said)


if __name__ == "__main__":
    unittest.main()
