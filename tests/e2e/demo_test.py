#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo as ./dev demo runs it, on MACHINE: a table of named functions, and nothing is lost.

    demo_test.py MACHINE
"""

import json
import re
import subprocess
import sys
import unittest

import machines
import wire

FUNCTION_FIELDS = {"name": str, "address": str, "file": str, "line": int, "calls": int,
                   "total_ns": int, "self_ns": int, "min_ns": int, "max_ns": int}
VIRTUAL_TIMER = 27  # PPI
TRACER = -3  # in a page's timeline (host-tools/views/page/timeline_json.cpp)
INTEGRITY_FIELDS = ("generated", "delivered", "dropped", "corrupt_frames", "gaps")


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machines.record(cls.enterClassContext(machines.Directory()), MACHINE, "demo",
                                   ["interrupts=1"])
        cls.report = cls.run_.report_json()
        cls.line = wire.Line(cls.run_.line)

    def test_it_ran_to_its_end(self):
        self.assertEqual(self.run_.status, 0, self.run_.errors)
        self.assertIn("every script's result is right", self.run_.console)
        self.assertIn(self.line.console.decode().strip(), self.run_.console)

    def test_it_is_the_same_each_time(self):
        again = subprocess.run(machines.qemu_command(MACHINE, "demo", ["interrupts=1"]), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, timeout=machines.HANG_SECONDS, check=True)
        self.assertTrue(again.stdout == self.run_.line)

    def test_the_head_names_the_recorder_and_the_mode(self):
        self.assertEqual(self.report["target"]["in_force"][0]["what"], "graph, lossless")
        self.assertIn("; graph, lossless\n", self.run_.report("--top", "1"))

    def test_the_page_s_timeline_is_the_program_s(self):
        page = self.run_.recording.with_suffix(".html")
        machines.nopscope("html", self.run_.recording, "-o", page)
        timeline = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])["timeline"]
        functions = {number for track in timeline["tracks"] for row in track["rows"] for number in row["function"]}
        self.assertNotIn(TRACER, functions)
        self.assertIn("cut out", timeline["times"])
        program = self.report["duration_ns"] - self.report["tracer_ns"]
        self.assertAlmostEqual(timeline["duration"], program, delta=program / 100)

    def test_at_least_100_functions_have_a_name_and_a_place(self):
        placed = [f for f in self.report["functions"]
                  if re.match(r"[A-Za-z_]", f["name"]) and f["file"] and f["line"] > 0]
        self.assertGreaterEqual(len(placed), 100)
        names = {f["name"] for f in placed}
        self.assertLessEqual({"luaV_execute", "luaD_throw", "luaH_getshortstr"}, names)
        all_names = {f["name"] for f in self.report["functions"]}
        self.assertLessEqual({"_malloc_r", "memcpy"}, all_names, "newlib's functions")

    def test_generated_is_delivered_and_nothing_is_lost(self):
        integrity = self.report["integrity"]
        self.assertEqual(integrity["generated"], integrity["delivered"] + integrity["dropped"])
        self.assertGreater(integrity["generated"], 100000)
        for key in ("dropped", "corrupt_frames", "gaps"):
            self.assertEqual(integrity[key], 0, key)

    def test_the_second_decoder_agrees(self):
        self.assertEqual(wire.faults(self.line), [])
        self.assertEqual(wire.pairing_faults(self.line), [])
        self.assertEqual(wire.calls(self.line),
                         {int(f["address"], 16): f["calls"] for f in self.report["functions"]})
        self.assertEqual(self.line.hello["build_id"].hex(), self.report["image"]["build_id"])
        self.assertEqual(self.line.hello["clock_hz"], self.report["clock_hz"])

    def test_interrupts_are_those_of_the_line(self):
        answer = machines.as_json("irq", self.run_.recording)
        told = {row["interrupt"]: row for row in answer["interrupts"]}
        self.assertEqual({number: row["calls"] for number, row in told.items()}, wire.interrupts(self.line))
        self.assertGreater(told[VIRTUAL_TIMER]["calls"], 50)
        for row in told.values():
            self.assertLessEqual(row["min_ns"], row["max_ns"])
            self.assertGreaterEqual(row["total_ns"], row["calls"] * row["min_ns"])
        self.assertEqual(self.report["interrupts"], [{**row, "calls": told[row["interrupt"]]["calls"],
                                                      "corrected_total_ns": told[row["interrupt"]]["total_ns"]}
                                                     for row in self.report["interrupts"]])
        lengths = [row["length_ns"] for row in answer["masked"] if row["core"] == 0]
        self.assertTrue(lengths)
        self.assertEqual(lengths, sorted(set(lengths)), "each longer than all before it")

    def test_times_are_possible(self):
        for f in self.report["functions"]:
            self.assertLessEqual(f["self_ns"], f["total_ns"] or f["self_ns"], f)
            self.assertLessEqual(f["min_ns"], f["max_ns"], f)
        self.assertLessEqual(sum(f["self_ns"] for f in self.report["functions"]),
                             self.report["duration_ns"])

    def test_the_json_has_the_fields_that_are_promised(self):
        for key in ("image", "clock_hz", "cores", "duration_ns", "integrity", "functions"):
            self.assertIn(key, self.report)
        for key in INTEGRITY_FIELDS:
            self.assertIsInstance(self.report["integrity"][key], int)
        for function in self.report["functions"]:
            for key, kind in FUNCTION_FIELDS.items():
                self.assertIsInstance(function[key], kind, (key, function))

    def test_the_text_ends_with_the_equation(self):
        last = self.run_.report("--top", "10").strip().splitlines()[-1]
        total = self.report["integrity"]["generated"]
        self.assertRegex(last, rf"generated {total} = delivered {total} \+ dropped 0")

    def test_every_order_and_format(self):
        functions = self.report["functions"]
        for key, field, *raw in (("self", "corrected_self_ns"), ("total", "corrected_total_ns"),
                                 ("self", "self_ns", "--raw"), ("total", "total_ns", "--raw"),
                                 ("calls", "calls"), ("max", "corrected_max_ns"), ("max", "max_ns", "--raw")):
            rows = self.run_.report("--format", "csv", "--sort", key, "--top", "5", *raw).splitlines()
            best = max(f[field] for f in functions + self.report["interrupts"])
            column = rows[0].split(",").index(field)
            self.assertEqual(int(rows[1].split(",")[column]), best, field)
            self.assertEqual(len(rows), 6)

    def test_the_call_tree_has_what_the_table_has(self):
        tree = machines.nopscope("graph", self.run_.recording, "--image", self.run_.elf).stdout
        for name in ("luaV_execute", "luaD_throw"):
            self.assertIn(name, tree)


if __name__ == "__main__":
    MACHINE = sys.argv.pop(1)
    unittest.main()
