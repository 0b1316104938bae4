#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The database, read by the sqlite3 shell."""

import exports
import hostile_names
import readers


class Sqlite(exports.Case):
    FORMAT = "sqlite"

    query = staticmethod(readers.shell)

    def test_calls_and_times_are_the_report_s(self):
        for name, options in (*exports.RUNS, ("hostile", ())):
            path = self.export(name, *options)
            self.assertEqual(self.query(path, "PRAGMA integrity_check"), [{"integrity_check": "ok"}])
            sums = readers.sqlite_sums(path, exports.Sums(), lambda row: row["name"])
            if name != "hostile":  # control characters are escaped
                self.check_events(name, sums, options)
                self.check_durations(path, name, sums)
            else:
                self.assertEqual(sums.failures, [])
                self.assertEqual(sum(sums.calls.values()) - sums.calls[exports.TRACER], exports.calls_of_hostile())
                self.assertIn(hostile_names.NAMES[0].decode(), sums.calls)

    def check_durations(self, path, name, sums):
        """A call's duration equals the report's. The view of calls has the firmware's calls only."""
        rows = {row["name"]: row for row in self.query(
            path, "SELECT name, COUNT(*) n, SUM(duration_ns) total, MIN(duration_ns) low, MAX(duration_ns) high, "
                  "SUM(wall_ns) wall FROM named_calls GROUP BY name")}
        points = {row["name"] for row in self.query(
            path, "SELECT DISTINCT name FROM points JOIN functions ON functions.id = function")}
        self.assertLessEqual(set(rows), {row["name"] for row in exports.functions(name)})
        for row in exports.functions(name):
            of = row["name"]
            if of in points or not exports.is_plain(name, row):
                continue
            off = exports.rounding(name)
            self.assertEqual(rows[of]["n"], row["calls"])
            self.assertLessEqual(rows[of]["total"], rows[of]["wall"])
            self.assertAlmostEqual(rows[of]["total"], row["total_ns"], delta=off * (1 + sums.total_lengths[of]), msg=(name, of))
        about, = self.query(path, "SELECT value FROM about WHERE key = 'times'")
        self.assertRegex(about["value"], "^times are raw")

    def test_parents_are_the_calls_around(self):
        path = self.export("torture")
        wrong = self.query(path, "SELECT c.id FROM calls c JOIN calls p ON p.id = c.parent WHERE p.track <> c.track OR "
                                 "p.depth <> c.depth - 1 OR p.begin_ns > c.begin_ns OR p.end_ns < c.end_ns")
        self.assertEqual(wrong, [])
        outermost, = self.query(path, "SELECT (SELECT COUNT(*) FROM calls WHERE parent IS NULL) one, "
                                      "(SELECT COUNT(*) FROM calls WHERE depth = 0) other")
        self.assertEqual(outermost["one"], outermost["other"])
        unwound, = self.query(path, "SELECT COUNT(*) n FROM calls WHERE how = 'unwound'")
        self.assertEqual(unwound["n"], sum(row["unwound"] for row in exports.report("torture")["functions"]))

    def test_the_other_tables(self):
        path, report = self.export("captured"), exports.report("captured")
        rows = self.query(path, "SELECT id, COUNT(*) n, MIN(value) low, MAX(value) high FROM counters GROUP BY id")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [(c["id"], c["count"], c["min"], c["max"]) for c in report["counters"]])
        rows = self.query(path, "SELECT name, what, COUNT(*) n, MIN(value) low, MAX(value) high FROM captured "
                                "JOIN functions ON functions.id = function GROUP BY name, what ORDER BY name, what")
        self.assertEqual([tuple(row.values()) for row in rows],
                         sorted((c["name"], c["what"], c["count"], c["min"], c["max"]) for c in report["captured"]))
        rows = self.query(path, "SELECT id FROM marks ORDER BY id")
        self.assertEqual([row["id"] for row in rows], sorted(mark["id"] for mark in report["markers"]))
        rows = self.query(self.export("stream"), "SELECT core, lost, overwritten, dropped FROM gaps")
        self.assertEqual(sorted(tuple(row.values()) for row in rows),
                         sorted((g["core"], g["lost"], g["overwritten"], g["dropped"])
                                for g in exports.report("stream")["gaps_list"]))

    def test_samples(self):
        rows = self.query(self.export("samples"),
                          "SELECT name, COUNT(*) n FROM sample_frames f JOIN functions ON functions.id = function "
                          "WHERE depth = (SELECT MAX(depth) FROM sample_frames g WHERE "
                          "g.sample = f.sample) GROUP BY name")
        self.assertEqual({row["name"]: row["n"] for row in rows}, exports.sampled())


if __name__ == "__main__":
    exports.main()
