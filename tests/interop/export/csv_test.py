#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table, read by Python's csv module."""

import collections

import exports
import hostile_names
import readers
from readers import csv_rows as read


class Csv(exports.Case):
    FORMAT = "csv"

    def test_calls_and_times_are_the_report_s(self):
        for name, options in exports.RUNS:
            rows = read(self.export(name, *options))
            self.assertRegex(rows[0]["name"], "^times are raw")
            sums = readers.csv_sums(rows, exports.Sums(), lambda row: row["name"])
            durations = collections.Counter()
            for row in rows:
                if row["kind"] == "call":
                    durations[row["name"]] += int(row["duration_ns"])
            for row in exports.functions(name):
                if exports.is_plain(name, row):  # its calls are not inside each other
                    self.assertAlmostEqual(durations[row["name"]], row["total_ns"], msg=(name, row["name"]),
                                           delta=exports.rounding(name) * (1 + sums.total_lengths[row["name"]]))
            self.check_events(name, sums, options)

    def test_the_other_events(self):
        rows = read(self.export("captured"))
        report = exports.report("captured")
        for kind, lists in (("counter", report["counters"]), ("value", report["captured"])):
            found = collections.defaultdict(list)
            for row in rows:
                if row["kind"] == kind:
                    found[row["name"], row["how"]].append(int(row["value"]))
            self.assertEqual(exports.ranges(found), exports.ranges_of(
                lists, lambda row: ("", str(row["id"])) if "id" in row else (row["name"], row["what"])))
        marks = sorted(int(row["value"]) for row in rows if row["kind"] == "mark")
        self.assertEqual(marks, sorted(mark["id"] for mark in report["markers"]))
        gaps = collections.Counter()
        for row in read(self.export("stream")):
            if row["kind"] in ("lost", "overwritten", "dropped"):
                gaps[row["kind"]] += int(row["value"])
        integrity = exports.report("stream")["integrity"]
        self.assertEqual(gaps, {kind: integrity[kind] for kind in ("lost", "overwritten", "dropped") if integrity[kind]})

    def test_samples(self):
        innermost, last = collections.Counter(), None
        for row in read(self.export("samples")) + [{"kind": "end"}]:
            if last and (row["kind"] != "sample" or row["depth"] == "0"):
                innermost[last] += 1
            last = row["name"] if row["kind"] == "sample" else None
        self.assertEqual(innermost, exports.sampled())

    def test_hostile_names_are_escaped_and_no_formulas(self):
        names = {row["name"] for row in read(self.export("hostile")) if row["kind"] == "call"}
        used = {row["name"] for row in exports.report("hostile")["functions"]}
        self.assertEqual(len(names - {exports.TRACER, ""}), len(used - {""}))
        self.assertIn(hostile_names.NAMES[0].decode(), names)
        self.assertFalse([name for name in names if name[:1] in "=+-@\t\r" and name])
        self.assertIn("'=1+1", names)


if __name__ == "__main__":
    exports.main()
