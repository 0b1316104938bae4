#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only some formats have. agree_test.py and sums_test.py compare their figures, others_test.py what they have besides calls."""

import collections
import json
import re

import exports
import kernelshark
import readers
from hostile_names import NAMES

# A line of `uftrace report`.
REPORT = re.compile(r"^ *([\d.]+) (us|ms| s) +([\d.]+) (us|ms| s) +(\d+)  (.*)$")
NS = {"us": 1e3, "ms": 1e6, " s": 1e9}


def uftrace(verb, path, *options):
    return exports.run("uftrace", verb, "--no-pager", "--color=no", "--demangle=no", "-d", path, *options).stdout.decode()


class Formats(exports.Case):
    def test_hostile_names(self):
        """Each format's reader gives them back, without a formula that a table would compute."""
        rows = {row["name"] for row in readers.csv_rows(self.export("hostile", to="csv")) if row["kind"] == "call"}
        quoted = min(name for name in rows if name.startswith(NAMES[0].decode()))
        used = {row["name"] for row in exports.report("hostile")["functions"]}
        self.assertEqual(len(rows - {exports.TRACER, ""}), len(used - {""}))
        self.assertIn("'=1+1", rows)
        self.assertFalse([name for name in rows if name[:1] in "=+-@\t\r" and name])
        names = {readers.ctf_name(readers.CTF_FUNCTION.search(fields)[1])
                 for kind, _, _, _, fields in readers.ctf_events(self.export("hostile", to="ctf")) if kind == "entry"}
        self.assertLessEqual({quoted, *(NAMES[n].decode() for n in (2, 3, 27))}, names)
        self.assertTrue(readers.shell(self.export("hostile", to="sqlite"), f"SELECT id FROM functions WHERE name = '{quoted}'"))
        _, samples, _, text = readers.pprof_raw(self.export("hostile", "--raw", to="pprof"))
        self.check_hostile(sum(values[0] for values, _ in samples))
        self.assertIn(f" M=1 {quoted} ", text)
        lines = readers.folded_lines(self.export("hostile", "--raw", to="folded"))
        self.assertEqual(collections.Counter(len(functions) for functions, _ in lines),
                         collections.Counter(len(path) for path, node in exports.paths("hostile") if node["self_ns"]))

    def test_chrome_has_the_form_that_viewers_need(self):
        for name, options in (("torture", ()), ("tasks", (exports.CUT,)), ("equal", ()), ("torture-54", ()), ("cores", ())):
            last = {}
            for event in readers.chrome_data(self.export(name, *options, to="chrome"))["traceEvents"]:
                self.assertEqual(event["tid"] == 0, event["name"] == "process_name")  # Perfetto: 0 is the process itself
                if event.get("cat") != "call":
                    continue
                self.assertNotIn("args", event)  # speedscope appends them to the name
                if event["ph"] != "i":
                    # If times are equal, speedscope takes an end first. A double has 53 bits.
                    self.assertGreater(float(event["ts"]), last.get(event["tid"], -1))
                    last[event["tid"]] = float(event["ts"])

    def test_chrome_has_the_places(self):
        places = readers.chrome_data(self.export("torture", to="chrome"))["otherData"]["functions"]
        self.assertEqual({place["name"]: (place["file"], place["line"]) for place in places},
                         {row["name"]: (row["file"], row["line"]) for row in exports.report("torture")["functions"] if row["file"]})

    def test_kernelshark_shows_tasks_and_cpus(self):
        for name in ("tasks", "cores"):
            shown = {(line.cpu, line.pid, line.task) for line in kernelshark.entries(self.export(name, to="trace-cmd"))
                     if line.pid != 0 and line.event != "ftrace/print"}  # the console's task is the first one of any core
            tasks = {(row["core"], f"core{row['core']}/{row['context']}") for row in exports.report(name)["contexts"]}
            self.assertEqual({(cpu, task) for cpu, _, task in shown}, tasks)
            self.assertEqual(len({pid for _, pid, _ in shown}), len(tasks))

    def test_the_function_graph_plugin_s_durations(self):
        """One line has "f();". Otherwise an exit without a name ends it."""
        durations = collections.Counter()
        for time, name in re.findall(r"funcgraph_entry: +[+!#*@$]? *([\d.]+) us +\| +(.*)\(\);$",
                                     readers.trace_cmd_report(self.export("tasks", to="trace-cmd")), re.MULTILINE):
            durations[name] += round(1000 * float(time))
        leaves = [row for row in exports.report("tasks")["functions"] if row["self_ns"] == row["total_ns"] > 0]
        self.assertTrue(leaves)
        for row in leaves:
            self.assertAlmostEqual(durations[row["name"]], row["total_ns"], delta=row["calls"], msg=row["name"])

    def test_speedscope_s_form(self):
        for name in ("torture", "tasks", "cores"):
            for profile in json.loads(self.export(name, to="speedscope").read_text(encoding="utf-8"))["profiles"]:
                self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
                self.assertEqual([profile["startValue"], profile["endValue"]], [profile["events"][at]["at"] for at in (0, -1)])

    def test_the_database_is_whole(self):
        for name in ("torture", "tasks", "hostile"):
            path = self.export(name, to="sqlite")
            self.assertEqual(readers.shell(path, "PRAGMA integrity_check"), [{"integrity_check": "ok"}])
            self.assertEqual(readers.shell(path, "SELECT id FROM named_calls WHERE duration_ns > wall_ns"), [])

    def test_the_database_s_parents_are_the_calls_around(self):
        path = self.export("torture", to="sqlite")
        self.assertEqual(readers.shell(path, "SELECT c.id FROM calls c JOIN calls p ON p.id = c.parent WHERE p.track <> c.track OR "
                                             "p.depth <> c.depth - 1 OR p.begin_ns > c.begin_ns OR p.end_ns < c.end_ns"), [])
        counts, = readers.shell(path, "SELECT COUNT(*) FILTER (WHERE parent IS NULL) one, COUNT(*) FILTER (WHERE depth = 0) other, "
                                      "COUNT(*) FILTER (WHERE how = 'unwound') unwound FROM calls")
        self.assertEqual(counts["one"], counts["other"])
        self.assertEqual(counts["unwound"], sum(row["unwound"] for row in exports.report("torture")["functions"]))

    def test_callgrind_s_calls_are_their_own_and_their_callees(self):
        """Time in other contexts and in gaps is an event of its own. KCachegrind's shares and speedscope need that."""
        for name in ("tasks", "contexts", "gaps", "torture", "damaged"):
            for options, key in (((), "corrected_self_ns"), (("--raw",), "self_ns")):
                path = self.export(name, *options, to="callgrind")
                whole = [sum(costs) for costs in zip(*readers.annotate(path).values())]
                root = [costs for (_, of), costs in readers.annotate(path, "--inclusive=yes").items() if of == "(root)"]
                self.assertEqual([sum(costs) for costs in zip(*root)], whole)
                self.assertEqual(whole[0], sum(node[key] for _, node in exports.paths(name)))
                self.assertEqual(whole[1] != 0, name != "torture")

    def test_callgrind_says_that_it_is_a_part(self):
        self.assertRegex(self.export("cores", "--core", "0", to="callgrind").read_text(), r"\ndesc: Part: of the recording, .*0\n")
        self.assertNotIn("desc:", self.export("cores", to="callgrind").read_text())

    def test_callgrind_s_calls(self):
        found, expected = collections.Counter(), collections.Counter()
        for ((_, caller), (_, callee)), calls in readers.calls_of_callees(self.export("torture", "--raw", to="callgrind")).items():
            found[caller, callee] += calls
        for path, node in exports.paths("torture"):
            expected[("(root)", *path)[-2:]] += node["calls"]
        self.assertEqual(found, expected)

    def test_uftrace_s_own_sums(self):
        """They have three digits."""
        for name in ("torture", "tasks", "captured"):
            path, found = self.export(name, to="uftrace"), collections.defaultdict(lambda: [0, 0])
            self.export(name, to="sqlite")
            for match in filter(None, map(REPORT.match, uftrace("report", path).splitlines())):
                found[match[6]][0] += float(match[3]) * NS[match[4]]
                found[match[6]][1] += int(match[5])
            sums = readers.uftrace(path)
            self.assertEqual({of: calls for of, (_, calls) in found.items()}, dict(sums.calls))
            for of, (own, _) in found.items():
                self.assertAlmostEqual(own, sums.self_[of], delta=0.001 * max(own, 1000))

    def test_a_directory_of_somebody_else_is_not_replaced(self):
        path = self.export("tasks", to="uftrace")
        self.export("torture", to="uftrace").rename(self.directory / "other")
        (self.directory / "other" / ".nopscope-export").unlink()
        before = sorted(p.name for p in (self.directory / "other").iterdir())
        done = exports.nopscope("export", exports.recording("tasks"), "--format", "uftrace", "-o", self.directory / "other", status=3)
        self.assertRegex(done.stderr.decode(), "is there and was not made by `nopscope export`")
        self.assertEqual(sorted(p.name for p in (self.directory / "other").iterdir()), before)
        (path / "999.dat").write_bytes(b"")  # from another export; this one removes it
        exports.nopscope("export", exports.recording("tasks"), "--format", "uftrace", "-o", f"{path}/")
        self.assertFalse((path / "999.dat").exists())
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["other", "tasks.uftrace"])

    def test_hostile_names_in_uftrace(self):
        text = uftrace("report", self.export("hostile", to="uftrace"))
        self.check_hostile(sum(int(match[5]) for match in map(REPORT.match, text.splitlines()) if match and match[6] != exports.TRACER))


if __name__ == "__main__":
    exports.main()
