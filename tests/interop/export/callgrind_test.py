#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callgrind's format, read by callgrind_annotate. sums_test.py has its sums by function."""

import collections

import exports
import readers


class Callgrind(exports.Case):
    FORMAT = "callgrind"

    def annotate(self, path, *options):
        """Returns {function: its costs}, as printed. Functions of the same name are one."""
        found = collections.defaultdict(lambda: [0, 0])
        for (_, name), costs in readers.annotate(path, *options).items():
            found[name] = [before + cost for before, cost in zip(found[name], costs)]
        return found

    def test_each_call_is_its_own_and_its_callees(self):
        """Time in other contexts and in gaps is an event of its own. KCachegrind's shares and speedscope need that."""
        for name in ("tasks", "contexts", "gaps", "torture", "damaged"):
            for options, key in (((), "corrected_self_ns"), (("--raw",), "self_ns")):
                path = self.export(name, *options)
                whole = [sum(costs) for costs in zip(*self.annotate(path).values())]
                self.assertEqual(self.annotate(path, "--inclusive=yes")["(root)"], whole)
                self.assertEqual(whole[0], sum(node[key] for _, node in exports.paths(name)))
                self.assertEqual(whole[1] != 0, name != "torture")

    def test_a_part_says_so(self):
        self.assertRegex(self.export("cores", "--core", "0").read_text(), r"\ndesc: Part: of the recording, .*0\n")
        self.assertNotIn("desc:", self.export("cores").read_text())

    def test_calls(self):
        found, expected = collections.Counter(), collections.Counter()
        for ((_, caller), (_, callee)), calls in readers.calls_of_callees(self.export("torture", "--raw")).items():
            found[caller, callee] += calls
        for path, node in exports.paths("torture"):
            expected[("(root)", *path)[-2:]] += node["calls"]
        self.assertEqual(found, expected)


if __name__ == "__main__":
    exports.main()
