#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that newlib was built as firmware needs it.

    newlib_rules.py BUILD [LIB.a...]

Every global function, compiled or in assembly, begins with a landing pad and has a patch site: two NOPs before it, 8-byte
aligned in its section, and two after the landing pad. setjmp and longjmp have only the landing pad.
"""

import argparse
import subprocess

import tree
from disassembly import disassemble, toolchain

NOT_INSTRUMENTED = {"setjmp", "longjmp"}
LANDING_PADS = ("bti\tc", "bti\tjc", "paciasp\t", "pacibsp\t")


def global_functions(readelf, archive):
    """Returns {(member, name): place}. Two names of one function have the same place."""
    output = subprocess.run([readelf, "-sW", archive], check=True, stdout=subprocess.PIPE, text=True).stdout
    member = None
    functions = {}
    for line in output.splitlines():
        if line.startswith("File: "):
            member = line[line.index("(") + 1:line.rindex(")")]
        fields = line.split()
        if len(fields) == 8 and fields[3] == "FUNC" and fields[4] in ("GLOBAL", "WEAK") \
                and fields[6] != "UND":
            functions[member, fields[7]] = (member, fields[6], fields[1])
    return functions


def function_breaches(function, before):
    code = [f"{mnemonic}\t{operands.strip()}" for _, mnemonic, operands in function.instructions]
    if not code or not code[0].startswith(LANDING_PADS):
        yield f"{function.name} has no landing pad: {code[:1]}"
    is_site = code[1:3] == ["nop\t", "nop\t"] and before == ["nop", "nop"]
    if is_site == (function.name in NOT_INSTRUMENTED):
        yield f"{function.name} has {'a' if is_site else 'no'} patch site"
    if is_site and function.address % 8:
        yield f"{function.name} is not 8-byte aligned"


def archive_breaches(binutils, archive):
    functions = global_functions(binutils + "readelf", archive)
    seen = set()
    before = []
    for function in disassemble(binutils + "objdump", archive):
        place = functions.get((function.member, function.name))
        if place:
            seen.add(place)
            yield from function_breaches(function, before)
        before = [mnemonic for _, mnemonic, _ in function.instructions[-2:]]
    for (member, name), place in functions.items():
        if place not in seen:
            yield f"{member}: {name} was not disassembled"
    if len(functions) < 100:
        yield f"{archive}: only {len(functions)} functions"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="a board's build directory")
    parser.add_argument("archives", nargs="*", help="instead of its libc.a and libm.a")
    options = parser.parse_args()
    tools = toolchain(options.build)
    archives = options.archives or [f"{tools['newlib']}/lib/{lib}.a" for lib in ("libc", "libm")]
    tree.tell(line for archive in archives for line in archive_breaches(tools["binutils"], archive))


if __name__ == "__main__":
    main()
