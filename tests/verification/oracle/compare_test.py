#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compare tool notices every kind of wrong count. That the plugin counts what ran: tests/e2e/oracle_test.py."""

import copy
import unittest

import compare

REPORT = {"integrity": {"generated": 1045, "delivered": 1045, "dropped": 0, "corrupt_frames": 0, "gaps": 0},
          "functions": [{"name": "first", "address": "0x1000", "calls": 1005}, {"name": "second", "address": "0x2000", "calls": 40}]}
ORACLE = {"functions": [{"address": "0x1000", "calls": 1005}, {"address": "0x2000", "calls": 40}, {"address": "0x3000", "calls": 0}]}
INVENTED = {"name": "invented", "address": "0x4000", "calls": 1}
WRONG = (
    (lambda report: report["functions"][0].update(calls=1004), "first: nopscope 1004, oracle 1005"),
    (lambda report: report["functions"][0].update(calls=1006), "first: nopscope 1006, oracle 1005"),
    (lambda report: report["functions"].pop(), r"not in the report\): nopscope 0, oracle 40"),
    (lambda report: report["functions"].append(INVENTED), "invented: nopscope 1, oracle 0"),
    (lambda report: report["integrity"].update(dropped=1), "integrity.dropped is 1"),
    (lambda report: report["integrity"].update(corrupt_frames=1), "integrity.corrupt_frames is 1"),
    (lambda report: report["integrity"].update(gaps=1), "integrity.gaps is 1"),
    (lambda report: report["integrity"].update(generated=1046), "integrity: generated is not"),
)


class Compare(unittest.TestCase):
    def test_equal_counts_agree(self):
        self.assertEqual(compare.differences(REPORT, ORACLE), [])

    def test_each_difference_is_noticed(self):
        for change, said in WRONG:
            report = copy.deepcopy(REPORT)
            change(report)
            self.assertRegex(compare.differences(report, ORACLE)[0], said)

    def test_a_run_that_traced_nothing_is_noticed(self):
        self.assertEqual(compare.differences(REPORT | {"functions": []}, {"functions": []}), ["the oracle saw no traced call at all"])


if __name__ == "__main__":
    unittest.main()
