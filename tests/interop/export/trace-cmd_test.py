#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace.dat, read by `trace-cmd report` and its function_graph plugin."""

import collections
import re

import exports


class TraceCmd(exports.Case):
    FORMAT = "trace-cmd"

    def lines(self, path, *options):
        return exports.run("trace-cmd", "report", "-t", *options, path).stdout.decode(errors="replace").split("\n")

    def test_the_function_graph_plugin_s_view(self):
        """The plugin's durations. One line has "f();". Otherwise an exit without a name ends it."""
        durations = collections.Counter()
        for line in self.lines(self.export("tasks")):
            if match := re.search(r"funcgraph_entry: +[+!#*@$]? *([\d.]+) us +\| +(.*)\(\);$", line):
                durations[match[2]] += round(1000 * float(match[1]))
        leaves = [row for row in exports.report("tasks")["functions"] if row["self_ns"] == row["total_ns"] > 0]
        self.assertTrue(leaves)
        for row in leaves:
            self.assertAlmostEqual(durations[row["name"]], row["total_ns"], delta=row["calls"], msg=row["name"])

    def test_printed_events(self):
        text = "\n".join(self.lines(self.export("captured")))
        self.assertRegex(text, "print: .*: times are raw: ")
        counters = collections.defaultdict(list)
        for id, value in re.findall(r": counter (\d+) = (-?\d+)$", text, re.MULTILINE):
            counters[int(id)].append(int(value))
        self.check_others(re.findall(r"print: .*: mark (\d+)$", text, re.MULTILINE), counters)
        text = "\n".join(self.lines(self.export("stream")))
        gaps = [tuple(map(int, numbers)) for numbers in re.findall(r"gap: (\d+) lost, (\d+) overwritten, (\d+) dropped", text)]
        expected = exports.gaps_of("stream")
        self.assertEqual(sorted(gaps), expected)
        dropped = [int(count) for count in re.findall(r"\[(\d+) EVENTS DROPPED\]", text)]
        self.assertEqual(sum(dropped), sum(map(sum, expected)))


if __name__ == "__main__":
    exports.main()
