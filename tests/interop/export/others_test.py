#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What exports have besides calls, as each format's reader shows it: marks, counters, captured values, gaps, samples, times with interrupts
masked, and the PMU's events that a call counts. perfetto_test.py has more of its format."""

import collections
import json
import re

import exports
import perfetto
import readers

COUNTED = ("sw_incr", "cpu_cycles")
MISSING = ("lost", "overwritten", "dropped")


# Readers. Each returns a function that takes an export's path and returns rows.

def csv(kind, *columns):
    return lambda path: [tuple(row[column] for column in columns) for row in readers.csv_rows(path) if row["kind"] == kind]


def csv_samples(path):
    rows = readers.csv_rows(path) + [{"kind": "end"}]
    return [row["name"] for row, after in zip(rows, rows[1:])
            if row["kind"] == "sample" and (after["kind"] != "sample" or after["depth"] == "0")]


def sql(query):
    return lambda path: [tuple(row.values()) for row in readers.shell(path, query)]


def ctf(kind, *names):
    def field(name, fields):
        number, text = re.search(rf'\b{name} = (?:(-?\d+)|(?:\( )?"((?:[^"\\]|\\.)*)")', fields).groups()
        return number or readers.ctf_name(text)
    return lambda path: [tuple(field(name, f"core = {core}, {fields}") for name in names)
                         for found, _, core, _, fields in readers.ctf_events(path) if found == kind]


def ctf_samples(path):
    return [re.findall(r'\[\d+\] = \( "((?:[^"\\]|\\.)*)" : container', fields)[-1]
            for kind, _, _, _, fields in readers.ctf_events(path) if kind == "sample"]


def chrome(key, value, row):
    return lambda path: [row(event) for event in readers.chrome_data(path)["traceEvents"] if event.get(key) == value]


def chrome_masked(path):
    events = readers.chrome_data(path)["traceEvents"]
    thread, = (event["tid"] for event in events if event["name"] == "thread_name" and event["args"]["name"] == "core 0: interrupts masked")
    found = [event for event in events if event.get("cat") == "irq" and event["ph"] == "X"]
    assert {event["tid"] for event in found} == {thread}
    return [(0, event["name"], round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"]))) for event in found]


def trace_cmd(pattern):
    return lambda path: re.findall(pattern, readers.trace_cmd_report(path), re.MULTILINE)


def perfetto_counts(path):
    found = list(perfetto.Trace(path).annotations())
    assert {kind for kind, *_ in found} == {perfetto.END}
    return [row for _, *row in found]


def perfetto_masked(path):
    events = perfetto.Trace(path).events["core 0: interrupts masked"]
    assert {tuple(event["categories"]) for _, kind, _, event in events if kind == perfetto.BEGIN} == {("irq",)}
    return [(0, begin[2], begin[0], end[0]) for begin, end in zip(events[::2], events[1::2])]


def perfetto_gaps(path):
    return [tuple(perfetto.one(a, "uint_value") for a in event["debug_annotations"])
            for track, events in perfetto.Trace(path).events.items() for _, kind, _, event in events
            if track.endswith((": lost", ": dropped")) and kind == perfetto.BEGIN]


def perfetto_samples(path):
    events = perfetto.Trace(path).events["core 0: samples"]
    stacks = [perfetto.one(event, "callstack")["frames"] for *_, event in events]
    assert sum(map(len, stacks)) > 2 * len(stacks)
    names = [name for _, _, name, _ in events]
    assert names == [perfetto.one(frames[-1], "function_name") for frames in stacks]
    return names


def weighed(rows):
    """Adds up (function, weight)."""
    own = collections.Counter()
    for name, weight in rows:
        own[name] += weight
    return +own


def speedscope_samples(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    return weighed((data["shared"]["frames"][stack[-1]]["name"], weight) for profile in data["profiles"] if profile["type"] == "sampled"
                   for stack, weight in zip(profile["samples"], profile["weights"], strict=True))


def callgrind_samples(path):
    return weighed((name, costs[0]) for (_, name), costs in readers.annotate(path, "--sort=samples", "--show=samples,ns").items())


def pprof_samples(path):
    types, samples, functions, _ = readers.pprof_raw(path)
    assert types[2] == "samples/count"
    return weighed((functions[stack[0]]["name"], values[2]) for values, stack in samples)


# By format: marks, counters and values. Chrome and trace-cmd have no place for values.
CAPTURED = {
    "csv": (csv("mark", "value"), csv("counter", "how", "value"), csv("value", "name", "how", "value")),
    "sqlite": (sql("SELECT id FROM marks"), sql("SELECT id, value FROM counters"),
               sql("SELECT name, what, value FROM captured JOIN functions ON functions.id = function")),
    "ctf": (ctf("mark", "id"), ctf("counter", "id", "value"), ctf("value", "function", "what", "value")),
    "chrome": (chrome("cat", "mark", lambda event: (event["args"]["id"],)),
               chrome("ph", "C", lambda event: (event["name"].removeprefix("counter "), event["args"]["value"]))),
    "trace-cmd": (trace_cmd(r"print: .*: (mark) (\d+)$"), trace_cmd(r": counter (\d+) = (-?\d+)$"))}
GAPS = {"sqlite": sql("SELECT lost, overwritten, dropped FROM gaps"), "ctf": ctf("gap", *MISSING),
        "chrome": chrome("cat", "gap", lambda event: tuple(event["args"].values())),
        "trace-cmd": trace_cmd(r"gap: (\d+) lost, (\d+) overwritten, (\d+) dropped"), "perfetto": perfetto_gaps}
SAMPLES = {"csv": csv_samples, "ctf": ctf_samples, "speedscope": speedscope_samples, "callgrind": callgrind_samples, "pprof": pprof_samples,
           "perfetto": perfetto_samples,
           "folded": lambda path: weighed((functions[-1], weight) for functions, weight in readers.folded_lines(path)),
           "sqlite": lambda path: [name for name, in sql(
               "SELECT name FROM sample_frames f JOIN functions ON functions.id = function "
               "WHERE depth = (SELECT MAX(depth) FROM sample_frames g WHERE g.sample = f.sample)")(path)]}
MASKED = {"csv": csv("masked", "core", "name", "begin_ns", "end_ns"), "ctf": ctf("masked", "core", "function", "from", "to"),
          "sqlite": sql("SELECT core, name, begin_ns, end_ns FROM masked JOIN functions ON functions.id = function"),
          "perfetto": perfetto_masked, "chrome": chrome_masked}
COUNTS = {"csv": csv("events", "name", "how", "value"), "ctf": ctf("events", "function", "name", "count"),
          "sqlite": sql("SELECT c.name, e.name event, e.count FROM call_events e JOIN named_calls c ON c.id = e.call"),
          "trace-cmd": trace_cmd(rf"print: .*: (\S+) ({'|'.join(COUNTED)}) = (\d+)$"), "perfetto": perfetto_counts}


class Others(exports.Case):
    def each(self, name, of):
        """Yields (format, rows)."""
        for format_, read in of.items():
            yield format_, read(self.export(name, to=format_))

    def test_marks_counters_and_values(self):
        for format_, parts in CAPTURED.items():
            path = self.export("captured", to=format_)
            if format_ == "chrome":
                self.assertRegex(self.said, "has no place for [0-9]+ captured values")
            marks, *others = (read(path) for read in parts)
            self.check_others([row[-1] for row in marks], *others)

    def test_gaps(self):
        expected = exports.gaps_of("stream")
        self.assertGreater(len(expected), 1)
        for format_, found in self.each("stream", GAPS):
            self.assertEqual(sorted(tuple(map(int, gap)) for gap in found), expected, format_)
        path = self.export("stream", to="csv")  # a row for each way to be missing
        self.assertEqual([sum(int(value) for value, in csv(kind, "value")(path)) for kind in MISSING], list(map(sum, zip(*expected))))
        dropped = trace_cmd(r"\[(\d+) EVENTS DROPPED\]")(self.export("stream", to="trace-cmd"))
        self.assertEqual(sum(map(int, dropped)), sum(map(sum, expected)))
        cores = sql("SELECT core FROM gaps")(self.export("stream", to="sqlite"))
        self.assertEqual(sorted(core for core, in cores), sorted(gap["core"] for gap in exports.report("stream")["gaps_list"]))

    def test_samples(self):
        for format_, found in self.each("samples", SAMPLES):
            self.assertEqual(collections.Counter(found), exports.sampled(), format_)

    def test_times_with_interrupts_masked(self):
        expected = [(row["core"], row["name"], row["length_ns"]) for row in exports.report("samples")["masked"]]
        self.assertGreater(len(expected), 2)
        for format_, found in self.each("samples", MASKED):
            self.assertEqual([(int(core), name, int(end) - int(begin)) for core, name, begin, end in found], expected, format_)
        printed = trace_cmd(r"print: .*: interrupts masked by ")(self.export("samples", to="trace-cmd"))
        self.assertEqual(len(printed), len(expected))  # without what is beyond the 80 characters of an event's piece

    def test_counted_events(self):
        expected = {(row["name"], event): (row["events"][event]["calls"], row["events"][event]["total"])
                    for row in exports.report("counted")["functions"] for event in COUNTED if event in row.get("events", {})}
        self.assertGreater(len(expected), 8)
        for format_, rows in self.each("counted", COUNTS):
            found = collections.defaultdict(list)
            for name, event, count in rows:
                found[name, event].append(int(count))
            self.assertEqual({key: len(counts) for key, counts in found.items()}, {key: calls for key, (calls, _) in expected.items()})
            for key, (_, total) in expected.items():
                if key[0] != "events_recursive":  # its calls are inside each other
                    self.assertEqual(sum(found[key]), total, (format_, key))

    def test_counts_are_behind_their_call_and_of_shown_calls(self):
        whole, part = (readers.csv_rows(self.export("counted", *options, to="csv")) for options in ((), ("--function", "events_leaf")))
        for call, after in zip(whole, whole[1:]):
            if after["kind"] == "events" and call["kind"] == "call":
                self.assertEqual((call["name"], call["end_ns"]), (after["name"], after["begin_ns"]))
        found = [row for row in part if row["kind"] == "events"]
        self.assertEqual(found, [row for row in whole if row["kind"] == "events" and row["name"] == "events_leaf"])
        self.assertTrue(found)


if __name__ == "__main__":
    exports.main()
