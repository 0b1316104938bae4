#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an export goes, and the errors if it cannot be written."""

import gzip
import os
import pathlib
import subprocess
import threading

import export_formats
import exports
import perfetto

TORTURE = exports.recording("torture")


class Output(exports.Case):
    FORMAT = "folded"

    def fail(self, source, to, out, *options, status=3, said):
        """An export that ends with one sentence."""
        done = exports.nopscope("export", source, "--format", to, "-o", out, *options, status=status)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), (b"", 1))
        self.assertRegex(done.stderr.decode(), said)

    def write(self, out, to="folded"):
        exports.nopscope("export", TORTURE, "--format", to, "-o", out)

    def read_from_pipe(self, pipe, to):
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            writer = threading.Thread(target=self.write, args=(pipe, to))
            writer.start()
            found = reader.stdout.read()
            writer.join()
        self.assertEqual((reader.returncode, pipe.is_fifo()), (0, True))
        return found

    def test_what_makes_no_sense_writes_nothing(self):
        out = self.directory / "x"
        self.fail(TORTURE, "xml", out, status=2, said="--format: expected one of .*folded, .*perfetto.*, not xml")
        for to in ("sqlite", *export_formats.DIRECTORIES):
            self.fail(TORTURE, to, self.directory / "x.gz", status=2, said="x.gz: .*give a name without .gz")
        self.fail(TORTURE, "folded", self.directory, said="is there and is no file")
        other = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / "virt/firmware/sweep.elf"
        for to in export_formats.WHAT:
            self.fail(TORTURE, to, out, "--image", other, said="torture.nsc: .* is not the image that was recorded")
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_stream_gets_what_a_file_gets(self):
        for to in export_formats.FILES:
            expected = self.export("torture", to=to).read_bytes()
            out = self.directory / "stdout"
            for name in ("-", "/dev/stdout", "/proc/self/fd/1"):
                with self.subTest(to=to, name=name), open(out, "wb") as file:
                    file.write(b"before\n")
                    file.flush()
                    done = subprocess.run([exports.NOPSCOPE, "export", TORTURE, "--format", to, "-o", name], stdout=file,
                                          stderr=subprocess.PIPE, check=False)
                    self.assertEqual((done.returncode, done.stderr.decode()), (0, self.said))
                    self.assertTrue(out.read_bytes() == b"before\n" + expected)
            os.truncate(out, 0)
        self.assertTrue(os.path.islink("/dev/stdout"), "a link to a stream stays")
        self.write("/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_a_name_that_ends_in_gz_is_compressed(self):
        plain = {"perfetto": perfetto.inflated, "pprof": gzip.decompress}
        for to in (name for name in export_formats.FILES if name != "sqlite"):
            with self.subTest(to=to):
                file = self.directory / f"{to}.gz"
                self.write(file, to)
                self.assertTrue(self.read_from_pipe(self.directory / f"pipe.{to}.gz", to) == file.read_bytes())
                expected = plain.get(to, bytes)(self.export("torture", to=to).read_bytes())
                self.assertTrue(gzip.decompress(file.read_bytes()) == expected)
        html = self.directory / "page.html.gz"
        exports.nopscope("html", TORTURE, "-o", html)
        self.assertTrue(gzip.decompress(html.read_bytes()).startswith(b"<!doctype html>"))

    def test_a_page_on_standard_output_is_alone_there(self):
        pages = [exports.nopscope("diff", TORTURE, TORTURE, "--html", out).stdout for out in ("-", "/dev/fd/1")]
        self.assertTrue(pages[0].startswith(b"<!doctype html>") and pages[0].rstrip().endswith(b"</html>"))
        self.assertEqual(*pages)

    def deep(self, depth):
        """Makes `depth` nested calls of one function: kilobytes, but gigabytes of call paths."""
        return self.invented(((n > depth, 1, 100 * n) for n in range(1, 2 * depth + 1)), names=f"1 0 {'f' * 3000}\n")

    def test_a_sum_of_more_than_a_gigabyte_is_asked_for(self):
        deep = self.deep(2000)  # 2000 * 2001 / 2 names of 3001 bytes
        self.assertLess(deep.stat().st_size, 10_000)
        before = sorted(os.listdir(self.directory))
        for out in (self.directory / "x", "-", "/dev/null"):
            self.fail(deep, "folded", out, said=r" would have 6\.0 GB, and more than 1\.0 GB is written only with --yes")
        folded = ("diff", deep, deep, "--format", "folded")
        self.assertIn(b"standard output would have 6.0 GB", exports.nopscope(*folded, status=3).stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        for command in (folded, ("export", deep, "--format", "folded", "-o", "-")):
            with subprocess.Popen([exports.NOPSCOPE, *command, "--yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertEqual(process.stdout.read(10), b"f" * 10)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertEqual(process.wait(), 3)
        # This format stores names as numbers. So it is small, and nopscope does not ask.
        exports.nopscope("export", deep, "--format", "pprof", "-o", self.directory / "pprof")

    def test_what_the_disk_has_no_room_for_is_refused_before_it_begins(self):
        deep, out = self.deep(60_000), self.directory / "x"  # 5.4 TB
        self.fail(deep, "folded", out, "--yes", said=r"x would have 54\d\d\.\d GB, and its disk has room for [\d.]+ [MG]B: make room")
        self.fail(deep, "pprof", out, said=r"x, unpacked, would have 1\.8 GB, and more than")
        self.assertFalse([name for name in os.listdir(self.directory) if name.startswith("x")])


if __name__ == "__main__":
    exports.main()
