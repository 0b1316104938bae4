#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks with names: which one a core runs and why it left it, in the formats with a scheduler, and the names of threads
in all that have threads. `nopscope report` of the same recording says how long each context ran."""

import collections
import functools
import json
import pathlib
import re
import tempfile

import exports
import perfetto_test
import readers
import speedscope_page
from protoc import one

RECORDINGS = "kernel", "kernel-1"
CTF_TASK = r'comm = "([^"]*)", (?:prev_|next_|)tid = (\d+), (?:prev_|next_|)prio = (-?\d+)'
KERNEL_SWITCH = re.compile(r"^.* \[(\d+)\] +(\d+)\.(\d{9}): sched_switch: +(.*):(\d+) \[(\d+)\] (\S+) ==> (.*):(\d+) \[(\d+)\]$")
KERNEL_WAKEUP = re.compile(r"^.* sched_wakeup: +(.*):(\d+) \[(\d+)\] CPU:(\d+)$")
STATES = {"RUNNABLE": "R", "INTERRUPTIBLE_SLEEP": "S", "STOPPED": "T", "DEAD": "X"}


class Told:
    """What the report says of each thread. `threads`: {number: (core, context)}, as exports number them."""

    def __init__(self, name, *options):
        report = json.loads(exports.run(exports.NOPSCOPE, "report", exports.recording(name), "--format", "json", *options).stdout)
        tracks = json.loads(exports.run(exports.NOPSCOPE, "query", exports.recording(name), "SELECT * FROM tracks",
                                        "--format", "json", *options).stdout)
        number = {self.key(track): track["id"] + 1 for track in tracks}
        self.ran, self.left, self.ready = collections.Counter(), collections.Counter(), {}
        for row in report["contexts"]:
            thread = number[self.key(row)]
            self.ran[thread] += row["ran_ticks"] * 10 ** 9 // report["clock_hz"]
            self.left.update(row.get("switched_away", {}))
            self.ready[thread] = row.get("ready", 0)
        # Names are told of the whole recording. A task with open calls has a thread, also if it does not run in the part.
        whole = {self.key(row): row for row in exports.report(name)["contexts"]}
        shared = collections.Counter(row.get("name", "") for row in whole.values())
        rows = {thread: whole[key] for key, thread in number.items() if key in whole}
        self.names = {thread: row.get("name", "") for thread, row in rows.items()}
        self.priority = {thread: row.get("priority", 0) for thread, row in rows.items()}
        self.labels = {thread: self.label(self.names[thread], row["core"], row["context"], shared[self.names[thread]] > 1)
                       for thread, row in rows.items()}

    @staticmethod
    def key(row):
        return (row["core"] if row["context"] == 0 else None), row["context"]

    @staticmethod
    def label(name, core, context, is_shared):
        if not name:
            return f"context {context}" if context else f"core {core}"
        return name if not is_shared else f"{name} {context}" if context else f"{name} (core {core})"


class Lanes:
    """Follows switches, in their order on each core. `ran`: each thread's sum. `left`: how often by state."""

    def __init__(self):
        self.ran, self.left, self.ready = (collections.Counter() for _ in range(3))
        self.names, self.priority, self.runs, self.times = {}, {}, {}, []

    def switch(self, core, at, before, state, after):
        thread = before[1]
        if thread:
            runs, since = self.runs[core]
            assert runs == thread, f"core {core} leaves {thread} at {at} and ran {runs}"
            self.ran[thread] += at - since
            self.left[state] += 1
        self.runs[core] = after[1], at
        self.times.append(at)
        for name, number, priority in (before, after):
            if number:
                self.names[number], self.priority[number] = name, priority


def trace_cmd(path):
    lanes = Lanes()
    for line in exports.run("trace-cmd", "report", "-t", path).stdout.decode().split("\n"):
        if match := KERNEL_SWITCH.match(line):
            core, seconds, rest, name, thread, priority, state, *after = match.groups()
            lanes.switch(int(core), int(seconds) * 10 ** 9 + int(rest), (name, int(thread), int(priority)),
                         state.replace("Z", "X"), (after[0], *map(int, after[1:])))
        elif match := KERNEL_WAKEUP.match(line):
            lanes.ready[int(match[2])] += 1
    return lanes


def ctf(path):
    lanes, states = Lanes(), {0: "R", 1: "S", 4: "T", 64: "X"}
    events, errors = readers.ctf_events(path)
    assert errors == "", errors
    for kind, at, core, _, fields in events:
        tasks = [(name, int(thread), int(priority)) for name, thread, priority in re.findall(CTF_TASK, fields)]
        if kind == "sched_switch":
            lanes.switch(core, at, tasks[0], states[int(re.search(r"prev_state = (\d+)", fields)[1])], tasks[1])
        elif kind == "sched_wakeup":
            lanes.ready[tasks[0][1]] += 1
    return lanes


def perfetto(path):
    lanes, trace = Lanes(), perfetto_test.Trace(path)
    for _, thread, begin, end, state in trace.ran():
        lanes.ran[thread] += end - begin
        lanes.left[STATES[state]] += 1
    # What does not end a slice is a task that becomes ready.
    lanes.woken = sum(state == "RUNNABLE" for *_, state, _ in trace.states) - lanes.left["R"]
    for _, _, thread, name, _, priority in trace.states:
        lanes.names[thread], lanes.priority[thread] = name, priority
    return lanes


@functools.cache
def part_of(name):
    """A part with a sixth of the switches: protoc, which decodes Perfetto's files, takes long."""
    if name == "kernel-1":  # its times are without the tracer's, and the same in each run
        return "--time", "8ms..11ms"
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "whole.dat"
        exports.run(exports.NOPSCOPE, "export", exports.recording(name), "--format", "trace-cmd", "-o", path)
        times = sorted(trace_cmd(path).times)
    begin, end = (times[len(times) * n // 6] - times[0] for n in (3, 4))
    return "--time", f"{begin}ns..{end}ns"


class Scheduler(exports.Case):
    FORMAT = "trace-cmd"

    of_exports = {}

    def lanes(self, name, *options):
        """Yields (format, Lanes) of the formats that have a scheduler."""
        for format_, reader in (("trace-cmd", trace_cmd), ("ctf", ctf), ("perfetto", perfetto)):
            if format_ == "perfetto" and not options:
                continue
            key = name, options, format_
            if key not in self.of_exports:
                self.of_exports[key] = reader(self.export(name, *options, to=format_))
            with self.subTest(recording=name, options=options, format=format_):
                yield format_, self.of_exports[key]

    def told(self):
        """Yields (recording, options, Told)."""
        for name in RECORDINGS:
            for options in ((), part_of(name)):
                yield name, options, Told(name, *options)

    def test_each_task_ran_as_long_as_the_report_says(self):
        for name, options, told in self.told():
            self.assertGreater(sum(told.ran.values()), 10 ** 6)
            for format_, lanes in self.lanes(name, *options):
                self.check_times(lanes, told, format_, sum(told.ran.values()) / 10_000)
                self.assertFalse([core for core, (thread, _) in lanes.runs.items() if thread])

    def check_times(self, lanes, told, format_, most):
        """The record of a switch may be missing, because the ring was full. Then the report and an export may disagree by
        `most` about the time up to the return that shows the switch."""
        differ = {thread: lanes.ran[thread] - ran for thread, ran in told.ran.items() if lanes.ran[thread] != ran}
        if format_ == "perfetto":  # it does not show what ends when the firmware destroys a task
            differ = {thread: more for thread, more in differ.items()
                      if told.names[thread] not in ("child", "") or more > 0}
        self.assertLessEqual(sum(map(abs, differ.values())), most, differ)

    def test_a_switch_says_how_the_core_left(self):
        for name, options, told in self.told():
            self.assertGreater(min(told.left[reason] for reason in ("preempted", "blocked", "ended")), 1)
            for _, lanes in self.lanes(name, *options):
                # At a part's end a core may be between a switch and the record that says how it left.
                self.assertAlmostEqual(lanes.left["S"], told.left["blocked"], delta=max(4, told.left["blocked"] / 1000))
                self.assertGreaterEqual(lanes.left["X"], told.left["ended"] - 1)
                self.assertGreaterEqual(lanes.left["R"], told.left["preempted"] + told.left["gave_way"])
                self.assertLessEqual(lanes.left["T"], len(lanes.runs) or 4)

    def test_ready_tasks_are_woken(self):
        for name, options, told in self.told():
            lanes = dict(self.lanes(name, *options))
            for format_ in "trace-cmd", "ctf":
                self.assertEqual({thread: lanes[format_].ready[thread] for thread in told.ready}, told.ready, (name, format_))
            if options:
                self.assertEqual(lanes["perfetto"].woken, lanes["ctf"].ready.total())

    def test_names_and_priorities(self):
        for name, options, told in self.told():
            self.assertLessEqual({"worker", "producer", *(() if options else ("urgent", "idle"))}, set(told.names.values()))
            for _, lanes in self.lanes(name, *options):
                self.assertEqual({thread: lanes.names.get(thread) for thread in told.ran}, {thread: told.labels[thread] for thread in told.ran})
                self.assertEqual({thread: lanes.priority[thread] for thread in told.ran},
                                 {thread: told.priority[thread] for thread in told.ran})

    def test_threads_have_their_names(self):
        for name in RECORDINGS:
            labels = Told(name, *part_of(name)).labels
            events = readers.chrome_data(self.export(name, *part_of(name), to="chrome"))["traceEvents"]
            named = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            self.assertEqual({thread: named[thread] for thread in labels}, labels)
            self.assertLessEqual({event["tid"] for event in events if event.get("cat") == "call"}, set(named))
            data = json.loads(self.export(name, *part_of(name), to="speedscope").read_text(encoding="utf-8"))
            profiles = [profile["name"] for profile in data["profiles"]]
            self.assertEqual(len(set(profiles)), len(profiles))
            self.assertLessEqual(set(profiles), set(labels.values()))
            self.assertIn("producer" if name == "kernel-1" else "idle (core 1)", labels.values())
            trace = perfetto_test.Trace(self.export(name, *part_of(name), to="perfetto"))
            found = {one(one(track, "thread"), "tid"): one(one(track, "thread"), "thread_name")
                     for track in trace.tracks.values() if one(track, "thread")}
            self.assertEqual({thread: found[thread] for thread in labels}, labels)

    def test_uftrace_shows_the_tasks(self):
        for name in RECORDINGS:
            labels = {thread: label[:15] for thread, label in Told(name, *part_of(name)).labels.items()}  # as Linux cuts them
            path = self.export(name, *part_of(name), to="uftrace")
            info = exports.run("uftrace", "info", "--no-pager", "-d", path).stdout.decode()
            listed = re.search(r"task list +: (.*)", info)[1]
            self.assertEqual([f"{thread}({label})" for thread, label in labels.items() if f"{thread}({label})" not in listed], [])
            by_task = exports.run("uftrace", "report", "--task", "--no-pager", "--color=no", "-d", path).stdout.decode()
            graph = exports.run("uftrace", "graph", "--task", "--no-pager", "--color=no", "-d", path).stdout.decode()
            self.assertRegex(graph, r"worker \d+")
            self.assertRegex(by_task, r"worker \d+ *\n")

    def test_speedscope_lists_the_tasks(self):
        opened, = speedscope_page.opened(self.directory, self.export("kernel-1", *part_of("kernel-1"), to="speedscope"))
        names = {profile["name"] for profile in opened.profiles["profiles"]}
        self.assertLessEqual({"consumer", "producer", "holder"}, names)


if __name__ == "__main__":
    exports.main()
