#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All views and exports of a recording agree (docs/exports.md, "Which figures agree"). Each has a
reader of its own (readers.py); RULES says which figures of two formats must be equal.
"""

import pathlib
import tempfile
import unittest

import exports
import readers
from exports import AWAY, TRACER

RECORDINGS = ("begin", "tasks", "cores", "damaged")
GAPS = ("damaged",)
CORES = ("cores",)
MOST_SHOWN = 12

EXACT = 0
ONE_NS_A_CALL = 1

# Two kinds of formats, the figures that must be equal, in which recordings, and by how much they
# may differ. "raw": `report --raw` and `graph --raw`. "corrected": all sum formats without it.
ANY, NO_GAPS = "any", "no gaps"
RULES = [
    ("corrected", "corrected", ("calls", "total", "self", "inclusive", "paths", "min", "mean", "max", "doubtful"), ANY, EXACT),
    ("raw", "raw", ("calls", "total", "self", "inclusive", "paths"), ANY, EXACT),
    ("corrected", "raw", ("calls",), ANY, EXACT),
    ("corrected", "events", ("calls",), ANY, EXACT),
    ("raw", "events", ("calls",), ANY, EXACT),
    ("raw", "events", ("total", "self", "max"), NO_GAPS, ONE_NS_A_CALL),
    ("events", "events", ("calls",), ANY, EXACT),
    ("events", "events", ("total", "self", "stamps"), ANY, ONE_NS_A_CALL),
]


def coarser(one, other):
    """Returns the finest of readers.LEVELS that both formats have."""
    order = list(readers.LEVELS)
    return order[max(order.index(one.level), order.index(other.level))]


class Compared:
    """Two formats of one recording."""

    def __init__(self, run, one, other):
        self.one, self.other = one, other
        self.level = coarser(one, other)
        self.places = {row["address"]: (row["file"], row["line"]) for row in run.report["functions"]}
        self.who = f"{run.name}: {one.format} and {other.format}"
        self.failures = []

    def key(self, of):
        if of.address in self.places and of.file is None:
            of = of._replace(file=self.places[of.address][0], line=self.places[of.address][1])
        # Entries that are no functions of the firmware have a name only.
        key = of.name if of.name.startswith("(") else readers.LEVELS[self.level](of)
        spelt = self.spelt
        return (spelt(key[0]), *key[1:]) if isinstance(key, tuple) else spelt(key)

    def spelt(self, name):
        return self.one.spelt(self.other.spelt(name))

    def projected(self, reading, figure):
        """Returns {key: sum}, and the keys that several functions of the reading share."""
        sums, shared = {}, set()
        for of, row in reading.figures.items():
            if of.name in (TRACER, AWAY, readers.kernel_name(AWAY)):
                continue
            key = self.key(of)
            if key in sums:
                shared.add(key)
            sums[key] = sums.get(key, 0) + (row.get(figure) or 0)
        return sums, shared

    def has(self, reading, figure):
        return any(figure in row for row in reading.figures.values())

    def compare(self, figure, tolerance):
        if figure == "paths":
            return self.compare_paths()
        if figure == "stamps":
            return self.compare_stamps()
        if not self.has(self.one, figure) or not self.has(self.other, figure):
            return None
        (ours, shared), (theirs, also) = self.projected(self.one, figure), self.projected(self.other, figure)
        calls = self.projected(self.one, "calls")[0]
        for key in sorted(set(ours) | set(theirs), key=str):
            # If a format has one entry for two functions, and these call each other, its total is
            # not the sum of theirs.
            if figure in ("total", "max") and key in shared ^ also:
                continue
            room = tolerance * (1 if figure == "max" else calls.get(key, 0))
            if abs(ours.get(key, 0) - theirs.get(key, 0)) > room:
                self.fail(figure, key, ours.get(key), theirs.get(key))
        return None

    def compare_paths(self):
        if self.one.paths is None or self.other.paths is None:
            return
        figures = ("calls", "self") if all("calls" in row for reading in (self.one, self.other)
                                           for row in reading.paths.values()) else ("self",)
        for path in sorted(set(self.one.paths) | set(self.other.paths)):
            for figure in figures:
                ours, theirs = (reading.paths.get(path, {}).get(figure, 0) for reading in (self.one, self.other))
                if ours != theirs:
                    self.fail(f"{figure} by path", ";".join(path), ours, theirs)

    def compare_stamps(self):
        """Compares all calls by core, begin and end. The two axes may have different zeros."""
        sides = []
        if self.one.calls is None or self.other.calls is None:
            return
        if not self.one.calls or not self.other.calls:
            self.fail("stamps", "all", len(self.one.calls), len(self.other.calls))
            return
        for reading in (self.one, self.other):
            zero = min(call[2] for call in reading.calls)
            sides.append(sorted((core, begin - zero, zero - end, self.name_of(of))
                                for core, of, begin, end in reading.calls))
        for ours, theirs in zip(*sides):
            if ours[0] != theirs[0] or any(abs(a - b) > 1 for a, b in zip(ours[1:3], theirs[1:3])):
                self.fail("stamps", ours[3], f"core {ours[0]}, {ours[1]} to {-ours[2]}",
                          f"core {theirs[0]}, {theirs[1]} to {-theirs[2]} of {theirs[3]}")

    def name_of(self, of):
        return self.spelt(of.name if isinstance(of, readers.Function) else of)

    def fail(self, figure, key, ours, theirs):
        name = key if isinstance(key, str) else " ".join(map(str, key))
        self.failures.append(f"{self.who}: {figure} of {name}: {ours} and {theirs}")


class Agree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.runs = {name: exports.Run(name, directory) for name in RECORDINGS}
        cls.readings = {}

    def read(self, name):
        """Returns [(kind, Reading)] of a recording."""
        if name not in self.readings:
            run = self.runs[name]
            self.readings[name] = [
                *(("corrected", read(run)) for read in readers.SUMS.values()),
                *(("raw", read(run, True)) for read in (readers.report, readers.graph, readers.query_sums)),
                *(("events", read(run)) for read in readers.EVENTS.values())]
        return self.readings[name]

    def check(self, failures):
        if failures:
            more = len(failures) - MOST_SHOWN
            self.fail("\n".join(["", *failures[:MOST_SHOWN], *([f"and {more} more"] if more > 0 else [])]))

    def test_recordings_are_what_they_should_be(self):
        for name, run in self.runs.items():
            integrity = run.report["integrity"]
            self.assertEqual(integrity["gaps"] > 0, name in GAPS, f"{name}: {integrity}")
            cores = {call[0] for kind, reading in self.read(name) if kind == "events" for call in reading.calls or ()}
            self.assertEqual(len(cores), 2 if name in CORES else 1, name)
            self.assertGreater(sum(row["calls"] for row in run.report["functions"]), 100, name)

    def test_each_reads_well(self):
        for name in RECORDINGS:
            for _, reading in self.read(name):
                with self.subTest(recording=name, format=reading.format):
                    self.check(reading.failures)

    def test_graph_s_text_is_its_json(self):
        for name, run in self.runs.items():
            with self.subTest(recording=name):
                self.check(readers.graph_text(run, run.graph))

    def test_all_agree_with_all(self):
        for name, run in self.runs.items():
            read = self.read(name)
            for number, (kind, one) in enumerate(read):
                for other_kind, other in read[number + 1:]:
                    compared = Compared(run, one, other)
                    for of, and_of, figures, where, tolerance in RULES:
                        if (of, and_of) == (kind, other_kind) and (where == ANY or name not in GAPS):
                            for figure in figures:
                                compared.compare(figure, tolerance)
                    with self.subTest(recording=name, formats=(one.format, other.format)):
                        self.check(compared.failures)


if __name__ == "__main__":
    exports.main()
