#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every figure of the bench equals the stored baseline exactly, and the test notices a wrong one.

    bench_test.py MACHINE
"""

import copy
import sys
import unittest

import bench


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.header, cls.rows = bench.measure(MACHINE)
        cls.baseline = bench.load_baseline()

    def different(self, rows):
        return list(bench.differences(self.header, rows, self.baseline))

    def test_every_figure_is_the_baseline_s(self):
        self.assertEqual(self.different(self.rows), [], "if this is meant: ./dev bench --update-baseline")

    def test_a_call_s_figure_is_a_whole_number_and_an_instruction_a_nanosecond(self):
        self.assertTrue(self.header["counted"])
        for row in self.rows:
            if row.get("per") == bench.CALLS:
                self.assertEqual(row["instructions"] % bench.CALLS, 0, row)
                # The clock of `max` counts at 1 GHz. A direct row excludes its callee's instructions.
                if MACHINE == "virt-max" and "direct" not in row["case"]:
                    self.assertEqual(row["ns_per_call"] * bench.CALLS, row["instructions"], row)

    def test_one_instruction_more_or_less_in_any_call_or_a_site_is_noticed(self):
        known = self.baseline.get(self.header["compiler"], {}).get(AS)
        if known is None:
            self.skipTest("no baseline of this compiler's own")
        as_stored = copy.deepcopy(self.rows)
        for row in as_stored:
            stored = known.get(bench.key_of(row))
            if isinstance(stored, list) and "missing" not in row:
                row["instructions"], row["per"] = stored
        tried = {True: 0, False: 0}  # calls, sites
        for number, row in enumerate(as_stored):
            if row.get("per", 0) < bench.CALLS or not bench.is_compared(MACHINE, bench.key_of(row)):
                continue
            tried[row["per"] == bench.CALLS] += 1
            for by in (1, -1):
                rows = copy.deepcopy(as_stored)
                rows[number]["instructions"] += by * row["per"]
                found = self.different(rows)
                self.assertEqual(len(found), 1, (row, found))
                self.assertIn("worse" if by > 0 else "better", found[0])
        self.assertGreater(min(tried.values()), 8)

    def test_a_row_that_is_gone_or_refused_is_noticed(self):
        rows = [row for row in self.rows if bench.key_of(row) != "function//1/0"]
        refused = [row | {"missing": "a reason"} if bench.key_of(row) == "function//1/0" else row for row in self.rows]
        for changed in (rows, refused):
            self.assertEqual(len(self.different(changed)), 1)

    def test_the_grid_is_whole_and_irrelevant_ops_cost_nothing(self):
        figures = bench.figures_of(self.rows)
        for strategy in ("list", "call_ops", "dynamic", "direct"):
            for relevant in bench.SIZES[:2] if strategy == "direct" else bench.SIZES:
                for irrelevant in bench.SIZES:
                    self.assertIn(f"grid/{strategy}/{relevant}/{irrelevant}", figures)
        for relevant in bench.SIZES:
            known = {figures[bench.GRID.format(relevant, irrelevant)] for irrelevant in bench.SIZES} - {None}
            self.assertLessEqual(known, {figures[bench.GRID.format(relevant, 0)]})

    def test_the_readme_s_table_is_the_baseline_s(self):
        self.assertEqual(bench.readme_parts()[1], bench.readme_table(self.baseline))

    def test_the_json_has_the_fields_that_are_promised(self):
        for row in bench.as_json(self.header, self.rows):
            measured = set() if "missing" in row else {"instructions_per_call", "ns_per_call"}
            self.assertLessEqual({"case", "strategy", "relevant", "irrelevant", "off"} | measured, row.keys())


if __name__ == "__main__":
    MACHINE = sys.argv.pop(1)
    AS = bench.SAME_AS.get(MACHINE, MACHINE)
    unittest.main()
