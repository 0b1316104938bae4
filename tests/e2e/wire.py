# SPDX-License-Identifier: Apache-2.0
"""A second decoder of wire format 1 written from docs/trace-format.md, so that no test has only the host tools' word for what a recording holds.

    line = Line(open("demo.raw", "rb").read())
    line.hello, line.events, line.stats, line.console, line.bad_frames
"""

import dataclasses
import struct

HELLO, TRACE, CONSOLE, STATS, PROFILE = 1, 2, 3, 4, 5
CALL, ENTRY, RET, EXTENDED = range(4)
STATS_FIELDS = ("now", "generated", "delivered", "dropped", "unhooked", "foreign",
                "console_dropped", "final")


def _crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC_TABLE = tuple(_crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def cobs_decode(block):
    """The bytes, or None when `block` is not COBS."""
    out, at = bytearray(), 0
    while at < len(block):
        code = block[at]
        if at + code > len(block):
            return None
        out += block[at + 1:at + code]
        at += code
        if code != 0xFF and at < len(block):
            out.append(0)
    return bytes(out)


@dataclasses.dataclass
class Event:
    kind: int
    index: int       # the record's own
    clock: int       # ticks
    site: int = 0    # call, entry: the function's run-time address
    entry: int = 0   # ret: its entry's index, low 28 bits
    unwound: bool = False


@dataclasses.dataclass
class Added:
    """What the profile recorder added up for a function on a core: ticks."""
    total: int
    self: int
    min: int
    max: int
    bins: dict  # bin: calls

    @property
    def calls(self):
        return sum(self.bins.values())


class Varints:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def more(self):
        return self.at < len(self.data)


class Line:
    """Everything one session sent on a line that lost nothing."""

    def __init__(self, data):
        self.bad_frames = 0
        self.hello = None
        self.events = []
        self.stats = None      # the last
        self.profile = {}      # (core, the function's run-time address): Added, as last heard
        self.read_outs = {}    # core: the parts of its last read-out; the last one is followed by True
        self.console = b""
        self.sequence_gaps = 0
        self._next_sequence = {}
        for block in data.split(b"\0")[:-1]:
            self._frame(block)

    def _frame(self, block):
        raw = cobs_decode(block)
        if raw is None or len(raw) < 12 or crc32c(raw[:-4]) != struct.unpack("<I", raw[-4:])[0]:
            self.bad_frames += 1
            return
        stream, core, _session, sequence = struct.unpack_from("<BBHI", raw)
        self.sequence_gaps += sequence != self._next_sequence.get((stream, core), 0)
        self._next_sequence[stream, core] = sequence + 1
        payload = raw[8:-4]
        if stream == HELLO:
            self._hello(payload)
        elif stream == TRACE:
            self._trace(payload)
        elif stream == CONSOLE:
            self.console += payload
        elif stream == STATS:
            numbers = Varints(payload)
            self.stats = {name: numbers.next() for name in STATS_FIELDS}
        elif stream == PROFILE:
            self._profile(core, Varints(payload))

    def _hello(self, payload):
        names = ("version", "lossless", "cores", "clock_hz", "text_base", "load_bias", "site_count",
                 "site_table_crc", "line_bytes_per_second")
        self.hello = dict(zip(names, struct.unpack_from("<HBBQQQIII", payload)))
        at = struct.calcsize("<HBBQQQIII")
        for name in ("build_id", "board", "image"):
            size = payload[at]
            self.hello[name] = payload[at + 1:at + 1 + size]
            at += 1 + size

    def _profile(self, core, numbers):
        _number, part, _now = numbers.next(), numbers.next(), numbers.next()
        if part >> 1 == 0:
            self.read_outs[core] = []
        self.read_outs[core] += [part >> 1] + [True] * (part & 1)
        site = self.hello["text_base"]
        while numbers.more():
            site += 8 * numbers.next()
            total, self_, least, most, used = (numbers.next() for _ in range(5))
            bins, bin_ = {}, 0
            for _ in range(used):
                bin_ += numbers.next()
                bins[bin_] = numbers.next()
            self.profile[core, site] = Added(total, self_ >> 1 ^ -(self_ & 1), least, most, bins)

    def _trace(self, payload):
        index, clock, _dropped = struct.unpack_from("<QQQ", payload)
        numbers = Varints(payload[24:])
        while numbers.more():
            token, delta = numbers.next(), numbers.next()
            clock += delta >> 1 ^ -(delta & 1)
            event = Event(token & 3, index, clock)
            value = token >> 2
            if event.kind in (CALL, ENTRY):
                event.site = self.hello["text_base"] + 8 * value
            elif event.kind == RET:
                event.unwound = bool(value & 1)
                event.entry = index - (value >> 1) & 0xFFFFFFF
            self.events.append(event)
            index += 1


def faults(line):
    """What is wrong with a complete recording in which nothing may be missing: a sentence each."""
    found = []
    if line.bad_frames:
        found.append(f"{line.bad_frames} frames are corrupt")
    if line.sequence_gaps:
        found.append(f"{line.sequence_gaps} gaps in the frames' sequence")
    if line.hello is None or line.stats is None or line.stats["final"] != 1:
        return found + ["no hello, or no final stats"]
    stats = line.stats
    if not stats["generated"] == stats["delivered"] == len(line.events):
        found.append(f"generated {stats['generated']}, delivered {stats['delivered']}, "
                     f"on the line {len(line.events)}")
    if stats["dropped"]:
        found.append(f"{stats['dropped']} records dropped")
    if any(event.index != n for n, event in enumerate(line.events)):
        found.append("the records' indices are not 0, 1, 2, ...")
    backward = sum(after.clock < before.clock
                   for before, after in zip(line.events, line.events[1:]))
    if backward:
        found.append(f"the clock goes backward {backward} times")
    return found


def pairing_faults(line):
    """Every ret must close an open entry, every entry be closed once, innermost first."""
    found, open_entries = [], []
    for event in line.events:
        if event.kind == ENTRY:
            open_entries.append(event)
        elif event.kind == RET:
            if not open_entries or open_entries[-1].index & 0xFFFFFFF != event.entry:
                found.append(f"record {event.index} returns from {event.entry}, "
                             f"which is not the innermost open entry")
                open_entries = [e for e in open_entries if e.index & 0xFFFFFFF != event.entry]
            else:
                open_entries.pop()
    return found + [f"entry {event.index} of {event.site:#x} has no return"
                    for event in open_entries]


def calls(line):
    """{function: calls}, from call and entry records."""
    counts = {}
    for event in line.events:
        if event.kind in (CALL, ENTRY):
            counts[event.site] = counts.get(event.site, 0) + 1
    return counts
