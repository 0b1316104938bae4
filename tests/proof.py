#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What shows that nopscope is right, on one page: coherence, mutants, truth, storm, detach, memory, console, release. docs/proof.md says
what each means.

    proof.py [--operations N] [PART]...      PART: coherence, mutants, truth, storm, detach, memory, console, release; none: all of them

Needs what ./dev test has built. The page is build/proof.txt, too. Exit status 1: something is not as it must be.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = ROOT / "build/host"
ENVIRONMENT = os.environ | {
    "NOPSCOPE": str(HOST / "bin/nopscope"), "NOPSCOPE_HOST_BUILD": str(HOST), "NOPSCOPE_BUILD_ROOT": str(ROOT / "build"), "PYTHONDONTWRITEBYTECODE": "1",
    "NOPSCOPE_ORACLE": str(HOST / "tests/verification/oracle/liboracle.so"), "NOPSCOPE_TRUTH": str(HOST / "tests/verification/oracle/libtruth.so")}

# Image, machine, cores, words; the storms longer than in ./dev test.
COHERENCE = [
    ("minimal", "virt-a72", 1, []), ("minimal", "virt-max", 1, []),
    *(("demo", machine, cores, ["rounds=1", "baud=0", "cores=1"]) for machine in ("virt-a72", "virt-max") for cores in (1, 4)),
    *(("selftest", machine, cores, ["returns", "contexts", "filters", "profile", "triggers", "events", "captures", patched])
      for machine in ("virt-a72", "virt-max") for cores, patched in ((1, "memory.patched"), (4, "core.patched"))),
    *(("storm", machine, cores, ["operations=15000", f"seed={seed}", "steady=0", f"cores={cores}"])
      for machine, seed in (("virt-a72", 11), ("virt-max", 13)) for cores in (1, 4)),
]
TRUTH = [(machine, image, words) for machine in ("virt-max", "virt-a72", "rpi4")
         for image, words in (("demo", ["rounds=1", "baud=0", "pumps=0", "cores=1"]), ("counts", []))]
TRUTH.append(("virt-max-smp4", "tasks", ["preempt=1", "cores=4", "slice_us=20", "switches=100000", "pump=recorders"]))
SHOWN = ("word_stores", "slot_stores", "cleans", "invalidates", "barriers", "synchronisations", "executions_checked", "slot_reads")


def run(*command):
    shown = " ".join(str(word).removeprefix(f"{ROOT}/") for word in command)
    print(f"proof: {shown}", file=sys.stderr, flush=True)
    python = [sys.executable, "-B"] if str(command[0]).endswith(".py") else []
    done = subprocess.run([*python, *map(str, command)], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, errors="replace", check=False)
    return shown, done


def last_lines(done):
    return "\n".join("    " + line for line in (done.stdout + done.stderr).splitlines()[-12:])


def coherence(_):
    events, faults, good, lines = collections.Counter(), 0, True, []
    for image, machine, cores, words in COHERENCE:
        with tempfile.TemporaryDirectory() as directory:
            out = pathlib.Path(directory) / "out.json"
            shown, done = run("tests/verification/oracle/coherence.py", HOST / "tests/verification/oracle/libcoherence.so", "--elf",
                              ROOT / f"build/virt/firmware/{image}.elf", "--machine", machine, "--cores", cores,
                              *(["--running", 1] if image == "demo" else []), "--seconds", 1800, "--json", out, *words)
            if done.returncode != 0:
                good = False
                lines += [f"  not passed: {shown}", last_lines(done)]
            if out.exists():
                found = json.loads(out.read_text())
                faults += len(found["faults"])
                events.update(found["events"])
    lines.insert(0, f"{len(COHERENCE)} runs on cortex-a72 and max, {faults} faults in " +
                 ", ".join(f"{events[name]:,} {name.replace('_', ' ')}" for name in SHOWN if name in events))
    one = re.sub(r" --json \S+", "", shown)  # which is gone
    return good and faults == 0, [*lines, "again: ./dev proof coherence; the last run: " + one]


def mutants(_):
    shown, done = run("tests/verification/mutation/run.py")
    said = done.stdout.splitlines()
    return done.returncode == 0, [*[line for line in said if line.startswith(("SURVIVED", "mutants:"))],
                                  *([] if done.returncode < 2 else [last_lines(done)]), f"again: {shown}; --only NAME for one"]


def truth(_):
    good, lines = True, []
    for machine, image, words in TRUTH:
        shown, done = run("tests/verification/oracle/truth.py", machine, image, *words, "--format", "json")
        if not done.stdout.startswith("{"):
            good = False
            lines += [f"  not passed: {shown}", last_lines(done)]
            continue
        found = json.loads(done.stdout)
        good &= not found["faults"] and found["unexplained"] == 0
        rows = found["functions"]
        lines.append(f"{image} on {machine}: {len(rows)} functions, {sum(row['calls'] for row in rows):,} calls"
                     f"{', all counts equal' if not found['faults'] else ''}; out of tolerance {found['outside']}, for no known reason "
                     f"{found['unexplained']}")
        lines += ["  " + sentence for sentence in found["faults"]]
        for row in rows[:3]:
            of = " ".join(f"{key} {row['true'][key]} reported {row['reported'][key]}" for key in row["true"])
            cause = (row["cause"] or "-") if row["of_tolerance"] <= 1 or row["explained"] else "no known reason"
            lines.append(f"  {row['of_tolerance']:8.2f} of the tolerance: {row['name']}, {row['calls']} calls, {of}; {cause}")
    shown_third, done = run("ctest", "--test-dir", HOST, "-R", "third_party", "--no-tests=error")
    good &= done.returncode == 0
    lines.append(f"third-party programs: {'passed' if done.returncode == 0 else 'NOT passed'} ({shown_third})")
    return good, [*lines, "again: ./dev proof truth; all functions of one run: tests/verification/oracle/truth.py"]


def storm(operations):
    good, lines = True, []
    steered = max(60, operations // 500)
    for command in (("./dev", "storm", operations, 1), *(("tests/verification/endurance/line_storm.py", machine, steered, 7)
                                                         for machine in ("virt-max", "virt-max-smp4")),
                    ("tests/verification/endurance/reset_storm.py", "--resets", 300, "--seed", 7)):
        shown, done = run(*command)
        good &= done.returncode == 0
        said = (done.stdout + done.stderr).splitlines()
        lines += [line for line in said if line.startswith(("storm:", "line storm:", "reset storm:", "  "))][-6:] if done.returncode == 0 else \
            [f"not passed: {shown}", last_lines(done)]
        lines.append(f"again: {shown}")
    return good, lines


def detach(_):
    """10,000 times detach() beside tasks that are preempted every 20 us and move, on as many cores as the host has processors (two to
    four): else the host stops a core that holds the kernel's lock, and the others only wait. ./dev test has 50 times on four cores."""
    cores = max(2, min(4, os.cpu_count() or 1))
    shown, done = run("tests/target/run_image.py", "--machine", f"virt-max-smp{cores}", "--image", ROOT / "build/virt/firmware/tasks.elf",
                      "--seconds", 7200, "--contains", "done",
                      "preempt=1", f"cores={cores}", "slice_us=20", "switches=1000", "recorder=none", "detach=10000")
    return done.returncode == 0, [f"10000 times on {cores} cores, no task was in a callback" if done.returncode == 0 else last_lines(done),
                                  f"again: {shown}"]


def memory(_):
    """Every command on every recording that claims or holds much, and on the fuzzers' seeds where they are built."""
    seeds = ROOT / "build/host-asan/tests/verification/fuzz/seeds"
    files = [file for part in ("line", "nsc") for file in sorted((seeds / part).glob("*"))]
    shown, done = run("tests/memory/memory_test.py", "--all", *files)
    runs = [line for line in done.stdout.splitlines() if ": status " in line]
    peak = max((int(re.search(r"status -?\d+, (\d+) MB", line)[1]) for line in runs), default=0)
    lines = [shown, f"{len(runs)} runs, {len(files)} seeds of the fuzzers, at most {peak} MB"]
    return done.returncode == 0 and bool(runs), lines + ([] if done.returncode == 0 else [last_lines(done)])


def console(_):
    """A stopped terminal for a minute, at the rate of a line at 12 Mbaud; ./dev test has five seconds of it."""
    shown, done = run("tests/cli/record_console_test.py", "--seconds", 60)
    return done.returncode == 0, [*(done.stdout.splitlines() if done.returncode == 0 else [last_lines(done)]), f"again: {shown}"]


def release(_):
    """The host's packages and bill of materials, built twice from one source archive; ./dev test has the checks before it."""
    shown, done = run("./dev", "release", "--build-only")
    files = (ROOT / "build/release/SHA256SUMS").read_text().splitlines() if done.returncode == 0 else []
    return done.returncode == 0 and len(files) > 2, [*(files or [last_lines(done)]), f"again: {shown}"]


PARTS = {"coherence": coherence, "mutants": mutants, "truth": truth, "storm": storm, "detach": detach, "memory": memory, "console": console, "release": release}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--operations", type=int, default=200_000, help="of the storm")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {unknown[0]} ({', '.join(PARTS)})")
    good, page = True, []
    for part in arguments.parts or PARTS:
        began = time.monotonic()
        passed, lines = PARTS[part](arguments.operations)
        good &= passed
        page += [f"{part}: {'passed' if passed else 'NOT PASSED'} ({time.monotonic() - began:.0f} s)", *("  " + line for line in lines), ""]
    text = "\n".join(page)
    print(text)
    (ROOT / "build/proof.txt").write_text(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
