#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of real recordings: by time, core, task and caller they add up to the whole report."""

import collections
import random

import exports
import replay_test

ADDS_UP = ("calls", "total_ns", "self_ns", "dropped")


def rows_of(report):
    """By address, or number of the interrupt."""
    rows = {row["address"]: row for row in report["functions"]}
    return rows | {row["interrupt"]: row for row in report.get("interrupts", [])}


def sums_of(reports, columns):
    sums = collections.defaultdict(collections.Counter)
    for report in reports:
        for key, row in rows_of(report).items():
            sums[key].update({column: row[column] for column in columns})
    return sums


class Parts(exports.Case):
    def assert_adds_up(self, name, parts):
        reports = [exports.answer("report", name, *part) for part in parts]
        sums = sums_of(reports, ADDS_UP)
        paths = collections.Counter(node["name"] for node in exports.graph(name)["nodes"])
        for key, row in rows_of(exports.report(name)).items():
            for column in ADDS_UP:
                # Each part rounds the time of each path.
                rounded = 0 if column in ("calls", "dropped") else exports.rounding(name) * len(parts) * (1 + paths[row.get("name")])
                self.assertAlmostEqual(sums[key][column], row[column], delta=rounded,
                                       msg=f"{name}: {column} of {row.get('name', key)} in {parts}")
        self.assertEqual(sorted(map(str, sums)), sorted(map(str, rows_of(exports.report(name)))), f"{name}: {parts}")
        return reports

    def test_ten_partitions_by_time(self):
        chance = random.Random(23)
        for name in ("demo", "torture", "tasks", "cores", "stream", "captured", "torture-54", "tasks-54", "gaps", "damaged"):
            whole = exports.report(name)
            length = whole["duration_ns"] - (whole["tracer_ns"] if whole["lossless"] and whole["cores"] == 1 else 0)  # of the axis of times
            ends = sorted(chance.sample(range(1, length), chance.randrange(1, 5)))
            texts = ["", *(f"{end}ns" for end in ends), ""]
            parts = [("--time", f"{begin}..{end}") for begin, end in zip(texts, texts[1:])]
            with self.subTest(recording=name, parts=parts):
                reports = self.assert_adds_up(name, parts)
                for column in ("duration_ns", "tracer_ns"):
                    self.assertAlmostEqual(sum(report[column] for report in reports), whole[column], delta=len(parts))
                # A part has the overhead of the calls that begin in it.
                graph = whole["overhead"].get("graph", {"inside_ns": 0, "outside_ns": 0})
                near = len(parts) * (1 + graph["inside_ns"] + graph["outside_ns"])
                # What the subtraction takes a path below zero counts as zero, in each part.
                near += sum(report["overhead"].get("below_zero_ns", 0) for report in [whole, *reports])
                sums = sums_of(reports, ("corrected_self_ns",))
                for key, row in rows_of(whole).items():
                    self.assertAlmostEqual(sums[key]["corrected_self_ns"], row["corrected_self_ns"], delta=near)

    def test_cores_and_tasks(self):
        for name, option, column in (("cores", "--core", "core"), ("tasks", "--task", "context"), ("tasks-54", "--task", "context")):
            numbers = {str(of[column]) for of in exports.report(name)["contexts"]}
            self.assertGreater(len(numbers), 1, name)
            self.assert_adds_up(name, [(option, number) for number in sorted(numbers)])

    def test_a_subtree_is_that_of_the_graph(self):
        every = [(name, row["name"]) for name in ("torture", "tasks") for row in exports.report(name)["functions"]]
        for name, root in (("demo", "luaD_precall"), ("demo", "luaV_execute"), *every):
            expected = collections.defaultdict(lambda: (0, 0))
            for path, node in exports.paths(name):
                if root in path and node["address"] is not None:
                    calls, own = expected[node["address"]]
                    expected[node["address"]] = calls + node["calls"], own + node["self_ns"]
            rows = exports.answer("report", name, "--under", root)["functions"]
            self.assertEqual({row["address"]: (row["calls"], row["self_ns"]) for row in rows}, expected, (name, root))

    def test_the_longest_call_is_where_the_report_says(self):
        for name in ("demo", "torture", "tasks", "cores", "tasks-54", "pauses"):
            whole = exports.report(name)
            rows = sorted((row for row in whole["functions"] if row["longest"]), key=lambda row: row["max_ns"])[-3:]
            self.assertTrue(rows, name)
            for row in rows:
                end, off = row["longest"]["end_ns"], exports.rounding(name)
                lines = replay_test.lines_of(name, "--time", f"..{end + 1}ns", "--function", row["name"],
                                             "--core", str(row["longest"]["core"]))
                # A call with calls inside has two lines, and its end is the second's time.
                found = {(core, context) for at, took, core, context, text in lines if took is not None and
                         abs(took - row["max_ns"]) <= off and abs(at + (0 if text.startswith("} ") else took) - end) <= off}
                self.assertIn((row["longest"]["core"], row["longest"]["context"]), found, (name, row["name"], end))


if __name__ == "__main__":
    exports.main()
