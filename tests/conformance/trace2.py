# SPDX-License-Identifier: Apache-2.0
"""Frames, hellos, and the packed records of trace frames, of formats 2 and 3: written from docs/trace-format.md, sharing no code with the
first reader. For the second readers in tests/conformance and tests/e2e, and for lines that tests make. Short, not fast.
"""
import struct
import sys

HELLO, TRACE, CONSOLE, STATS, PROFILE, TASKS = 1, 2, 3, 4, 5, 10
CALL, ENTRY, RET, EXTENDED = range(4)
SYNC, TRACER_BEGIN, TRACER_END, CONTEXT = range(4)
INTERRUPT = 5
MARKER, DURATION, ARGUMENTS, RESULT, COUNTER, MASKED, TASK, DATA = 4, 6, 7, 8, 9, 12, 13, 15
STATS_FIELDS = ("now", "generated", "delivered", "dropped", "shadow_stack_full", "off_stack", "console_dropped",
                "final", "overwritten", "aggregated", "filtered")
LATER_STATS_FIELDS = ("commands_refused", "recursions", "mode", "recorders", "since", "stopped_at", "profile",
                      "stray_returns", "undeferred")
IDENTITY = (1 << 28) - 1  # of an entry, in a ret
HELLO_HEAD = struct.Struct("<HBBQQQII")  # of both formats
HELLO_HEAD_FIELDS = ("version", "flags", "cores", "clock_hz", "text_base", "load_bias", "site_count", "site_table_crc")
HELLO_TEXTS = {1: "build_id", 2: "board", 3: "image"}
HELLO_NUMBERS = {4: "line_bytes_per_second", 9: "sequences_from", 10: "architecture"}
RECOVERED = 4  # a flag


class Malformed(Exception):
    """A frame with a correct CRC and invalid contents."""


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


def cobs_decode(chunk):
    """Returns the bytes, or None if `chunk` is not COBS."""
    out, at = bytearray(), 0
    while at < len(chunk):
        code = chunk[at]
        if code == 0 or at + code > len(chunk):
            return None
        out += chunk[at + 1:at + code]
        at += code
        if code != 0xFF and at < len(chunk):
            out.append(0)
    return bytes(out)


def cobs_encode(raw):
    out = bytearray()
    blocks = raw.split(b"\0")
    for number, block in enumerate(blocks):
        while len(block) >= 0xFE:
            out += b"\xff" + block[:0xFE]
            block = block[0xFE:]
            if not block and number + 1 == len(blocks):
                return bytes(out)
        out += bytes([len(block) + 1]) + block
    return bytes(out)


def frame(stream, session, payload, sequence=0, core=0):
    """Returns the frame as on the line, between two zeros."""
    raw = struct.pack("<BBHI", stream, core, session, sequence) + payload
    return b"\0" + cobs_encode(raw + crc32c(raw).to_bytes(4, "little")) + b"\0"


def frames(line):
    """Yields for each chunk of the line that is not empty: (stream, core, session, sequence, payload), or None if it is corrupt."""
    for chunk in line.split(b"\0")[:-1]:
        if chunk:
            raw = cobs_decode(chunk)
            if raw is None or len(raw) < 12 or crc32c(raw[:-4]) != int.from_bytes(raw[-4:], "little"):
                yield None
            else:
                yield *struct.unpack_from("<BBHI", raw), raw[8:-4]


class Varints:
    """Reads numbers strictly: Malformed at the end of the bytes, and for a number of more than 64 bits."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Malformed("it ends within an item")
        self.at += count
        return self.data[self.at - count:self.at]

    def next(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if value >> 64 or shift > 63:
                raise Malformed("a number of more than 64 bits")
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.next()
        return value >> 1 ^ -(value & 1)

    def more(self):
        return self.at < len(self.data)


def stats(payload):
    """Returns the fields. Fields that the target did not send are missing."""
    numbers = Varints(payload)
    fields = {name: numbers.next() for name in STATS_FIELDS}
    fields |= {name: numbers.next() for name in LATER_STATS_FIELDS if numbers.more()}
    return fields


def profile(payload):
    """Returns the read-out's number, the part's number << 1 | whether it is the last, and an iterator over rows: (site from
    text_base, in 8 bytes; total, self, min, max; calls by bin)."""
    numbers = Varints(payload)
    number, part, _now = numbers.next(), numbers.next(), numbers.next()
    return number, part, _profile_rows(numbers)


def _profile_rows(numbers):
    site = 0
    while numbers.more():
        site += numbers.next()
        total, own = numbers.next(), numbers.signed()
        least, most, used = (numbers.next() for _ in range(3))
        bins, last = {}, 0
        for _ in range(used):
            last += numbers.next()
            bins[last] = numbers.next()
        yield site, total, own, least, most, bins


def hello(payload):
    """The fields that a second reader needs; those that a hello does not have are empty or 0."""
    fields = dict(zip(HELLO_HEAD_FIELDS, HELLO_HEAD.unpack_from(payload)))
    fields |= {name: b"" for name in HELLO_TEXTS.values()} | {name: 0 for name in HELLO_NUMBERS.values()}
    rest = Varints(payload, HELLO_HEAD.size)
    if fields["version"] == 2:
        return fields | _rest_of_hello_2(rest)
    if fields["version"] not in (3, 4):  # 4: of another architecture than arm64
        raise Malformed(f"a hello of format {fields['version']}")
    last = 0
    while rest.more():
        tag, size = rest.take(2)
        value = rest.take(size)
        if tag <= last:
            raise Malformed(f"extension {tag} of a hello")
        if tag in HELLO_TEXTS:
            fields[HELLO_TEXTS[tag]] = value
        elif tag in HELLO_NUMBERS:
            fields[HELLO_NUMBERS[tag]] = Varints(value).next()
        last = tag
    return fields


def _rest_of_hello_2(rest):
    fields = {"line_bytes_per_second": int.from_bytes(rest.take(4), "little")}
    fields |= {name: rest.take(rest.take(1)[0]) for name in HELLO_TEXTS.values()}
    if rest.more():
        _, overheads = rest.take(2)
        for _ in range((1 + 2 * overheads if overheads else 0) + 5 + 3):
            if rest.more():
                rest.next()
    return fields | ({"sequences_from": rest.next()} if rest.more() else {})


def hello_payload(extensions=None, **head):
    """The payload of a hello of format 3. `extensions`: values (bytes) by tag."""
    fields = {"version": 3, "flags": 0, "cores": 1, "clock_hz": 10 ** 9, "text_base": 0x40000000, "load_bias": 0,
              "site_count": 0, "site_table_crc": 0} | head
    return HELLO_HEAD.pack(*fields.values()) + b"".join(bytes([tag, len(value)]) + value
                                                         for tag, value in sorted((extensions or {}).items()))


EVEN, UNLIKELY, UNEXPECTED, LIKELY = 1 << 15, 1 << 12, 3 << 13, 3 << 14
WORD, CLOCK = (1 << 32) - 1, (1 << 64) - 1
TOKEN_FACTOR, CALLER_FACTOR, CALL_FACTOR = 0x9E3779B1, 0x2F5E5358, 0xC2B2AE35
UNNAMED_RET, NAMED_RET, UNWOUND = 4 | RET, 4 | RET | 16, 8
DATA_TOKEN = DATA << 3 | 4 | EXTENDED
NO_ENTRY = None
MAIN, OTHER, IS_MAIN, IS_OTHER, TIMES = range(5)    # a context
SHORT, LONG, EXPECTED, IS_SECOND = 0, 1, 2, 5       # times; EXPECTED + 0, 1, 2
KEY, INDEX, LAST, SLOT = range(4)                   # a frame of the stack
BELOW, MORE_BITS, FIRST_BIT = 0, 1, 16              # a rest


def _rotated(word):
    return (word << 16 | word >> 16) & WORD


def _completed(top, key):
    key = key * CALL_FACTOR & WORD
    top[SLOT] = ((top[KEY] ^ _rotated(top[LAST])) + key & WORD) >> 21
    top[LAST] = key


class TraceDecoder:
    """Decodes the trace frames of one core, in order: open() each, then take its records()."""

    def __init__(self):
        self.in_group = False

    def lose(self):
        self.in_group = False

    def open(self, payload):
        """Returns False if no key frame came since the start or lose(). `count` records are lost."""
        try:
            numbers = self._header(payload)
        except (IndexError, struct.error, Malformed):
            self.in_group = False
            raise Malformed from None
        if not self.in_group:
            return False
        self.code = int.from_bytes(payload[numbers.at:numbers.at + 7].ljust(7, b"\0"), "big")
        self.bytes, self.at, self.range = payload, numbers.at + 7, 1 << 56
        return True

    def records(self):
        """Yields (kind, value, clock) of each record. The value of a ret is its entry's index << 1
        | unwound, that of data its 57 bits << 4 | 15."""
        try:
            for _ in range(self.count):
                yield self._record()
        except Malformed:
            self.in_group = False
            raise

    def _header(self, payload):
        flags, self.count = struct.unpack_from("<BH", payload)
        numbers = Varints(payload, 3)
        dropped = numbers.next()
        if flags > 1:
            raise IndexError
        if flags:
            first = numbers.next()
            self.base, = struct.unpack_from("<Q", payload, numbers.at)
            numbers.at += 8
            self.overwritten, self.context = numbers.next(), numbers.next()
            if self.context >> 25:
                raise IndexError
            self.dropped, self.in_group = 0, True
            self._reset(first)
        self.dropped = self.dropped + dropped if self.in_group else 0
        return numbers

    def _reset(self, first):
        def rest():
            return [EVEN] * 32

        times = [0, 1, EVEN, EVEN, EVEN, EVEN]
        self.contexts = [[0, 0, UNLIKELY, UNLIKELY, times[:]] for _ in range(2048)]
        self.guesses = [[0, UNLIKELY] for _ in range(512)]
        self.times = [times[:] for _ in range(256)]
        self.known, self.known_tree, self.is_known = [0] * 512, [EVEN] * 512, [EVEN]
        self.rests, self.entry_rest = [rest() for _ in range(17)], rest()
        self.data_rests, self.data_of, self.site_next = [rest() for _ in range(4)], 0, False
        self.stack, self.top = [[0, NO_ENTRY, 0, 0] for _ in range(256)], 0
        self.named_entry, self.last_time = 0, 0
        self.index, self.clock = first, self.base

    def _settle(self):
        self.code = self.code << 32 & CLOCK | int.from_bytes(self.bytes[self.at:self.at + 4].ljust(4, b"\0"), "big")
        self.at += 4
        self.range <<= 32

    def _bit(self, odds, at):
        p = odds[at]
        bound = (self.range >> 16) * p
        one = self.code < bound
        if one:
            self.range = bound
            odds[at] = p + (0xFFFF - p >> 5 << 1)
        else:
            self.code -= bound
            self.range -= bound
            odds[at] = p - (p >> 5 << 1)
        if self.range < 1 << 24:
            self._settle()
        return one

    def _plain(self, count):
        self.range >>= count
        value = min(self.code // self.range, (1 << count) - 1)
        self.code -= value * self.range
        if self.range < 1 << 24:
            self._settle()
        return value

    def _size(self, rest):
        bits = 0
        while bits < 63 and self._bit(rest, MORE_BITS + min(bits, 14)):
            bits += 1
        if bits == 0:
            return 1
        size, left = 2 | self._bit(rest, FIRST_BIT + min(bits, 15)), bits - 1
        while left:
            now = min(left, 16)
            size, left = size << now | self._plain(now), left - now
        return size

    def _record(self):
        top = self.stack[self.top]
        slot = top[SLOT]
        context = self.contexts[slot]
        times = context[TIMES]
        at = EXPECTED + self.last_time
        which = times[at] & 1
        if self._bit(times, at):
            token, self.last_time = context[MAIN], which
            self.clock += times[which]
        elif self._bit(context, IS_MAIN):
            token = context[MAIN]
            self.clock += self._second_time(times)
        else:
            token = self._other_token(context, top)
            times = self.times[(token * TOKEN_FACTOR ^ top[KEY] * CALLER_FACTOR) >> 24 & 0xFF]
            which = times[at] & 1
            if self._bit(times, at):
                self.last_time = which
                self.clock += times[which]
            else:
                self.clock += self._second_time(times)
            if token == context[MAIN]:
                context[TIMES] = times[:]
        self.clock &= CLOCK
        value = self._follow(token, top, slot)
        self.index += 1
        return token & 3, value, self.clock

    def _second_time(self, times):
        at = EXPECTED + self.last_time
        second = ~times[at] & 1
        if self._bit(times, IS_SECOND):
            if times[at] < EVEN:
                times[at] ^= 0xFFFF
            self.last_time = second
            return times[second]
        self.last_time = 2
        rest = self.rests[times[LONG].bit_length()]
        below = self._bit(rest, BELOW)
        size = self._size(rest)
        ticks = (times[SHORT] - size if below else times[SHORT] + size) & CLOCK
        if ticks <= 0xFFFF:
            if times[at] < UNLIKELY:
                times[1 - second] = ticks
            elif times[IS_SECOND] < EVEN:
                times[second], times[IS_SECOND] = ticks, LIKELY
            if times[SHORT] > times[LONG]:
                times[SHORT], times[LONG] = times[LONG], times[SHORT]
                for each in range(EXPECTED, EXPECTED + 3):
                    times[each] ^= 1
        return ticks

    def _other_token(self, context, top):
        demote = context[IS_MAIN] < EVEN and context[TIMES][EXPECTED + self.last_time] < UNEXPECTED
        guess = self.guesses[(top[KEY] ^ _rotated(top[LAST])) >> 23]
        if self._bit(context, IS_OTHER):
            token = context[OTHER]
            if demote:
                context[MAIN], context[OTHER] = token, context[MAIN]
            return token
        if guess[0] not in (context[MAIN], context[OTHER]) and self._bit(guess, 1):
            token = guess[0]
        else:
            token = self._spelled()
            if guess[1] < EVEN:
                guess[0] = token
        if demote:
            context[MAIN], context[OTHER], context[IS_MAIN] = token, context[MAIN], LIKELY
        else:
            context[OTHER] = token
        return token

    def _spelled(self):
        if self._bit(self.is_known, 0):
            node = 1
            while node < 512:
                node = node << 1 | self._bit(self.known_tree, node)
            return self.known[node - 512]
        token = self._plain(16) << 16
        token |= self._plain(16) | 4
        self.known[(token * TOKEN_FACTOR & WORD) >> 23] = token
        return token

    def _follow(self, token, top, slot):
        kind, value, key = token & 3, token >> 3, token * TOKEN_FACTOR & WORD
        if kind == ENTRY:
            self.top = (self.top + 1) % 256
            caller = slot * 3 * CALLER_FACTOR & WORD
            self.stack[self.top] = [key, self.index & IDENTITY, 0, (key ^ caller) >> 21]
        elif kind == CALL:
            _completed(top, key)
        elif kind == RET:
            value = self._entry_of(token, top) << 1 | value & 1
        elif token == DATA_TOKEN:
            value = self._data() << 4 | DATA
        elif value & 15 == SYNC:
            value ^= (self.clock >> 32 & 0x1FFFFFF) << 4
        elif value & 15 >= DURATION:
            if value & 15 == DATA:
                raise Malformed
            self.data_of, self.site_next = value & 15, value & 15 in (6, 7, 8)
            _completed(top, key)
        return value

    def _pop(self):
        self.stack[self.top][INDEX] = NO_ENTRY
        self.top = (self.top - 1) % 256

    def _entry_of(self, token, top):
        if token & ~UNWOUND == UNNAMED_RET:
            entry, key = top[INDEX], top[KEY]
            if entry is NO_ENTRY:
                raise Malformed
            self._pop()
        elif token & ~UNWOUND == NAMED_RET:
            entry, key = self.named_entry - (self._size(self.entry_rest) - 1) & IDENTITY, token
            while self.stack[self.top][INDEX] is not NO_ENTRY and (self.stack[self.top][INDEX] - entry & IDENTITY) < 1 << 27:
                self._pop()
            self.named_entry = entry
        else:
            raise Malformed
        _completed(self.stack[self.top], key)
        return entry

    def _data(self):
        token = DATA_TOKEN
        if self.site_next:
            self.site_next, token = False, self._spelled()
            if token & 3 != ENTRY:
                raise Malformed
            data = token >> 3
        else:
            rest = self.data_rests[self.data_of & 3]
            below = self._bit(rest, BELOW)
            size = self._size(rest) - 1
            data = (~size if below else size) & (1 << 57) - 1
        _completed(self.stack[self.top], token * TOKEN_FACTOR & WORD)
        return data


def check(line):
    """Checks a line whose console names the number of records in its trace frames, and their CRC."""
    decoder, packed, count, told = TraceDecoder(), bytearray(), 0, b""
    for stream, _core, _session, _sequence, payload in frames(line):
        if stream == CONSOLE:
            told += payload
        elif stream == TRACE and decoder.open(payload):
            for record in decoder.records():
                packed += struct.pack("<BQQ", *record)
                count += 1
    found = f"{count} records {crc32c(packed):08x}"
    print(found if found == told.decode() else f"decoded {found}, but it should be {told.decode()}")
    return 0 if found == told.decode() else 1


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        sys.exit(check(file.read()))
