#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A firmware without Config::input (SHIPPING.md): no byte on its line changes anything. A firmware
with an input obeys the same bytes.
"""

import os
import pathlib
import random
import select
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import machines  # noqa: E402
import wire  # noqa: E402
from wire import HELLO, TRACE, trace2  # noqa: E402

MACHINE = "virt-max"
COMMAND, REPLY = 6, 7
COMMANDS = 21  # docs/control.md
PING, STOP, MARK, RESET = 0, 4, 5, 19


def every_command(session):
    """Each command in docs/control.md that ends neither the recording nor the machine, in frames
    that a target in this session accepts. Then stop and reset. Noise comes before and after."""
    noise = random.Random(21).randbytes(600)
    arguments = {5: b"\1", 6: b"\1", 11: b"\1\0\0", 12: b"\0", 13: b"\1", 14: b"\1", 15: b"\2", 16: b"\0\0", 17: b"\0\0\0",
                 18: (9600).to_bytes(4, "little"), 20: b"\0"}
    numbers = [what for what in range(COMMANDS) if what not in (STOP, RESET)] + [STOP, RESET]
    return noise + b"".join(trace2.frame(COMMAND, session, bytes([what]) + arguments.get(what, b""), number)
                            for number, what in enumerate(numbers, 1)) + noise


def run_to_the_end(sent):
    command = machines.qemu_command(MACHINE, "minimal", [], icount=True)
    return wire.Line(subprocess.run(command, input=sent, stdout=subprocess.PIPE, check=True, timeout=machines.HANG_SECONDS).stdout)


class Endless:
    """tests/firmware/endless, which traces without end."""

    def __init__(self, *words):
        self.process = subprocess.Popen(machines.qemu_command(MACHINE, "endless", words, icount=False),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""    # the incomplete frame at the end
        self.frames = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def read(self, enough, seconds=20):
        """Reads until enough(frames). Returns False if that takes longer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                whole, zero, self.rest = (self.rest + os.read(self.process.stdout.fileno(), 1 << 16)).rpartition(b"\0")
                self.frames += [frame for frame in trace2.frames(whole + zero) if frame]
            if enough(self.frames):
                return True
        return False

    def session(self):
        return next(frame[2] for frame in self.frames if frame[0] == HELLO)

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, number, what, arguments=b"", attempts=12):
        """Repeats a command until the answer comes. Returns it (0: ok), or None."""
        for _ in range(attempts):
            self.send(trace2.frame(COMMAND, self.session(), bytes([what]) + arguments, number))
            self.read(lambda frames: answers(frames, number), seconds=2)
            if answers(self.frames, number):
                return answers(self.frames, number)[0]
        return None


def answers(frames, number):
    return [frame[4][5] for frame in frames if frame[0] == REPLY and int.from_bytes(frame[4][:4], "little") == number]


def has_hello(frames):
    return any(frame[0] == HELLO for frame in frames)


class ClosedLine(unittest.TestCase):
    def test_a_run_is_the_same_with_any_bytes(self):
        plain, told = (run_to_the_end(sent) for sent in (b"", every_command(1)))
        calls, calls_told = ([(event.kind, event.site) for event in line.events if event.kind in (wire.CALL, wire.RET)]
                             for line in (plain, told))
        self.assertGreater(len(calls), 1000)
        self.assertTrue(calls == calls_told)
        self.assertEqual(plain.console, told.console)

    def test_no_command_is_answered_or_obeyed(self):
        with Endless("deaf", "baud=115200") as target:
            self.assertTrue(target.read(has_hello))
            session = target.session()
            target.send(every_command(session))
            self.assertIsNone(target.ask(100, STOP, attempts=2))
            target.frames = []
            # It continues in the same session: it was neither stopped nor reset.
            self.assertTrue(target.read(lambda frames: sum(has_hello([frame]) for frame in frames) > 5))
            self.assertEqual({frame[2] for frame in target.frames}, {session})
            streams = [frame[0] for frame in target.frames]
            self.assertNotIn(REPLY, streams)
            self.assertIn(TRACE, streams[streams.index(HELLO):])

    def test_a_target_with_an_input_is_steered_by_such_bytes(self):
        with Endless("baud=115200") as target:
            self.assertTrue(target.read(has_hello))
            self.assertEqual([target.ask(number, what, arguments) for number, (what, arguments) in enumerate(
                ((PING, b""), (MARK, b"\1"), (STOP, b"")), 1)], [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
