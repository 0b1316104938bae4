#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves from an image's disassembly that no code on the tracer's path can trace itself.

    image_rules.py BUILD IMAGE [--tracer LIB.a]        BUILD/firmware/IMAGE.elf

It checks the linked image, in which the linker has chosen one of equal copies of an inline function. No function of the
tracer or the hal has a patch site. None of their code branches to another part's function (except hal/newlib, which calls
main). The tracer uses no FP or SIMD register, and the hal only where it saves and restores them.
"""

import argparse
import struct
from pathlib import Path

import tree
from disassembly import Image, defined_functions, disassemble, toolchain

# Members of the hal's archive that newlib calls, or that call main.
NEWLIB_MEMBERS = {"run_main.cpp.obj", "syscalls.cpp.obj"}
# Members that save and restore all registers: exception entry and return, the guarded call.
VECTOR_MEMBERS = {"vectors.S.obj", "calls.S.obj"}
# Functions that jump to another one: the C library's, which has no patch site (newlib_rules.py).
GOES_ON_TO = {"__wrap_longjmp": {"longjmp"}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a board's build directory")
    parser.add_argument("image", help="the firmware's name")
    parser.add_argument("--tracer", help="another library to take for the tracer, to see it fail")
    return parser.parse_args()


def table(image):
    """The functions in the site table, usable or not. Each is 8 bytes behind its entry's address."""
    start, end = image.symbols["__nopscope_sites_start"], image.symbols["__nopscope_sites_end"]
    return {entry + 8 for entry, in struct.iter_unpack("<Q", image.bytes(start, end - start))}


def breaches(options):
    binutils = toolchain(options.build)["binutils"]
    image = options.build / "firmware" / f"{options.image}.elf"
    tracer = defined_functions(binutils + "nm", options.tracer or options.build / "tracer/libnopscope_tracer.a")
    hal = defined_functions(binutils + "nm", options.build / "hal/libnopscope_hal.a")
    ours = tracer | hal
    instrumented = table(Image(image))
    if not instrumented:
        yield "no patch site: this image shows nothing"
    seen = 0
    for function in disassemble(binutils + "objdump", image):
        member = ours.get(function.name)
        if member is None:
            continue
        seen += 1
        if function.address in instrumented:
            yield f"{function.name} has a patch site"
        if member not in NEWLIB_MEMBERS:
            for target in sorted(set(function.calls()) - ours.keys() - GOES_ON_TO.get(function.name, set())):
                yield f"{function.name} calls {target}"
        if member not in VECTOR_MEMBERS:
            for register in sorted(set(function.vector_registers())):
                yield f"{function.name} uses the vector register {register}"
    if seen < 20:
        yield f"only {seen} functions of the tracer and the hal in the image"


if __name__ == "__main__":
    tree.tell(breaches(arguments()))
