#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares gdb's backtraces with nopscope-gdb.py, for every way of tracing, with untraced ones.

    backtraces_test.py [Backtraces|Sweeps|Dumps|Damage]
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "e2e"))
import machines  # noqa: E402
from gdb_stub import Halted  # noqa: E402
import sites  # noqa: E402

SYMBOLS = sites.Image(machines.elf_of("virt-max", "backtraces")).symbols
SCRIPT = HERE.parents[2] / "host-tools/gdb/nopscope-gdb.py"
MACHINE, PLAIN_MACHINE = "virt-max", "virt-a72"  # with PAC, and without
ELF = machines.elf_of(MACHINE, "backtraces")
ENTRIES = {"function": "nopscope_function_entry", "graph": "nopscope_graph_entry", "profile": "nopscope_profile_entry",
           "duration": "nopscope_duration_entry", "sampled": "nopscope_sampled_entry"}
HOOKS = {"graph": "nopscope_return_hook", "profile": "nopscope_profile_hook", "duration": "nopscope_duration_hook",
         "sampled": "nopscope_return_hook"}
# Words for each way of tracing, and the tracer's functions that a call passes.
CALLS = ("leaf", "calls_leaf"), ("short_jumps", "calls_what_jumps_short")
AFTER_LONGJMP = ("after_the_leap", "catches"), ("nopscope::nopscope_unwind_at_entry",)  # from a recorder's slow path
WAYS = [((f"recorder={name}",), (entry, HOOKS.get(name, entry))) for name, entry in ENTRIES.items()] + [
    (("recorder=sampled", "sample=2"), ("nopscope_sampled_entry",)),
    (("recorder=graph", "events=1"), ("nopscope_graph_events_entry", "nopscope_graph_events_hook")),
    (("recorder=profile", "events=1"), ("nopscope_profile_events_entry", "nopscope_profile_events_hook")),
    (("recorder=none", "ops=callback"), ("nopscope_callback",)),
    (("recorder=none", "ops=unguarded"), ("nopscope_callback_unguarded",)),
    (("recorder=none", "ops=return"), ("nopscope_callback", "nopscope_callback_hook", "nopscope::nopscope_on_return")),
    (("recorder=graph", "ops=callback,ops=return"),
     ("nopscope_callback", "nopscope_walk_list", "nopscope_graph_entry", "nopscope_return_hook",
      "nopscope_callback_hook")),
]


class Machine(Halted):

    def __init__(self, words, machine=MACHINE, image="backtraces", icount=True):
        self.directory = machines.Directory()
        self.directory_path, self.elf = self.directory.__enter__(), machines.elf_of(machine, image)
        words = [word for some in words for word in some.split(",")]
        super().__init__(machines.qemu_command(machine, image, words, icount, serial="null"), self.directory_path / "stub")

    def __exit__(self, *_):
        super().__exit__(*_)
        self.directory.__exit__(None, None, None)

    def gdb(self, *commands, script=True):
        return run_gdb(self.elf, f"target remote {self.stub}", commands, script)


def run_gdb(elf, target, commands, script=True):
    """Returns in_gdb.py's last result and all output of gdb, which must contain no Python error."""
    sources = [*([SCRIPT] if script else []), HERE / "in_gdb.py"]
    arguments = [f"file {elf}", target, *(f"source {path}" for path in sources), *commands]
    done = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *(word for a in arguments for word in ("-ex", a))],
                          capture_output=True, text=True, timeout=machines.HANG_SECONDS, errors="replace",
                          stdin=subprocess.DEVNULL, env={**os.environ, "DEBUGINFOD_URLS": ""})
    said = done.stdout + done.stderr
    for word in ("Traceback", "Python Exception", "Error occurred", "internal-error"):
        assert word not in said, said
    told = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    return json.loads(told[-1][5:]) if told else None, said


def truth(job, machine=PLAIN_MACHINE):
    """gdb's own answer, without tracing and on a machine that signs no addresses."""
    with Machine(["recorder=none"], machine) as target:
        return target.gdb(job, script=False)[0]


class Backtraces(unittest.TestCase):
    def test_every_way_to_trace(self):
        job = "python told([stops(), commands()])"
        stops, commands = truth(job)
        self.assertEqual(stops["1"], ["stopped", "deepest", "jumped_to", "calls_what_jumps", "begin", "main"])
        self.assertEqual(stops["2"], ["stopped", "catches", "begin", "main"])
        self.assertEqual(stops["4"][:5], ["stopped", "handles", "on_interrupt", "nopscope_interrupt", "interrupt"])
        self.assertEqual(stops["4"][-3:], ["is_interrupted", "begin", "main"])
        self.assertEqual(stops["kept"], [18, 1])
        self.assertEqual(commands[0][0], "jumped_to")
        self.assertEqual(commands[2:], ["begin", True, ["begin", 1], ["begin", 2]])
        for words, _ in WAYS:
            with self.subTest(words), Machine(words) as target:
                self.assertEqual(target.gdb(job)[0], [stops, commands])

    def test_a_crash(self):
        with Machine(["crash"], image="reset") as target:
            found, _ = target.gdb("python run_to('nopscope::hal::exit')", "python told(names())")
        self.assertEqual(found[found.index("nopscope_exception"):][:5],
                         ["nopscope_exception", "fault", "before_the_reset", "run_first", "main"])

    def test_two_cores(self):
        with Machine(["recorder=graph"], "virt-max-smp2", icount=False) as target:
            told, said = target.gdb("python run_to('*stopped', 6)", "thread 2",
                                    "python told(names())", "info nopscope", "thread apply all bt")
        self.assertEqual(told[:told.index("begin_core") + 1][-3:], ["spins", "calls_spins", "begin_core"])
        self.assertRegex(said, r"core 0: 5 to nopscope_return_hook\ncore 1: [23] to nopscope_return_hook")


class Sweeps(unittest.TestCase):
    def test_every_instruction(self):
        for words, functions in WAYS:
            with self.subTest(words), Machine(words) as target:
                is_hooked = any(name.endswith("_hook") for name in functions)
                self.sweep(target, CALLS if is_hooked else CALLS[:1], functions)

    def test_every_instruction_after_a_longjmp(self):
        with Machine(["recorder=graph"]) as target:
            self.sweep(target, AFTER_LONGJMP[:1], AFTER_LONGJMP[1])

    def sweep(self, target, calls, functions):
        # Functions in DWARF begin behind the patch site, symbols before it.
        at = [(call, caller, SYMBOLS[call]) for call, caller in calls]
        told, _ = target.gdb(f"python told([sweep(*call) for call in {at}])")
        for (seen, wrong), (call, caller) in zip(told, calls, strict=True):
            self.assertEqual(wrong, [])
            self.assertGreaterEqual(set(seen), {call, caller, *functions})


class Dumps(unittest.TestCase):
    def test_a_core_dump(self):
        """With PAC. A dump does not contain its masks."""
        base, end = SYMBOLS["__image_start"], SYMBOLS["__image_end"]
        for words in (["recorder=graph", "ops=return"], ["recorder=duration"]):
            with self.subTest(words), Machine(words) as target:
                dump = target.directory_path / "core"
                stops, _ = target.gdb("python told(stops(2))", f"monitor dump-guest-memory {dump} {base:#x} {end - base:#x}")
                found, said = run_gdb(ELF, f"core-file {dump}", ["python told(names())", "info nopscope"])
                self.assertEqual(found, stops["2"])
                self.assertRegex(said, "recorders in force: (graph|duration); open hooked calls: [1-9]")


class Damage(unittest.TestCase):
    def test_a_damaged_shadow_stack(self):
        with Machine(["recorder=graph"]) as target:
            (found, said, again), _ = target.gdb("python told(damage(1))")
        self.assertGreater(len({len(names) for names in found}), 2)
        self.assertTrue(all(names[:2] == ["stopped", "deepest"] for names in found), found)
        self.assertEqual(again, ["stopped", "deepest", "jumped_to", "calls_what_jumps", "begin", "main"])
        for text in said:
            self.assertRegex(text, "core 0: the shadow stack of core 0 (is damaged: its top is 0x|cannot be read: )")

    def test_an_image_without_debug_information(self):
        with Machine(["recorder=graph"]) as target:
            target.elf = target.directory_path / "stripped.elf"
            subprocess.run(["aarch64-linux-gnu-objcopy", "--strip-debug", ELF, target.elf], check=True)
            _, said = target.gdb("hbreak *stopped", "continue", "bt", "bt", "info nopscope")
        sentence = "the image has no debug information of the tracer: build the tracer with -g"
        self.assertEqual(said.count(f"nopscope: {sentence}\n"), 1, said)
        self.assertIn(f"nopscope: {sentence}.\n", said)

    def test_no_tracer(self):
        _, said = run_gdb("/bin/true", "info files", ["info nopscope"])
        self.assertIn("nopscope: there is no image with nopscope's tracer.\n", said)
        with Machine(["recorder=graph"]) as target:
            _, said = target.gdb("info nopscope")
        self.assertIn("nopscope: the tracer has not been initialised.\n", said)


if __name__ == "__main__":
    unittest.main()
