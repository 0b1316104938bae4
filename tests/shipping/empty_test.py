#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Firmware that calls nopscope, but is compiled without NOPSCOPE_ENABLED=1 and linked without the tracer, has no byte of
nopscope (SHIPPING.md). From the environment: NOPSCOPE (the command) and NOPSCOPE_CROSS (the cross compiler's prefix).
"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/shipping"
FOREIGN = ROOT / "firmware/examples/own-startup"
CROSS = os.environ.get("NOPSCOPE_CROSS", "aarch64-linux-gnu-")
FLAGS = ["-ffreestanding", "-mgeneral-regs-only", "-mno-outline-atomics", "-fno-pic", "-fno-stack-protector",
         "-ffunction-sections", "-mbranch-protection=standard", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         f"-I{ROOT}", f"-I{ROOT / 'tracer/include'}", f"-I{FOREIGN}"]
COMPILERS = {".c": ["gcc", "-std=c11"], ".S": ["gcc"], ".cpp": ["g++", "-std=c++20", "-fno-exceptions", "-fno-rtti"]}
LINK = ["-static", "-no-pie", "-nostdlib", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4096", "-Wl,-z,noexecstack",
        "-Wl,--no-warn-rwx-segments"]
OURS = f"-Wl,-T,{ROOT}/linker/nopscope.ld"
# A function's declaration that begins in the first column and is not a definition.
DECLARED = re.compile(r"^(?=\S)(?:NOPSCOPE_API )?(?!using|typedef|inline|static)[\w:<>*& ]+?[ &*](\w+)\([^;{}]*\);", re.M)


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def public_headers():
    """The headers that the package installs, except for the empty functions."""
    return [path for path in sorted((ROOT / "tracer/include/nopscope").iterdir()) if path.stem not in ("empty", "enabled")]


def functions_of(header):
    """The names of its functions. Each overload is in the list."""
    code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    return DECLARED.findall(re.sub(r"//.*", "", code))


def compiled(source, directory, *flags):
    out = directory / f"{source.parent.name}-{source.name}.o"
    compiler, *standard = COMPILERS[source.suffix]
    run(CROSS + compiler, *standard, *FLAGS, *flags, "-c", source, "-o", out)
    return out


@functools.cache
def board(directory):
    """own-startup's start-up code."""
    return [compiled(FOREIGN / file, directory, "-O2", "-mstrict-align") for file in ("boot.S", "mmu.c", "uart.c")]


def linked(name, directory, sources, *flags, script=OURS):
    """Links an image on own-startup's start-up code, with the linker script if there is one."""
    objects = board(directory) + [compiled(source, directory, *flags) for source in sources]
    elf = directory / f"{name}.elf"
    run(CROSS + "gcc", *LINK, *([script] if script else []), f"-Wl,-T,{FOREIGN}/foreign.ld", *objects, "-o", elf)
    return elf


def remains(elf):
    """Returns an image's symbols (except our hal's) and sections of nopscope, demangled."""
    symbols = [line.split(None, 2)[-1] for line in run(CROSS + "nm", "-C", elf).splitlines()]
    sections = re.findall(r"^\s*\[ *\d+\] (\S+)", run(CROSS + "readelf", "-SW", elf), re.M)
    return [name for name in symbols + sections
            if re.search("nopscope|patchable|__build_id_note", name) and not name.startswith("nopscope::hal::")]


class Empty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nopscope-empty-")))

    def assert_equal_images(self, with_calls, without_calls):
        self.assertEqual(remains(with_calls), [])
        sizes = [run(CROSS + "size", elf).splitlines()[1].split()[:3] for elf in (with_calls, without_calls)]
        self.assertEqual(*sizes)
        for elf in (with_calls, without_calls):
            run(CROSS + "objcopy", "-O", "binary", elf, elf.with_suffix(".bin"))
        one, other = (elf.with_suffix(".bin").read_bytes() for elf in (with_calls, without_calls))
        self.assertTrue(one == other, f"{with_calls.name}: other bytes than without the calls")

    def test_every_public_function_is_called(self):
        count = 0
        for header in public_headers():
            names = functions_of(header)
            count += len(names)
            file, prefix = ("every.c", "nopscope_") if header.suffix == ".h" else ("every.cpp", "")
            calls = (HERE / file).read_text() + re.sub(r"\bN\((\w+)\)", rf"{prefix}\1", (HERE / "alike.h").read_text())
            empty = (ROOT / "tracer/include/nopscope" / f"empty{header.suffix}").read_text() + header.read_text()
            for name in names:
                self.assertRegex(calls, rf"\b{name}\(", f"{header.name}: {file} does not call {name}()")
                defined = re.findall(rf"^NOPSCOPE_EMPTY .*\b{name}\(", empty, re.M)
                self.assertTrue(defined, f"{header.name}: no empty {name}()")
        self.assertGreater(count, 110)

    def test_every_public_function_is_no_byte(self):
        fail = self.directory / "fail.c"
        fail.write_text("void fail(void);\nvoid fail(void) {}\n")
        for source in (HERE / "every.c", HERE / "every.cpp"):
            for level, script in (("-O1", OURS), ("-O2", OURS), ("-O2", None), ("-Os", OURS)):
                with self.subTest(f"{source.name} {level} {script}"):
                    self.assert_equal_images(*(
                        linked(name, self.directory, [source, fail], level, *flags, script=script)
                        for name, flags in (("with", []), ("without", ["-DWITHOUT_CALLS"]))))

    def test_the_guide_s_firmware_in_c(self):
        text = (FOREIGN / "main.c").read_text()
        # Without nopscope it still reads the clock's rate.
        for calls, instead in (("#include <nopscope/.*", ""), (r"(?s)(void start_tracing\(void\)) \{.*?\n\}", r"\1 { clock_hz(); }"),
                               (r"nopscope_console_write\(.*\)", "(void)right"), (r"nopscope_finish\(\);", "")):
            text, count = re.subn(calls, instead, text)
            self.assertEqual(count, 1, calls)
        self.assertNotIn("nopscope_", text)
        without = self.directory / "without.c"
        without.write_text(text)
        for level in ("-O2", "-Os"):
            self.assert_equal_images(linked("with", self.directory, [FOREIGN / "main.c"], level),
                                     linked("without", self.directory, [without], level))

    def test_the_smallest_firmware_in_each_language(self):
        # In C, the API's objects are in its own file. They are static, so they vanish, too.
        for name, files in (("cpp", ["minimal/main.cpp"]), ("c", ["minimal-c/main.c", "minimal-c/board.cpp"])):
            sources = [*(ROOT / "firmware/examples" / file for file in files), HERE / "board.cpp"]
            self.assertEqual(remains(linked(name, self.directory, sources, "-O2", "-Wno-pedantic")), [])

    def test_it_compiles_at_o0_and_as_each_header_alone(self):
        nothing = self.directory / "nothing.c"
        nothing.write_text("typedef int nothing;\n")  # ISO C requires a declaration
        for header in public_headers():
            language = "c" if header.suffix == ".h" else "c++"
            compiler, standard = COMPILERS[".c" if language == "c" else ".cpp"][:2]
            for level in ("-O0", "-O2"):
                run(CROSS + compiler, standard, *FLAGS, level, "-x", language, "-include", header, "-c", nothing,
                    "-o", self.directory / "alone.o")
                self.assertEqual(remains(self.directory / "alone.o"), [])

    def test_clang_leaves_nothing_either(self):
        for source in (HERE / "every.c", HERE / "every.cpp"):
            out = self.directory / "clang.o"
            compiler, *standard = COMPILERS[source.suffix]
            flags = [flag for flag in FLAGS if flag != "-mno-outline-atomics"]
            run({"gcc": "clang-19", "g++": "clang++-19"}[compiler], "--target=aarch64-linux-gnu", *standard, *flags, "-O2",
                "-c", source, "-o", out)
            left = re.findall(r"\S+$", run(CROSS + "nm", out), re.M)
            self.assertIn(left, (["main"], ["_Z4mainv"]))  # the second is of freestanding C++

    def test_a_forgotten_flag_is_told(self):
        # The sources are compiled for tracing, but without the flag for the headers.
        elf = linked("forgotten", self.directory, [FOREIGN / "main.c"], "-O2", "-fpatchable-function-entry=4,2", "-falign-functions=8")
        for image, sentence in ((elf, "the image has patch sites but no tracer"),
                                (linked("empty", self.directory, [FOREIGN / "main.c"], "-O2"),
                                 "has no patch sites and no tracer: it was built without nopscope")):
            done = subprocess.run([os.environ["NOPSCOPE"], "check", image], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(sentence, done.stdout + done.stderr)

    def test_what_remains_is_seen(self):
        kept = self.directory / "kept.c"
        kept.write_text("#include <nopscope/nopscope.h>\nvoid* kept = (void*)nopscope_pump;\nint main(void) { return 0; }\n")
        elf = linked("kept", self.directory, [kept], "-O2", "-Wno-pedantic")
        self.assertEqual(remains(elf), ["nopscope_pump"])
        plain = self.directory / "plain.c"
        plain.write_text("int main(void) { return 0; }\n")
        with self.assertRaises(AssertionError):
            self.assert_equal_images(linked("plain", self.directory, [plain], "-O2"), elf)
        sites = linked("sites", self.directory, [plain], "-O2", "-fpatchable-function-entry=4,2")
        self.assertIn(".nopscope.sites", remains(sites))


if __name__ == "__main__":
    sys.exit(unittest.main())
