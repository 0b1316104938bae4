#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All views and exports of sums agree to the nanosecond with `nopscope report`, as recorded and corrected (docs/exports.md,
"Which figures agree"), and all times of a row are of one kind. docs/accuracy.md defines the times.

    sums_test.py PART [--rest]      PART: a format, or rows. --rest: of the recordings that are left out else
"""

import collections
import itertools
import sys

import exports
import readers
from exports import key_of

SLOW = ("callgrind", "pprof")
SOME = ("begin", "tasks", "cores", "damaged", "captured", "torture-54", "hostile")  # for those
WITH_PROFILE = ("html", "folded", "callgrind", "pprof")


def differences(found, expected):
    """What is not there is 0."""
    return {of: (found.get(of, 0), expected.get(of, 0)) for of in {**found, **expected} if found.get(of, 0) != expected.get(of, 0)}


def each():
    """Each recording, as recorded (the columns' names have no prefix) and corrected."""
    return itertools.product(NAMES, ("", "corrected_"))


class Sums(exports.Case):
    def rows(self, name):
        rows, report = exports.functions(name), exports.report(name)
        if FORMAT in WITH_PROFILE and not any(row["calls"] for row in report["functions"]):
            rows = rows + [row for row in report.get("profile", {}).get("functions", []) if row["calls"]]
        return rows

    def test_figures_are_the_report_s(self):
        for name, before in each():
            report = exports.report(name)
            if not report["functions"] and "profile" not in report:
                continue  # only samples and interrupts: the formats show samples then
            with self.subTest(recording=name, times=before):
                reading = readers.SUMS[FORMAT](self, name, not before)
                self.assertFalse(reading.failures)
                self.check_figures(name, before, reading)
                if reading.paths is not None and name != "hostile" and "profile" not in report:
                    self.check_paths(name, before, reading.paths)

    def check_figures(self, name, before, reading):
        rows, of_place = collections.defaultdict(list), {}
        for row in self.rows(name):
            rows[key_of(row, reading.level)].append(row)
            of_place[key_of(row, "address")] = key_of(row, reading.level)
        inclusive = collections.Counter()
        for of, figure in readers.graph(self, name, not before).figures.items():
            inclusive[of_place.get(of, of)] += figure["inclusive"]
        for figure in sorted({figure for row in reading.figures.values() for figure in row}):
            column = figure if figure in ("calls", "doubtful") else f"{before}{figure}_ns"
            # An entry for two functions has the sum of their calls and own times. These may call each other.
            expected = inclusive if figure == "inclusive" else {
                of: sum(row[column] or 0 for row in its) for of, its in rows.items() if len(its) == 1 or figure in ("calls", "self")}
            found = {of: row.get(figure) or 0 for of, row in reading.figures.items() if of in expected or of not in rows}
            if figure == "total" and FORMAT == "graph" and exports.report(name)["gaps_list"] or figure == "inclusive" and name == "profile":
                continue  # a gap's time is in all paths around it, but counts once. The graph has no profile
            if name == "hostile":  # each format spells its names in its own way, and some have one line for several
                spelt = sorted if FORMAT in ("graph", "html", "query") else lambda values: [sum(values) if figure == "self" else 0]
                found, expected = (dict(enumerate(spelt(filter(None, of.values())))) for of in (found, expected))
            self.assertEqual(differences(found, expected), {}, figure)

    def check_paths(self, name, before, paths):
        for figure in {figure for path in paths.values() for figure in path}:
            expected = collections.Counter()
            for path, node in exports.paths(name):
                expected[path] += node[figure if figure == "calls" else f"{before}{figure}_ns"]
            self.assertEqual(differences({path: row[figure] for path, row in paths.items()}, expected), {}, figure)


class Graph(exports.Case):
    def test_a_path_s_total_is_its_self_time_its_callees_totals_gaps_and_other_contexts(self):
        for name, before in each():
            nodes, inside = exports.graph(name)["nodes"], collections.Counter()
            for node in nodes:
                inside[node["parent"]] += node[f"{before}total_ns"]
            for node in nodes:
                rest = node[f"{before}total_ns"] - node[f"{before}self_ns"] - inside[node["id"]]
                self.assertGreaterEqual(rest, 0, (name, node))
                if name in ("torture", "hostile", "pauses"):
                    self.assertEqual(rest, 0, (name, node))


class Rows(exports.Case):
    def test_a_row_is_of_one_kind(self):
        for name, before in each():
            for row in exports.functions(name) + exports.report(name).get("profile", {}).get("functions", []):
                call = [row[f"{before}{part}_ns"] for part in ("min", "mean", "max", "total")]
                if None not in call:
                    self.assertEqual(call, sorted(call), (name, row))
                self.assertLessEqual(row[f"{before}self_ns"], row[f"{before}total_ns"], (name, row))

    def test_raw_is_corrected_and_what_was_taken_off(self):
        for name in NAMES:
            report = exports.report(name)
            rows = exports.functions(name) + report.get("profile", {}).get("functions", [])
            taken = sum(row["self_ns"] - row["corrected_self_ns"] for row in rows)
            self.assertEqual(taken, report["overhead"]["subtracted_ns"], name)

    def test_a_latency_has_the_report_s_ends_and_its_parts_are_in_order(self):
        for name, before in each():
            if name == "hostile" or not exports.report(name)["functions"]:
                continue
            rows = {row["address"]: row for row in reversed(exports.report(name)["functions"])}
            for one in exports.answer("latency", name, "*", *[] if before else ["--raw"]):
                if not one["timed"] or one["address"] == "0x0":  # interrupts are listed separately
                    continue
                row = rows[one["address"]]
                self.assertEqual([one[f"{part}_ns"] for part in ("min", "mean", "max")],
                                 [row[f"{before}{part}_ns"] for part in ("min", "mean", "max")], (name, one))
                parts = [one[f"{part}_ns"] for part in ("min", "p50", "p90", "p99", "p999", "max")]
                self.assertEqual(parts, sorted(parts), (name, one))


if __name__ == "__main__":
    FORMAT = sys.argv[1]
    NAMES = [name for name in sorted(path.stem for path in exports.RECORDINGS.glob("*.nsc"))
             if (FORMAT not in SLOW or (name in SOME) != ("--rest" in sys.argv)) and (FORMAT, name) != ("pprof", "hostile")]
    wanted = {"rows": ["Rows"], "graph": ["Sums", "Graph"]}.get(FORMAT, ["Sums"])
    exports.main(argv=[sys.argv[0], *wanted])
