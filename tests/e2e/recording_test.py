#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording survives: a slow line, the wrong ELF, and a killed recorder. Nsc.CutAnywhereItIsValidUpToThere cuts files."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import time
import unittest

import machines
import wire


class Overload(unittest.TestCase):
    """A line of 10 Mbaud carries a fraction of the records: the tracer must drop and report it."""

    def test_the_equation_is_exact(self):
        for recorder in ("graph", "function"):
            with self.subTest(recorder), machines.Directory() as directory:
                run = machines.record(directory, "virt-max", "demo", [
                    "rounds=1", "baud=10000000", "mode=stream", f"recorder={recorder}"])
                self.assertEqual(run.status, 0, run.errors)
                integrity = run.report_json()["integrity"]
                self.assertGreater(integrity["dropped"], 1000)
                self.assertGreater(integrity["delivered"], 1000)
                self.assertEqual(integrity["generated"], integrity["delivered"] + integrity["dropped"])
                self.assertEqual((integrity["corrupt_frames"], integrity["lost"]), (0, 0))
                line = wire.Line(run.line)
                for key in ("generated", "delivered", "dropped"):
                    self.assertEqual(line.stats[key], integrity[key], key)
                self.assertEqual(len(line.events), integrity["delivered"])
                # A dropped entry has no hook, so each return has its entry.
                self.assertEqual(wire.pairing_faults(line), [])
                self.assertIn(f"dropped {integrity['dropped']}", run.report().splitlines()[-1])


class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(machines.Directory())
        cls.run_ = machines.record(cls.directory, "virt-max", "torture", ["seed=7"])
        cls.whole = cls.run_.report_json()

    def test_another_elf_is_refused_with_one_sentence(self):
        other = machines.elf_of("virt-max", "sweep")
        for command in ("report", "graph"):
            done = machines.nopscope(command, self.run_.recording, "--image", other, status=3)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertRegex(done.stderr, "is not the image that was recorded")

    def test_recording_with_another_elf_is_refused_with_one_sentence(self):
        command = machines.qemu_command("virt-max", "torture", [], icount=True)
        done = machines.nopscope("record", "-q", "--from", "exec:" + shlex.join(command), "--image",
                                 machines.elf_of("virt-max", "sweep"), "-o", self.directory / "other.nsc", status=3)
        said = [line for line in done.stderr.splitlines() if not line.startswith("qemu-system")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "is not the image that was recorded")

    def test_the_last_line_says_how_long_file_and_line_are(self):
        said = re.search(r": ([0-9,]+) bytes, from ([0-9,]+) bytes of the line; ([0-9,]+) events", self.run_.errors)
        file, line, events = (int(number.replace(",", "")) for number in said.groups())
        self.assertEqual(file, self.run_.recording.stat().st_size)
        self.assertEqual(line, len(self.run_.line))
        self.assertEqual(events, self.whole["integrity"]["delivered"])
        self.assertNotEqual(file, line)

    def test_a_killed_recorder_leaves_a_valid_file(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                path = self.directory / f"killed-{number}.nsc"
                self.record_and_kill(path, number)
                report = machines.as_json("report", path, "--image", machines.elf_of("virt-max", "demo"))
                integrity = report["integrity"]
                self.assertGreater(integrity["delivered"], 1000)
                self.assertEqual(integrity["corrupt_frames"], 0)
                self.assertGreater(len(report["functions"]), 50)

    def record_and_kill(self, path, number):
        """Records a demo of minutes, and stops the recorder when it has some of it."""
        command = machines.qemu_command("virt-max", "demo", ["rounds=1000", "baud=3000000"], icount=False)
        qemu = self.directory / "qemu.pid"
        command += ["-pidfile", str(qemu)]
        recorder = subprocess.Popen(
            [machines.NOPSCOPE, "record", "--from", "exec:" + shlex.join(command), "--image",
             machines.elf_of("virt-max", "demo"), "-o", path],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while not (path.exists() and path.stat().st_size > 150_000):
                self.assertIsNone(recorder.poll(), "the recorder ended by itself")
                self.assertLess(time.monotonic(), deadline, "nothing was recorded")
                time.sleep(0.05)
            process = int(qemu.read_text())
            recorder.send_signal(number)
            recorder.wait(timeout=30)
            machines.check_times(path)
            while is_running(process):
                self.assertLess(time.monotonic(), deadline, "the emulator outlives its recorder")
                time.sleep(0.05)
        finally:
            recorder.kill()
            recorder.wait()
            if qemu.exists() and is_running(int(qemu.read_text())):
                os.kill(int(qemu.read_text()), signal.SIGKILL)


def is_running(process):
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"  # Z: it has ended


if __name__ == "__main__":
    unittest.main()
