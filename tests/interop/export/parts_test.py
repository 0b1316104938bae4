#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of real recordings: by time, core, task and caller they add up to the whole report."""

import collections
import json
import random

import exports
import replay_test

ADDS_UP = ("calls", "total_ns", "self_ns", "dropped")


def report_of(name, *options):
    return json.loads(exports.run(exports.NOPSCOPE, "report", exports.recording(name), "--format", "json", *options).stdout)


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


def length_of(report):
    """The length of the axis of times."""
    cut = report["tracer_ns"] if report["lossless"] and report["cores"] == 1 else 0
    return report["duration_ns"] - cut


def subtree_sums(name, functions):
    """Calls and self times in the graph's subtrees of these functions, by address."""
    sums = collections.defaultdict(collections.Counter)
    inside = {}
    for node in exports.graph(name)["nodes"]:
        inside[node["id"]] = node["name"] in functions or inside.get(node["parent"], False)
        if inside[node["id"]] and node["address"] is not None:
            sums[node["address"]].update(calls=node["calls"], self_ns=node["self_ns"])
    return sums


class Parts(exports.Case):
    def assert_adds_up(self, name, parts, columns):
        reports = [report_of(name, *part) for part in parts]
        sums = sums_of(reports, columns)
        paths = collections.Counter(node["name"] for node in exports.graph(name)["nodes"])
        for key, row in rows_of(exports.report(name)).items():
            for column in columns:
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
            ends = sorted(chance.sample(range(1, length_of(whole)), chance.randrange(1, 5)))
            texts = ["", *(f"{end}ns" for end in ends), ""]
            parts = [("--time", f"{begin}..{end}") for begin, end in zip(texts, texts[1:])]
            with self.subTest(recording=name, parts=parts):
                reports = self.assert_adds_up(name, parts, ADDS_UP)
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
        for name, option in (("cores", "--core"), ("tasks", "--task"), ("tasks-54", "--task")):
            numbers = {str(of["core" if option == "--core" else "context"]) for of in exports.report(name)["contexts"]}
            self.assertGreater(len(numbers), 1, name)
            self.assert_adds_up(name, [(option, number) for number in sorted(numbers)], ADDS_UP)

    def test_a_subtree_is_that_of_the_graph(self):
        for name, function in (("demo", "luaD_precall"), ("demo", "luaV_execute"), ("torture", "*"), ("tasks", "*")):
            whole = [row["name"] for row in exports.report(name)["functions"]]
            for root in ([function] if function != "*" else whole):
                expected = subtree_sums(name, {root})
                rows = rows_of(report_of(name, "--under", root))
                self.assertEqual({key: (rows[key]["calls"], rows[key]["self_ns"]) for key in rows if isinstance(key, str)},
                                 {key: (of["calls"], of["self_ns"]) for key, of in expected.items()}, (name, root))

    def test_the_longest_call_is_where_the_report_says(self):
        for name in ("demo", "torture", "tasks", "cores", "tasks-54", "pauses"):
            whole = exports.report(name)
            rows = sorted((row for row in whole["functions"] if row["longest"]), key=lambda row: row["max_ns"])[-3:]
            self.assertTrue(rows, name)
            for row in rows:
                end = row["longest"]["end_ns"]
                lines = replay_test.lines_of(name, "--time", f"..{end + 1}ns", "--function", row["name"],
                                             "--core", str(row["longest"]["core"]))
                # A call with calls inside has two lines, and its end is the second's time.
                ends = [(at if text.startswith("} ") else at + took, core, context)
                        for at, took, core, context, _, text in lines
                        if took is not None and abs(took - row["max_ns"]) <= exports.rounding(name)]
                found = [one for one in ends if abs(one[0] - end) <= exports.rounding(name)]
                self.assertIn((row["longest"]["core"], row["longest"]["context"]), [one[1:] for one in found],
                              (name, row["name"], end, ends))

    def test_rows_of_some_functions_are_those_of_the_whole(self):
        rows = {row["name"]: row for row in exports.report("demo")["functions"]}
        some = {row["name"]: row for row in report_of("demo", "--function", "luaH_*")["functions"]}
        self.assertEqual(some, {name: row | {"share": some[name]["share"]} for name, row in rows.items()
                                if name.startswith("luaH_")})

    def test_paths_to_some_functions(self):
        """The graph and the stacks of an export lead to these functions, and have what is their own."""
        rows = {row["name"]: row for row in exports.report("demo")["functions"] if row["name"].startswith("luaH_")}
        nodes = json.loads(exports.run(exports.NOPSCOPE, "graph", exports.recording("demo"), "--function", "luaH_*",
                                       "--format", "json").stdout)["nodes"]
        leaves = {node["name"] for node in nodes} - {nodes[node["parent"]]["name"] for node in nodes if node["parent"] is not None}
        self.assertEqual({name for name in leaves if not name.startswith("luaH_")}, set())
        stacks = exports.run(exports.NOPSCOPE, "export", exports.recording("demo"), "--function", "luaH_*",
                             "--format", "folded", "-o", "-").stdout.decode().splitlines()
        sums = collections.Counter()
        for line in stacks:
            frames, ns = line.rsplit(" ", 1)
            sums[frames.rsplit(";", 1)[-1]] += int(ns)
        self.assertEqual(dict(sums), {name: row["corrected_self_ns"] for name, row in rows.items() if row["corrected_self_ns"] != 0})

    def test_long_calls_are_those_that_events_show(self):
        for name in ("demo", "tasks"):
            calls = collections.Counter(replay_test.HOW.sub("", text).removeprefix("} ").removesuffix("()") for _, took, _, _, _, text
                                        in replay_test.lines_of(name, "--min-duration", "2us")
                                        if took is not None and not text.startswith(("(", "} (")))
            rows = {row["name"]: row["calls"] for row in report_of(name, "--raw", "--min-duration", "2us")["functions"]}
            self.assertEqual(rows, dict(calls), name)


if __name__ == "__main__":
    exports.main()
