#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the bench under QEMU and writes bench.json. Prints the results beside Linux's figures and the targets.

    bench.py [--machine virt-max|virt-a72|rpi4|rpi3|zcu102] [--out FILE] [--alignment FILE]
             [--update-baseline]

From the environment: NOPSCOPE (the command), NOPSCOPE_BUILD_ROOT (holds the builds of virt/ and the
other boards). docs/bench.md explains the rows.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
from qemu import HANG_SECONDS, MACHINES, elf_of, qemu_command  # noqa: E402

BASELINE = HERE / "baseline.json"
FIRST = "virt-max"
# The machine whose figures another machine must have, if it has none itself. CPUs that need the
# same maintenance, with cache lines of the same length, execute the same instructions.
SAME_AS = {name: "rpi4" for name, (board, _) in MACHINES.items() if name == board and not name.startswith(("rpi4", "riscv"))}
CALLS = 100  # in a loop of the image


# ---- running ------------------------------------------------------------------------------------

def run_image(machine, image):
    """Returns the header and the rows from the image's lines of JSON."""
    command = qemu_command(machine, image, ["quiet"])
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [os.environ["NOPSCOPE"], "record", "--from", "exec:" + shlex.join(command), "--image",
            str(elf_of(machine, image)), "-o", str(pathlib.Path(directory) / "line.nsc")], capture_output=True, text=True, errors="replace",
            timeout=HANG_SECONDS, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or "bench: done" not in done.stdout:
        sys.exit(f"the bench failed on {machine}:\n{done.stdout}{done.stderr}")
    lines = [json.loads(line.removeprefix("@bench ")) for line in done.stdout.splitlines() if line.startswith("@bench ")]
    return lines[0], lines[1:]


def key_of(row):
    return f"{row['case']}/{row['strategy']}/{row['relevant']}/{row['irrelevant']}"


def init_row(rows):
    return next(row for row in rows if row["case"] == "init")


def measure(machine):
    """Returns the header and the rows of a machine. Instructions are whole numbers for `per` calls, sites or requests together."""
    header, rows = run_image(machine, "bench")
    _, boot = run_image(machine, "bench-boot")
    # Where interrupts are not deferred there is no such image.
    tasks = run_image(machine, "bench-tasks")[1] if elf_of(machine, "bench-tasks").exists() else []
    rows += [row for row in tasks if row["case"] not in ("init", "off")]
    # The cost of boot initialisation for a site: the same init() with more sites and with fewer.
    more, fewer = init_row(rows), init_row(boot)
    rows.remove(more)
    per = more["per"] - fewer["per"]
    row = {**more, "case": "boot", "per": per, "instructions": more["instructions"] - fewer["instructions"]}
    for unit in ("ns_per_call", "cycles_per_call"):
        row[unit] = round((more[unit] * more["per"] - fewer[unit] * fewer["per"]) / per, 3)
    rows.append(row)
    header["machine"] = machine
    header["compiler"] = header["compiler"].split()[0]
    return header, rows


def as_json(header, rows):
    """Returns the content of build/bench.json. A row's figure is the difference to the same loop
    with tracing off. `off` is the cost of an idle site in that loop."""
    off = next(row["instructions"] / row["per"] for row in rows if row["case"] == "off")
    out = []
    for row in rows:
        figure = {"missing": row["missing"]} if "missing" in row else {
            "instructions_per_call": tidy(row["instructions"] / row["per"]), "ns_per_call": row["ns_per_call"],
            "cycles_per_call": row["cycles_per_call"]}
        out.append({key: row[key] for key in ("case", "strategy", "relevant", "irrelevant")} | figure | {
            "off": tidy(off), "machine": header["machine"], "compiler": header["compiler"]})
    return out


def write_json(path, value):
    """`path` None: nothing is written."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1) + "\n")


def tidy(number):
    return int(number) if number == int(number) else round(number, 3)


# ---- the table ----------------------------------------------------------------------------------

# label, row, Linux 6.12, target.
GRID = "grid/call_ops/{}/{}"
TARGETS = [
    ("off", "off//0/0", "2", 2),
    ("one ops, empty callback, unguarded", "callback, unguarded//1/0", "42", 32),
    ("one ops, empty callback, guarded", GRID.format(1, 0), "156", 40),
    *((f"{r} ops on the function", GRID.format(r, 0), str(98 + 50 * r), 45 + 16 * r)
      for r in (2, 3, 10, 100)),
    ("direct, in range", "direct in range//1/0", "0", 0),
    ("direct, out of range", "direct out of range//1/0", "6", 5),
    ("function recorder", "function//1/0", "592", 18),
    ("graph recorder, entry + exit", "graph//1/0", "1646", 52),
    ("profile recorder", "profile//1/0", "755", 70),
    *((f"{name} recorder, interrupts deferred", f"{name}/deferred/1/0", linux, target)
      for name, linux, target in (("function", "592", 17), ("graph", "1646", 51), ("profile", "755", 63))),
    ("switch of context", "switch of context/deferred/1/0", "-", 250),
    ("switch of context, with reason", "switch of context, with reason/deferred/1/0", "-", 250),
    ("longest time with interrupts off in a pump", "interrupts off in a pump/deferred/1/0", "-", 10000),
    ("function, stopped but attached", "function, stopped//1/0", "176", 9),
    ("graph, stopped but attached", "graph, stopped//1/0", "477", 9),
    *((f"enable {label}, per site", f"enable 1024/{strategy}/{n}/0", "1167", 60)
      for label, strategy, n in (("function", "function", 1), ("graph", "graph", 1),
                                 ("a callback", "call_ops", 1), ("a second callback", "call_ops", 2),
                                 ("direct", "direct", 1))),
    *((f"disable {label}, per site", f"disable 1024/{strategy}/{n}/0", "755", 60)
      for label, strategy, n in (("function", "function", 0), ("graph", "graph", 0),
                                 ("the second callback", "call_ops", 1),
                                 ("a callback", "call_ops", 0), ("direct", "direct", 0))),
    ("boot initialisation, per site", "boot//0/0", "-", 60),
]
SIZES = (0, 1, 2, 10, 100)


def figures_of(rows):
    """Returns instructions per call by key, or None if the tracer refused."""
    return {key_of(row): None if "missing" in row else row["instructions"] / row["per"] for row in rows}


def against_targets(figures):
    """Yields (label, Linux, target, figure or None, verdict) for each row of the issue's table."""
    for label, key, linux, target in TARGETS:
        figure = figures.get(key)
        verdict = "missing" if figure is None else "ok" if figure <= target else f"MISSES by {number(figure - target)}"
        yield label, linux, target, figure, verdict
    for relevant in SIZES:
        grid = [figures.get(GRID.format(relevant, i)) for i in SIZES]
        known = [figure for figure in grid if figure is not None]
        verdict = "missing for some" if len(known) < len(SIZES) else "ok" if len(set(known)) == 1 else "MISSES"
        yield f"each of I irrelevant ops, R = {relevant}", "39" if relevant else "0", 0, max(known) - min(known), verdict


def number(figure):
    if figure is None:
        return "-"
    return str(int(figure)) if figure == int(figure) else f"{figure:.1f}"


def format_table(head, body):
    """Markdown, in columns."""
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    widths = [max(map(len, column)) for column in zip(*rows)]
    padded = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in padded)


def is_riscv(machine):
    return machine.startswith("riscv")


def print_tables(header, rows):
    print(f"instructions per call, above the same loop with tracing off; {header['machine']}, "
          f"GCC {header['compiler']}, counted under -icount shift=0\n")
    figures = figures_of(rows)
    strategies = [name for name in ("list", "call_ops", "dynamic", "direct") if any(f"/{name}/" in key for key in figures)]
    if is_riscv(header["machine"]):  # Linux's figures and the targets are arm64's
        print(format_table(("case", "nopscope"), [(label, number(figure)) for label, _, _, figure, _ in against_targets(figures)]))
        print("\nrelevant (R) and irrelevant (I) ops on one function\n")
    else:
        body = [(label, linux, f"<= {target}" if target else "0", number(figure), verdict)
                for label, linux, target, figure, verdict in against_targets(figures)]
        print(format_table(("case", "Linux 6.12", "target", "nopscope", ""), body))
        print("\nrelevant (R) and irrelevant (I) ops on one function, four strategies; Linux with "
              "CALL_OPS: 42 for one, else 98 + 50 R + 39 I\n")
    body = [(strategy, str(r), *(number(figures.get(f"grid/{strategy}/{r}/{i}")) for i in SIZES))
            for strategy in strategies for r in SIZES if strategy != "direct" or r < 2]
    print(format_table(("strategy", "R", *(f"I = {i}" for i in SIZES)), body))

    print("\none change of one function's ops, instructions\n")
    changes = (("add", 1, "none to one"), ("add", 2, "one to two"), ("remove", 1, "two to one"), ("remove", 0, "one to none"))
    body = [(strategy, *(number(figures.get(f"change: {verb}/{strategy}/{n}/0"))
                         for verb, n, _ in changes))
            for strategy in strategies]
    print(format_table(("strategy", *(label for *_, label in changes)), body))


def lost_sites(cell, count_them):
    if cell is None:
        return "-"
    of = f" of {cell['functions']}" if count_them else ""
    return f"{cell['misaligned']} / {cell['lost']}{of}"


def print_alignment(result):
    print("\nfunctions that lose their site: misaligned (refused at boot) / not in the table; of "
          f"{result['functions']} at -O0, fewer above; {result['sources']}\n")
    levels = result["levels"]
    body = [(f"{row['compiler']}, {row['remedy']}",
             *(lost_sites(cell, "gc" in row["remedy"]) for cell in row["cells"]))
            for row in result["rows"]]
    print(format_table(("compiler, remedy", *(f"-{level}" for level in levels)), body))
    print("\ntext bytes a site, and bytes of the table\n")
    body = [(row["compiler"], *(number(cell) for cell in row["text_bytes_per_site"]), "8") for row in result["sizes"]]
    print(format_table(("compiler", *(f"-{level}" for level in levels), "table"), body))


# ---- the baseline -------------------------------------------------------------------------------

# Figures of the tracer's assembly only. They do not depend on the compiler.
def is_assembly(key):
    case, strategy, relevant, _ = key.split("/")
    if case == "grid":
        return int(relevant) == 0 or strategy == "direct" or (strategy in ("call_ops", "dynamic") and int(relevant) == 1)
    return case in ("off", "function", "function, stopped", "graph", "graph, stopped",
                    "direct in range", "direct out of range", "profile", "profile, stopped",
                    "table bytes")


def is_compared(machine, key):
    if key.startswith("interrupts off"):  # by all that the pump does; the target is its bound
        return False
    return machine == "virt-max" or not key.startswith("change")


def figures_for_baseline(rows):
    return {key_of(row): row["missing"] if "missing" in row else [row["instructions"], row["per"]] for row in rows}


def differences(header, rows, baseline):
    """Returns a sentence for each figure that differs from the baseline. A call's figure must be
    exact. A request about many sites may differ by less than one instruction a site. Changes of one
    site with cache maintenance depend on where lines begin, so they are not compared."""
    machine = SAME_AS.get(header["machine"], header["machine"])
    stored = baseline.get(header["compiler"], {}).get(machine)
    wanted = lambda key: True  # noqa: E731
    if stored is None:
        stored = next((some[machine] for some in baseline.values() if machine in some), {})
        wanted = is_assembly
    if not stored:
        yield f"there is no baseline for {machine}: ./dev bench --update-baseline"
        return
    seen = figures_for_baseline(rows)
    for key in sorted(set(stored) | set(seen)):
        if not wanted(key) or not is_compared(header["machine"], key):
            continue
        now, then = seen.get(key), stored.get(key)
        if now == then:
            continue
        if not (isinstance(now, list) and isinstance(then, list)):
            yield f"{key}: {now}, the baseline has {then}"
            continue
        now_each, then_each = now[0] / now[1], then[0] / then[1]
        if now[1] not in (1, CALLS) and abs(now_each - then_each) < 1:
            continue
        word = "worse" if now_each > then_each else "better"
        yield (f"{key}: {number(now_each)} instructions, {word} than the baseline's "
               f"{number(then_each)}")


def shared_rows(machine, machines):
    return {} if machine == FIRST or is_riscv(machine) else machines.get(FIRST, {})


def load_baseline():
    """By compiler and machine. Of another machine of FIRST's architecture, the file has the rows that differ from FIRST's."""
    baseline = json.loads(BASELINE.read_text())
    return {compiler: {machine: shared_rows(machine, machines) | rows for machine, rows in machines.items()}
            for compiler, machines in baseline.items()}


def update_baseline(header, rows):
    baseline = load_baseline()
    baseline.setdefault(header["compiler"], {})[header["machine"]] = figures_for_baseline(rows)
    kept = {compiler: {machine: {key: row for key, row in rows.items() if row != shared_rows(machine, machines).get(key)}
                       for machine, rows in machines.items()} for compiler, machines in baseline.items()}
    text = json.dumps(kept, indent=1, sort_keys=True)
    for broken, joined in (("[\n    ", "["), (",\n    ", ", "), ("\n   ]", "]")):  # one row on each line
        text = text.replace(broken, joined)
    BASELINE.write_text(text + "\n")


# ---- the README's table, written from the baseline -------------------------------------------------

README = HERE.parent.parent / "README.md"
README_FROM = ("12.2.0", FIRST)
README_MARKS = ("<!-- bench: written by ./dev bench --update-baseline -->\n", "<!-- /bench -->\n")
README_ROWS = (
    "one ops, empty callback, guarded", "10 ops on the function", "each of I irrelevant ops, R = 1",
    "function recorder", "graph recorder, entry + exit", "profile recorder",
    "enable function, per site", "boot initialisation, per site")


def readme_table(baseline):
    compiler, machine = README_FROM
    figures = {key: figure[0] / figure[1] if isinstance(figure, list) else None for key, figure in baseline[compiler][machine].items()}
    by_label = {label: (linux, figure) for label, linux, _, figure, _ in against_targets(figures)}
    body = [(label, by_label[label][0], number(by_label[label][1])) for label in README_ROWS if by_label[label][1] is not None]
    return format_table(("instructions", "Linux 6.12 ftrace", "nopscope"), body) + "\n"


def readme_parts():
    """Returns the README before, in and after the table."""
    before, rest = README.read_text().split(README_MARKS[0])
    table, after = rest.split(README_MARKS[1])
    return before, table, after


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--machine", choices=MACHINES, default="virt-max")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--alignment", type=pathlib.Path)
    parser.add_argument("--update-baseline", action="store_true")
    options = parser.parse_args()
    if options.update_baseline and options.machine in SAME_AS:
        sys.exit(f"{options.machine} has no baseline of its own: its figures are to be {SAME_AS[options.machine]}'s")

    header, rows = measure(options.machine)
    write_json(options.out, as_json(header, rows))
    print_tables(header, rows)
    if options.alignment and options.alignment.exists():
        print_alignment(json.loads(options.alignment.read_text()))
    if options.update_baseline:
        update_baseline(header, rows)
        if options.machine == "virt-max":  # the same image, but with cache maintenance
            update_baseline(*measure("virt-a72"))
        if (header["compiler"], header["machine"]) == README_FROM:
            before, _, after = readme_parts()
            README.write_text(before + README_MARKS[0] + readme_table(load_baseline()) + README_MARKS[1] + after)
        print(f"\nthe baseline is now this run: {BASELINE.relative_to(HERE.parent.parent)}")
        return
    different = list(differences(header, rows, load_baseline()))
    if different:
        print("\nnot as the baseline (tests/bench/baseline.json):")
        print("\n".join(f"  {line}" for line in different))


if __name__ == "__main__":
    main()
