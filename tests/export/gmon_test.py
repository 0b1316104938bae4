#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gmon.out, read by gprof of the cross binutils together with the image."""

import os
import pathlib
import re

import exports
import readers

FLAT = re.compile(r"^ *([\d.]+) +[\d.]+ +[\d.]+ +(?:\d+ +[\d.]+ +[\d.]+ +)?(\S.*?) *$")
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
        expected = exports.by_name(exports.report("torture")["functions"], "self_ns")
        whole = sum(time for time, in expected.values())
        # gprof prints hundredths of a second: shares are what a short recording is compared by.
        shares = {}
        for line in text.splitlines():
            if match := FLAT.match(line):
                shares[match[2]] = shares.get(match[2], 0) + float(match[1])
        self.assertLess(unit * 1e9, 10)
        compared = 0
        # gprof passes over names with a dot, and gives their time to the one before.
        rows = sorted(exports.report("torture")["functions"], key=lambda row: int(row["address"], 16))
        spoilt = {one["name"] for one, after in zip(rows, rows[1:]) if "." in one["name"] + after["name"]}
        for of, (time,) in expected.items():
            if of not in spoilt:
                self.assertAlmostEqual(shares.get(of, 0), 100 * time / whole, delta=0.02, msg=of)
                compared += 1
        self.assertGreater(compared, 200)

    def test_calls_are_the_graph_s(self):
        """Those from others, and those from itself. Outermost ones have no arc that gprof takes."""
        found, in_cycles = readers.gprof_calls(image("torture"), self.export("torture", "--raw"))
        nodes = {node["id"]: node for node in exports.graph("torture")["nodes"]}
        expected = {}
        for node in nodes.values():
            if node["parent"] is not None and "." not in node["name"] + nodes[node["parent"]]["name"]:
                calls = expected.setdefault(node["name"], [0, 0])
                calls[nodes[node["parent"]]["name"] == node["name"]] += node["calls"]
        compared = 0
        for of, calls in expected.items():
            if calls[0] and of not in in_cycles and not called_from_dotted(of, nodes):
                self.assertEqual(found.get(of), calls, of)
                compared += 1
        self.assertGreater(compared, 100)


def called_from_dotted(of, nodes):
    return any(node["name"] == of and node["parent"] is not None and "." in nodes[node["parent"]]["name"]
               for node in nodes.values())


if __name__ == "__main__":
    exports.main()
