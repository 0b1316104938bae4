# SPDX-License-Identifier: Apache-2.0
"""Uses binutils for the rules: an image's functions as instructions, an archive's symbols."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "verification/oracle"))
from sites import Image  # noqa: E402, F401

FUNCTION = re.compile(r"^([0-9a-f]{8,}) <([^>]+)>:$")
MEMBER = re.compile(r"^(\S+):\s+file format ")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\t(.*))?$")
TARGET = re.compile(r"([0-9a-f]+) <([^>+]+)(?:\+0x[0-9a-f]+)?>")
# An FP or SIMD register as an operand: q0, v1.16b, d2, s3, h4, b5; of RISC-V fa0, ft1, fs2. Not a symbol's name in <>.
VECTOR = re.compile(r"(?<![\w.$<])([vqdshb]([0-9]|[12][0-9]|3[01]))(?![\w$])")
RISCV_VECTOR = re.compile(r"(?<![\w.$<])(f[ast][0-9]+|v[0-9]+)(?![\w$])")
RISCV_JUMPS = {"j", "jal", "jr", "jalr", "call", "tail"}


def toolchain(build):
    """Returns the tools that made a board's build: {"binutils": prefix, "newlib": directory}."""
    return json.loads((Path(build) / "toolchain.json").read_text(encoding="utf-8"))


@dataclass
class Function:
    name: str
    address: int
    member: str  # the archive's member, or the ELF file
    is_riscv: bool
    instructions: list = field(default_factory=list)  # (address, mnemonic, operands)

    def calls(self):
        """The functions that direct calls and branches go to, by name, without branches inside the function."""
        for _, mnemonic, operands in self.instructions:
            if self.is_riscv:
                jumps = mnemonic in RISCV_JUMPS or mnemonic.startswith("b")
            else:
                jumps = mnemonic in ("bl", "b") or mnemonic.startswith("b.")
            if jumps:
                target = TARGET.search(operands)
                if target and target.group(2) != self.name:
                    yield target.group(2)

    def vector_registers(self):
        pattern = RISCV_VECTOR if self.is_riscv else VECTOR
        for _, _, operands in self.instructions:
            found = pattern.search(re.sub(r"<[^>]*>", "", operands))
            if found:
                yield found.group(1)


def disassemble(objdump, path):
    """Yields every Function of an ELF file or archive, member by member. A label .L of RISC-V's assembler is inside one."""
    is_riscv = "riscv" in Path(objdump).name
    command = [objdump, "-d", "--no-show-raw-insn", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        current, member = None, path
        for line in process.stdout:
            if opening := MEMBER.match(line):
                member = opening.group(1)
            elif header := FUNCTION.match(line):
                if current and current.member == member and header.group(2).startswith(".L"):
                    continue
                if current:
                    yield current
                current = Function(header.group(2), int(header.group(1), 16), member, is_riscv)
            elif (found := INSTRUCTION.match(line)) and current:
                address, mnemonic, operands = found.groups()
                current.instructions.append((int(address, 16), mnemonic, (operands or "").split("//")[0]))
        if current:
            yield current
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")


def defined_functions(nm, archive):
    """Returns {function's name: the archive's member that defines it}."""
    output = subprocess.run([nm, "-A", "--defined-only", archive], check=True, stdout=subprocess.PIPE, text=True).stdout
    functions = {}
    for line in output.splitlines():
        place, _, rest = line.rpartition(":")
        fields = rest.split()
        if len(fields) == 3 and fields[1] in "TtWw" and not fields[2].startswith("$"):
            functions[fields[2]] = place.rpartition(":")[2]
    return functions
