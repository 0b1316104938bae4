#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A zoo of images. All are made from one program, by two compilers and by what people do to an ELF file. One table says what `check`
and `info` give for each: the functions' names and source lines, or a sentence that says why there are none.
"""

import json
import re
import struct
import unittest

import cli

ROOT = cli.GOLDEN.parent.parent
GCC, CLANG = ["aarch64-linux-gnu-gcc"], ["clang-19", "--target=aarch64-linux-gnu"]
RISCV = ["riscv64-unknown-elf-gcc", "-mcmodel=medany", "-fpatchable-function-entry=8,4"]
FLAGS = ["-O2", "-g", "-ffreestanding", "-fno-pic", "-ffunction-sections", "-falign-functions=8", "-fpatchable-function-entry=4,2"]
LINK = ["-nostdlib", "-Wl,--build-id=sha1,--no-warn-rwx-segments,-z,noexecstack", "main.o", "start.o"]
STATIC = ("-static", "-no-pie")
NOPSCOPE_LD = ROOT / "linker/nopscope.ld"
SCRIPT = """ENTRY(_start)
SECTIONS {
    . = 0x40200000;
    .text : SUBALIGN(8) { *(.text .text.*) . = ALIGN(8); }
    .rela.dyn : { *(.rela .rela.*) }
    .ramfunc : ALIGN(8) { *(.ramfunc) }
    .rodata : { *(.rodata .rodata.*) }
    .dynamic : { *(.dynamic) } .dynsym : { *(.dynsym) } .dynstr : { *(.dynstr) } .hash : { *(.hash) } .gnu.hash : { *(.gnu.hash) }
    .data : { *(.data .data.*) }
    .bss (NOLOAD) : { *(.bss .bss.*) }
}
"""
# Stands for the tracer, whose symbols `check` looks for. Like the tracer it has the address of __text_end, where relocations may begin.
START = """.global _start, nopscope_graph_entry
.text
_start: adrp x0, __text_end
add x0, x0, :lo12:__text_end
bl main
nopscope_graph_entry: ret
.data
.quad __text_start, __text_end, __nopscope_sites_start, __nopscope_sites_end
"""
RISCV_START = START.replace("adrp x0, __text_end\nadd x0, x0, :lo12:__text_end\nbl", "lla a0, __text_end\ncall")
MAIN = """__attribute__((noinline)) unsigned next(unsigned n) { return n % 2 ? 3 * n + 1 : n / 2; }
__attribute__((noinline)) unsigned steps(unsigned n) { unsigned s = 0; for (; n != 1; n = next(n)) ++s; return s; }
unsigned (*volatile pointer)(unsigned) = steps;
EXTRA
int main(void) { return pointer(27) + MORE; }
"""
PLACES = [("next", 1), ("steps", 2), ("main", 5)]
NAMES = [(name, 0) for name, _ in PLACES]
FUNCTION = "{}__attribute__((noinline)) unsigned more(unsigned n) {{ return n * 5; }}"
OTHER = "unsigned other(unsigned); {}unsigned unused(unsigned n) {{ return other(n) + 1; }}"


class Zoo(cli.Case):
    def tool(self, *command):
        return cli.run(*command, cwd=self.directory)

    def built(self, name, *flags, compiler=GCC, extra="", more="0", link=STATIC, script=NOPSCOPE_LD):
        """An image NAME.elf of its own directory, in which the compiler left NAME.o and its like."""
        (self.directory / name).mkdir()
        binutils, start = (RISCV, RISCV_START) if compiler is RISCV else (GCC, START)
        for file, text in (("main.c", MAIN.replace("EXTRA", extra).replace("MORE", more)), ("start.S", start), ("own.ld", SCRIPT)):
            (self.directory / name / file).write_text(text)
        cli.run(*compiler[:1], *FLAGS, *compiler[1:], *flags, "-c", "main.c", cwd=self.directory / name)
        cli.run(*binutils, "-c", "start.S", cwd=self.directory / name)
        cli.run(*binutils, *LINK, "-T", script, "-T", "own.ld", *link, "-o", f"{name}.elf", cwd=self.directory / name)
        return self.directory / name / f"{name}.elf"

    def objcopy(self, elf, name, *options):
        self.tool("aarch64-linux-gnu-objcopy", *options, elf, elf.parent / name)
        return elf.parent / name

    def patched(self, elf, name, *changes):
        data = bytearray(elf.read_bytes())
        for offset, layout, *values in changes:
            struct.pack_into(layout, data, offset, *values)
        (elf.parent / name).write_bytes(data)
        return elf.parent / name

    def is_(self, elf, places=(), status=0, check="0 problems", said=""):
        """`places`: functions with sites and their lines. `check`: words of check's output, `said`: of the sentence of info."""
        with self.subTest(elf.name):
            checked = cli.nopscope("check", elf, status=status)
            self.assertRegex(checked.stdout + checked.stderr, check)
            done = cli.nopscope("info", elf, "--sites", "--format", "json", status=0 if places else 3)
            self.assertRegex(done.stderr, rf"\A(nopscope: [^\n]*{said}[^\n]*\n)\Z" if said else r"\A\Z")
            found = json.loads(done.stdout)["sites"] if places else []
            self.assertEqual(sorted((one["name"], one["line"]) for one in found), sorted(places))
            return {one["name"]: one["file"] for one in found}

    def test_debug_information_in_any_form(self):
        forms = [[], ["-gdwarf-2"], ["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf64"], ["-gsplit-dwarf"], ["-gdwarf-4", "-gsplit-dwarf"],
                 ["-gz=zlib"]]
        for compiler in GCC, CLANG:
            for flags in forms:
                elf = self.built(compiler[0][:5] + "".join(flags), *flags, compiler=compiler)
                for left in (elf.parent.glob("*.dwo") if "-gdwarf-4" in flags else ()):
                    left.unlink()
                self.is_(elf, PLACES)
        elf = self.built("plain")
        for compression in ("zlib", "zlib-gnu", "zstd"):
            self.is_(self.objcopy(elf, f"{compression}.elf", f"--compress-debug-sections={compression}"), PLACES)
        self.tool("dwz", elf, "-o", elf.parent / "dwz.elf")
        self.is_(elf.parent / "dwz.elf", PLACES)
        self.is_(self.objcopy(elf, "without.elf", "--strip-debug"), NAMES)

    def test_debug_information_in_another_file(self):
        elf = self.built("full")
        other = self.built("other", extra=FUNCTION.format(""), more="more(1)")
        debug, stripped = self.objcopy(elf, "full.debug", "--only-keep-debug"), self.objcopy(elf, "stripped.elf", "--strip-all")
        self.is_(debug, status=3, check="full.debug is a debug file, with names but without code: give the image", said="is a debug file")
        self.is_(stripped, [(f"0x{address:x}", 0) for address in self.addresses(elf)], 3, "is stripped, so", said="is stripped")
        linked = self.objcopy(elf, "linked.elf", "--strip-all", f"--add-gnu-debuglink={debug}")
        self.is_(linked, PLACES)
        self.is_(self.objcopy(elf, "lines.elf", "--strip-debug", f"--add-gnu-debuglink={debug}"), PLACES)
        no_id = ("--remove-section=.note.gnu.build-id",)
        by_crc = self.objcopy(self.objcopy(elf, "no_id.elf", *no_id), "by_crc.elf", "--strip-all", f"--add-gnu-debuglink={debug}")
        self.is_(by_crc, PLACES)
        build_id = json.loads(cli.nopscope("info", elf, "--format", "json").stdout)["build_id"]
        for folder, name in ((".debug", "full.debug"), (f".build-id/{build_id[:2]}", f"{build_id[2:]}.debug")):
            (elf.parent / folder).mkdir(parents=True)
            debug = debug.rename(elf.parent / folder / name)
            self.is_(linked, PLACES)
        self.is_(stripped, PLACES)
        debug.unlink()
        self.objcopy(other, "full.debug", "--only-keep-debug").rename(elf.parent / "full.debug")
        for image in linked, by_crc:  # the file there is another image's
            self.is_(image, [(f"0x{address:x}", 0) for address in self.addresses(elf)], 3, "is stripped, so", said="is stripped")
        copies = [self.objcopy(image, f"shares{n}.elf") for n, image in enumerate((elf, other))]
        cli.run("dwz", "-m", "shared", *copies, cwd=elf.parent)
        if (elf.parent / "shared").exists():  # dwz makes it if it is worth it
            self.is_(copies[0], PLACES)

    def addresses(self, elf):
        return [int(site["address"], 16) for site in json.loads(cli.nopscope("info", elf, "--sites", "--format", "json").stdout)["sites"]]

    def test_what_is_no_image_is_named(self):
        elf = self.built("image")
        for kind, name in (("binary", "f.bin"), ("ihex", "f.hex"), ("srec", "f.srec")):
            self.objcopy(elf, name, "-O", kind)
        self.tool("aarch64-linux-gnu-ar", "rc", elf.parent / "lib.a", elf.parent / "main.o")
        for program in ("gzip", "xz", "bzip2"):
            self.tool(program, "-k", elf)
        patches = {"big.elf": ((5, "<B", 2), (18, ">H", 183)), "narrow.elf": ((4, "<B", 1), (18, "<H", 40)), "x86.elf": ((18, "<H", 62),),
                   "core": ((16, "<H", 4),), "no_table.elf": ((40, "<Q", 0), (60, "<HH", 0, 0))}
        for name, changes in patches.items():
            self.patched(elf, name, *changes)
        for name, said in {
                "f.bin": "is not an ELF file for arm64 or riscv64: if it is a raw binary, give the ELF file that it was made from",
                "f.hex": "is an Intel HEX file, which has code without names: give the ELF file", "f.srec": "is a file of S-records, which",
                "main.o": "is an object file, not yet linked: give the linked ELF file", "lib.a": "is a library of object files",
                "image.elf.gz": "is compressed by gzip: unpack it", "image.elf.xz": "compressed by xz", "image.elf.bz2": "compressed by bzip2",
                "big.elf": "it is a big-endian 64-bit one for arm64", "narrow.elf": "it is a 32-bit one for 32-bit Arm",
                "x86.elf": "it is a 64-bit one for x86-64", "core": "is a core file, a copy of memory",
                "no_table.elf": "has no section table"}.items():
            for command in ("check", "names"):
                done = cli.nopscope(command, elf.parent / name, status=3)
                self.assertEqual(done.stdout, "", name)
                self.assertRegex(done.stderr, rf"\Anopscope: {re.escape(str(elf.parent / name))} [^\n]*{re.escape(said)}[^\n]*\n\Z")

    def test_images_for_riscv(self):
        """The compressed NOPs have 2 bytes. `check` knows a count of them that does not fit."""
        def built(*arguments, **more):
            return self.built(*arguments, compiler=RISCV, link=["-static"], **more)

        long = ["-march=rv64g", "-mabi=lp64d"]
        self.is_(built("relaxed"), PLACES)
        elf = built("long", *long, "-fpatchable-function-entry=4,2")
        self.is_(elf, PLACES)
        said = cli.nopscope("info", elf).stdout
        self.assertRegex(said, r"\nmachine   riscv64\n")
        self.assertRegex(said, r"\nsites     3, table CRC")
        for name, flags, said in (("few", ["-fpatchable-function-entry=4,2"], "NOPs have 2 bytes.*entry=8,4"),
                                  ("many", long, "NOPs have 4 bytes.*entry=4,2")):
            self.assertRegex(cli.nopscope("check", built(name, *flags), status=1).stdout, said)
        interrupt = {"extra": "__attribute__((interrupt)) void more(void) { pointer = next; }", "more": "(int)(long)more"}
        self.is_(built("irq", **interrupt), [*PLACES, ("more", 4)], 1, "more at .* or is an interrupt's, so")
        for command in ("check", "info"):
            done = cli.nopscope(command, self.patched(elf, "narrow.elf", (4, "<B", 1)), status=3)
            self.assertRegex(done.stderr, r"narrow.elf is an image for RV32, and nopscope reads images for RV64: compile")

    def test_more_sections_than_16_bits_can_number(self):
        elf = self.built("many")
        data = elf.read_bytes()
        table, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
        headers = [data[table + 64 * n:table + 64 * n + 64] for n in range(count)] + [bytes(64)] * 66_000
        headers[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, len(headers), names, 0, 0, 0)
        many = self.patched(elf, "many.elf", (40, "<Q", len(data)), (60, "<HH", 0, 0xffff))
        many.write_bytes(many.read_bytes() + b"".join(headers))
        self.is_(many, PLACES)

    def test_sites_that_the_target_refuses(self):
        more = {"extra": FUNCTION.format('__attribute__((section(".ramfunc"))) '), "more": "more(1)"}
        places = [("next", 1), ("steps", 2), ("more", 4), ("main", 5)]
        self.is_(self.built("ram", **more), places, 1, "more at 0x[0-9a-f]+ lies in .ramfunc, outside of __text_start to __text_end")
        kcfi = self.built("kcfi", "-fsanitize=kcfi", compiler=CLANG)
        self.is_(kcfi, PLACES, 1, "steps at 0x[0-9a-f]+ has a site that a type hash before it misaligns.*-fsanitize=kcfi")

    def test_a_table_that_relocations_fill(self):
        pie = ["-pie", "-Wl,-z,notext,--no-dynamic-linker"]
        zeros = self.built("zeros", "-fPIE", link=[*pie, "-Wl,--no-apply-dynamic-relocs"])
        self.is_(zeros, PLACES, 1, r"3 of them in the site table.*no code refers to these relocations")
        dynamic = {"extra": 'extern __attribute__((visibility("hidden"))) char _DYNAMIC[];', "more": "(int)(long)_DYNAMIC"}
        applied = self.built("applied", "-fPIE", **dynamic, link=[*pie, "-Wl,--no-apply-dynamic-relocs"])
        self.is_(applied, PLACES, check="3 of 3 entries of the site table are zero in the file")
        self.is_(self.built("values", "-fPIE", link=pie), PLACES)

    def test_what_the_table_alone_keeps_is_named(self):
        """Without `KEEP` the linker drops it with its entry, if clang made a table for each function (docs/integration.md)."""
        link = [*STATIC, "-Wl,--gc-sections"]
        for compiler in GCC, CLANG:
            kept = self.built("kept" + compiler[0], compiler=compiler, extra=FUNCTION.format(""), link=link)
            self.is_(kept, [*PLACES, ("more", 4)], check="1 traced function to which nothing in the image refers: more;")
            marked = "__attribute__((patchable_function_entry(0, 0))) "
            self.is_(self.built("marked" + compiler[0], compiler=compiler, extra=OTHER.format(marked), link=link), PLACES)
        script = NOPSCOPE_LD.read_text().replace("KEEP(*(__patchable_function_entries))", "*(__patchable_function_entries)")
        (self.directory / "nokeep.ld").write_text(script)
        self.is_(self.built("dropped", compiler=CLANG, extra=OTHER.format(""), link=link, script=self.directory / "nokeep.ld"), PLACES)

    def test_paths_of_windows(self):
        elf = self.built("windows")
        for compiled, separator, written in ((r"C:\Users\Jo Doe\proj\build", "\\", r"..\src\app.c"), ("c:/Users/Jo Doe/proj", "/", "src/app.c"),
                                             (r"C:\Users\Jo Doe\proj", "/", r"C:\Users\Jo Doe\proj\src\app.c")):
            flags = [f"-fdebug-prefix-map={elf.parent}={compiled}", "-S"]
            cli.run(*CLANG, *FLAGS, *flags, "-gdwarf-4", "-x", "c", "main.c", "-o", "main.s", cwd=elf.parent)
            text = (elf.parent / "main.s").read_text().replace('"main.c"', '"' + written.replace("\\", "\\\\") + '"')
            (elf.parent / "main.s").write_text(text)
            cli.run(*CLANG, "-c", "main.s", cwd=elf.parent)
            cli.run(*GCC, *LINK, "-T", NOPSCOPE_LD, "-T", "own.ld", *STATIC, "-o", "windows.elf", cwd=elf.parent)
            with self.subTest(compiled):
                files = set(self.is_(elf, PLACES).values())
                self.assertEqual({file.lower() for file in files}, {"c:/users/jo doe/proj/src/app.c"})


if __name__ == "__main__":
    unittest.main()
