#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of trace format 1, written from docs/trace-format.md and sharing no code with the
first. It is short, not fast.

    decode.py LINE [REPORT.json]

Prints calls, total and self ticks of each site, of the records and of the profile, and the sums. With a report made by `nopscope report
--format json` of the same line, fails (1) where the two disagree.
"""
import json
import struct
import sys
from collections import defaultdict

HELLO, TRACE, CONSOLE, STATS, PROFILE = 1, 2, 3, 4, 5
CALL, ENTRY, RET, EXTENDED = 0, 1, 2, 3
IDENTITY = (1 << 28) - 1


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def cobs(chunk):
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


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def signed(value):
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


class Context:
    """One context of a core: the stack of open calls, and their times.

    The stack holds calls [index, site, begin, child ticks, total before] and, with site None, markers
    of gaps.
    """

    def __init__(self, functions):
        self.functions = functions
        self.stack, self.clock, self.tracer = [], None, 0
        self.tracer_open = None  # [begin, ticks of calls inside, depth]
        self.gap_begin = None
        self.orphans = 0
        self.elsewhere = 0  # of `tracer`: while the core was in other contexts
        self.left_at = 0  # the tracer's ticks in all contexts, when the core left this one

    def away(self, since, clock, tracer):
        """The core was elsewhere from `since` to `clock`: nobody's own time here."""
        if self.clock is None:
            return
        self.clock = clock
        self.tracer += tracer
        self.elsewhere += tracer
        if self.gap_begin is None and self.stack:
            ticks = max(0, clock - since - tracer)
            self.stack[-1][3] += ticks
            if self.tracer_open and len(self.stack) == self.tracer_open[2]:
                self.tracer_open[1] += ticks

    def now(self):
        return self.clock - self.tracer

    def end_tracer(self):
        begin, inside, _ = self.tracer_open
        self.tracer += max(0, self.clock - begin - inside)
        self.tracer_open = None

    def gap(self):
        if self.clock is None:
            return
        if self.tracer_open:
            self.end_tracer()
        if self.gap_begin is None:
            self.gap_begin = self.now()

    def close(self, call, end):
        _, site, begin, child, before = call
        ticks = max(0, end - begin)
        of = self.functions[site]
        of["self"] += max(0, ticks - child)
        if self.stack:
            self.stack[-1][3] += ticks
        return ticks, before + ticks

    def close_down_to(self, depth, ended):
        """Pops to `depth` calls. `ended`: those popped did end (a call below them returned)."""
        marker = None
        while len(self.stack) > depth:
            call = self.stack.pop()
            if self.tracer_open and len(self.stack) < self.tracer_open[2]:
                self.tracer_open = None
            last = ended and len(self.stack) == depth
            if call[1] is None:
                marker = (call[2], call[3] + (marker[1] if marker else 0))
            elif marker and ended and not last:
                _, total = self.close(call, marker[0])
                of = self.functions[call[1]]
                of["total"][id(self)] = max(of["total"][id(self)], total)
            else:
                if marker:
                    call[3] += marker[1]
                    marker = None
                ticks, total = self.close(call, self.now())
                self.functions[call[1]]["total"][id(self)] = total
                if self.tracer_open and len(self.stack) == self.tracer_open[2]:
                    self.tracer_open[1] += ticks

    def event(self, kind, value, index, clock):
        self.clock = clock
        if self.gap_begin is not None:
            if self.stack:
                length = max(0, self.now() - self.gap_begin)
                if self.stack[-1][1] is None:
                    self.stack[-1][3] += length
                else:
                    self.stack.append([None, None, self.gap_begin, length, 0])
            self.gap_begin = None
        if kind in (CALL, ENTRY):
            of = self.functions[value]
            of["calls"] += 1
            if kind == ENTRY:
                self.stack.append([index, value, self.now(), 0, of["total"][id(self)]])
        elif kind == RET:
            entry = index - (value >> 1)
            for depth in range(len(self.stack) - 1, -1, -1):
                call = self.stack[depth]
                if call[1] is not None and (call[0] - entry) & IDENTITY == 0:
                    return self.close_down_to(depth, True)
            self.orphans += 1
        elif value & 15 == 1:
            self.tracer_open = [clock, 0, len(self.stack)]
        elif value & 15 == 2 and self.tracer_open:
            self.end_tracer()
        return None

    def own_tracer(self):
        return self.tracer - self.elsewhere

    def has(self, entry):
        return any(call[1] is not None and (call[0] - entry) & IDENTITY == 0 for call in self.stack)

    def finish(self):
        if self.clock is not None:
            if self.tracer_open:
                self.end_tracer()
            self.close_down_to(0, False)


class Core:
    """One core of one session: records in order, and the contexts that they are of."""

    def __init__(self, functions):
        self.functions = functions
        self.next_index = self.delivered = self.dropped = self.lost = 0
        self.stats = None
        self.contexts, self.current, self.clock = {0: Context(functions)}, 0, None
        self.left = {}  # context: when the core left it

    def tracer_in_all(self):
        return sum(context.own_tracer() for context in self.contexts.values())

    def enter(self, number, clock):
        if number == self.current:
            return
        old = self.contexts[self.current]
        if old.clock is not None and old.gap_begin is None:
            old.clock = clock
        old.left_at = self.tracer_in_all()
        self.left[self.current] = clock
        new = self.contexts.setdefault(number, Context(self.functions))
        if number in self.left:
            new.away(self.left[number], clock, self.tracer_in_all() - new.left_at)
        self.current = number

    def event(self, kind, value, index, clock):
        self.clock = clock
        if kind == EXTENDED and value & 15 == 3:
            return self.enter(value >> 4, clock)
        if kind == RET and not self.contexts[self.current].has(index - (value >> 1)):
            for number, context in self.contexts.items():
                if context.has(index - (value >> 1)):
                    self.enter(number, clock)
                    break
        return self.contexts[self.current].event(kind, value, index, clock)

    def trace(self, payload):
        first, base, dropped = struct.unpack_from("<QQQ", payload)
        if first < self.next_index:
            return
        self.dropped = max(self.dropped, dropped)
        if first > self.next_index:
            self.lost += first - self.next_index
        at, clock, index, within = 24, base, first, 0
        token, after = varint(payload, at) if at < len(payload) else (0, at)
        if token & 63 == 5 << 2 | EXTENDED:
            within, at = token >> 6, varint(payload, after)[1]
        if first > self.next_index:
            for context in self.contexts.values():
                context.gap()
            self.enter(within, base)
        while at < len(payload):
            token, at = varint(payload, at)
            delta, at = varint(payload, at)
            clock += delta >> 1 ^ -(delta & 1)
            self.event(token & 3, token >> 2, index, clock)
            index += 1
        self.delivered += index - first
        self.next_index = index

    def finish(self):
        for number in [*self.contexts, self.current]:
            self.enter(number, self.clock)
        for context in self.contexts.values():
            context.finish()
        if self.stats:
            _, generated, delivered, dropped = self.stats[:4]
            self.dropped = max(self.dropped, dropped)
            end = generated - dropped if self.stats[7] == 1 else delivered
            self.lost += max(0, end - self.next_index)


class Added:
    """One core's part of the profile, of one session."""

    def __init__(self):
        self.sites, self.number, self.next_part, self.whole = {}, 0, 0, False

    def frame(self, payload):
        number, at = varint(payload, 0)
        part, at = varint(payload, at)
        _now, at = varint(payload, at)
        if number != self.number:
            self.number, self.next_part, self.whole = number, 0, False
        in_order = part >> 1 == self.next_part and not self.whole
        self.next_part = (part >> 1) + 1 if in_order else -1
        self.whole = in_order and bool(part & 1)
        site = 0
        while at < len(payload):
            values = []
            for _ in range(6):
                value, at = varint(payload, at)
                values.append(value)
            bins, last = {}, 0
            for _ in range(values[5]):
                delta, at = varint(payload, at)
                last += delta
                bins[last], at = varint(payload, at)
            site += values[0]
            self.sites[site] = (values[1], values[2] >> 1 ^ -(values[2] & 1), *values[3:5], bins)


def add_up(profile, core):
    """Into {site: [calls, total, self, min, max, bins]}."""
    for site, (total, own, least, most, bins) in core.sites.items():
        of = profile.setdefault(site, [0, 0, 0, least, most, defaultdict(int)])
        of[0] += sum(bins.values())
        of[1] += total
        of[2] += own
        of[3], of[4] = min(of[3], least), max(of[4], most)
        for number, count in bins.items():
            of[5][number] += count


def decode(line):
    functions = defaultdict(lambda: {"calls": 0, "self": 0, "total": defaultdict(int)})
    sums = dict.fromkeys(("delivered", "dropped", "lost", "corrupt_frames", "orphan_returns"), 0)
    hello, session, cores, expected, kept = None, None, {}, {}, []  # cores of all sessions live on
    profile, added = {}, defaultdict(Added)
    sums["incomplete_profiles"] = 0

    def end_session():
        for core in cores.values():
            core.finish()
            sums["delivered"] += core.delivered
            sums["dropped"] += core.dropped
            sums["lost"] += core.lost
            for context in core.contexts.values():
                sums["orphan_returns"] += context.orphans
                kept.append(context)  # functions' totals are by its id
        for core in added.values():
            add_up(profile, core)
            sums["incomplete_profiles"] += not core.whole
        added.clear()
        cores.clear()
        expected.clear()

    for chunk in line.split(b"\0")[:-1]:
        raw = cobs(chunk) if chunk else None
        if raw is None or len(raw) < 12 or crc32c(raw[:-4]) != struct.unpack("<I", raw[-4:])[0]:
            sums["corrupt_frames"] += bool(chunk)
            continue
        stream, number, frame_session, sequence = struct.unpack_from("<BBHI", raw)
        payload = raw[8:-4]
        if frame_session != session:
            end_session()
            session = frame_session
        if (sequence - expected.get((stream, number), 0)) & 0x80000000:
            continue
        expected[stream, number] = sequence + 1 & 0xFFFFFFFF
        if stream == HELLO:
            names = ("version flags cores clock_hz text_base load_bias site_count crc pace").split()
            hello = dict(zip(names, struct.unpack_from("<HBBQQQIII", payload)))
            assert hello["version"] == 1
        elif stream == PROFILE:
            added[number].frame(payload)
        elif stream in (TRACE, STATS):
            core = cores.setdefault(number, Core(functions))
            if stream == TRACE:
                core.trace(payload)
            else:
                at, core.stats = 0, []
                while len(core.stats) < 8:
                    value, at = varint(payload, at)
                    core.stats.append(value)
    end_session()
    sums["generated"] = sums["delivered"] + sums["dropped"] + sums["lost"]
    base = hello["text_base"] - hello["load_bias"]
    rows = {base + 8 * site: (of["calls"], sum(of["total"].values()), of["self"])
            for site, of in functions.items()}
    return rows, {base + 8 * site: of for site, of in profile.items()}, sums, hello["clock_hz"]


def main():
    with open(sys.argv[1], "rb") as file:
        rows, profile, sums, hertz = decode(file.read())
    for address, (calls, total, own) in sorted(rows.items()):
        print(f"{address:#x} calls {calls} total {total} self {own} ticks")
    for address, (calls, total, own, *_) in sorted(profile.items()):
        print(f"{address:#x} profile calls {calls} total {total} self {own} ticks")
    print(" ".join(f"{name} {value}" for name, value in sums.items()))
    if len(sys.argv) < 3:
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)

    def ns(ticks):
        return (ticks * 10**9 + hertz // 2) // hertz

    theirs = {int(f["address"], 16): (f["calls"], f["total_ns"], f["self_ns"])
              for f in report["functions"]}
    mine = {address: (calls, ns(total), ns(own)) for address, (calls, total, own) in rows.items()}
    for f in report.get("profile", {"functions": []})["functions"]:
        theirs["profile", int(f["address"], 16)] = (
            f["calls"], f["total_ns"], f["self_ns"], f["min_ns"], f["max_ns"],
            [tuple(pair) for pair in f["bins"]])
    for address, (calls, total, own, least, most, bins) in profile.items():
        mine["profile", address] = (calls, ns(total), ns(max(own, 0)), ns(least), ns(most),
                                    sorted(bins.items()))
    wrong = [f"{address}: here {mine.get(address)}, there {theirs.get(address)}"
             for address in mine.keys() | theirs.keys()
             if mine.get(address) != theirs.get(address)]
    wrong += [f"{name}: here {value}, there {report['integrity'][name]}"
              for name, value in sums.items() if report["integrity"][name] != value]
    print("\n".join(wrong) or "the two readers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
