#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev proof: what shows that nopscope is right, in parts (tests/proofs.toml), on one page.

    proof.py [PART]...         all parts without one
    proof.py --changed [REV]   the parts that the rooms of all changes since REV (origin/main, else HEAD) ask for
    proof.py --table           the table for CONTRIBUTING.md
    proof.py budget            ./dev demo and ./dev test in a fresh clone with empty caches: their CPU seconds beside tests/budget.toml

Builds all images first. The page is build/proof.txt, too. A unit is the compilation of tests/budget/reference.cpp.
Exit status 1: something is not as it must be.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from suite import BOARDS, BUILD, COMPILER_CACHE, PARTS, ROOT, build, ctest, cpu_of_children, measured, pattern_of, reference, say

ORACLES = BUILD / "host/tests/verification/oracle"
ENVIRONMENT = os.environ | COMPILER_CACHE | {
    "NOPSCOPE": str(BUILD / "host/bin/nopscope"), "NOPSCOPE_HOST_BUILD": str(BUILD / "host"), "NOPSCOPE_BUILD_ROOT": str(BUILD),
    "NOPSCOPE_ORACLE": str(ORACLES / "liboracle.so"), "PYTHONDONTWRITEBYTECODE": "1"}
# Of a command's or a test's output, what the page shows: the last lines.
SHOWN_LINES = 4


def last_lines(output, count):
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return ["    " + line[:200] for line in lines[-count:]]


def run_command(command):
    """Returns (passed, lines for the page)."""
    say(f"proof: {command}")
    words = [file for word in shlex.split(command) for file in (sorted(map(str, ROOT.glob(word))) if "*" in word else [word])]
    python = [sys.executable, "-B"] if words[0].endswith(".py") else []
    done = subprocess.run([*python, *words], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    passed = done.returncode == 0
    return passed, [f"{'passed' if passed else 'NOT PASSED'}: {command}", *last_lines(done.stdout, SHOWN_LINES if passed else 20)]


def run_tests(part):
    pattern = pattern_of(part)
    if not pattern:
        return True, []
    preset = PARTS[part].get("build", "host")
    tests = ctest(preset, lambda name: re.search(pattern, name))
    failed = [test for test in tests if not test.passed]
    lines = [f"{len(tests) - len(failed)} of {len(tests)} tests passed: in build/{preset}, those that match {pattern}"]
    for test in tests:
        lines += [f"  {test.name}: {'passed' if test.passed else 'NOT PASSED'} ({test.cpu:.0f} CPU s)"]
        lines += last_lines(test.output, 1 if test.passed else 20)
    return bool(tests) and not failed, lines


def run_part(part):
    preset = PARTS[part].get("build")
    if preset:
        build(preset)
    results = [run_tests(part), *map(run_command, PARTS[part].get("run", []))]
    return all(passed for passed, _ in results), [line for _, lines in results for line in lines]


def budget():
    """Like CI on a new machine, but that its packages are there."""
    with tempfile.TemporaryDirectory(prefix="nopscope-budget-") as directory:
        clone, cache = pathlib.Path(directory) / "nopscope", pathlib.Path(directory) / "cache"
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        environment = {"XDG_CACHE_HOME": str(cache), "CCACHE_DIR": str(cache / "ccache")}
        told = []
        for verb in ("demo", "test"):
            log = BUILD / f"budget-{verb}.log"
            with log.open("w") as out:
                status, seconds = measured([clone / "dev", verb], env=os.environ | environment, stdout=out, stderr=subprocess.STDOUT)
            told.append(f"./dev {verb}: {seconds / 60:.1f} CPU minutes, exit status {status}; all of it: {log.relative_to(ROOT)}")
        printed = log.read_text()
        over = re.findall(r"^over budget .*", printed, re.M)
        return status == 0 and not over, [*told, *over]


def room_table():
    lines = ["| part | what it shows | a change here asks for it |", "|---|---|---|"]
    for part, of in PARTS.items():
        rooms = ", ".join(f"`{room}`" for room in of.get("rooms", [])) or "-"
        lines.append(f"| `{part}` | {of['what']} | {rooms} |")
    return "\n".join(lines)


def changed_parts(since):
    if since is None:
        known = subprocess.run(["git", "rev-parse", "-q", "--verify", "origin/main"], cwd=ROOT, capture_output=True, check=False)
        since = "origin/main" if known.returncode == 0 else "HEAD"
    files = subprocess.run(["git", "diff", "--name-only", since], cwd=ROOT, capture_output=True, text=True, check=False)
    if files.returncode != 0:
        sys.exit(f"proof: git knows no commit {since}")
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [*files.stdout.splitlines(), *new.splitlines()]
    return [part for part, of in PARTS.items()
            if any(path == room or path.startswith(room + "/") for path in paths for room in of.get("rooms", []))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", nargs="?", const="", metavar="REV")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    if arguments.table:
        say(room_table())
        return 0
    unknown = [part for part in arguments.parts if part not in {*PARTS, "budget"}]
    if unknown:
        parser.error(f"no such part: {unknown[0]} ({', '.join(PARTS)}, budget)")
    parts = arguments.parts or list(PARTS)
    if arguments.changed is not None:
        parts = changed_parts(arguments.changed or None)
        say(f"the changes ask for: {', '.join(parts) or 'nothing'}")
    good, page = True, []
    if set(parts) - {"budget"}:
        for board in BOARDS:
            build(board, "all", "all_images")
        build("host")  # its tests look for the images when they are configured
    units = 0
    for part in parts:
        unit, began, before = reference(), time.monotonic(), cpu_of_children()
        passed, lines = budget() if part == "budget" else run_part(part)
        seconds = cpu_of_children() - before
        took = seconds * 2 / (unit + reference())
        units += took
        good &= passed
        page += [f"{part}: {'passed' if passed else 'NOT PASSED'} ({seconds:.0f} CPU s, {took:.0f} units of the budget, "
                 f"{time.monotonic() - began:.0f} s)", *("  " + line for line in lines), ""]
        (BUILD / "proof.txt").write_text("\n".join([*page, f"all: {units:.0f} units"]))
    say("\n".join([*page, f"all: {units:.0f} units"]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
