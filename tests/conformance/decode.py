#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of trace formats 2 and 3, written from docs/trace-format.md and sharing no code with the
first. It is short, not fast. Frames and records: trace2.py. Times: attribution.py.

    decode.py LINE [REPORT.json]

Prints calls, total and self time of each function, from records and profile, counts of objects, and the sums. Fails (1) if a report by
`nopscope report --format json` of the same line, tasks included, differs.
"""
import json
import sys
from collections import defaultdict

import attribution
import tasks
import trace2
from captured import Captured, summary
from trace2 import DATA, EXTENDED, HELLO, MARKER, PROFILE, STATS, TASK, TASKS, TRACE, Malformed, TraceDecoder, frames, stats

TIMES_OF_CONTEXT = ("session", "core", "context", "ran_ticks", "self_ticks", "tracer_ticks")


class Core(attribution.Core):
    """One core of one session, with what its frames say."""

    def __init__(self, session, captured, cores, of_tasks):
        super().__init__(cores)
        self.session, self.captured, self.tasks = session, captured, of_tasks
        self.head, self.data = None, []  # a record's (index, what, argument, clock), and what came behind it
        self.next_index = self.delivered = self.dropped = self.overwritten = self.missing = 0
        self.undecoded, self.repeated, self.malformed = 0, 0, 0
        self.stats, self.decoder = None, TraceDecoder()

    def event(self, kind, value, index, clock):
        if kind == EXTENDED and value & 15 == MARKER:
            self.captured.marks.append(value >> 4)
        if kind != EXTENDED or value & 15 != DATA:
            self.head, self.data = (index, value & 15, value >> 4, clock) if kind == EXTENDED else None, []
        elif self.head and index == self.head[0] + 1 + len(self.data):
            self.data.append(value >> 4)
            _, what, argument, when = self.head
            is_complete = (self.tasks.take(argument, self.data) if what == TASK else
                           self.captured.take(what, argument, self.data, (self.session, when)))
            if is_complete:
                self.head = None
        else:
            self.head = None
        self.tasks.record(kind, value, self.current)
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
    functions = defaultdict(lambda: [0, 0, 0])  # calls, total, self
    sums = defaultdict(int, corrupt_frames=0, orphan_returns=0)
    hello, session, cores, order = None, None, {}, Sequences()
    profile, added, captured = {}, defaultdict(Added), Captured()
    told, sessions = tasks.Tasks(), 0
    sums["incomplete_profiles"] = sums["lost_frames"] = 0

    def end_session():
        sums["lost_frames"] += order.lost()
        attribution.run(cores)
        for core in cores.values():
            core.finish()
            for name, value in core.sums().items():
                sums[name] += value
            sums["undecoded_frames"] += core.undecoded
            sums["repeated_records"] += core.repeated
            sums["malformed_frames"] += core.malformed
            for context in core.contexts.values():
                sums["orphan_returns"] += context.orphans
                for site, of in context.functions.items():
                    functions[site] = [sum(pair) for pair in zip(functions[site], of)]
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
                core = cores[number] = Core(session, captured, cores, tasks.OfCore(told, sessions, number))
            if stream == STATS:
                core.stats = stats(payload)
                continue
            core.trace(payload)
    end_session()
    sites = {site for site in functions if not isinstance(site, tuple)} | set(profile)
    sums["unknown_sites"] = max(0, len(sites) - hello["site_count"])  # without the image: those above its number
    base = hello["text_base"] - hello["load_bias"]
    # An interrupt has a name, a function's site has a number.
    rows = {site if isinstance(site, tuple) else base + 8 * site: of for site, of in functions.items()}
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
