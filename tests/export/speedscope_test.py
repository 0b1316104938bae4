#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import collections
import json

import exports


class Speedscope(exports.Case):
    FORMAT = "speedscope"

    def test_calls_and_times_are_the_report_s(self):
        for name in (*exports.WITH_CALLS, "hostile"):
            data = json.loads(self.export(name).read_text(encoding="utf-8"))
            sums = exports.Sums()
            frames = [frame["name"] for frame in data["shared"]["frames"]]
            events = []
            for number, profile in enumerate(data["profiles"]):
                core = int(profile["name"].split(",")[0].removeprefix("core "))
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                self.assertEqual(profile["startValue"], profile["events"][0]["at"])
                self.assertEqual(profile["endValue"], profile["events"][-1]["at"])
                events += [(event["at"], number, core, event) for event in profile["events"]]
            events.sort(key=lambda event: event[0])
            for at, number, core, event in events:
                if event["type"] == "O":
                    sums.begin(number, frames[event["frame"]], at, core)
                else:
                    sums.end(number, at, core, frames[event["frame"]])
            self.check_events(name, sums)

    def test_samples(self):
        data = json.loads(self.export("samples").read_text(encoding="utf-8"))
        frames = [frame["name"] for frame in data["shared"]["frames"]]
        own = collections.Counter()
        for profile in data["profiles"]:
            if profile["type"] == "sampled":
                for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                    own[frames[stack[-1]]] += weight
        expected = exports.by_name(exports.report("samples")["samples"]["functions"], "self")
        self.assertEqual(own, {of: count for of, (count,) in expected.items() if count})


if __name__ == "__main__":
    exports.main()
