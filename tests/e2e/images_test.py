#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images that check themselves, and what their recordings must have.

    images_test.py MACHINE CLASS
"""

import collections
import re
import sys
import unittest

import machines
import wire

MACHINE = sys.argv.pop(1)
SLOTS = (1 << 18) // 8
COUNTS_EVENTS = not MACHINE.startswith("riscv")


class MinimalC(machines.Case):
    """A firmware in C (firmware/examples/minimal-c)."""

    def test_it_traces_itself(self):
        run, report = self.ran(MACHINE, "minimal-c")
        self.assertIn("minimal-c: 0 failures", run.console)
        # A thousand calls of `thrice`, which calls `twice`, and one other call of `twice`.
        self.assertEqual({f["name"]: f["calls"] for f in report["functions"]}, {"thrice": 1000, "twice": 1001})


class Limits(machines.Case):
    """Calls that the recorders must refuse (tests/firmware/torture/limits.cpp). They run as if untraced, and are counted."""

    # check_all() of limits.cpp makes 32 traced calls (16 of four kinds: 1, 2, 2 and 3). It runs once with each of four recorders while
    # recording is stopped. Only these calls are not counted.
    STOPPED_CALLS = 4 * 32

    def test_refused_calls_run_right_and_are_counted(self):
        run, report = self.ran(MACHINE, "limits", oracle=True, clean=False)
        self.assertRegex(run.console, "limits: passed: 0 failures")
        integrity, line = report["integrity"], wire.Line(run.line)
        self.assertEqual((line.bad_frames, line.sequence_gaps, wire.pairing_faults(line)), (0, 0, []))
        self.assert_generated(integrity, "delivered", "dropped")
        refused = ("dropped", "shadow_stack_full", "off_stack")
        executed = sum(function["calls"] for function in run.oracle["functions"])
        self.assertEqual(executed, sum(wire.calls(line).values()) + sum(integrity[key] for key in refused) + self.STOPPED_CALLS)
        for key in ("generated", "delivered", *refused):
            self.assertEqual(integrity[key], line.stats[key], key)
            self.assertGreater(integrity[key], 0, key)
        for key in refused:
            self.assertRegex(run.console, rf"{key} {integrity[key]}\b")


class Flow(machines.Case):
    """Functions that end by a jump to the next, thousands of times, and calls beyond the shadow stack. Whatever records
    them, each function's calls are those that the oracle counts."""

    def flow(self, *words, clean=True):
        """Returns the run, its report, and the calls by address, as told and as executed."""
        run, report = self.ran(MACHINE, "flow", *words, oracle=True, clean=clean)
        told = collections.Counter()
        for function in (*report["functions"], *report.get("profile", {}).get("functions", ())):
            told[function["address"]] += function["calls"]
        seen = {function["address"]: function["calls"] for function in run.oracle["functions"] if function["calls"]}
        return run, report, dict(told), seen

    def test_chains_of_jumps(self):
        for words in ("recorder=graph", "recorder=graph events=1", "recorder=profile long", "recorder=profile events=1", "recorder=duration",
                      "recorder=sampled", "recorder=graph ops=return", "recorder=graph mixed", "recorder=graph mixed ops=return"):
            if "events" in words and not COUNTS_EVENTS:
                continue
            with self.subTest(words):
                run, report, told, seen = self.flow(*words.split())
                self.assertGreater(max(seen.values()), 1_000)
                self.assertEqual(told, seen)
                if "ops=return" in words:
                    executed = sum(seen.values())
                    self.assertIn(f"callbacks {executed} {executed}\n", run.console)

    def test_a_chain_costs_its_functions_nothing(self):
        """A self time has nothing of what recording takes, though one call is open all along. Off by a tick a call at most."""
        run, report = self.ran(MACHINE, "flow", "recorder=graph", oracle=True, own=True)
        own, tick_ns = run.own(), 1e9 / report["clock_hz"]
        programs = [f for f in report["functions"] if f["file"].endswith("programs.cpp")]
        self.assertGreater(len(programs), 8)
        for function in programs:
            error = function["corrected_self_ns"] - own[int(function["address"], 16)]
            self.assertLessEqual(abs(error), 0 if tick_ns == 1 else tick_ns * function["calls"], function)

    def test_calls_beyond_the_shadow_stack(self):
        """They are missing, and everything says so."""
        for words in ("recorder=graph", "recorder=profile", "recorder=duration", "recorder=sampled"):
            with self.subTest(words):
                run, report, told, seen = self.flow(words, "deep", clean=False)
                missing = report["loss"]["unhooked"]
                self.assertGreater(missing, 1000)
                self.assertEqual(sum(told.values()) + missing, sum(seen.values()))
                self.assertEqual(report["integrity"]["shadow_stack_full"], missing)
                self.assertFalse(report["integrity"]["clean"])
                rows = (report["profile"] if "profile" in words else report)["functions"]
                deep = [row["doubtful"] for row in rows if re.search("is_even|is_odd", row["name"])]
                self.assertEqual(deep, [True] * 2, rows)
                second = machines.nopscope("report", run.recording).stdout.splitlines()[1]
                deeper = rf"{missing:,} calls deeper than the shadow stack"
                self.assertRegex(second, rf"^missing: {deeper}; .*~.*NOPSCOPE_SHADOW_FRAMES")
                self.assertRegex(run.errors, rf"; {deeper} are missing: .*NOPSCOPE_SHADOW_FRAMES")


class Reset(machines.Case):
    """A firmware in flight mode resets its machine. The next boot sends the first boot's last records."""

    def test_each_way_to_reset(self):
        """How many records and headers of before the next boot refuses, and how many sessions it keeps. `forget`: none by choice."""
        for word, spoiled, headers, kept in (("announced", 0, 0, 1), ("sudden", 0, 0, 1), ("forget", 0, 0, 0), ("records", 3, 0, 1),
                                             ("header", 0, 1, 0)):
            with self.subTest(word):
                run, report = self.ran(MACHINE, "reset", word, clean=False)
                said = re.search(r"reset: (\d+) records of before, (\d+) refused, (\d+) headers refused", run.console)
                self.assertTrue(said, run.console)
                records, *refused = map(int, said.groups())
                self.assertEqual(refused, [spoiled, headers])
                self.assertEqual((report["sessions"], report["integrity"]["recovered_sessions"]), (2, kept))
                calls = {row["name"]: row["calls"] for row in report["functions"]}
                self.assertEqual((calls.get("before_the_reset", 0), calls["after_the_reset"]), (kept, 1))
                if not kept:
                    self.assertEqual(records, 0)
                    continue
                self.assertTrue(report["flight"])
                self.assertGreater(records, SLOTS - 100)
                self.assertGreater(calls["leaf"], SLOTS // 4)
                integrity = report["integrity"]
                self.assert_generated(integrity)
                self.assert_zero(integrity, "corrupt_frames", "lost", "lost_frames", "duplicate_frames", "malformed_frames",
                                 "inconsistent_cores")
                for part in ("lost", "overwritten", "dropped"):
                    self.assertEqual(sum(gap[part] for gap in report["gaps_list"]), integrity[part])
                self.assertEqual(sum(gap["overwritten"] == 1 for gap in report["gaps_list"]), spoiled, report["gaps_list"])


class Unwinding(machines.Case):
    """C++ exceptions, a forced unwinding and backtraces in traced calls, on two cores, in a task and in interrupts that come at
    any instruction. The image checks what the program sees (it exits with a status), and prints how often it called each
    function. The recording has to say the same."""

    def unwound(self, *words):
        """Returns the report, {function: (calls, calls that an exception left)} and the callbacks' entries and exits."""
        run, report = self.ran(MACHINE, "unwinding", *words)
        rows = [line.split() for line in run.console.splitlines()]
        told = {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[2].isdigit()}
        callbacks = told.pop("callbacks")
        self.assertGreater(sum(left for _, left in told.values()), 1000, run.console)
        integrity = report["integrity"]
        self.assertTrue(integrity["complete"], integrity)
        self.assert_zero(integrity, "orphan_returns", "gaps")
        return report, told, callbacks

    def check(self, *words, columns=("calls",), profile=False):
        if "events=1" in words and not COUNTS_EVENTS:
            return []
        with self.subTest(words):
            report, told, _ = self.unwound(*words)
            functions = [f for f in (report["profile"] if profile else report)["functions"] if f["name"] in told]
            shown = {f["name"]: tuple(f[column] for column in columns) for f in functions}
            self.assertEqual(shown, {name: numbers[:len(columns)] for name, numbers in told.items()})
            return functions

    def test_every_call_that_an_exception_leaves_is_unwound(self):
        for words in ("recorder=graph", "recorder=graph events=1", "recorder=sampled", "recorder=graph ops=return", "recorder=graph only"):
            functions = self.check(*words.split(), columns=("calls", "unwound"))
            self.assertFalse(any(f["open"] or f["lost"] or f["incomplete"] for f in functions))

    def test_a_handler_has_its_time(self):
        """From the catch on, not from the next record. The handler's 1000 instructions are followed by a traced call."""
        report, _, _ = self.unwound("recorder=graph")
        catches, = (f for f in report["functions"] if f["name"] == "catches")
        self.assertTrue(1000 <= catches["self_ns"] / catches["calls"] < 2000, catches)

    def test_other_recorders(self):
        """No duration is dropped, although exceptions also end calls while the ring is full."""
        for words in ("recorder=function", "recorder=duration", "recorder=profile", "recorder=profile events=1"):
            self.check(*words.split(), profile="profile" in words)

    def test_callbacks(self):
        for words in (["ops=return"], ["recorder=graph", "ops=return"]):
            with self.subTest(words):
                _, told, (entries, exits) = self.unwound(*words)
                self.assertEqual(entries - exits, sum(left for _, left in told.values()))

    def test_the_same_program_untraced(self):
        self.unwound("recorder=none")


if __name__ == "__main__":
    unittest.main()
