#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A board's report of QEMU's virt: all parts, one part, and as of a board that somebody starts."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import board_report

HERE = pathlib.Path(__file__).resolve().parent
HANG_SECONDS = 120
# A few tests, and the shortest demo.
SHORT = ["--word", "selftest:bti.", "--word", "selftest:receive.", "--word", "demo:rounds=1"]


class Report(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def command(self, *words):
        return [sys.executable, "-B", HERE / "board_report.py", *words, "--out", self.directory]

    def run_report(self, *words, status=0):
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        path = self.directory / "board-report-virt.txt"
        return path.read_text(encoding="utf-8") if path.exists() else done.stderr

    def section(self, text, title):
        found = re.search(rf"^==== {title}.*? ====\n\n(.*?)(?=\n==== |\Z)", text, re.DOTALL | re.MULTILINE)
        self.assertTrue(found, text)
        return found.group(1)

    def check_first_lines(self, text):
        first = self.section(text, "first lines")
        self.assertRegex(first, r"\Aboot: nopscope board=virt level=\d .*\nboot: midr=0x")
        self.assertRegex(first, r"\nok +board: virt, entered at EL\d")
        self.assertRegex(first, r"\nok +CPU: QEMU's -cpu max")

    def check_selftest(self, text):
        tests = self.section(text, "selftest")
        self.assertIn("\nok receive.a_byte_wakes_a_core (one came)\n", tests)
        self.assertRegex(tests, r"\nselftest: [1-9]\d* passed, 0 failed\n\Z")

    def test_all_parts(self):
        text = self.run_report("virt", "--qemu", *SHORT)
        self.assertRegex(text, r"\Anopscope board report\n\nboard: virt, under QEMU\nversion: nopscope \d.*\ncommit: \S")
        self.check_first_lines(text)
        self.check_selftest(text)
        self.assertRegex(self.section(text, "bench"), r"\ngraph//1/0 +[1-9][\d.]* +[1-9][\d.]* +[1-9][\d.]*\n")
        recording = self.section(text, "recording")
        self.assertRegex(recording, r"\nintegrity: generated [\d,]{4,} = .*lost 0; corrupt_frames 0, gaps 0")
        self.assertRegex(recording, r"\Anopscope: recording.nsc: .* events in 1 session; dropped 0, lost 0")
        self.assertRegex(recording, r"\n *[\d,]+ .* lua\w+ ")
        self.assertNotIn("not done", text)

    def test_a_part_is_added_to_what_is_there(self):
        text = self.run_report("virt", "--qemu", "--part", "recording", *SHORT)
        self.assertEqual(self.section(text, "selftest"), "not done\n")
        self.assertEqual(self.section(text, "bench"), "not done\n")
        recording = self.section(text, "recording")
        text = self.run_report("virt", "--qemu", "--part", "selftest", *SHORT)
        self.check_selftest(text)
        self.assertEqual(self.section(text, "recording"), recording)
        self.assertEqual(self.section(text, "bench"), "not done\n")

    def test_as_a_person_does_it(self):
        """With --from, on a board that is switched on when the report asks for it."""
        board = board_report.Qemu("virt", {"selftest": ["bti.", "receive."]})
        self.addCleanup(board.stop)
        uri = board.prepare("selftest")
        # zcu102 represents any board without a card. --from refuses virt.
        with subprocess.Popen(self.command("zcu102", "--from", uri, "--part", "selftest"), stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as report:
            said = ""
            for line in report.stderr:
                said += line
                if "switch the board on" in line:
                    board.start()
        self.assertEqual(report.returncode, 0, said)
        self.assertIn("build/zcu102/firmware/selftest.elf", said)
        self.assertIn("not done yet: bench, recording", said)
        text = (self.directory / "board-report-zcu102.txt").read_text(encoding="utf-8")
        self.check_first_lines(text)
        self.check_selftest(text)

    def test_what_makes_no_sense(self):
        for words, said in ((["virt"], "give --from"), (["virt", "--qemu", "--from", "serial:/dev/null"], "give --from"),
                            (["virt", "--from", "serial:/dev/null"], "virt is a machine of QEMU's"),
                            (["rpi4", "--from", "serial:/dev/null"], "give one --part"),
                            (["rpi5", "--qemu"], "QEMU has no model of rpi5"), (["rpi6", "--qemu"], "invalid choice")):
            self.assertIn(said, self.run_report(*words, status=2))

    def test_a_part_that_does_not_come_to_its_end(self):
        text = self.run_report("virt", "--qemu", "--part", "selftest", "--word", "selftest:crash=brk", status=1)
        self.assertIn("\n(the last line did not come: the selftest has not ended)\n", self.section(text, "selftest"))


if __name__ == "__main__":
    os.chdir(HERE)
    unittest.main()
