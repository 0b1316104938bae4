#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the functions that lose their patch site, for each installed compiler, -O level and remedy, and the text that a site takes.

    alignment.py [--lua DIR --newlib DIR] [--out FILE]

Compiles cold.c and part of Lua (with newlib's headers) with -fpatchable-function-entry=4,2, links them, and reads the ELF. A site is
misaligned if its function is not at a multiple of 8. It is lost if the function has a site's instructions but no entry in the table.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "verification/oracle"))
import sites  # noqa: E402

LEVELS = ("O0", "O1", "O2", "O3", "Os")
LUA = ("lapi", "lgc", "lstring", "ltable")
COMPILERS = ("aarch64-linux-gnu-gcc", "aarch64-none-elf-gcc")
SITES = ("-fpatchable-function-entry=4,2", "-fno-ipa-ra")
# Lua hides its internal functions. Here some of them are not defined.
COMMON = ("-mbranch-protection=standard", "-fno-pic", "-ffreestanding", "-w", "-Dvisibility(x)=")

# Name, compiler flags, alignment of the text's input sections, --gc-sections.
REMEDIES = (
    ("none", (), None, False),
    ("none, --gc-sections", (), None, True),
    ("-falign-functions=8", ("-falign-functions=8",), None, False),
    ("own sections", ("-ffunction-sections",), None, False),
    ("own sections, --gc-sections", ("-ffunction-sections",), None, True),
    ("SUBALIGN(8)", (), 8, False),
    ("own sections, SUBALIGN(8)", ("-ffunction-sections",), 8, False),
    ("-fmin-function-alignment=8", ("-fmin-function-alignment=8",), None, False),
)

SCRIPT = """SECTIONS {{
    . = 0x100000;
    .text : {subalign} {{ text_begin = .; *(.text .text.*) text_end = .; }}
    .rodata : {{ *(.rodata .rodata.*) }}
    .init_array : {{ KEEP(*(.init_array .init_array.*)) }}
    .sites : ALIGN(8) {{ __nopscope_sites_start = .; {keep_open}*(__patchable_function_entries){keep_close} __nopscope_sites_end = .; }}
    .data : {{ *(.data .data.* .bss .bss.* COMMON) }}
    /DISCARD/ : {{ *(.eh_frame .comment .note.*) }}
}}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def compilers():
    """The compilers on PATH, or in bin/ of $ARM_GNU_TOOLCHAIN."""
    more = os.environ.get("ARM_GNU_TOOLCHAIN")
    places = os.environ["PATH"] + (f"{os.pathsep}{more}/bin" if more else "")
    for name in COMPILERS:
        path = shutil.which(name, path=places)
        if path:
            yield path


class Elf(sites.Image):
    """A linked image of this script."""

    def __init__(self, path):
        super().__init__(path)
        self.text_begin, self.text_end = self.symbols["text_begin"], self.symbols["text_end"]
        self.entries = {slot + 8 for slot in sites.slots(self)}

    def functions(self):
        return {address for address in self.ends if self.text_begin <= address < self.text_end}

    def has_site(self, function):
        after = function + (4 if self.word(function) == sites.BTI_C else 0)
        around = (function - 8, function - 4, after, after + 4)
        return all(self.text_begin <= at <= self.text_end - 4 and self.word(at) == sites.NOP for at in around)


def headers(compiler, newlib):
    if not newlib:
        return ()
    own = run(compiler, "-print-file-name=include")[1].strip()
    return ("-nostdinc", "-isystem", own, "-isystem", str(newlib / "include"))


def compile_all(compiler, level, flags, sources, into):
    """Returns the objects, or None if the compiler does not know the flags."""
    objects = []
    for source in sources:
        out = into / f"{source.stem}.o"
        ok, said = run(compiler, f"-{level}", *COMMON, *flags, "-c", source, "-o", out)
        if not ok:
            if "unrecognized command" in said or "unrecognized command-line" in said:
                return None
            sys.exit(f"{source}: {said}")
        objects.append(out)
    return objects


def link(compiler, objects, subalign, collect, into):
    script, out = into / "script.ld", into / "image.elf"
    # KEEP would keep everything, because a table's section is linked to its function's.
    script.write_text(SCRIPT.format(subalign=f"SUBALIGN({subalign})" if subalign else "", keep_open="" if collect else "KEEP(",
                                    keep_close="" if collect else ")"))
    roots = ["--gc-sections"]
    for name in ("lua_pcallk", "luaC_fullgc", "luaH_resize", "luaS_newlstr"):
        roots += ["-u", name]
    ok, said = run(compiler.removesuffix("gcc") + "ld", "-T", script, "-e", "bench_entry",
                   *(roots if collect else []), "--unresolved-symbols=ignore-all", "-o", out, *objects)
    if not ok:
        sys.exit(said)
    return Elf(out)


def counts(elf):
    functions = elf.functions()
    built = {function for function in functions if elf.has_site(function)}
    return {"functions": len(functions), "sites": len(elf.entries),
            "misaligned": sum(entry % 8 != 0 for entry in elf.entries & built),
            "lost": len(built - elf.entries)}


def one_level(compiler, level, sources, newlib):
    """Returns the counts of each remedy, and the text that a site takes with the project's remedy."""
    cells, sizes = [], {}
    with tempfile.TemporaryDirectory() as directory:
        compiled = {}
        for number, flags in enumerate(dict.fromkeys([None, *(flags for _, flags, *_ in REMEDIES)])):
            into = pathlib.Path(directory) / str(number)
            into.mkdir()
            sited = headers(compiler, newlib) + (() if flags is None else (*SITES, *flags))
            compiled[flags] = compile_all(compiler, level, sited, sources, into)
        for name, flags, subalign, collect in REMEDIES:
            if compiled[flags] is None:
                cells.append(None)
                continue
            elf = link(compiler, compiled[flags], subalign, collect, pathlib.Path(directory))
            cells.append(counts(elf))
            sizes[name] = elf.text_end - elf.text_begin, len(elf.entries)
        plain = link(compiler, compiled[None], None, False, pathlib.Path(directory))
    text, count = sizes["own sections, SUBALIGN(8)"]
    return cells, round((text - (plain.text_end - plain.text_begin)) / count, 1)


def version(compiler):
    said = run(compiler, "-dumpfullversion")[1].strip()
    return f"{pathlib.Path(compiler).name.removesuffix('-gcc')} {said}"


def table(lua, newlib):
    sources = [HERE / "cold.c"]
    if lua:
        sources += [lua / "src" / f"{name}.c" for name in LUA]
    result = {"levels": LEVELS, "rows": [], "sizes": [], "sources": "cold.c and " + ", ".join(LUA) + " of Lua" if lua else "cold.c"}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for compiler in compilers():
            done = [pool.submit(one_level, compiler, level, sources, newlib) for level in LEVELS]
            columns = [one.result() for one in done]
            for number, remedy in enumerate(REMEDIES):
                result["rows"].append({"compiler": version(compiler), "remedy": remedy[0],
                                       "cells": [cells[number] for cells, _ in columns]})
            result["sizes"].append({"compiler": version(compiler), "text_bytes_per_site": [size for _, size in columns]})
    result["functions"] = max((cell["functions"] for row in result["rows"] for cell in row["cells"] if cell), default=0)
    return result


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--lua", type=pathlib.Path)
    parser.add_argument("--newlib", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    result = table(options.lua, options.newlib)
    import bench
    bench.write_json(options.out, result)
    bench.print_alignment(result)


if __name__ == "__main__":
    main()
