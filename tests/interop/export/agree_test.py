#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls and times of an event format are those of `nopscope report` (docs/exports.md, "Which figures agree"). readers.py has
a reader of each.

    agree_test.py FORMAT [--rest]      --rest: of the other recordings
"""

import sys

import exports
import readers
from exports import CUT

# Recordings, and options of `export`.
SOME = [("torture",), ("stream",), ("tasks",), ("tasks", CUT), ("tasks-62",), ("cores",), ("equal",), ("begin",),
        ("damaged",), ("hostile",)]
REST = [("contexts",), ("captured",), ("gaps",), ("pauses",), ("torture-54",), ("torture-54", CUT), ("tasks-54",), ("deep",)]
STAMPED = ("begin", "tasks", "cores", "damaged")  # each call is compared
# These spell hostile names as `report` does.
OF_ANY_NAME = ("chrome", "perfetto", "speedscope")


def stamps(sums, spelt=str):
    """Returns (core, begin, -end, name) of each call, with the first one's begin as 0."""
    zero = min(begin for _, _, begin, _ in sums.ended)
    return sorted((core, begin - zero, zero - end, spelt(of if isinstance(of, str) else of[0])) for core, of, begin, end in sums.ended)


class Agree(exports.Case):
    def read(self, name, *options):
        path = self.export(name, *options, to={"kernelshark": "trace-cmd"}.get(FORMAT, FORMAT))
        if FORMAT == "uftrace":
            self.export(name, *options, to="sqlite")
        return readers.EVENTS[FORMAT][2](path)

    def test_calls_and_times_are_the_report_s(self):
        level, spelt, _ = readers.EVENTS[FORMAT]
        for name, *options in REST if "--rest" in sys.argv else SOME:
            sums = self.read(name, *options)
            if name == "hostile" and FORMAT not in OF_ANY_NAME:
                self.assertEqual(sums.failures, [])
                self.check_hostile(sums.calls)
                continue
            self.check_events(name, sums, options, level, spelt)
            if name in STAMPED and FORMAT != "csv" and not options:
                self.check_stamps(name, stamps(sums), spelt)

    def check_stamps(self, name, calls, spelt):
        """The two axes may have different zeros."""
        expected = stamps(readers.csv_sums(self.export(name, to="csv")), spelt)
        self.assertGreater(len(expected), 100)
        self.assertEqual({call[0] for call in calls}, {0, 1} if name == "cores" else {0})
        self.assertEqual(len(calls), len(expected))
        for ours, theirs in zip(calls, expected):
            if ours[0] != theirs[0] or any(abs(a - b) > 1 for a, b in zip(ours[1:3], theirs[1:3])):
                self.fail(f"{name}: core, begin, -end and name are {ours} and in csv {theirs}")


if __name__ == "__main__":
    FORMAT = sys.argv[1]
    exports.main(argv=sys.argv[:1])
