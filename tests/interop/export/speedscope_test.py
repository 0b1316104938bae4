#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks speedscope's file by the published format. speedscope-imports_test.py opens it in speedscope."""

import collections
import json
import re

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

    def test_speedscope_imports_hostile_names(self):
        opened, = speedscope_page.opened(self.directory, self.export("hostile"))
        own = {name: time for name, (_, time) in opened.rows.items()}
        expected = exports.by_name(exports.report("hostile")["functions"], "self_ns")
        compared = 0
        for name, (time,) in expected.items():
            if name.isprintable() and name.strip() == name and name:  # HTML changes others
                self.assertAlmostEqual(own[name], time, delta=0.006 * max(time, 1000), msg=name)
                compared += 1
        self.assertGreater(compared, 100)


UNITS = {"nanoseconds": 1, "microseconds": 1000, "none": 1}  # in ns


def add_calls(sums, data, frames, core_of=None):
    """Adds a file's calls to the sums and returns these. `frames`: the functions' keys. `core_of`: by profile."""
    events = []
    for number, profile in enumerate(data["profiles"]):
        if profile["type"] == "evented":
            core = (core_of or core_in)(profile)
            events += [(event["at"], UNITS[profile["unit"]], number, core, event) for event in profile["events"]]
    events.sort(key=lambda event: event[0])
    for at, unit, number, core, event in events:
        if event["type"] == "O":
            sums.begin(number, frames[event["frame"]], round(at * unit), core)
        else:
            sums.end(number, round(at * unit), core, frames[event["frame"]])
    return sums


def core_in(profile):
    return int(re.match(r"core (\d+),", profile["name"])[1])


def own_samples(data, frames):
    own = collections.Counter()
    for profile in data["profiles"]:
        if profile["type"] == "sampled":
            for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                own[frames[stack[-1]]] += weight
    return own


if __name__ == "__main__":
    exports.main()
