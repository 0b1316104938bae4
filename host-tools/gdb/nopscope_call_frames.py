# SPDX-License-Identifier: Apache-2.0
"""Reads an arm64 image's call frame information: the places of the caller's registers at each
instruction. gdb does not give nopscope_unwinder.py the results of other unwinders."""

import bisect
import collections
import struct
import zlib

SP, LR, SCRATCH, PC = 31, 30, 9, 32  # DWARF register numbers (AADWARF64)
WORD = (1 << 64) - 1
SITE_BYTES = 12  # landing pad, MOV and BL
PAC_LOWEST_BIT = 32  # no address space in use is smaller

# cfa: the CFA's register and offset. rules: {register: (how, what)}, where `how` is "at" (an offset
# from the CFA), "register", "same" or "undefined". signed: the return address is signed.
Row = collections.namedtuple("Row", "cfa rules signed")
Info = collections.namedtuple("Info", "code_factor data_factor instructions encoding is_signal")


class NotFound(Exception):
    """A backtrace ends here; the message is a sentence that says why."""


class Bytes:
    """A reader of little-endian data."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def sleb(self):
        before = self.at
        value = self.uleb()
        bits = 7 * (self.at - before)
        return value - (1 << bits) if value >> (bits - 1) else value

    def text(self):
        end = self.data.index(b"\0", self.at)
        value, self.at = self.data[self.at:end], end + 1
        return value

    def block(self, count):
        value, self.at = self.data[self.at:self.at + count], self.at + count
        return value


class Elf:
    """An ELF file's sections and function symbols."""

    def __init__(self, path):
        with open(path, "rb") as file:
            head = file.read(20)
            if head[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", head, 18)[0] != 183:
                raise NotFound(f"{path} is no image of little-endian arm64")
            self.data = head + file.read()
        table, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + n * size) for n in range(count)]
        strings = headers[names][4]
        self.sections = {Bytes(self.data, strings + h[0]).text().decode(): h for h in headers}

    def section(self, name):
        """The section's address and bytes."""
        _, kind, flags, address, offset, size, *_ = self.sections.get(name, (0, 8, 0, 0, 0, 0))
        data = self.data[offset:offset + size] if kind != 8 else b""
        if flags & 0x800:  # SHF_COMPRESSED
            if struct.unpack_from("<I", data)[0] != 1:
                raise NotFound(f"the image's {name} is compressed by something other than zlib")
            data = zlib.decompress(data[24:])
        return address, data

    def code(self):
        """The first and last + 1 address of the executable sections."""
        executable = [h for h in self.sections.values() if h[2] & 4]
        return min((h[3] for h in executable), default=0), max((h[3] + h[5] for h in executable), default=0)

    def symbols(self):
        """{name: (address, size, is a function)}"""
        names, found = self.section(".strtab")[1], {}
        for name, kind, _, section, value, size in struct.iter_unpack("<IBBHQQ", self.section(".symtab")[1]):
            if section != 0:
                found[Bytes(names, name).text().decode(errors="replace")] = value, size, kind & 15 == 2
        return found


class CallFrames:
    """DWARF call frame information (DWARF 5, 6.4) of .eh_frame and .debug_frame."""

    def __init__(self, elf):
        entries = [*self.entries(*elf.section(".eh_frame"), True), *self.entries(*elf.section(".debug_frame"), False)]
        self.all = sorted(entries, key=lambda entry: entry[0])
        self.starts = [entry[0] for entry in self.all]
        self.low, self.high = elf.code()

    def entries(self, address, data, is_eh):
        infos, reader = {}, Bytes(data)
        while reader.at + 4 <= len(data):
            begin = reader.at
            length = reader.take("I")
            wide = length == 0xffffffff
            if wide:
                length = reader.take("Q")
            end, here = reader.at + length, reader.at
            if length != 0:
                of = reader.take("Q" if wide else "I")
                if of == (0 if is_eh else WORD if wide else 0xffffffff):
                    infos[begin] = self.info(reader, end)
                else:
                    info = infos.get(here - of if is_eh else of)
                    if info is not None:
                        start = self.pointer(reader, info.encoding, address)
                        size = self.pointer(reader, info.encoding & 15, address)
                        if is_eh:
                            reader.block(reader.uleb())
                        if start != 0:  # 0: the linker has removed the function
                            yield start, start + size, info, data[reader.at:end]
            reader.at = end

    def info(self, reader, end):
        version, augmentation = reader.take("B"), reader.text()
        if version >= 4:
            reader.block(2)
        code, data = reader.uleb(), reader.sleb()
        reader.take("B") if version == 1 else reader.uleb()
        encoding = 0
        if augmentation[:1] == b"z":
            behind = reader.uleb() + reader.at
            for letter in augmentation.decode()[1:]:
                if letter == "R":
                    encoding = reader.take("B")
                elif letter == "P":
                    self.pointer(reader, reader.take("B"), 0)
                elif letter == "L":
                    reader.take("B")
            reader.at = behind
        return Info(code, data, reader.data[reader.at:end], encoding, b"S" in augmentation)

    @staticmethod
    def pointer(reader, encoding, address):
        at = address + reader.at
        value = reader.take({0: "Q", 2: "H", 3: "I", 4: "Q", 10: "h", 11: "i", 12: "q"}[encoding & 15])
        return (value + (at if encoding & 0x70 == 0x10 else 0)) & WORD

    def entry(self, pc):
        at = bisect.bisect_right(self.starts, pc) - 1
        return self.all[at] if at >= 0 and pc < self.all[at][1] else None

    def is_signal(self, pc):
        entry = self.entry(pc)
        return entry is not None and entry[2].is_signal

    def row(self, pc):
        """The Row at pc; None: not known."""
        entry = self.entry(pc)
        if entry is None:  # GCC's entries leave out the patch site: the stack is unchanged there
            behind = bisect.bisect_right(self.starts, pc)
            is_site = behind < len(self.starts) and self.starts[behind] - pc <= SITE_BYTES
            return Row((SP, 0), {}, False) if is_site else None
        start, _, info, instructions = entry
        initial = self.run(info, info.instructions, start, WORD, ((SP, 0), {}, False), {})
        after = initial and self.run(info, instructions, start, pc, initial, initial[1])
        return after and Row(*after)

    @staticmethod
    def run(info, instructions, location, pc, state, initial):
        """The Row's three parts after the instructions for pc; None: an unknown instruction."""
        (cfa, rules, signed), kept, reader = state, [], Bytes(instructions)
        rules = dict(rules)
        while reader.at < len(instructions):
            code = reader.take("B")
            low = code & 0x3f
            if code >> 6 == 1 or 2 <= code <= 4:  # advance_loc
                location += info.code_factor * (low if code >> 6 else reader.take({2: "B", 3: "H", 4: "I"}[code]))
                if location > pc:
                    break
            elif code >> 6 == 2:
                rules[low] = "at", reader.uleb() * info.data_factor
            elif code >> 6 == 3 or code == 6:  # restore
                register = low if code >> 6 else reader.uleb()
                rules.pop(register, None)
                if register in initial:
                    rules[register] = initial[register]
            elif code == 0:
                pass
            elif code in (5, 0x11):
                register = reader.uleb()
                rules[register] = "at", (reader.uleb() if code == 5 else reader.sleb()) * info.data_factor
            elif code == 7:
                rules[reader.uleb()] = "undefined", 0
            elif code == 8:
                rules[reader.uleb()] = "same", 0
            elif code == 9:
                register = reader.uleb()
                rules[register] = "register", reader.uleb()
            elif code == 0xa:
                kept.append((cfa, dict(rules), signed))
            elif code == 0xb:
                cfa, rules, signed = kept.pop()
            elif code == 0xc:
                cfa = reader.uleb(), reader.uleb()
            elif code == 0xd:
                cfa = reader.uleb(), cfa[1]
            elif code == 0xe:
                cfa = cfa[0], reader.uleb()
            elif code == 0x2d:  # DW_CFA_AARCH64_negate_ra_state
                signed = not signed
            else:
                return None
        return cfa, rules, signed

    def stripped(self, address):
        """A return address without its signature, which is in bits that are the same in all code."""
        common = (1 << (self.low ^ self.high).bit_length()) - 1
        plain = (self.low & ~common) | (address & common)
        is_in = self.low <= plain < self.high and (plain ^ address) & ((1 << PAC_LOWEST_BIT) - 1) == 0
        return plain if is_in else address
