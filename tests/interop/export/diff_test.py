#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`diff` of recordings in which every time is known."""

import json

import exports

MAIN, WORK, REST, OLD, NEW = range(1, 6)
NAMES = {MAIN: "main", WORK: "work", REST: "rest", OLD: "old", NEW: "new"}


def events_of(now, function, length, *inside):
    """A call's events. `length`: ns of its own. `inside`: such calls, without `now`."""
    events = [(0, function, now)]
    for call in inside:
        events += events_of(events[-1][2], *call)
    return [*events, (1, function, events[-1][2] + length)]


def sums(calls, own, total=None):
    return {"calls": calls, "self_ns": own, "total_ns": total or own}


class Diff(exports.Case):
    def run_of(self, *calls, names=None):
        named = NAMES | (names or {})
        return self.invented(events_of(1000, MAIN, 1000, *calls), "--tick-hz", "1000000000",
                             names="".join(f"{number} {number * 8} {name}\n" for number, name in named.items()))

    def diff(self, *arguments, status=0):
        return exports.nopscope("diff", *arguments, status=status).stdout.decode()

    def verdicts(self, *arguments):
        """Returns the verdicts, the rows by name, and the whole answer."""
        answer = json.loads(self.diff(*arguments, "--format", "json"))
        rows = {row["name"]: row for row in answer["functions"]}
        return {name: row["verdict"] for name, row in rows.items()}, rows, answer

    def test_two_runs(self):
        before = self.run_of((WORK, 10_000), (REST, 5_000), (OLD, 3_000))
        after = self.run_of((WORK, 13_000), (REST, 4_000), (NEW, 2_000), (NEW, 2_000))
        verdicts, rows, answer = self.verdicts(before, after)
        self.assertEqual(verdicts, {"work": "slower", "rest": "faster", "old": "gone", "new": "new", "main": "same"})
        self.assertEqual((answer["tested"], rows["work"]["p"], answer["self_ns"]["before"], answer["self_ns"]["after"]),
                         (False, None, 19_000, 22_000))
        self.assertEqual((rows["work"]["before"], rows["work"]["after"]), (sums(1, 10_000), sums(1, 13_000)))
        paths = {tuple(row["path"]): row["verdict"] for row in answer["paths"]}
        self.assertEqual(paths, {("main", "work"): "slower", ("main", "rest"): "faster", ("main", "old"): "gone", ("main", "new"): "new"})
        text = self.diff(before, after)
        self.assertIn("+30.0 %", text)
        self.assertLess(text.index("slower\n"), text.index("faster\n"))

    def test_per_call_and_per_second(self):
        """Twice as many calls of WORK, each a fifth faster, in a run that is longer."""
        before = self.run_of((WORK, 10_000), (REST, 9_000))
        after = self.run_of((WORK, 8_000), (WORK, 8_000), (REST, 15_000))
        verdicts, _, answer = self.verdicts(before, after)
        self.assertEqual((verdicts["work"], answer["per"]), ("slower", "total"))
        verdicts, rows, answer = self.verdicts(before, after, "--per", "call")
        self.assertEqual((verdicts["work"], answer["per"], rows["work"]["after"]), ("faster", "call", sums(2, 8_000)))
        verdicts, rows, answer = self.verdicts(before, after, "--per", "second")
        self.assertEqual((verdicts["work"], answer["span_ns"]), ("same", {"before": 20_000, "after": 32_000}))
        self.assertEqual((rows["work"]["before"]["self_ns"], rows["work"]["after"]["self_ns"], rows["work"]["after"]["calls"]),
                         (0.5e9, 0.5e9, 62_500))
        self.assertIn("see --per second", self.diff(before, after))
        self.assertIn("per second of the recording", self.diff(before, after, "--per", "second"))
        self.diff(before, after, "--per", "call", "--html", self.directory / "x.html", status=2)

    def test_a_part_of_the_functions(self):
        """MAIN goes on through the part of the time, so no call of it begins there, and --per call leaves it out."""
        one, other = (self.run_of((WORK, length), (REST, 9_000)) for length in (10_000, 11_000))
        before, after = self.run_of((WORK, 10_000), (OLD, 9_000)), self.run_of((WORK, 11_000), (NEW, 8_000))
        self.assertEqual(set(self.verdicts(one, other, "--time", "1us..5us")[0]), {"main", "work"})
        self.assertEqual(self.verdicts(one, other, "--time", "1us..5us", "--per", "call")[0], {})
        verdicts, _, answer = self.verdicts(before, after, "--function", "???")
        self.assertEqual(verdicts, {"old": "gone", "new": "new"})
        self.assertEqual((answer["self_ns"]["before"], answer["self_ns"]["after"]), (9_000, 8_000))
        self.diff(before, after, "--function", "none", status=2)

    def test_tasks(self):
        verdicts, rows, answer = self.verdicts(exports.recording("tasks-54"), exports.recording("tasks"), "--by", "task")
        ran = {f"task {of['context']}": of["ran_ticks"] - of["tracer_ticks"] for of in exports.report("tasks")["contexts"]}
        self.assertEqual({name: row["after"]["self_ns"] for name, row in rows.items()}, ran)
        self.assertEqual((answer["by"], answer["paths"], set(verdicts.values())), ("task", [], {"faster"}))

    def test_only_what_is_more_than_chance_is_slower(self):
        before = [self.run_of((WORK, 10_000 + n), (REST, 5_000 + 2_000 * n)) for n in (0, 1, 2)]
        after = [self.run_of((WORK, 11_000 + n), (REST, 5_500 + 2_000 * n)) for n in (0, 1, 2)]
        verdicts, rows, answer = self.verdicts(*before, "--", *after)
        self.assertTrue(answer["tested"])
        self.assertEqual(verdicts, {"work": "slower", "rest": "same", "main": "same"})
        # Welch's t of 1000 / sqrt(1/3 + 1/3) with 4 degrees of freedom, and of 500 / sqrt(4e6/3 * 2).
        self.assertAlmostEqual(rows["work"]["p"], 2.666e-12, delta=1e-14)
        self.assertAlmostEqual(rows["rest"]["p"], 0.7748, delta=1e-4)

    # Names of clones: clones_test.cpp. Here: three calls of work, one alone, one that goes on in a piece, and one of another
    # version. The piece also comes without its origin, because the caller inlines that.
    def test_several_clones_of_one_origin_are_summed(self):
        names = {REST: "work.part.0", OLD: "work.constprop.0"}
        _, rows, answer = self.verdicts(
            self.run_of((WORK, 1_000), (WORK, 1_500), (WORK, 600), (WORK, 50)),
            self.run_of((WORK, 1_000), (WORK, 700, (REST, 800)), (OLD, 500), (REST, 30),
                        (NEW, 10, (WORK, 5, (WORK, 2, (REST, 1)))), names=names))
        for side in ("before", "after"):
            self.assertEqual(sum(row[side]["self_ns"] for row in answer["functions"]), answer["self_ns"][side])
        work, paths = rows["work"], {tuple(row["path"]): row["after"] for row in answer["paths"]}
        self.assertEqual((work["verdict"], sorted(work["clones"])), ("faster", ["work", "work.constprop.0", "work.part.0"]))
        self.assertEqual((work["before"], work["after"]), (sums(4, 3_150), sums(6, 3_038)))
        self.assertEqual((paths["main", "work"], paths["main", "new", "work"]), (sums(4, 3_030), sums(1, 5, 8)))
        before, after = self.run_of((WORK, 1_000)), self.run_of((WORK, 1_000, (REST, 800)), names=names)
        self.assertIn("work (sum of work, work.part.0)", self.diff(before, after))

    def test_spans_that_differ_are_said(self):
        short, other, long = self.run_of((WORK, 10_000)), self.run_of((WORK, 11_000)), self.run_of(*[(WORK, 10_000)] * 9)
        self.assertNotIn("spans", self.diff(short, other))
        for one, two in ((short, long), (long, short)):
            self.assertRegex(self.diff(one, two), "(?m)^recorded spans differ: .* before, .* after; the times below are sums")
        self.assertEqual(self.verdicts(short, long)[2]["span_ns"], {"before": 11_000, "after": 91_000})

    def test_it_fails_above_what_was_asked(self):
        before, after = self.run_of((WORK, 10_000), (REST, 90_000)), self.run_of((WORK, 11_000), (REST, 90_000))
        for one, two, options, status, said in (
                (before, after, ("5%",), 1, "failed: work is more than 5 % slower"),
                (before, after, ("10.5",), 0, "nothing is more than 10.5 % slower"), (after, before, ("0",), 0, "nothing"),
                (before, after, ("5%", "--min-share", "20"), 0, ""),
                (before, after, ("0.5%", "--min-share", "20"), 1, "failed: all functions together are more than 0.5 % slower")):
            self.assertIn(said, self.diff(one, two, "--fail-above", *options, status=status))

    def test_folded_is_what_flamegraph_reads(self):
        before, after = self.run_of((WORK, 10_000), (OLD, 1_000)), self.run_of((WORK, 13_000))
        self.assertEqual(set(self.diff(before, after, "--format", "folded").splitlines()),
                         {"main;work 10000 13000", "main;old 1000 0", "main 1000 1000"})

    def test_what_makes_no_sense_is_one_sentence(self):
        run = self.run_of((WORK, 1))
        for arguments, said in (((run,), "two recordings are wanted"), ((run, run, "--fail-above", "much"), "expected a number of percent"),
                                ((run, run, "--fail-above", "-5"), "expected a number of percent")):
            self.assertIn(said, exports.nopscope("diff", *arguments, status=2).stderr.decode())
        self.diff(run, self.directory / "none.nsc", status=3)


if __name__ == "__main__":
    exports.main()
