#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines on which no target speaks: what is said of them, when, and the exit code."""

import os
import pty
import subprocess
import time
import tty
import unittest

import cli

GOLDEN = cli.pathlib.Path(__file__).resolve().parents[1] / "golden"


class Silent(cli.Case):
    def record(self, uri, *options, status):
        done = cli.nopscope("record", "--from", uri, "-o", self.directory / "line.nsc", *options, status=status)
        return done.stderr

    def test_nothing_recorded_is_an_exit_code_of_its_own(self):
        self.assertIn("nothing was recorded: no byte came", self.record("exec:true", status=5))
        self.assertIn("nothing was recorded: no byte came in 0.3 s",
                      self.record("exec:sleep 9", "--duration", "0.3", status=5))
        self.assertIn("6 bytes of text came", self.record("exec:echo hello", status=5))
        # Both are said.
        said = self.record("exec:exit 7", status=4)
        self.assertIn("nothing was recorded", said)
        self.assertIn("exit status 7", said)

    def test_a_target_of_another_version_is_said_and_the_next_one_is_recorded(self):
        good = (GOLDEN / "stream.bin").read_bytes()
        line = self.directory / "line"
        line.write_bytes(good)
        self.record(f"file:{line}", status=0)

    def test_a_silent_port_is_said_within_three_seconds_and_listened_to_on(self):
        master, slave = pty.openpty()
        tty.setraw(slave)
        begin = time.monotonic()
        with subprocess.Popen([cli.NOPSCOPE, "record", "-q", "--from", f"serial:{os.ttyname(slave)}", "-o",
                               self.directory / "line.nsc"], stderr=subprocess.PIPE, text=True) as recorder:
            self.assertIn("no byte came in 2.8 s: is the target on, is this its port", recorder.stderr.readline())
            seconds = time.monotonic() - begin
            self.assertGreater(seconds, 2.7)
            os.write(master, (GOLDEN / "stream.bin").read_bytes())
            time.sleep(0.3)
            os.close(slave)
            os.close(master)
            self.assertRegex(recorder.communicate()[1], "in 1 session;")
        self.assertEqual(recorder.returncode, 0)

    def test_top_says_it_too(self):
        for uri, said in (("exec:true", "the line is over: no byte came"), ("exec:echo hello", "bytes of text came")):
            done = cli.nopscope("top", "--once", "--after", "0.2", "--from", uri, status=3)
            self.assertIn(said, done.stderr)
        done = cli.nopscope("top", "--once", "--after", "0.2", "--interval", "0.2", "--from", "exec:sleep 9", status=3)
        self.assertIn("no byte came in ", done.stderr)


if __name__ == "__main__":
    unittest.main()
