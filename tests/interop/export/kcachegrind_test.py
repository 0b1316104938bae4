#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callgrind's format, opened by KCachegrind in a window. formats_test.py reads more recordings."""

import collections

import exports
import kcachegrind


class KCachegrind(exports.Case):
    FORMAT = "callgrind"

    def shown(self, name, suffix=""):
        path = self.directory / f"callgrind.out.{name}{suffix}"
        exports.run(exports.NOPSCOPE, "export", exports.recording(name), "--format", "callgrind", "-o", path)
        return kcachegrind.graph_of(path, self.directory)

    def test_calls_and_inclusive_times(self):
        """KCachegrind leaves small calls out, also of a pair that it shows. In this recording no pair that it shows has such calls."""
        name = "tasks"
        whole, calls = self.shown(name, ".gz")
        expected = sums_of_pairs(name)
        self.assertEqual(whole, sum(node["corrected_self_ns"] for _, node in exports.paths(name)))
        self.assertGreater(len(calls), 8)
        self.assertEqual(calls, {pair: tuple(expected[pair]) for pair in calls})


def sums_of_pairs(name):
    """Returns {(caller, callee): [ns on the CPU, calls]}. Time in other contexts is another cost, which is not shown first."""
    sums = collections.defaultdict(lambda: [0, 0])
    for path, node in exports.paths(name):
        path = ("(root)", *path)
        sums[path[-2:]][1] += node["calls"]
        for pair in set(zip(path, path[1:])):
            sums[pair][0] += node["corrected_self_ns"]
    return sums


if __name__ == "__main__":
    exports.main()
