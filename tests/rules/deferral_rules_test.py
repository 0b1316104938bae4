#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of deferral_rules.py is broken by made-up code, and is kept by nearly the same code."""

import types
import unittest

import deferral_rules
from deferral_rules import RESTARTS, UNPUSHES, Rules

BEGIN = 0x40200000
FINISHES_X9, FINISHES_X14 = 32, 64


def rules(*parts):
    """`parts`: (how many instructions, actions), one rule behind the other."""
    made = Rules.__new__(Rules)
    made.begin = made.end = BEGIN
    made.rules = []
    for count, actions in parts:
        made.rules.append(((made.end - BEGIN) // 4, 0, actions))
        made.end += 4 * count
    return made


def faults(parts, *lines):
    code = [(BEGIN + 4 * n, *line.split(" ", 1)) if " " in line else (BEGIN + 4 * n, line, "") for n, line in enumerate(lines)]
    function = types.SimpleNamespace(name="made_up", address=BEGIN, instructions=code)
    return [fault.split(": ", 2)[2] for fault in deferral_rules.faults_of(rules(*parts), function)]


class EachRule(unittest.TestCase):
    def test_code_that_begins_again_has_stored_nothing(self):
        self.assertEqual(faults([(2, RESTARTS)], "str x1, [x10]", "ret "), ["stores, and then begins again"])
        self.assertEqual(faults([(1, RESTARTS), (1, 0)], "str x1, [x10]", "ret "), [])
        self.assertEqual(faults([(2, RESTARTS)], "stxr w16, x1, [x10]", "ret "), [])

    def test_only_the_top_and_its_frame_are_taken_back(self):
        part = [(2, RESTARTS | UNPUSHES)]
        self.assertEqual(faults(part, "stp x9, x13, [x17]", "str x14, [x10, #24]"), [])
        self.assertEqual(faults(part, "str x9, [x15, #8]", "ret "), ["a store that nothing takes back"])

    def test_code_that_finishes_keeps_its_exit(self):
        for actions, exit_register, other in ((FINISHES_X9, "x9", "x14"), (FINISHES_X14, "x14", "x9")):
            part = [(2, actions)]
            self.assertEqual(faults(part, f"add {exit_register}, x1, #8", f"ret {exit_register}"),
                             ["it has another value if an interrupt was deferred"])
            self.assertEqual(faults(part, f"str w{exit_register[1:]}, [x2]", f"ret {exit_register}"),
                             ["it has another value if an interrupt was deferred"])
            self.assertEqual(faults(part, f"add {other}, x1, #8", f"ret {exit_register}"), [])

    def test_code_that_finishes_calls_nothing(self):
        self.assertEqual(faults([(2, FINISHES_X9)], f"bl {BEGIN:x} <made_up>", "ret x9"), ["a call with interrupts masked"])
        self.assertEqual(faults([(2, FINISHES_X9)], "blr x3", "ret x9"), ["a call with interrupts masked"])
        self.assertEqual(faults([(2, 0)], "blr x3", "ret x9"), [])

    def test_it_goes_on_only_where_it_finishes_alike(self):
        parts = [(1, FINISHES_X9), (1, FINISHES_X14)]
        self.assertEqual(faults(parts, f"b.ne {BEGIN + 4:x} <made_up+0x4>", "ret x14"), ["goes on where another rule holds"])
        self.assertEqual(faults([(2, FINISHES_X9)], f"cbz x1, {BEGIN + 4:x} <made_up+0x4>", "ret x9"), [])
        self.assertEqual(faults([(1, FINISHES_X9)], f"b {BEGIN + 0x400:x} <elsewhere>"), ["goes on where another rule holds"])


if __name__ == "__main__":
    unittest.main()
