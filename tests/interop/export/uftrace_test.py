#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The directory, read by uftrace: dump (every event), report and graph."""

import collections
import re

import exports
import readers

REPORT = re.compile(r"^ *([\d.]+) (us|ms| s) +([\d.]+) (us|ms| s) +(\d+)  (.*)$")
GRAPH = re.compile(r"^ *(?:[\d.]+ (?:us|ms| s))? *:([ |+-]*)\((\d+)\) (.*)$")
NS = {"us": 1e3, "ms": 1e6, " s": 1e9}


class Uftrace(exports.Case):
    FORMAT = "uftrace"

    def uftrace(self, verb, path, *options):
        return exports.run("uftrace", verb, "--no-pager", "--color=no", "-d", path, *options).stdout.decode()

    def test_its_own_sums(self):
        """They have three digits."""
        for name in ("torture", "tasks", "captured"):
            path, found = self.export(name), collections.defaultdict(lambda: [0, 0])
            self.export(name, to="sqlite")
            for match in filter(None, map(REPORT.match, self.uftrace("report", path).splitlines())):
                found[match[6]][0] += float(match[3]) * NS[match[4]]
                found[match[6]][1] += int(match[5])
            sums = readers.uftrace(path)
            self.assertEqual({of: calls for of, (_, calls) in found.items()}, dict(sums.calls))
            for of, (own, _) in found.items():
                self.assertAlmostEqual(own, sums.self_[of], delta=0.001 * max(own, 1000))

    def test_graph_has_the_paths(self):
        for name in ("tasks", "captured"):
            text = self.uftrace("graph", self.export(name))
            found, path = collections.Counter(), []
            for line in text.splitlines():
                if match := GRAPH.match(line):
                    # An only child stands below its parent. Others are indented and have a branch.
                    while "+-" in match[1] and path[-1][0] >= len(match[1]):
                        path.pop()
                    path.append((len(match[1]), match[3]))
                    names = tuple(of for _, of in path)[1:]
                    if not {exports.TRACER, exports.AWAY} & set(names):
                        found[names] += int(match[2])
            del found[()]
            expected = collections.Counter()
            for path, node in exports.paths(name):
                expected[path] += node["calls"]
            self.assertEqual(found, expected)

    def test_a_directory_of_somebody_else_is_not_replaced(self):
        path = self.export("tasks")
        self.export("torture").rename(self.directory / "other")
        (self.directory / "other" / ".nopscope-export").unlink()
        before = sorted(p.name for p in (self.directory / "other").iterdir())
        done = exports.run(exports.NOPSCOPE, "export", exports.recording("tasks"), "--format", "uftrace", "-o",
                           self.directory / "other", status=3)
        self.assertRegex(done.stderr.decode(), "is there and was not made by `nopscope export`")
        self.assertEqual(sorted(p.name for p in (self.directory / "other").iterdir()), before)
        (path / "999.dat").write_bytes(b"")  # from another export; this one removes it
        exports.run(exports.NOPSCOPE, "export", exports.recording("tasks"), "--format", "uftrace", "-o", f"{path}/")
        self.assertFalse((path / "999.dat").exists())
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["other", "tasks.uftrace"])

    def test_hostile_names(self):
        text = self.uftrace("report", self.export("hostile"))
        self.check_hostile(sum(int(match[5]) for match in map(REPORT.match, text.splitlines()) if match and match[6] != exports.TRACER))


if __name__ == "__main__":
    exports.main()
