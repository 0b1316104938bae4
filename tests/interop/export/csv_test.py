#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table, read by Python's csv module."""

import collections

import exports
import hostile_names
from readers import csv_rows as read


class Csv(exports.Case):
    FORMAT = "csv"

    def test_it_says_that_times_are_raw(self):
        self.assertRegex(read(self.export("tasks"))[0]["name"], "^times are raw")

    def test_the_other_events(self):
        rows, found = read(self.export("captured")), collections.defaultdict(lambda: collections.defaultdict(list))
        for row in rows:
            if row["kind"] in ("counter", "value", "mark"):
                found[row["kind"]][int(row["how"]) if row["kind"] == "counter" else (row["name"], row["how"])].append(int(row["value"]))
        self.check_others(sum(found["mark"].values(), []), found["counter"], found["value"])
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
