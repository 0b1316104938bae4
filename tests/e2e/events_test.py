#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PMU's events by function: SW_INCR, whose number is known for each function, and INST_RETIRED, which the oracle counts, too.

    events_test.py MACHINE
"""

import collections
import csv
import io
import re
import shlex
import sys
import unittest

import machines
from machines import Recorder
import wire

MACHINE = sys.argv.pop(1)
ELF = machines.elf_of(MACHINE, "demo")
# Words of the image. `change`: other events half way.
ON_ONE_CORE = ("events=0", "events=0+17", "events=17+0", "events=0 profile", "events=17+0 profile", "events=0+17 change",
               "events=0+17 change profile")
ON_FOUR = ("events=0 cores", "events=17+0 cores", "events=0 profile cores")
RUNS = ON_FOUR if MACHINE.endswith("-smp4") else ON_ONE_CORE + (() if MACHINE.startswith("virt") else ON_FOUR)


def known(words):
    """What tests/firmware/events does: {function: (calls, total, self)} of SW_INCR."""
    if "cores" in words:
        rows = {"events_leaf": (274, 860, 860), "events_caller": (44, 676, 176), "events_recursive": (220, 660, 660),
                "events_tail": (40, 260, 80), "events_of_core": (4, 640, 604)}
    else:
        rows = {"events_leaf": (67, 211, 211), "events_caller": (11, 165, 44), "events_recursive": (55, 165, 165),
                "events_tail": (10, 65, 20), "events_of_core": (1, 6, 1)}
    if "profile" in words:  # there the inner calls' counts are in the total again
        calls, own, _ = rows["events_recursive"]
        rows["events_recursive"] = calls, 3 * own, own
    times = 2 if "change" in words else 1
    return {name: tuple(times * number for number in numbers) for name, numbers in rows.items()}


def shown(functions):
    """The same from a report."""
    return {f["name"]: tuple(f["events"]["sw_incr"][what] for what in ("calls", "total", "self"))
            for f in functions if f["name"].startswith("events_")}


class Known(machines.Case):
    def test_each_function_has_its_count(self):
        """On several cores, of what each core counts by itself."""
        for words in RUNS:
            with self.subTest(words):
                self.check(words.split())

    def check(self, words):
        run, report = self.ran(MACHINE, "events", *words, icount="cores" not in words)
        self.assertIn("events: done", run.console)
        if "profile" in words:
            self.assertEqual(shown(report["profile"]["functions"]), known(words))
            return
        self.assertEqual(shown(report["functions"]), known(words))
        if "cores" not in words:
            self.check_other_outputs(run, report)
        if words == ["events=0+17"]:
            self.assertEqual([e["name"] for e in report["events"]], ["sw_incr", "cpu_cycles"])
            leaf = next(f for f in report["functions"] if f["name"] == "events_leaf")["events"]["cpu_cycles"]
            self.assertGreater(leaf["self"], 211)

    def check_other_outputs(self, run, report):
        self.assertEqual(wire.faults(wire.Line(run.line)), [])
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(run.report("--format", "csv")))}
        nodes = collections.defaultdict(lambda: [0, 0])
        for node in run.json("graph")["nodes"]:
            for i, what in enumerate(("calls", "self")):
                nodes[node["name"]][i] += node["events"]["sw_incr"][what]
        for name, (calls, total, own) in shown(report["functions"]).items():
            self.assertEqual([rows[name][f"sw_incr_{what}"] for what in ("calls", "total", "self")], [str(calls), str(total), str(own)])
            self.assertEqual(nodes[name], [calls, own])
            self.assertRegex(run.report("--raw"), rf"(?m)^ *{calls} .* {own:,} .* {name} ")
            self.assertRegex(machines.nopscope("graph", run.recording, "--raw").stdout, rf"(?m)^ .* {name}$")


class Retired(machines.Case):
    def recorded(self, *words, clean=True):
        """Returns the report, and the functions' own instructions."""
        run, report = self.ran(MACHINE, *words, clean=clean, oracle=True, own=True)
        return report, run.own()

    def error(self, function, known_ones):
        """The error of the self count, in instructions a call."""
        events = function["events"]["inst_retired"]
        return (events["corrected_self"] - known_ones[int(function["address"], 16)]) / max(1, events["calls"])

    def test_corrected_it_is_what_the_oracle_counts(self):
        report, own = self.recorded("counts", "events")
        functions = {f["name"]: f for f in report["functions"] if f["name"].startswith("counts_")}
        self.assertEqual(len(functions), 12)
        for name, function in functions.items():
            self.assertGreater(abs(function["events"]["inst_retired"]["self"] - own[int(function["address"], 16)]), 0, name)
            if name in ("counts_catcher", "counts_thrower"):  # longjmp left calls: it takes more
                self.assertLess(abs(self.error(function, own)), 250, name)
            else:
                self.assertEqual(self.error(function, own), 0, name)

    def test_the_profile_s_leaves_are_corrected_too(self):
        report, own = self.recorded("counts", "events", "profile", clean=False)
        functions = {f["name"]: f for f in report["profile"]["functions"]}
        for name in ("counts_empty", "counts_loop", "counts_loop_odd", "counts_loop_local", "counts_few"):
            # The recorder takes longer when it finds a new minimum or maximum.
            extremes = 13 * 60 / functions[name]["calls"]
            self.assertTrue(0 <= self.error(functions[name], own) <= extremes, name)

    def test_the_pump_s_events_count_for_no_call(self):
        """In the demo, calls wait for the line."""
        report, own = self.recorded("demo", "rounds=1", "baud=0", "cores=1", "events=8")
        self.assertGreater(report["tracer_ns"], report["duration_ns"] / 2)
        right = wrong = 0
        for function in report["functions"]:
            events = function["events"].get("inst_retired", {"calls": 0})
            if events["calls"] < 100 or function["unwound"] or function["calls"] != events["calls"]:
                continue
            exact = abs(self.error(function, own)) < 1
            right += exact
            wrong += not exact
            print(f"  {function['name']:24} {events['calls']:6} calls, off by {self.error(function, own):8.2f} a call")
        # The recorder takes 14 more instructions for a tail call.
        self.assertGreater(right, 2 * wrong)
        self.assertGreater(right, 80)


class Refused(machines.Case):
    def check(self, sentence, *options, words=(), cpu=()):
        command = [*machines.endless_demo(MACHINE, *words), *cpu]
        done = machines.nopscope("record", "-q", "--from", "exec:" + shlex.join(command), "--image", ELF, "-o", self.directory / "line.nsc",
                                 *options, status=3)
        said = re.findall(r"nopscope: .*", done.stderr)  # QEMU may be in the middle of a line
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], sentence)

    def test_what_does_not_count(self):
        recorders, adaptive = "only the graph and the profile recorder count events", "adaptive mode and events"
        for options, words, sentence in (("--events l1d_cache_refill", [], r"its CPU does not count l1d_cache_refill \(0x3\)"),
                                         ("--events sw_incr --events 0x77", [], "its CPU does not count 0x77"),
                                         ("--events 0xc001", [], "its CPU does not count 0xc001"),
                                         ("--recorder function --events sw_incr", [], recorders),
                                         ("--events sw_incr", ["recorder=function"], recorders),
                                         ("--events sw_incr", ["mode=adaptive"], adaptive),
                                         ("--events sw_incr --mode adaptive", ["recorder=profile"], adaptive)):
            with self.subTest(options):
                self.check(sentence, *options.split(), words=words)

    def test_without_a_pmu(self):
        if not MACHINE.startswith("virt"):
            self.skipTest("its CPU always has one")
        cpu = "max" if "max" in MACHINE else "cortex-a72"
        self.check("its CPU has no performance monitors", "--events", "sw_incr", cpu=["-cpu", f"{cpu},pmu=off"])

    def test_what_the_host_does_not_know(self):
        for events, sentence in (("cache_misses", "no such event.*sw_incr, l1i_cache_refill"), ("0x10000", "no such event"),
                                 ("cpu_cycles 0x11", "the same event"), ("0 1 2", "at most 2")):
            options = [word for event in events.split() for word in ("--events", event)]
            self.assert_sentence(machines.nopscope("record", "--from", "-", "-o", "/dev/null", *options, status=2), sentence)


class Steered(machines.Case):
    def test_events_from_the_host(self):
        demo = "exec:" + shlex.join(machines.endless_demo(MACHINE))
        with Recorder.steered(self.directory, demo, ELF, "--events", "0x11") as recorder:
            recorder.wait_for_more(20_000)
            for command, status, said in (("events cpu_cycles sw_incr", 0, "counting cpu_cycles and sw_incr"),
                                          ("events l1d_cache_refill", 3, "does not count l1d_cache_refill"),
                                          ("trace * --recorder function", 3, "only the graph"),
                                          ("events none", 0, "counting no events"), ("trace main --recorder function", 0, "1 function")):
                self.assertRegex(recorder.ctl(*command.split(), status=status), said)
            report = recorder.end()
        self.assert_zero(report["integrity"], "commands_refused", "corrupt_frames")
        cells = [f["events"]["cpu_cycles"] for f in report["functions"] if f["events"]]
        for what in ("calls", "self"):
            self.assertGreater(sum(cell[what] for cell in cells), 1000)


if __name__ == "__main__":
    if MACHINE.endswith("-smp4"):
        sys.argv[1:] = sys.argv[1:] or ["Known"]
    unittest.main()
