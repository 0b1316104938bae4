#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images with faults, and files that fill the memory, block, or change a terminal. Each gives an exit code and a sentence.

    bounded_test.py [CLASS...]
"""

import json
import os
import resource
import struct
import subprocess
import sys
import time
import unittest

import cli

sys.path.append(str(cli.GOLDEN.parent / "memory"))
import recordings  # noqa: E402  # pylint: disable=wrong-import-position

MOST_BYTES = 300_000_000  # docs/cli.md, "Memory"
TEXT, SITES = 0x40080000, 0x40200000
PROGBITS, SYMTAB, STRTAB, COMPRESSED = 1, 2, 3, 0x800
FUNCTION = 0x12
BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # sizes, NT_GNU_BUILD_ID
RET, NOP = 0xD65F03C0, 0xD503201F


def code():
    return ("text", PROGBITS, 6, TEXT, struct.pack("<6I", NOP, NOP, NOP, NOP, RET, NOP), 0)


class Bounded(cli.Case):
    def measured(self, *arguments, limit=None):
        """Returns its exit status, both outputs, and its largest memory in bytes."""
        out, errors = self.directory / "out", self.directory / "errors"
        begin = time.monotonic()
        with out.open("wb") as to, errors.open("wb") as said:
            process = subprocess.Popen([cli.NOPSCOPE, *map(str, arguments)], stdout=to, stderr=said, stdin=subprocess.DEVNULL,
                                       preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertLess(time.monotonic() - begin, cli.HANG_SECONDS, arguments)
        return process.returncode, out.read_text(), errors.read_text(), usage.ru_maxrss * 1024

    def check(self, status, text, *arguments, most_bytes=MOST_BYTES):
        its, out, errors, most = self.measured(*arguments)
        self.assertEqual(its, status, errors)
        self.assertIn(text, errors + out)
        self.assertLess(most, most_bytes)

    def image(self, name, *sections, holes=()):
        """sections: (name, type, flags, address, bytes, link). holes: {name: a size that is too large}."""
        holes, names, headers, body = dict(holes), b"", b"", b""
        for section, kind, flags, address, content, link in sections:
            size = holes.get(section, len(content))
            headers += struct.pack("<IIQQQQIIQQ", len(names), kind, flags, address, 64 + len(body), size, link, 0, 8, 0)
            names += section.encode() + b"\0"
            body += content
        headers += struct.pack("<IIQQQQIIQQ", len(names), STRTAB, 0, 0, 64 + len(body), len(names) + 1, 0, 0, 1, 0)
        body += names + b"\0"
        count = len(sections) + 1
        head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, TEXT, 0, 64 + len(body), 0, 64, 0, 0,
                                                                 64, count, count - 1)
        path = self.directory / name
        path.write_bytes(head + body + headers)
        return path

    def with_symbols(self, name, entries, names, sites=(TEXT,)):
        """entries: (offset in `names`, address) of each function."""
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", of, FUNCTION, 0, 1, address, 8) for of, address in entries)
        return self.image(name, ("", 0, 0, 0, b"", 0), code(), ("symtab", SYMTAB, 0, 0, table, 3), ("strtab", STRTAB, 0, 0, names, 0),
                          ("__patchable_function_entries", PROGBITS, 3, SITES, struct.pack(f"<{len(sites)}Q", *sites), 0))

    def test_other_than_a_regular_file(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        for path in (self.directory, pipe, "/dev/zero"):
            for command in ("check", "names"):
                self.check(3, "is no regular file", command, path)

    def test_an_image_without_code_or_sites(self):
        head = self.directory / "head.elf"
        head.write_bytes(self.image("whole.elf", code()).read_bytes()[:40] + bytes(24))
        self.check(3, "has no section table", "check", head)
        self.check(3, "is stripped", "check", self.image("bare.elf", code()))
        self.check(1, "has no patch sites", "check", self.with_symbols("plain.elf", [(0, TEXT)], b"f\0", sites=()))

    def test_symbols_larger_than_any_memory_or_too_many(self):
        many = 24 * ((1 << 22) + 2)
        for size, said, most_bytes in ((10 << 30, "take more than 256 MB", MOST_BYTES),
                                       # The limit excludes the image's own symbols.
                                       (many, "has more than 4194304 symbols", MOST_BYTES + 2 * many)):
            image = self.image("large.elf", code(), ("symtab", SYMTAB, 0, 0, b"", 0), holes={"symtab": size})
            os.truncate(image, size + 4096)  # the file has no blocks
            self.check(3, said, "check", image, most_bytes=most_bytes)

    def test_one_long_name_for_many_functions(self):
        names = b"\0" + b"n" * 16000 + b"\0"
        many = self.with_symbols("names.elf", [(1, TEXT + 8 + 8 * i) for i in range(40_000)], names)
        self.check(3, "names take more than 128 MB", "check", many)

    def test_a_name_that_doubles_forty_times(self):
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        name = "_Z1f1pIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in digits)
        image = self.with_symbols("doubles.elf", [(1, TEXT + 8)], b"\0" + name.encode() + b"\0")
        self.check(0, name, "info", "--sites", image)

    def test_debug_information_that_states_more_than_there_is(self):
        bomb = struct.pack("<IIQQ", 1, 0, 100 << 30, 1) + b"x" * 64
        image = self.image("bomb.elf", code(), (".debug_line", PROGBITS, COMPRESSED, 0, bomb, 0))
        self.check(0, "more than 256 MB of debug information", "info", image)

    def test_too_little_memory_is_a_sentence(self):
        recording, page = self.directory / "run.nsc", self.directory / "page.html"
        cli.nopscope("record", "-q", "--from", f"file:{cli.GOLDEN / 'stream.bin'}", "-o", recording)
        said = 0
        for megabytes in range(2, 18, 2):
            def limit(most=megabytes << 20):
                resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            for command in (["report", recording], ["info", "--sites", cli.DEMO], ["check", cli.DEMO], ["html", recording, "-o", page]):
                status, _, errors, _ = self.measured(*command, limit=limit)
                if status == 127:  # the loader found no room for a library
                    continue
                self.assertIn(status, (0, 3), errors)
                self.assertNotRegex(errors, "bad_alloc|length_error|terminate")
                if status == 3:
                    self.assertRegex(errors, "^nopscope: .*memory")
                    said += 1
        self.assertGreater(said, 0)

    def test_a_directory_gets_no_hundred_thousand_files(self):
        recording = self.directory / "contexts.nsc"
        recording.write_bytes(recordings.many_contexts())
        out = self.directory / "contexts.uftrace"
        self.assertIn("more than 10,000 tasks: choose another format",
                      cli.nopscope("export", recording, "--format", "uftrace", "-o", out, status=3).stderr)
        self.assertFalse(out.exists())

    def test_no_name_turns_a_terminals_line_around(self):
        turned = "a\u202e\u2028\u200b\x1b[31mb"
        image = self.with_symbols(f"{turned}.elf", [(1, TEXT + 8)], b"\0" + turned.encode() + b"\0")
        missing = self.directory / f"{turned}.nsc"
        for command in (["check", image], ["info", "--sites", image], ["info", "--sites", "--format", "json", image],
                        ["report", missing], ["check", missing]):
            _, out, errors, _ = self.measured(*command)
            for character in turned[1:5]:
                self.assertNotIn(character, out + errors, command)
            self.assertRegex(out + errors, r"\\u(\{202e\}|202e)", command)


class Image(cli.Case):
    def test_a_missing_build_id_is_said(self):
        image = self.directory / "image.elf"
        text = cli.DEMO.read_bytes()
        self.assertEqual(text.count(BUILD_ID), 1)
        image.write_bytes(text.replace(BUILD_ID, BUILD_ID.replace(b"\x03", b"\x63")))
        self.assertIn("(none: nopscope cannot tell whether an ELF fits", cli.nopscope("info", image).stdout)
        self.assertIn("link with --build-id\n", cli.nopscope("check", image).stdout)
        self.assertFalse(json.loads(cli.nopscope("check", image, "--format", "json").stdout)["has_build_id"])
        for command in ("info", "check"):
            self.assertNotIn("--build-id", cli.nopscope(command, cli.DEMO).stdout)

    def test_bti_and_functions_without_sites_are_said(self):
        found = json.loads(cli.nopscope("check", cli.DEMO, "--format", "json").stdout)
        self.assertTrue(found["bti_is_enforced"], "the demo's functions have landing pads")
        self.assertEqual(found["without_landing_pad"], 0)
        self.assertLessEqual(set(found["prebuilt"]), set(found["uninstrumented"]))
        self.assertFalse(json.loads(cli.nopscope("check", cli.DEMO, "--no-bti", "--format", "json").stdout)["bti_is_enforced"])
        said = cli.nopscope("check", cli.DEMO).stdout
        self.assertEqual(f"{len(found['prebuilt'])} functions of source files without any site" in said, len(found["prebuilt"]) > 1)


if __name__ == "__main__":
    unittest.main()
