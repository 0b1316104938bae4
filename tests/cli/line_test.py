#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines on which no target speaks: what is said of them, when, and the exit code."""

import os
import pty
import struct
import subprocess
import sys
import time
import tty
import unittest

import cli

GOLDEN = cli.pathlib.Path(__file__).resolve().parents[1] / "golden"
sys.path.append(str(GOLDEN))
import trace2  # noqa: E402  # pylint: disable=wrong-import-position


def frame(stream, session, payload):
    raw = struct.pack("<BBHI", stream, 0, session, 0) + payload
    raw += trace2.crc32c(raw).to_bytes(4, "little")
    blocks = (raw + b"\0").split(b"\0")[:-1]
    assert all(len(block) < 254 for block in blocks)
    return b"\0" + b"".join(bytes([len(block) + 1]) + block for block in blocks) + b"\0"


def hello_of(line):
    return next(of[4] for of in trace2.frames(line) if of is not None and of[0] == trace2.HELLO)


class Silent(cli.Case):
    def record(self, uri, *options, status):
        done = cli.nopscope("record", "--from", uri, "-o", self.directory / "line.nsc", *options, status=status)
        return done.stderr

    def test_nothing_recorded_is_an_exit_code_of_its_own(self):
        self.assertIn("nothing was recorded: no byte came", self.record("exec:true", status=5))
        self.assertIn("nothing was recorded: no byte came in 0.",
                      self.record("exec:sleep 9", "--duration", "0.3", status=5))
        self.assertIn("6 bytes of text came", self.record("exec:echo hello", status=5))
        # Both are said.
        said = self.record("exec:exit 7", status=4)
        self.assertIn("nothing was recorded", said)
        self.assertIn("exit status 7", said)

    def test_a_target_of_another_version_is_said_and_the_next_one_is_recorded(self):
        good = (GOLDEN / "stream.bin").read_bytes()
        line = self.directory / "line"
        other = frame(trace2.HELLO, 99, struct.pack("<H", 77) + hello_of(good)[2:])
        line.write_bytes(other)
        self.assertIn("speaks trace format 77", self.record(f"file:{line}", status=3))
        line.write_bytes(other + b"\0" + good)
        said = self.record(f"file:{line}", status=0)
        self.assertIn("speaks trace format 77, and this nopscope reads 2: its sessions were left out", said)
        self.assertIn("in 1 session;", said)

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
        done = cli.nopscope("top", "--once", "--after", "9", "--from", "exec:echo no such machine >&2; exit 3", status=3)
        self.assertEqual(done.stderr.splitlines()[0], "no such machine")
        self.assertRegex(done.stderr, "no byte came: .*; the command ended with exit status 3: no such machine")
        done = cli.nopscope("top", "--once", "--after", "0.2", "--interval", "0.2", "--from", "exec:sleep 9", status=3)
        self.assertIn("no byte came in ", done.stderr)


if __name__ == "__main__":
    unittest.main()
