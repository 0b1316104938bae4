#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nopscope top` in a terminal, on a running demo: the screen, the keys, and the loss of the target or the line.

    top_test.py MACHINE [TEST]...
"""

import functools
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import unittest

import machines
import times
import tmux

MACHINE = sys.argv.pop(1)
ELF = machines.elf_of(MACHINE, "demo")
ROOT = pathlib.Path(__file__).resolve().parents[2]
STREAM = ROOT / "tests/conformance/stream.bin"

# A line of the table: now, calls/s, calls, self, total, share, p50, p99, name.
TIME = r"(?:-|[0-9.]+ (?:ns|us|ms|s))"
ROW = re.compile(rf"^ *([0-9.]+) % +([0-9.]+[kMG]?) +([0-9.]+[kMG]?) +{TIME} +{TIME} +[0-9.]+ % +{TIME} +{TIME}  +(\S+)", re.MULTILINE)


def number(text):
    return float(text.rstrip("kMG")) * {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)


class Top(machines.Case):
    def setUp(self):
        super().setUp()
        self.terminal = self.enterContext(tmux.Terminal(self.directory))

    def watch(self, uri, *options):
        words = [machines.NOPSCOPE, "top", "--from", uri, *options]
        self.terminal.type(f"clear; stty -g > {self.directory}/before; " + shlex.join(map(str, words)) + "\n")

    def watch_demo(self, *options):
        self.target = self.enterContext(machines.Target(self.directory / "target", functools.partial(machines.endless_demo, MACHINE)))
        self.watch(f"unix:{self.target.path}", "--image", ELF, "--interval", "0.5", *options)
        self.terminal.wait_for("running  .*demo on virt" if MACHINE.startswith("virt") else "running  .*demo on")
        self.terminal.wait_for("luaV_execute")

    def rows(self, column=1):
        """Returns (calls/s, name) of the rows on the screen, or of another column."""
        return [(number(row[column]), row[3]) for row in ROW.findall(self.terminal.screen())]

    def calls(self):
        return self.rows(2)

    def click_head(self, column):
        """Clicks on a column's head. Returns the row of the screen."""
        lines = self.terminal.screen().splitlines()
        row = next(n for n, line in enumerate(lines) if re.match("^ *now +calls/s", line))
        self.terminal.click(re.search(rf" {column} ", lines[row]).start() + 1, row)
        return row

    def wait_until(self, condition):
        machines.wait_for(condition, self.terminal.screen)

    def kill(self, number):
        top, = subprocess.run(["pgrep", "-P", self.terminal.shows("pane_pid"), "nopscope"], capture_output=True, text=True).stdout.split()
        os.kill(int(top), number)

    def expect_the_terminal_as_before(self):
        self.terminal.wait_for("^ready> *$")
        flags = ("alternate_on", "cursor_flag", "mouse_any_flag")
        self.assertEqual([self.terminal.shows(flag) for flag in flags], ["0", "1", "0"])
        self.terminal.type(f"stty -g > {self.directory}/after; echo d'one'\n", "^done")
        self.assertEqual((self.directory / "after").read_text(), (self.directory / "before").read_text())

    def test_what_it_shows_and_what_keys_do(self):
        self.watch_demo()
        terminal = self.terminal
        terminal.wait_for(r"core 0 +\[.*records/s", r"line +\[\|.* %\]", "^console", "round 1 of 100000|queens|json|sort")
        self.wait_until(lambda: len(self.rows()) > 10)

        terminal.type("t", r"share +total +self +calls +call path", r"[0-9.]+ % .* - lua_pcallk")
        terminal.type("t")

        # The target no longer sends calls of other functions than the chosen ones.
        terminal.type("f", r"^trace \[GLOB")
        terminal.type("luaV_*\n", "trace luaV_.: tracing [0-9]+ functions")

        def only_the_chosen_ones_count():
            counting = [name for rate, name in self.rows() if rate > 0 and not name.startswith("(")]
            return counting and all(name.startswith("luaV_") for name in counting)
        self.wait_until(only_the_chosen_ones_count)
        # The totals are those since the filter. A call that was open then has its time, and is not counted.
        # The pump's interrupt may have come while the core was recording an entry: that call is counted.
        terminal.wait_for(r"^figures +since [0-9:]{8} \([0-9]+ s ago: trace luaV_\*\)")
        others = [(calls, name) for calls, name in self.calls() if calls > 0 and not name.startswith(("luaV_", "("))]
        self.assertLessEqual(sum(calls for calls, _ in others), 1, others)

        side = self.directory / "side.nsc"

        def markers():
            return [marker["id"] for marker in machines.as_json("graph", side)["markers"]]
        terminal.type("r", "^record into: nopscope-.*nsc")
        for _ in range(40):
            terminal.press("BSpace")
        terminal.type(f"{side}\n", r"recording  .*side\.nsc  [0-9,]{5,} records")
        terminal.type("m", "mark 1: ok")
        # Waits until its record has come: a target that runs slowly takes a while to send it.
        self.wait_until(lambda: markers() == [1])
        said = int(terminal.type("r", r"side\.nsc: ([0-9,]+) records")[1].replace(",", ""))

        terminal.resize(80, 20)
        self.wait_until(lambda: re.search("^ *now .* share  function", terminal.screen(), re.MULTILINE))
        self.assertRegex(terminal.screen(), "^nopscope  running")
        terminal.resize(140, 50)
        self.wait_until(lambda: len(self.rows()) > 10)
        terminal.type("q")
        self.expect_the_terminal_as_before()

        report = machines.as_json("report", side)
        self.assertEqual(report["integrity"]["delivered"], said)
        self.assert_zero(report["integrity"], "lost", "gaps", "corrupt_frames", "malformed_frames", "unknown_records")
        begun, ended = times.begun_and_ended(side.read_bytes())
        self.assertEqual(sum(row["calls"] for row in report["functions"] + report.get("interrupts", [])), begun)
        self.assertLess(abs(begun - ended), 512)  # open at either end: a shadow stack's size
        self.assertTrue(all(row["name"].startswith("luaV_") for row in report["functions"]), report["functions"])

    def test_zero_one_core_and_the_mouse(self):
        self.watch_demo("--control", f"unix:{self.directory}/steer")
        terminal = self.terminal
        self.click_head("calls")
        # The picture goes on after a click, and after its release.
        self.wait_until(lambda: self.calls() and self.calls()[0][0] > 20_000)
        terminal.type("p")  # the picture is held, so that nothing comes meanwhile
        terminal.type("z", "^zero: the figures begin again", r"^figures +since [0-9:]{8} \([0-9]+ s ago: zero\)")
        self.assertTrue(all(calls < 10_000 for calls, _ in self.calls()), terminal.screen())
        terminal.type("p")
        self.wait_until(lambda: self.calls() and self.calls()[0][0] > 20_000)
        done = machines.nopscope("ctl", "--via", f"unix:{self.directory}/steer", "zero")
        self.assertEqual(done.stdout, "the figures begin again\n")
        self.wait_until(lambda: not self.calls() or self.calls()[0][0] < 20_000)

        terminal.type("C9\n", "^there is no core 9: the target has 1, from 0")
        terminal.type("C0\n", "^figures +only core 0  since")
        self.wait_until(lambda: len(self.rows()) > 10)
        terminal.type("C\n", "^all cores and tasks")

        # A click on a head, then on the third row below it. Keys.TheMouse has the rest.
        head = self.click_head("self")
        terminal.type("p", r"  held\b")
        terminal.click(70, head + 3)
        proposed = terminal.type("u", r"^untrace GLOB...: (\S+)")[1]
        # The held picture stays, but may just be drawn.
        self.wait_until(lambda: [name for _, name in self.rows()][2:3] == [proposed])
        terminal.press("Escape")
        for flag in "01":
            terminal.type("s")
            self.wait_until(lambda: terminal.shows("mouse_any_flag") == flag)
        terminal.type("q")
        self.expect_the_terminal_as_before()

    def test_a_reset_and_a_lost_line_are_said_and_survived(self):
        self.watch_demo()
        self.terminal.type(":reset\n", "the target has been reset: session", "running  1 reset  ")
        self.wait_until(self.rows)
        self.target.kill()
        self.terminal.wait_for("line lost, trying again  1 reset  1 line loss")
        self.assertTrue(self.rows(), "what was known is gone")
        self.terminal.type("m", "mark 1: the line is lost")
        self.target.start()
        self.terminal.wait_for("running  2 resets  1 line loss")
        self.wait_until(lambda: any(rate > 0 for rate, _ in self.rows()))
        # A signal ends it, too.
        self.kill(signal.SIGTERM)
        self.expect_the_terminal_as_before()

    def test_a_line_that_takes_no_commands_and_a_crash_that_leaves_the_terminal_as_it_was(self):
        self.watch(f"file:{STREAM}")
        self.terminal.wait_for("nopscope  over")
        self.terminal.type("m", "mark 1: .*commands cannot be sent there")
        self.terminal.type("r\n", "there is nothing to record: the line is over")
        self.terminal.type("?", "ask anything that")
        self.terminal.type("?")
        self.kill(signal.SIGSEGV)
        self.expect_the_terminal_as_before()

    def test_what_the_command_says_on_stderr_stays_out_of_the_screen(self):
        command = self.directory / "command"
        command.write_text(f"cat {STREAM}; echo not in the screen >&2; exec sleep 60\n")
        self.watch(f"exec:sh {command}")
        self.terminal.wait_for("^nopscope  finished", "^console")
        screen = self.terminal.wait_for("^(.*)not in the screen")
        self.assertEqual(screen[1], "", "it is a line of the console's")
        self.assertRegex(self.terminal.screen().splitlines()[0], "^nopscope  finished")
        # Another process may still draw over the screen.
        with open(self.terminal.shows("pane_tty"), "w", encoding="ascii") as tty:
            tty.write("\033[5;1Hrubbish from outside")
        self.terminal.wait_for("rubbish from outside")
        self.terminal.press("C-l")
        self.wait_until(lambda: "rubbish" not in self.terminal.screen())
        self.terminal.type("q", "^not in the screen")
        self.expect_the_terminal_as_before()


class Once(machines.Case):
    def test_agrees_with_a_recording_of_the_same_line(self):
        command = machines.qemu_command(MACHINE, "demo", ["rounds=1"])
        look = machines.as_json("top", "--once", "--delay", "100", "--from", "exec:" + shlex.join(command), "--image", ELF,
                                "-o", self.directory / "side.nsc")
        report = machines.as_json("report", self.directory / "side.nsc")
        text = machines.nopscope("top", "--once", "--delay", "10", "--from", f"file:{STREAM}").stdout
        self.assertEqual(look["state"], "over")
        self.assertGreater(len(report["functions"]), 300)
        for ours, theirs in (("calls", "calls"), ("self_ns", "corrected_self_ns"), ("total_ns", "corrected_total_ns")):
            self.assertEqual({f["address"]: f[ours] for f in look["functions"]}, {f["address"]: f[theirs] for f in report["functions"]})
        self.assertEqual([i["calls"] for i in look.get("interrupts", [])], [i["calls"] for i in report.get("interrupts", [])])
        self.assertEqual(look["integrity"], report["integrity"])
        self.assertIn("every script's result is right", look["console"])
        self.assertRegex(text, "nopscope  over")

    def test_without_a_terminal_it_says_what_to_do(self):
        done = machines.nopscope("top", "--from", "file:/dev/null", status=2)
        self.assertRegex(done.stderr, "no terminal: give --once")


if __name__ == "__main__":
    unittest.main()
