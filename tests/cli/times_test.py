#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of every command: they lie within the recording, whichever core's records come first."""

import json
import pathlib
import re
import sys
import unittest

import cli
from cli import GOLDEN

sys.path[:0] = [str(GOLDEN), str(pathlib.Path(__file__).resolve().parents[1] / "memory")]
import recordings  # noqa: E402  # pylint: disable=wrong-import-position
import trace2  # noqa: E402  # pylint: disable=wrong-import-position

# The second core of a recording starts so many ns before the first one, whose records come first.
EARLIER = 2_000_000
COMMANDS = [
    "report {} --format json", "report {} --format csv", "report {} --sort max", "report {} --time 1us..", "report {} --time ..1ms --format json",
    "report {} --core 1 --format json", "report {} --around 1ms,100us", "replay {}", "replay {} --time 1us..1.9ms", "graph {} --format json",
    "latency {} * --longest 3", "latency {} * --longest 3 --format json", "outliers {} *", "outliers {} * --format json", "tasks {} --format json",
    "irq {}", "stack-depth {}", "callers {} *", "info {} --format json", "diff {} {} --format json",
    "query {} 'SELECT begin_ns, duration_ns FROM calls' --format csv",
]
# Their lines are the same, whichever core's records are read first.
SAME = ["report {} --format csv", "report {} --time 1us.. --format csv", "replay {}", "tasks {}"]
WRAPPED = re.compile(r"1844674\d{6,}")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def of_two_cores():
    """Core 1 begins EARLIER, in the file later. A call takes 100 us, and each core makes ten, one after another."""
    made = recordings.Recording(cores=2, sites=8)
    for core, begin in ((0, 1_000_000_000), (1, 1_000_000_000 - EARLIER)):
        for n in range(10):
            words = [recordings.entry(core)]
            made.block(core, words, bytes([recordings.FIRST, recordings.RETURN]), delta=100_000, base=begin + n * 200_000)
    return made.bytes()


def by_core(line, order):
    """The line, in each session the frames of one core after those of another."""
    sessions = {}
    for stream, core, session, sequence, payload in trace2.frames(line):
        key = (stream not in (trace2.HELLO, trace2.TASKS), order(core))
        sessions.setdefault(session, []).append((key, trace2.frame(stream, session, payload, sequence, core)))
    return b"".join(frame for frames in sessions.values() for _, frame in sorted(frames, key=lambda one: one[0]))


class Times(cli.Case):
    def outputs(self, recording, commands=COMMANDS):
        for command in commands:
            words = [word.strip("'").replace("{}", str(recording)) for word in re.findall(r"'[^']*'|\S+", command)]
            done = cli.nopscope(*words, status=None)
            yield command, done.returncode, done.stdout.replace(str(recording), "{}"), done.stderr

    def times_in(self, command, said):
        """Of a text's or JSON's times, those that are points in time or lengths, in ns."""
        if command.startswith("replay"):
            yield from (float(line.split()[0]) * 1e9 for line in said.splitlines() if line[:1] == " ")
        elif "json" in command:
            pairs = []
            json.loads(said, object_pairs_hook=lambda of: pairs.extend(of) or dict(of))
            yield from (value for name, value in pairs if name.endswith("_ns") and isinstance(value, int))
        elif "csv" not in command:
            yield from (float(value) * UNITS[unit] for value, unit in re.findall(r"(?<![\w.])(-?[\d.]+) ?(ns|us|ms|s)\b", said))

    def test_of_a_core_that_begins_earlier_and_is_read_later(self):
        path = self.directory / "two.nsc"
        path.write_bytes(of_two_cores())
        length = EARLIER + 1_900_000
        for command, status, said, error in self.outputs(path):
            with self.subTest(command=command):
                self.assertEqual(status, 0, error)
                self.assertNotRegex(said, WRAPPED)
                for time in self.times_in(command, said):
                    self.assertTrue(0 <= time <= length, f"{time} in {said[:2000]}")
        replay = cli.nopscope("replay", path).stdout
        self.assertEqual([line.split()[0] for line in replay.splitlines()[1:]], [f"{(begin + n * 200_000) / 1e9:.9f}"
                         for begin in (0, EARLIER) for n in range(10)])
        longest = cli.nopscope("outliers", path, "*", "--top", "1", "--format", "json", "--core", "0").stdout
        self.assertGreaterEqual(json.loads(longest)["slowest"][0]["at_ns"], EARLIER)
        self.assertEqual(json.loads(cli.nopscope("report", path, "--time", "..1ns", "--format", "json").stdout)["duration_ns"], 1)

    def test_are_the_same_in_each_order_of_the_cores(self):
        line = (GOLDEN / "tasks.bin").read_bytes()
        for suffix in (".line", ".nsc"):
            outputs = []
            for at, order in enumerate((lambda core: core, lambda core: -core)):
                path = self.directory / f"{at}.line"
                path.write_bytes(by_core(line, order))
                if suffix == ".nsc":
                    cli.nopscope("record", "-q", "--from", f"file:{path}", "-o", path := path.with_suffix(suffix))
                outputs.append(list(self.outputs(path, SAME)))
            for (command, status, one, _), (_, _, other, _) in zip(*outputs):
                with self.subTest(suffix=suffix, command=command):
                    self.assertEqual(status, 0)
                    self.assertEqual(sorted(one.splitlines()), sorted(other.splitlines()))

    def test_of_a_pipe_do_not_wrap(self):
        data = of_two_cores()
        for command in ("latency - * --longest 3", "outliers - *", "replay -"):
            done = cli.run("sh", "-c", f"cat | {cli.NOPSCOPE} {command.replace('*', chr(39) + '*' + chr(39))}", input=None, stdin=self.piped(data))
            self.assertNotRegex(done.stdout, WRAPPED)

    def piped(self, data):
        path = self.directory / "piped"
        path.write_bytes(data)
        return self.enterContext(path.open("rb"))


if __name__ == "__main__":
    unittest.main()
