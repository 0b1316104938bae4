#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the project's rules that the text of the source shows.

    source_rules.py ROOT        one line for each breach; exit status 1 if there is any

The rooms' includes, where instructions may be, every source file's parts, and binary files.
"""

import re

import tree

SOURCES = {".cpp", ".hpp", ".h", ".c", ".S"}
ROOMS = ("tracer", "hal", "linker", "firmware", "host-tools", "tests", "cmake")

# Binary files: images of documents, tests' data. No file is large: every clone has it for ever.
DATA = re.compile(r"docs/images/.*\.png$|tests/conformance/.*\.(bin|nsc)$")
BYTES_AT_MOST = 250_000

# The tracer's public headers. The others in this directory are for its own parts.
PUBLIC = r"nopscope/(?:(?:nopscope|capture|contexts|events|interrupts|return_ops|samples|triggers)\.hpp|(?:nopscope|version)\.h)$"
# The rooms by floors. A room includes itself and the rooms on the floors below.
TRACER = [("protocol",), ("arch",), ("core",), ("stream",), ("recorders",), ("patching",), ("adaptive", "control"), ("runtime",)]
HOST_TOOLS = [("base",), ("image",), ("line",), ("command",), ("recording",), ("calls",), ("figures",), ("live",), ("views",), ("cli", "bench")]


def floors(house, rooms, also):
    """Rows of INCLUDES, one for each room of a house. `also`: what every room may include."""
    below = []
    for floor in rooms:
        for room in floor:
            yield f"{house}/{room}/", rf"{also}|{house}/(?:{'|'.join([*below, room])})/"
        below += floor
    yield f"{house}/", r"$^"  # there is no other room


FIRMWARE = rf"tests/firmware/|firmware/|hal/|tracer/arch/machine\.hpp$|{PUBLIC}"
# What each room may include from the repository. The most specific rule is first; None: no rule.
INCLUDES = [
    ("tracer/include/", r"nopscope/"),
    ("tracer/protocol/", r"tracer/protocol/|nopscope/(?:event_refusal|recorders)\.hpp$"),
    ("tracer/arch/", r"nopscope/|tracer/(?:protocol|arch)/|hal/(?:arm64|riscv64)/machine\.hpp$"),
    *floors("tracer", TRACER, "nopscope/"),
    ("hal/", r"hal/|tracer/arch/(?:machine|arm64/(?:affinity|cpu)|riscv64/cpu)\.hpp$|nopscope/defer\.h$"),
    # These tests set values that boot measures, or that a lost task changes.
    ("tests/firmware/selftest/", rf"{FIRMWARE}|tracer/protocol/|tracer/arch/(?:deferral|patch_site)\.hpp$|tracer/core/(?:cores|here)\.hpp$|tracer/recorders/profile\.hpp$"),
    ("tests/firmware/torture/", rf"{FIRMWARE}|tracer/core/cores\.hpp$|tracer/recorders/profile\.hpp$"),
    ("tests/firmware/storm/", rf"{FIRMWARE}|tracer/arch/patch_site\.hpp$"),
    ("tests/firmware/", FIRMWARE),
    ("firmware/bench/", rf"{FIRMWARE}|tracer/protocol/|tracer/arch/instructions\.hpp$"),
    ("firmware/", rf"firmware/|hal/|{PUBLIC}"),
    ("host-tools/line/memory/", r"host-tools/(?:base|image|line)/|tracer/|nopscope/"),  # it runs the tracer's pump
    *floors("host-tools", HOST_TOOLS, "tracer/protocol/"),
]
# Headers of the C and C++ libraries that work without an operating system and without calls.
FREESTANDING = {
    "algorithm", "array", "atomic", "bit", "compare", "concepts", "cstdarg", "cstddef", "cstdint",
    "initializer_list", "iterator", "limits", "optional", "span", "string_view", "tuple",
    "type_traits", "utility", "stdbool.h", "stddef.h", "stdint.h",
}
FREESTANDING_ROOMS = ("tracer/", "hal/")
HOSTED_IN_THEM = ("hal/newlib/",)  # newlib's system calls need newlib

# The rooms whose instructions must be in an architecture's folder. Firmware that tests the CPU may contain its own.
NO_INSTRUCTIONS = ("tracer/", "hal/", "host-tools/", "firmware/demo/", "firmware/examples/minimal/", "firmware/examples/minimal-c/")
INSTRUCTIONS = re.compile(r"(?:tracer/arch|hal)/(?:arm64|riscv64)/")

# Rooms that know no architecture, but for its folders, and DEVICES. WORDS of an architecture are not allowed in their code and
# strings, nor in another's folder; a part of an identifier counts, if _ parts it from the others. Comments may name it.
NEUTRAL = ("tracer/", "hal/", "host-tools/", "firmware/demo/", "firmware/examples/minimal/", "firmware/examples/minimal-c/")
FOLDER = re.compile(r"(?:tracer/arch|hal|host-tools/image/arch|host-tools/line/doctor/arch)/(arm64|riscv64)/")
DEVICES = ("hal/boards/", "hal/drivers/gic", "hal/drivers/clint_plic")
WORDS = {"arm64": (
    "arm64", "aarch64", "armv8", "aapcs64", "a64", "neon",
    "adr", "adrp", "bl", "blr", "bti", "brk", "dsb", "eret", "hvc", "isb", "mrs", "msr", "pac", "paciasp", "smc", "wfe",
    "cntfrq", "cntvct", "cortex", "ctr", "daif", "el0", "el1", "el2", "el3", "elr", "esr", "midr", "mpidr", "par", "pmccntr", "pmcr",
    "sctlr", "spsr", "tpidr", "x9", "x29", "x30",
), "riscv64": (
    "riscv", "riscv64", "rv64", "auipc", "ebreak", "ecall", "jalr", "rdtime",
    "mcause", "mepc", "mhartid", "mie", "mret", "mscratch", "mstatus", "mtval", "mtvec", "pmpaddr0", "sscratch",
)}
WORD = {architecture: re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(words) + r")(?![A-Za-z0-9])", re.IGNORECASE)
        for architecture, words in WORDS.items()}
# A file that may have some of them, and why.
MAY_NAME = {
    "hal/arch.hpp": ({"arm64", "riscv", "riscv64"}, "it chooses the architecture"),
    "tracer/protocol/hello.hpp": ({"arm64", "riscv64"}, "it lists the architectures"),
    "host-tools/image/arch/arch.cpp": ({"arm64", "riscv64"}, "it lists the architectures"),
    "tracer/arch/select.hpp": ({"arm64", "aarch64", "riscv", "riscv64"}, "it chooses the architecture"),
    "host-tools/cli/commands/check.cpp": ({"bti"}, "the options --bti and --no-bti, and a key of the JSON"),
    "host-tools/cli/commands/record.cpp": ({"aarch64"}, "a command as a user types it, with QEMU's program"),
    "host-tools/cli/generated/man_page.cpp": ({"aarch64"}, "the manual page of QEMU's program"),
}

# Phrases that are hard to understand, and their replacements (CONTRIBUTING.md, "Style"). They apply
# to code, comments, messages and pages.
PHRASES = {
    "of the tracer's own": "say which part, or 'that the tracer adds'",
    "nobody's": "name the owner, or say 'no function'",
    "as far as": "if, where, while, until",
    "who asks": "name the caller, or say 'if you'",
    "who comes": "what is added",
    "who finds": "name it: 'a core that finds'",
    "who goes": "what is removed",
    "who takes": "name it: 'a client that takes'",
    "lets it be": "skips it, leaves it unchanged",
    "what is left of": "the rest, the remains",
    "of late": "recent, recently",
    "of whose": "whose",
    "is well": "say what works: 'loses nothing', 'passed'",
}
PHRASE = re.compile(r"\b(?:" + "|".join(map(re.escape, PHRASES)) + r")\b", re.IGNORECASE)
OF_PHRASES = ("tests/rules/source_rules", "tests/rules/can_fail_test", "tests/conformance/")

INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\s*(["<])([^">]+)[">]')
ASM = re.compile(r"\b(asm|__asm|__asm__)\b\s*(volatile|goto|\(|$)")


def includes_breach(path, bracket, name):
    """Returns why the file `path` may not include `name`, or None."""
    if bracket == "<":
        bound = path.startswith(FREESTANDING_ROOMS) and not path.startswith(HOSTED_IN_THEM)
        if bound and name not in FREESTANDING:
            return f"<{name}> is not freestanding"
        return None
    if "/" not in name:  # a generated or third-party header, or one in the same directory
        return None
    for room, allowed in INCLUDES:
        if path.startswith(room):
            return None if re.match(allowed, name) else f'"{name}" is not for {room}'
    return None


def line_breaches(path, line):
    found = INCLUDE.match(line)
    if found:
        reason = includes_breach(path, *found.groups())
        if reason:
            yield reason
    code = line.split("//")[0]
    yield from architecture_breaches(path, line if found else code)
    bound = path.startswith(NO_INSTRUCTIONS) and not INSTRUCTIONS.match(path)
    if bound and not found and ASM.search(code):
        yield "instructions live in tracer/arch/arm64 and hal/arm64, or riscv64"


def architecture_breaches(path, code):
    if not path.startswith(NEUTRAL) or path.startswith(DEVICES):
        return
    allowed, _ = MAY_NAME.get(path, (set(), ""))
    own = FOLDER.match(path)
    for architecture, words in WORD.items():
        if own and own.group(1) == architecture:
            continue
        for word in words.findall(code):
            if word.lower() not in allowed:
                yield f"'{word}' is {architecture}'s: it belongs into arch/{architecture}/, behind a neutral name (docs/porting.md)"


def idle_exceptions(root):
    """Exceptions of MAY_NAME that no file needs any more."""
    for path, (words, reason) in MAY_NAME.items():
        if not (root / path).exists():
            continue
        text = (root / path).read_text(encoding="utf-8")
        found = {word.lower() for pattern in WORD.values() for word in pattern.findall(text)}
        for word in sorted(words - found):
            yield f"{path}: '{word}' is allowed here ({reason}), and is not there: take it out of MAY_NAME"


def breaches(root):
    """Yields 'PATH:LINE: the error' for every source file below `root`."""
    files = sorted(f for room in ROOMS for f in (root / room).rglob("*") if f.suffix in SOURCES)
    for file in files:
        path = file.relative_to(root).as_posix()
        lines = file.read_text(encoding="utf-8").splitlines()
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            yield f"{path}:1: no SPDX-License-Identifier"
        if file.suffix == ".S" and path.startswith(NO_INSTRUCTIONS) \
                and not INSTRUCTIONS.match(path):
            yield f"{path}:1: instructions live in tracer/arch/arm64 and hal/arm64, or riscv64"
        if file.suffix in {".hpp", ".h"} and path.startswith(("tracer/", "hal/", "host-tools/")) \
                and "#pragma once" not in lines and "__ASSEMBLER__" not in "".join(lines):
            yield f"{path}:1: no #pragma once"
        for number, line in enumerate(lines, 1):
            for reason in line_breaches(path, line):
                yield f"{path}:{number}: {reason}"
    if not files:
        yield f"{root}: no source files"
    yield from idle_exceptions(root)
    for path in tree.files(root):
        content = (root / path).read_bytes()
        if b"\0" in content and not DATA.match(path):
            yield f"{path}: neither text nor data of a known kind"
        if len(content) > BYTES_AT_MOST:
            yield f"{path}: more than {BYTES_AT_MOST} bytes"
        if not path.startswith(OF_PHRASES):
            yield from phrase_breaches(path, content)


def phrase_breaches(path, content):
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        for phrase in map(str.lower, PHRASE.findall(line)):
            yield f"{path}:{number}: '{phrase}': {PHRASES[phrase]}"


if __name__ == "__main__":
    tree.main(breaches, __doc__)
