#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof's profile, read by `go tool pprof`. sums_test.py has its sums."""

import collections

import exports
import hostile_names
import readers


class Pprof(exports.Case):
    FORMAT = "pprof"

    def test_samples(self):
        types, samples, functions, _ = readers.pprof_raw(self.export("samples"))
        self.assertEqual(types[2], "samples/count")
        own = collections.Counter()
        for values, stack in samples:
            own[functions[stack[0]]["name"]] += values[2]
        self.assertEqual(+own, exports.sampled())

    def test_hostile_names(self):
        _, samples, _, text = readers.pprof_raw(self.export("hostile", "--raw"))
        self.check_hostile(sum(values[0] for values, _ in samples))
        self.assertIn(f" M=1 {hostile_names.NAMES[0].decode()} ", text)


if __name__ == "__main__":
    exports.main()
