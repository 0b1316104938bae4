#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The database, read by the sqlite3 shell."""

import collections

import exports
import hostile_names
import readers


class Sqlite(exports.Case):
    FORMAT = "sqlite"

    query = staticmethod(readers.shell)

    def test_it_is_whole_and_says_that_times_are_raw(self):
        for name in ("torture", "tasks", "hostile"):
            path = self.export(name)
            self.assertEqual(self.query(path, "PRAGMA integrity_check"), [{"integrity_check": "ok"}])
            self.assertRegex(self.query(path, "SELECT value FROM about WHERE key = 'times'")[0]["value"], "^times are raw")
            self.assertEqual(self.query(path, "SELECT id FROM named_calls WHERE duration_ns > wall_ns"), [])
        self.assertTrue(self.query(path, f"SELECT id FROM functions WHERE name = '{hostile_names.NAMES[0].decode()}'"))

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
        path, found = self.export("captured"), {"counter": collections.defaultdict(list), "captured": collections.defaultdict(list)}
        for row in self.query(path, "SELECT id, value FROM counters"):
            found["counter"][row["id"]].append(row["value"])
        for row in self.query(path, "SELECT name, what, value FROM captured JOIN functions ON functions.id = function"):
            found["captured"][row["name"], row["what"]].append(row["value"])
        self.check_others([row["id"] for row in self.query(path, "SELECT id FROM marks")], *found.values())
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
