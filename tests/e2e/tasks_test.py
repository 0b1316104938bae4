#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tasks that switch in the middle of traced calls. Each has its own tree and its own times. And
a preemptive kernel, whose calls are counted as the oracle counts them.

    tasks_test.py MACHINE
"""

import collections
import re
import sys
import unittest

import machines
import wire
from trace2 import CONTEXT, EXTENDED, TRACER_BEGIN, TRACER_END

MACHINE = sys.argv.pop()
TASKS_OF_A_CORE = 15  # without children
CALLEES = {"spin": set(), "descend": {"descend", "spin"}, "switch_away": set(), "give_way": {"switch_away"},
           "wait_in": {"switch_away"}, "wait_us": {"sleep_until"}}

class Tasks(machines.Recorded):
    MACHINE, IMAGE = MACHINE, "tasks"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.graph = cls.run_.json("graph")
        paths = {}
        for node in cls.graph["nodes"]:
            parent = paths[node["parent"]][0] + ">" if node["parent"] is not None else ""
            paths[node["id"]] = (parent + node["name"], node)
        cls.paths = {path.removeprefix("task_begins>"): node for path, node in paths.values()}

    def test_each_has_its_tree(self):
        self.ended()
        calls = {path: node["calls"] for path, node in self.paths.items()}
        expected = {"task_begins": 2, "give_way": 2, "schedule": 1, "schedule>give_way": 1, "alpha": 1, "alpha>alpha_step": 10,
                    "alpha>alpha_step>alpha_part": 20, "alpha>alpha_step>give_way": 10,
                    "alpha>alpha_step>alpha_part>spin": 20, "beta": 1, "beta>beta_step": 20,
                    "beta>beta_step>beta_part": 20, "beta>beta_step>beta_part>spin": 20,
                    "beta>beta_step>give_way": 20}
        self.assertLessEqual(expected.items(), calls.items(), calls)
        self.assertFalse([path for path in calls if "alpha" in path and "beta" in path])
        # All other code runs while schedule is open, and is not in its self time.
        selves = {path: node["self_ns"] for path, node in self.paths.items()}
        everything = self.paths["schedule"]["total_ns"]
        self.assertLess(selves["schedule"] + selves["schedule>give_way"] + selves["alpha>alpha_step>give_way"], everything / 10)

    def test_the_second_reader_agrees(self):
        self.assert_second_reader_agrees(self.run_, self.report)

    def test_marks_are_where_they_were_made(self):
        marks = [(mark["id"], mark["function"]) for mark in self.graph["markers"]]
        self.assertEqual(sorted(marks), [(7, "alpha_step"), (9, "beta_step")])


class ManySwitches(machines.Case):
    def test_the_pump_is_in_the_task_that_waits_for_it(self):
        """In lossless mode a full ring is emptied by the next task's first call, or by the record of the switch."""
        run, report = self.ran(MACHINE, "tasks", "switches=many")  # checks every tick
        contexts, unpaired, began, pumped = 0, 0, False, 0
        for event in wire.Line(run.line).events:
            what = event.value & 15 if event.kind == EXTENDED else None
            contexts += what == CONTEXT
            unpaired += what == CONTEXT and began
            if what in (TRACER_BEGIN, TRACER_END):
                began = what == TRACER_BEGIN
                pumped += began
        self.assertGreater(contexts, 30_000)
        self.assertGreater(pumped, 3)
        self.assertEqual(unpaired, 0, "a switch within the pump")
        self.assertGreater(sum(f["calls"] for f in report["functions"]), 30_000)


class Preemptive:
    """The kernel's tasks, with time slices of 20 us. A class of these tests is also machines.Recorded."""

    IMAGE, MORE, OPTIONS = "tasks", [], {"oracle": True}

    @classmethod
    def setUpClass(cls):
        cls.MACHINE = MACHINE if cls.CORES == 1 or MACHINE.startswith("rpi") else f"{MACHINE}-smp{cls.CORES}"
        cls.switches = cls.SWITCHES if MACHINE == "virt-max" else 2_000
        cls.WORDS = ["preempt=1", f"cores={cls.CORES}", "slice_us=20", f"switches={cls.switches}", f"pump={cls.PUMP}", *cls.MORE]
        super().setUpClass()
        cls.said = {name: int(count) for count, name in re.findall(r"tasks: (\d+) (\w+)", cls.run_.console)}

    def test_it_did_what_it_should(self):
        self.ended("tasks: done")
        self.assert_zero(self.said, "dropped", "stray_returns", "undeferred", "recursions", "shadow_stack_full", "off_stack")
        self.assertGreaterEqual(self.said["switches"], self.switches)
        self.assertGreater(self.said["preemptions"], self.switches / 10)
        self.assertGreater(self.said["children"], self.switches / 100)
        self.assertEqual(self.said["moves"] > self.switches / 20, self.CORES > 1)
        if self.switches >= 10_000:  # rare
            self.assertGreater(self.said["inheritances"], 0)

    def test_every_function_s_count_is_the_oracle_s(self):
        self.assert_as_oracle(self.report, self.run_.oracle)

    def test_every_function_s_count_in_each_task_is_the_oracle_s(self):
        self.assertEqual(*machines.counts_of_tasks(self.run_))

    def test_each_task_has_its_name_and_its_facts(self):
        known = {}
        for context in self.report["contexts"]:
            known[context["context"], context["core"] if context["context"] == 0 else None] = context
        names = collections.Counter(context.get("name") for context in known.values())
        stacks = {"interrupts": 1} if self.MORE else {}
        expected = {**stacks, "idle": 1, "urgent": 1, "consumer": 1, "parent": 1, "producer": 1, "holder": 1, "worker": 10}
        self.assertEqual(names["idle"], self.CORES)
        self.assertEqual(set(names) - {*expected, "child", None}, set())
        # Children end before they were told. Of those only eight are kept for the pump.
        self.assertGreater(names["child"], 0)
        if self.switches >= 10_000:  # a shorter run ends, and destroys its tasks, before that
            self.assertLessEqual({name: count * self.CORES for name, count in expected.items()}.items(), names.items())
        for context in known.values():
            if context.get("name") in ("worker", "urgent", "child"):
                self.assertEqual(context["priority"], {"worker": 2, "urgent": 4, "child": 2}[context["name"]])
                self.assertEqual(context["stack"]["bytes"], 8192)
                self.assertLess(context["stack"]["used"], 8192)

    def test_each_switch_has_its_reason(self):
        away = collections.Counter()
        for context in self.report["contexts"]:
            away.update(context.get("switched_away", {}))
        for reason in ("preempted", "blocked", "gave_way", "ended"):
            self.assertEqual(away[reason], self.said[reason], reason)
        self.assertEqual(away["unknown"], 0)
        self.assertEqual(away.total(), self.said["switches"])  # those to a stack for interrupts have none

    def test_each_event_of_the_kernel_is_there(self):
        ready = {context["context"]: context.get("ready", 0) for context in self.report["contexts"] if context["context"] != 0}
        for context in self.report["contexts"]:
            if context.get("interrupts"):
                self.assertEqual(ready.pop(context["context"], 0), 0)
        # A child becomes ready once, even one that never ran.
        unlisted = TASKS_OF_A_CORE * self.CORES + self.said["children"] - len(ready)
        self.assertEqual(sum(ready.values()) + unlisted, self.said["ready"])
        objects = self.report["objects"]
        self.assertEqual(collections.Counter(each["name"] for each in objects), {"results": 1, "values": self.CORES})
        for event in ("takes", "gives", "waits"):
            self.assertEqual(sum(each[event] for each in objects), self.said[event], event)

    def test_times_on_the_cpu_are_those_of_the_single_calls(self):
        """Of each function: the sum and the longest, by the report and by an export of all calls."""
        told = {hex(address): rest for address, *rest in self.run_.query(
            """SELECT functions.address, count(*), sum(cpu_ns), max(cpu_ns), sum(duration_ns - cpu_ns)
               FROM calls JOIN functions ON functions.id = calls.function
               WHERE functions.kind = 'function' AND how IN ('returned', 'unwound') GROUP BY 1""")}
        rows = {row["address"]: row for row in self.run_.report_json("--on-cpu", "--raw")["functions"] if row["timed"]}
        self.assertEqual(set(rows), set(told))
        for address, row in rows.items():
            calls, sum_ns, max_ns, _ = told[address]
            self.assertEqual(row["timed"], calls)
            self.assertLessEqual(abs(row["max_ns"] - max_ns), 2, row)
            self.assertLessEqual(abs(row["mean_ns"] - sum_ns / calls), 2, row)
        self.assertGreater(sum(away for *_, away in told.values()), sum(sum_ns for _, sum_ns, *_ in told.values()))

    def test_no_task_s_call_is_below_another_s(self):
        calls = collections.Counter()
        names = {None: None}
        for node in self.run_.json("graph")["nodes"]:
            names[node["id"]] = name = re.sub(r"\(.*|.*::", "", node["name"].replace("(anonymous namespace)::", ""))
            calls[names[node["parent"]], name] += node["calls"]
        for caller, callees in CALLEES.items():
            seen = {callee for above, callee in calls if above == caller}
            self.assertLessEqual(seen, callees | {"", "preempt"}, caller)  # "": an interrupt
        self.assertGreater(calls["spin", ""] + calls["descend", ""], self.switches / 100)
        self.assertEqual(calls[None, "call_handler"], self.said["interrupts"])
        # Each task begins once, and nothing calls its first function.
        self.assertEqual(calls[None, "begin"], TASKS_OF_A_CORE * self.CORES + self.said["children"])
        self.assertEqual(sum(count for (_, name), count in calls.items() if name == "begin"), calls[None, "begin"])


class PreemptiveOnOneCore(Preemptive, machines.Recorded):
    CORES, PUMP, SWITCHES = 1, "recorders", 20_000

    def test_what_tasks_waited_for_fits_the_records(self):
        """SchedulingTest.* has the rules, case by case."""
        runs, running = collections.Counter(), None
        for event in self.line.events:
            if event.kind == EXTENDED and event.value & 15 == CONTEXT and event.value >> 4 != running:
                running = event.value >> 4
                runs[running] += 1
        told = self.run_.json("tasks", "--each")["tasks"]
        numbers = [0 if "core 0" in task["name"] else int(re.search(r"\d+", task["name"])[0]) for task in told]
        self.assertEqual({number: task["runs"] for number, task in zip(numbers, told)}, runs)
        self.assertEqual(sum(each["waits"] for task in told for each in task["waited_for"]), self.said["waits"])
        self.assertGreater(sum(task["longest_wait"] is not None for task in told), 5)


class PreemptiveOnFourCores(Preemptive, machines.Recorded):
    CORES, PUMP, SWITCHES = 4, "tick", 100_000


class InterruptsOnTheirStack(Preemptive, machines.Recorded):
    """Each core has a stack for interrupts, which is a context."""

    CORES, PUMP, SWITCHES = 4, "tick", 10_000
    MORE = ["interrupt_stacks=1"]

    def test_their_calls_are_on_that_stack(self):
        contexts = [context for context in self.report["contexts"] if context.get("interrupts")]
        self.assertEqual({context["name"] for context in contexts}, {"interrupts"})
        self.assertEqual(len({context["context"] for context in contexts}), self.CORES)
        for context in contexts:
            self.assertTrue(0 < context["stack"]["used"] < context["stack"]["bytes"], context)
            told = self.run_.report_json("--task", context["context"])
            names = " ".join(function["name"] for function in told["functions"])
            self.assertIn("call_handler", names)
            self.assertNotIn("descend", names)


class PreemptiveInOtherModes(machines.Case):
    def test_every_call_is_accounted_for(self):
        machine = "virt-max-smp4" if MACHINE == "virt-max" else MACHINE
        cores = 4 if machine.endswith("smp4") else 1
        for words, missing in ((["mode=stream"], "dropped"), (["mode=flight"], "overwritten"), (["mode=adaptive"], "aggregated"),
                               (["recorder=profile"], "aggregated")):
            with self.subTest(words):
                _, report = self.ran(machine, "tasks", "preempt=1", f"cores={cores}", "slice_us=20", "switches=2000", *words, clean=False)
                told = report["integrity"]
                self.assertEqual(told["generated_is"], "exact")
                self.assertGreater(told[missing], 0)
                self.assert_generated(told)


if __name__ == "__main__":
    unittest.main()
