#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks speedscope's file by the published format, and imports it with speedscope itself."""

import collections
import json

import exports
import speedscope_page


class Speedscope(exports.Case):
    FORMAT = "speedscope"

    def load(self, name, *options):
        data = json.loads(self.export(name, *options).read_text(encoding="utf-8"))
        return data, [frame["name"] for frame in data["shared"]["frames"]]

    def test_calls_and_times_are_the_report_s(self):
        for name, options in (*exports.RUNS, ("hostile", ())):
            data, frames = self.load(name, *options)
            self.assertRegex(data["nopscope"]["times"], "^times are raw")
            for profile in data["profiles"]:
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                self.assertEqual(profile["startValue"], profile["events"][0]["at"])
                self.assertEqual(profile["endValue"], profile["events"][-1]["at"])
            self.check_events(name, add_calls(exports.Sums(), data, frames), options)

    def test_samples(self):
        data, frames = self.load("samples")
        self.assertEqual(own_samples(data, frames), exports.sampled())

    def imported(self, data, profile):
        return speedscope_page.imported(self.directory, json.dumps(data | {"activeProfileIndex": profile}))

    def test_speedscope_imports_it(self):
        data, _ = self.load("tasks")
        self.assertEqual(len(data["profiles"]), 3)
        own = collections.Counter()
        for number in range(3):
            for name, (_, time) in self.imported(data, number).items():
                own[name] += time
        for name, (time,) in exports.by_name(exports.report("tasks")["functions"], "self_ns").items():
            self.assertAlmostEqual(own[name], time, delta=30, msg=name)  # two digits of microseconds each

    def test_speedscope_imports_samples(self):
        data, frames = self.load("samples")
        number, = (n for n, profile in enumerate(data["profiles"]) if profile["type"] == "sampled")
        found = self.imported(data, number)
        for name, count in own_samples(data, frames).items():
            self.assertEqual(found[name][1], count, name)

    def test_speedscope_imports_hostile_names(self):
        data, _ = self.load("hostile")
        own = {name: time for name, (_, time) in self.imported(data, 0).items()}
        expected = exports.by_name(exports.report("hostile")["functions"], "self_ns")
        compared = 0
        for name, (time,) in expected.items():
            if name.isprintable() and name.strip() == name and name:  # HTML changes others
                self.assertAlmostEqual(own[name], time, delta=0.006 * max(time, 1000), msg=name)
                compared += 1
        self.assertGreater(compared, 100)


def add_calls(sums, data, frames):
    """Adds a file's calls to the sums and returns these. `frames`: the functions' keys."""
    events = []
    for number, profile in enumerate(data["profiles"]):
        if profile["type"] == "evented":
            core = int(profile["name"].split(",")[0].removeprefix("core "))
            events += [(event["at"], number, core, event) for event in profile["events"]]
    events.sort(key=lambda event: event[0])
    for at, number, core, event in events:
        if event["type"] == "O":
            sums.begin(number, frames[event["frame"]], at, core)
        else:
            sums.end(number, at, core, frames[event["frame"]])
    return sums


def own_samples(data, frames):
    own = collections.Counter()
    for profile in data["profiles"]:
        if profile["type"] == "sampled":
            for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                own[frames[stack[-1]]] += weight
    return own


if __name__ == "__main__":
    exports.main()
