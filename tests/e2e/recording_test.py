#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording survives: a slow line, the wrong ELF, a killed recorder, and a cut at any place.

    recording_test.py
"""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import time
import unittest

import machines
import wire

SEED = 1


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
                self.assertEqual(integrity["generated"],
                                 integrity["delivered"] + integrity["dropped"])
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
                                 machines.elf_of("virt-max", "sweep"), "-o",
                                 self.directory / "other.nsc", status=3)
        said = [line for line in done.stderr.splitlines() if not line.startswith("qemu-system")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "is not the image that was recorded")

    def check_a_part(self, path):
        """Checks the report of a part: it is consistent, and has at most the whole's numbers."""
        done = subprocess.run([machines.NOPSCOPE, "report", path, "--image", self.run_.elf,
                               "--format", "json"], capture_output=True, text=True,
                              timeout=machines.HANG_SECONDS)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        if done.returncode == 3:  # nothing to report yet: one sentence
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            return 0
        report = json.loads(done.stdout)
        whole = {f["address"]: f for f in self.whole["functions"]}
        for function in report["functions"]:
            self.assertLessEqual(function["calls"], whole[function["address"]]["calls"])
        self.assertLessEqual(report["integrity"]["delivered"], self.whole["integrity"]["delivered"])
        return sum(f["calls"] for f in report["functions"])

    def test_a_recording_cut_anywhere_gives_what_is_left(self):
        data = self.run_.recording.read_bytes()
        choose = random.Random(SEED)
        cuts = sorted([0, 1, 8, 15, 16, 17, 40, len(data) - 1] +
                      [choose.randrange(len(data)) for _ in range(24)])
        calls = []
        for cut in cuts:
            path = self.directory / "cut.nsc"
            path.write_bytes(data[:cut])
            with self.subTest(cut=cut):
                calls.append(self.check_a_part(path))
        self.assertEqual(calls, sorted(calls), "a longer part never has less")
        self.assertGreater(calls[-1], 0)

    def test_the_last_line_says_how_long_file_and_line_are(self):
        said = re.search(r": ([0-9,]+) bytes, from ([0-9,]+) bytes of the line; ([0-9,]+) events", self.run_.errors)
        file, line, events = (int(number.replace(",", "")) for number in said.groups())
        self.assertEqual(file, self.run_.recording.stat().st_size)
        self.assertEqual(line, len(self.run_.line))
        self.assertEqual(events, self.whole["integrity"]["delivered"])
        self.assertNotEqual(file, line)

    def test_a_raw_capture_is_a_recording_too(self):
        raw = self.directory / "raw"
        raw.write_bytes(self.run_.line)
        recording = self.directory / "from-file.nsc"
        machines.nopscope("record", "-q", "--from", f"file:{raw}", "-o", recording)
        report = json.loads(machines.nopscope("report", recording, "--image", self.run_.elf,
                                              "--format", "json").stdout)
        self.assertEqual(report["functions"], self.whole["functions"])

    def test_a_killed_recorder_leaves_a_valid_file(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                path = self.directory / f"killed-{number}.nsc"
                self.record_and_kill(path, number)
                report = json.loads(machines.nopscope(
                    "report", path, "--image", machines.elf_of("virt-max", "demo"), "--format",
                    "json").stdout)
                integrity = report["integrity"]
                self.assertGreater(integrity["delivered"], 1000)
                self.assertEqual(integrity["corrupt_frames"], 0)
                self.assertGreater(len(report["functions"]), 50)

    def record_and_kill(self, path, number):
        """Records a demo of minutes, and stops the recorder when it has some of it."""
        command = machines.qemu_command("virt-max", "demo", ["rounds=1000", "baud=3000000"],
                                        icount=False)
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
