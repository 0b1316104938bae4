#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CTF 1.8 directory, read by babeltrace2."""

import collections
import re

import exports
import hostile_names
import readers

LABEL = r'\( "((?:[^"\\]|\\.)*)" : container = \d+ \)'
FUNCTION = re.compile("function = " + LABEL)
NUMBER = re.compile(r"(\w+) = (-?\d+)(?=,| |$)")


def label(match):
    """Undoes the escapes: babeltrace2 prints a label as a string literal, as in the metadata."""
    return re.sub(r"\\(.)", r"\1", match[1])


class Ctf(exports.Case):
    FORMAT = "ctf"

    def events(self, path):
        """Returns (kind, nanoseconds, core, context, the text of its fields) of each event."""
        events, self.errors = readers.ctf_events(path)
        return events

    def sums(self, name, options=()):
        sums = exports.Sums()
        for kind, at, core, context, fields in self.events(self.export(name, *options)):
            if kind in ("entry", "return", "point"):
                of = label(FUNCTION.match(fields))
                if kind == "entry":
                    sums.begin((core, context), of, at, core)
                elif kind == "return":
                    sums.end((core, context), at, core, of)
                else:
                    sums.point(of)
        return sums

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
        self.assertEqual({id: (len(its), min(its), max(its)) for id, its in counters.items()},
                         {c["id"]: (c["count"], c["min"], c["max"]) for c in report["counters"]})
        values = collections.defaultdict(list)
        for fields in kinds["value"]:
            what = re.search(r'what = \( "(\w+)" ', fields)[1]
            values[label(FUNCTION.match(fields)), what].append(int(dict(NUMBER.findall(fields))["value"]))
        self.assertEqual({key: (len(its), min(its), max(its)) for key, its in values.items()},
                         {(c["name"], c["what"]): (c["count"], c["min"], c["max"]) for c in report["captured"]})
        self.assertEqual(sorted(int(dict(NUMBER.findall(fields))["id"]) for fields in kinds["mark"]),
                         sorted(mark["id"] for mark in report["markers"]))

    def test_gaps_are_events_and_discarded_ones(self):
        found = []
        for kind, _, _, _, fields in self.events(self.export("stream")):
            if kind == "gap":
                numbers = dict(NUMBER.findall(fields))
                found.append(tuple(int(numbers[key]) for key in ("lost", "overwritten", "dropped")))
        self.assertEqual(sorted(found), sorted((g["lost"], g["overwritten"], g["dropped"])
                                               for g in exports.report("stream")["gaps_list"]))
        self.assertGreater(len(found), 1)

    def test_samples(self):
        own = collections.Counter()
        for kind, _, _, _, fields in self.events(self.export("samples")):
            if kind == "sample":
                own[re.findall(r"\[\d+\] = " + LABEL, fields)[-1]] += 1
        expected = exports.by_name(exports.report("samples")["samples"]["functions"], "self")
        self.assertEqual(own, {of: count for of, (count,) in expected.items() if count})

    def test_hostile_names(self):
        sums = self.sums("hostile")
        self.assertEqual(sum(sums.calls.values()) - sums.calls[exports.TRACER],
                         sum(row["calls"] for row in exports.report("hostile")["functions"]))
        self.assertEqual(self.errors, "")
        self.assertTrue({hostile_names.NAMES[n].decode() for n in (0, 2, 3, 27)} <= set(sums.calls), sums.calls)


if __name__ == "__main__":
    exports.main()
