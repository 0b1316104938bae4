#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof's profile, read by `go tool pprof`."""

import collections
import itertools
import re

import exports
import hostile_names

LOCATION = re.compile(r"^ *(\d+): 0x[0-9a-f]+ M=1 (.*) [^ ]*:-?\d+ s=-?\d+$")


class Pprof(exports.Case):
    FORMAT = "pprof"

    def raw(self, path):
        """(types, samples as (values, locations), location -> name) of `pprof -raw`."""
        text = exports.run("go", "tool", "pprof", "-symbolize=none", "-raw", path,
                           env={"PATH": "/usr/bin:/bin", "HOME": str(self.directory)}).stdout.decode()
        self.text = text
        samples, locations = text.partition("Samples:\n")[2].partition("Locations\n")[::2]
        types, *lines = samples.splitlines()
        found = []
        for line in lines:
            values, _, stack = line.partition(": ")
            found.append(([int(value) for value in values.split()], [int(number) for number in stack.split()]))
        names = {}
        for line in locations.partition("Mappings\n")[0].splitlines():
            if match := LOCATION.match(line):
                names[int(match[1])] = match[2]
        return types.replace("[dflt]", "").split(), found, names

    def test_calls_and_times_by_function_and_path(self):
        for name, raw in itertools.product(exports.WITH_CALLS, (True, False)):
            key = "self_ns" if raw else "corrected_self_ns"
            types, samples, names = self.raw(self.export(name, *["--raw"] * raw))
            self.assertEqual(types[:2], ["calls/count", "time/nanoseconds"])
            paths = collections.defaultdict(lambda: [0, 0])
            for values, stack in samples:
                path = tuple(names[number] for number in reversed(stack))
                paths[path][0] += values[0]
                paths[path][1] += values[1]
            expected, at = collections.defaultdict(lambda: [0, 0]), {}
            for node in exports.graph(name)["nodes"]:
                at[node["id"]] = at.get(node["parent"], ()) + (node["name"],)
                expected[at[node["id"]]][0] += node["calls"]
                expected[at[node["id"]]][1] += node[key]
            self.assertEqual(paths, {path: values for path, values in expected.items() if any(values)})
            own, calls = collections.Counter(), collections.Counter()
            for path, values in paths.items():
                calls[path[-1]] += values[0]
                own[path[-1]] += values[1]
            self.check_sums(name, calls, "calls")
            self.check_sums(name, own, key)

    def test_samples(self):
        types, samples, names = self.raw(self.export("samples"))
        self.assertEqual(types[2], "samples/count")
        own = collections.Counter()
        for values, stack in samples:
            own[names[stack[0]]] += values[2]
        expected = exports.by_name(exports.report("samples")["samples"]["functions"], "self")
        self.assertEqual(+own, {of: count for of, (count,) in expected.items() if count})

    def test_hostile_names(self):
        _, samples, _ = self.raw(self.export("hostile", "--raw"))
        self.assertEqual(sum(values[0] for values, _ in samples),
                         sum(row["calls"] for row in exports.report("hostile")["functions"]))
        self.assertIn(f" M=1 {hostile_names.NAMES[0].decode()} ", self.text)


if __name__ == "__main__":
    exports.main()
