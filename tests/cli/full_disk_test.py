#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of command_lines.py on a full disk: a tmpfs of a few pages. If this process may not
mount one, ctest lists the test as skipped. cli.output_table's file size limit tests the same.

Exit status 77: skipped.
"""

import errno
import os
import random
import subprocess
import sys
import unittest

import cli
import line_test
import output_table_test
import trace2

PAGE = 4096
DISK_PAGES = 64
FULL = "(No space left on device|has room for 0 bytes|database or disk is full)"
MOUNTED = "NOPSCOPE_MAY_MOUNT"


def namespace():
    """Runs this file again in a namespace where it may mount, invisible to other processes."""
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        if subprocess.run(["unshare", *options, "true"], capture_output=True, check=False).returncode == 0:
            os.execvpe("unshare", ["unshare", *options, sys.executable, "-B", *sys.argv], os.environ | {MOUNTED: "1"})
    print("this machine lets nobody mount a tmpfs: run the tests as root, or allow user namespaces")
    sys.exit(77)


class FullDisk(output_table_test.Base):
    def setUp(self):
        super().setUp()
        self.disk = self.directory / "disk"
        self.disk.mkdir()
        self.there.add("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_PAGES * PAGE}", "none", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)

    def fill(self, pages=0):
        """Fills the disk, except for `pages` pages."""
        filler = self.disk / "filler"
        with open(filler, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(PAGE))
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
        os.truncate(filler, filler.stat().st_size - pages * PAGE)

    def test_an_output_of_its_own(self):
        old = self.files["nsc"].read_bytes()
        for line in self.lines():
            if "{out}" not in line:
                continue
            out = self.disk / "out"
            is_directory = any(f"--format {name} " in line for name in output_table_test.export_formats.DIRECTORIES)
            if not is_directory:
                out.write_bytes(old)
            self.fill()
            self.check(line, 3, FULL, out=out)
            with self.subTest(line=line):
                if not is_directory:
                    self.assertEqual(out.read_bytes(), old)
                self.assertLessEqual(set(os.listdir(self.disk)), {"filler", "out"})
            for file in self.disk.iterdir():
                file.unlink()

    def test_standard_output(self):
        self.fill()
        for line in self.lines():
            if "{out}" in line or line.startswith("record"):
                continue
            with open(self.disk / "out", "ab") as file:
                self.check(line, 3, FULL, stdout=file)

    def test_what_was_recorded_until_the_disk_was_full_is_kept(self):
        good = (cli.GOLDEN / "stream.bin").read_bytes()
        line = self.directory / "long"
        line.write_bytes(trace2.frame(trace2.HELLO, 1, line_test.hello_of(good)) + b"".join(
            trace2.frame(trace2.CONSOLE, 1, random.Random(n).randbytes(100).hex().encode(), n) for n in range(1000)))
        new = self.disk / "new"
        old = self.files["nsc"].read_bytes()
        for pages in (0, 1, 8):
            new.write_bytes(old)
            self.fill(pages)
            done = cli.nopscope("record", "-q", "--from", f"file:{line}", "-o", new, status=3)
            self.assertEqual(done.stderr, f"nopscope: cannot write {new}: No space left on device\n")
            if pages == 0:
                self.assertEqual(set(os.listdir(self.disk)), {"filler", "new"})
                self.assertEqual(new.read_bytes(), old)
            else:
                self.assertEqual(set(os.listdir(self.disk)), {"filler", "new", "new.old"})
                self.assertEqual((self.disk / "new.old").read_bytes(), old)
                self.assertIn("sessions  1\n", cli.nopscope("info", new).stdout)
            for file in self.disk.iterdir():
                file.unlink()


if __name__ == "__main__":
    if MOUNTED in os.environ:
        unittest.main()
    namespace()
