#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that fill the memory, block, or change a terminal. Each gives an exit code and a sentence."""

import os
import pathlib
import resource
import struct
import subprocess
import sys
import time
import unittest

import cli

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "memory"))
import recordings  # noqa: E402  # pylint: disable=wrong-import-position

MOST_BYTES = 300_000_000  # docs/cli.md, "Memory"
TEXT, SITES = 0x40080000, 0x40200000
PROGBITS, SYMTAB, STRTAB, COMPRESSED = 1, 2, 3, 0x800
FUNCTION = 0x12
RET, NOP = 0xD65F03C0, 0xD503201F


def elf(path, sections, holes=()):
    """sections: (name, type, flags, address, bytes, link). holes: {name: a size that is too large}."""
    holes, names, headers, body = dict(holes), b"", b"", b""
    for name, kind, flags, address, content, link in sections:
        size = holes.get(name, len(content))
        headers += struct.pack("<IIQQQQIIQQ", len(names), kind, flags, address, 64 + len(body), size, link, 0, 8, 0)
        names += name.encode() + b"\0"
        body += content
    headers += struct.pack("<IIQQQQIIQQ", len(names), STRTAB, 0, 0, 64 + len(body), len(names) + 1, 0, 0, 1, 0)
    body += names + b"\0"
    count = len(sections) + 1
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, TEXT, 0, 64 + len(body), 0, 64, 0, 0,
                                                             64, count, count - 1)
    path.write_bytes(head + body + headers)
    return path


def code(count=1):
    words = [NOP, NOP, NOP, NOP, RET, NOP] * count
    return ("text", PROGBITS, 6, TEXT, struct.pack(f"<{len(words)}I", *words), 0)


def symbols(entries, names):
    """entries: (offset of the name, address). The next section has the names."""
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, FUNCTION, 0, 1, address, 8) for name, address in entries)
    return table, names


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

    def refused(self, pattern, *arguments, status=3):
        code_, out, errors, most = self.measured(*arguments)
        self.assertEqual(code_, status, errors)
        self.assertRegex(errors + out, pattern)
        self.assertLess(most, MOST_BYTES)

    def image(self, name, *sections, holes=()):
        return elf(self.directory / name, sections, holes)

    def with_symbols(self, name, entries, names):
        table, text = symbols(entries, names)
        sites = struct.pack("<Q", TEXT)
        return self.image(name, ("", 0, 0, 0, b"", 0), code(), ("symtab", SYMTAB, 0, 0, table, 3), ("strtab", STRTAB, 0, 0, text, 0),
                          ("__patchable_function_entries", PROGBITS, 3, SITES, sites, 0))

    def test_other_than_a_regular_file(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        for path in (self.directory, pipe, "/dev/zero"):
            for command in ("check", "names"):
                self.refused("is no regular file", command, path)

    def test_an_image_without_code_or_sites(self):
        head = self.directory / "head.elf"
        head.write_bytes(self.image("whole.elf", code()).read_bytes()[:40] + bytes(24))
        self.refused("has no section with code", "check", head)
        self.refused("has no patch sites", "check", self.image("bare.elf", code()), status=1)

    def test_sections_larger_than_any_memory(self):
        size = 10 << 30
        image = self.image("large.elf", code(), ("symtab", SYMTAB, 0, 0, b"", 0), holes={"symtab": size})
        os.truncate(image, size + 4096)  # the file has no blocks
        self.refused("take more than 256 MB", "check", image)

    def test_more_symbols_than_an_image_has(self):
        size = 24 * ((1 << 22) + 2)
        image = self.image("symbols.elf", code(), ("symtab", SYMTAB, 0, 0, b"", 0), holes={"symtab": size})
        os.truncate(image, size + 4096)
        code_, _, errors, most = self.measured("check", image)
        self.assertEqual(code_, 3, errors)
        self.assertRegex(errors, "has more than 4194304 symbols")
        self.assertLess(most, MOST_BYTES + 2 * size)  # the limit excludes the image's own symbols

    def test_one_long_name_for_many_functions(self):
        names = b"\0" + b"n" * 16000 + b"\0"
        many = self.with_symbols("names.elf", [(1, TEXT + 8 + 8 * i) for i in range(40_000)], names)
        self.refused("names take more than 128 MB", "check", many)

    def test_a_name_that_doubles_forty_times(self):
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        name = "_Z1f1pIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in digits)
        image = self.with_symbols("doubles.elf", [(1, TEXT + 8)], b"\0" + name.encode() + b"\0")
        status, out, errors, most = self.measured("info", "--sites", image)
        self.assertEqual(status, 0, errors)
        self.assertIn(name, out)
        self.assertLess(most, MOST_BYTES)

    def test_debug_information_that_states_more_than_there_is(self):
        bomb = struct.pack("<IIQQ", 1, 0, 100 << 30, 1) + b"x" * 64
        image = self.image("bomb.elf", code(), (".debug_line", PROGBITS, COMPRESSED, 0, bomb, 0))
        status, _, errors, most = self.measured("info", image)
        self.assertEqual(status, 0, errors)
        self.assertIn("more than 256 MB of debug information", errors)
        self.assertLess(most, MOST_BYTES)

    def test_too_little_memory_is_a_sentence(self):
        recording, page = self.directory / "run.nsc", self.directory / "page.html"
        cli.nopscope("record", "-q", "--from", f"file:{cli.GOLDEN / 'stream.bin'}", "-o", recording)
        said = 0
        for megabytes in range(2, 18, 2):
            def limit(most=megabytes << 20):
                resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            for command in (["report", recording], ["info", "--sites", cli.DEMO], ["check", cli.DEMO],
                            ["html", recording, "-o", page]):
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


if __name__ == "__main__":
    unittest.main()
