# SPDX-License-Identifier: Apache-2.0
"""What the tests of exports share: the recordings, the report to compare with, and sums of a format's calls.

From the environment: NOPSCOPE (the command), NOPSCOPE_RECORDINGS (what make_recordings.py made).
"""

import collections
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

NOPSCOPE = os.environ["NOPSCOPE"]
RECORDINGS = pathlib.Path(os.environ["NOPSCOPE_RECORDINGS"])
HANG_SECONDS = 120

WITH_CALLS = ("torture", "tasks", "stream", "contexts", "captured", "gaps", "pauses")
TRACER, AWAY = "(tracer)", "(other context)"


def run(*command, status=0, **options):
    """A reader, or nopscope: its output. It must be there, and end with `status`."""
    if shutil.which(str(command[0])) is None:
        raise AssertionError(f"{command[0]} is not installed: it is in cmake/packages.txt, ./dev setup installs it")
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=HANG_SECONDS, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                             f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def recording(name):
    return RECORDINGS / f"{name}.nsc"


@functools.cache
def report(name):
    return json.loads(run(NOPSCOPE, "report", recording(name), "--format", "json").stdout)


def functions(name):
    """The report's, and its interrupts, which are calls in an export."""
    rows = report(name)
    return rows["functions"] + [row | {"name": f"(interrupt {row['interrupt']})"} for row in rows.get("interrupts", [])]


@functools.cache
def graph(name):
    return json.loads(run(NOPSCOPE, "graph", recording(name), "--format", "json").stdout)


def rounding(name, most):
    """What sums may differ by: where a tick is no whole number of nanoseconds, each summand is rounded."""
    return 0 if 10 ** 9 % report(name)["clock_hz"] == 0 else most


def by_name(rows, *keys):
    """{name: sums of the keys}: functions of one name are one here."""
    sums = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        for i, key in enumerate(keys):
            sums[row["name"]][i] += row[key]
    return {name: tuple(values) for name, values in sums.items()}


class Sums:
    """Calls, total and self time of functions by name, as `report` counts them: total counts once however often
    a function is on the stack, and nothing of the tracer's own time."""

    def __init__(self):
        self.calls = collections.Counter()
        self.total = collections.Counter()
        self.self_ = collections.Counter()
        self.stacks = collections.defaultdict(list)  # by track: [name, begin, children, the tracer's before]
        self.tracer = collections.Counter()          # by core
        self.last = collections.Counter()            # by track
        self.failures = []

    def begin(self, track, name, at, core=0):
        self.check_order(track, at)
        self.stacks[track].append([name, at, 0, self.tracer[core]])

    def end(self, track, at, core=0, name=None):
        self.check_order(track, at)
        if not self.stacks[track]:
            self.failures.append(f"{track}: an end at {at} of nothing")
            return
        of, begin, children, tracer = self.stacks[track].pop()
        if name is not None and name != of:
            self.failures.append(f"{track}: {name} ends at {at}, and {of} was innermost")
        self.calls[of] += 1
        self.self_[of] += at - begin - children
        if of == TRACER:
            self.tracer[core] += at - begin - children
        elif all(of != outer[0] for outer in self.stacks[track]):
            self.total[of] += at - begin - (self.tracer[core] - tracer)
        if self.stacks[track]:
            self.stacks[track][-1][2] += at - begin

    def point(self, name):
        self.calls[name] += 1

    def check_order(self, track, at):
        if at < self.last[track]:
            self.failures.append(f"{track}: {at} after {self.last[track]}")
        self.last[track] = at


def sums_of_calls(calls):
    """Of calls as (track, core, name, begin, end, depth): in any order, if those at the same time lie in order."""
    sums = Sums()
    by_track = collections.defaultdict(list)
    for call in calls:
        by_track[call[0]].append(call)
    # All tracks of a core at once, since what is the tracer's is the core's.
    events = []
    for track, its in by_track.items():
        its.sort(key=lambda call: (call[3], call[5], call[4]))
        stack, order = [], 0
        for call in its:
            while stack and stack[-1][5] >= call[5]:
                order += 1
                events.append((stack[-1][4], order, track, stack[-1][1], None))
                stack.pop()
            order += 1
            events.append((call[3], order, track, call[1], call[2]))
            stack.append(call)
        while stack:
            order += 1
            last = stack.pop()
            events.append((last[4], order, track, last[1], None))
    events.sort(key=lambda event: event[:2])
    for at, _, track, core, name in events:
        if name is None:
            sums.end(track, at, core)
        else:
            sums.begin(track, name, at, core)
    return sums


class Case(unittest.TestCase):
    FORMAT = None
    maxDiff = 4000

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def export(self, name, *options, to=None):
        out = self.directory / f"{name}.{to or self.FORMAT}"
        self.said = run(NOPSCOPE, "export", recording(name), "--to", to or self.FORMAT, "-o", out,
                        *options).stderr.decode()
        return out

    def check_events(self, name, sums, spelt=str):
        """Every function's calls, and its times where no gap lies in them. `spelt` is what the format makes of a name."""
        tolerance = rounding(name, 2)
        self.assertEqual(sums.failures[:5], [])
        self.assertEqual({track: stack for track, stack in sums.stacks.items() if stack}, {}, "all calls end")
        rows = [row | {"name": spelt(row["name"])} for row in functions(name)]
        expected = by_name(rows, "calls", "total_ns", "self_ns", "incomplete", "lost")
        self.assertTrue(expected)
        found = {of: count for of, count in sums.calls.items() if of not in (TRACER, spelt(AWAY))}
        self.assertEqual(found, {of: row[0] for of, row in expected.items()})
        shared = collections.Counter(row["name"] for row in rows)
        for of, (calls, total, own, incomplete, lost) in expected.items():
            with self.subTest(recording=name, function=of):
                if incomplete or lost:
                    self.assertLessEqual(sums.total[of], total + tolerance * calls)
                elif shared[of] == 1:
                    self.assertAlmostEqual(sums.total[of], total, delta=tolerance * calls)
                if not incomplete and not lost:
                    self.assertAlmostEqual(sums.self_[of], own, delta=tolerance * calls)
        self.assertAlmostEqual(sums.self_[TRACER], report(name)["tracer_ns"], delta=tolerance * 100)

    def check_sums(self, name, found, key):
        """{function: its self time}, or calls..."""
        expected = {of: value for of, (value,) in by_name(functions(name), key).items() if value}
        self.assertEqual({of: value for of, value in found.items() if value}, expected)


def main():
    unittest.main()
