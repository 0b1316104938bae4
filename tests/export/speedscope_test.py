#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope's file: by the published format, and imported by speedscope itself, in headless Chromium.

From the environment besides: NOPSCOPE_SPEEDSCOPE, speedscope's release as npm has it.
"""

import base64
import collections
import html
import json
import os
import pathlib
import re
import tempfile

import exports

NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "": 1}
CELL = r'<td class="\w+">([\d.]+)(ns|µs|ms|s|) \([^)]*\)<div.*?</td>'
ROW = re.compile(CELL + CELL + r"<td[^>]*><span[^>]*></span>(.*?)</td></tr>", re.DOTALL)


class Speedscope(exports.Case):
    FORMAT = "speedscope"

    def load(self, name):
        data = json.loads(self.export(name).read_text(encoding="utf-8"))
        return data, [frame["name"] for frame in data["shared"]["frames"]]

    def test_calls_and_times_are_the_report_s(self):
        for name in (*exports.WITH_CALLS, "hostile"):
            data, frames = self.load(name)
            sums = exports.Sums()
            events = []
            for number, profile in enumerate(data["profiles"]):
                core = int(profile["name"].split(",")[0].removeprefix("core "))
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                self.assertEqual(profile["startValue"], profile["events"][0]["at"])
                self.assertEqual(profile["endValue"], profile["events"][-1]["at"])
                events += [(event["at"], number, core, event) for event in profile["events"]]
            events.sort(key=lambda event: event[0])
            for at, number, core, event in events:
                if event["type"] == "O":
                    sums.begin(number, frames[event["frame"]], at, core)
                else:
                    sums.end(number, at, core, frames[event["frame"]])
            self.check_events(name, sums)

    def test_samples(self):
        data, frames = self.load("samples")
        expected = exports.by_name(exports.report("samples")["samples"]["functions"], "self")
        self.assertEqual(own_samples(data, frames), {of: count for of, (count,) in expected.items() if count})

    def imported(self, data, profile):
        """{function: (total, self)} of speedscope's table of a profile."""
        script = self.directory / "profile.js"
        text = json.dumps(data | {"activeProfileIndex": profile}).encode()
        script.write_text(f"speedscope.loadFileFromBase64('x.json', '{base64.b64encode(text).decode()}')")
        page = pathlib.Path(os.environ["NOPSCOPE_SPEEDSCOPE"]) / "index.html"
        rows = []
        for _ in range(5):  # the page may be taken before it is drawn
            done = exports.run("chromium", "--headless", "--no-sandbox", "--enable-unsafe-swiftshader",
                               f"--user-data-dir={tempfile.mkdtemp(dir=self.directory)}", "--window-size=1400,12000",
                               "--virtual-time-budget=20000", "--dump-dom",
                               f"{page.as_uri()}#localProfilePath={script}&view=sandwich")
            if rows := ROW.findall(done.stdout.decode()):
                break
        self.assertTrue(rows, "speedscope shows no table")
        sums = collections.defaultdict(lambda: (0, 0))
        for total, total_unit, own, own_unit, name in rows:
            before = sums[html.unescape(name)]
            sums[html.unescape(name)] = (before[0] + float(total) * NS[total_unit], before[1] + float(own) * NS[own_unit])
        return sums

    def test_speedscope_imports_it(self):
        data, _ = self.load("tasks")
        self.assertEqual(len(data["profiles"]), 3)
        own = collections.Counter()
        for number in range(3):
            for name, (_, time) in self.imported(data, number).items():
                own[name] += time
        for name, (time,) in exports.by_name(exports.report("tasks")["functions"], "self_ns").items():
            self.assertAlmostEqual(own[name], time, delta=30, msg=name)  # two digits of microseconds each

    def test_speedscope_imports_samples(self):
        data, frames = self.load("samples")
        number, = (n for n, profile in enumerate(data["profiles"]) if profile["type"] == "sampled")
        found = self.imported(data, number)
        for name, count in own_samples(data, frames).items():
            self.assertEqual(found[name][1], count, name)

    def test_speedscope_imports_hostile_names(self):
        data, _ = self.load("hostile")
        own = {name: time for name, (_, time) in self.imported(data, 0).items()}
        expected = exports.by_name(exports.report("hostile")["functions"], "self_ns")
        compared = 0
        for name, (time,) in expected.items():
            if name.isprintable() and name.strip() == name and name:  # else HTML has it in another form
                self.assertAlmostEqual(own[name], time, delta=0.006 * max(time, 1000), msg=name)
                compared += 1
        self.assertGreater(compared, 100)


def own_samples(data, frames):
    own = collections.Counter()
    for profile in data["profiles"]:
        if profile["type"] == "sampled":
            for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                own[frames[stack[-1]]] += weight
    return own


if __name__ == "__main__":
    exports.main()
