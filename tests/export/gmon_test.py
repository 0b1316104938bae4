#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gmon.out, read by gprof of the cross binutils together with the image."""

import os
import pathlib
import re

import exports

FLAT = re.compile(r"^ *[\d.]+ +[\d.]+ +([\d.]+) +(\d+)? *(?:[\d.]+ +[\d.]+ +)?(\S.*)$")
UNIT = re.compile(r"^Each sample counts as ([\d.e+-]+) seconds\.$", re.MULTILINE)


def image(name):
    return pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / f"virt/firmware/{name}.elf"


class Gmon(exports.Case):
    FORMAT = "gmon"

    def gprof(self, name, *options):
        return exports.run("aarch64-linux-gnu-gprof", "-b", "--demangle=gnu-v3", *options, image(name),
                           self.export(name, "--raw")).stdout.decode()

    def test_self_times_are_the_report_s(self):
        text = self.gprof("torture", "-p", "-z")
        unit = float(UNIT.search(text)[1])
        expected = exports.by_name(exports.report("torture")["functions"], "self_ns", "calls")
        whole = sum(time for time, _ in expected.values())
        # gprof prints hundredths of a second: shares are what a short recording is compared by.
        shares = {}
        for line in text.splitlines():
            if match := re.match(r"^ *([\d.]+) +[\d.]+ +[\d.]+ +(?:\d+ +[\d.]+ +[\d.]+ +)?(\S.*?) *$", line):
                shares[match[2]] = shares.get(match[2], 0) + float(match[1])
        self.assertGreater(len(expected), 100)
        self.assertLess(unit * 1e9, 10)
        for of, (time, _) in expected.items():
            self.assertAlmostEqual(shares.get(of, 0), 100 * time / whole, delta=0.03, msg=of)

    def test_calls_are_the_graph_s(self):
        """The call graph's "called" of each function: from others, and from itself."""
        text = self.gprof("torture", "-q", "-z")
        nodes = {node["id"]: node for node in exports.graph("torture")["nodes"]}
        expected = {}
        for node in nodes.values():
            itself = node["parent"] is not None and nodes[node["parent"]]["name"] == node["name"]
            calls = expected.setdefault(node["name"], [0, 0])
            calls[1 if itself else 0] += node["calls"]
        found = {}
        for line in text.splitlines():
            if match := re.match(r"^\[\d+\] +[\d.]+ +[\d.]+ +[\d.]+ +(\d+)(?:\+(\d+))? +(\S.*?)(?: <cycle \d+>)? \[\d+\]$",
                                 line):
                found[match[3]] = [int(match[1]), int(match[2] or 0)]
        for of, calls in expected.items():
            if not any(f"<cycle" in line and of in line for line in text.splitlines()):
                self.assertEqual(found.get(of, spontaneous(text, of)), calls, of)
        self.assertGreater(len(found), 100)


def spontaneous(text, of):
    return None


if __name__ == "__main__":
    exports.main()
