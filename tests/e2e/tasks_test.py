#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tasks that switch in the middle of traced calls. Each has its own tree and its own times.

    tasks_test.py MACHINE
"""

import json
import subprocess
import sys
import unittest

import machines
from trace2 import CONTEXT, EXTENDED, TRACER_BEGIN, TRACER_END
from wire import Line

DECODE = machines.HERE.parent / "conformance" / "decode.py"


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.at = cls.enterClassContext(machines.Directory())
        cls.run_ = machines.record(cls.at, MACHINE, "tasks")
        cls.report = cls.run_.report_json()
        cls.graph = cls.run_.graph_json()

    def paths(self):
        nodes = self.graph["nodes"]
        paths = {}
        for node in nodes:
            parent = paths[node["parent"]][0] + ">" if node["parent"] is not None else ""
            paths[node["id"]] = (parent + node["name"], node)
        return {path.removeprefix("task_begins>"): node for path, node in paths.values()}

    def test_each_has_its_tree(self):
        self.assertEqual(self.run_.status, 0, self.run_.errors)
        paths = self.paths()
        calls = {path: node["calls"] for path, node in paths.items()}
        expected = {"task_begins": 2, "give_way": 2, "schedule": 1, "schedule>give_way": 1, "alpha": 1, "alpha>alpha_step": 10,
                    "alpha>alpha_step>alpha_part": 20, "alpha>alpha_step>give_way": 10,
                    "alpha>alpha_step>alpha_part>spin": 20, "beta": 1, "beta>beta_step": 20,
                    "beta>beta_step>beta_part": 20, "beta>beta_step>beta_part>spin": 20,
                    "beta>beta_step>give_way": 20}
        self.assertLessEqual(expected.items(), calls.items(), calls)
        self.assertFalse([path for path in calls if "alpha" in path and "beta" in path])

    def test_no_task_has_the_other_s_time(self):
        paths = self.paths()
        selves = {path: node["self_ns"] for path, node in paths.items()}
        self.assertLessEqual(sum(selves.values()), self.report["duration_ns"])
        # All other code runs while schedule is open, and is not in its self time.
        everything = paths["schedule"]["total_ns"]
        self.assertGreater(everything, paths["alpha"]["total_ns"])
        self.assertGreater(everything, paths["beta"]["total_ns"])
        self.assertLess(selves["schedule"] + selves["schedule>give_way"], everything / 10)
        self.assertLess(selves["alpha>alpha_step>give_way"], everything / 10)
        # One task waits while the other makes its step.
        self.assertGreater(paths["alpha>alpha_step>give_way"]["total_ns"],
                           selves["beta>beta_step>beta_part>spin"] / 3)

    def test_nothing_is_lost(self):
        integrity = self.report["integrity"]
        self.assertTrue(integrity["clean"], integrity)

    def test_the_second_reader_agrees(self):
        line, report = self.at / "line", self.at / "report.json"
        line.write_bytes(self.run_.line)
        report.write_text(json.dumps(self.report))
        done = subprocess.run([sys.executable, "-B", DECODE, line, report], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_marks_are_where_they_were_made(self):
        marks = [(mark["id"], mark["function"]) for mark in self.graph["markers"]]
        self.assertEqual(sorted(marks), [(7, "alpha_step"), (9, "beta_step")])


class ManySwitches(unittest.TestCase):
    def test_the_pump_is_in_the_task_that_waits_for_it(self):
        """In lossless mode a full ring is emptied by the next task's first call, or by the record
        of the switch."""
        with machines.Directory() as directory:
            run = machines.record(directory, MACHINE, "tasks", ["switches=many"])  # checks every tick
            self.assertEqual(run.status, 0, run.errors)
            report = run.report_json()
            line = Line(run.line)
        self.assertTrue(report["integrity"]["clean"], report["integrity"])
        contexts, unpaired, began, pumped = 0, 0, False, 0
        for event in line.events:
            what = event.value & 15 if event.kind == EXTENDED else None
            contexts += what == CONTEXT
            unpaired += what == CONTEXT and began
            if what in (TRACER_BEGIN, TRACER_END):
                began = what == TRACER_BEGIN
                pumped += began
        self.assertGreater(contexts, 30_000)
        self.assertGreater(pumped, 3)
        self.assertEqual(unpaired, 0, "a switch within the pump")
        calls = sum(f["calls"] for f in report["functions"])
        self.assertGreater(calls, 30_000)


if __name__ == "__main__":
    MACHINE = sys.argv.pop()
    unittest.main()
