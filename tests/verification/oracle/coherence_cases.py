#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the coherence oracle: it reports each fault, and nothing else.

    coherence_cases.py LIBCOHERENCE.so    exit status 0: all passed

coherence_cases.S is correct but for the step that WRONG names. For each step, the oracle must report exactly these kinds of fault.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
import coherence  # noqa: E402
import images  # noqa: E402

# By the kinds of fault that the oracle must report: the wrong steps. On a CPU that needs all maintenance, and on one that needs none.
WRONG = {
    "virt-a72": {
        "": ("",),
        "no-clean": ("NO_CLEAN",),
        "needless-clean no-clean": ("OTHER_LINE",),
        "no-dsb-after-clean": ("NO_DSB_AFTER_CLEAN", "LOADS_DSB"),
        "no-invalidate": ("NO_INVALIDATE", "INVALIDATE_ALIAS"),
        "no-dsb-after-invalidate": ("NO_DSB_AFTER_INVALIDATE", "NARROW_DSB"),
        "no-synchronisation": ("NO_ISB", "NO_SYNCHRONISATION"),
        "needless-clean needless-invalidate no-clean": ("STALE",),
        "needless-clean needless-invalidate": ("TWICE",),
        "word-class": ("WORD_CLASS",),
        "torn-word": ("TORN_WORD",),
        "torn-slot": ("TORN_SLOT", "MISALIGNED_SLOT"),
        "stray": ("STRAY",),
        "order": ("BL_FIRST", "NO_DSB_AFTER_SLOT", "NONE_FIRST", "NONE_EARLY"),
        "row": ("WRONG_BL", "BAD_OBJECT", "FREED"),
        "in-use": ("IN_USE", "LIST_CHANGED"),
    },
    "virt-max": {
        "": ("",),
        "no-dsb-after-store": ("NO_DSB",),
        "no-synchronisation": ("NO_ISB", "NO_SYNCHRONISATION"),
        "needless-clean": ("CLEAN_ANYWAY",),
        "needless-invalidate": ("INVALIDATE_ANYWAY",),
    },
}
# Core 1 stays in the trampoline meanwhile.
DELAYED = ("IN_USE", "LIST_CHANGED")
# The core that the oracle must name as late.
CORE = {"NO_ISB": 0, "NO_SYNCHRONISATION": 1}


def build(directory, macro):
    elf = directory / f"{macro or 'right'}.elf"
    images.build("coherence_cases.S", elf, f"-DWRONG={macro or 'none'}", *(["-DDELAYED"] if macro in DELAYED else []))
    return elf


class Cases(unittest.TestCase):
    def observe(self, macro, machine, *options):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            elf = build(directory, macro)
            arguments = coherence.arguments_of([str(PLUGIN), "--elf", str(elf), "--machine", machine,
                                                "--cores", "2", "--seconds", "60", *options])
            found, wrong = coherence.observe(arguments, directory)
        self.assertEqual(wrong, "")
        return found

    def test_each_wrong_step_is_told(self):
        cases = [(machine, kinds, macro) for machine, by_kinds in WRONG.items() for kinds, macros in by_kinds.items() for macro in macros]
        for machine, kinds, macro in cases:
            with self.subTest(macro=macro, machine=machine):
                found = self.observe(macro, machine)
                self.assertEqual({fault["kind"] for fault in found["faults"]}, set(kinds.split()), found["faults"])
                if macro in CORE:
                    self.assertEqual({fault["core"] for fault in found["faults"]}, {CORE[macro]})

    def test_all_events_are_seen(self):
        found = self.observe("", "virt-a72")
        self.assertEqual(found["cores"], 2)
        self.assertEqual(found["needs"], {"clean": True, "invalidate": True, "dcache_line_bytes": 64, "icache_line_bytes": 64})
        expected = {"requests": 3, "word_stores": 3, "slot_stores": 3, "slot_reads": 2, "uses": 2, "uses_ended": 2, "cleans": 3,
                    "invalidates": 3, "executions": 8, "executions_checked": 6}
        self.assertEqual({name: found["events"][name] for name in expected}, expected)
        self.assertEqual(self.observe("", "virt-max")["needs"]["clean"], False)

    def test_a_thread_for_each_core_is_seen_alike(self):
        self.assertEqual(self.observe("", "virt-a72", "--threads")["faults"], [])
        late = self.observe("NO_SYNCHRONISATION", "virt-a72", "--threads")["faults"]
        self.assertEqual([(fault["kind"], fault["core"]) for fault in late], [("no-synchronisation", 1)])

    def test_the_runner_says_so_by_its_exit_status(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            right, wrong = build(directory, ""), build(directory, "NO_CLEAN")

            def status(elf, *options):
                return subprocess.run([sys.executable, HERE / "coherence.py", PLUGIN, "--elf", elf, "--cores",
                                       "2", *options], stdout=subprocess.DEVNULL, check=False).returncode
            self.assertEqual(status(right), 0)
            self.assertEqual(status(wrong), 1)
            self.assertEqual(status(right, "--at-least", "cleans=3"), 0)
            self.assertEqual(status(right, "--at-least", "cleans=4"), 2)
            self.assertEqual(status(right, "--cores", "3"), 2)
            self.assertEqual(status(directory / "none.elf"), 2)
            self.assertEqual(status(HERE / "coherence.py"), 2)


if __name__ == "__main__":
    PLUGIN = images.plugin_of_arguments()
    unittest.main()
