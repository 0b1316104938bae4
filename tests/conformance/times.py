#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that time goes to the call that spent it, as attribution.py has it.

    times.py NOPSCOPE RECORDING.nsc     prints what was checked; 1: `nopscope report` disagrees

Two sums must hold, in ticks. For each context that ran: the time that it ran = self time (as nopscope says it) + the tracer's time + time
without an open call + time in gaps. For each core: last clock - first clock = the sum of its contexts' times + time in gaps that belongs to
no context. All but the self time is counted here; nothing is computed as a difference.

A task may go on on another core, in the middle of a call. The first sum then holds for all cores' contexts of that number together. If
records are missing besides, readers need not agree on whose a time without a record of the switch is: then neither sum is checked.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict

import attribution
from nsc2 import block, chunks, zstd
from trace2 import CALL, DATA, ENTRY, EXTENDED, INTERRUPT, RET

MOST_RECORDS = 400_000  # a larger recording takes too long to check tick by tick


class Core(attribution.Core):
    def add(self, records, told):
        """Adds the records of a block."""
        for index, word, clock in records:
            kind, value = word >> 32 & 3, word >> 35
            if kind == EXTENDED and value & 15 == DATA:
                value = ((word >> 39) << 32 | word & 0xffffffff) << 4 | DATA
            is_next = index == (self.steps[-1][0] + 1 if self.steps else 0)
            self.steps.append((index, kind, value, clock, None if is_next else told[index][1:]))


def trace_chunks(data):
    """Raises AssertionError if the recording is damaged."""
    return [payload for kind, payload in chunks(data) if kind == "TRCE"]


def read(data):
    """Returns {(session, core): Core} of a recording, which may have been cut; None: it is damaged or too large."""
    sessions, count = defaultdict(dict), 0
    try:
        parts = trace_chunks(data)
    except AssertionError:
        return None
    for payload in parts:
        session, number, records, told = block(zstd(payload))
        count += len(records)
        if count > MOST_RECORDS:
            return None
        cores = sessions[session - 1]
        if number not in cores:
            cores[number] = Core(cores)
        cores[number].add(records, told)
    for cores in sessions.values():
        attribution.run(cores)
        for core in cores.values():
            core.finish()
    return {(session, number): core for session, cores in sessions.items() for number, core in cores.items()}


def begun_and_ended(data):
    """Returns how many calls and interrupts of an undamaged recording begin, and how many end."""
    begun = ended = 0
    for payload in trace_chunks(data):
        for _, word, _ in block(zstd(payload))[2]:
            kind = word >> 32 & 3
            begun += kind in (CALL, ENTRY) or (kind == EXTENDED and word >> 35 & 15 == INTERRUPT)
            ended += kind == RET
    return begun, ended


def faults_of_contexts(who, contexts, rows):
    """Checks the contexts of one number, on one core or, if its task moves, on all. `rows`: of the report."""
    if any(context.whole for context in contexts):
        return
    said = {name: sum(row[name] for row in rows) for name in ("self_ticks", "tracer_ticks")}
    ran, own, tracer, nothing, gaps = (sum(getattr(context, name) for context in contexts)
                                       for name in ("ran", "own", "tracer", "nothing", "gaps"))
    if said != {"self_ticks": own, "tracer_ticks": tracer} or own + tracer + nothing + gaps != ran:
        yield (f"{who}: self {own} + tracer {tracer} + no call {nothing} + gaps {gaps}, and it ran for {ran}; "
               f"the report says {said}")


def faults_of(name, core, theirs, is_whole):
    """Checks one core. `theirs`: {context: what the report says}. `is_whole`: no record is missing."""
    if core.backwards:
        return []
    found, ran = [], 0
    unpaired = sum(context.unpaired for context in core.contexts.values())
    if unpaired > (core.steps[0][0] != 0) and is_whole:  # the tracer may have worked when it began
        found.append(f"{name}: {unpaired} brackets of the tracer without a begin or an end in their context")
    for number in core.contexts.keys() | theirs.keys():
        of = core.contexts.get(number, attribution.Context(core))
        said = theirs.get(number, {"ran_ticks": 0, "self_ticks": 0, "tracer_ticks": 0})
        who = f"{name}, context {number}"
        ran += said["ran_ticks"]
        if said["ran_ticks"] != of.ran:
            found.append(f"{who}: it ran for {of.ran} ticks, and the report says {said['ran_ticks']}")
        if of.whole and said["self_ticks"] > of.ran:
            found.append(f"{who}: {said['self_ticks']} ticks self, and it ran for {of.ran}")
        if not of.moved:
            found += faults_of_contexts(who, [of], [said])
    if ran + core.gaps != core.clock - core.first:
        found.append(f"{name}: contexts {ran} + gaps {core.gaps}, and it has {core.clock - core.first}")
    return found


def faults_of_rows(report):
    """Checks rules that hold for any recorder."""
    found, longest = [], report["duration_ns"] * report["cores"] + 1
    rows = report["functions"] + report.get("interrupts", [])
    for row in rows:
        who = row.get("name", row.get("interrupt"))
        # A function's total is the sum over the contexts. In a context that waits, it continues.
        limit = longest * max(1, len(report["contexts"]))
        if report.get("adaptive"):
            longest = limit = float("inf")  # the profile also counts while nothing is recorded
        if not 0 <= row["self_ns"] <= longest or not 0 <= row["total_ns"] <= limit:
            found.append(f"{who}: self {row['self_ns']}, total {row['total_ns']} ns of {longest}")
        if row["corrected_self_ns"] > row["self_ns"] + len(rows):
            found.append(f"{who}: corrected {row['corrected_self_ns']}, raw {row['self_ns']} ns")
    if not report.get("adaptive"):  # else the functions contain the profile's times
        rows += report.get("profile", {"functions": []})["functions"]
    raw, corrected = (sum(row[key] for row in rows) for key in ("self_ns", "corrected_self_ns"))
    if abs(raw - report["overhead"]["subtracted_ns"] - corrected) > len(rows) + 1:
        found.append(f"self {raw} ns - subtracted {report['overhead']['subtracted_ns']} is not {corrected}, the corrected self")
    for row in report["gaps_list"]:
        if not 0 <= row["from_ns"] <= row["to_ns"] <= report["duration_ns"] + 1:
            found.append(f"missing from {row['from_ns']} to {row['to_ns']} ns of {report['duration_ns']}")
    return found


def faults(data, report):
    """Returns a sentence for each fault in the report's times. None: the recording is too large to check."""
    cores = read(data)
    found = faults_of_rows(report)
    if cores is None:
        return found or None
    is_whole = not any(report["integrity"][name] for name in ("dropped", "overwritten", "lost", "gaps"))
    said = defaultdict(dict)
    for row in report["contexts"]:
        said[row["session"], row["core"]][row["context"]] = row
    has_all_calls = is_whole and not report["integrity"].get("aggregated")
    if not has_all_calls and any(context.moved for core in cores.values() for context in core.contexts.values()):
        return found
    for (session, number), core in cores.items():
        found += faults_of(f"session {session}, core {number}", core, said.pop((session, number), {}), is_whole)
    moved = {(session, number) for (session, _), core in cores.items() for number, context in core.contexts.items() if context.moved}
    for session, number in moved:
        contexts = [core.contexts[number] for (of, _), core in cores.items() if of == session and number in core.contexts]
        found += faults_of_contexts(f"session {session}, context {number}, which moves", contexts,
                                    [row for row in report["contexts"] if (row["session"], row["context"]) == (session, number)])
    return found + [f"session {session}, core {number}: it has no records" for session, number in said]


def check(nopscope, recording):
    """Checks every recording that a test makes. Ignores a file that cannot be read, because the test itself must notice."""
    path = pathlib.Path(recording)
    data = path.read_bytes()
    with tempfile.NamedTemporaryFile(suffix=".nsc") as copy:  # the recording may still grow
        copy.write(data)
        copy.flush()
        done = subprocess.run([nopscope, "report", copy.name, "--format", "json"], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return "it has no report"
    found = faults(data, json.loads(done.stdout))
    if found:
        raise AssertionError(f"{path.name}: time does not go to who spent it:\n" + "\n".join(found))
    return f"damaged, or more than {MOST_RECORDS} records: only what holds of any" if found is None else "every tick"


if __name__ == "__main__":
    try:
        print(check(sys.argv[1], sys.argv[2]))
    except (AssertionError, struct.error) as error:
        sys.exit(str(error))
