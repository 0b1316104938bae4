#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace JSON, read by Python's json in Perfetto's order, and imported by speedscope."""

import collections

import exports
import readers
import speedscope_page


class Chrome(exports.Case):
    FORMAT = "chrome"

    def load(self, name, *options):
        data = readers.chrome_data(self.export(name, *options))
        self.assertRegex(data["otherData"]["times"], "^times are raw")
        return data, data["traceEvents"]

    def test_events_are_in_the_form_that_viewers_need(self):
        for name, options in (("torture", ()), ("tasks", (exports.CUT,)), ("equal", ()), ("torture-54", ()), ("cores", ())):
            last = {}
            for event in self.load(name, *options)[1]:
                self.assertEqual(event["tid"] == 0, event["name"] == "process_name")  # Perfetto: 0 is the process itself
                if event.get("cat") != "call":
                    continue
                self.assertNotIn("args", event)  # speedscope appends them to the name
                if event["ph"] != "i":
                    # If times are equal, speedscope takes an end first. A double has 53 bits.
                    self.assertGreater(float(event["ts"]), last.get(event["tid"], -1))
                    last[event["tid"]] = float(event["ts"])

    def test_places_are_in_the_file(self):
        data, _ = self.load("torture")
        self.assertEqual({place["name"]: (place["file"], place["line"]) for place in data["otherData"]["functions"]},
                         {row["name"]: (row["file"], row["line"])
                          for row in exports.report("torture")["functions"] if row["file"]})

    def test_marks_counters_and_gaps(self):
        _, events = self.load("captured")
        values = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                values[int(event["name"].removeprefix("counter "))].append(event["args"]["value"])
        self.check_others([event["args"]["id"] for event in events if event.get("cat") == "mark"], values)
        self.assertRegex(self.said, "has no place for [0-9]+ captured values")
        _, events = self.load("stream")
        self.assertEqual(sorted(tuple(e["args"].values()) for e in events if e.get("cat") == "gap"),
                         exports.gaps_of("stream"))

    def test_what_is_left_out_is_said(self):
        self.export("samples")
        count = exports.report("samples")["samples"]["count"]
        self.assertIn(f"nopscope: chrome has no place for {count:,} samples: left out", self.said)

    def imported(self, name, *options):
        opened, = speedscope_page.opened(self.directory, self.export(name, *options))
        rows = opened.rows
        self.assertFalse([row for row in rows if "{" in row])
        return {of: own for of, (_, own) in rows.items()}, {of: total for of, (total, _) in rows.items()}

    def test_speedscope_gives_a_function_the_report_s_share(self):
        for options in ((), (exports.CUT,)):
            own, total = self.imported("demo", *options)
            of_calls = sum(own.values()) - own.get(exports.TRACER, 0)
            rows = exports.report("demo")["functions"]
            whole = sum(row["self_ns"] for row in exports.functions("demo"))
            self.assertIn("luaV_execute", own)
            for row in rows:
                if row["self_ns"] > whole // 1000:
                    self.assertAlmostEqual(own[row["name"]] / of_calls, row["self_ns"] / whole, delta=0.002, msg=row["name"])
                if options:
                    self.assertAlmostEqual(total[row["name"]], row["total_ns"], delta=0.006 * max(row["total_ns"], 1000))

    def test_speedscope_nests_calls_of_one_time_as_they_were(self):
        own, total = self.imported("equal")
        for row in exports.report("equal")["functions"]:
            for found, expected in ((own, row["self_ns"]), (total, row["total_ns"])):
                self.assertAlmostEqual(found.get(row["name"], 0), expected, delta=0.006 * max(expected, 1000), msg=row["name"])


if __name__ == "__main__":
    exports.main()
