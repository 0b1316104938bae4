#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace JSON, read by Python's json module."""

import collections
import decimal
import json

import exports


def ns(microseconds):
    return int(microseconds * 1000)


class Chrome(exports.Case):
    FORMAT = "chrome"

    def events(self, name):
        with open(self.export(name), encoding="utf-8") as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        return events, threads

    def test_calls_and_times_are_the_report_s(self):
        for name in (*exports.WITH_CALLS, "hostile"):
            events, threads = self.events(name)
            calls, points = [], []
            depths = {}
            # A viewer has no depths: of two that begin together the longer one is around the other, and of two
            # with the same times the one that is written later.
            spans = [(event["tid"], ns(event["ts"]), -ns(event["dur"]), -number, event["name"])
                     for number, event in enumerate(events) if event["ph"] == "X" and event["cat"] == "call"]
            for tid, begin, minus, _, of in sorted(spans):
                stack = depths.setdefault(tid, [])
                while stack and (stack[-1] <= begin and stack[-1] < begin - minus or stack[-1] < begin):
                    stack.pop()
                calls.append((tid, int(threads[tid].split(",")[0].removeprefix("core ")), of, begin, begin - minus,
                              len(stack)))
                stack.append(begin - minus)
            sums = exports.sums_of_calls(calls)
            for event in events:
                if event["ph"] == "i" and event.get("cat") == "call":
                    sums.point(event["name"])
            self.check_events(name, sums)

    def test_marks_counters_and_gaps(self):
        events, _ = self.events("captured")
        report = exports.report("captured")
        self.assertEqual(sorted(e["args"]["id"] for e in events if e.get("cat") == "mark"),
                         sorted(mark["id"] for mark in report["markers"]))
        values = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                values[event["name"]].append(event["args"]["value"])
        self.assertEqual({name: (len(its), min(its), max(its)) for name, its in values.items()},
                         {f"counter {c['id']}": (c["count"], c["min"], c["max"]) for c in report["counters"]})
        self.assertRegex(self.said, "has no place for [0-9]+ captured values")
        events, _ = self.events("stream")
        self.assertEqual(sorted(tuple(e["args"].values()) for e in events if e.get("cat") == "gap"),
                         sorted((g["lost"], g["overwritten"], g["dropped"])
                                for g in exports.report("stream")["gaps_list"]))

    def test_what_is_left_out_is_said(self):
        self.export("samples")
        count = exports.report("samples")["samples"]["count"]
        self.assertIn(f"nopscope: chrome has no place for {count:,} samples: left out", self.said)


if __name__ == "__main__":
    exports.main()
