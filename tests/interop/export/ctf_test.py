#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CTF 1.8 directory, read by babeltrace2."""

import collections
import re

import exports
import hostile_names
import readers

LABEL = r'\( "((?:[^"\\]|\\.)*)" : container = \d+ \)'
NUMBER = re.compile(r"(\w+) = (-?\d+)(?=,| |$)")


class Ctf(exports.Case):
    FORMAT = "ctf"

    def events(self, path):
        """Returns (kind, nanoseconds, core, context, the text of its fields) of each event."""
        events, self.errors = readers.ctf_events(path)
        return events

    def sums(self, name, options=()):
        return readers.ctf_sums(self.events(self.export(name, *options)), exports.Sums(), lambda name, _: name)

    def test_calls_and_times_are_the_report_s(self):
        for name, options in exports.RUNS:
            self.check_events(name, self.sums(name, options), options)

    def test_it_says_that_times_are_raw(self):
        metadata = (self.export("tasks") / "metadata").read_text(encoding="utf-8")
        self.assertRegex(metadata, 'times = "times are raw: ')

    def test_the_other_events(self):
        kinds = collections.defaultdict(list)
        for kind, _, _, _, fields in self.events(self.export("captured")):
            kinds[kind].append(fields)
        report = exports.report("captured")
        counters = collections.defaultdict(list)
        for fields in kinds["counter"]:
            numbers = dict(NUMBER.findall(fields))
            counters[int(numbers["id"])].append(int(numbers["value"]))
        self.assertEqual(exports.ranges(counters), exports.ranges_of(report["counters"], lambda row: row["id"]))
        values = collections.defaultdict(list)
        for fields in kinds["value"]:
            what = re.search(r'what = \( "(\w+)" ', fields)[1]
            values[readers.ctf_name(readers.CTF_FUNCTION.match(fields)[1]), what].append(int(dict(NUMBER.findall(fields))["value"]))
        self.assertEqual(exports.ranges(values), exports.ranges_of(report["captured"], lambda row: (row["name"], row["what"])))
        self.assertEqual(sorted(int(dict(NUMBER.findall(fields))["id"]) for fields in kinds["mark"]),
                         sorted(mark["id"] for mark in report["markers"]))

    def test_gaps_are_events_and_discarded_ones(self):
        found = []
        for kind, _, _, _, fields in self.events(self.export("stream")):
            if kind == "gap":
                numbers = dict(NUMBER.findall(fields))
                found.append(tuple(int(numbers[key]) for key in ("lost", "overwritten", "dropped")))
        self.assertEqual(sorted(found), exports.gaps_of("stream"))
        self.assertGreater(len(found), 1)

    def test_samples(self):
        own = collections.Counter()
        for kind, _, _, _, fields in self.events(self.export("samples")):
            if kind == "sample":
                own[re.findall(r"\[\d+\] = " + LABEL, fields)[-1]] += 1
        self.assertEqual(own, exports.sampled())

    def test_hostile_names(self):
        sums = self.sums("hostile")
        self.assertEqual(sum(sums.calls.values()) - sums.calls[exports.TRACER], exports.calls_of_hostile())
        self.assertEqual(self.errors, "")
        self.assertTrue({hostile_names.NAMES[n].decode() for n in (0, 2, 3, 27)} <= set(sums.calls), sums.calls)


if __name__ == "__main__":
    exports.main()
