#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times with the recorders' overhead removed, for functions whose instructions are counted
independently. With -icount shift=0 an instruction takes a nanosecond.

    overhead_test.py MACHINE IMAGE        counts, or counts-pmccntr
"""

import sys
import unittest

import machines

MACHINE, IMAGE = sys.argv[1:]
del sys.argv[1:]
COUNTED = {"oracle": True, "own": True}
OWN = ("counts_empty", "counts_loop", "counts_loop_odd", "counts_loop_local", "counts_few", "counts_caller", "counts_mixed",
       "counts_recursive", "counts_fibonacci", "counts_outer", "counts_catcher", "counts_thrower")
HANDLERS = ("counts_handler", "counts_handled")
LEAVING = ("counts_catcher", "counts_thrower")
LEAVES = ("counts_empty", "counts_loop", "counts_loop_odd", "counts_loop_local", "counts_few")


def tolerance(known, calls, tick_ns):
    """2 %, or one tick for each call."""
    return max(0.02 * known, calls * tick_ns)


def errors(functions, own, tick_ns):
    """Of each function's corrected self time, in tolerances. `own`: its instructions, by address."""
    return {f["name"]: (f["corrected_self_ns"] - known) / tolerance(known, f["calls"], tick_ns)
            for f in functions for known in [own[int(f["address"], 16)]]}


class Overhead(machines.Recorded):
    MACHINE, IMAGE, OPTIONS = MACHINE, IMAGE, COUNTED

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.run_.own()
        cls.tick_ns = 1e9 / cls.report["clock_hz"]

    def instructions(self, name):
        return self.own[int(self.functions[name]["address"], 16)]

    def test_it_ran_to_its_end_and_nothing_is_missing(self):
        self.ended("counts: done")
        self.assertEqual(sorted(OWN), sorted(self.functions))

    def test_corrected_self_times_are_within_two_percent_or_a_tick(self):
        found = errors(self.report["functions"], self.own, self.tick_ns)
        for name, error in found.items():
            function = self.functions[name]
            print(f"  {name:18} {function['calls']:5} calls, {self.instructions(name):7} instructions, "
                  f"self {function['self_ns']:7} ns, corrected {function['corrected_self_ns']:7} ns, {error:5.2f} of the tolerance")
        self.assertLessEqual(max(map(abs, found.values())), 1)

    def test_the_whole_is_right(self):
        known = sum(map(self.instructions, OWN))
        corrected = sum(f["corrected_self_ns"] for f in self.functions.values())
        self.assertLess(abs(corrected - known), 0.02 * known)

    def test_totals_are_the_selves_below(self):
        """For a function that calls only itself."""
        fibonacci = self.functions["counts_fibonacci"]
        self.assertAlmostEqual(fibonacci["corrected_total_ns"], fibonacci["corrected_self_ns"],
                               delta=0.02 * fibonacci["corrected_self_ns"])

    def test_the_constants_are_the_recorder_s_instructions(self):
        """docs/how-it-works.md counts them."""
        graph = self.report["overhead"]["graph"]
        self.assertTrue(self.report["overhead"]["calibrated"])
        clock = "pmccntr" if IMAGE.endswith("pmccntr") else "cntvct"
        self.assertEqual(self.report["overhead"]["clock"], clock)
        # Two loops of 128 calls. Each loop is measured to a tick.
        self.assertAlmostEqual(graph["inside_ns"] + graph["outside_ns"], 52, delta=2 * self.tick_ns / 128)


class Words(machines.Case):
    def counted(self, word, **options):
        """Records with this word. Returns the run, its report, the functions' own instructions, and a tick."""
        run, report = self.ran(MACHINE, IMAGE, word, **options)
        return run, report, run.own() if options else None, 1e9 / report["clock_hz"]

    def test_own_times_of_the_profile(self):
        """Also callers' times: the target subtracts the overhead of recording their callees. It
        cannot do so for calls that longjmp leaves, because they have no return."""
        _, report, own, tick_ns = self.counted("profile", **COUNTED)
        found = errors(report["profile"]["functions"], own, tick_ns)
        self.assertEqual(sorted(OWN), sorted(found))
        for function in report["profile"]["functions"]:
            name = function["name"]
            self.assertLessEqual(abs(found[name]), 2 if name in LEAVING else 1, name)
            self.assertGreater(function["self_ns"], function["corrected_self_ns"])

    def test_durations_of_leaves(self):
        """By the constants of the duration recorder. A landing pad takes longer (counts_loop_local)."""
        run, report, own, tick_ns = self.counted("duration", **COUNTED)
        self.assert_as_oracle(report, run.oracle)
        functions, found = {f["name"]: f for f in report["functions"]}, errors(report["functions"], own, tick_ns)
        for name in LEAVES:
            self.assertLessEqual(abs(found[name]), 1, name)
            self.assertGreater(functions[name]["self_ns"], functions[name]["corrected_self_ns"], name)

    def test_times_are_as_recorded_where_boot_measured_nothing(self):
        run, report, *_ = self.counted("unmeasured")
        self.assertFalse(report["overhead"]["calibrated"])
        for function in report["functions"]:
            self.assertEqual(function["corrected_self_ns"], function["self_ns"])
            self.assertEqual(function["corrected_total_ns"], function["total_ns"])
        self.assertIn("did not measure", run.report())

    def test_a_handler_s_calls(self):
        """For interrupts at any place: in a body, in a recorder, in its slow path. The interrupted
        call's self time contains the untraced code before the handler."""
        _, report, own, tick_ns = self.counted("interrupts", **COUNTED)
        calls = {f["name"]: f["calls"] for f in report["functions"]}
        self.assertGreater(calls["counts_handler"], 100)
        found = errors(report["functions"], own, tick_ns)
        for name in (*HANDLERS, *OWN):
            self.assertGreaterEqual(found[name], -1, name)
            if name in HANDLERS:
                self.assertLessEqual(found[name], 1, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
