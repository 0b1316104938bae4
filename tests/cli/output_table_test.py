#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command with an output that it cannot write: one exit code, one sentence, no damaged file.

Each command of `nopscope --help` has a row in command_lines.py; a command without one fails the test.
A limit of the files' size is the disk that is full. /dev/full is one that says so.
"""

import json
import os
import random
import re
import resource
import socketserver
import struct
import subprocess
import threading
import unittest

import cli
import command_lines
import export_formats
import line_test
import trace2

CODEC_BENCH = cli.HOST_BUILD / "bin" / "nopscope-codec-bench"

FAULTS = {  # of standard output: the sentence
    "full": "cannot write standard output: No space left on device",
    "pipe": None,  # as of `| head`, which has all that it wants
    "closed": "cannot write standard output: Bad file descriptor",
    "disk": "cannot write (standard output|the temporary database|{temporary}/nopscope-.*): ",
}


def no_room(size=0):
    """Makes each write behind `size` fail. The limit works like ENOSPC, for every user and for root."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class Answer(socketserver.StreamRequestHandler):
    """Answers a request on a control socket."""

    def handle(self):
        self.rfile.readline()
        self.wfile.write(json.dumps({"status": 0, "text": "hello"}).encode() + b"\n")


class Table(cli.Case):
    def setUp(self):
        super().setUp()
        self.files = {name: self.directory / name for name in ("nsc", "line", "elf", "socket")}
        events, now = b"", 1000
        for kind, function in 50 * ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (1, 1)):
            now += 100
            events += struct.pack("<BIQ", kind, function, now)
        (self.directory / "events").write_bytes(events)
        (self.directory / "symbols").write_text("".join(f"{n} 0 f{n}\n" for n in range(5)))
        cli.run(CODEC_BENCH, self.directory / "events", "--names", self.directory / "symbols", "--nsc", self.files["nsc"])
        self.files["line"].write_bytes((cli.GOLDEN / "stream.bin").read_bytes())
        self.files["elf"].write_bytes(cli.DEMO.read_bytes())
        recorder = self.enterContext(socketserver.UnixStreamServer(str(self.files["socket"]), Answer))
        self.addCleanup(recorder.shutdown)
        threading.Thread(target=recorder.serve_forever, args=(0.05,), daemon=True).start()
        self.inputs = {name: self.files[name].read_bytes() for name in ("nsc", "line", "elf")}
        self.there = set(os.listdir(self.directory))

    def lines(self):
        return [line for command in cli.commands() for line in command_lines.TABLE[command]]

    def check(self, line, status, sentence, out="/dev/null", stdout=subprocess.DEVNULL, **options):
        files = self.files | {"out": out, "new": self.directory / "new"}
        words = command_lines.words_of(line, files)
        done = subprocess.run([cli.NOPSCOPE, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                              timeout=cli.HANG_SECONDS, check=False, env=os.environ | {"TMPDIR": str(self.directory)}, **options)
        said = done.stderr.splitlines()
        if words[0] == "record":  # its last lines describe the recording and its line
            said = [each for each in said if not re.match(r"nopscope: (\S+: [\d,]+ bytes, from |the line: )", each)]
        with self.subTest(line=line, out=out):
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(len(said), 1 if sentence else 0, done.stderr)
            if sentence:
                self.assertRegex(said[0], "^nopscope: .*" + sentence.replace("{temporary}", str(self.directory)))
            self.assertEqual({name: self.files[name].read_bytes() for name in self.inputs}, self.inputs, "inputs are as before")
            left = set(os.listdir(self.directory)) - self.there
            self.assertLessEqual(left, {"new"})
        (self.directory / "new").unlink(missing_ok=True)

    def check_stdout(self, line, fault):
        with open({"full": "/dev/full", "disk": self.directory / "events"}.get(fault, os.devnull), "ab") as file:
            before = {"closed": lambda: os.close(1), "disk": no_room}.get(fault)
            sentence = "cannot write standard output: Broken pipe; the rec" if fault == "pipe" and line.startswith("record") else FAULTS[fault]
            self.check(line, 3, sentence, stdout=self.closed_pipe() if fault == "pipe" else file, preexec_fn=before)

    def test_each_command_has_a_row(self):
        self.assertLessEqual(set(cli.commands()), set(command_lines.TABLE))

    def test_help_is_checked_as_any_output(self):
        for words in ("--help", "--version", *(f"{command} --help" for command in cli.commands())):
            self.check_stdout(words, "full")
        for fault in FAULTS:
            self.check_stdout("--help", fault)

    def test_standard_output(self):
        for line in self.lines():
            if "{out}" in line or (line.startswith("record") and "-q" in line):
                continue
            for fault in FAULTS:
                if fault == "disk" and line.startswith("record"):
                    continue  # the disk has no room for its recording: tested below
                self.check_stdout(line, fault)

    def test_an_output_of_its_own(self):
        for line in self.lines():
            if "{out}" not in line:
                continue
            is_directory = any(f"--format {name} " in line for name in export_formats.DIRECTORIES)
            self.check(line, 3, "/dev/full " if is_directory else "cannot write /dev/full: No space left on device", out="/dev/full")
            out = self.directory / "out"
            self.check(line, 3, "cannot (write|make) ", out=out, preexec_fn=no_room)
            if not is_directory:
                out.write_bytes(self.inputs["nsc"])
                self.there.add("out")
                self.check(line, 3, "cannot write ", out=out, preexec_fn=no_room)
                self.assertEqual(out.read_bytes(), self.inputs["nsc"], line)
                self.there.remove("out")
                out.unlink()
            self.check(line, 3, "cannot (write|make|create) ", out=self.directory / "no" / "out")
            write = self.closed_pipe()
            self.check(line, 2 if is_directory else 3, "is no directory" if is_directory else "cannot write .*: Broken pipe",
                       out=f"/dev/fd/{write}", pass_fds=[write])

    def test_what_was_recorded_until_the_disk_was_full_is_kept(self):
        self.files["line"].write_bytes(trace2.frame(trace2.HELLO, 1, line_test.hello_of(self.inputs["line"])) + b"".join(
            trace2.frame(trace2.CONSOLE, 1, random.Random(n).randbytes(100).hex().encode(), n) for n in range(1000)))
        new, old, before = self.directory / "new", self.inputs["nsc"], self.names()
        for size in (0, 4096, 32768):
            new.write_bytes(old)
            done = cli.nopscope("record", "-q", "--from", f"file:{self.files['line']}", "-o", new, status=3,
                                preexec_fn=lambda: no_room(size))
            self.assertEqual(done.stderr, f"nopscope: cannot write {new}: File too large\n")
            if size == 0:
                self.assertEqual((self.names() - before, new.read_bytes()), ({"new"}, old))
            else:
                self.assertEqual((self.names() - before, (self.directory / "new.old").read_bytes()), ({"new", "new.old"}, old))
                self.assertIn("sessions  1\n", cli.nopscope("info", new).stdout)

    def test_its_own_input(self):
        """By its own name. Files.NoOutputIsAnInput has links to it."""
        said = "is a file that this command reads"
        for line in self.lines():
            for name in self.inputs:
                if f"{{{name}}}" in line and "{out}" in line:
                    self.check(line, 2, said, out=self.files[name])
                elif f"{{{name}}}" in line:
                    with open(self.files[name], "ab") as file:
                        self.check(line, 2, f"standard output {said}", stdout=file)

    def test_two_outputs_in_one(self):
        self.check("record -q --from file:{line} -o {new} --save-line {out}", 2, "are one file", out=self.directory / "new")

    def test_defaults_are_an_input(self):
        defaults = self.directory / "nopscope.toml"
        defaults.write_text("board = 'x'\n[x]\ntop = 3\n")
        self.there.add(defaults.name)
        self.check("html {nsc} -o {out}", 2, "is a file that this command reads", out=defaults, cwd=self.directory)
        self.assertIn("top = 3", defaults.read_text())


if __name__ == "__main__":
    unittest.main()
