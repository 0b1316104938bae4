# SPDX-License-Identifier: Apache-2.0
"""Code for the tests of exports: recordings, the report to compare with, sums of a format's calls.

From the environment: NOPSCOPE (the command), NOPSCOPE_RECORDINGS (what make_recordings.py made).
"""

import collections
import functools
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import types
import unittest

NOPSCOPE = os.environ["NOPSCOPE"]
RECORDINGS = pathlib.Path(os.environ["NOPSCOPE_RECORDINGS"])
HANG_SECONDS = 120

WITH_CALLS = ("torture", "tasks", "stream", "contexts", "captured", "gaps", "pauses")
CUT = "--cut-tracer"
TRACER, AWAY = "(tracer)", "(other context)"
# What a format names a function by: the first of these that it has, else "name".
LEVELS = {"address": ("name", "address"), "place": ("name", "file", "line"), "file": ("name", "file")}


def run(*command, status=0, **options):
    """Runs a reader, or nopscope. It must be installed and end with `status`. Returns its output."""
    if shutil.which(str(command[0])) is None:
        raise AssertionError(f"{command[0]} is not installed: it is in cmake/packages.txt, ./dev setup installs it")
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=HANG_SECONDS, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                             f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def nopscope(*words, **options):
    return run(NOPSCOPE, *words, **options)


def recording(name):
    return RECORDINGS / f"{name}.nsc"


def answer(verb, name, *words):
    return json.loads(nopscope(verb, recording(name), *words, "--format", "json").stdout)


@functools.cache
def report(name):
    return answer("report", name)


def functions(name):
    """The report's functions, and its interrupts, which are calls in an export."""
    rows = report(name)
    return rows["functions"] + [row | {"name": f"(interrupt {row['interrupt']})"} for row in rows.get("interrupts", [])]


@functools.cache
def graph(name):
    return answer("graph", name)


def rounding(name):
    """The error of a length in ns: stamps are rounded if a tick is no whole number of ns."""
    return 0 if 10 ** 9 % report(name)["clock_hz"] == 0 else 1


def sampled():
    """Returns {function: samples} of the recording "samples"."""
    rows = by_name(report("samples")["samples"]["functions"], "self")
    return {name: count for name, (count,) in rows.items() if count}


def paths(name):
    """Yields (the names, the outermost first; the node) of each of the graph's paths."""
    at = {None: ()}
    for node in graph(name)["nodes"]:
        at[node["id"]] = (*at[node["parent"]], node["name"])
        yield at[node["id"]], node


def key_of(row, level):
    """What is no function of the firmware has a name only, and what has no file has no line."""
    if level == "name" or row["name"].startswith("("):
        return row["name"]
    return tuple(row[part] if part != "line" or row["file"] else 0 for part in LEVELS[level])


def gaps_of(name):
    return sorted((gap["lost"], gap["overwritten"], gap["dropped"]) for gap in report(name)["gaps_list"])


def by_name(rows, *keys):
    """Returns {name: sums of the keys}. Functions of the same name are one here."""
    sums = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        for i, key in enumerate(keys):
            sums[row["name"]][i] += row[key]
    return {name: tuple(values) for name, values in sums.items()}


class Sums:
    """Calls, total and self time of functions, as `report` counts them: a total counts once however often a function is on the
    stack, and excludes the tracer's time. Each time comes with the number of lengths that it is the sum of, because each of
    these may be rounded. `name`: whatever the caller knows a function by."""

    def __init__(self):
        self.calls, self.total, self.total_lengths, self.self_, self.self_lengths = (collections.Counter() for _ in range(5))
        self.tracer, self.tracer_lengths, self.now = (collections.Counter() for _ in range(3))  # by core: the tracer's time until `now`
        self.in_tracer = collections.defaultdict(set)  # by core: tracks
        self.stacks = collections.defaultdict(list)    # by track: a list of open calls
        self.last = collections.Counter()              # by track
        self.durations = collections.Counter()         # as the format has them
        self.ended = []                                # (core, name, begin, end) of each call
        self.failures = []

    def begin(self, track, name, at, core=0):
        self.run_to(track, core, at)
        self.stacks[track].append(types.SimpleNamespace(name=name, core=core, begin=at, inside=0, lengths=0, tracer=self.tracer[core],
                                                        tracer_lengths=self.tracer_lengths[core]))
        self.look(track, core)

    def end(self, track, at, core=0, name=None):
        self.run_to(track, core, at)
        if not self.stacks[track]:
            self.failures.append(f"{track}: an end at {at} of nothing")
            return
        call = self.stacks[track].pop()
        self.look(track, core)
        of = call.name
        if name is not None and name != of:
            self.failures.append(f"{track}: {name} ends at {at}, and {of} was innermost")
        self.ended.append((call.core, of, call.begin, at))
        self.calls[of] += 1
        self.self_[of] += at - call.begin - call.inside
        self.self_lengths[of] += 1 + call.lengths
        if of != TRACER and all(of != outer.name for outer in self.stacks[track]):
            self.total[of] += at - call.begin - (self.tracer[core] - call.tracer)
            self.total_lengths[of] += 1 + self.tracer_lengths[core] - call.tracer_lengths
        if self.stacks[track]:
            self.stacks[track][-1].inside += at - call.begin
            self.stacks[track][-1].lengths += 1

    def take(self, what, track, of, at, core):
        """`what`: True for a call's begin, False for its end, None for a call without times."""
        if what is None:
            self.calls[of] += 1
        elif what:
            self.begin(track, of, at, core)
        else:
            self.end(track, at, core, of)

    def run_to(self, track, core, at):
        if at < self.last[track]:
            self.failures.append(f"{track}: {at} after {self.last[track]}")
        self.last[track] = at
        if self.in_tracer[core]:
            self.tracer[core] += at - self.now[core]
            self.tracer_lengths[core] += 1
        self.now[core] = at

    def look(self, track, core):
        self.in_tracer[core].discard(track)
        if self.stacks[track] and self.stacks[track][-1].name == TRACER:
            self.in_tracer[core].add(track)


def sums_of_calls(calls):
    """Adds calls (track, core, name, begin, end, depth). Those of the same time must be in order."""
    by_track, events, sums = collections.defaultdict(list), [], Sums()
    for call in calls:
        by_track[call[0]].append(call)
    # Takes all tracks of a core together, because the tracer's time belongs to the core.
    for track, its in by_track.items():
        stack, order = [], itertools.count()
        for call in [*sorted(its, key=lambda call: (call[3], call[5], call[4])), None]:
            while stack and (call is None or stack[-1][5] >= call[5]):
                last = stack.pop()
                events.append((last[4], next(order), track, last[1], None))
            if call:
                events.append((call[3], next(order), track, call[1], call[2]))
                stack.append(call)
    for at, _, track, core, name in sorted(events, key=lambda event: event[:2]):
        if name is None:
            sums.end(track, at, core)
        else:
            sums.begin(track, name, at, core)
    return sums


@functools.cache
def recursive(name):
    """The names of recursive functions."""
    return {path[-1] for path, _ in paths(name) if path[-1] in path[:-1]}


def is_plain(name, row):
    """True if its calls are not inside each other and no gap cuts them. Then its total is the sum of its calls."""
    shared = [other for other in functions(name) if other["name"] == row["name"]]
    return len(shared) == 1 and not row["incomplete"] and not row["lost"] and row["name"] not in recursive(name)


class Case(unittest.TestCase):
    FORMAT = None
    maxDiff = 4000

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def export(self, name, *options, to=None):
        out = self.directory / f"{name}.{to or self.FORMAT}"
        self.said = nopscope("export", recording(name), "--format", to or self.FORMAT, "-o", out, *options).stderr.decode()
        return out

    def invented(self, events, *options, names=None):
        """Makes a recording of events: (0 (entry) or 1 (return), function, time)."""
        number = len(os.listdir(self.directory))
        calls, listed, out = (self.directory / f"invented.{number}.{suffix}" for suffix in ("ev13", "names", "nsc"))
        calls.write_bytes(b"".join(struct.pack("<BIQ", *event) for event in events))
        if names is not None:
            listed.write_text(names)
            options += "--names", listed
        run(os.environ["NOPSCOPE_CODEC_BENCH"], calls, "--nsc", out, *options)
        calls.unlink()
        return out

    def check_others(self, marks, counters=None, values=None):
        """Of the recording "captured". `counters`: (number, value). `values`: (function, what, value)."""
        told = report("captured")
        self.assertTrue(told["markers"] and told["counters"] and told["captured"])
        self.assertEqual(sorted(map(int, marks)), sorted(mark["id"] for mark in told["markers"]))
        for found, rows, keys in ((counters, told["counters"], ("id",)), (values, told["captured"], ("name", "what"))):
            if found is not None:
                its = collections.defaultdict(list)
                for *key, value in found:
                    its[tuple(map(str, key))].append(int(value))
                self.assertEqual({key: (len(of), min(of), max(of)) for key, of in its.items()},
                                 {tuple(str(row[key]) for key in keys): (row["count"], row["min"], row["max"]) for row in rows})

    def check_hostile(self, calls):
        """`calls`: of a format that spells hostile names in its own way, or calls by function."""
        if not isinstance(calls, int):
            calls = sum(calls.values()) - calls[TRACER]
        self.assertEqual(calls, sum(row["calls"] for row in report("hostile")["functions"]))

    def check_events(self, name, sums, options=(), level="name", spelt=str):
        """Checks every function's calls, and times without gaps. `level`, `spelt`: how the format names a function."""
        off = rounding(name)
        self.assertEqual(sums.failures[:5], [])
        self.assertEqual({track: stack for track, stack in sums.stacks.items() if stack}, {}, "all calls end")
        expected = collections.defaultdict(list)
        for row in functions(name):
            expected[key_of(row | {"name": spelt(row["name"])}, level)].append(row)
        self.assertTrue(expected)
        self.assertEqual({of: count for of, count in sums.calls.items() if of not in (TRACER, spelt(AWAY))},
                         {of: sum(row["calls"] for row in rows) for of, rows in expected.items()})
        for of, rows in expected.items():
            with self.subTest(recording=name, options=options, function=of):
                total, own, incomplete, lost = (sum(row[key] for row in rows) for key in ("total_ns", "self_ns", "incomplete", "lost"))
                # The report's times are rounded, too.
                total_off, self_off = off and 1 + sums.total_lengths[of], off and 1 + sums.self_lengths[of]
                if incomplete or lost:
                    # A gap hides which calls of a function are inside each other.
                    self.assertTrue(rows[0]["name"] in recursive(name) or sums.total[of] <= total + total_off)
                    continue
                self.assertAlmostEqual(sums.self_[of], own, delta=self_off)
                if len(rows) == 1:
                    self.assertAlmostEqual(sums.total[of], total, delta=total_off)
                if sums.durations and is_plain(name, rows[0]):
                    self.assertAlmostEqual(sums.durations[of], total, delta=total_off)
        if CUT in options:
            self.assertEqual(sums.calls[TRACER], 0)
        else:
            self.assertAlmostEqual(sums.self_[TRACER], report(name)["tracer_ns"], delta=off and 1 + sum(sums.tracer_lengths.values()))


main = unittest.main
