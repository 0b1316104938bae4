# SPDX-License-Identifier: Apache-2.0
"""Tests' code in gdb: `-ex "source in_gdb.py" -ex "python told(stops())"`. It prints JSON last."""

import json
import pathlib
import random

import gdb

for setting in ("pagination off", "confirm off", "width 0", "print address off", "style enabled off"):
    gdb.execute("set " + setting)
CALLS = pathlib.Path(__file__).resolve().parents[3] / "tests/firmware/backtraces/calls.cpp"
OWN = ("nopscope", "std::")  # prefixes of the tracer's functions and of those that it inlines
CALLBACKS = ("(anonymous namespace)::on_entry", "image::count_begin", "image::count_end")


def told(value):
    print("told " + json.dumps(value))


def names():
    """Returns function names, innermost first, to main() or the last one. Omits gdb's guesses of
    tail callers, because gdb makes none for a frame that a script unwinds."""
    found, frame = [], gdb.newest_frame()
    while frame is not None and len(found) < 100:
        if frame.type() != gdb.TAILCALL_FRAME:
            found.append(frame.name() or f"?? {frame.pc():#x}")
        frame = frame.older()
    return found


def value(function, expression):
    """Evaluates the expression in the newest frame of the function."""
    frame = gdb.newest_frame()
    while frame.name() != function:
        frame = frame.older()
    return int(frame.read_var(expression))


def run_to(place, times=1):
    breakpoint = gdb.Breakpoint(place, type=gdb.BP_HARDWARE_BREAKPOINT)
    for _ in range(times):
        gdb.execute("continue", to_string=True)
    breakpoint.delete()


def stops(count=5):
    """Returns {place: names} for `count` stops, and values from outer frames."""
    breakpoint = gdb.Breakpoint("*stopped", type=gdb.BP_HARDWARE_BREAKPOINT)
    found = {}
    for _ in range(count):
        gdb.execute("continue", to_string=True)
        place = value("stopped", "place")
        found[place] = names()
        if place == 1:
            found["kept"] = value("calls_what_jumps", "kept"), value("begin", "n")
    breakpoint.delete()
    return found


def line_of(text):
    """The number of this line in CALLS."""
    return 1 + next(n for n, line in enumerate(CALLS.read_text().splitlines()) if line.strip() == text)


def commands():
    """Where `finish` of inner frames ends, its value, and `up`, `info frame` and `next`."""
    run_to("*stopped")
    gdb.execute("finish", to_string=True)
    found = []
    for _ in range(2):
        said = gdb.execute("finish", to_string=True)
        result = int(gdb.history(0)) if "Value returned" in said else None
        found.append((gdb.selected_frame().name(), result, value("calls_what_jumps", "n")))
    gdb.execute("up", to_string=True)
    frame = gdb.execute("info frame", to_string=True)
    caller = int(frame.split("saved pc = ")[1].split()[0], 16)
    found += [gdb.selected_frame().name(), gdb.selected_frame().older().pc() == caller]
    run_to("calls.cpp:" + str(line_of("catches();")))
    for _ in range(2):  # over a longjmp and an interrupt
        gdb.execute("next", to_string=True)
        found.append((gdb.selected_frame().name(), gdb.selected_frame().find_sal().line - line_of("catches();")))
    return found


def sweep(first, last, address):
    """Steps from the second call of `first`, at this address, until `last` continues. Returns {function: how many of its instructions} and
    the errors. Each backtrace must be whole, from the tracer's functions to those of the calls."""
    run_to(f"*{address}", 2)
    callers = names()
    assert callers[:2] == [first, last], callers
    seen, whole, wrong = {}, [callers, callers[1:]], []
    for _ in range(5000):
        gdb.execute("stepi", to_string=True)
        found = names()
        seen.setdefault(found[0], set()).add(gdb.newest_frame().pc())
        inner = [name for name in found if not name.startswith(OWN) and name not in CALLBACKS]
        if inner and inner[0] in ("stopped", "(anonymous namespace)::end"):
            inner.pop(0)  # `first` calls it
        if inner and inner[0] == "short_jumped_to":
            inner[0] = first  # it has replaced `first`
        if found[0] == last:
            return {name: len(pcs) for name, pcs in seen.items()}, wrong
        if len(whole) == 2 and inner == callers[1:]:
            whole = [callers[1:]]  # it has returned, and must not come back
        if inner not in whole:
            wrong.append((found, f"{gdb.newest_frame().pc():#x}"))
    wrong.append("the call does not end")
    return {}, wrong


def damage(seed):
    """Takes backtraces with a damaged shadow stack. Returns their number and gdb's message."""
    run_to("*stopped")
    memory, chance = gdb.selected_inferior(), random.Random(seed)
    core = gdb.parse_and_eval("*(nopscope::Core*)nopscope::nopscope_descriptor.cores")
    base, top, at = int(core["shadow_base"]), int(core["top"]), int(core["top"].address)
    whole, found, said = bytes(memory.read_memory(base, top - base)), [], []
    for _ in range(20):
        gdb.execute("flushregs", to_string=True)
        begin = chance.randrange(len(whole) - 8) & ~7
        memory.write_memory(base + begin, chance.choice([bytes(8), chance.randbytes(8), whole[:8]]))
        found.append(names())
    memory.write_memory(base, whole)
    for wrong in (0, base - 64, base + 8, base + (1 << 40), (1 << 64) - 64):
        memory.write_memory(at, wrong.to_bytes(8, "little"))
        gdb.execute("flushregs", to_string=True)
        found.append(names())
        said.append(gdb.execute("info nopscope", to_string=True))
    memory.write_memory(at, top.to_bytes(8, "little"))
    gdb.execute("flushregs", to_string=True)
    return found, said, names()
