# SPDX-License-Identifier: Apache-2.0
"""Finds the patch sites of an image, from the ELF alone.

The oracle has its own reader: it deliberately uses neither the tracer's code nor the host tools', because they might share a mistake. The
table from __nopscope_sites_start to _end holds the address of the first of the NOPs before each function. The function begins 8 bytes
later. The word that toggles is its second, or its third if the first is a BTI C.
"""

import struct

BTI_C = 0xD503245F
NOP = 0xD503201F
RISCV = 243  # e_machine
RISCV_NOPS = (0x00010001, 0x00000013)  # of two bytes, twice, and of four


class Image:
    """An ELF64 little-endian image: its symbols, and its bytes by link-time address."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not a 64-bit little-endian ELF file")
        self.machine, = struct.unpack_from("<H", self.data, 18)
        section_offset, = struct.unpack_from("<Q", self.data, 0x28)
        entry_bytes, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, section_offset + i * entry_bytes) for i in range(count)]
        self.symbols = {name: value for name, value, _ in self._symbols()}
        self.ends = {value: value + size for _, value, size in self._symbols() if size}

    def _symbols(self):
        for _, kind, _, _, offset, size, link, *_ in self.sections:
            if kind != 2:  # SHT_SYMTAB
                continue
            names = self.sections[link][4]
            for at in range(offset, offset + size, 24):
                name, _, _, _, value, bytes_ = struct.unpack_from("<IBBHQQ", self.data, at)
                end = self.data.index(b"\0", names + name)
                yield self.data[names + name:end].decode(), value, bytes_

    def names_by_address(self):
        """Returns [(address, name)], ascending, without the assembler's marks and local labels."""
        return sorted((value, name) for name, value in self.symbols.items() if value and not name.startswith(("$", ".L")))

    def offset(self, address, count):
        """The offset in the file."""
        for _, kind, flags, start, offset, size, *_ in self.sections:
            # SHF_ALLOC, and not SHT_NOBITS
            if flags & 2 and kind != 8 and start <= address and address + count <= start + size:
                return offset + address - start
        raise ValueError(f"no bytes in the image at {address:#x}")

    def bytes(self, address, count):
        at = self.offset(address, count)
        return self.data[at:at + count]

    def word(self, address):
        return struct.unpack("<I", self.bytes(address, 4))[0]


def switching(image, *names):
    """Returns [(begin, end)] of these of the functions that switch stacks (firmware/examples/tasks/switch.*.S), or of all."""
    begins = [image.symbols[name] for name in names or ("switch_stacks", "call_on_stack") if name in image.symbols]
    return [(begin, image.ends[begin]) for begin in begins]


def slots(image):
    """Returns the table's entries, ascending, without the empty and repeated ones."""
    start, end = (image.symbols["__nopscope_sites_" + which] for which in ("start", "end"))
    table = image.bytes(start, end - start) if end > start else b""
    return sorted({entry for entry, in struct.iter_unpack("<Q", table)} - {0})


def toggling_word(image, function):
    return function + (8 if image.machine != RISCV and image.word(function) == BTI_C else 4)


def patch_sites(image):
    """Returns [(word, function)], ascending."""
    sites = []
    for function in (slot + 8 for slot in slots(image)):
        word = toggling_word(image, function)
        if image.word(word) not in (RISCV_NOPS if image.machine == RISCV else (NOP,)):
            raise ValueError(f"no patch site at {function:#x}: {image.word(word):#010x}")
        sites.append((word, function))
    return sites
