#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the lines that the unit tests execute, by directory. Coverage must not fall.

    coverage.py BUILD

Exit status 1: a directory is below its floor. This does not see the tests of the firmware's own
code and of code that only runs with a target or a terminal.
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Percent of lines, a point or two below the measurement. Other directories have no floor. Lines that only the compiler
# executes (the bounds in tracer/protocol/hello.hpp) count as not executed.
FLOORS = {
    "host-tools/base": 85, "host-tools/image": 92, "host-tools/line/memory": 85, "host-tools/line/stream": 94,
    "host-tools/recording": 96, "host-tools/calls": 94, "host-tools/figures/function_queries": 97,
    "host-tools/figures/profile": 98, "host-tools/figures/report": 96, "host-tools/figures/timeline": 98, "host-tools/live": 80,
    "host-tools/views/json": 95, "host-tools/views/page": 78, "host-tools/views/serve": 92, "host-tools/views/text": 95, "host-tools/views/top": 75,
    "tracer/arch/arm64": 94, "tracer/control": 97, "tracer/core": 88, "tracer/patching": 98, "tracer/protocol": 96, "tracer/recorders": 72,
    "tracer/stream": 97,
}


def covered(build):
    """{directory: [lines, executed]}"""
    profile = build / "coverage/all.profdata"
    raw = sorted((build / "coverage").glob("*.profraw"))
    if not raw:
        sys.exit(f"coverage.py: no test has run in {build}: ctest --test-dir {build}")
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-o", profile, *raw], check=True)
    programs = [build / "bin" / name for name in ("host_test", "memory_test", "tracer_test", "nopscope")]
    objects = [word for program in programs[1:] for word in ("-object", program)]
    said = subprocess.run(["llvm-cov-19", "export", "-summary-only", "-instr-profile", profile, programs[0], *objects],
                          check=True, capture_output=True, text=True).stdout
    sums = collections.defaultdict(lambda: [0, 0])
    for file in json.loads(said)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if not path.is_relative_to(ROOT) or path.is_relative_to(build) or path.is_relative_to(ROOT / "tests"):
            continue
        directory = str(path.relative_to(ROOT).parent)
        sums[directory][0] += file["summary"]["lines"]["count"]
        sums[directory][1] += file["summary"]["lines"]["covered"]
    return sums


def main():
    sums = covered(pathlib.Path(sys.argv[1]).resolve())
    low = []
    print(f"{'lines':>7} {'executed':>9} {'floor':>6}  directory")
    for directory in sorted(sums):
        lines, executed = sums[directory]
        share, floor = 100 * executed / lines, FLOORS.get(directory)
        print(f"{lines:7} {share:7.1f} % {floor or '':>6}  {directory}")
        if floor and share < floor:
            low.append(f"{directory}: {share:.1f} % of its lines are executed by the unit tests, and {floor} % were")
    low += [f"{directory}: has a floor, and nothing to measure" for directory in FLOORS if directory not in sums]
    total, executed = map(sum, zip(*sums.values()))
    print(f"{total:7} {100 * executed / total:7.1f} %         all")
    for sentence in low:
        print(f"coverage.py: {sentence}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
