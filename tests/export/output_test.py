#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an export goes, and what it says when it can not."""

import os
import pathlib

import exports


class Output(exports.Case):
    FORMAT = "folded"

    def fail(self, *options, status=3):
        done = exports.run(exports.NOPSCOPE, "export", *options, status=status)
        self.assertEqual(done.stdout, b"")
        said = done.stderr.decode().strip()
        self.assertEqual(len(said.splitlines()), 1, said)
        return said

    def test_an_unknown_format_names_those_that_there_are(self):
        said = self.fail(exports.recording("torture"), "--to", "xml", "-o", self.directory / "x", status=2)
        self.assertRegex(said, "--to xml: no such format; there are .*folded, .*perfetto")
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_file_is_replaced_only_when_all_is_written(self):
        out = self.export("torture")
        before = out.read_bytes()
        self.export("samples", to="folded")
        bad = self.directory / "bad.nsc"
        bad.write_bytes(b"")
        self.assertRegex(self.fail(bad, "--to", "folded", "-o", out), "bad.nsc: the file is empty")
        self.assertRegex(self.fail(bad, "--to", "perfetto", "-o", out), "bad.nsc: the file is empty")
        self.assertEqual(out.read_bytes(), before)
        out.write_bytes(b"old")
        self.export("torture")
        self.assertEqual(out.read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.directory)), ["bad.nsc", "samples.folded", "torture.folded"])

    def test_what_is_no_file_is_not_replaced(self):
        self.assertRegex(self.fail(exports.recording("torture"), "--to", "folded", "-o", self.directory),
                         "is there and is no file")
        self.assertRegex(self.fail(exports.recording("torture"), "--to", "csv", "-o", self.directory / "no" / "x"),
                         "cannot write .*No such file")

    def test_another_image_is_refused(self):
        other = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / "virt/firmware/sweep.elf"
        for name in ("ctf", "folded", "gmon", "perfetto", "pprof", "speedscope", "sqlite", "trace-cmd", "uftrace"):
            said = self.fail(exports.recording("torture"), "--to", name, "-o", self.directory / "x", "--image", other)
            self.assertRegex(said, "torture.nsc: .* is not the image that was recorded")
        self.assertEqual(os.listdir(self.directory), [])

    def test_help_lists_the_formats(self):
        text = exports.run(exports.NOPSCOPE, "export", "--help").stdout.decode()
        for name in ("callgrind", "chrome", "csv", "ctf", "folded", "gmon", "perfetto", "pprof", "speedscope", "sqlite", "trace-cmd", "uftrace"):
            self.assertRegex(text, rf"\n  {name} +\w")


if __name__ == "__main__":
    exports.main()
