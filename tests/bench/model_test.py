#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each recorder has the expected mispredicted returns, and the model of cycles is complete.

    model_test.py MACHINE
"""

import copy
import itertools
import json
import sys
import unittest

import bench
import mca
import measured
import model
import returns

OF_ANCESTORS = "returns of unhooked"
# Recorders in assembly only, for which the bench has a row of the same name.
ASSEMBLY = ("function", "graph", "profile", "duration", "graph, one event")


def bench_instructions():
    """Returns a call's instructions by recorder, from the bench's baseline."""
    figures = next(machines[MACHINE] for machines in bench.load_baseline().values() if MACHINE in machines)
    return {recorder: figures[f"{recorder}//1/0"][0] / bench.CALLS for recorder in ASSEMBLY}


class Returns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = returns.chain(MACHINE)
        cls.counts = returns.counts(cls.rows)

    def test_each_count_is_the_expected_one(self):
        self.assertEqual(list(model.differences(MACHINE, self.counts, model.load_expected())), [],
                         "if this is meant: ./dev bench --model --update-baseline")

    def test_a_count_that_differs_is_noticed_in_either_direction(self):
        expected, tried = {MACHINE: self.counts}, 0
        kinds = (OF_ANCESTORS, "returns of own", "returns of hook", "branches of hook")
        for row, whose, stack, by in itertools.product(self.counts, kinds, range(3), (1, -1)):
            changed = copy.deepcopy(self.counts)
            changed[row].setdefault(whose, [0, 0, 0])[stack] += by
            found = list(model.differences(MACHINE, changed, expected))
            self.assertEqual(len(found), 1, (row, whose, found))
            tried += 1
        self.assertGreater(tried, 500)
        fewer = {row: of for row, of in self.counts.items() if row != "graph/4"}
        self.assertEqual(len(list(model.differences(MACHINE, fewer, expected))), 1)
        self.assertEqual(len(list(model.differences(MACHINE, {}, {}))), 1)

    def test_no_ancestor_is_mispredicted(self):
        self.assertEqual(list(model.surplus(MACHINE, self.counts)), [])

    def test_the_gate_can_fail(self):
        def of_function(row):
            return self.counts[f"function/{row.split('/')[1]}"].get(OF_ANCESTORS, [0, 0, 0])
        clean = {row: of | {OF_ANCESTORS: list(of_function(row))} for row, of in self.counts.items()}
        self.assertEqual(list(model.surplus(MACHINE, clean)), [])
        tried = 0
        for row, stack in itertools.product(clean, range(3)):
            dirty = copy.deepcopy(clean)
            dirty[row][OF_ANCESTORS][stack] += 1
            # A full stack may lose more entries.
            wanted = 1 if of_function(row)[stack] == 0 and not row.startswith("function/") else 0
            self.assertEqual(len(list(model.surplus(MACHINE, dirty))), wanted, (row, stack))
            tried += wanted
        self.assertGreater(tried, 50)

    def test_every_call_was_recorded_and_nothing_is_mispredicted_without_tracing(self):
        for name, row in self.rows.items():
            self.assertEqual(row["calls"], 0 if name.startswith("off/") else returns.CHAIN_CALLS, name)
        for name in ("off/0", "off/1", "off/4"):  # the stacks are deep enough
            self.assertEqual([of["missed"] for of in self.rows[name]["returns"].values()], [[0, 0, 0]] * 5, name)


class Measured(unittest.TestCase):
    """A board's output. Under QEMU its cycles are instructions."""

    @classmethod
    def setUpClass(cls):
        cls.rows = {f"{recorder}/{above}": {"calls": 100, "cycles": 100 * (7 + 6 * above + of_call + above * of_each),
                                            "instructions": 100 * (7 + 6 * above), "mispredicted": missed}
                    for recorder, of_call, of_each, missed in (("off", 0, 0, 0), ("graph", 150, 16, None))
                    for above in (0, measured.ABOVE)}

    def sent(self, without=None):
        return b"\x00\xff noise\n" + b"".join(b"@chain " + json.dumps({"row": name} | row).encode() + b"\r\n"
                                              for name, row in self.rows.items() if name != without)

    def test_a_board_s_rows_are_read(self):
        self.assertEqual(measured.figures(measured.read(self.sent(), "sent"))["graph"],
                         {"cycles": (150, 16), "instructions": (0, 0), "mispredicted": (None, None)})

    def test_rows_that_are_missing_or_cut_are_refused(self):
        for sent, said in (*((self.sent(name), "no row") for name in self.rows), (self.sent()[:-9], "not whole")):
            with self.assertRaisesRegex(SystemExit, said):
                measured.read(sent, "sent")

    def test_the_image_sends_them(self):
        figures = measured.figures(measured.read(returns.run_both(MACHINE, "chain")[1].encode(), "sent"))
        for recorder, of in figures.items():
            self.assertEqual(of["instructions"][1], 0, recorder)
        for recorder, instructions in bench_instructions().items():
            self.assertEqual(figures[recorder]["instructions"][0], instructions, recorder)


class Cycles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counts, cls.cycles = model.measure(MACHINE)

    def test_every_recorder_is_there_on_every_core(self):
        cores = model.load_constants()
        recorders = {row["recorder"] for row in self.cycles}
        self.assertGreaterEqual(recorders, {*ASSEMBLY, "return callback"})
        self.assertEqual({(row["recorder"], row["core"]) for row in self.cycles},
                         {(recorder, core) for recorder in recorders for core in cores})

    def test_its_instructions_are_those_that_the_bench_counts(self):
        known = bench_instructions()
        for row in self.cycles:
            self.assertEqual(row["instructions"], known.get(row["recorder"], row["instructions"]), row["recorder"])

    def test_a_figure_lies_between_its_bounds_and_a_total_is_the_sum_of_its_parts(self):
        parts = ("llvm_mca", "constants", "penalty")
        for row in self.cycles:
            for key in (*parts, "total", "per_ancestor"):
                self.assertTrue(row[key].low <= row[key].value <= row[key].high, (row, key))
            self.assertGreater(row["total"].low, 0, row)
            for bound in ("value", "low", "high"):
                self.assertAlmostEqual(getattr(row["total"], bound), sum(getattr(row[key], bound) for key in parts))

    def test_the_round_that_was_written_down_is_like_the_others(self):
        for row in self.cycles:
            self.assertEqual(row["mispredicted"], sum(missed[2] for missed in self.counts[f"{row['recorder']}/0"].values()))
            self.assertEqual(row["mispredicted_per_ancestor"] * model.ABOVE,
                             self.counts[f"{row['recorder']}/{model.ABOVE}"].get(OF_ANCESTORS, [0, 0, 0])[2])

    def test_llvm_mca_says_what_is_known_of_simple_code(self):
        add, call = 0x91000400, 0x94000001  # add x0, x0, #1; bl .+4
        for core in model.load_constants():
            (adds, calls), _ = mca.cycles(core, [[add] * 50, [call] * 10], 100)
            self.assertAlmostEqual(adds / 100, 50, delta=2, msg=core)
            self.assertLess(calls / 100, 21, core)
        path = [["0x0", hex(add), 0], ["0x4", hex(add), 4], ["0x8", hex(call), 3]]
        self.assertEqual(model.stretches(path, 2), [[add, add], [call]])

    def test_what_llvm_mca_does_not_know_is_counted(self):
        counts = {row["recorder"]: row["counts"] for row in self.cycles}
        # recorders.S: one claim each at entry and return, with reads of clock and core register.
        self.assertEqual(counts["function"], {"clock_read": 1, "exclusive_pair": 1, "register_read": 1})
        self.assertEqual(counts["graph"], {"clock_read": 2, "exclusive_pair": 2, "register_read": 2})
        self.assertEqual(counts["graph, one event"]["event_read"], 4)

    def test_llvm_has_the_models_that_the_docs_say(self):
        self.assertEqual({row["core"]: row["scheduling_model"] for row in self.cycles},
                         {"cortex-a55": "A55", "cortex-a72": "A57", "cortex-a76": "A57", "neoverse-n1": "N1"})

    def test_every_constant_has_a_source(self):
        cores = json.loads(model.CONSTANTS.read_text())["cores"]
        self.assertEqual(len({frozenset(of) for of in cores.values()}), 1)
        for core, name, of in ((core, name, of) for core, constants in cores.items() for name, of in constants.items()):
            self.assertTrue(of["source"] and of["low"] <= of["value"] <= of["high"], (core, name))

    def test_the_docs_have_the_constants(self):
        text = (model.HERE.parent.parent / "docs/bench.md").read_text()
        cores = model.load_constants()
        self.assertIn("| | " + " | ".join(cores) + " |", text)
        for name in next(iter(cores.values())):
            if name != "llvm_mca":
                self.assertIn(f"| `{name}` | " + " | ".join(str(of[name]) for of in cores.values()) + " |", text)


if __name__ == "__main__":
    MACHINE = sys.argv.pop(1)
    unittest.main()
