# SPDX-License-Identifier: Apache-2.0
"""Code that the tests of the command line share. NOPSCOPE: the command."""

import functools
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import time
import unittest

NOPSCOPE = os.environ["NOPSCOPE"]
HOST_BUILD = pathlib.Path(os.environ["NOPSCOPE_HOST_BUILD"])
DEMO = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / "virt/firmware/demo.elf"
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "conformance"
HANG_SECONDS = 60


def run(*command, status=0, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=HANG_SECONDS, check=False, **options)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}, not {status}\n"
                             f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done


def nopscope(*arguments, status=0, **options):
    return run(NOPSCOPE, *arguments, status=status, **options)


@functools.cache
def help_of(command):
    """A command's --help, without its examples."""
    return nopscope(command, "--help").stdout.split("Examples:")[0]


@functools.cache
def commands():
    """The commands in --help."""
    return re.findall(r"^  ([a-z][a-z-]*) ", nopscope("--help").stdout, re.MULTILINE)


def options_of(command):
    """The long options in a command's --help."""
    lines = re.findall(r"^ {2,4}(-\S+)", help_of(command), re.MULTILINE)
    return {name for line in lines for name in re.findall(r"--[a-z][a-z-]*", line)}


def typed_options(command):
    """Returns (name, type) of each option except --help and --version. A flag's type is empty."""
    for names, kind in re.findall(r"^ {2,4}(-\S+)(?: ([A-Z]+|\{\S*\})(?:=\S+)?(?!\S))?", help_of(command), re.MULTILINE):
        name = re.search(r"--[a-z][a-z-]*", names)
        if name and name.group() not in ("--help", "--version"):
            yield name.group(), kind


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def names(self):
        return {path.name for path in self.directory.iterdir()}

    def start(self, *arguments, **pipes):
        """Starts the command, which the test's end kills. What `pipes` does not name is /dev/null."""
        none = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        process = subprocess.Popen([NOPSCOPE, *map(str, arguments)], **none | pipes)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def terminal(self):
        """Both ends of a terminal, the second one for the command."""
        ends = pty.openpty()
        for end in ends:
            self.addCleanup(os.close, end)
        return ends

    def closed_pipe(self):
        """The end of a pipe that nothing reads any more."""
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        return writer

    def wait_until(self, condition, seconds=HANG_SECONDS):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it never came")
            time.sleep(0.01)

    def assert_sentence(self, done, *sentences):
        """The command has written one line to standard error, with each of these texts."""
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for sentence in sentences:
            self.assertIn(sentence, done.stderr)
