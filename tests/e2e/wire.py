# SPDX-License-Identifier: Apache-2.0
"""Reads captures of a line (`nopscope record --save-line`) with a second decoder
(conformance/trace2.py, from docs/trace-format.md), so that no test relies on the host tools alone.

    line = Line(open("demo.raw", "rb").read())
    line.hello, line.events, line.stats, line.console, line.bad_frames
"""

import collections
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "conformance"))
# pylint: disable=wrong-import-position
import trace2
from trace2 import CALL, CONSOLE, ENTRY, EXTENDED, HELLO, INTERRUPT, PROFILE, RET, STATS, TRACE


@dataclasses.dataclass
class Event:
    kind: int
    index: int       # the record's index
    clock: int       # ticks
    site: int = 0    # call, entry: the function's run-time address
    entry: int = 0   # ret: the index of its entry, low 28 bits
    unwound: bool = False
    value: int = 0   # extended: see trace2


class Added(collections.namedtuple("Added", "total self min max bins")):
    """The profile recorder's sums for a function on a core, in ticks. `bins`: {bin: calls}."""

    @property
    def calls(self):
        return sum(self.bins.values())


BOOT_REPORT = rb"(?:boot: [ -~]*\r?\n)+"


def without_boot_report(data):
    """Returns the UART's bytes without each boot's text (target.boot_report checks that)."""
    data = re.sub(rb"(?:\A|(?<=\0))" + BOOT_REPORT + rb"\0", b"", data)
    return re.sub(BOOT_REPORT, b"", data)  # a reset cut the frame before; its zero byte ends that


class Line:
    """All frames of one session on a line that lost nothing. `session`: which one, if the line has several."""

    def __init__(self, data, session=None):
        self.bad_frames = 0
        self.hello = None
        self.events = []
        self.stats = None      # the last one
        self.profile = {}      # (core, the function's run-time address): the last Added
        self.console = b""
        self.sequence_gaps = 0
        self._next_sequence = {}
        self._decoders = {}    # core: the decoder of its trace frames
        for frame in trace2.frames(without_boot_report(data)):
            if frame is None:
                self.bad_frames += 1
            elif session in (None, frame[2]):
                self._frame(*frame)

    def _frame(self, stream, core, session, sequence, payload):
        self.session = session
        self.sequence_gaps += sequence != self._next_sequence.get((stream, core), 0)
        self._next_sequence[stream, core] = sequence + 1
        if stream == HELLO:
            self.hello = trace2.hello(payload)
        elif stream == TRACE:
            self._trace(self._decoders.setdefault(core, trace2.TraceDecoder()), payload)
        elif stream == CONSOLE:
            self.console += payload
        elif stream == STATS:
            self.stats = trace2.stats(payload)
        elif stream == PROFILE:
            self._profile(core, payload)

    def _profile(self, core, payload):
        for site, *of in trace2.profile(payload)[2]:
            self.profile[core, self.hello["text_base"] + 8 * site] = Added(*of)

    def _trace(self, decoder, payload):
        if not decoder.open(payload):
            raise ValueError("the first trace frame of a core is no key frame")
        index = decoder.index
        for kind, value, clock in decoder.records():
            event = Event(kind, index, clock)
            if kind in (CALL, ENTRY):
                event.site = self.hello["text_base"] + 8 * value
            elif kind == RET:
                event.unwound = bool(value & 1)
                event.entry = value >> 1
            else:
                event.value = value
            self.events.append(event)
            index += 1


def faults(line):
    """Returns how many errors of each kind there are in a recording from which nothing may be missing."""
    stats = line.stats
    if line.hello is None or stats is None or stats["final"] != 1:
        return ["no hello, or no final stats"]
    counts = {"corrupt frames": line.bad_frames, "gaps in the frames' sequence": line.sequence_gaps, "records dropped": stats["dropped"],
              "records overwritten": stats["overwritten"],
              "records missing": stats["generated"] - stats["aggregated"] - stats["filtered"] - stats["delivered"],
              "records not on the line": stats["delivered"] - len(line.events),
              "records whose index is not the next one": sum(event.index != n for n, event in enumerate(line.events)),
              "times that the clock goes backward": sum(b.clock < a.clock for a, b in zip(line.events, line.events[1:]))}
    return [f"{count} {what}" for what, count in counts.items() if count]


def pairing_faults(line):
    """Each ret must close an open entry, each entry is closed once, and the innermost comes first."""
    found, open_entries = [], []
    for event in line.events:
        if event.kind == ENTRY or (event.kind, event.value & 15) == (EXTENDED, INTERRUPT):
            open_entries.append(event)
        elif event.kind == RET:
            if not open_entries or open_entries[-1].index & 0xFFFFFFF != event.entry:
                found.append(f"record {event.index} returns from {event.entry}, which is not the innermost open entry")
                open_entries = [e for e in open_entries if e.index & 0xFFFFFFF != event.entry]
            else:
                open_entries.pop()
    return found + [f"entry {event.index} of {event.site:#x} has no return" for event in open_entries]


def calls(line):
    """Returns {function: calls} from call and entry records."""
    counts = {}
    for event in line.events:
        if event.kind in (CALL, ENTRY):
            counts[event.site] = counts.get(event.site, 0) + 1
    return counts
