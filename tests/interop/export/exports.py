# SPDX-License-Identifier: Apache-2.0
"""Code for the tests of exports: recordings, the report to compare with, sums of a format's calls.

From the environment: NOPSCOPE (the command), NOPSCOPE_RECORDINGS (what make_recordings.py made).
"""

import collections
import dataclasses
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
CUT = "--cut-tracer"
# For event formats: recordings, and the options of `export`.
RUNS = (*((name, ()) for name in (*WITH_CALLS, "torture-54", "tasks-54", "tasks-62", "equal", "deep")),
        *((name, (CUT,)) for name in ("torture-54", "tasks")))
TRACER, AWAY = "(tracer)", "(other context)"


def run(*command, status=0, **options):
    """Runs a reader, or nopscope. It must be installed and end with `status`. Returns its output."""
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
    """The report's functions, and its interrupts, which are calls in an export."""
    rows = report(name)
    return rows["functions"] + [row | {"name": f"(interrupt {row['interrupt']})"} for row in rows.get("interrupts", [])]


@functools.cache
def graph(name):
    return json.loads(run(NOPSCOPE, "graph", recording(name), "--format", "json").stdout)


def rounding(name):
    """The error of a length in ns: stamps are rounded if a tick is no whole number of ns."""
    return 0 if 10 ** 9 % report(name)["clock_hz"] == 0 else 1


def sampled():
    """Returns {function: samples} of the recording "samples"."""
    rows = by_name(report("samples")["samples"]["functions"], "self")
    return {name: count for name, (count,) in rows.items() if count}


def calls_of_hostile():
    return sum(row["calls"] for row in report("hostile")["functions"])


def paths(name):
    """Yields (the names, the outermost first; the node) of each of the graph's paths."""
    at = {None: ()}
    for node in graph(name)["nodes"]:
        at[node["id"]] = (*at[node["parent"]], node["name"])
        yield at[node["id"]], node


def gaps_of(name):
    return sorted((gap["lost"], gap["overwritten"], gap["dropped"]) for gap in report(name)["gaps_list"])


def ranges(series):
    """Returns {key: (number, least, most)} of lists of values."""
    return {key: (len(values), min(values), max(values)) for key, values in series.items()}


def ranges_of(rows, key):
    """The same from the report's rows of counters or captured values."""
    return {key(row): (row["count"], row["min"], row["max"]) for row in rows}


def by_name(rows, *keys):
    """Returns {name: sums of the keys}. Functions of the same name are one here."""
    sums = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        for i, key in enumerate(keys):
            sums[row["name"]][i] += row[key]
    return {name: tuple(values) for name, values in sums.items()}


@dataclasses.dataclass
class Open:
    name: str
    begin: int
    tracer: int
    tracer_lengths: int
    inside: int = 0
    lengths: int = 0


class Sums:
    """Calls, total and self time of functions by name, as `report` counts them: a total counts once
    however often a function is on the stack, and excludes the tracer's time. Each time comes with
    the number of lengths that it is the sum of, because each of these may be rounded."""

    def __init__(self):
        self.calls = collections.Counter()
        self.total = collections.Counter()
        self.total_lengths = collections.Counter()
        self.self_ = collections.Counter()
        self.self_lengths = collections.Counter()
        self.stacks = collections.defaultdict(list)  # by track: a list of Open
        self.tracer = collections.Counter()          # by core: the tracer's time until `now`
        self.tracer_lengths = collections.Counter()
        self.now = collections.Counter()
        self.in_tracer = collections.defaultdict(set)  # by core: tracks
        self.last = collections.Counter()            # by track
        self.failures = []

    def begin(self, track, name, at, core=0):
        self.run_to(track, core, at)
        self.stacks[track].append(Open(name, at, self.tracer[core], self.tracer_lengths[core]))
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
        self.calls[of] += 1
        self.self_[of] += at - call.begin - call.inside
        self.self_lengths[of] += 1 + call.lengths
        if of != TRACER and all(of != outer.name for outer in self.stacks[track]):
            self.total[of] += at - call.begin - (self.tracer[core] - call.tracer)
            self.total_lengths[of] += 1 + self.tracer_lengths[core] - call.tracer_lengths
        if self.stacks[track]:
            self.stacks[track][-1].inside += at - call.begin
            self.stacks[track][-1].lengths += 1

    def run_to(self, track, core, at):
        self.check_order(track, at)
        if self.in_tracer[core]:
            self.tracer[core] += at - self.now[core]
            self.tracer_lengths[core] += 1
        self.now[core] = at

    def look(self, track, core):
        if self.stacks[track] and self.stacks[track][-1].name == TRACER:
            self.in_tracer[core].add(track)
        else:
            self.in_tracer[core].discard(track)

    def point(self, name):
        self.calls[name] += 1

    def check_order(self, track, at):
        if at < self.last[track]:
            self.failures.append(f"{track}: {at} after {self.last[track]}")
        self.last[track] = at


def sums_of_calls(calls, sums=None):
    """Adds calls (track, core, name, begin, end, depth). Those of the same time must be in order."""
    sums = sums or Sums()
    by_track = collections.defaultdict(list)
    for call in calls:
        by_track[call[0]].append(call)
    # Takes all tracks of a core together, because the tracer's time belongs to the core.
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


class Run:
    """A recording and nopscope's output for it. Each output is made once."""

    def __init__(self, name, directory):
        self.name, self.directory = name, directory
        self.recording = recording(name)
        self.report = report(name)
        self.graph = graph(name)["nodes"]
        self.exported = {}

    def export(self, format_, *options):
        key = (format_, *options)
        if key not in self.exported:
            out = self.directory / f"{self.name}.{len(self.exported)}.{format_}"
            run(NOPSCOPE, "export", self.recording, "--format", format_, "-o", out, *options)
            self.exported[key] = out
        return self.exported[key]


def rows_of(name, directory, table):
    """Returns the rows of a table in the sqlite export."""
    path = directory / f"{name}-{table}.sqlite"
    run(NOPSCOPE, "export", recording(name), "--format", "sqlite", "-o", path)
    return json.loads(run("sqlite3", "-json", path, f"SELECT * FROM {table}").stdout or "[]")


@functools.cache
def recursive(name):
    """The names of recursive functions."""
    return {path[-1] for path, _ in paths(name) if path[-1] in path[:-1]}


def is_plain(name, row):
    """True if its calls are not inside each other and no gap cuts them. Then its total is the sum
    of its calls."""
    shared = [other for other in functions(name) if other["name"] == row["name"]]
    return len(shared) == 1 and not row["incomplete"] and not row["lost"] and row["name"] not in recursive(name)


class Case(unittest.TestCase):
    FORMAT = None
    maxDiff = 4000

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def export(self, name, *options, to=None):
        out = self.directory / f"{name}.{to or self.FORMAT}"
        self.said = run(NOPSCOPE, "export", recording(name), "--format", to or self.FORMAT, "-o", out,
                        *options).stderr.decode()
        return out

    def check_events(self, name, sums, options=(), spelt=str):
        """Checks every function's calls, and times without gaps. `spelt`: the format's spelling."""
        off = rounding(name)
        self.assertEqual(sums.failures[:5], [])
        self.assertEqual({track: stack for track, stack in sums.stacks.items() if stack}, {}, "all calls end")
        rows = [row | {"name": spelt(row["name"])} for row in functions(name)]
        expected = by_name(rows, "calls", "total_ns", "self_ns", "incomplete", "lost")
        self.assertTrue(expected)
        found = {of: count for of, count in sums.calls.items() if of not in (TRACER, spelt(AWAY))}
        self.assertEqual(found, {of: row[0] for of, row in expected.items()})
        shared = collections.Counter(row["name"] for row in rows)
        for of, (_, total, own, incomplete, lost) in expected.items():
            with self.subTest(recording=name, options=options, function=of):
                # The report's times are rounded, too.
                total_off, self_off = off and 1 + sums.total_lengths[of], off and 1 + sums.self_lengths[of]
                if incomplete or lost:
                    # A gap hides which calls of a function are inside each other.
                    self.assertTrue(of in recursive(name) or sums.total[of] <= total + total_off)
                elif shared[of] == 1:
                    self.assertAlmostEqual(sums.total[of], total, delta=total_off)
                if not incomplete and not lost:
                    self.assertAlmostEqual(sums.self_[of], own, delta=self_off)
        if CUT in options:
            self.assertEqual(sums.calls[TRACER], 0)
        else:
            self.assertAlmostEqual(sums.self_[TRACER], report(name)["tracer_ns"],
                                   delta=off and 1 + sum(sums.tracer_lengths.values()))

    def check_sums(self, name, found, key):
        """`found`: {function: value}, for example its self time or its calls."""
        expected = {of: value for of, (value,) in by_name(functions(name), key).items() if value}
        self.assertEqual({of: value for of, value in found.items() if value}, expected)


def main():
    unittest.main()
