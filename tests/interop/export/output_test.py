#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an export goes, and the errors if it cannot be written."""

import gzip
import os
import pathlib
import struct
import subprocess

import export_formats
import exports
import packets


class Output(exports.Case):
    FORMAT = "folded"

    def fail(self, *options, status=3):
        done = exports.run(exports.NOPSCOPE, "export", *options, status=status)
        self.assertEqual(done.stdout, b"")
        said = done.stderr.decode().strip()
        self.assertEqual(len(said.splitlines()), 1, said)
        return said

    def test_an_unknown_format_names_those_that_there_are(self):
        said = self.fail(exports.recording("torture"), "--format", "xml", "-o", self.directory / "x", status=2)
        self.assertRegex(said, "--format: expected one of .*folded, .*perfetto.*, not xml")
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_file_is_replaced_only_when_all_is_written(self):
        out = self.export("torture")
        before = out.read_bytes()
        self.export("samples", to="folded")
        bad = self.directory / "bad.nsc"
        bad.write_bytes(b"")
        self.assertRegex(self.fail(bad, "--format", "folded", "-o", out), "bad.nsc: the file is empty")
        self.assertRegex(self.fail(bad, "--format", "perfetto", "-o", out), "bad.nsc: the file is empty")
        self.assertEqual(out.read_bytes(), before)
        out.write_bytes(b"old")
        self.export("torture")
        self.assertEqual(out.read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.directory)), ["bad.nsc", "samples.folded", "torture.folded"])

    def test_what_is_no_file_is_not_replaced(self):
        self.assertRegex(self.fail(exports.recording("torture"), "--format", "folded", "-o", self.directory),
                         "is there and is no file")
        self.assertRegex(self.fail(exports.recording("torture"), "--format", "csv", "-o", self.directory / "no" / "x"),
                         "cannot write .*No such file")

    def test_a_stream_gets_what_a_file_gets(self):
        for to in export_formats.FILES:
            expected = self.export("torture", to=to).read_bytes()
            out = self.directory / "stdout"
            for name in ("-", "/dev/stdout", "/proc/self/fd/1"):
                with self.subTest(to=to, name=name), open(out, "wb") as file:
                    file.write(b"before\n")
                    file.flush()
                    done = subprocess.run([exports.NOPSCOPE, "export", exports.recording("torture"), "--format", to, "-o", name], stdout=file,
                                          stderr=subprocess.PIPE, check=False)
                    self.assertEqual((done.returncode, done.stderr.decode()), (0, self.said))
                    self.assertTrue(out.read_bytes() == b"before\n" + expected)
            os.truncate(out, 0)
        self.assertTrue(os.path.islink("/dev/stdout"), "a link to a stream stays")

    def test_a_name_that_ends_in_gz_is_compressed(self):
        plain = {"perfetto": packets.inflated, "pprof": gzip.decompress}
        for to in (name for name in export_formats.FILES if name != "sqlite"):
            with self.subTest(to=to):
                file, stream = self.directory / f"{to}.gz", self.directory / f"pipe.{to}.gz"
                os.mkfifo(stream)
                command = (exports.NOPSCOPE, "export", exports.recording("torture"), "--format", to, "-o")
                exports.run(*command, file)
                with open(self.directory / "read", "wb") as read, subprocess.Popen(["cat", stream], stdout=read) as reader:
                    exports.run(*command, stream)
                    self.assertEqual(reader.wait(), 0)
                self.assertTrue((self.directory / "read").read_bytes() == file.read_bytes())
                expected = plain.get(to, bytes)(self.export("torture", to=to).read_bytes())
                self.assertTrue(gzip.decompress(file.read_bytes()) == expected)
        html = self.directory / "page.html.gz"
        exports.run(exports.NOPSCOPE, "html", exports.recording("torture"), "-o", html)
        self.assertTrue(gzip.decompress(html.read_bytes()).startswith(b"<!doctype html>"))

    def test_what_cannot_be_compressed_is_refused(self):
        for to in ("sqlite", *export_formats.DIRECTORIES):
            said = self.fail(exports.recording("torture"), "--format", to, "-o", self.directory / "x.gz", status=2)
            self.assertRegex(said, "x.gz: .*give a name without .gz")
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_pipe_and_a_device_are_written(self):
        expected = self.export("torture").read_bytes()
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        with open(self.directory / "read", "wb") as read, subprocess.Popen(["cat", pipe], stdout=read) as reader:
            exports.run(exports.NOPSCOPE, "export", exports.recording("torture"), "--format", "folded", "-o", pipe)
            self.assertEqual(reader.wait(), 0)
        self.assertEqual((self.directory / "read").read_bytes(), expected)
        self.assertTrue(pipe.is_fifo())
        exports.run(exports.NOPSCOPE, "export", exports.recording("torture"), "--format", "folded", "-o", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_a_link_stays_and_its_target_is_written(self):
        expected = self.export("torture").read_bytes()
        link, target = self.directory / "link", self.directory / "target"
        link.symlink_to("target")
        for before in (None, b"old"):
            if before is not None:
                target.write_bytes(before)
            exports.run(exports.NOPSCOPE, "export", exports.recording("torture"), "--format", "folded", "-o", link)
            self.assertEqual(os.readlink(link), "target")
            self.assertEqual(target.read_bytes(), expected)

    def test_a_page_on_standard_output_is_alone_there(self):
        recording = exports.recording("torture")
        page = exports.run(exports.NOPSCOPE, "diff", recording, recording, "--html", "-").stdout
        self.assertTrue(page.startswith(b"<!doctype html>") and page.rstrip().endswith(b"</html>"))
        self.assertEqual(page, exports.run(exports.NOPSCOPE, "diff", recording, recording, "--html", "/dev/fd/1").stdout)

    def deep(self, depth):
        """Makes `depth` nested calls of one function: kilobytes, but gigabytes of call paths."""
        calls, names, out = (self.directory / name for name in ("calls", "names", "deep.nsc"))
        events = [(0, 1, 100 * n) for n in range(1, depth + 1)] + [(1, 1, 100 * (depth + n)) for n in range(1, depth + 1)]
        calls.write_bytes(b"".join(struct.pack("<BIQ", *event) for event in events))
        names.write_text(f"1 0 {'f' * 3000}\n")
        exports.run(os.environ["NOPSCOPE_REPORT_BENCH"], calls, "--names", names, "--nsc", out)
        return out

    def test_a_sum_of_more_than_a_gigabyte_is_asked_for(self):
        deep = self.deep(2000)  # 2000 * 2001 / 2 names of 3001 bytes
        self.assertLess(deep.stat().st_size, 10_000)
        before = sorted(os.listdir(self.directory))
        for out in (self.directory / "x", "-", "/dev/null"):
            said = self.fail(deep, "--format", "folded", "-o", out)
            self.assertRegex(said, r" would have 6\.0 GB, and more than 1\.0 GB is written only with --yes")
        folded = ("diff", deep, deep, "--format", "folded")
        self.assertIn(b"standard output would have 6.0 GB", exports.run(exports.NOPSCOPE, *folded, status=3).stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        for command in (folded, ("export", deep, "--format", "folded", "-o", "-")):
            with subprocess.Popen([exports.NOPSCOPE, *command, "--yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertEqual(process.stdout.read(10), b"f" * 10)
                process.stdout.close()
                self.assertRegex(process.stderr.read().decode(), "^nopscope: cannot write standard output: Broken pipe\n$")
                self.assertEqual(process.wait(), 3)
        # This format stores names as numbers. So it is small, and nopscope does not ask.
        exports.run(exports.NOPSCOPE, "export", deep, "--format", "pprof", "-o", self.directory / "pprof")

    def test_what_the_disk_has_no_room_for_is_refused_before_it_begins(self):
        deep = self.deep(60_000)  # 5.4 TB
        said = self.fail(deep, "--format", "folded", "-o", self.directory / "x", "--yes")
        self.assertRegex(said, r"x would have 54\d\d\.\d GB, and its disk has room for [\d.]+ [MG]B: make room")
        self.assertRegex(self.fail(deep, "--format", "pprof", "-o", self.directory / "x"), r"x, unpacked, would have 1\.8 GB, and more than")
        self.assertFalse([name for name in os.listdir(self.directory) if name.startswith("x")])

    def test_another_image_is_refused(self):
        other = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / "virt/firmware/sweep.elf"
        for name in export_formats.WHAT:
            said = self.fail(exports.recording("torture"), "--format", name, "-o", self.directory / "x", "--image", other)
            self.assertRegex(said, "torture.nsc: .* is not the image that was recorded")
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    exports.main()
