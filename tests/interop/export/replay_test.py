#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `replay` prints, fed back by a parser: the calls and times are the report's, for parts, too."""

import collections
import pathlib
import re
import subprocess

import exports

LINE = re.compile(r" *(\d+)\.(\d{9})(?: +(\d+)\.(\d{3}) us)? +(\d+)(?:/(\d+))? +(.*)")
HOW = re.compile(r"  \[(unwound|gap|open)\]$")


def replayed(name, *options):
    return exports.nopscope("replay", exports.recording(name), *options).stdout.decode().splitlines()


def lines_of(name, *options):
    """Yields (time, took or None, core, context, text) of each line, in ns."""
    for line in replayed(name, *options)[1:]:
        seconds, ns, us, part, core, context, rest = LINE.fullmatch(line).groups()
        took = None if us is None else int(us) * 1000 + int(part)
        yield int(seconds) * 10 ** 9 + int(ns), took, int(core), int(context or 0), rest


def sums_of(lines):
    sums = exports.Sums()
    for at, took, core, context, text in lines:
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
            calls = exports.by_name(exports.functions(name), "calls")
            for row in exports.functions(name):
                of = row["name"]
                self.assertEqual((sums.calls[of],), calls[of], (name, of))
                if exports.is_plain(name, row):
                    self.assertAlmostEqual(sums.self_[of], row["self_ns"], delta=exports.rounding(name) * (1 + sums.self_lengths[of]))

    def test_the_comments_of_parts_are_those_of_the_whole(self):
        """A call that crosses an end has lines in both parts, a comment is in one."""
        def comments(name, *parts):
            return collections.Counter(text for part in parts for *_, text in lines_of(name, *part) if text.startswith("# "))

        for name in ("tasks", "captured"):
            third = exports.report(name)["duration_ns"] // 3
            times = (f"..{third}ns", f"{third}ns..{2 * third}ns", f"{2 * third}ns..")
            self.assertTrue(comments(name, ()))
            self.assertEqual(comments(name, *(("--time", time) for time in times)), comments(name, ()))

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
        ends = [collections.Counter((took, name.strip("} ").replace("()", "")) for _, _, took, _, _, _, name in
                                    (LINE.fullmatch(line).groups() for line in lines) if took is not None)
                for lines in (followed, replayed("stream")[1:])]
        self.assertEqual(ends[0], ends[1])


if __name__ == "__main__":
    exports.main()
