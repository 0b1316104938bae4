#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record` does to existing files: it keeps them or refuses.

    record_files_test.py
"""

import os
import pathlib
import signal
import unittest

import cli

STREAM, PROFILE = cli.GOLDEN / "stream.bin", cli.GOLDEN / "profile.bin"
NOTHING = {"no byte": b"", "text": b"U-Boot 2024.01\r\n" * 50, "noise": bytes(range(7, 256, 5)) * 40,
           "no hello": b"\0".join(STREAM.read_bytes().split(b"\0")[2:])}


class RecordFiles(cli.Case):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "run.nsc"
        self.old = self.directory / "run.nsc.old"

    def record(self, line, *options, status=0, file=None):
        return cli.nopscope("record", "-q", "--from", f"file:{line}", "-o", file or self.file, *options, status=status)

    def begin(self, command, *options, file=None):
        """Starts a recorder that runs until the test ends it."""
        recorder = self.start("record", "-q", "--from", f"exec:{command}", "-o", file or self.file, *options)
        # The children: the command, and a guard that ends the command when the recorder is killed.
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children")
        self.wait_until(lambda: len(children.read_text().split()) == 2)
        self.children = children.read_text().split()
        return recorder

    def has_ended(self, process):
        """It is gone, or nobody has asked for its exit status (Z)."""
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    def test_a_line_without_a_session_replaces_nothing(self):
        line = self.directory / "line"
        for what, data in NOTHING.items():
            with self.subTest(what):
                line.write_bytes(data)
                done = self.record(line, status=None)
                self.assertIn("run.nsc (not written): 0 bytes", done.stderr)
                self.assertEqual(self.names(), {"line"})
        self.record(STREAM)
        self.record(PROFILE)
        before = self.file.read_bytes(), self.old.read_bytes()
        for what, data in NOTHING.items():
            with self.subTest(what):
                line.write_bytes(data)
                self.record(line, status=None)
                self.assertEqual((self.file.read_bytes(), self.old.read_bytes()), before)
        self.assertEqual(self.names(), {"line", "run.nsc", "run.nsc.old"})

    def test_a_killed_recorder_that_heard_nothing_destroys_nothing(self):
        self.record(STREAM)
        before = self.file.read_bytes()
        recorder = self.begin("sleep 100")
        part = self.directory / "run.nsc.part"
        self.wait_until(lambda: part.exists() and part.stat().st_size)
        recorder.kill()
        recorder.wait()
        self.assertEqual(self.file.read_bytes(), before)
        self.record(PROFILE)  # it replaces the remaining part
        self.assertEqual(self.names(), {"run.nsc", "run.nsc.old"})
        self.assertEqual(self.old.read_bytes(), before)

    def test_a_recording_is_read_while_it_grows_and_when_a_signal_has_ended_it(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            self.file.unlink(missing_ok=True)
            recorder = self.begin(f"cat {PROFILE}; exec sleep 100", "--no-until-end")
            self.wait_until(lambda: self.file.exists() and self.file.read_bytes().count(b"COUN"))
            self.assertIn("profile", cli.nopscope("report", self.file).stdout)
            recorder.send_signal(number)
            recorder.wait()
            self.wait_until(lambda: all(map(self.has_ended, self.children)))
            self.assertIn("profile", cli.nopscope("report", self.file).stdout)
        self.assertIn("without an end marker", cli.nopscope("info", self.file).stdout)

    def test_the_old_recording_and_its_raw_bytes_are_kept(self):
        raw, line, last = self.directory / "run.raw", self.directory / "line", None
        for now, before in ((STREAM, None), (PROFILE, STREAM), (STREAM, PROFILE)):
            self.record(now, "--save-line", raw)
            self.assertEqual(raw.read_bytes(), now.read_bytes())
            self.assertIn(now.stem, cli.nopscope("report", self.file).stdout)
            if before:
                self.assertEqual((self.old.read_bytes(), (self.directory / "run.raw.old").read_bytes()), (last, before.read_bytes()))
            last = self.file.read_bytes()
        self.assertEqual(self.names(), {"run.nsc", "run.nsc.old", "run.raw", "run.raw.old"})
        line.write_bytes(b"")
        self.record(line, "--save-line", raw, status=None)
        self.assertEqual((self.file.read_bytes(), raw.read_bytes()), (last, STREAM.read_bytes()))

    def refused(self, *command, saying):
        started = self.directory / "started"
        done = cli.nopscope("record", "-q", "--from", f"exec:touch {started}; cat {STREAM}", *command, status=3)
        self.assert_sentence(done, saying)
        self.assertFalse(started.exists(), "the target was started")

    def test_a_second_recorder_on_one_file_is_refused(self):
        # One recorder has heard nothing yet, the other has.
        for command, sign in (("sleep 100", self.directory / "run.nsc.part"), (f"cat {STREAM}; sleep 100", self.file)):
            with self.subTest(command):
                self.file.unlink(missing_ok=True)
                first = self.begin(command, "--no-until-end", "--save-line", self.directory / "run.raw")
                self.wait_until(sign.exists)
                self.refused("-o", self.file, saying="already: end that first, or give another name")
                self.refused("-o", self.directory / "other.nsc", "--save-line", self.directory / "run.raw", saying="already")
                if f":{sign.stat().st_ino} " in pathlib.Path("/proc/locks").read_text():
                    self.refused("-o", self.file, saying=f"process {first.pid} records into")
                first.kill()
                first.wait()
                self.record(PROFILE)  # no lock remains
                self.assertIn("profile", cli.nopscope("report", self.file).stdout)

    def test_files_that_are_no_recordings_are_refused(self):
        source = self.directory / "main.c"
        source.write_text("int main(void) { return 0; }\n")
        self.refused("-o", source, saying="main.c is there and is no recording")
        self.assertEqual(source.read_text(), "int main(void) { return 0; }\n")
        source.rename(self.old)
        self.record(STREAM, status=3)
        self.assertEqual(self.old.read_text(), "int main(void) { return 0; }\n")
        self.assertEqual(self.names(), {"run.nsc.old"})

    def test_a_file_that_cannot_be_written_is_said_before_the_target_starts(self):
        for out, more, saying in ((self.directory, [], "is a directory"), ("/dev/full", [], "No space left on device"),
                                  (self.directory / "nowhere/run.nsc", [], "No such file or directory"),
                                  (self.file, ["--save-line", self.directory], "is a directory")):
            self.refused("-o", out, *more, saying=saying)
        if os.geteuid() != 0:
            self.directory.chmod(0o555)
            self.refused("-o", self.file, saying="Permission denied")
            self.directory.chmod(0o755)

    def test_an_input_beside_the_output_is_refused(self):
        self.record(STREAM)
        self.file.rename(self.old)
        before = self.old.read_bytes()
        self.record(self.old, status=2)
        part = self.directory / "run.nsc.part"
        part.write_bytes(before)
        self.record(part, status=2)
        self.record(STREAM, "--save-line", self.old, status=2)
        self.assertEqual((self.old.read_bytes(), part.read_bytes()), (before, before))
        self.assertEqual(self.names(), {"run.nsc.old", "run.nsc.part"})


if __name__ == "__main__":
    unittest.main()
