#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`diff` of recordings in which every time is known."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import exports

MAIN, WORK, REST, OLD, NEW = range(1, 6)
NAMES = {MAIN: "main", WORK: "work", REST: "rest", OLD: "old", NEW: "new"}


def trace(calls):
    """One call of MAIN, with these calls inside: [(function, own ns, calls inside...)]."""
    out = b""

    def call(now, function, length, *inside):
        nonlocal out
        out += struct.pack("<BIQ", 0, function, now)
        for one in inside:
            now = call(now, *one)
        now += length
        out += struct.pack("<BIQ", 1, function, now)
        return now

    call(1000, MAIN, 1000, *calls)
    return out


class Diff(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.count = 0

    def run_of(self, *calls, names=None):
        self.count += 1
        events, list_of_names = self.directory / "calls.ev13", self.directory / "names.txt"
        events.write_bytes(trace(calls))
        named = NAMES | (names or {})
        list_of_names.write_text("".join(f"{number} {number * 8} {name}\n" for number, name in named.items()))
        recording = self.directory / f"{self.count}.nsc"
        subprocess.run([os.environ["NOPSCOPE_REPORT_BENCH"], events, "--tick-hz", "1000000000", "--names", list_of_names,
                        "--nsc", recording], check=True, stdout=subprocess.DEVNULL)
        return recording

    def diff(self, *arguments, status=0):
        return exports.run(exports.NOPSCOPE, "diff", *arguments, status=status).stdout.decode()

    def verdicts(self, *arguments, status=0):
        answer = json.loads(self.diff(*arguments, "--format", "json", status=status))
        return {row["name"]: row["verdict"] for row in answer["functions"]}, answer

    def test_two_runs(self):
        before = self.run_of((WORK, 10_000), (REST, 5_000), (OLD, 3_000))
        after = self.run_of((WORK, 13_000), (REST, 4_000), (NEW, 2_000), (NEW, 2_000))
        verdicts, answer = self.verdicts(before, after)
        self.assertEqual(verdicts, {"work": "slower", "rest": "faster", "old": "gone", "new": "new", "main": "same"})
        self.assertFalse(answer["tested"])
        self.assertEqual(answer["self_ns"]["before"], 19_000)
        self.assertEqual(answer["self_ns"]["after"], 22_000)
        work = next(row for row in answer["functions"] if row["name"] == "work")
        self.assertEqual((work["before"], work["after"]), ({"calls": 1, "self_ns": 10_000, "total_ns": 10_000},
                                                           {"calls": 1, "self_ns": 13_000, "total_ns": 13_000}))
        self.assertIsNone(work["p"])
        paths = {tuple(row["path"]): row["verdict"] for row in answer["paths"]}
        self.assertEqual(paths, {("main", "work"): "slower", ("main", "rest"): "faster", ("main", "old"): "gone",
                                 ("main", "new"): "new"})
        text = self.diff(before, after)
        self.assertIn("+30.0 %", text)
        self.assertLess(text.index("slower\n"), text.index("faster\n"))

    def test_per_call_and_per_second(self):
        """Twice as many calls of WORK, each a fifth faster, in a run that is longer."""
        before = self.run_of((WORK, 10_000), (REST, 9_000))
        after = self.run_of((WORK, 8_000), (WORK, 8_000), (REST, 15_000))
        verdicts, answer = self.verdicts(before, after)
        self.assertEqual((verdicts["work"], answer["per"]), ("slower", "total"))
        verdicts, answer = self.verdicts(before, after, "--per", "call")
        self.assertEqual((verdicts["work"], answer["per"]), ("faster", "call"))
        work = next(row for row in answer["functions"] if row["name"] == "work")
        self.assertEqual(work["after"], {"calls": 2, "self_ns": 8_000, "total_ns": 8_000})
        verdicts, answer = self.verdicts(before, after, "--per", "second")
        spans = answer["span_ns"]
        self.assertEqual(spans, {"before": 20_000, "after": 32_000})
        work = next(row for row in answer["functions"] if row["name"] == "work")
        self.assertEqual((work["before"]["self_ns"], work["after"]["self_ns"]), (0.5e9, 0.5e9))
        self.assertEqual((work["verdict"], work["after"]["calls"]), ("same", 62_500))
        self.assertIn("see --per second", self.diff(before, after))
        self.assertIn("per second of the recording", self.diff(before, after, "--per", "second"))
        self.diff(before, after, "--per", "call", "--html", self.directory / "x.html", status=2)

    def test_per_call_leaves_out_what_has_no_calls(self):
        """MAIN goes on through the part, so no call of it begins there."""
        before, after = (self.run_of((WORK, length), (REST, 9_000)) for length in (10_000, 11_000))
        verdicts, _ = self.verdicts(before, after, "--time", "1us..5us")
        self.assertEqual(set(verdicts), {"main", "work"})
        verdicts, _ = self.verdicts(before, after, "--time", "1us..5us", "--per", "call")
        self.assertEqual(set(verdicts), set())

    def test_some_functions(self):
        before, after = self.run_of((WORK, 10_000), (OLD, 9_000)), self.run_of((WORK, 11_000), (NEW, 8_000))
        verdicts, answer = self.verdicts(before, after, "--function", "???")
        self.assertEqual(verdicts, {"old": "gone", "new": "new"})
        self.assertEqual((answer["self_ns"]["before"], answer["self_ns"]["after"]), (9_000, 8_000))
        self.diff(before, after, "--function", "none", status=2)

    def test_tasks(self):
        slow, fast = exports.recording("tasks-54"), exports.recording("tasks")
        answer = json.loads(self.diff(slow, fast, "--by", "task", "--format", "json"))
        ran = {f"task {of['context']}": of["ran_ticks"] - of["tracer_ticks"] for of in exports.report("tasks")["contexts"]}
        self.assertEqual({row["name"]: row["after"]["self_ns"] for row in answer["functions"]}, ran)
        self.assertEqual((answer["by"], answer["paths"]), ("task", []))
        self.assertEqual({row["verdict"] for row in answer["functions"]}, {"faster"})

    def test_only_what_is_more_than_chance_is_slower(self):
        before = [self.run_of((WORK, 10_000 + n), (REST, 5_000 + 2_000 * n)) for n in (0, 1, 2)]
        after = [self.run_of((WORK, 11_000 + n), (REST, 5_500 + 2_000 * n)) for n in (0, 1, 2)]
        verdicts, answer = self.verdicts(*before, "--", *after)
        self.assertTrue(answer["tested"])
        self.assertEqual(verdicts, {"work": "slower", "rest": "same", "main": "same"})
        # Welch's t of 1000 / sqrt(1/3 + 1/3) with 4 degrees of freedom, and of 500 / sqrt(4e6/3 * 2).
        p = {row["name"]: row["p"] for row in answer["functions"]}
        self.assertAlmostEqual(p["work"], 2.666e-12, delta=1e-14)
        self.assertAlmostEqual(p["rest"], 0.7748, delta=1e-4)

    # Names of clones: clones_test.cpp. Here: three calls of work, one alone, one that goes on in a piece, and one of another
    # version. The piece also comes without its origin, because the caller inlines that.
    def test_several_clones_of_one_origin_are_summed(self):
        names = {REST: "work.part.0", OLD: "work.constprop.0"}
        _, answer = self.verdicts(
            self.run_of((WORK, 1_000), (WORK, 1_500), (WORK, 600), (WORK, 50)),
            self.run_of((WORK, 1_000), (WORK, 700, (REST, 800)), (OLD, 500), (REST, 30),
                        (NEW, 10, (WORK, 5, (WORK, 2, (REST, 1)))), names=names))
        for side in ("before", "after"):
            self.assertEqual(sum(row[side]["self_ns"] for row in answer["functions"]), answer["self_ns"][side])
        work = next(row for row in answer["functions"] if row["name"] == "work")
        paths = {tuple(row["path"]): row for row in answer["paths"]}
        self.assertEqual((work["verdict"], sorted(work["clones"])), ("faster", ["work", "work.constprop.0", "work.part.0"]))
        self.assertEqual(work["before"], {"calls": 4, "self_ns": 3_150, "total_ns": 3_150})
        self.assertEqual(work["after"], {"calls": 6, "self_ns": 3_038, "total_ns": 3_038})
        self.assertEqual(paths["main", "work"]["after"], {"calls": 4, "self_ns": 3_030, "total_ns": 3_030})
        self.assertEqual(paths["main", "new", "work"]["after"], {"calls": 1, "self_ns": 5, "total_ns": 8})
        before, after = self.run_of((WORK, 1_000)), self.run_of((WORK, 1_000, (REST, 800)), names=names)
        self.assertIn("work (sum of work, work.part.0)", self.diff(before, after))

    def test_spans_that_differ_are_said(self):
        short, other, long = self.run_of((WORK, 10_000)), self.run_of((WORK, 11_000)), self.run_of(*[(WORK, 10_000)] * 9)
        self.assertNotIn("spans", self.diff(short, other))
        for one, two in ((short, long), (long, short)):
            self.assertRegex(self.diff(one, two), "(?m)^recorded spans differ: .* before, .* after; the times below are sums")
        _, answer = self.verdicts(short, long)
        self.assertEqual(answer["span_ns"], {"before": 11_000, "after": 91_000})

    def test_it_fails_above_what_was_asked(self):
        before = self.run_of((WORK, 10_000), (REST, 90_000))
        after = self.run_of((WORK, 11_000), (REST, 90_000))
        self.assertIn("failed: work is more than 5 % slower", self.diff(before, after, "--fail-above", "5%", status=1))
        self.assertIn("nothing is more than 10.5 % slower", self.diff(before, after, "--fail-above", "10.5"))
        self.assertIn("nothing", self.diff(after, before, "--fail-above", "0"))
        self.diff(before, after, "--fail-above", "5%", "--min-share", "20")
        both = self.diff(before, after, "--fail-above", "0.5%", "--min-share", "20", status=1)
        self.assertIn("failed: all functions together are more than 0.5 % slower", both)

    def test_folded_is_what_flamegraph_reads(self):
        before, after = self.run_of((WORK, 10_000), (OLD, 1_000)), self.run_of((WORK, 13_000))
        self.assertEqual(set(self.diff(before, after, "--format", "folded").splitlines()),
                         {"main;work 10000 13000", "main;old 1000 0", "main 1000 1000"})

    def test_what_makes_no_sense_is_one_sentence(self):
        run = self.run_of((WORK, 1))
        for arguments, said in (((run,), "two recordings are wanted"), ((run, run, "--fail-above", "much"), "expected a number of percent"),
                                ((run, run, "--fail-above", "-5"), "expected a number of percent")):
            done = exports.run(exports.NOPSCOPE, "diff", *arguments, status=2)
            self.assertIn(said, done.stderr.decode())
        exports.run(exports.NOPSCOPE, "diff", run, self.directory / "none.nsc", status=3)


if __name__ == "__main__":
    unittest.main()
