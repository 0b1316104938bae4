#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counted events of the PMU, and times with interrupts masked, in each export that has them."""

import collections
import re

import exports
import perfetto
import readers

EVENTS = ("sw_incr", "cpu_cycles")
NOT_MASKED = "has no place for .*times with interrupts masked"
NOT_COUNTED = "has no place for .*calls' counts of events"


def sums(counts):
    """Returns {(function, event): (calls, sum)} of (function, event, count)."""
    found = collections.defaultdict(lambda: (0, 0))
    for name, event, count in counts:
        calls, total = found[name, event]
        found[name, event] = calls + 1, total + int(count)
    return dict(found)


class Counted(exports.Case):
    def check_counts(self, counts):
        expected = {(row["name"], event): (row["events"][event]["calls"], row["events"][event]["total"])
                    for row in exports.report("counted")["functions"] for event in EVENTS if event in row.get("events", {})}
        self.assertGreater(len(expected), 8)
        found = sums(counts)
        self.assertEqual(set(found), set(expected))
        for key, (calls, total) in expected.items():
            self.assertEqual(found[key][0], calls, key)
            if key[0] != "events_recursive":  # its calls are inside each other
                self.assertEqual(found[key][1], total, key)

    def check_masked(self, found):
        """`found`: (core, function, begin, end)."""
        expected = [(row["core"], row["name"], row["length_ns"]) for row in exports.report("samples")["masked"]]
        self.assertGreater(len(expected), 2)
        self.assertEqual([(int(core), name, int(end) - int(begin)) for core, name, begin, end in found], expected)

    def test_csv(self):
        rows = readers.csv_rows(self.export("counted", to="csv"))
        self.check_counts((row["name"], row["how"], row["value"]) for row in rows if row["kind"] == "events")
        # The counts come right behind their call.
        for call, after in zip(rows, rows[1:]):
            if after["kind"] == "events" and call["kind"] == "call":
                self.assertEqual((call["name"], call["end_ns"]), (after["name"], after["begin_ns"]))
        rows = readers.csv_rows(self.export("samples", to="csv"))
        self.check_masked((row["core"], row["name"], row["begin_ns"], row["end_ns"]) for row in rows if row["kind"] == "masked")

    def test_sqlite(self):
        rows = readers.shell(self.export("counted", to="sqlite"),
                             "SELECT c.name, e.name event, e.count FROM call_events e JOIN named_calls c ON c.id = e.call")
        self.check_counts(row.values() for row in rows)
        rows = readers.shell(self.export("samples", to="sqlite"),
                             "SELECT core, name, begin_ns, end_ns FROM masked JOIN functions ON functions.id = function")
        self.check_masked(row.values() for row in rows)

    def test_ctf(self):
        def fields_of(name, kind, pattern):
            for found, _, core, _, fields in readers.ctf_events(self.export(name, to="ctf")):
                if found == kind:
                    function = readers.ctf_name(readers.CTF_FUNCTION.search(fields)[1])
                    yield core, function, *re.search(pattern, fields).groups()
        self.check_counts(of[1:] for of in fields_of("counted", "events", r'name = "(\w+)", count = (\d+)'))
        self.check_masked(fields_of("samples", "masked", r"from = (\d+), to = (\d+)"))

    def test_trace_cmd(self):
        def printed(name, pattern):
            text = exports.run("trace-cmd", "report", "-t", self.export(name, to="trace-cmd")).stdout.decode()
            return re.findall(pattern, text, re.MULTILINE)
        self.check_counts(printed("counted", rf"print: .*: (\S+) ({'|'.join(EVENTS)}) = (\d+)$"))
        # The piece of an event has 80 characters.
        self.assertEqual(len(printed("samples", r"print: .*: interrupts masked by ")), len(exports.report("samples")["masked"]))

    def test_perfetto(self):
        trace = perfetto.Trace(self.export("counted", to="perfetto"))
        counts = [(kind, (name, what, value)) for kind, name, what, value in trace.annotations()]
        self.assertEqual({kind for kind, _ in counts}, {"TYPE_SLICE_END"})
        self.check_counts(of for _, of in counts)
        events = perfetto.Trace(self.export("samples", to="perfetto")).events["core 0: interrupts masked"]
        self.assertEqual({tuple(event["categories"]) for _, kind, _, event in events if kind == "TYPE_SLICE_BEGIN"}, {("irq",)})
        self.check_masked((0, begin[2], begin[0], end[0]) for begin, end in zip(events[::2], events[1::2]))

    def test_chrome(self):
        events = readers.chrome_data(self.export("samples", to="chrome"))["traceEvents"]
        threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        found = [(threads[event["tid"]], event) for event in events if event.get("cat") == "irq" and event["ph"] == "X"]
        self.assertEqual({thread for thread, _ in found}, {"core 0: interrupts masked"})
        self.check_masked((0, event["name"], round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"])))
                          for _, event in found)

    def test_calls_that_are_not_shown_have_none(self):
        whole = readers.csv_rows(self.export("counted", to="csv"))
        rows = readers.csv_rows(self.export("counted", "--function", "events_leaf", to="csv"))
        found = [row for row in rows if row["kind"] == "events"]
        self.assertEqual(found, [row for row in whole if row["kind"] == "events" and row["name"] == "events_leaf"])
        self.assertTrue(found)

    def test_others_say_that_they_leave_them_out(self):
        for format_ in ("speedscope", "uftrace"):
            self.export("samples", to=format_)
            self.assertRegex(self.said, NOT_MASKED, format_)
        for format_ in ("speedscope", "uftrace", "chrome"):
            self.export("counted", to=format_)
            self.assertRegex(self.said, NOT_COUNTED, format_)


if __name__ == "__main__":
    exports.main()
