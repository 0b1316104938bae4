#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of the demo: together with the graph recorder, and alone, with a NOP at every site.

    samples_test.py MACHINE
"""

import collections
import sys
import unittest

import machines
from machines import sites

MACHINE = sys.argv.pop(1)
HZ = 20_000
WORDS = [f"samples={HZ}", "baud=0", "cores=1"]


def edges(nodes):
    """Returns (caller, callee) pairs by address."""
    return {(nodes[n["parent"]]["address"], n["address"]) for n in nodes if n["parent"] is not None}


def branches(image, function):
    """Yields (mnemonic, target) of each of the function's branches. The target of BR and BLR is None."""
    for at in range(function, image.ends.get(function, function), 4):
        word = image.word(at)
        if word & 0xFFDFFC1F == 0xD61F0000:
            yield "BLR" if word >> 21 & 1 else "BR", None
        elif word >> 26 & 0x1F == 0b00101:
            yield "BL" if word >> 31 else "B", at + 4 * ((word & 0x3FFFFFF ^ 1 << 25) - (1 << 25))
        elif word >> 24 == 0x54 or word >> 25 & 0x3F == 0b011010:  # B.cond, CBZ, CBNZ
            yield "B", at + 4 * ((word >> 5 & 0x7FFFF ^ 1 << 18) - (1 << 18))


def jumps_to(image, function):
    """The functions to which a function may branch at its end: their addresses, or None for any."""
    targets = {target for name, target in branches(image, function) if name in ("B", "BR")}
    return None if None in targets else {target for target in targets if not function <= target < image.ends[function]}


def may_call_itself(image, function):
    return any(name in ("BR", "BLR") or (name, target) == ("BL", function) for name, target in branches(image, function))


class BesideTheGraphRecorder(machines.Recorded):
    MACHINE, IMAGE, WORDS = MACHINE, "demo", [*WORDS, "rounds=6"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.graph = cls.run_.json("graph")

    def test_all_is_there(self):
        self.ended()
        samples = self.report["samples"]
        self.assertEqual(sum(f["self"] for f in samples["functions"]), samples["count"])
        # No samples come while the tracer waits for the line.
        self.assertGreater(samples["count"], 1000)
        self.assertLess(samples["count"], self.report["duration_ns"] / 1e9 * HZ)

    def test_the_shares_are_the_graph_s(self):
        """Compares traced functions only, because samples also hit the tracer."""
        traced = {f["name"]: f["corrected_self_ns"] for f in self.report["functions"]}
        sampled = collections.Counter({f["name"]: f["self"] for f in self.report["samples"]["functions"] if f["name"] in traced})
        time, count = sum(traced.values()), sum(sampled.values())
        self.assertGreater(count, 500)
        for name, ns in traced.items():
            share = ns / time
            deviation = 4 * (share * (1 - share) / count) ** 0.5
            # The graph's times contain the samples' overhead, and a tail call's share of recording.
            self.assertAlmostEqual(sampled[name] / count, share, delta=deviation + 0.03, msg=name)
        self.assertEqual(max(traced, key=traced.get), sampled.most_common(1)[0][0])

    def test_who_calls_whom_is_as_in_the_graph(self):
        """Except for functions that left by a branch to another: they have no frame record."""
        image = sites.Image(self.run_.elf)
        callees = collections.defaultdict(set)
        for caller, callee in edges(self.graph["nodes"]):
            callees[caller].add(callee)
        traced = {n["address"] for n in self.graph["nodes"]}
        jumps = {int(a, 16): jumps_to(image, int(a, 16)) for a in traced}

        def closure(begin, following):
            reached, new = set(), set(begin)
            while new:
                reached |= new
                new = {to for step in new for to in following(step)} - reached
            return reached

        def jumped_to(begin):
            """Also through others: a function in the middle of a chain of branches is no parent in the graph."""
            reached = closure([int(begin, 16)], lambda step: jumps.get(step, ()) or ())
            unknown = any(jumps.get(step, ()) is None for step in reached)
            return callees[begin] if unknown else {c for c in callees[begin] if int(c, 16) in reached}

        def leads(caller, callee):
            """Whether calls lead there of which all but the first are branches."""
            return callee in closure(callees[caller], jumped_to)

        names = {n["address"]: n["name"] for n in self.graph["samples"]["nodes"]}
        direct = others = 0
        for caller, callee in edges(self.graph["samples"]["nodes"]):
            # The code before a hook calls nothing: the sampler must replace a hook's address.
            self.assertFalse(names[caller].startswith("nopscope_graph_entry"), names[callee])
            if caller in traced and callee in traced:
                direct += callee in callees[caller]
                others += callee not in callees[caller]
                self.assertTrue(leads(caller, callee), f"{names[callee]} from {names[caller]}")
        self.assertGreater(direct, 100)
        self.assertLess(others, direct / 4)

    def test_they_begin_where_the_core_began(self):
        roots = {n["name"]: n["total"] for n in self.graph["samples"]["nodes"] if n["parent"] is None}
        self.assertGreater(max(roots.values()), 0.98 * self.graph["samples"]["count"])
        self.assertIn(max(roots, key=roots.get), ("at_el1", "nopscope_boot_late"))


class Alone(machines.Case):
    def test_without_any_patch_site_in_use(self):
        run, report = self.ran(MACHINE, "demo", *WORDS, "rounds=20", "recorder=none", clean=False)
        self.assertEqual(report["functions"], [])
        functions = {f["name"]: f for f in report["samples"]["functions"]}
        self.assertGreater(functions["luaV_execute"]["share"], 0.1)
        self.assertGreater(functions["main"]["total"], 0.98 * report["samples"]["count"])
        image = sites.Image(run.elf)
        for caller, callee in edges(run.json("graph")["samples"]["nodes"]):
            # Neither a stale x30 from the last call, nor the same caller twice.
            self.assertTrue(caller != callee or may_call_itself(image, int(caller, 16)), caller)
        text = machines.nopscope("report", run.recording, "--sort", "total", "--top", "3").stdout
        self.assertRegex(text, r"samples, one every [56][0-9]\.[0-9]* us of a core's time")
        self.assertRegex(text, r"(?m)(100\.0|99\.[5-9]) %  (main|at_el1|nopscope_run_main|nopscope_boot_late) ")
        rows = machines.nopscope("report", run.recording, "--format", "csv").stdout.splitlines()
        self.assertTrue(rows[0].endswith(",samples,sampled_total"))
        row = next(r for r in rows if r.startswith('"luaV_execute"')).split(",")
        self.assertEqual(int(row[-2]), functions["luaV_execute"]["self"])


if __name__ == "__main__":
    unittest.main()
