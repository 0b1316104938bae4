#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On an invented call trace: memory does not grow with the recording, and a pipe is read once. bench/host.py has the cost of an event."""

import os
import random
import subprocess

import exports

# The memory that a format may take more for a recording that is thirty times as long.
GROWTH_BYTES = 3 << 20


def trace(events):
    """Entries and returns of 100 functions, ten deep."""
    choose, stack, now = random.Random(1), [], 0
    for _ in range(events):
        now += choose.randrange(20, 200)
        if stack and (len(stack) > 9 or choose.random() < 0.5):
            yield 1, stack.pop(), now
        else:
            stack.append(choose.randrange(100))
            yield 0, stack[-1], now


class Streaming(exports.Case):
    def test_a_pipe_is_read_once(self):
        recording = exports.recording("equal")
        data = recording.read_bytes()
        for command, *options in (["report"], ["replay"], ["outliers", "*"], ["export", "--format", "csv", "-o", "-"]):
            piped = exports.nopscope(command, "/dev/stdin", *options, input=data).stdout
            self.assertEqual(piped, exports.nopscope(command, recording, *options).stdout, command)
            self.assertTrue(piped)
        page = exports.nopscope("html", "/dev/stdin", "-o", "-", input=data).stdout
        self.assertIn(b'"timeline"', page)
        refused = exports.nopscope("report", "/dev/stdin", "--task", "idle", input=data, status=2)
        self.assertIn(b"--task: a task's name needs a file, not standard input or a pipe", refused.stderr)

    def test_memory_does_not_grow(self):
        short, long = self.invented(trace(20_000)), self.invented(trace(600_000))
        # sqlite's sums need the call tree, which grows with the paths of these random calls.
        for name in ("chrome", "csv", "ctf", "perfetto", "speedscope", "trace-cmd", "uftrace"):
            bytes_ = [self.most_memory(recording, name) for recording in (short, long)]
            self.assertLess(bytes_[1] - bytes_[0], GROWTH_BYTES, name)

    def most_memory(self, recording, name):
        process = subprocess.Popen([exports.NOPSCOPE, "export", recording, "--format", name, "-o", self.directory / name],
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return 1024 * usage.ru_maxrss


if __name__ == "__main__":
    exports.main()
