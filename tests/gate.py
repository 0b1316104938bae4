#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev test: builds all and runs each test once, but those of ./dev proof (tests/proofs.toml).

    gate.py [--quick] [--board BOARD]

A test that fails runs once more, alone, at the end. What passes then is named in the last lines and in
build/second-runs.txt, and does not fail the run. What a test made and printed when it failed is in build/failed/NAME.
The last lines compare the CPU seconds of each part with tests/budget.toml. Exit status 1: a test failed. 3: no build.
"""

import argparse
import collections
import re
import shutil
import sys

from suite import BOARDS, BUDGET, BUILD, MOVED, ROOT, build, ctest, is_proof, reference, say

# A second run excuses none of these: they do not come by chance.
NEVER_EXCUSED = {
    "a sanitizer's report": r"ERROR: \w+Sanitizer|SUMMARY: \w+Sanitizer|: runtime error: ",
    "a panic of the target": r"nopscope: panic",
    "an account that does not add up": r"integrity: .*(?:inconsistent_cores|malformed_frames|orphan_returns|unknown_sites) [1-9]",
}
# Their tests have the same input each time.
SAME_EACH_TIME = {"unit", "rules", "conformance"}
QUICK = r"^rules\.(?!image|errata|newlib|deferral)|^e2e\.oracle\.demo\.graph\.virt-max"


def never_excused(test):
    for what, pattern in NEVER_EXCUSED.items():
        if re.search(pattern, test.output):
            return what
    return "its input is the same each time" if test.group in SAME_EACH_TIME else None


def run_again(failed):
    """Returns the names of those that pass now."""
    passed = []
    for preset, test in failed:
        why_not = never_excused(test)
        if why_not:
            say(f"{test.name} does not run again: {why_not}")
            continue
        say(f"once more, alone: {test.name}")
        # Its fixtures are there.
        again = ctest(preset, test.name.__eq__, "-FA", ".*", jobs=1)
        if again and all(each.passed for each in again):
            passed.append(test.name)
    (BUILD / "second-runs.txt").write_text("".join(f"{name}\n" for name in passed))
    return passed


def table(parts, tests, unit):
    """What the run took, beside the budget. Returns the parts that are over it by more than a quarter."""
    groups = collections.Counter()
    for test in tests:
        groups[f"tests: {test.group}"] += test.cpu
    took = {**parts, **dict(sorted(groups.items()))}
    took["all"] = sum(took.values())
    over = []
    say(f"\nCPU seconds (one unit of the budget: {unit:.2f})")
    for part, seconds in took.items():
        budget = BUDGET["units"].get(part)
        shown = f"{budget * unit:8.0f}" if budget else "       -"
        say(f"{seconds:8.0f} of {shown}  {part}")
        if budget and seconds > 1.25 * budget * unit:
            over.append(f"{part}: {seconds:.0f} s of {budget * unit:.0f} s")
    say("the ten longest tests:")
    for test in sorted(tests, key=lambda each: -each.cpu)[:10]:
        say(f"{test.cpu:8.1f}  {test.name}")
    return over


def is_selected(name, arguments):
    """Of the tests of build/host."""
    board = arguments.board
    if is_proof(name) or (arguments.quick and not re.search(QUICK, name)):
        return False
    if board == "virt":
        return not any(other in name for other in BOARDS if other != "virt")
    return board is None or board in name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--board")
    arguments = parser.parse_args()
    boards = BOARDS if not arguments.board else [arguments.board]
    if arguments.board == "rpi4":  # its tests include those of rpi4-mini-uart
        boards.append("rpi4-mini-uart")
    unit = reference()
    parts = {"build host": build("host", "nopscope")}
    # Boards before the rest of the host: its tests look for their images when they are configured.
    for board in ["virt"] if arguments.quick else boards:
        parts[f"build {board}"] = build(board, *(["demo"] if arguments.quick else []))
    parts["build host's tests"] = build("host")
    parts["build host-asan"] = build("host-asan")
    runs = [("host-asan", test) for test in ctest("host-asan", lambda _: True)]
    runs += [("host", test) for test in ctest("host", lambda name: is_selected(name, arguments))]
    tests = [test for _, test in runs]
    failed = [run for run in runs if not run[1].passed]
    for test in tests:
        if test.passed:  # where a test expects that its command fails, launch.py keeps what it made
            shutil.rmtree(BUILD / "failed" / test.name, ignore_errors=True)
    excused = run_again(failed)
    over = table(parts, tests, unit)
    wrong = [test.name for _, test in failed if test.name not in excused]
    say()
    for name in MOVED:
        say(f"not run, in ./dev proof moved: {name}")
    for sentence in over:
        say(f"over budget by more than a quarter: {sentence}")
    if excused:
        say(f"passed on a second run: {', '.join(excused)} (also in build/second-runs.txt)")
    for name in wrong:
        say(f"FAILED: {name}; what it made and printed: build/failed/{name}/")
    say(f"{len(tests) - len(failed)} of {len(tests)} tests passed" + (f", {len(excused)} more on a second run" if excused else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
