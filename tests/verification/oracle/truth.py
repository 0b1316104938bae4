#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares nopscope's corrected times with a plugin's count of instructions, function by function,
in the same deterministic run (-icount shift=0: an instruction takes a nanosecond).

    truth.py MACHINE IMAGE [WORD]... [--format json] [--all]

Runs the image, records and reports it, and prints the ten worst functions, or --all. Exit status 1: a number of calls differs, or a
function's self or inclusive time is out of tolerance. The tolerance is 2 %, or one tick of the clock for each measured time: one for each
call of the function, and for its self time one for each call that it made. From the environment: NOPSCOPE, NOPSCOPE_BUILD_ROOT and
NOPSCOPE_ORACLE.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "e2e"))
import compare  # noqa: E402
import sites  # noqa: E402

PART = 0.02  # of the true time
MEMORY = "4GB"  # a hundred thousand switches have more paths than a report keeps otherwise
# The errors that are known to stay in the times (docs/accuracy.md), at most. The call that longjmp leaves, and the one it goes to, in an
# image that does not tell the tracer: the former ends where the next record shows it.
LONGJMP_NS = 150
# For a call that emptied its ring: the tracer's error for its instructions after the pump's end. It
# is 0 for our boards. A package that asks its firmware for the core has four more.
PUMP_NS = 4
# Of tasks, by the plugin's count: a recorder that an interrupt has struck begins again; a call that
# is the lowest on its stack so far takes longer; a pump that an interrupt has struck begins again
# for the host some instructions later; and the calls of a task that is destroyed end a bit later.
TASK_NS = {"struck": 60, "lowest": 25, "cut": 60, "pumps": 4000, "open": 600, "destroys": 20}
# For a tail call, if the clock is too slow to recognize it and the code leaves both possible.
TAIL_NS = 15
# The suffix of the plugin's names that goes with a time.
WHERE = {"self": "", "inclusive": "_below"}
# The functions in which the tasks of firmware/examples/tasks begin.
TASKS = ("child", "consumer", "holder", "parent", "producer", "urgent", "worker")
# What the map says of functions to the plugin's shadow. Services do the program's work: otherwise it would print elsewhere.
ROLES = (("service", "_ZN8nopscope13console_writeEPKcm"), ("boot", "_start"), ("boot", "nopscope_secondary_start"),
         ("vectors", "nopscope_vectors"), ("makes_room", "nopscope_wait_for_room"),
         ("interrupt_begins", "_ZN8nopscope15interrupt_beginEj"), ("interrupt_ends", "_ZN8nopscope13interrupt_endEm"),
         ("switches", "_ZN8nopscope14context_switchERNS_7ContextENS_12SwitchReasonE"),
         ("destroys", "_ZN8nopscope15context_destroyERNS_7ContextE"))


# ---- the plugin's input --------------------------------------------------------------------------

def tracer_ranges(elf):
    """Addresses of the code from the tracer's sources, as the image's debug information gives them."""
    def dump(*what):
        return subprocess.run(["readelf", *what, str(elf)], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"}).stdout

    names = {}
    for unit in dump("--debug-dump=info", "--dwarf-depth=1").split("Compilation Unit @ offset ")[1:]:
        name = re.search(r"DW_AT_name\s*:.*?([^\s:]+)$", unit, re.MULTILINE)
        names[int(unit.split(":")[0], 0)] = name[1] if name else ""
    ranges = []
    for unit in dump("--debug-dump=aranges").split("Offset into .debug_info:")[1:]:
        if not re.search(r"(^|/)tracer/[^:]*$", names.get(int(unit.split()[0], 0), "")):
            continue
        for low, length in re.findall(r"^\s+([0-9a-f]{16}) ([0-9a-f]{16})", unit, re.MULTILINE):
            if int(low, 16) and int(length, 16):
                ranges.append((int(low, 16), int(low, 16) + int(length, 16)))
    if not ranges:
        raise ValueError(f"{elf}: no debug information of the tracer's sources")
    return ranges


def shadow_map(elf):
    """The lines of the plugin's map that make it count instructions."""
    image = sites.Image(elf)
    lines = [f"tracer {low:x} {high:x}" for low, high in tracer_ranges(elf)]
    lines += [f"{role} {image.symbols[name]:x}" for role, name in ROLES if name in image.symbols]
    if "__wrap_longjmp" in image.symbols and "longjmp" in image.symbols:  # tracer/arch/arm64/longjmp.S
        lines.append(f"longjmp {image.symbols['longjmp']:x}")
    if "__stack_low" in image.symbols and not sites.switching(image):  # otherwise calls are on the tasks' stacks
        lines.append(f"stack {image.symbols['__stack_low']:x} {image.symbols['__stack_high']:x}")
    return lines


# ---- the comparison ---------------------------------------------------------------------------------

@dataclasses.dataclass
class Row:
    name: str
    calls: int
    true: dict      # "self" and "inclusive": ns; of tasks the inclusive time is that on the CPU
    told: dict
    raw: dict       # as recorded
    tick_ns: float
    counted: dict   # the plugin's counts
    told_of_longjmp: bool = False
    tasks: bool = False  # there are several stacks

    def keys(self):
        """The times to compare. While a function waits for interrupts, the clock may go on without instructions."""
        return [key for key in self.true if not self.counted["waits" + WHERE[key]]]

    def error(self, key):
        return self.told[key] - self.true[key]

    def tolerance(self, key, strict=False):
        """Strict: 2 %, or one tick in total."""
        ticks = 1 if strict else self.calls + (self.counted["made"] if key == "self" else 0)
        return max(PART * self.true[key], ticks * self.tick_ns)

    def allowance(self, key):
        of, where = self.counted, WHERE[key]
        tail_ns = TAIL_NS if self.tick_ns > TAIL_NS else 0
        longjmp_ns = 0 if self.told_of_longjmp else LONGJMP_NS
        tasks_ns = sum(each * of[what + where] for what, each in TASK_NS.items()) if self.tasks else 0
        longjmps = of["longjmps"] + of["landings"] if key == "self" else of["longjmps_below"]
        return longjmp_ns * longjmps + PUMP_NS * of["pumps" + where] + tail_ns * of["jumps" + where] + tasks_ns

    def is_explained(self):
        """Whether known errors explain the difference."""
        return all(abs(self.error(key)) <= self.tolerance(key) + self.allowance(key) for key in self.keys())

    def worst(self, strict=False):
        return max((abs(self.error(key)) / self.tolerance(key, strict) for key in self.keys()), default=0)


@dataclasses.dataclass
class Comparison:
    rows: list      # worst first
    faults: list    # sentences: why the runs differ
    program: int    # instructions outside the tracer

    def outside(self, strict=False):
        return [row for row in self.rows if row.worst(strict) > 1]

    def too_many_outside(self):
        """None may be, if a tick is an instruction; but those of tasks for known reasons. With a slower clock, one in a hundred may be."""
        outside = [row.name for row in (self.unexplained() if self.rows[0].tasks else self.outside())]
        return outside if len(outside) > (0 if self.rows[0].tick_ns <= 1 else len(self.rows) // 100) else []

    def inexact(self):
        """If a tick is an instruction: rows that have an error, but nothing known that explains it, or less of that."""
        def is_exact(row):
            of = row.counted
            if row.tasks:
                return all(row.error(key) == 0 or any(of[what + where] for what in (*TASK_NS, "jumps", "waits")) for key, where in WHERE.items())
            # A call that longjmp leaves does not show whether it was a tail call.
            longjmp = of["longjmps_below"] and (of["jumps_below"] or not row.told_of_longjmp)
            exact = all(abs(row.error(key)) <= PUMP_NS * of["pumps" + where] for key, where in WHERE.items())
            return exact or longjmp or of["interrupts"] or of["open"]
        return [row for row in self.rows if row.tick_ns <= 1 and not is_exact(row)]

    def unexplained(self):
        return [row for row in self.outside() if not row.is_explained()]


def rows_of(told, seen, report, truth, prefix=""):
    """`told`, `seen`: nopscope's and the plugin's by address. Returns rows of those whose calls are equal, and sentences of the others."""
    rows, tasks = [], len(truth["tasks"]) > 1
    for address in sorted(told.keys() & seen.keys()):
        function, counted = told[address], seen[address]
        if function["calls"] != counted["calls"]:
            continue
        inclusive = "cpu" if tasks else "total"
        times = ((counted["self"] + counted["interrupted"], counted["inclusive"]),
                 *((function[f"{how}self_ns"], function[f"{how}{inclusive}_ns"]) for how in ("corrected_", "")))
        rows.append(Row(prefix + function["name"], counted["calls"], *(dict(zip(("self", "inclusive"), two)) for two in times),
                        1e9 / report["clock_hz"], counted, truth["told_of_longjmp"], tasks))
    return rows, [prefix + sentence for sentence in compare.different_calls(told, seen)]


def compare_tasks(report, truth):
    """Of tasks: rows and faults as of compare_times(), by the function in which a task begins. The two do not name tasks alike."""
    begins = {function["address"]: name for function in report["functions"] for name in TASKS
              if function["name"] == f"(anonymous namespace)::{name}(unsigned long)"}

    def by_begin(tasks):
        sums = collections.defaultdict(dict)
        for task in tasks:
            key = ", ".join(sorted(begins[of["address"]] for of in task if of["address"] in begins and of["calls"]))
            for function in task:
                of = sums[key].setdefault(function["address"], collections.Counter())
                for name, value in function.items():
                    of[name] = of[name] + value if isinstance(value, int) else value
        return sums

    tasks = collections.defaultdict(list)
    for function in report["by_task"]:
        tasks[function["task"]].append(function)
    told, seen = by_begin(tasks.values()), by_begin(truth["tasks"])
    faults, rows = [], []
    for key in sorted(told.keys() | seen.keys()):
        of_task, different = rows_of(told[key], seen[key], report, truth, f"{key or 'no task'}: ")
        rows += of_task
        faults += different
    return rows, faults


def compare_times(report, truth):
    rows, different = rows_of(compare.by_address(report), compare.by_address(truth), report, truth)
    faults = compare.integrity_faults(report["integrity"]) + different
    faults += [f"{truth[key]} calls {what}" for key, what in (
        ("foreign", "on stacks that the plugin does not follow"),
        ("unexplained", "with a return address in the tracer that nothing explains")) if truth[key]]
    if not rows:
        faults.append("no function was called")
    rows.sort(key=Row.worst, reverse=True)
    return Comparison(rows, faults, truth["program"])


def causes(row):
    known = (("jumps", "tail calls"), ("jumps_below", "tail calls in it"), ("unwound", "left by longjmp"),
             ("landings", "longjmps to it"), ("longjmps_below", "longjmps in it"), ("pumps_below", "pumps"),
             ("interrupts", "interrupts"), ("open", "open at the end"))
    if row.tasks:
        known = (*(pair for pair in known if not pair[0].endswith("_below")), ("pumps", "pumps"), ("struck", "interrupts in recorders"),
                 ("cut", "interrupts of pumps"), ("lowest", "calls that are the lowest so far"), ("waits", "waits for interrupts"))
    return ", ".join(f"{row.counted[key]} {what}" for key, what in known if row.counted[key])


def table(rows):
    """Markdown."""
    lines = ["| of the tolerance | function | calls | true self | reported | | true inclusive | reported | | known |",
             "|---:|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    for row in rows:
        cells = [f"{row.worst():.2f}", f"`{row.name}`", f"{row.calls:,}"]
        for key, true in row.true.items():
            cells += [f"{true:,}", f"{row.told[key]:,}", f"{100 * row.error(key) / true:+.2f} %" if true else "-"]
        lines.append("| " + " | ".join([*cells, causes(row)]) + " |")
    return "\n".join(lines)


def summary(comparison):
    return (f"{len(comparison.rows)} functions, {sum(row.calls for row in comparison.rows):,} calls, {comparison.program:,} instructions. "
            f"Out of tolerance: {len(comparison.outside())}, for other reasons than the known: {len(comparison.unexplained())}. "
            f"Out of 2 % or one tick in all: {len(comparison.outside(strict=True))}.")


def as_json(comparison):
    """What accuracy.py reads."""
    return {"tick_ns": comparison.rows[0].tick_ns, "summary": summary(comparison), "table": table(comparison.rows[:5]),
            "self": [{"true": row.true["self"], "reported": row.told["self"], "raw": row.raw["self"]} for row in comparison.rows]}


def record(directory, machine, image, words):
    """Returns the report and the plugin's counts of one run."""
    import machines
    finished = machines.record(directory, machine, image, words, oracle=True, more=shadow_map(machines.elf_of(machine, image)))
    if finished.status != 0:
        raise ValueError(f"{image} on {machine}: exit status {finished.status}\n{finished.console}{finished.errors}")
    counted = finished.oracle

    def report(*options):
        return machines.as_json("report", finished.recording, "--image", finished.elf, "--memory", MEMORY, *options)
    told = report()
    if len(counted["tasks"]) > 1:
        told["by_task"] = report("--by", "task")["functions"]
    return told, counted


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("machine")
    parser.add_argument("image")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    import machines
    try:
        with machines.Directory() as directory:
            comparison = compare_times(*record(directory, arguments.machine, arguments.image, arguments.words))
    except (OSError, ValueError, KeyError, AssertionError) as error:
        sys.exit(f"truth: {error}")
    if arguments.format == "json":
        print(json.dumps(as_json(comparison), indent=1))
    else:
        print(table(comparison.rows if arguments.all else comparison.rows[:10]))
        print("\n".join([summary(comparison), *comparison.faults]))
    return 1 if comparison.faults or comparison.outside() else 0


if __name__ == "__main__":
    sys.exit(main())
