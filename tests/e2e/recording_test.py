#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording survives: a slow line, a killed recorder, and parts (`record --rotate`): each file opens alone,
and together they have each record of the line once. Nsc.CutAnywhereItIsValidUpToThere cuts files.

    recording_test.py [TEST]...
"""

import re
import signal
import subprocess
import unittest

import machines  # puts tests/conformance on the path
import nsc2
import wire

MACHINE = "virt-max"
PIECES = 10
PAUSE_SECONDS = 0.3  # above record's flush interval: the file has a piece before the next comes


class Overload(machines.Case):
    """A line of 10 Mbaud carries a fraction of the records: the tracer must drop and report it."""

    def test_the_equation_is_exact(self):
        for recorder in ("graph", "function"):
            with self.subTest(recorder):
                run, report = self.ran(MACHINE, "demo", "rounds=1", "baud=10000000", "mode=stream", f"recorder={recorder}", clean=False)
                integrity, line = report["integrity"], wire.Line(run.line)
                self.assertGreater(min(integrity["dropped"], integrity["delivered"]), 1000)
                self.assert_generated(integrity, "delivered", "dropped")
                self.assert_zero(integrity, "corrupt_frames", "lost")
                for key in ("generated", "delivered", "dropped"):
                    self.assertEqual(line.stats[key], integrity[key], key)
                self.assertEqual(len(line.events), integrity["delivered"])
                # A dropped entry has no hook, so each return has its entry.
                self.assertEqual(wire.pairing_faults(line), [])
                self.assertIn(f"dropped {integrity['dropped']}", run.report().splitlines()[-1])


def records(*paths):
    """Returns {core: [records]} of the recordings' only session, in the order of the files."""
    found = {}
    for path in paths:
        for (_, core), part in nsc2.Recording(path.read_bytes()).records.items():
            found.setdefault(core, []).extend(part)
    return found


class Rotate(machines.Case):
    def assert_same(self, found, wanted):
        """assertEqual's diff would take hours for so many records."""
        self.assertEqual({core: len(part) for core, part in found.items()}, {core: len(part) for core, part in wanted.items()})
        for core, part in found.items():
            other = [at for at, (one, two) in enumerate(zip(part, wanted[core])) if one != two]
            self.assertEqual(other[:3], [], f"these records of core {core} differ, and more")

    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(machines.Directory())
        cls.run_ = machines.record(directory, MACHINE, "demo", ["rounds=1", "interrupts=1"])
        assert cls.run_.status == 0, cls.run_.errors
        cls.whole, cls.line, cls.elf = records(cls.run_.recording), directory / "line.raw", cls.run_.elf

    def command(self, *options):
        size = -(-self.line.stat().st_size // PIECES)
        pieces = (f"for n in $(seq 0 {PIECES - 1}); do tail -c +$((n * {size} + 1)) {self.line} | head -c {size}; "
                  f"sleep {PAUSE_SECONDS}; done")
        return ["record", "--from", "exec:" + pieces, "--image", self.elf, "-o", self.directory / "run.nsc", *options]

    def test_the_last_line_says_how_long_file_and_line_are(self):
        said = re.search(r": ([0-9,]+) bytes, from ([0-9,]+) bytes of the line; ([0-9,]+) events", self.run_.errors)
        self.assertEqual([int(number.replace(",", "")) for number in said.groups()],
                         [self.run_.recording.stat().st_size, len(self.run_.line), sum(map(len, self.whole.values()))])

    def files(self):
        return sorted(self.directory.iterdir())

    def test_the_parts_have_each_record_once(self):
        done = machines.nopscope(*self.command("--rotate", "50kB"))
        parts = self.files()
        self.assertGreater(len(parts), 3)
        size = sum(part.stat().st_size for part in parts)
        self.assertIn(f"run.{len(parts):06}.nsc and {len(parts) - 1} before it: {size:,} bytes, from ", done.stderr)
        self.assertEqual([path.name for path in parts], [f"run.{n + 1:06}.nsc" for n in range(len(parts))])
        self.assert_same(records(*parts), self.whole)
        for number, part in enumerate(parts):
            with self.subTest(part.name):
                self.assert_zero(machines.as_json("report", part)["integrity"], "lost", "gaps")
                told = machines.as_json("info", part)
                is_last = number + 1 == len(parts)
                self.assertEqual(told["ended"] == "the recording goes on in the next file", not is_last)
                self.assertTrue(told["has_symbols"])
            if not is_last:
                self.assertIn(f"{part.name}: ", done.stderr)
                self.assertGreater(part.stat().st_size, 50_000)

    def test_keep_removes_the_oldest_of_the_series_alone(self):
        others = [self.directory / name for name in ("run.nsc", "run.000001.nsc", "run.1.nsc", "other.000001.nsc")]
        for path in others:
            path.write_bytes(b"a file of the user's")
        machines.nopscope(*self.command("--rotate", "1s", "--keep", "2"))
        parts = [path for path in self.files() if path not in others]
        self.assertEqual(len(parts), 2)
        self.assertGreater(int(parts[0].name.split(".")[1]), 2)  # the first file had number 2
        for path in others:
            self.assertEqual(path.read_bytes(), b"a file of the user's")
        tail = records(*parts)
        self.assert_same(tail, {core: self.whole[core][-len(part):] for core, part in tail.items()})

    def test_a_second_recorder_of_the_series_is_refused_and_a_killed_one_leaves_its_files(self):
        recorder = subprocess.Popen([machines.NOPSCOPE, *map(str, self.command("--rotate", "50kB"))], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        machines.wait_for(lambda: len(self.files()) >= 2)
        refused = machines.nopscope(*self.command("--rotate", "50kB"), status=3)
        self.assertRegex(refused.stderr, "records into .* already")
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        parts = [path for path in self.files() if path.suffix == ".nsc"]
        self.assertGreater(len(parts), 0)
        head = records(*parts)
        self.assert_same(head, {core: self.whole[core][:len(part)] for core, part in head.items()})
        machines.nopscope(*self.command("--rotate", "1h"))
        names = [path.name for path in self.files() if path.suffix == ".nsc"]
        self.assertEqual(names[-1], f"run.{len(names):06}.nsc")
        self.assert_same(records(self.files()[-1]), self.whole)

    def test_what_makes_no_sense_is_refused(self):
        for options in (["--keep", "3"], ["--rotate", "50kB", "--save-line", self.directory / "raw"], ["--rotate", "0s"]):
            with self.subTest(options):
                self.assert_sentence(machines.nopscope(*self.command(*options), status=2), "^nopscope: ")
                self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
