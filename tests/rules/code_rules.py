#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that the machine code shows. One line for each breach; exit status 1 if there is any. BUILD: a board's.

    code_rules.py image BUILD IMAGE [--tracer LIB.a]       no code on the tracer's path can trace itself
    code_rules.py newlib BUILD [LIB.a...]                  newlib was built as firmware needs it
    code_rules.py errata BUILD [IMAGE...] [--both FLAGS]   a Cortex-A53 up to r0p4 (Pi 3, ZCU102) executes it right
    code_rules.py exclusives BUILD [IMAGE]                 RISC-V's recorders use LR and SC as the ISA allows; without IMAGE: one that
                                                           does not, made here
    code_rules.py deferral BUILD IMAGE                     the tracer's assembly keeps its rules for interrupts (deferral.S)

IMAGE: BUILD/firmware/IMAGE.elf.
"""

import argparse
import re
import struct
import subprocess
import tempfile
from pathlib import Path

import tree
from disassembly import Image, defined_functions, disassemble, toolchain

# ---- image --------------------------------------------------------------------------------------
# The linked image, in which the linker has chosen one of equal copies of an inline function. No function of the tracer or the hal
# has a patch site. None of their code branches to another part's function (except hal/newlib, which calls main). The tracer uses
# no FP or SIMD register, and the hal only where it saves and restores them; on RISC-V no option of the compiler sees to that.

# Members of the hal's archive that newlib calls, or that call main.
NEWLIB_MEMBERS = {"run_main.cpp.obj", "syscalls.cpp.obj"}
# Members that save and restore all registers: exception entry and return, the guarded call.
VECTOR_MEMBERS = {"vectors.S.obj", "calls.S.obj"}
# Functions that jump to another one: the C library's, which has no patch site (newlib's rules).
GOES_ON_TO = {"__wrap_longjmp": {"longjmp"}}
# libgcc's, without a patch site, for what RV64GC has no instruction for.
BIT_COUNTS = {"__clzdi2", "__ctzdi2", "__popcountdi2"}


def table(image):
    """The functions in the site table, usable or not. Each is 8 bytes behind its entry's address."""
    start, end = image.symbols["__nopscope_sites_start"], image.symbols["__nopscope_sites_end"]
    return {entry + 8 for entry, in struct.iter_unpack("<Q", image.bytes(start, end - start))}


def of_image(options):
    binutils, image = options.binutils, options.images[0]
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
            may_call = GOES_ON_TO.get(function.name, set()) | (BIT_COUNTS if function.is_riscv else set())
            for target in sorted(set(function.calls()) - ours.keys() - may_call):
                yield f"{function.name} calls {target}"
        if member not in VECTOR_MEMBERS:
            for register in sorted(set(function.vector_registers())):
                yield f"{function.name} uses the vector register {register}"
    if seen < 20:
        yield f"only {seen} functions of the tracer and the hal in the image"


# ---- newlib -------------------------------------------------------------------------------------
# Every global function, compiled or in assembly, begins with a landing pad and has a patch site: two NOPs before it, 8-byte aligned
# in its section, and two after the landing pad. setjmp and longjmp have only the landing pad. On RISC-V there are four NOPs of two
# bytes on either side, no landing pad, and the linker aligns.

NOT_INSTRUMENTED = {"setjmp", "longjmp"}
LANDING_PADS = ("bti\tc", "bti\tjc", "paciasp\t", "pacibsp\t")


def global_functions(readelf, archive):
    """Returns {(member, name): place}. Two names of one function have the same place."""
    output = subprocess.run([readelf, "-sW", archive], check=True, stdout=subprocess.PIPE, text=True).stdout
    member, functions = None, {}
    for line in output.splitlines():
        if line.startswith("File: "):
            member = line[line.index("(") + 1:line.rindex(")")]
        fields = line.split()
        if len(fields) == 8 and fields[3] == "FUNC" and fields[4] in ("GLOBAL", "WEAK") and fields[6] != "UND":
            functions[member, fields[7]] = (member, fields[6], fields[1])
    return functions


def function_breaches(function, before):
    code = [f"{mnemonic}\t{operands.strip()}" for _, mnemonic, operands in function.instructions]
    if function.is_riscv:
        is_site = code[:4] == ["nop\t"] * 4 and before == ["nop"] * 4
        if is_site == (function.name in NOT_INSTRUMENTED):
            yield f"{function.name} has {'a' if is_site else 'no'} patch site"
        return
    if not code or not code[0].startswith(LANDING_PADS):
        yield f"{function.name} has no landing pad: {code[:1]}"
    is_site = code[1:3] == ["nop\t", "nop\t"] and before[-2:] == ["nop", "nop"]
    if is_site == (function.name in NOT_INSTRUMENTED):
        yield f"{function.name} has {'a' if is_site else 'no'} patch site"
    if is_site and function.address % 8:
        yield f"{function.name} is not 8-byte aligned"


def archive_breaches(binutils, archive):
    functions = global_functions(binutils + "readelf", archive)
    seen, before = set(), []
    for function in disassemble(binutils + "objdump", archive):
        place = functions.get((function.member, function.name))
        if place:
            seen.add(place)
            yield from function_breaches(function, before)
        before = [mnemonic for _, mnemonic, _ in function.instructions[-4:]]
    for (member, name), place in functions.items():
        if place not in seen:
            yield f"{member}: {name} was not disassembled"
    if len(functions) < 100:
        yield f"{archive}: only {len(functions)} functions"


def of_newlib(options):
    newlib = toolchain(options.build)["newlib"]
    for archive in options.files or [f"{newlib}/lib/{lib}.a" for lib in ("libc", "libm")]:
        yield from archive_breaches(options.binutils, archive)


# ---- errata -------------------------------------------------------------------------------------
# "Cortex-A53 MPCore Software Developers Errata Notice". 835769: a load or store, then a 64-bit multiply-accumulate that does not
# use its result, may compute a wrong sum. The compiler puts a NOP between the two, in assembly the linker a branch. 843419: an ADRP
# in one of the last two words of a 4 KiB page, a load or store (but no load of a pair), and within the next two instructions a load
# or store with the ADRP's register as its base. It may access a wrong address. The linker changes the ADRP to an ADR, or adds a
# branch.

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


def errata_of(function):
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
    subprocess.run([compiler, "-O2", "-nostdlib", "-static", "-no-pie", "-fno-pic", *none, *flags, *sources, "-o", image], check=True)
    return image


def of_errata(options):
    with tempfile.TemporaryDirectory() as directory:
        images = options.images
        if options.both is not None:
            flags = toolchain(options.build)["errata_flags"].split(";") if options.both == "build" else options.both.split()
            images = [*images, image_of_both(options.binutils + "gcc", flags, directory)]
        for image in images:
            for function in disassemble(options.binutils + "objdump", image):
                yield from errata_of(function)


# ---- exclusives ---------------------------------------------------------------------------------
# Between LR and SC there is nothing but arithmetic on registers and branches: the ISA promises no success else. It does not promise
# that an SC fails after a plain store or an AMO of its own hart in between, by an interrupt (RISC-V ISA Manual, volume I, "Zalrsc").
# So in the recorders (tracer/arch/riscv64/recording.S) no word that LR and SC change is changed in another way. The words are known
# by their distance from tp.

MEMORY = re.compile(r"(-?\d+)?\((\w+)\)")
NOT_BETWEEN = re.compile(r"(?:rd|csr|fence|ecall|ebreak|jal|call|amo)")
BROKEN = """
    .option norelax
    .global _start, nopscope_recording, nopscope_recording_end
    .type plain, @function
    .type amo, @function
    .type between, @function
nopscope_recording:
_start:
plain:
1:  lr.d t1, (tp)
    addi t1, t1, 8
    sc.d t2, t1, (tp)
    bnez t2, 1b
    sd   zero, (tp)
    ret
amo:
    addi t3, tp, 32
1:  lr.d t1, (t3)
    sc.d t2, t1, (t3)
    bnez t2, 1b
    amoadd.d zero, t1, (t3)
    ret
between:
1:  lr.d t1, (tp)
    rdtime t2
    ld   t3, 8(tp)
    sc.d t2, t1, (tp)
    lr.d t1, (a0)
    ret
nopscope_recording_end:
"""


def accesses(function):
    """Yields (address, mnemonic, text, word): `word` is the distance from tp, or None."""
    where = {"tp": 0}
    for address, mnemonic, operands in function.instructions:
        text = f"{mnemonic} {re.sub(r' *(#|<).*', '', operands)}"
        memory = MEMORY.search(operands)
        base = where.get(memory.group(2)) if memory else None
        yield address, mnemonic, text, None if base is None else base + int(memory.group(1) or 0)
        first, _, rest = operands.partition(",")
        added = re.fullmatch(r"tp,(-?\d+)", rest.split("#")[0].strip()) if mnemonic in ("add", "addi") else None
        if added:
            where[first] = int(added.group(1))
        elif first != "tp" and not mnemonic.startswith(("s", "b")):
            where.pop(first, None)


def of_exclusives(options):
    with tempfile.TemporaryDirectory() as directory:
        image = options.images[0] if options.images else Path(directory) / "broken.elf"
        if not options.images:
            source = Path(directory) / "broken.S"
            source.write_text(BROKEN, encoding="utf-8")
            subprocess.run([options.binutils + "gcc", "-nostdlib", "-static", source, "-o", image], check=True)
        symbols = Image(image).symbols
        begin, end = symbols["nopscope_recording"], symbols["nopscope_recording_end"]
        exclusive, others = set(), []
        for function in disassemble(options.binutils + "objdump", image):
            if not begin <= function.address < end:
                continue
            reserved = False
            for address, mnemonic, text, word in accesses(function):
                said = f"{function.name}+{address - function.address:#x}: {text}"
                if mnemonic.startswith("lr."):
                    reserved = True
                    exclusive.add(word)
                    if word is None:
                        yield f"{said}: of which word?"
                elif mnemonic.startswith("sc."):
                    reserved = False
                elif reserved and ("(" in text or NOT_BETWEEN.match(mnemonic)):
                    yield f"{said}: between LR and SC"
                elif re.match(r"(?:s[bhwd]$|amo)", mnemonic):
                    others.append((said, word))
        for said, word in others:
            if word in exclusive and word is not None:
                yield f"{said}: LR and SC change this word, too"
        if options.images and len(exclusive) < 4:
            yield f"only {len(exclusive)} words are changed by LR and SC: these are not all"


# ---- deferral -----------------------------------------------------------------------------------
# The image has the library that defers interrupts (tracer/arch/arm64/recording.S).
# - Code that RESTARTS has stored nothing. Its only store, if it has one, is its last instruction.
# - With UNPUSHES it has also stored the shadow stack's top, and a frame above that.
# - Code that FINISHES does not touch the register of its RET, which may hold another address, and goes on only in such code with
#   the same register. It calls nothing.

RESTARTS, UNPUSHES, TAKES_BODY, FINISHES = 1, 2, 16, {32: "9", 64: "14"}
AT = re.compile(r"(?:^|[ ,])([0-9a-f]{6,}) <")


class Rules:
    def __init__(self, image):
        of = image.symbols
        self.begin, self.end = of["nopscope_recording"], of["nopscope_recording_end"]
        self.rules = list(struct.iter_unpack("<HHI", image.bytes(of["nopscope_rules"], 8 * of["nopscope_rule_count"])))

    def at(self, address):
        """The number of the rule for an instruction; None: outside."""
        if not self.begin <= address < self.end:
            return None
        place = (address - self.begin) // 4
        return max(n for n, (begin, _, _) in enumerate(self.rules) if begin <= place)

    def actions(self, address):
        number = self.at(address)
        return 0 if number is None else self.rules[number][2]


def finishing(actions):
    return next((register for bit, register in FINISHES.items() if actions & bit), None)


def faults_of(rules, function):
    for address, mnemonic, operands in function.instructions:
        number, actions = rules.at(address), rules.actions(address)
        said = f"{function.name}+{address - function.address:#x}: {mnemonic} {operands.strip()}"
        exit_register = finishing(actions)
        if exit_register and not actions & RESTARTS:
            registers = re.findall(r"\b[xw](\d+)\b", re.sub(r"<[^>]*>", "", operands))
            if mnemonic not in ("ret", "br") and exit_register in registers:
                yield f"{said}: it has another value if an interrupt was deferred"
            if mnemonic in ("bl", "blr"):
                yield f"{said}: a call with interrupts masked"
            target = AT.search(operands)
            if target and mnemonic not in ("adr", "adrp", "bl") and finishing(rules.actions(int(target.group(1), 16))) != exit_register:
                yield f"{said}: goes on where another rule holds"
        if actions & RESTARTS and mnemonic.startswith("st") and not mnemonic.startswith("stx"):
            base = re.search(r"\[([^],]+)", operands).group(1)
            if actions & UNPUSHES:
                if base not in ("x10", "x17"):
                    yield f"{said}: a store that nothing takes back"
            elif rules.at(address + 4) == number:
                yield f"{said}: stores, and then begins again"


def of_deferral(options):
    rules, checked, finishes = Rules(Image(options.images[0])), 0, 0
    for function in disassemble(options.binutils + "objdump", options.images[0]):
        if rules.begin <= function.address < rules.end:
            yield from faults_of(rules, function)
            checked += len(function.instructions)
            finishes += sum(finishing(rules.actions(address)) is not None for address, _, _ in function.instructions)
    if checked < 400 or finishes < 100 or len(rules.rules) < 40:
        yield f"only {checked} instructions, {finishes} that finish and {len(rules.rules)} rules: these are not all"


def main():
    kinds = {"image": of_image, "newlib": of_newlib, "errata": of_errata, "deferral": of_deferral, "exclusives": of_exclusives}
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tracer", help="another library to take for the tracer, to see it fail")
    parser.add_argument("--both", metavar="FLAGS", help="an image of both sequences, made here with FLAGS only; 'build': those of BUILD")
    options = parser.parse_args()
    options.binutils = toolchain(options.build)["binutils"]
    options.images = [options.build / "firmware" / f"{name}.elf" for name in options.files]
    tree.tell(kinds[options.kind](options))


if __name__ == "__main__":
    main()
