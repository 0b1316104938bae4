#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the code of tracer/arch/arm64/recording.S keeps its rules for interrupts (deferral.S).

    deferral_rules.py BUILD IMAGE.elf

IMAGE has the library that defers interrupts. Exit status 1: faults, each in a line.
- Code that RESTARTS has stored nothing. Its only store, if it has one, is its last instruction.
- With UNPUSHES it has also stored the shadow stack's top, and a frame above that.
- Code that FINISHES does not touch the register of its RET, which may hold another address, and
  goes on only in such code with the same register. It calls nothing.
"""

import re
import struct
import sys

import disassembly
import tree
from disassembly import Image

RESTARTS, UNPUSHES, TAKES_BODY, FINISHES = 1, 2, 16, {32: "9", 64: "14"}
TARGET = re.compile(r"(?:^|[ ,])([0-9a-f]{6,}) <")


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
            target = TARGET.search(operands)
            if target and mnemonic not in ("adr", "adrp", "bl") and finishing(rules.actions(int(target.group(1), 16))) != exit_register:
                yield f"{said}: goes on where another rule holds"
        if actions & RESTARTS and mnemonic.startswith("st") and not mnemonic.startswith("stx"):
            base = re.search(r"\[([^],]+)", operands).group(1)
            if actions & UNPUSHES:
                if base not in ("x10", "x17"):
                    yield f"{said}: a store that nothing takes back"
            elif rules.at(address + 4) == number:
                yield f"{said}: stores, and then begins again"


def main():
    build, image = sys.argv[1:]
    rules = Rules(Image(image))
    faults, checked, finishes = [], 0, 0
    for function in disassembly.disassemble(disassembly.toolchain(build)["binutils"] + "objdump", image):
        if rules.begin <= function.address < rules.end:
            faults += faults_of(rules, function)
            checked += len(function.instructions)
            finishes += sum(finishing(rules.actions(address)) is not None for address, _, _ in function.instructions)
    if checked < 400 or finishes < 100 or len(rules.rules) < 40:
        faults.append(f"only {checked} instructions, {finishes} that finish and {len(rules.rules)} rules: these are not all")
    tree.tell(f"{image}: {fault}" for fault in faults)


if __name__ == "__main__":
    main()
