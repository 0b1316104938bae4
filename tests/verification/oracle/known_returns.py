#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of a return predictor counts known_returns.S as its comments say.

    known_returns.py LIBRETURN_STACK.so    exit status 0: all passed
"""

import itertools
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "bench"))
import returns  # noqa: E402
import sites  # noqa: E402
from images import build, plugin_of_arguments  # noqa: E402

NONE, ALL = [0, 0, 0], lambda n: [n, n, n]


def counts(**of):
    return {whose: {"executed": executed, "missed": missed} for whose, (executed, missed) in of.items()}


# By row: site calls, returns, other indirect branches; for stacks of 8, 16 and 31 entries.
EXPECTED = {
    # 13 calls deep: a stack of 8 loses the outer 5.
    "deep": (0, counts(unhooked=(130, [50, 0, 0])), {}),
    # A lost entry stays lost, although the address there would be right again.
    "recursive": (0, counts(unhooked=(210, [130, 50, 0])), {}),
    # The stack is one entry short after a hook: both ancestors are mispredicted, too.
    "short": (0, counts(own=(10, ALL(10)), hook=(10, ALL(10)), unhooked=(20, ALL(20))), {}),
    # A hook that begins with a BL: the stack is complete again.
    "mended": (0, counts(own=(10, ALL(10)), hook=(10, ALL(10)), unhooked=(20, NONE)), {}),
    # A hook that ends with a BR: complete, too. A BR's first target is mispredicted.
    "jumped": (0, counts(own=(10, ALL(10)), unhooked=(20, NONE)), counts(hook=(10, ALL(1)))),
    "two callers": (0, counts(own=(20, ALL(20)), unhooked=(10, NONE)), counts(hook=(20, ALL(20)))),
    "interrupted": (0, counts(unhooked=(20, NONE)), {}),
    "signed": (0, counts(unhooked=(20, NONE)), {}),
    "path": (0, counts(own=(51, ALL(51)), hook=(51, ALL(51)), unhooked=(51, ALL(51))), {}),
    "idle site": (0, counts(unhooked=(10, NONE)), {}),
    # The tracer returns by x10.
    "live site": (5, counts(unhooked=(5, NONE), traced=(5, NONE), tracer=(5, NONE)), {}),
}
# The 50th round of "path", by function: its instructions, and whether its RET is mispredicted.
PATH = [("_start", 1), ("over_hook_1", 2), ("to_plain", 3), ("plain_hook", 2), ("over_hook_1", 2), ("_start", 2)]


class KnownReturns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            elf = pathlib.Path(directory) / "known.elf"
            build("known_returns.S", elf)
            cls.image = sites.Image(elf)
            tracer = [(cls.image.symbols["tracer_low"], cls.image.symbols["tracer_high"])]
            cls.rows, _ = returns.run(returns.qemu_command("virt-max", "known", elf=elf), returns.plugin_map(elf, lambda _: tracer))

    def test_each_row_is_counted_as_it_reads(self):
        self.assertEqual(list(self.rows), list(EXPECTED))
        for name, (calls, wanted, branches) in EXPECTED.items():
            row = self.rows[name]
            executed = {kind: {whose: of for whose, of in row[kind].items() if of["executed"]} for kind in ("returns", "branches")}
            executed["returns"]["unhooked"]["executed"] -= 1  # the return of the row's mark
            self.assertEqual((name, row["calls"], executed["returns"], executed["branches"]), (name, calls, wanted, branches))

    def test_a_round_is_written_down(self):
        functions = [(at, name) for at, name in self.image.names_by_address() if name != "chain_head"]
        path = [(int(address, 16), int(word, 16), missed) for address, word, missed in self.rows["path"]["path"]]
        for address, word, missed in path:
            self.assertEqual(word, self.image.word(address))
            is_return = word & 0xFFFFFC1F == 0xD65F0000
            self.assertEqual(missed, 7 if is_return else 0, hex(address))
        names = (max(of for of in functions if of[0] <= address)[1] for address, _, _ in path)
        self.assertEqual([(name, len(list(steps))) for name, steps in itertools.groupby(names)], PATH)
        self.assertTrue(all(not row["path"] for name, row in self.rows.items() if name != "path"))


if __name__ == "__main__":
    os.environ["NOPSCOPE_RETURN_STACK"] = str(plugin_of_arguments())
    unittest.main()
