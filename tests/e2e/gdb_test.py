#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --from gdb:` and from dumps: rings of a stopped, crashed or running target.

    gdb_test.py MACHINE
"""

import re
import sys
import unittest

import machines
import wire
from gdb_stub import Debugger, Halted
from sites import Image

MACHINE = sys.argv.pop()
SLOTS = (1 << 18) // 8
EXIT, RESET = "_ZN8nopscope3hal4exitEi", "_ZN8nopscope3hal5resetEv"


def by_index(line):
    return {event.index: (event.kind, event.clock, event.site, event.entry, event.unwound, event.value) for event in line.events}


class Target(Halted):
    """A machine with a stub, stopped before its first instruction. Its line goes to a file."""

    def __init__(self, directory, image, words, icount=True, serial="file"):
        self.at, self.elf = directory, machines.elf_of(MACHINE, image)
        self.symbols = Image(self.elf).symbols
        self.line_path = directory / "uart"
        how = ",server=on,wait=off" if serial == "unix" else ""
        super().__init__(machines.qemu_command(MACHINE, image, words, icount, serial=f"{serial}:{self.line_path}{how}"), directory / "gdb")

    def record(self, uri, *options, elf=None, status=0):
        return machines.recorded(self.at, uri, elf or self.elf, *options, status=status)

    def pull(self, *options, **more):
        return self.record(f"gdb:unix:{self.stub}", *options, **more)

    def line(self, session):
        return wire.Line(self.line_path.read_bytes(), session)


class Pulled(machines.Case):
    def start(self, image, *words, **more):
        """Makes a Target, which is still stopped."""
        return self.enterContext(Target(self.directory, image, words, **more))

    def stopped(self, symbol, *words):
        target = self.start("reset", *words)
        with Debugger(target.stub) as debugger:
            debugger.run_to(target.symbols[symbol])
        return target

    def expect_whole(self, report, records):
        integrity = report["integrity"]
        self.assert_generated(integrity)
        self.assertEqual(integrity["delivered"], records)
        self.assert_zero(integrity, "corrupt_frames", "lost", "lost_frames", "malformed_frames", "inconsistent_cores")
        self.assertTrue(report["flight"])

    def test_a_stopped_target_has_what_the_line_would_have_had(self):
        target = self.stopped(RESET, "sudden")
        raw, report, said = target.pull()
        self.assertIn("was stopped, and is left so", said)
        pulled = wire.Line(raw)
        self.expect_whole(report, len(pulled.events))
        self.assertGreater(len(pulled.events), SLOTS - 100)
        again, report_again, _ = target.pull()
        self.assertEqual((again, report_again), (raw, report))
        # The next boot sends the same ring.
        with Debugger(target.stub) as debugger:
            debugger.resume()
            target.process.wait(timeout=machines.HANG_SECONDS)
        sent = target.line(pulled.session)
        self.assertEqual(by_index(pulled), by_index(sent))
        for counter in ("generated", "delivered", "overwritten", "dropped", "filtered", "shadow_stack_full", "off_stack"):
            self.assertEqual(pulled.stats[counter], sent.stats[counter], counter)

    def test_a_crashed_target(self):
        target = self.stopped(EXIT, "crash")
        raw, report, _ = target.pull()
        pulled = wire.Line(raw)
        self.expect_whole(report, len(pulled.events))
        # The exception reporter sent less: not the room for open calls' returns.
        sent = target.line(pulled.session)
        self.assertIn(b"nopscope: exception: ", sent.console)
        ours, theirs = by_index(pulled), by_index(sent)
        self.assertGreater(len(theirs), SLOTS // 2)
        self.assertLessEqual(theirs.items(), ours.items())
        self.assertEqual(max(theirs), max(ours))
        self.assertEqual(sum(f["calls"] for f in report["functions"] if f["name"] == "before_the_reset"), 1)
        self.assertGreaterEqual(sum(f["open"] for f in report["functions"]), 1)

    def test_dumps_give_the_same_report(self):
        target = self.stopped(RESET, "sudden")
        raw, report, _ = target.pull()
        base, end = target.symbols["__image_start"], target.symbols["__image_end"]
        core, memory = target.at / "core", target.at / "memory"
        with Debugger(target.stub) as debugger:
            debugger.monitor(f"dump-guest-memory {core} {base:#x} {end - base:#x}")
            debugger.monitor(f"pmemsave {base:#x} {end - base:#x} \"{memory}\"")
        for uri, options in ((core, ()), (memory, ("--memory-base", hex(base)))):
            with self.subTest(uri.name):
                line, its, _ = target.record(f"file:{uri}", *options)
                self.assertEqual((line, its), (raw, report))
        for uri, options, sentence in (
                (memory, ("--memory-base", hex(base - 64)), "is not the image in the target's memory"),
                (core, ("--resume",), "--resume is for gdb: only"),
                (core, ("--recorder", "graph"), "takes no commands")):
            with self.subTest(sentence):
                said = target.record(f"file:{uri}", *options, status=3 if options[0] == "--memory-base" else 2)[2]
                self.assertRegex(said, rf"\A.*{re.escape(sentence)}.*\n\Z")
        core.write_bytes(core.read_bytes()[:100000])
        self.assertIn("is it whole?", target.record(f"file:{core}", status=3)[2])

    def test_a_running_target_runs_on(self):
        target = self.start("demo", "rounds=100000", "cores=1", "mode=flight", icount=False)
        with Debugger(target.stub) as debugger:
            debugger.run_to(target.symbols["luaV_execute"])
            debugger.detach()
        counts = []
        for _ in range(3):
            raw, report, said = target.pull()
            self.assertIn("was running: it was stopped, read, and runs on", said)
            self.expect_whole(report, len(wire.Line(raw).events))
            counts.append(report["integrity"]["generated"])
        self.assertEqual(counts, sorted(set(counts)))

    def test_before_init_and_another_image(self):
        target = self.start("reset", "sudden")
        said = target.pull(status=3)[2].strip().splitlines()
        self.assertEqual(len(said), 2, said)
        self.assertRegex(said[0], "was stopped, and is left so")
        self.assertRegex(said[1], "has not been initialised")
        said = target.pull(elf=machines.elf_of(MACHINE, "demo"), status=3)[2]
        self.assertRegex(said, "demo.elf is not the image in the target's memory: its build-id is [0-9a-f]{40}, there at")
        with Debugger(target.stub) as debugger:
            self.assertIn("paused (prelaunch)", debugger.monitor("info status"))

    def test_no_server_there(self):
        target = self.start("reset", "sudden")
        for uri, status, sentence in (
                ("gdb:localhost:1", 3, "cannot connect to localhost:1"),
                ("gdb:no-such-host.invalid:1234", 3, "cannot resolve no-such-host.invalid:1234"),
                ("gdb:1234", 2, "expected gdb:HOST:PORT"), ("gdb:unix:/nowhere", 3, "cannot connect to /nowhere")):
            said = target.record(uri, status=status)[2]
            self.assertIn(sentence, said)
        with Debugger(target.stub):
            self.assertIn("is a debugger connected", target.pull(status=3)[2])

    def test_a_breakpoint_in_a_patch_site_is_refused(self):
        """QEMU keeps its breakpoints out of memory. Other stubs write a BRK, as this test does."""
        target = self.start("demo", "rounds=100000", "cores=1", "recorder=none", icount=False, serial="unix")
        function = target.symbols["lua_upvalueid"]  # nobody calls it: a BRK is no NOP
        with Debugger(target.stub) as debugger:
            debugger.run_to(target.symbols["luaV_execute"])
            # The patched word is behind `mov x9, x30`.
            word = function + debugger.read(function, 12).index(bytes.fromhex("e9031eaa")) + 4
            old = debugger.read(word, 4)
            debugger.write(word, bytes.fromhex("000020d4"))
            debugger.detach()

        def trace(status):
            done = machines.nopscope("ctl", "--from", f"unix:{target.line_path}", "--image", target.elf,
                                     "trace", "lua_upvalue*", status=status)
            return done.stdout + done.stderr

        said = trace(3)
        self.assertRegex(said, f"wrote there: at {word:#x} there is 0xd4200000 .BRK: a debugger's breakpoint.*, "
                               "not 0x[0-9a-f]*; nothing was changed")
        with Debugger(target.stub) as debugger:
            self.assertEqual(debugger.read(word, 4), bytes.fromhex("000020d4"))
            debugger.write(word, old)
            debugger.detach()
        self.assertRegex(trace(0), "tracing [0-9]+ functions")


if __name__ == "__main__":
    unittest.main()
