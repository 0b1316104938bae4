#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo as ./dev demo runs it, on all cores of MACHINE: a table of named functions, and nothing is lost.

    demo_test.py MACHINE
"""

import collections
import csv
import json
import re
import subprocess
import sys
import unittest

import machines

sys.path.append(str(machines.HERE.parent / "rules"))
from disassembly import disassemble  # noqa: E402
import qemu  # noqa: E402

MACHINE = sys.argv.pop(1)
VIRTUAL_TIMER = 27  # PPI
WORDS = ["interrupts=1", "pumps=20"]
ADDS_UP = ("calls", "total_ns", "self_ns", "cpu_ns", "total", "self")
TRACER = -3  # in a page's timeline (host-tools/views/page/timeline_json.cpp)


def rows_of_graph(told):
    paths = {None: ""}
    for node in told["nodes"]:
        paths[node["id"]] = f"{paths[node['parent']]} {node['name']}"
    return [node | {"path": paths[node["id"]]} for node in told["nodes"]]


# By view: words behind the recording (None: the recording again), and the rows of its answer.
VIEWS = {"report": ([], lambda told: told["functions"] + told.get("interrupts", [])), "graph": ([], rows_of_graph),
         "callers": (["*", "--raw"], lambda told: [caller | {"address": row["address"]} for row in told for caller in row["callers"]]),
         "latency": (["*", "--raw"], lambda told: [row | dict(row["bins"]) for row in told]), "outliers": (["*"], lambda told: [told]),
         "diff": ([None, "--raw"], lambda told: [row | row["before"] for row in told["functions"]]), "html": ([], lambda told: told)}


class Demo(machines.Recorded):
    MACHINE, IMAGE, WORDS = MACHINE, "demo", WORDS
    cores = 1 if MACHINE == "virt-max" else 4

    def test_it_ran_to_its_end(self):
        self.ended("every script's result is right")
        self.assertIn(self.line.console.decode().strip(), self.run_.console)

    def test_it_is_the_same_each_time(self):
        again = subprocess.run(machines.qemu_command(MACHINE, "demo", WORDS), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, timeout=machines.HANG_SECONDS, check=True)
        self.assertTrue(again.stdout == self.run_.line)

    def sums_by(self, what):
        """{task or core: {function's name: calls}}"""
        rows = self.run_.report_json("--by", what)["functions"]
        sums = collections.defaultdict(collections.Counter)
        for row in rows:
            sums[row[what]][row["name"]] += row["calls"]
        return sums

    def test_each_core_has_a_share_of_the_scripts(self):
        sums = self.sums_by("core")
        self.assertEqual(sorted(sums), list(range(self.cores)))
        for core, functions in sums.items():
            self.assertGreater(functions.total(), 1000, core)
            self.assertGreater(functions["luaV_execute"], 10, core)

    def test_each_task_has_its_name_and_its_work(self):
        if self.cores == 1:
            self.skipTest("one core has no tasks")
        sums = self.sums_by("task")
        lua = [f"lua {core}" for core in range(self.cores)]
        self.assertEqual(sorted(sums), ["idle", "logger", *lua])
        self.assertEqual({task for task, functions in sums.items() if functions["luaV_execute"]}, set(lua))
        # A line for each script and each round.
        self.assertEqual({task: functions["fputs"] for task, functions in sums.items() if functions["fputs"]}, {"logger": 20})

    def page(self, part, *options):
        """A part of the data of the page that `html` writes."""
        page = machines.nopscope("html", self.run_.recording, "--image", self.run_.elf, "-o", "-", *options).stdout
        return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])[part]

    def figures_of(self, view, *options):
        """What `view` says of a part of the recording: its figures that add up over parts."""
        words, rows_of = VIEWS[view]
        image = [] if view == "diff" else ["--image", self.run_.elf]
        told = self.page("functions", "--raw", *options) if view == "html" else machines.as_json(
            view, self.run_.recording, *(word or self.run_.recording for word in words), *image, *options)
        figures = collections.Counter()
        for row in rows_of(told):
            key = tuple(row.get(part) for part in ("name", "address", "file", "interrupt", "path"))
            figures.update({(key, what): number for what, number in row.items() if (what in ADDS_UP or isinstance(what, int)) and number})
        return figures

    def test_the_tasks_make_up_the_whole_in_each_view(self):
        if self.cores == 1:
            self.skipTest("one core has no tasks")
        tasks = sorted(self.sums_by("task"))
        for view in VIEWS:
            with self.subTest(view=view):
                parts = [self.figures_of(view, "--task", task) for task in tasks]
                whole = self.figures_of(view)
                self.assertTrue(all(parts) and len(whole) > 0)
                self.assertEqual({key: sum(part[key] for part in parts) for key in whole.keys() | set().union(*parts)}, whole)
        depths = [machines.as_json("stack-depth", self.run_.recording, "--task", task) for task in tasks]
        whole = machines.as_json("stack-depth", self.run_.recording)
        self.assertEqual(max(each["depth"] for each in depths), whole["depth"])
        self.assertEqual(sum(each["calls"] for each in depths if each["depth"] == whole["depth"]), whole["calls"])

    def test_other_cores_use_no_state_of_newlib_s_that_is_not_theirs(self):
        """newlib is built for one thread: its functions find their state at _impure_ptr (firmware/demo/newlib_cores.hpp)."""
        allowed = {"__wrap_snprintf", "__wrap_strtod",  # on the boot core only
                   "malloc", "free", "realloc", "time",  # they write errno alone, if they fail; the heap has a lock
                   "getenv", "luaopen_io"}  # they only read
        build = machines.BUILD_ROOT / qemu.MACHINES[MACHINE][0]
        binutils = json.loads((build / "toolchain.json").read_text())["binutils"]
        symbols = machines.sites.Image(self.run_.elf).symbols
        page, within = symbols["_impure_ptr"] & ~0xfff, symbols["_impure_ptr"] & 0xfff
        users = set()
        for function in disassemble(f"{binutils}objdump", self.run_.elf):
            text = [f"{mnemonic} {operands}" for _, mnemonic, operands in function.instructions]
            pages = {m[1] for line in text if (m := re.match(rf"adrp (x\d+), {page:x} ", line))}
            if any((m := re.match(rf"(?:ldr|add) .*\b(x\d+), #(?:{within}|0x{within:x})\b", line)) and m[1] in pages for line in text):
                users.add(function.address)
        self.assertLessEqual({symbols[name] for name in ("malloc", "fputs", "strtod")}, users)
        rows = self.run_.report_json("--by", "core")["functions"]
        self.assertLessEqual({row["name"] for row in rows if row["core"] != 0 and int(row["address"], 16) in users}, allowed)

    def test_the_head_names_the_recorder_and_the_mode(self):
        self.assertEqual(self.report["target"]["in_force"][0]["what"], "graph, lossless")
        self.assertIn("; graph, lossless\n", self.run_.report("--top", "1"))

    def test_the_page_s_timeline_is_the_program_s(self):
        timeline = self.page("timeline")
        functions = {number for track in timeline["tracks"] for row in track["rows"] for number in row["function"]}
        if self.cores > 1:  # each core waits at another time
            self.assertIn(TRACER, functions)
            self.assertNotIn("cut out", timeline["times"])
            return
        self.assertNotIn(TRACER, functions)
        self.assertIn("cut out", timeline["times"])
        program = self.report["duration_ns"] - self.report["tracer_ns"]
        self.assertAlmostEqual(timeline["duration"], program, delta=program / 100)

    def test_at_least_100_functions_have_a_name_and_a_place(self):
        placed = [f for f in self.report["functions"] if re.match(r"[A-Za-z_]", f["name"]) and f["file"] and f["line"] > 0]
        self.assertGreaterEqual(len(placed), 100)
        names = {f["name"] for f in placed}
        self.assertLessEqual({"luaV_execute", "luaD_throw", "luaH_getshortstr"}, names)
        all_names = {f["name"] for f in self.report["functions"]}
        self.assertLessEqual({"_malloc_r", "memcpy"}, all_names, "newlib's functions")

    def test_generated_is_delivered_and_nothing_is_lost(self):
        last = self.run_.report("--top", "10").strip().splitlines()[-1]
        total = self.integrity["generated"]
        self.assertGreater(total, 100000)
        self.assertRegex(last, rf"generated {total} = delivered {total} \+ dropped 0")

    def test_the_second_decoder_agrees(self):
        """oracle_test.py also checks that each entry has its return."""
        self.assert_second_reader_agrees(self.run_, self.report)
        self.assertEqual(self.line.hello["build_id"].hex(), self.report["image"]["build_id"])
        self.assertEqual(self.line.hello["clock_hz"], self.report["clock_hz"])

    def test_interrupts_are_the_report_s(self):
        answer = machines.as_json("irq", self.run_.recording)
        told = {row["interrupt"]: row for row in answer["interrupts"]}
        self.assertEqual(len(told), len(self.report["interrupts"]))
        self.assertGreater(told[VIRTUAL_TIMER]["calls"], 10)
        self.assertEqual(self.report["interrupts"], [{**row, "calls": told[row["interrupt"]]["calls"],
                                                      "corrected_total_ns": told[row["interrupt"]]["total_ns"]}
                                                     for row in self.report["interrupts"]])
        lengths = [row["length_ns"] for row in answer["masked"] if row["core"] == 0]
        self.assertTrue(lengths)
        self.assertEqual(lengths, sorted(set(lengths)), "each longer than all before it")

    def test_every_order_and_format(self):
        functions = self.report["functions"]
        for key, field, *raw in (("self", "corrected_self_ns"), ("total", "corrected_total_ns"),
                                 ("self", "self_ns", "--raw"), ("total", "total_ns", "--raw"),
                                 ("calls", "calls"), ("max", "corrected_max_ns"), ("max", "max_ns", "--raw")):
            rows = list(csv.reader(self.run_.report("--format", "csv", "--sort", key, "--top", "5", *raw).splitlines()))
            best = max(f[field] for f in functions + self.report["interrupts"])
            column = rows[0].index(field)
            self.assertEqual(int(rows[1][column]), best, field)
            self.assertEqual(len(rows), 6)


if __name__ == "__main__":
    unittest.main()
