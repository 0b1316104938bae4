#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callgrind's format, read by callgrind_annotate."""

import collections
import itertools

import exports
import readers

class Callgrind(exports.Case):
    FORMAT = "callgrind"

    def annotate(self, path, *options):
        """Returns {function: its costs}, as printed. Functions of the same name are one."""
        found = {}
        for (_, name), costs in readers.annotate(path, *options).items():
            before = found.setdefault(name, [0, 0])
            found[name] = [before[0] + costs[0], before[1] + costs[1]]
        return found

    def test_self_and_inclusive_times(self):
        for name, raw in itertools.product(("torture", "tasks", "captured", "gaps"), (True, False)):
            self_key, total_key = ("self_ns", "total_ns") if raw else ("corrected_self_ns", "corrected_total_ns")
            path = self.export(name, *["--raw"] * raw)
            own = self.annotate(path)
            inclusive = self.annotate(path, "--inclusive=yes")
            rows = exports.by_name(exports.functions(name), self_key, total_key)
            nodes = exports.graph(name)["nodes"]
            self.assertTrue(rows)
            for of, (time, total) in rows.items():
                with self.subTest(recording=name, raw=raw, function=of):
                    self.assertEqual(own.get(of, [0])[0], time)
                    if of in recursive_or_shared(name):
                        continue
                    self.assertEqual(sum(inclusive.get(of, [0])), total_of(of, nodes, total_key))
                    # Paths on both sides of a gap overlap in time, so they add up to more than the function's total.
                    if name != "gaps":
                        self.assertEqual(sum(inclusive.get(of, [0])), total)

    def test_each_call_is_its_own_and_its_callees(self):
        """Time in other contexts and in gaps is an event of its own. KCachegrind's shares and speedscope need that."""
        for name in ("tasks", "contexts", "gaps", "torture", "damaged"):
            for options in ((), ("--raw",)):
                path = self.export(name, *options)
                own, inclusive = self.annotate(path), self.annotate(path, "--inclusive=yes")
                whole = [sum(costs) for costs in zip(*own.values())]
                self.assertEqual(inclusive["(root)"], whole)
                key = "self_ns" if options else "corrected_self_ns"
                expected = sum(costs[0] for of, costs in exports.by_name(exports.graph(name)["nodes"], key).items())
                self.assertEqual(whole[0], expected)
                self.assertEqual(whole[1] != 0, name != "torture")

    def test_a_part_says_so(self):
        self.assertRegex(self.export("cores", "--core", "0").read_text(), r"\ndesc: Part: of the recording, .*0\n")
        self.assertNotIn("desc:", self.export("cores").read_text())

    def test_calls(self):
        text = self.annotate_tree(self.export("torture", "--raw"))
        self.assertEqual(text, by_caller("torture"))

    def annotate_tree(self, path):
        """{(caller, callee): calls}, by name."""
        found = {}
        for ((_, caller), (_, callee)), calls in readers.calls_of_callees(path).items():
            found[caller, callee] = found.get((caller, callee), 0) + calls
        return found

    def test_samples(self):
        own = self.annotate(self.export("samples"), "--sort=samples", "--show=samples,ns")
        self.assertEqual({of: costs[0] for of, costs in own.items() if costs[0]}, exports.sampled())

    def test_hostile_names(self):
        own = self.annotate(self.export("hostile", "--raw"))
        self.assertEqual(sum(costs[0] for costs in own.values()),
                         sum(row["self_ns"] for row in exports.report("hostile")["functions"]))


def by_caller(name):
    sums = collections.Counter()
    for path, node in exports.paths(name):
        sums[("(root)", *path)[-2:]] += node["calls"]
    return sums


def recursive_or_shared(name):
    """Functions whose callers' inclusive times contain more than the function's total."""
    addresses = {}
    for node in exports.graph(name)["nodes"]:
        addresses.setdefault(node["name"], set()).add(node["address"])
    return exports.recursive(name) | {of for of, its in addresses.items() if len(its) > 1}


def total_of(of, nodes, key):
    """Adds up the paths, because each path in a gap has its own total."""
    return sum(node[key] for node in nodes if node["name"] == of)


if __name__ == "__main__":
    exports.main()
