#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `replay` prints, fed back by a parser: the calls and times are the report's, for parts, too."""

import collections
import json
import pathlib
import re
import subprocess

import exports

LINE = re.compile(r" *(\d+)\.(\d{9})(?: +(\d+)\.(\d{3}) us)? +(\d+)(?:/(\d+))?  ( *)(.*)")
# Of a target that names its tasks.
TASKS_LINE = re.compile(r" *(\d+)\.(\d{9})(?: +(\d+)\.(\d{3}) us)? +(\d+)  (\S.{15,}?| {16})  ( *)(\S.*)")
HOW = re.compile(r"  \[(unwound|gap|open)\]$")


def replayed(name, *options):
    return exports.run(exports.NOPSCOPE, "replay", exports.recording(name), *options).stdout.decode().splitlines()


def lines_of(name, *options):
    """Yields (time, took or None, core, context or task, depth, text) of each line, in ns."""
    head, *lines = replayed(name, *options)
    for line in lines:
        seconds, ns, us, part, core, context, indent, rest = (TASKS_LINE if "task" in head else LINE).fullmatch(line).groups()
        took = None if us is None else int(us) * 1000 + int(part)
        yield (int(seconds) * 10 ** 9 + int(ns), took, int(core), context.strip() if "task" in head else int(context or 0),
               len(indent) // 2, rest)


def sums_of(lines):
    sums = exports.Sums()
    for at, took, core, context, _, text in lines:
        track = core, context
        name = HOW.sub("", text)
        if text.startswith("# "):
            continue
        if text.endswith(" {"):
            sums.begin(track, text[:-2], at, core)
        elif text.startswith("} "):
            sums.end(track, at, core, name[2:])
        elif took is None:
            sums.calls[text] += 1
        else:
            name = name.removesuffix("()")
            sums.begin(track, name, at, core)
            sums.end(track, at + took, core, name)
    return sums


class Replay(exports.Case):
    def test_calls_and_times_are_the_report_s(self):
        for name in ("demo", *exports.WITH_CALLS, "tasks-54", "equal", "deep"):
            sums = sums_of(lines_of(name))
            self.assertEqual(sums.failures, [], name)
            for row in exports.functions(name):
                with self.subTest(recording=name, function=row["name"]):
                    same = [other for other in exports.functions(name) if other["name"] == row["name"]]
                    self.assertEqual(sums.calls[row["name"]], sum(other["calls"] for other in same))
                    if exports.is_plain(name, row):
                        self.assertAlmostEqual(sums.self_[row["name"]], row["self_ns"],
                                               delta=exports.rounding(name) * (1 + sums.self_lengths[row["name"]]))

    def test_tasks_have_their_names(self):
        tasks = json.loads(exports.run(exports.NOPSCOPE, "tasks", exports.recording("kernel"), "--each", "--format", "json").stdout)["tasks"]
        ran = {re.sub(r"\((\d+)\)", r"\1", task["name"]) for task in tasks if task["runs"]}
        seen = {task for _, _, _, task, _, _ in lines_of("kernel")}
        self.assertLessEqual({"idle", "urgent", "parent"}, {name.split(" ")[0] for name in seen})
        self.assertLessEqual({name for name in seen if name and not name.startswith("context ")}, ran)

    def test_the_lines_of_parts_are_those_of_the_whole(self):
        """A line of the whole is in one part. A call that crosses an end has lines in both."""
        whole = collections.Counter(line[5] for line in lines_of("demo") if line[5].startswith("# "))
        ends = ["", "1ms", "3.5ms", ""]
        parts = collections.Counter()
        for begin, end in zip(ends, ends[1:]):
            parts.update(line[5] for line in lines_of("demo", "--time", f"{begin}..{end}") if line[5].startswith("# "))
        self.assertEqual(parts, whole)

    def test_long_calls_of_a_function(self):
        least = 10_000
        whole = [line for line in lines_of("demo") if line[1] is not None and re.fullmatch(r"(\} )?lua.*", line[5])]
        found = [line for line in lines_of("demo", "--function", "lua*", "--min-duration", f"{least}ns") if line[1] is not None]
        expected = [(line[1], HOW.sub("", line[5]).strip("} ").removesuffix("()")) for line in whole if line[1] >= least]
        self.assertEqual(sorted((line[1], HOW.sub("", line[5]).strip("} ").removesuffix("()")) for line in found), sorted(expected))
        self.assertTrue(expected)

    def test_a_line_is_listed_while_it_goes_on(self):
        line = (pathlib.Path(__file__).parents[2] / "conformance/stream.bin").read_bytes()
        command = [exports.NOPSCOPE, "replay", "--follow", "--from", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as replay:
            replay.stdin.write(line[:len(line) // 2])
            replay.stdin.flush()
            early = [replay.stdout.readline() for _ in range(10)]
            replay.stdin.write(line[len(line) // 2:])
            replay.stdin.close()
            late = replay.stdout.read().splitlines(True)
        self.assertEqual(replay.returncode, 0)
        followed = b"".join(early + late).decode().splitlines()[1:]
        # A recording has the console apart, so a call may have the console's line inside there.
        ends = [collections.Counter((took, name.strip("} ").replace("()", "")) for _, _, took, _, _, _, _, name in
                                    (LINE.fullmatch(line).groups() for line in lines) if took is not None)
                for lines in (followed, replayed("stream")[1:])]
        self.assertEqual(ends[0], ends[1])


if __name__ == "__main__":
    exports.main()
