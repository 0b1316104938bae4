#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sum formats agree to the nanosecond, as recorded and corrected, for every recording here. All
times of a row are of one kind. docs/accuracy.md defines the times."""

import collections
import json
import re
import unittest

import exports
import readers

ALL = sorted(path.stem for path in exports.RECORDINGS.glob("*.nsc"))


def html(case, name, *options):
    """Returns the page's data."""
    out = case.directory / f"{name}.html"
    exports.run(exports.NOPSCOPE, "html", exports.recording(name), "-o", out, *options)
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', out.read_text(), re.S)[1])


class Sums(exports.Case):
    def rows(self, name, raw):
        """Returns {name: (calls, self, total)} of the report."""
        kind = "" if raw else "corrected_"
        rows = exports.functions(name)
        if not any(row["calls"] for row in exports.report(name)["functions"]):
            rows = rows + [row for row in exports.report(name).get("profile", {}).get("functions", []) if row["calls"]]
        return exports.by_name(rows, "calls", f"{kind}self_ns", f"{kind}total_ns")

    def for_each(self, check):
        for name in ALL:
            for raw in (True, False):
                with self.subTest(recording=name, raw=raw):
                    check(name, raw, ["--raw"] * raw)

    def test_every_format_has_the_report_s_self_times(self):
        def check(name, raw, options):
            rows = self.rows(name, raw)
            expected = {of: own for of, (_, own, _) in rows.items() if own}
            report = exports.report(name)
            if not report["functions"] and "profile" not in report:
                return  # only samples and interrupts: the formats show samples then
            with self.subTest(format="folded"):
                own = collections.Counter()
                for functions, weight in readers.folded_lines(self.export(name, *options, to="folded")):
                    own[functions[-1].replace(":", ";") if functions[-1] not in expected else functions[-1]] += weight
                if name != "hostile":  # a line cannot hold its names
                    self.assertEqual(own, expected)
                self.assertEqual(sum(own.values()), sum(expected.values()))
            with self.subTest(format="callgrind"):
                text = self.export(name, *options, to="callgrind").read_text()
                self.assertEqual(int(re.search(r"^summary: (\d+)", text, re.M)[1]), sum(expected.values()))
            with self.subTest(format="html"):
                page = html(self, name, *options)
                functions, paths = page["functions"], page["paths"]
                own = collections.Counter()
                for at in range(1, len(paths["function"])):
                    if paths["function"][at] >= 0:
                        own[functions[paths["function"][at]]["name"]] += paths["self"][at]
                table = exports.by_name([row for row in functions if row["calls"]], "calls", "self", "total")
                own = {of: time for of, time in own.items() if time}
                if name == "hostile":  # a page shows such names as for_cell() writes them
                    self.assertEqual(len(table), len(rows))
                    own, table, expected, rows = (sorted(of.values()) for of in (own, table, expected, rows))
                if all(function >= -1 for function in paths["function"]):
                    self.assertEqual(own, expected)
                self.assertEqual(table, rows)

        self.for_each(check)

    def test_graph_s_paths_are_the_report_s_functions(self):
        def check(name, raw, _):
            kind = "" if raw else "corrected_"
            nodes = exports.graph(name)["nodes"]
            own = collections.Counter()
            for node in nodes:
                own[node["name"]] += node[f"{kind}self_ns"]
            rows = exports.by_name(exports.functions(name), f"{kind}self_ns")
            self.assertEqual({of: time for of, time in own.items() if time}, {of: time for of, (time,) in rows.items() if time})
            # A path's total is its self time, its callees' totals, gaps and other contexts.
            inside = collections.Counter()
            for node in nodes:
                inside[node["parent"]] += node[f"{kind}total_ns"]
            for node in nodes:
                rest = node[f"{kind}total_ns"] - node[f"{kind}self_ns"] - inside[node["id"]]
                self.assertGreaterEqual(rest, 0)
                if name in ("torture", "hostile", "pauses"):
                    self.assertEqual(rest, 0)

        self.for_each(check)

    def test_a_row_is_of_one_kind(self):
        def check(name, raw, _):
            kind = "" if raw else "corrected_"
            report = exports.report(name)
            for row in exports.functions(name) + report.get("profile", {}).get("functions", []):
                call = [row[f"{kind}{part}_ns"] for part in ("min", "mean", "max", "total")]
                if None not in call:
                    self.assertEqual(call, sorted(call), row)
                self.assertLessEqual(row[f"{kind}self_ns"], row[f"{kind}total_ns"], row)

        self.for_each(check)

    def test_raw_is_corrected_and_what_was_taken_off(self):
        for name in ALL:
            report = exports.report(name)
            rows = exports.functions(name) + report.get("profile", {}).get("functions", [])
            taken = sum(row["self_ns"] - row["corrected_self_ns"] for row in rows)
            self.assertEqual(taken, report["overhead"]["subtracted_ns"], name)

    def test_a_latency_s_bins_lie_between_its_ends(self):
        def check(name, raw, options):
            if name == "hostile" or not exports.report(name)["functions"]:
                return
            answer = json.loads(exports.run(exports.NOPSCOPE, "latency", exports.recording(name), "*", "--format", "json", *options).stdout)
            rows = collections.defaultdict(list)
            for row in exports.report(name)["functions"]:
                rows[row["address"]].append(row)
            for one in answer:
                if not one["timed"] or one["address"] == "0x0":  # interrupts are listed separately
                    continue
                kind = "" if raw else "corrected_"
                row = rows[one["address"]][0]
                self.assertEqual([one["min_ns"], one["mean_ns"], one["max_ns"]],
                                 [row[f"{kind}{part}_ns"] for part in ("min", "mean", "max")])
                parts = [one[f"{part}_ns"] for part in ("min", "p50", "p90", "p99", "p999", "max")]
                self.assertEqual(parts, sorted(parts), one)
                # A bin begins at most a quarter below its calls. Rounding adds up to 1 ns.
                self.assertLessEqual(one["bins"][0][0], one["min_ns"] + 1)
                self.assertGreaterEqual(one["bins"][0][0] * 5 / 4 + 2, one["min_ns"])
                # If a call's time would exceed its function's total, max is that total.
                if one["max_ns"] < row[f"{kind}total_ns"]:
                    self.assertLessEqual(one["bins"][-1][0], one["max_ns"] + 1)

        self.for_each(check)


if __name__ == "__main__":
    unittest.main()
