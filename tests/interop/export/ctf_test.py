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


def numbers_of(fields):
    return {key: int(value) for key, value in NUMBER.findall(fields)}


class Ctf(exports.Case):
    FORMAT = "ctf"

    def fields_of(self, name, kind):
        """Returns the text of each event's fields."""
        return [fields for found, _, _, _, fields in readers.ctf_events(self.export(name)) if found == kind]

    def test_it_says_that_times_are_raw(self):
        metadata = (self.export("tasks") / "metadata").read_text(encoding="utf-8")
        self.assertRegex(metadata, 'times = "times are raw: ')

    def test_the_other_events(self):
        counters, values = collections.defaultdict(list), collections.defaultdict(list)
        for numbers in map(numbers_of, self.fields_of("captured", "counter")):
            counters[numbers["id"]].append(numbers["value"])
        for fields in self.fields_of("captured", "value"):
            of = readers.ctf_name(readers.CTF_FUNCTION.match(fields)[1]), re.search(r'what = \( "(\w+)" ', fields)[1]
            values[of].append(numbers_of(fields)["value"])
        self.check_others([numbers_of(fields)["id"] for fields in self.fields_of("captured", "mark")], counters, values)

    def test_gaps_are_events_and_discarded_ones(self):
        found = [tuple(numbers[key] for key in ("lost", "overwritten", "dropped"))
                 for numbers in map(numbers_of, self.fields_of("stream", "gap"))]
        self.assertEqual(sorted(found), exports.gaps_of("stream"))
        self.assertGreater(len(found), 1)

    def test_samples(self):
        own = collections.Counter(re.findall(r"\[\d+\] = " + LABEL, fields)[-1] for fields in self.fields_of("samples", "sample"))
        self.assertEqual(own, exports.sampled())

    def test_hostile_names(self):
        names = {readers.ctf_name(readers.CTF_FUNCTION.search(fields)[1]) for fields in self.fields_of("hostile", "entry")}
        self.assertLessEqual({hostile_names.NAMES[n].decode() for n in (0, 2, 3, 27)}, names)


if __name__ == "__main__":
    exports.main()
