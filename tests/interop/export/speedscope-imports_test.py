#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope opens five formats, with an importer for each. What it read, as its own "Export" saves it, is compared with the
report. Three things are speedscope's own: each profile's time begins at 0, so contexts have no common axis; a call of 0 ns
disappears; and it has to guess the call paths of callgrind's format. A recursive call ends such a path. So does one that has
less than 0.01 % of the whole; its caller has its time then.
"""

import collections

import exports
import readers


GUESSED = 1e-4


class SpeedscopeImports(exports.Case):
    def opened(self, *wanted):
        """Returns [(format, recording, options, what speedscope read)]: one browser opens all."""
        paths = []
        for number, (to, name, *options) in enumerate(wanted):
            exported = self.export(name, *options, to=to)
            paths.append(exported.rename(self.directory / f"{number}.{exported.name}"))
        return [(to, name, options, one) for (to, name, *options), one
                in zip(wanted, readers.opened_by_speedscope(self.directory, *paths), strict=True)]

    def test_each_call(self):
        """In recordings without calls of 0 ns. Totals need a common axis: one context a core, or no tracer."""
        for to, name, options, data in self.opened(*[(to, *run) for to in ("chrome", "speedscope")
                                                     for run in (("tasks", exports.CUT), ("cores",), ("deep",))]):
            with self.subTest(format=to, recording=name):
                self.check_events(name, sums_of(data), options)

    def test_own_times(self):
        for to, name, _, data in self.opened(*[(to, name) for to in ("chrome", "speedscope") for name in ("tasks", "torture")],
                                             ("chrome", "equal"), ("speedscope", "hostile")):
            with self.subTest(format=to, recording=name):
                self.check_own(sums_of(data), name, "self_ns")

    def test_sums(self):
        for to, name, _, data in self.opened(*[(to, name) for to in ("folded", "pprof") for name in ("tasks", "torture", "demo")],
                                             ("callgrind", "cores"), ("callgrind", "tasks")):
            if to == "callgrind":  # a profile for each event
                data["profiles"] = data["profiles"][:1]
            with self.subTest(format=to, recording=name):
                sums = sums_of(data)
                self.check_own(sums, name, "corrected_self_ns", GUESSED if to == "callgrind" else 0)
                named = collections.Counter(row["name"] for row in exports.functions(name))
                for row in exports.functions(name) if name != "tasks" else []:  # there totals have time in other contexts
                    if named[row["name"]] == 1:
                        self.assertEqual(sums.total[row["name"]], row["corrected_total_ns"], row["name"])

    def check_own(self, sums, name, key, faint=0):
        """`faint`: a path with a smaller share of the whole may be its caller's."""
        found = collections.Counter(sums.self_)
        for of in (exports.TRACER, exports.AWAY, "(root)"):
            del found[of]
        expected = collections.Counter({of: own for of, (own,) in exports.by_name(exports.functions(name), key).items()})
        if not faint:
            self.assertEqual(set(+found), set(+expected))
            for of, own in expected.items():
                self.assertAlmostEqual(found[of], own, delta=exports.rounding(name) * (1 + sums.self_lengths[of]), msg=of)
            return
        self.assertEqual(found.total(), expected.total())
        lost_or_won = collections.Counter(of for path, _ in exports.paths(name) for of in path[-2:])
        self.assertEqual({of: (found[of], own) for of, own in expected.items()
                          if abs(found[of] - own) > faint * found.total() * lost_or_won[of]}, {})

    def test_samples(self):
        for to, _, _, data in self.opened(*[(to, "samples") for to in ("folded", "pprof", "speedscope")]):
            with self.subTest(format=to):
                profile = data["profiles"][-1]
                self.assertEqual(profile["unit"], "none")
                found = sums_of(data | {"profiles": [profile]}).self_
                self.assertEqual({of: own for of, own in found.items() if own}, exports.sampled())


def sums_of(data):
    """Each profile has an axis of its own, like a core."""
    return readers.speedscope_sums(data, [frame["name"] for frame in data["shared"]["frames"]], lambda profile: profile["name"])


if __name__ == "__main__":
    exports.main()
