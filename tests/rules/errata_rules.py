#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that no code has a sequence that a Cortex-A53 up to r0p4 (Pi 3, ZCU102) executes wrongly.

    errata_rules.py BUILD IMAGE...            BUILD/firmware/IMAGE.elf
    errata_rules.py BUILD --both FLAGS        an image of both, made here with FLAGS only

Prints a line for each such sequence; exit status 1 if there is any. ("Cortex-A53 MPCore Software Developers Errata
Notice".)

835769: a load or store, then a 64-bit multiply-accumulate that does not use its result, may compute
a wrong sum. The compiler puts a NOP between the two, in assembly the linker a branch.
843419: an ADRP in one of the last two words of a 4 KiB page, a load or store (but no load of a
pair), and within the next two instructions a load or store with the ADRP's register as its base. It
may access a wrong address. The linker changes the ADRP to an ADR, or adds a branch.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import tree
from disassembly import disassemble, toolchain

ACCUMULATE = {"madd", "msub", "smaddl", "smsubl", "umaddl", "umsubl"}  # into a 64-bit register
REGISTER = re.compile(r"\b[xwqdshb](?:\d+|zr)\b")
OFFSET_ACCESS = re.compile(r"\[(x\d+)(?:, #[^\]]+)?\]$")

# The compiler does not see assembly.
ASSEMBLY = """
    .section .text.accumulate, "ax"
    .global _start
_start:
    str x1, [x0]
    madd x2, x3, x4, x5
    ret
    .section .text.page, "ax"
    .balign 4096
    .space 0xff8
in_last_words:
    adrp x0, far_away
    str x1, [x2]
    ldr x3, [x0, :lo12:far_away]
    ret
    .section .bss
    .space 0x4000000
    .balign 8
far_away: .space 8
"""
C = "long in_c(long *p, long a, long b, long c) { long x = p[3]; return c + a * b + x; }\n"


def is_access(mnemonic):
    return mnemonic.startswith(("ld", "st", "prfm"))


def written(mnemonic, operands):
    """The general registers that a load writes, by their X names. A store writes none."""
    if not mnemonic.startswith("ld"):
        return set()
    return {"x" + name[1:] for name in REGISTER.findall(operands.partition("[")[0]) if name[0] in "xw"}


def breaches(function):
    code = function.instructions
    for (_, access, where), (at, mnemonic, operands) in zip(code, code[1:]):
        if is_access(access) and mnemonic in ACCUMULATE and operands.startswith("x"):
            sources = {"x" + name[1:] for name in REGISTER.findall(operands)[1:]}
            if not written(access, where) & sources:
                yield f"{function.name}: erratum 835769 at {at:#x}: {access} {where.strip()}; {mnemonic} {operands}"
    for index, (at, mnemonic, operands) in enumerate(code):
        if mnemonic != "adrp" or at & 0xfff not in (0xff8, 0xffc) or index + 2 >= len(code):
            continue
        page = operands.split(",")[0].strip()
        _, access, where = code[index + 1]
        if not is_access(access) or access.startswith(("ldp", "ldnp")) or "[" not in where or page in written(access, where):
            continue
        for _, later, operands in code[index + 2:index + 4]:
            base = OFFSET_ACCESS.search(operands.strip())
            if is_access(later) and base and base.group(1) == page:
                yield f"{function.name}: erratum 843419 at {at:#x}: adrp {page}, {access}, {later}"


def image_of_both(compiler, flags, directory):
    sources = [Path(directory) / "both.S", Path(directory) / "both.c"]
    for source, text in zip(sources, (ASSEMBLY, C)):
        source.write_text(text, encoding="utf-8")
    image = Path(directory) / "both.elf"
    # A distribution's compiler may apply one of the two fixes by default.
    none = ["-mno-fix-cortex-a53-835769", "-mno-fix-cortex-a53-843419"]
    subprocess.run([compiler, "-O2", "-nostdlib", "-static", "-no-pie", "-fno-pic", *none, *flags, *sources, "-o", image],
                   check=True)
    return image


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("images", nargs="*")
    parser.add_argument("--both", metavar="FLAGS", help="'build': those of BUILD")
    arguments = parser.parse_args()
    tools = toolchain(arguments.build)
    with tempfile.TemporaryDirectory() as directory:
        images = [f"{arguments.build}/firmware/{image}.elf" for image in arguments.images]
        if arguments.both is not None:
            flags = tools["errata_flags"].split(";") if arguments.both == "build" else arguments.both.split()
            images.append(image_of_both(tools["binutils"] + "gcc", flags, directory))
        tree.tell(breach for image in images for function in disassemble(tools["binutils"] + "objdump", image)
                  for breach in breaches(function))


main()
