#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of recordings, from docs/nsc-format.md. It shares no code with the first reader.

    nsc2.py RECORDING.nsc LINE

Fails (1) if the recording differs from the line, which trace2.py reads.
"""
import ctypes
import struct
import sys
from collections import Counter, defaultdict

from trace2 import (CONSOLE, DATA, ENTRY, EXTENDED, HELLO, IDENTITY, PROFILE, RET, STATS, TASKS, TRACE,
                    TraceDecoder, Varints, crc32c, frames)

ITEM_OF = {STATS: 1, PROFILE: 2, CONSOLE: 3, 7: 8, 8: 9, 9: 10, TASKS: 12}
CLOCK_PAIR = 11
CLOCK = (1 << 64) - 1


def zstd(frame):
    """Returns the content of a zstd frame."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    library.ZSTD_decompress.restype = ctypes.c_size_t
    size = library.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    assert size <= 8 << 20
    body = ctypes.create_string_buffer(size)
    assert library.ZSTD_decompress(body, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame))) == size
    return body.raw


def chunks(data):
    """Yields (type, payload) of an undamaged file, which may have been cut."""
    assert data[:8] == b"\x89NSC\r\n\x1a\n"
    assert struct.unpack_from("<HHI", data, 8) == (2, 0, crc32c(data[:12]))
    at = 16
    while at + 16 <= len(data):
        kind, size, payload_crc, crc = struct.unpack_from("<4sIII", data, at)
        payload = data[at + 16:at + 16 + size]
        if len(payload) < size:
            return
        assert crc == crc32c(data[at:at + 12]) and payload_crc == crc32c(payload) and size <= 64 << 20
        yield kind.decode(), payload
        at += 16 + size


def block(body):
    """Returns (session, core, [(index, word, clock)], {index: (missing, context, base)}). The first
    record's `missing` is the session's sum."""
    numbers = Varints(body)
    session, core, index, missing, context, clock, count, gap_count = (numbers.next() for _ in range(8))
    gaps, at = {}, 0
    for _ in range(gap_count):
        at += numbers.next()
        gaps[at] = [numbers.next() for _ in range(3)]
    flags, base = numbers.next(), numbers.signed()
    words = [numbers.next() for _ in range(numbers.next())]
    rare_size = numbers.next()
    rare = Varints(body[numbers.at:numbers.at + rare_size])
    tokens_at = numbers.at + rare_size
    token_bytes, delta_bytes = 1 + (flags & 1), 1 + (flags >> 1)
    deltas_at = tokens_at + count * token_bytes
    assert deltas_at + count * delta_bytes == len(body) and 1 <= count <= 65536
    records, told, opened = [], {index: (missing, context, clock)}, []
    for n in range(count):
        if n in gaps:
            index += gaps[n][0]
            clock = gaps[n][2]
            told[index] = tuple(gaps[n])
        token = int.from_bytes(body[tokens_at + n * token_bytes:][:token_bytes], "little")
        delta = int.from_bytes(body[deltas_at + n * delta_bytes:][:delta_bytes], "little")
        low = None
        if token == 0:
            upper = RET | (opened.pop() & IDENTITY) << 4
        else:
            upper = rare.next() if token == 1 else words[token - 2]
            if upper & 3 == ENTRY:
                opened.append(index)
            if upper & 3 == RET:
                age = index - (upper >> 4) & IDENTITY
                while opened and index - opened[-1] & IDENTITY <= age:
                    opened.pop()
            if upper & 3 == EXTENDED and upper >> 3 & 15 == DATA:
                low = rare.next()
        if low is None:
            if delta == (1 << 8 * delta_bytes) - 1:
                clock += rare.signed()
            else:
                clock += base + delta
            clock &= CLOCK
        records.append((index, upper << 32 | (clock & 0xFFFFFFFF if low is None else low), clock))
        index += 1
    assert not rare.more()
    return session, core, records, told


class Recording:
    def __init__(self, data):
        self.hellos, self.items = [], Counter()
        self.records, self.gaps = defaultdict(list), defaultdict(dict)
        self.counters, self.ended = None, False
        missing = defaultdict(int)
        for kind, payload in chunks(data):
            if kind == "SESS":
                numbers = Varints(payload)
                assert numbers.next() == len(self.hellos) + 1
                self.hellos.append((numbers.next(), payload[numbers.at:]))
            elif kind == "TRCE":
                session, core, records, gaps = block(zstd(payload))
                self.records[session, core] += records
                for n, (index, (count, *after)) in enumerate(gaps.items()):
                    count -= missing[session, core] if n == 0 else 0
                    missing[session, core] += count
                    if count:
                        self.gaps[session, core][index] = (count, *after)
            elif kind == "ITEM":
                self.take_items(zstd(payload))
            elif kind == "COUN":
                numbers = Varints(payload, 8)
                self.counters = [[numbers.next() for _ in range(numbers.next())] for _ in range(3)]
                assert numbers.next() in (0, 1) and numbers.next() == 0 and not numbers.more()
            self.ended = kind == "END!"

    def take_items(self, body):
        numbers = Varints(body)
        session = numbers.next()
        while numbers.more():
            kind, core = body[numbers.at], body[numbers.at + 1]
            numbers.at += 2
            size = numbers.next()
            self.items[session, kind, core, body[numbers.at:numbers.at + size]] += 1
            numbers.at += size


class Spoken:
    """The same from the line. Its sessions begin with their hellos. Damaged frames must be visible."""

    def __init__(self, line):
        self.hellos, self.items = [], Counter()
        self.records, self.gaps = defaultdict(list), defaultdict(dict)
        expected, decoders, next_index = {}, {}, defaultdict(int)
        for frame in frames(line):
            if frame is None:
                continue
            stream, core, session, sequence, payload = frame
            if not self.hellos or session != self.hellos[-1][0]:
                assert stream == HELLO
                self.hellos.append((session, payload))
                expected, decoders, next_index = {}, {}, defaultdict(int)
            number = len(self.hellos)
            lost = sequence != expected.get((stream, core), 0)
            expected[stream, core] = sequence + 1
            if stream in ITEM_OF:
                self.items[number, ITEM_OF[stream], core, payload] += 1
            if stream != TRACE:
                continue
            decoder = decoders.setdefault(core, TraceDecoder())
            if lost:
                decoder.lose()
            if not decoder.open(payload):
                continue
            index = decoder.index
            if index != next_index[core]:
                self.gaps[number, core][index] = (index - next_index[core], decoder.context, decoder.base)
            for kind, value, clock in decoder.records():
                data = kind == EXTENDED and value & 15 == DATA
                upper = (kind | (value & 15 | value >> 36 << 4 if data else value) << 3) & 0xFFFFFFFF
                low = value >> 4 if data else clock
                self.records[number, core].append((index, upper << 32 | low & 0xFFFFFFFF, clock))
                index += 1
            next_index[core] = index


def check_clock_pairs(told):
    """Checks the clock pairs: a one-way pair has the clock of a stats frame of core 0."""
    clocks = {(session, Varints(item).next()) for session, kind, core, item in told.items if kind == ITEM_OF[STATS] and core == 0}
    for session, kind, _, item in told.items:
        if kind != CLOCK_PAIR:
            continue
        numbers = Varints(item)
        clock, utc, error, exchanged = (numbers.next() for _ in range(4))
        assert not numbers.more() and exchanged in (0, 1) and error <= utc
        assert exchanged or (session, clock) in clocks, "a clock pair of nothing"


def main():
    with open(sys.argv[1], "rb") as file:
        told = Recording(file.read())
    with open(sys.argv[2], "rb") as file:
        line = file.read()
    spoken = Spoken(line)
    assert told.ended and told.counters[0][0] == len(line)
    for name in ("hellos", "records", "gaps"):
        assert getattr(told, name) == getattr(spoken, name), name
    check_clock_pairs(told)
    known = {key: count for key, count in told.items.items() if key[1] in ITEM_OF.values()}
    assert known == spoken.items, "items"
    count = sum(len(records) for records in told.records.values())
    assert told.counters[1][1] == count, "delivered"
    missing = [0, 0, 0]
    for (_, kind, _, item), times in told.items.items():
        if kind == 7:
            numbers = Varints(item)
            parts = [numbers.next() for _ in range(5)][2:]
            missing = [sum_ + times * part for sum_, part in zip(missing, parts)]
    _, _, dropped, overwritten, _, _, lost = told.counters[1][:7]
    assert missing == [lost, overwritten, dropped], (missing, lost, overwritten, dropped)
    print(f"{count} records, {len(told.items)} items, {sum(missing)} missing: the two readers agree")


if __name__ == "__main__":
    main()
