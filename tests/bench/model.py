#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of cycles, not a measurement: what a recorded call costs on cores that we have not used.

    model.py [--machine MACHINE]... [--out FILE] [--gate] [--update-baseline]

A call's cycles are the sum of three parts: llvm-mca's figure for its instructions (mca.py), constants for what llvm-mca does not know
(cycles_constants.json), and a penalty for each return that a model of a return predictor mispredicts (returns.py). docs/bench.md says how
good each part is. --gate: exit status 1 if a recorder makes the predictor miss returns of untraced functions. --update-baseline: this run
becomes returns_expected.json.

Exit status: 0; 1: the counts are not the expected ones, --gate, or it could not run; 2: wrong usage. From the
environment: NOPSCOPE_BUILD_ROOT, NOPSCOPE_RETURN_STACK (the plugin).
"""

import argparse
import json
import pathlib
import sys

import bench
import mca
import returns

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "returns_expected.json"
CONSTANTS = HERE / "cycles_constants.json"
# A machine without its own counts must have those of this one: cores without BTI have equal hooks.
SAME_AS = {name: "virt-a72" for name, (board, _) in bench.MACHINES.items() if name == board}
ABOVE = 4  # untraced functions above the traced one, for the cost of each ancestor
DEMO = (("not traced", ["recorder=none"]), ("graph, one function of 16", ["every=16"]),
        ("graph, all functions", []), ("profile, one function of 16", ["recorder=profile", "every=16"]),
        ("profile, all functions", ["recorder=profile"]))


# ---- a range of figures ---------------------------------------------------------------------------

class Range:
    """A figure with its lower and upper bound."""

    def __init__(self, value, low=None, high=None):
        self.value, self.low, self.high = value, value if low is None else low, value if high is None else high

    def __add__(self, other):
        return Range(self.value + other.value, self.low + other.low, self.high + other.high)

    def times(self, count):
        return Range(self.value * count, self.low * count, self.high * count)

    def __str__(self):
        return f"{self.value:.0f} ({self.low:.0f}-{self.high:.0f})"

    def as_json(self):
        return {key: round(getattr(self, key), 1) for key in ("value", "low", "high")}


def load_constants():
    """By core and name."""
    cores = json.loads(CONSTANTS.read_text())["cores"]
    return {core: {name: Range(of["value"], of["low"], of["high"]) for name, of in named.items()} for core, named in cores.items()}


# ---- cycles ---------------------------------------------------------------------------------------

def kind_of(text):
    """Returns the constant that an instruction needs, or None if llvm-mca's figure is right."""
    name, _, operands = text.partition("\t")
    if name == "mrs":
        register = operands.split(", ")[1].upper()
        if register in ("CNTVCT_EL0", "PMCCNTR_EL0"):
            return "clock_read"
        return "event_read" if register.startswith("PMEVCNTR") else "register_read"
    return "exclusive_pair" if name in ("stxr", "stxp") else None


def stretches(path, missed_bit):
    """Splits the path's words behind each mispredicted branch."""
    out = [[]]
    for _, word, missed in path:
        out[-1].append(int(word, 16))
        if missed >> missed_bit & 1:
            out.append([])
    return [stretch for stretch in out if stretch]


def mca_bounds(core, paths, missed_bit):
    """Returns (least, most, the scheduling model) for each path. Least: many in a row, which wait
    for no branch. Most: one alone, which waits at each mispredicted branch until all is done."""
    whole = [[int(word, 16) for _, word, _ in path] for path in paths]
    many, resources = mca.cycles(core, whole, mca.ROUNDS)
    parts = [stretches(path, missed_bit) for path in paths]
    each, _ = mca.cycles(core, [part for some in parts for part in some], 1)
    alone = iter(each)
    most = [sum(next(alone) for _ in some) for some in parts]
    return [(least / mca.ROUNDS, top) for least, top in zip(many, most)], mca.model_of(resources)


def recorders_of(rows):
    return [name.removesuffix("/0") for name in rows if name.endswith("/0") and name != "off/0"]


def ancestors_missed(rows, recorder, index):
    """Returns the mispredicted returns that tracing adds for each untraced function above a call."""
    on, off = rows[f"{recorder}/{ABOVE}"], rows[f"off/{ABOVE}"]
    added = returns.missed(on, "unhooked", index) - returns.missed(off, "unhooked", index)
    return added / returns.CHAIN_CALLS / ABOVE


def cycles_of(rows, core, constants):
    """Returns a dict for each recorder, relative to the same untraced loop."""
    index = len(rows["off/0"]["depths"]) - 1
    names = ["off", *recorders_of(rows)]
    paths = [rows[f"{name}/0"]["path"] for name in names]
    bounds, scheduling = mca_bounds(core, paths, index)
    text_of = mca.disassemble([int(word, 16) for path in paths for _, word, _ in path])
    factor = constants["llvm_mca"]
    out = []
    for name, path, (least, most) in list(zip(names, paths, bounds))[1:]:
        low, high = least - bounds[0][0], most - bounds[0][1]
        straight = Range((low + high) / 2 * factor.value, low * factor.low, high * factor.high)
        kinds = [kind_of(text_of[int(word, 16)]) for _, word, _ in path]
        counts = {kind: kinds.count(kind) for kind in constants if kinds.count(kind)}
        added = sum((constants[kind].times(count) for kind, count in counts.items()), Range(0))
        missed = sum(step_missed >> index & 1 for _, _, step_missed in path)
        penalty = constants["mispredict"].times(missed)
        of_ancestor = ancestors_missed(rows, name, index)
        out.append({"recorder": name, "core": core, "scheduling_model": scheduling, "instructions": len(path) - len(paths[0]),
                    "llvm_mca": straight, "counts": counts, "constants": added, "mispredicted": missed, "penalty": penalty,
                    "total": straight + added + penalty, "mispredicted_per_ancestor": of_ancestor,
                    "per_ancestor": constants["mispredict"].times(of_ancestor)})
    return out


# ---- what is expected -----------------------------------------------------------------------------

def load_expected():
    return json.loads(EXPECTED.read_text())


def differences(machine, counts, expected):
    """Returns a sentence for each count that differs from the expected one, in either direction."""
    known = expected.get(SAME_AS.get(machine, machine))
    if known is None:
        yield f"there is nothing expected of {machine}: ./dev bench --model --update-baseline"
        return
    for row in sorted(set(counts) | set(known)):
        now, then = counts.get(row), known.get(row)
        if now is None or then is None:
            yield f"{machine}, {row}: {'is missing' if now is None else 'is new'}"
            continue
        for whose in sorted(set(now) | set(then)):
            if now.get(whose, [0, 0, 0]) != then.get(whose, [0, 0, 0]):
                yield (f"{machine}, {row}: {whose}: {now.get(whose, 0)} mispredicted a call with stacks of 8, 16 and "
                       f"31, expected {then.get(whose, 0)}")


def surplus(machine, counts):
    """Returns a sentence for each row where a recorder makes the predictor miss returns of untraced ancestors although the stack is deep
    enough. In a full stack, even the function recorder's BL, which has no hook, replaces an entry."""
    whose = "returns of unhooked"
    for row, of in counts.items():
        without_hook = counts[f"function/{row.split('/')[1]}"].get(whose, [0, 0, 0])
        if any(now > 0 and then == 0 for now, then in zip(of.get(whose, [0, 0, 0]), without_hook)):
            yield (f"{machine}, {row}: {of[whose]} returns of untraced ancestors mispredicted a call with stacks of 8, "
                   f"16 and 31; the function recorder: {without_hook}")


def update_expected(counts_by_machine):
    lines = [f' "{machine}": {{\n' + ",\n".join(f'  {json.dumps(row)}: {json.dumps(of)}' for row, of in rows.items())
             + "\n }" for machine, rows in sorted((load_expected() | counts_by_machine).items())]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"\nexpected is now this run: {EXPECTED.relative_to(HERE.parent.parent)}")


# ---- the tables -----------------------------------------------------------------------------------

def print_cycles(machine, rows):
    print(f"a model, not a measurement: cycles that recording one call adds, most likely (least-most); code executed "
          f"on {machine}\n")
    head = ("recorder", "core (LLVM's model)", "instructions", "llvm-mca", "clock, exclusives, registers",
            "mispredicted", "their cycles", "total", "each untraced ancestor")
    keys = ("instructions", "llvm_mca", "constants", "mispredicted", "penalty", "total", "per_ancestor")
    body = [(row["recorder"], f"{row['core']} ({row['scheduling_model']})", *(str(row[key]) for key in keys)) for row in rows]
    print(bench.format_table(head, body))


def grouped(cells, recorders):
    """Returns [(recorders, cells)], with equal cells together. The first recorder has no hook."""
    names = {tuple(recorders): "each recorder", tuple(recorders[1:]): "each with a hook"}
    same = {}
    for recorder, of in cells.items():
        same.setdefault(tuple(of), []).append(recorder)
    return [(names.get(tuple(some), "; ".join(some)), of) for of, some in same.items()]


def print_totals(rows):
    print("\na model, not a measurement: the same totals; then what each function above it takes that is not traced\n")
    cores = list(dict.fromkeys(row["core"] for row in rows))
    of = {(row["recorder"], row["core"]): row for row in rows}
    recorders = list(dict.fromkeys(row["recorder"] for row in rows))
    body = [(recorder, *(str(of[recorder, core]["total"]) for core in cores)) for recorder in recorders]
    ancestors = {recorder: [str(of[recorder, core]["per_ancestor"]) for core in cores] for recorder in recorders}
    body += [(f"{label}: each ancestor", *cells) for label, cells in grouped(ancestors, recorders)]
    print(bench.format_table(("recorder", *cores), body))


def print_counts(machine, counts):
    print(f"\na model, not a measurement: mispredicted returns that a call adds, with return stacks of 8 / 16 / 31 "
          f"entries; {machine}\n")
    above = sorted({int(row.split("/")[1]) for row in counts})
    recorders = list(dict.fromkeys(row.split("/")[0] for row in counts))
    body = []
    for whose, label in (("own", "the function's"), ("hook", "the hook's"), ("unhooked", "all ancestors'")):
        cells = {}
        for recorder in recorders:
            kinds = [[counts[f"{recorder}/{n}"].get(f"{kind} of {whose}", [0, 0, 0]) for n in above] for kind in ("returns", "branches")]
            cells[recorder] = [" / ".join(bench.number(returned + branched) for returned, branched in zip(*pair)) for pair in zip(*kinds)]
        body += [(f"{group}: {label}", *of) for group, of in grouped(cells, recorders)]
    print(bench.format_table(("recorder: whose", *(f"{n} above" for n in above)), body))


def print_demo(machine, rows):
    print(f"\na model, not a measurement: Lua's scripts, all of the run, return stack of 16 entries; {machine}\n")

    def missed(row, *classes):
        return sum(returns.missed(row, whose, 1, kind) for whose in classes for kind in ("returns", "branches"))
    off = rows["not traced"]
    body = [(label, str(row["calls"]), str(returns.missed(row, "own", 1)),
             str(missed(row, "hook") - missed(off, "hook")),  # without those of calibration
             str(sum(returns.missed(row, whose, 1) for whose in ("unhooked", "traced"))))
            for label, row in rows.items()]
    print(bench.format_table(("run", "recorded calls", "missed: their own", "their hooks'", "all others of the program"), body))


def measure(machine):
    """Returns (counts to compare, cycles of each recorder on each core)."""
    rows = returns.chain(machine)
    cycles = [row for core, of in load_constants().items() for row in cycles_of(rows, core, of)]
    order = recorders_of(rows)
    return returns.counts(rows), sorted(cycles, key=lambda row: order.index(row["recorder"]))


def as_json(machine, counts, cycles, demo):
    return {"machine": machine, "model": "not a measurement", "llvm": mca.VERSION, "counts": counts,
            "cycles": [{key: value.as_json() if isinstance(value, Range) else value for key, value in row.items()}
                       for row in cycles],
            "demo": {label: {kind: row[kind] for kind in ("calls", "returns", "branches")}
                     for label, row in demo.items()}}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--machine", action="append", choices=returns.MACHINES)
    parser.add_argument("--out", type=pathlib.Path)
    for option in ("--gate", "--update-baseline"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    machines = options.machine or ["virt-a72", "virt-max"]
    for machine in machines:
        if options.update_baseline and machine in SAME_AS:
            parser.error(f"{machine} has no counts of its own: they are to be {SAME_AS[machine]}'s")

    results = {machine: measure(machine) for machine in machines}
    written = []
    for machine, (counts, cycles) in results.items():
        demo = {label: returns.run_image(machine, "demo", "rounds=1", "baud=0", "pumps=0", "cores=1", *words)["all"]
                for label, words in DEMO}
        written.append(as_json(machine, counts, cycles, demo))
        if written[-1]["cycles"] == written[0]["cycles"] and counts == written[0]["counts"] and machine != machines[0]:
            print(f"\n{machine}: cycles and counts as {machines[0]}'s")
        else:
            print_cycles(machine, cycles)
            print_totals(cycles)
            print_counts(machine, counts)
        print_demo(machine, demo)
    bench.write_json(options.out, written)
    if options.update_baseline:
        update_expected({machine: counts for machine, (counts, _) in results.items()})
    faults = [line for machine, (counts, _) in results.items() for line in differences(machine, counts, load_expected())]
    if options.gate:
        faults += [line for machine, (counts, _) in results.items() for line in surplus(machine, counts)]
    if faults:
        print("\nnot as expected (tests/bench/returns_expected.json):")
        print("\n".join(f"  {line}" for line in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
