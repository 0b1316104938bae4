# SPDX-License-Identifier: Apache-2.0
"""Small recordings that claim much data, and valid ones with very many paths (docs/nsc-format.md).

HOSTILE has a function for each recording, which returns the file's bytes. zstd makes blocks with a
repeated pattern small, so a file of some kB describes millions of records. LINES: as a target sends.
"""

import ctypes
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / part) for part in (".", "cli", "interop/export")]
import hostile_names  # noqa: E402  (puts tests/conformance on the path)
import trace2  # noqa: E402
from hostile_names import varint  # noqa: E402

SESSION, TRACE, ITEMS = 0x53534553, 0x45435254, 0x4D455449
PROFILE, CONSOLE, MISSING, MOVED, PROFILE_EVENTS, TASKS = 2, 3, 7, 9, 10, 12
CONTEXT, MARKER, INTERRUPT, DURATION, ARGUMENTS, COUNTER, SAMPLE, MASKED = 3, 4, 5, 6, 7, 9, 10, 12
LINE_MOVED = 8  # the number of a stream
RETURN, RARE, FIRST = 0, 1, 2  # tokens
BLOCK_RECORDS = 1 << 16
CORES, FUNCTIONS = 255, 1 << 18
LIBRARY = ctypes.CDLL("libzstd.so.1")
LIBRARY.ZSTD_compress.restype = LIBRARY.ZSTD_compressBound.restype = ctypes.c_size_t


def zstd(body, level=6):
    room = LIBRARY.ZSTD_compressBound(ctypes.c_size_t(len(body)))
    out = ctypes.create_string_buffer(room)
    size = LIBRARY.ZSTD_compress(out, ctypes.c_size_t(room), body, ctypes.c_size_t(len(body)), level)
    return out.raw[:size]


def entry(function):
    """The upper half of an entry's record. Functions are numbered from 0."""
    return (function + 1) << 3 | trace2.ENTRY


def extended(what, argument=0):
    return argument << 7 | what << 3 | trace2.EXTENDED


def of_data(value):
    """Returns the upper and the lower half."""
    return extended(trace2.DATA, value >> 32), value & 0xFFFFFFFF


def hello(cores=CORES, sites=FUNCTIONS):
    return trace2.hello_payload({1: b"id", 2: b"b", 3: b"i"}, flags=1, cores=cores, site_count=sites)


class Recording:
    def __init__(self, **claims):
        self.out = bytearray(b"\x89NSC\r\n\x1a\n" + struct.pack("<HH", 2, 0))
        self.out += struct.pack("<I", trace2.crc32c(bytes(self.out)))
        self.next = {}
        self.out += hostile_names.chunk(SESSION, varint(1) + varint(1) + hello(**claims))

    def block(self, core, words, tokens, rare=b"", delta=10, context=0, base=None):
        """`words`: the dictionary. `tokens`: a byte a record; FIRST + n is the dictionary's word n."""
        index = self.next.get(core, 0)
        self.next[core] = index + len(tokens)
        head = b"".join(map(varint, (1, core, index, 0, context, 1000 + delta * index if base is None else base - delta, len(tokens), 0, 0, 2 * delta, len(words))))
        body = head + b"".join(map(varint, words)) + varint(len(rare)) + rare + tokens + bytes(len(tokens))
        self.out += hostile_names.chunk(TRACE, zstd(body))

    def items(self, *items):
        """(what, core, payload)s."""
        body = varint(1) + b"".join(struct.pack("<BB", what, core) + varint(len(payload)) + payload for what, core, payload in items)
        self.out += hostile_names.chunk(ITEMS, zstd(body))

    def bytes(self):
        return bytes(self.out)


def profiles(frame_of, stream, step, cores):
    """2^18 functions on each core. `frame_of(first, step)`: a frame of `step` functions."""
    recording = Recording()
    frames = [frame_of(first, step) for first in range(0, FUNCTIONS, step)]
    for core in range(cores):
        recording.items(*((stream, core, frame) for frame in frames))
    return recording.bytes()


def frames_of(head, row):
    """A function that makes a frame of `count` rows, each of the next site."""
    return lambda first, count: head + varint(first + 1) + row[1:] + row * (count - 1)


profile_frame = frames_of(b"\1\1\1", b"\1\2\2\2\2\1\1\1")  # total, self, min, max; one bin
profile_events_frame = frames_of(b"\1\1\1\1", b"\1\1\1\2")


def moved_frame(functions):
    return varint(1 << 40) + b"".join(varint(2 * function) + b"\1" for function in functions)


def all_moved():
    recording = Recording()
    for first in range(0, 1 << 17, 1 << 14):
        recording.items(*((MOVED, 0, moved_frame(range(at, at + 200))) for at in range(first, first + (1 << 14), 200)))
    return recording.bytes()


def all_functions(cores=1, contexts=1, step=1):
    """Calls of the last of 2^18 functions on each core and context fill tables by number."""
    recording = Recording()
    tokens = bytes((RARE, RETURN)) * (1 << 15)
    for first in range(0, FUNCTIONS, 1 << 15):
        functions = range(first * step, (first + (1 << 15)) * step, step)
        recording.block(0, [], tokens, b"".join(varint(entry(function)) for function in functions))
    last = (FUNCTIONS - 3) * step
    for core in range(cores):
        for context in range(contexts):
            words = [extended(CONTEXT, context and contexts * core + context), entry(last)]
            recording.block(core, words, bytes((FIRST, FIRST + 1, RETURN)))
    return recording.bytes()


def open_calls():
    """As many open calls as a stack has, in many contexts of many cores."""
    recording = Recording()
    for core in range(CORES):
        for context in range(2):
            recording.block(core, [extended(CONTEXT, context and core + 1), entry(1)], bytes((FIRST,)) + bytes((FIRST + 1,)) * (BLOCK_RECORDS - 1))
    return recording.bytes()


def many_contexts():
    """A number is one context on all cores, and 0 each core's own."""
    recording = Recording()
    for core in range(CORES):
        rare = b"".join(varint(extended(CONTEXT, number and 500 * core + number)) for number in range(500))
        recording.block(core, [entry(1)], bytes((RARE, FIRST, RETURN)) * 500, rare)
    return recording.bytes()


def tasks_frame(first, count):
    """Contexts and objects with the longest names, which JSON escapes."""
    frame = b""
    for number in range(first, first + count):
        name = b"\x1f" + b"\x01" * 31
        context = varint(number + 1) + b"\0\3" + varint(1 << 63) * 5 + name
        named = varint(number) + name
        frame += b"\0" + varint(len(context)) + context + b"\1" + varint(len(named)) + named
    return frame


def tasks(named=1 << 17, step=256):
    """Facts of 2^17 contexts and objects. Core n runs contexts from n * step on; all are counted."""
    recording = Recording()
    for first in range(0, named, 1 << 12):
        recording.items(*((TASKS, 0, tasks_frame(at, 4)) for at in range(first, first + (1 << 12), 4)))
    words = [extended(trace2.TASK, 1 | 1 << 10), extended(trace2.TASK, 2 | 1 << 5), extended(trace2.TASK, 5 | 1 << 5), entry(1)]
    left, ready, waits, call = range(FIRST, FIRST + 4)
    for core in range(CORES):
        rare = b""
        for number in range(step * core + 1, step * core + 257):
            rare += b"".join(map(varint, (extended(CONTEXT, number), *of_data(number) * 2)))
        recording.block(core, words, bytes((RARE, left, call, RETURN, ready, RARE, waits, RARE)) * 256, rare)
    return recording.bytes()


def of_values(head, count, per=1, in_block=1 << 14, value=lambda number, n: number * 7919 + n + 1):
    """Records of head(number), with `per` data each."""
    recording = Recording()
    for first in range(0, count, in_block):
        rare = b""
        for number in range(first, first + in_block):
            data = [half for n in range(per) for half in of_data(value(number, n))]
            rare += b"".join(map(varint, (head(number), *data)))
        recording.block(0, [], bytes((RARE,)) * (1 + per) * in_block, rare)
    return recording.bytes()


def markers():
    recording = Recording()
    for _ in range(20):
        recording.block(0, [extended(MARKER, 1)], bytes((FIRST,)) * BLOCK_RECORDS)
    return recording.bytes()


def gaps():
    recording = Recording()
    for core in range(CORES):
        part = b"".join(map(varint, (1, 2, 3, 4, 5)))
        recording.items(*[(MISSING, core, part)] * 300)
    return recording.bytes()


def console():
    recording = Recording()
    for _ in range(10):
        recording.items((CONSOLE, 0, b"\x1b\0\xff" * (2 << 20)))
    return recording.bytes()


def sessions():
    recording = Recording()
    for number in range(2, 3000):
        recording.out += hostile_names.chunk(SESSION, varint(number) + varint(number) + hello())
    return recording.bytes()


def paths(functions=150, roots=150, cores=1):
    """functions^2 * roots paths: a block's root calls each function, which calls each function."""
    recording = Recording(cores=cores, sites=functions)
    words = [entry(function) for function in range(functions)]
    leaves = b"".join(bytes((FIRST + function, RETURN)) for function in range(functions))
    inner = b"".join(bytes((FIRST + function,)) + leaves + bytes((RETURN,)) for function in range(functions))
    for core in range(cores):
        for root in range(roots):
            recording.block(core, words, bytes((FIRST + root,)) + inner + bytes((RETURN,)))
    return recording.bytes()


def deep_and_wide():
    """Paths 2,000 deep, each with its own leaves: gigabytes of folded stacks."""
    recording = Recording(sites=60)
    down = bytes((FIRST,)) * 2000
    leaves = b"".join(bytes((FIRST + function, RETURN)) for function in range(1, 8))
    for _ in range(4):
        recording.block(0, [entry(function) for function in range(8)], down[:-1] + (leaves + bytes((RETURN,))) * 1999)
    return recording.bytes()


def line_of(frames, boots=1):
    """Makes a line of (stream, core, payload) frames, repeated in each of `boots` sessions."""
    out = bytearray()
    for session in range(1, boots + 1):
        next_of = {}
        for stream, core, payload in ((trace2.HELLO, 0, hello()), *frames):
            sequence = next_of.get((stream, core), 0)
            next_of[stream, core] = sequence + 1
            out += trace2.frame(stream, session, payload, sequence, core)
    return bytes(out)


HOSTILE = {make.__name__: make for make in (all_moved, open_calls, many_contexts, tasks, markers, gaps, console,
                                            sessions, deep_and_wide)} | {
    "claimed_profile": lambda: profiles(profile_frame, PROFILE, 1 << 17, CORES),  # no frame on a line is so long
    "claimed_profile_in_frames": lambda: profiles(profile_frame, PROFILE, 120, 8),
    "claimed_profile_events": lambda: profiles(profile_events_frame, PROFILE_EVENTS, 230, 8),
    "functions_far_apart": lambda: all_functions(step=256),  # each on a different page
    "functions_in_contexts": lambda: all_functions(cores=8, contexts=200),
    "tasks_on_all_cores": lambda: tasks(named=1 << 12, step=0),  # facts of the contexts that each core runs
    "counters": lambda: of_values(lambda number: extended(COUNTER, number << 1), 1 << 17),
    "captured_values": lambda: of_values(lambda number: extended(ARGUMENTS, 1), 1 << 16, 2),
    "masked": lambda: of_values(lambda number: extended(MASKED, 0), 1 << 16, 2),
    "samples": lambda: of_values(lambda number: extended(SAMPLE, 60), 1 << 12, 60, 1 << 10),  # of different addresses
    # They wait for their callers, each with a different depth and site.
    "long_durations": lambda: of_values(lambda number: extended(DURATION, number % 4096), 1 << 18, 2,
                                        value=lambda number, n: 1 if n else number + 1),
    "interrupts": lambda: of_values(lambda number: extended(INTERRUPT, number), 1 << 17, 0)}

LINES = {
    "profiles": lambda: line_of([(trace2.PROFILE, core, profile_frame(first, 120)) for core in range(2)
                                 for first in range(0, FUNCTIONS, 120)]),  # as the target makes frames
    "cores": lambda: line_of([(trace2.PROFILE, core, profile_frame(first, 120)) for core in range(CORES)
                              for first in (0, FUNCTIONS - 120)]),
    "moves": lambda: line_of([(LINE_MOVED, 0, moved_frame(range(first, first + 200))) for first in range(0, 1 << 18, 200)]),
    "sessions": lambda: line_of([(trace2.CONSOLE, 0, b"\x1b\0\xff")], boots=5000),
    "text": lambda: b"no frame \xff\n" * 300_000}
