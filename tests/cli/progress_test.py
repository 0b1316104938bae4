#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long work shows its progress on a terminal, and nowhere else."""

import os
import pty
import re
import select
import subprocess
import time
import unittest

import cli

SECONDS = 60


class Progress(cli.Case):
    def begin(self, stderr, file="-", stdin=subprocess.DEVNULL):
        command = [cli.NOPSCOPE, "report", file]
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def fed(self, stderr):
        """Reads a pipe that gets a MB now and then."""
        process = self.begin(stderr, stdin=subprocess.PIPE)
        for _ in range(4):
            process.stdin.write(b"x" * (1 << 20))
            process.stdin.flush()
            time.sleep(0.3)
        return process

    def shown(self, pattern, terminal):
        """Returns the terminal's text up to the match of `pattern`."""
        told, end = b"", time.monotonic() + SECONDS
        while not re.search(pattern, told):
            self.assertLess(time.monotonic(), end, told)
            if select.select([terminal], [], [], 1)[0]:
                told += os.read(terminal, 4096)
        return told

    def terminal(self):
        main, other = pty.openpty()
        self.addCleanup(os.close, main)
        self.addCleanup(os.close, other)
        return main, other

    def test_a_file_in_percent(self):
        long = self.directory / "long"
        long.touch()
        os.truncate(long, 1 << 40)  # the file has no blocks
        main, other = self.terminal()
        self.begin(other, long)
        self.shown(rb"\r\x1b\[Kreading [^\r]*long: [0-9]+ %, [0-9]+ s left", main)

    def test_a_pipe_in_bytes_and_the_line_goes_away(self):
        main, other = self.terminal()
        process = self.fed(other)
        self.shown(rb"reading -: [0-9.]+ MB", main)
        process.stdin.close()
        process.wait(SECONDS)
        # The message that nothing was recorded has its own line.
        self.assertRegex(self.shown(rb"nopscope: [^\r]*\r\n", main).split(b"nopscope:")[0][-8:], rb"\r\x1b\[K$")

    def test_what_is_no_terminal_is_told_nothing(self):
        process = self.fed(subprocess.PIPE)
        process.stdin.close()
        said = process.stderr.read()
        process.stderr.close()
        self.assertNotIn(b"reading", said)
        self.assertIn(b"nopscope: ", said)


if __name__ == "__main__":
    unittest.main()
