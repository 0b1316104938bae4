#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: their sums by function and by path."""

import collections

import exports


def read(path):
    """Returns (functions, weight) of each line. As in flamegraph.pl, the last word is the number."""
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        stack, _, weight = line.rpartition(" ")
        yield stack.split(";"), int(weight)


class Folded(exports.Case):
    FORMAT = "folded"

    def test_self_times_by_function_and_by_path(self):
        for name in exports.WITH_CALLS:
            for raw in (True, False):
                key = "self_ns" if raw else "corrected_self_ns"
                own = collections.Counter()
                paths = collections.Counter()
                for functions, weight in read(self.export(name, *["--raw"] * raw)):
                    own[functions[-1]] += weight
                    paths[tuple(functions)] += weight
                nodes = exports.graph(name)["nodes"]
                expected, at = collections.Counter(), {}
                for node in nodes:
                    at[node["id"]] = at.get(node["parent"], ()) + (node["name"],)
                    expected[at[node["id"]]] += node[key]
                self.assertEqual(paths, +expected)
                self.check_sums(name, own, key)

    def test_samples_alone(self):
        own = collections.Counter()
        for functions, weight in read(self.export("samples")):
            own[functions[-1]] += weight
        expected = exports.by_name(exports.report("samples")["samples"]["functions"], "self")
        self.assertEqual(own, {of: count for of, (count,) in expected.items() if count})

    def test_the_target_s_profile(self):
        own = {functions[-1]: weight for functions, weight in read(self.export("profile", "--raw"))}
        expected = exports.by_name(exports.report("profile")["profile"]["functions"], "self_ns")
        self.assertEqual(own, {of: time for of, (time,) in expected.items() if time})

    def test_hostile_names_stay_on_their_line_and_in_their_place(self):
        found = collections.Counter(len(functions) for functions, _ in read(self.export("hostile", "--raw")))
        nodes, at = exports.graph("hostile")["nodes"], {}
        for node in nodes:
            at[node["id"]] = at.get(node["parent"], 0) + 1
        self.assertEqual(found, collections.Counter(at[node["id"]] for node in nodes if node["self_ns"]))


if __name__ == "__main__":
    exports.main()
