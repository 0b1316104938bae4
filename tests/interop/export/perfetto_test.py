#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only Perfetto's format has. agree_test.py compares its calls."""

import collections
import re

import exports
import readers
from perfetto import BEGIN, END, Trace, one


class Perfetto(exports.Case):
    FORMAT = "perfetto"

    traces = {}

    def trace(self, name, *options):
        key = name, options
        if key not in self.traces:
            self.traces[key] = Trace(self.export(name, *options))
        return self.traces[key]

    def test_the_console_is_a_log(self):
        shown, database = self.trace("tasks").log, self.export("tasks", to="sqlite")
        rows = readers.shell(database, "SELECT * FROM console")
        self.assertEqual("".join(text for _, text in shown), "".join(row["text"] for row in rows))
        self.assertGreater(len(shown), 0)

    def test_source_lines(self):
        expected = {row["name"]: (row["file"], row["line"]) for row in exports.report("torture")["functions"] if row["file"]}
        self.assertGreater(len(expected), 10)
        self.assertEqual(self.trace("torture").locations, expected)

    def test_marks_counters_and_values(self):
        for name in ("tasks", "captured"):
            trace = self.trace(name)
            events = [event for events in trace.events.values() for event in events]
            marks = [(at, text) for at, _, text, _ in events if str(text).startswith("mark ")]
            first = min(at for at, kind, _, _ in events if kind != "TYPE_COUNTER")
            expected = exports.graph(name)["markers"]
            self.assertEqual(sorted(text for _, text in marks), sorted(f"mark {mark['id']}" for mark in expected))
            if name == "tasks":
                self.assertGreater(len(trace.threads), 2)
                self.assertEqual(sorted(at - first for at, _ in marks), sorted(mark["time_ns"] for mark in expected))
        values = list(trace.annotations())
        ways = collections.Counter((kind, what == "result") for kind, _, what, _ in values)
        self.check_others([text.removeprefix("mark ") for _, text in marks],
                          [(track.removeprefix("counter "), one(event, "counter_value")) for track, its in trace.events.items()
                           if track.startswith("counter ") for *_, event in its],
                          [(name.removesuffix(f" {what}"), what, value) for _, name, what, value in values])
        # Arguments are the begin's, a result is the end's. A value without an open call is an instant.
        self.assertGreater(ways[BEGIN, False], 10)
        self.assertGreaterEqual(ways[END, True], 10)
        self.assertEqual(ways[END, False], 0)

    def test_threads_come_in_their_order(self):
        for name in ("tasks", "contexts", "cores"):
            threads = [(one(track, "sibling_order_rank", 0), one(one(track, "thread"), "thread_name"))
                       for track in self.trace(name).tracks.values() if one(track, "thread")]
            numbers = [[int(number) for number in re.findall(r"\d+", name.replace("several", "99"))]
                       for _, name in sorted(threads)]
            self.assertEqual(numbers, sorted(numbers))
            self.assertEqual(len({rank for rank, _ in threads}), len(threads))

    def test_lanes_show_which_context_runs(self):
        trace = self.trace("tasks")
        self.assertEqual({(tid, name) for _, _, tid, name in trace.lanes}, set(trace.threads.items()))
        self.assertTrue(all(a[2] != b[2] for a, b in zip(trace.lanes, trace.lanes[1:])))
        # A call begins and ends on the track of the context that runs.
        runs = [lane[0] for lane in trace.lanes]
        calls = [(at, name, track) for track, events in trace.events.items() for at, kind, name, _ in events
                 if kind == BEGIN and name not in (exports.AWAY, exports.TRACER, None) and at not in runs]
        self.assertGreater(len(calls), 20)
        for at, name, track in calls:
            self.assertEqual([lane for lane in trace.lanes if lane[0] <= at][-1][3], track, f"{name} at {at}")
        self.assertEqual(self.trace("torture").lanes, [])

    def test_it_names_image_board_and_build_id(self):
        trace, image = self.trace("tasks"), exports.report("tasks")["image"]
        self.assertEqual(trace.about[0], f"{image['name']} on {image['board']}, build-id {image['build_id']} (nopscope, raw times)")
        self.assertRegex(" ".join(trace.about[1]), "^times are raw: ")
        self.assertEqual(trace.attributes["nopscope.build_id"], image["build_id"])
        self.assertNotIn("nopscope.part", trace.attributes)

    def test_a_part_says_so_and_keeps_the_target_s_times(self):
        whole, part = self.trace("begin"), self.trace("begin", "--time", "1ms..1.5ms")
        self.assertEqual(part.attributes["nopscope.part"], "1ms..1.5ms")
        self.assertIn("a part of the recording: 1ms..1.5ms", part.about[1])
        begin, end = (of(event[0] for events in part.events.values() for event in events) for of in (min, max))
        # `--time` counts without the tracer's time here, so the part is longer on the target's clock.
        self.assertGreaterEqual(end - begin, 490_000)
        calls = {event[:3] for events in whole.events.values() for event in events if event[1] == BEGIN}
        of_part = [event[:3] for events in part.events.values() for event in events if event[1] == BEGIN]
        self.assertGreater(len(of_part), 100)
        self.assertEqual([event for event in of_part if event[0] > begin and event not in calls], [])
        self.assertLess(len(of_part), len(calls) // 2)

    def test_categories(self):
        categories = self.trace("samples").categories | self.trace("begin").categories | self.trace("tasks").categories
        for name, found in categories.items():
            expected = {exports.TRACER: "tracer", exports.AWAY: "context"}.get(
                name, "irq" if name.startswith("(interrupt ") else "call")
            self.assertEqual(found, {expected}, name)
        self.assertEqual({kind for found in categories.values() for kind in found}, {"tracer", "context", "irq", "call"})


if __name__ == "__main__":
    exports.main()
