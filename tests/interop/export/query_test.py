#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `query` with the sqlite3 shell's answers on the exported database."""

import csv
import io
import json
import pathlib
import re

import exports

CALLS = "SELECT name, COUNT(*) AS calls, SUM(self_ns) AS own, AVG(depth) AS depth FROM named_calls GROUP BY name ORDER BY name"


def query(path, sql, *options, status=0, **process):
    return exports.nopscope("query", path, sql, *options, status=status, **process)


def answer(path, sql, **process):
    return json.loads(query(path, sql, "--format", "json", **process).stdout)


WRITES = ("DELETE FROM calls", "DROP TABLE calls", "CREATE TABLE x (y)", "PRAGMA journal_mode = delete", "BEGIN",
          "ATTACH 'other.db' AS other", "VACUUM INTO 'other.db'")


class Query(exports.Case):
    FORMAT = "sqlite"

    def test_answers_are_those_of_the_sqlite3_shell(self):
        for name in ("torture", "contexts", "hostile"):
            database, recording = self.export(name), exports.recording(name)
            shell = json.loads(exports.run("sqlite3", "-json", database, CALLS).stdout.decode())
            self.assertTrue(shell)
            for source, given in ((recording, None), (database, None), ("/dev/stdin", recording.read_bytes())):
                self.assertEqual(answer(source, CALLS, input=given), shell)
            rows = list(csv.reader(io.StringIO(query(database, CALLS, "--format", "csv").stdout.decode())))
            self.assertEqual(rows[0], ["name", "calls", "own", "depth"])
            self.assertEqual([int(row[1]) for row in rows[1:]], [row["calls"] for row in shell])
            # A shown name takes one line, whatever its bytes are.
            self.assertEqual(query(database, CALLS).stdout.count(b"\n"), len(shell) + 1)

    def test_the_queries_of_the_pages_agree_with_report(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        readme = re.search(r"nopscope query run.nsc '([^']*)'", (root / "README.md").read_text())[1]
        cli = re.search(r'nopscope query run.nsc "([^"]*)"', (root / "docs/cli.md").read_text())[1]
        for name in ("tasks", "demo"):
            rows = answer(exports.recording(name), readme)
            hottest = sorted((-row["corrected_self_ns"], row["calls"]) for row in exports.functions(name))[:10]
            self.assertEqual([(-row["self_ns"], row["calls"]) for row in rows], hottest)
            self.assertGreater(min(len(rows), len(answer(exports.recording(name), cli))), 5)
        slowest, inside = re.search(r"```sql\n(.*?;)\n(.*?;)\n```", (root / "docs/exports.md").read_text(), re.DOTALL).groups()
        first, *_ = answer(exports.recording("demo"), slowest)
        of = next(row for row in exports.functions("demo") if row["name"] == "luaV_execute")
        if of["open"] == 0:  # where the demo's blocks end depends on the host's load
            self.assertEqual(first["duration_ns"], of["max_ns"])
        children = answer(exports.recording("demo"), inside.replace("4711", str(first["id"])))
        self.assertNotIn(exports.TRACER, [row["name"] for row in children])
        self.assertLessEqual(sum(row["SUM(duration_ns)"] for row in children), first["duration_ns"])

    def test_what_a_column_can_be(self):
        sql = "SELECT NULL AS a, -1 AS b, 2.5 AS c, '=1+1,\"' AS d"
        for asked, options, said in ((sql, (), "a   b    c  d\n   -1  2.5  =1+1,\"\n"),
                                     (sql, ("--format", "csv"), '"a","b","c","d"\n,-1,2.5,"\'=1+1,"""\n'),
                                     ("SELECT id FROM calls WHERE id < 0", ("--format", "json"), "[]\n")):
            self.assertEqual(query(exports.recording("torture"), asked, *options).stdout.decode(), said)

    def test_what_makes_no_sense_is_one_sentence(self):
        database = self.export("torture")
        before = database.read_bytes()
        for sql, said in (("SELECT x FROM calls", "no such column: x"), ("", "the query is empty"),
                          ("SELECT 1; SELECT 2", "more than one statement"),
                          *((sql, "must be a SELECT") for sql in WRITES)):
            for source in (database, exports.recording("torture")):
                done = query(source, sql, status=2)
                self.assertIn(said, done.stderr.decode(), sql)
                self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(database.read_bytes(), before)
        self.assertEqual([path.name for path in self.directory.iterdir()], [database.name])
        self.assertIn("self_ns", query(database, "PRAGMA table_info(calls)").stdout.decode())
        query(self.directory / "none.nsc", "SELECT 1", status=3)


if __name__ == "__main__":
    exports.main()
