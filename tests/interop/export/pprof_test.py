#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof's profile, read by `go tool pprof`."""

import collections
import itertools

import exports
import hostile_names
import readers


class Pprof(exports.Case):
    FORMAT = "pprof"

    def raw(self, path):
        """(types, samples as (values, locations), location -> name) of `pprof -raw`."""
        types, samples, functions, self.text = readers.pprof_raw(path, self.directory)
        return types, samples, {number: of.name for number, of in functions.items()}

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
            expected = collections.defaultdict(lambda: [0, 0])
            for path, node in exports.paths(name):
                expected[path][0] += node["calls"]
                expected[path][1] += node[key]
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
        self.assertEqual(+own, exports.sampled())

    def test_hostile_names(self):
        _, samples, _ = self.raw(self.export("hostile", "--raw"))
        self.assertEqual(sum(values[0] for values, _ in samples),
                         exports.calls_of_hostile())
        self.assertIn(f" M=1 {hostile_names.NAMES[0].decode()} ", self.text)


if __name__ == "__main__":
    exports.main()
