#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks with names: which one a core runs and why it left it, in the formats with a scheduler, and the names of threads
in all that have threads. `nopscope report` of the same recording says how long each context ran.

    scheduler_test.py RECORDING
"""

import collections
import functools
import json
import pathlib
import re
import sys
import tempfile

import exports
import readers
from perfetto import Trace

NAME = sys.argv[1]
CTF_TASK = r'comm = "([^"]*)", (?:prev_|next_|)tid = (\d+), (?:prev_|next_|)prio = (-?\d+)'
KERNEL_SWITCH = re.compile(r"^.* \[(\d+)\] +(\d+)\.(\d{9}): sched_switch: +(.*):(\d+) \[(\d+)\] (\S+) ==> (.*):(\d+) \[(\d+)\]$")
KERNEL_WAKEUP = re.compile(r"^.* sched_wakeup: +(.*):(\d+) \[(\d+)\] CPU:(\d+)$")
STATES = {"RUNNABLE": "R", "INTERRUPTIBLE_SLEEP": "S", "STOPPED": "T", "DEAD": "X"}


class Told:
    """What the report says of each thread. `threads`: {number: (core, context)}, as exports number them."""

    def __init__(self, *options):
        report, tracks = exports.answer("report", NAME, *options), exports.answer("query", NAME, "SELECT * FROM tracks", *options)
        number = {self.key(track): track["id"] + 1 for track in tracks}
        self.ran, self.left, self.ready = collections.Counter(), collections.Counter(), {}
        for row in report["contexts"]:
            thread = number[self.key(row)]
            self.ran[thread] += row["ran_ticks"] * 10 ** 9 // report["clock_hz"]
            self.left.update(row.get("switched_away", {}))
            self.ready[thread] = row.get("ready", 0)
        # Names are told of the whole recording. A task with open calls has a thread, also if it does not run in the part.
        whole = {self.key(row): row for row in exports.report(NAME)["contexts"]}
        rows = {thread: whole[key] for key, thread in number.items() if key in whole}
        self.names = {thread: row.get("name", "") for thread, row in rows.items()}
        self.priority = {thread: row.get("priority", 0) for thread, row in rows.items()}
        self.labels = {track["id"] + 1: track["task"] for track in tracks if self.key(track) in whole}
        assert all(label.startswith(self.names[thread] or ("core ", "context ")) for thread, label in self.labels.items())

    @staticmethod
    def key(row):
        return (row["core"] if row["context"] == 0 else None), row["context"]


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
    for line in readers.trace_cmd_report(path).split("\n"):
        if match := KERNEL_SWITCH.match(line):
            core, seconds, rest, name, thread, priority, state, *after = match.groups()
            lanes.switch(int(core), int(seconds) * 10 ** 9 + int(rest), (name, int(thread), int(priority)),
                         state.replace("Z", "X"), (after[0], *map(int, after[1:])))
        elif match := KERNEL_WAKEUP.match(line):
            lanes.ready[int(match[2])] += 1
    return lanes


def ctf(path):
    lanes, states = Lanes(), {0: "R", 1: "S", 4: "T", 64: "X"}
    for kind, at, core, _, fields in readers.ctf_events(path):
        tasks = [(name, int(thread), int(priority)) for name, thread, priority in re.findall(CTF_TASK, fields)]
        if kind == "sched_switch":
            lanes.switch(core, at, tasks[0], states[int(re.search(r"prev_state = (\d+)", fields)[1])], tasks[1])
        elif kind == "sched_wakeup":
            lanes.ready[tasks[0][1]] += 1
    return lanes


def perfetto(path):
    lanes, trace = Lanes(), Trace(path)
    for _, thread, begin, end, state in trace.ran():
        lanes.ran[thread] += end - begin
        lanes.left[STATES[state]] += 1
    # What does not end a slice is a task that becomes ready.
    lanes.woken = sum(state == "RUNNABLE" for *_, state, _ in trace.states) - lanes.left["R"]
    for _, _, thread, name, _, priority in trace.states:
        lanes.names[thread], lanes.priority[thread] = name, priority
    lanes.threads = trace.threads
    return lanes


def exported(directory, to, *options):
    path = pathlib.Path(directory) / to
    exports.nopscope("export", exports.recording(NAME), "--format", to, "-o", path, *options)
    return path


@functools.cache
def part():
    """A part with a sixth of the switches: protoc, which decodes Perfetto's files, takes long."""
    if NAME == "kernel-1":  # its times are without the tracer's, and the same in each run
        return "--time", "8ms..11ms"
    with tempfile.TemporaryDirectory() as directory:
        times = sorted(trace_cmd(exported(directory, "trace-cmd")).times)
    begin, end = (times[len(times) * n // 6] - times[0] for n in (3, 4))
    return "--time", f"{begin}ns..{end}ns"


@functools.cache
def told(whole):
    """Returns (Told, {format: Lanes} of the formats that have a scheduler)."""
    options = () if whole else part()
    formats = {"trace-cmd": trace_cmd, "ctf": ctf} | ({} if whole else {"perfetto": perfetto})
    with tempfile.TemporaryDirectory() as directory:
        return Told(*options), {to: reader(exported(directory, to, *options)) for to, reader in formats.items()}


class Scheduler(exports.Case):
    def each(self):
        """Yields (Told, format, Lanes) of the whole recording and of a part."""
        for expected, lanes in map(told, (True, False)):
            for format_, its in lanes.items():
                yield expected, format_, its

    def test_each_task_ran_as_long_as_the_report_says(self):
        """The record of a switch may be missing, because the ring was full. Then the report and an export may disagree a little
        about the time up to the return that shows the switch."""
        for expected, format_, lanes in self.each():
            whole = sum(expected.ran.values())
            self.assertGreater(whole, 10 ** 6)
            differ = {thread: lanes.ran[thread] - ran for thread, ran in expected.ran.items() if lanes.ran[thread] != ran}
            if format_ == "perfetto":  # it does not show what ends when the firmware destroys a task
                differ = {thread: more for thread, more in differ.items() if expected.names[thread] not in ("child", "") or more > 0}
            self.assertLessEqual(sum(map(abs, differ.values())), whole / 10_000, (format_, differ))
            self.assertFalse([core for core, (thread, _) in lanes.runs.items() if thread])

    def test_a_switch_says_how_the_core_left(self):
        for expected, format_, lanes in self.each():
            left = expected.left
            self.assertGreater(min(left[reason] for reason in ("preempted", "blocked", "ended")), 1)
            self.assertAlmostEqual(lanes.left["S"], left["blocked"], delta=left["blocked"] / 1000, msg=format_)
            self.assertGreaterEqual(lanes.left["X"], left["ended"] - 1, format_)
            self.assertGreaterEqual(lanes.left["R"], left["preempted"] + left["gave_way"], format_)
            self.assertLessEqual(lanes.left["T"], len(lanes.runs) or 4, format_)

    def test_ready_tasks_are_woken(self):
        for whole in (True, False):
            expected, lanes = told(whole)
            for format_ in ("trace-cmd", "ctf"):
                self.assertEqual({thread: lanes[format_].ready[thread] for thread in expected.ready}, expected.ready, format_)
            self.assertTrue(whole or lanes["perfetto"].woken == lanes["ctf"].ready.total())

    def test_names_and_priorities(self):
        self.assertLessEqual({"urgent", "idle"}, set(told(True)[0].names.values()))
        for expected, format_, its in self.each():
            self.assertLessEqual({"worker", "producer"}, set(expected.names.values()))
            self.assertEqual({thread: (its.names.get(thread), its.priority[thread]) for thread in expected.ran},
                             {thread: (expected.labels[thread], expected.priority[thread]) for thread in expected.ran}, format_)

    def test_threads_have_their_names(self):
        expected, lanes = told(False)
        labels = expected.labels
        self.assertIn("producer" if NAME == "kernel-1" else "idle (core 1)", labels.values())
        events = readers.chrome_data(self.export(NAME, *part(), to="chrome"))["traceEvents"]
        named = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertLessEqual({event["tid"] for event in events if event.get("cat") == "call"}, set(named))
        for threads in (named, lanes["perfetto"].threads):
            self.assertEqual({thread: threads[thread] for thread in labels}, labels)
        data = json.loads(self.export(NAME, *part(), to="speedscope").read_text(encoding="utf-8"))
        profiles = [profile["name"] for profile in data["profiles"]]
        self.assertEqual(len(set(profiles)), len(profiles))
        self.assertLessEqual(set(profiles), set(labels.values()))

    def test_uftrace_shows_the_tasks(self):
        path = self.export(NAME, *part(), to="uftrace")
        said = [exports.run("uftrace", *verb, "--no-pager", "--color=no", "-d", path).stdout.decode()
                for verb in (["info"], ["graph", "--task"], ["report", "--task"])]
        listed = re.search(r"task list +: (.*)", said[0])[1]
        wanted = [f"{thread}({label[:15]})" for thread, label in told(False)[0].labels.items()]  # as Linux cuts them
        self.assertEqual([task for task in wanted if task not in listed], [])
        self.assertRegex(said[1], r"worker \d+")
        self.assertRegex(said[2], r"worker \d+ *\n")

    def test_speedscope_lists_the_tasks(self):
        opened, = readers.opened_by_speedscope(self.directory, self.export(NAME, *part(), to="speedscope"))
        names = {profile["name"].split(" ")[0] for profile in opened["profiles"]}
        self.assertLessEqual({"consumer", "producer", *(("holder",) if NAME == "kernel-1" else ())}, names)


if __name__ == "__main__":
    exports.main(argv=sys.argv[:1])
