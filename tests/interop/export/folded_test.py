#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks. sums_test.py has their sums by function and by path."""

import collections

import exports
from readers import folded_lines


class Folded(exports.Case):
    FORMAT = "folded"

    def test_samples_alone(self):
        own = collections.Counter()
        for functions, weight in folded_lines(self.export("samples")):
            own[functions[-1]] += weight
        self.assertEqual(own, exports.sampled())

    def test_hostile_names_stay_on_their_line_and_in_their_place(self):
        found = collections.Counter(len(functions) for functions, _ in folded_lines(self.export("hostile", "--raw")))
        self.assertEqual(found, collections.Counter(len(path) for path, node in exports.paths("hostile") if node["self_ns"]))


if __name__ == "__main__":
    exports.main()
