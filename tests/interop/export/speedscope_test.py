#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks speedscope's file by the published format. speedscope-imports_test.py opens it in speedscope."""

import collections
import json

import exports
import speedscope_page


class Speedscope(exports.Case):
    FORMAT = "speedscope"

    def test_its_form(self):
        for name in ("torture", "tasks", "cores"):
            data = json.loads(self.export(name).read_text(encoding="utf-8"))
            self.assertRegex(data["nopscope"]["times"], "^times are raw")
            for profile in data["profiles"]:
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                self.assertEqual(profile["startValue"], profile["events"][0]["at"])
                self.assertEqual(profile["endValue"], profile["events"][-1]["at"])

    def test_samples(self):
        data, own = json.loads(self.export("samples").read_text(encoding="utf-8")), collections.Counter()
        for profile in data["profiles"]:
            if profile["type"] == "sampled":
                for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                    own[data["shared"]["frames"][stack[-1]]["name"]] += weight
        self.assertEqual(own, exports.sampled())

    def test_speedscope_imports_hostile_names(self):
        opened, = speedscope_page.opened(self.directory, self.export("hostile"))
        own = {name: time for name, (_, time) in opened.rows.items()}
        expected = exports.by_name(exports.report("hostile")["functions"], "self_ns")
        compared = 0
        for name, (time,) in expected.items():
            if name.isprintable() and name.strip() == name and name:  # HTML changes others
                self.assertAlmostEqual(own[name], time, delta=0.006 * max(time, 1000), msg=name)
                compared += 1
        self.assertGreater(compared, 100)


if __name__ == "__main__":
    exports.main()
