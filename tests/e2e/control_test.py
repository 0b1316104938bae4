#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Control from the host: it changes what is traced during a recording. CommandClient.* and line_storm.py lose commands and replies.

    control_test.py MACHINE [TEST]...
"""

import functools
import shlex
import sys
import time
import unittest

import machines
from machines import Recorder

MACHINE = sys.argv.pop(1)


ELF = machines.elf_of(MACHINE, "demo")
demo = functools.partial(machines.endless_demo, MACHINE)


class Steered(machines.Case):
    def record(self, *options, words=()):
        return self.enterContext(Recorder.steered(self.directory, "exec:" + shlex.join(demo(*words)), ELF, *options))

    def test_what_is_traced_changes_while_it_is_recorded(self):
        recorder = self.record("--trace", "luaV_*", "--notrace", "luaV_lessthan", "--recorder", "graph", words=["recorder=none"])
        recorder.wait_for(lambda: recorder.generated() > 5000)
        self.assertRegex(recorder.ctl("mark", "4711"), "^ok")
        self.assertRegex(recorder.ctl("trace", "luaH_*", "luaC_step", "--recorder", "function"), "tracing [0-9]+ functions")
        recorder.wait_for_more(1000)
        for command, said in (("trace --also main", "1 function more"), ("untrace luaH_*", "no longer"),
                              ("stats", "^recording; 2 functions traced"), ("stop", "ok"), ("stats", "^stopped"), ("start", "ok"),
                              ("baud 1000000", "runs at 1000000")):
            self.assertRegex(recorder.ctl(*command.split()), said)
        time.sleep(2.5)  # the target keeps this rate
        self.assertRegex(recorder.ctl("stats"), "^recording")
        for words in (["untrace", "nothing_of_that_name"], ["fly"], ["depth", "deep"], ["baud", "0"]):
            said = recorder.ctl(*words, status=2)
            self.assertEqual(len(said.strip().splitlines()), 1, said)
        report = recorder.end()
        calls = {f["name"]: f["calls"] for f in report["functions"]}
        for name in ("luaV_", "luaH_"):
            self.assertGreater(sum(n for f, n in calls.items() if f.startswith(name)), 10, name)
        self.assertNotIn("luaV_lessthan", calls)
        self.assertFalse([f for f in calls if f.startswith(("luaD_", "luaK_"))], "the filter came late")
        self.assertEqual([m["id"] for m in recorder.json("graph")["markers"]], [4711])
        self.assert_zero(report["integrity"], "corrupt_frames", "gaps", "commands_refused")

    def test_filters_on_the_target(self):
        recorder = self.record("--trace", "lua*", "--min-duration", "50us")
        recorder.wait_for(lambda: recorder.generated() > 10_000)  # most of them are filtered
        mine, others = ("a", "x") if MACHINE == "riscv-virt" else ("x", "a")
        for command, said in (("depth 3", "ok"), ("sample 1/10", "ok"), ("trace lua* --recorder sampled", "tracing"),
                              ("only luaV_execute", "only 1 function and below"), ("only", "all that is traced"),
                              (f"capture {mine}0,{mine}1,result luaV_execute", "capturing")):
            self.assertRegex(recorder.ctl(*command.split()), said)
        time.sleep(0.5)
        self.assertIn(f"{others}0: expected {mine}0 to {mine}7", recorder.ctl("capture", f"{others}0", "luaV_execute", status=2))
        self.assertRegex(recorder.ctl("capture", "none", "luaV_execute"), "capturing none")
        recorder.ctl("stats")  # makes the target send a stats frame
        time.sleep(0.5)
        report = recorder.end()
        self.assertEqual({of["what"] for of in report["captured"]}, {f"{mine}0", f"{mine}1", "result"})
        self.assertGreater(report["integrity"]["filtered"], 1000)
        self.assertEqual(report["integrity"]["commands_refused"], 0)

    def test_profile_as_a_mode(self):
        recorder = self.record("--recorder", "profile", "--mode", "stream", words=["mode=adaptive"])
        recorder.wait_for(lambda: " 0 selected" not in recorder.ctl("stats"))
        before, since = recorder.generated(), time.monotonic()
        time.sleep(0.5)
        # The tracer's own records continue: two for each of 1,000 pumps a second.
        after, seconds = recorder.generated(), time.monotonic() - since
        self.assertLess(after - before, 3000 * seconds, "calls are still recorded one by one")
        recorder.ctl("send-profile")
        time.sleep(0.5)
        recorder.ctl("stats")  # makes the target send a stats frame
        time.sleep(0.5)
        report = recorder.end()
        self.assertGreater(report["integrity"]["aggregated"], 10_000)
        self.assertEqual(report["integrity"]["commands_refused"], 0)

    def test_a_reset_target_is_asked_again(self):
        recorder = self.record("--trace", "luaV_*")
        recorder.wait_for(lambda: recorder.generated() > 5000)
        self.assertRegex(recorder.ctl("reset"), "has been reset")
        recorder.wait_for(lambda: recorder.generated() > 5000)
        # The demo begins with all functions traced.
        self.assertRegex(recorder.ctl("stats"), "recording; [0-9][0-9]? functions traced")
        self.assertEqual(recorder.end()["sessions"], 2)

    def test_a_line_that_goes_one_way_is_refused(self):
        done = machines.nopscope("ctl", "--from", "file:/dev/null", "stats", status=2)
        self.assertRegex(done.stderr, "commands cannot be sent")
        done = machines.nopscope("ctl", "--via", f"unix:{self.directory / 'none'}", "stats", status=3)
        self.assertRegex(done.stderr, "cannot connect")

    def test_ctl_speaks_to_a_target_that_nobody_records(self):
        with machines.Target(self.directory / "target", demo) as target:
            for command, status, said in (("trace lua_* --recorder function", 0, "^tracing"), ("stats", 0, "[0-9]+ functions traced"),
                                          ("trace main --recorder profile", 3, "Config::profile_memory")):
                done = machines.nopscope("ctl", "--from", f"unix:{target.path}", "--image", ELF, *command.split(), status=status)
                self.assertRegex(done.stdout + done.stderr, said)


if __name__ == "__main__":
    unittest.main()
