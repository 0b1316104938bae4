#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of trace formats 2 and 3, written from docs/trace-format.md and sharing no code with the
first. It is short, not fast. Frames and records: trace2.py.

    decode.py LINE [REPORT.json]

Prints calls, total and self time of each function, from records and profile, counts of objects, and the sums. Fails (1) if a report by
`nopscope report --format json` of the same line, tasks included, differs.
"""
import json
import sys
from collections import defaultdict

import tasks
import trace2
from captured import Captured, summary
from trace2 import (CALL, CONTEXT, DATA, ENTRY, EXTENDED, HELLO, IDENTITY, INTERRUPT, PROFILE, RET, STATS, TASK,
                    TASKS, TRACE, TRACER_BEGIN, TRACER_END, Malformed, TraceDecoder, frames, stats)

MOVED = 0                 # a task's fact
TIMES_OF_CONTEXT = ("session", "core", "context", "ran_ticks", "self_ticks", "tracer_ticks")
SEVERAL = (1 << 25) - 1   # stands for contexts that the target could not name


class Context:
    """One context of a core: the stack of open calls, and their times.

    The stack holds calls [index, site, begin, child ticks, total before] and, with site None, markers of gaps.
    """

    def __init__(self, functions):
        self.functions = functions
        self.stack, self.clock, self.tracer = [], None, 0
        self.tracer_open = None  # [begin, ticks of calls inside, depth]
        self.gap_begin = None
        self.unwinding = False  # longjmp ended the last call: the target works until the next record
        self.orphans = 0
        self.elsewhere = 0  # the part of `tracer` while the core was in other contexts
        self.left_at = 0  # the tracer's ticks in all contexts, when the core left this one

    def away(self, since, clock, tracer):
        """The core ran other contexts from `since` to `clock`, which is no call's self time here."""
        if self.clock is None:
            return
        self.clock = clock
        self.unwinding = False
        self.tracer += tracer
        self.elsewhere += tracer
        if self.gap_begin is None:
            ticks = max(0, clock - since - tracer)
            if self.stack:
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
        self.unwinding = False
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
        """Pops to `depth` calls. `ended`: the popped calls ended, as a call below them returned."""
        marker = None
        while len(self.stack) > depth:
            call = self.stack.pop()
            if self.tracer_open and len(self.stack) < self.tracer_open[2]:
                self.tracer_open = None
            last = ended and len(self.stack) == depth
            if call[1] is None and not ended:
                marker = (call[2], max(0, self.now() - call[2]))  # since then no call is known open
            elif call[1] is None:
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

    def begin(self, site, index):
        of = self.functions[site]
        of["calls"] += 1
        self.stack.append([index, site, self.now(), 0, of["total"][id(self)]])

    def end_gap(self):
        if self.gap_begin is not None and self.stack:
            length = max(0, self.now() - self.gap_begin)
            if self.stack[-1][1] is None:
                self.stack[-1][3] += length
            else:
                self.stack.append([None, None, self.gap_begin, length, 0])
        self.gap_begin = None

    def event(self, kind, value, index, clock):
        if self.unwinding and kind != EXTENDED:
            self.tracer += max(0, clock - self.clock)
        self.unwinding = self.unwinding and kind == EXTENDED and clock == self.clock
        self.clock = clock
        self.end_gap()
        if kind in (CALL, ENTRY):
            if kind == ENTRY:
                self.begin(value, index)
            else:
                self.functions[value]["calls"] += 1
        elif kind == RET:
            entry = value >> 1
            for depth in range(len(self.stack) - 1, -1, -1):
                call = self.stack[depth]
                if call[1] is not None and (call[0] - entry) & IDENTITY == 0:
                    if value & 1 and self.tracer_open and depth < self.tracer_open[2]:
                        # Open before: it ended where the tracer's work began, which continues.
                        begin, inside, _ = self.tracer_open
                        self.clock = begin + inside
                        self.close_down_to(depth, True)
                        self.clock, self.tracer_open = clock, [begin, inside, depth]
                        return None
                    self.close_down_to(depth, True)
                    self.unwinding = bool(value & 1) and self.tracer_open is None
                    return None
            self.orphans += 1
        elif value & 15 == INTERRUPT:
            self.begin(("interrupt", value >> 4), index)
        elif value & 15 == TRACER_BEGIN:
            self.tracer_open = [clock, 0, len(self.stack)]
        elif value & 15 == TRACER_END and self.tracer_open:
            self.end_tracer()
        return None

    def take(self, old, clock):
        """The context has moved here from another core, where `old` has its open calls."""
        if old.clock is None:
            return
        self.clock = clock
        self.close_down_to(0, True)
        shift, part, depth = old.tracer - self.tracer, 0, 0
        if old.tracer_open:
            begin, inside, depth = old.tracer_open
            until = old.stack[depth][2] + old.tracer if len(old.stack) > depth else old.clock
            part = max(0, until - begin - inside)
            self.tracer_open = [begin, inside + part, depth]
        for at, (index, site, begin, child, before) in enumerate(old.stack):
            if site is not None:
                total = self.functions[site]["total"]
                before += total[id(self)] - total[id(old)]
            self.stack.append([index, site, begin + shift + (part if at < depth else 0), child, before])
        if old.gap_begin is not None:
            self.gap_begin = old.gap_begin + shift
        elif self.stack:
            ticks = max(0, clock - old.clock)
            self.stack[-1][3] += ticks
            if self.tracer_open and len(self.stack) == depth:
                self.tracer_open[1] += ticks
        elif self.tracer_open:
            self.tracer_open[1] += max(0, clock - old.clock)
        old.stack, old.tracer_open, old.gap_begin = [], None, None
        old.tracer += part

    def own_tracer(self):
        return self.tracer - self.elsewhere

    def has(self, entry):
        return any(call[1] is not None and (call[0] - entry) & IDENTITY == 0 for call in self.stack)

    def finish(self):
        if self.clock is not None:
            self.end_gap()
            if self.tracer_open:
                self.end_tracer()
            self.close_down_to(0, False)


class Order:
    """The records of one core of a session in order, as [(index, kind, value, clock, where records are missing before it: (context,
    clock))], and the contexts that they belong to. `cores`: all by number."""

    def __init__(self, cores, context):
        self.cores, self.steps, self.at = cores, [], 0
        self.contexts, self.current, self.clock = {0: context}, 0, None

    def event(self, kind, value, index, clock):
        before, self.clock = self.clock, clock
        if kind == EXTENDED and value & 15 == CONTEXT:
            return self.enter(value >> 4, clock)
        if kind == RET and not self.contexts[self.current].has(value >> 1):
            for number, context in self.contexts.items():
                if context.has(value >> 1):
                    self.enter(number, clock, before)
                    break
            else:
                for core in self.cores.values():
                    if core is not self and self.current in core.contexts and core.contexts[self.current].has(value >> 1):
                        self.move(core, clock)
                        break
        return self.contexts[self.current].event(kind, value, index, clock)

    def move(self, core, clock):
        """The context that runs here has left another core."""
        number = self.current
        if number in (0, SEVERAL) or number not in core.contexts or core is self:
            return
        if core.current == number:
            core.enter(SEVERAL, core.clock)  # until its record of the next context comes
        self.contexts[number].take(core.contexts[number], clock)

    def moved(self, at):
        """The other core and its first index afterwards, if the record at this place tells a move."""
        if at + 1 >= len(self.steps):
            return None
        (index, kind, value, _, _), (after, data_kind, data, _, gap) = self.steps[at:at + 2]
        if kind != EXTENDED or value & 0x1FF != TASK | MOVED << 4 or not value >> 9 & 31:
            return None
        if gap or after != index + 1 or data_kind != EXTENDED or data & 15 != DATA:
            return None
        return self.cores.get(data >> 4 & 0xFF), data >> 12

    def waits(self):
        """Whether a move comes next, and the other core has not come to its switch. The pump's records may come before that."""
        _, kind, value, _, _ = self.steps[self.at]
        is_switch = kind == EXTENDED and value & 15 == CONTEXT
        core, after = self.moved(self.at + is_switch) or (None, 0)
        if core in (None, self) or core.at == len(core.steps):
            return False
        return core.steps[core.at][0] <= after or core.current == (value >> 4 if is_switch else self.current)

    def step(self):
        index, kind, value, clock, gap = self.steps[self.at]
        if gap:
            for context in self.contexts.values():
                context.gap()
            self.enter(*gap)
        move = self.moved(self.at)
        self.at += 1
        self.event(kind, value, index, clock)
        if move and move[0]:
            self.move(move[0], clock)


class Core(Order):
    """One core of one session, with the times of its contexts."""

    def __init__(self, functions, values, cores, of_tasks):
        super().__init__(cores, Context(functions))
        self.tasks = of_tasks
        self.functions, self.values = functions, values
        next(values)
        self.next_index = self.delivered = self.dropped = self.overwritten = self.missing = 0
        self.undecoded, self.repeated, self.malformed = 0, 0, 0
        self.stats, self.decoder = None, TraceDecoder()
        self.left = {}  # context: when the core last left it

    def tracer_in_all(self):
        return sum(context.own_tracer() for context in self.contexts.values())

    def enter(self, number, clock, since=None):
        """`since`: the latest time at which the core may have left the other context."""
        if number == self.current:
            return
        since = clock if since is None else since
        old = self.contexts[self.current]
        if old.clock is not None and old.gap_begin is None:
            old.clock = since
        old.left_at = self.tracer_in_all()
        self.left[self.current] = since
        new = self.contexts.setdefault(number, Context(self.functions))
        if number in self.left:
            new.away(self.left[number], clock, self.tracer_in_all() - new.left_at)
        self.current = number

    def event(self, kind, value, index, clock):
        self.values.send((index, kind, value, clock))
        self.tasks.record(index, kind, value, self.current)
        super().event(kind, value, index, clock)

    def step(self):
        if self.steps[self.at][4]:
            self.tasks.gap()
        super().step()

    def trace(self, payload):
        decoder = self.decoder
        try:
            if not decoder.open(payload):
                self.undecoded += 1
                return
            self.dropped = max(self.dropped, decoder.dropped)
            self.overwritten = max(self.overwritten, decoder.overwritten)
            index = decoder.index
            for kind, value, clock in decoder.records():
                self.record(kind, value, index, clock)
                index += 1
        except Malformed:
            self.malformed += 1

    def record(self, kind, value, index, clock):
        if index < self.next_index:
            self.repeated += 1
            return
        self.missing += index - self.next_index
        gap = (self.decoder.context, self.decoder.base) if index > self.next_index else None
        self.next_index = index + 1
        self.delivered += 1
        self.steps.append((index, kind, value, clock, gap))

    def finish(self):
        for number in [*self.contexts, self.current]:
            self.enter(number, self.clock)
        for context in self.contexts.values():
            context.finish()

    def generated(self, elsewhere):
        """The target's count, if no record follows it; else the sum of the known parts."""
        said = self.stats or {"final": 0}
        if said["final"] or said.get("stopped_at"):
            if self.next_index <= said["delivered"] + said["overwritten"]:
                return said["generated"]
        return self.delivered + self.missing + self.dropped + elsewhere

    def sums(self):
        aggregated = filtered = 0
        if self.stats:
            aggregated, filtered = self.stats["aggregated"], self.stats["filtered"]
            self.dropped = max(self.dropped, self.stats["dropped"])
            self.overwritten = max(self.overwritten, self.stats["overwritten"])
            end = self.stats["delivered"] + self.stats["overwritten"]
            self.missing += max(0, end - self.next_index)
        overwritten = min(self.overwritten, self.missing)
        return {"generated": self.generated(aggregated + filtered), "delivered": self.delivered, "dropped": self.dropped, "overwritten": overwritten,
                "aggregated": aggregated, "filtered": filtered, "lost": self.missing - overwritten}


def run(cores):
    """Decodes the records of a session's cores, those of a task in their order."""
    while True:
        left = [core for core in cores.values() if core.at < len(core.steps)]
        if not left:
            return
        ready = [core for core in left if not core.waits()] or left[:1]
        for core in ready:
            core.step()
            while core.at < len(core.steps) and not core.waits():
                core.step()


class Added:
    """One core's part of the profile in one session."""

    def __init__(self):
        self.sites, self.number, self.next_part, self.whole = {}, 0, 0, False

    def frame(self, payload):
        number, part, rows = trace2.profile(payload)
        if number != self.number:
            self.number, self.next_part, self.whole = number, 0, False
        in_order = part >> 1 == self.next_part and not self.whole
        self.next_part = (part >> 1) + 1 if in_order else -1
        self.whole = in_order and bool(part & 1)
        self.sites |= {site: of for site, *of in rows}


def add_up(profile, core):
    """Adds to {site: [calls, total, self, min, max, bins]}."""
    for site, (total, own, least, most, bins) in core.sites.items():
        of = profile.setdefault(site, [0, 0, 0, least, most, defaultdict(int)])
        of[0] += sum(bins.values())
        of[1] += total
        of[2] += own
        of[3], of[4] = min(of[3], least), max(of[4], most)
        for number, count in bins.items():
            of[5][number] += count


def behind(number, other):
    """Returns how far a sequence number lies ahead of another, signed."""
    return (number - other + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


class Sequences:
    """The order of a session's frames."""

    def __init__(self):
        self.expected, self.resumed, self.jumps, self.last = {}, 0, [], {}

    def hello(self, resumed):
        """Takes back the numbers that a reset left out, even in streams that already continue."""
        if resumed and behind(resumed, self.resumed) > 0:
            self.resumed = resumed
            self.jumps = [(resumed if behind(resumed, begin) > 0 and behind(end, resumed) >= 0 else begin, end)
                          for begin, end in self.jumps]

    def frame(self, stream, number, sequence, payload):
        """Returns whether the frame is new, and whether the next frames need a missing one."""
        key = stream, number
        expected = self.expected.get(key, 0)
        resumes = self.resumed and behind(expected, self.resumed) <= 0 <= behind(sequence, self.resumed)
        if resumes:
            expected = self.resumed
        ahead = behind(sequence, expected)
        if ahead < 0:
            return False, behind(expected, sequence) != 1 or self.last.get(key) != payload
        if ahead:
            self.jumps.append((expected, sequence))
        self.expected[key], self.last[key] = sequence + 1 & 0xFFFFFFFF, payload
        return True, bool(ahead or resumes)

    def lost(self):
        return sum(behind(end, begin) for begin, end in self.jumps)


def decode(line):
    functions = defaultdict(lambda: {"calls": 0, "self": 0, "total": defaultdict(int)})
    sums = defaultdict(int, corrupt_frames=0, orphan_returns=0)
    hello, session, cores, order, kept = None, None, {}, Sequences(), []  # cores of all sessions
    profile, added, captured = {}, defaultdict(Added), Captured()
    told, sessions = tasks.Tasks(), 0
    sums["incomplete_profiles"] = sums["lost_frames"] = 0

    def end_session():
        sums["lost_frames"] += order.lost()
        run(cores)
        for core in cores.values():
            core.finish()
            for name, value in core.sums().items():
                sums[name] += value
            sums["undecoded_frames"] += core.undecoded
            sums["repeated_records"] += core.repeated
            sums["malformed_frames"] += core.malformed
            for context in core.contexts.values():
                sums["orphan_returns"] += context.orphans
                kept.append(context)  # functions' totals use its id as a key
        for core in added.values():
            add_up(profile, core)
            sums["incomplete_profiles"] += not core.whole
        added.clear()
        cores.clear()

    for frame in frames(line):
        if frame is None:
            sums["corrupt_frames"] += session is not None  # before the first frame it is no damage
            continue
        stream, number, frame_session, sequence, payload = frame
        if frame_session != session:
            end_session()
            sessions += session is not None
            session, order = frame_session, Sequences()
        if stream == HELLO:
            said = trace2.hello(payload)
            order.hello(said["sequences_from"] if said["flags"] & trace2.RECOVERED else 0)
        is_new, jumps = order.frame(stream, number, sequence, payload)
        if stream == TRACE and jumps and number in cores:
            cores[number].decoder.lose()
        if not is_new:
            continue
        if stream == HELLO:
            hello = said
        elif stream == PROFILE:
            added[number].frame(payload)
        elif stream == TASKS:
            try:
                told.frame(sessions, payload)
            except Malformed:
                sums["malformed_frames"] += 1
        elif stream in (TRACE, STATS):
            core = cores.get(number)
            if core is None:
                core = cores[number] = Core(functions, captured.reader(session), cores, tasks.OfCore(told, sessions, number))
            if stream == STATS:
                core.stats = stats(payload)
                continue
            core.trace(payload)
    end_session()
    sites = {site for site in functions if not isinstance(site, tuple)} | set(profile)
    sums["unknown_sites"] = max(0, len(sites) - hello["site_count"])  # without the image: those above its number
    base = hello["text_base"] - hello["load_bias"]
    # An interrupt has a name, a function's site has a number.
    rows = {site if isinstance(site, tuple) else base + 8 * site: (of["calls"], sum(of["total"].values()), of["self"])
            for site, of in functions.items()}
    values = {key if isinstance(key, int) else (base + 8 * key[0], key[1]): summary(series) for key, series in captured.series.items()}
    return (rows, {base + 8 * site: of for site, of in profile.items()}, sums, hello["clock_hz"],
            values, captured.marks, [(base + 4 * where, ticks) for where, ticks in captured.masked], told)


def facts_here(line):
    """Returns {key: what this reader finds}, the clock's rate, and the tasks. A function's key is its address, all others are tuples."""
    rows, profile, sums, hertz, values, marks, masked, told = decode(line)

    def ns(ticks):
        return (ticks * 10**9 + hertz // 2) // hertz

    facts = {address: (calls, ns(total), ns(own)) for address, (calls, total, own) in rows.items()}
    facts |= {("profile", address): (calls, ns(total), ns(max(own, 0)), ns(least), ns(most), sorted(bins.items()))
              for address, (calls, total, own, least, most, bins) in profile.items()}
    facts |= {("values", name): series for name, series in values.items()}
    facts |= {("object", *key): of for key, of in told.objects().items()}
    facts |= {("sum", name): value for name, value in sums.items()}
    return facts | {("marks",): sorted(marks), ("masked",): sorted((address, ns(ticks)) for address, ticks in masked)}, hertz, told


def facts_of(report, sums):
    """The same of a report. `sums`: the names of its integrity's that count."""
    def rows_of(*keys):
        return (row for key in keys for row in report.get(key, []))

    facts = {int(row["address"], 16) if "address" in row else ("interrupt", row["interrupt"]):
             (row["calls"], row["total_ns"], row["self_ns"]) for row in rows_of("functions", "interrupts")}
    facts |= {("profile", int(row["address"], 16)): (row["calls"], row["total_ns"], row["self_ns"], row["min_ns"], row["max_ns"],
                                                     [tuple(pair) for pair in row["bins"]])
              for row in report.get("profile", {"functions": []})["functions"]}
    facts |= {("values", row["id"] if "id" in row else (int(row["address"], 16), row["what"])):
              (row["count"], row["min"], row["max"], row["last"], row["values"] and [tuple(pair) for pair in row["values"]])
              for row in rows_of("captured", "counters")}
    facts |= {("object", row["session"], row["id"]): tuple(row[name] for name in ("name", "takes", "gives", "waits"))
              for row in rows_of("objects")}
    facts |= {("context", row["session"], row["core"], row["context"]):
              {name: value for name, value in row.items() if name not in TIMES_OF_CONTEXT} for row in report["contexts"]}
    facts |= {("sum", name): report["integrity"][name] for name in sums}
    return facts | {("marks",): sorted(mark["id"] for mark in rows_of("markers")),
                    ("masked",): sorted((int(row["address"], 16), row["length_ns"]) for row in rows_of("masked"))}


def main():
    with open(sys.argv[1], "rb") as file:
        mine, hertz, told = facts_here(file.read())
    for key, value in sorted(mine.items(), key=str):
        print(f"{key:#x}" if isinstance(key, int) else key, value)
    if len(sys.argv) < 3:
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        theirs = facts_of(json.load(file), [key[1] for key in mine if isinstance(key, tuple) and key[0] == "sum"])
    mine |= {key: told.report_of(*key[1:]) for key in theirs if isinstance(key, tuple) and key[0] == "context"}

    def same(key):
        here, there = mine.get(key), theirs.get(key)
        is_function = isinstance(key, int) or key[0] == "interrupt"
        if here == there or None in (here, there) or 10**9 % hertz == 0 or not is_function:
            return here == there
        # A path's time is rounded once (docs/accuracy.md): a function's error is up to 1 ns a path.
        return here[0] == there[0] and all(abs(a - b) <= here[0] for a, b in zip(here[1:], there[1:]))

    wrong = [f"{key}: here {mine.get(key)}, there {theirs.get(key)}" for key in mine.keys() | theirs.keys() if not same(key)]
    print("\n".join(wrong) or "the two readers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
