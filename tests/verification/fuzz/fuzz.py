#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all fuzzers for some minutes in total, as many at a time as there are cores.

    fuzz.py BUILD MINUTES

BUILD: the sanitized build. BUILD/tests/verification/fuzz/found_NAME/ keeps found inputs for the next
run. Exit 1: an input crashes, hangs or breaks a promise. It is kept, with a command to repeat it.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def memory_limits(directory):
    """The limits of the tests, whose CMakeLists.txt gives the reasons. They come from ctest's file."""
    return sorted(set(re.findall(r"-(?:rss|malloc)_limit_mb=\d+", (directory / "CTestTestfile.cmake").read_text())))


def fuzz(program, directory, seconds):
    """Returns a list of what is known of the fuzzer, and the error or None."""
    name = program.name.removeprefix("fuzz_")
    found, seeds, wrong = directory / f"found_{name}", directory / "seeds" / name, directory / "wrong"
    found.mkdir(exist_ok=True)
    wrong.mkdir(exist_ok=True)
    command = [program, f"-max_total_time={seconds}", "-timeout=20", *memory_limits(directory), "-max_len=8192",
               "-print_final_stats=1", f"-artifact_prefix={wrong}/{name}-", found, seeds]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
    counters = re.search(r"Loaded 1 modules +\((\d+) inline 8-bit counters\)", done.stderr)
    last = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)/\S+", done.stderr)
    inputs = re.search(r"stat::number_of_executed_units: +(\d+)", done.stderr)
    row = [name, inputs[1] if inputs else "?", last[-1][0] if last else "?", counters[1] if counters else "?",
           last[-1][2] if last else "?"]
    if done.returncode == 0:
        return row, None
    artifact = re.search(r"Test unit written to (\S+)", done.stderr)
    said = "\n".join(done.stderr.splitlines()[-40:])
    return row, f"{said}\nfuzz_{name}: again with: {program} {artifact[1] if artifact else ''}"


def main():
    build, minutes = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])
    directory = build / "tests/verification/fuzz"
    subprocess.run([build / "bin/make_seeds", directory / "seeds"], check=True)
    programs = sorted((build / "bin").glob("fuzz_*"))
    at_once = os.cpu_count() or 1
    seconds = max(1, round(minutes * 60 * at_once / len(programs)))
    print(f"{len(programs)} fuzzers, {seconds} s each, {at_once} at a time", flush=True)
    print(f"{'fuzzer':<10}{'inputs':>12}{'edges':>9}{'of':>9}{'kept':>8}")
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for row, fault in pool.map(lambda one: fuzz(one, directory, seconds), programs):
            print(f"{row[0]:<10}{row[1]:>12}{row[2]:>9}{row[3]:>9}{row[4]:>8}{'  found something' if fault else ''}", flush=True)
            if fault:
                wrong.append(fault)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
