#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy, with .clang-tidy's checks, on all compiled sources. Any finding fails.

    tidy.py [--root DIRECTORY] BUILD...

BUILD has CMake's compile_commands.json. Each source below DIRECTORY (default: this tree) is checked
once, with the first BUILD's command for it, but without GCC's options that clang does not know.
Exit status 1: findings, which are printed. 2: it could not run; one sentence says why.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("firmware", "hal", "host-tools", "tests", "tracer")
LEFT_OUT = {"ccache", "-Werror", "-fno-ipa-ra", "-fno-tree-loop-distribute-patterns"}
NOT_FOR_CLANG = {"tests/firmware/counts/functions.cpp"}  # __builtin_longjmp
# Directories of intrinsics, which differ between compilers.
GCC_HEADERS = r"/.*/gcc[^/]*/(?:aarch64|riscv64)[^/]*/[0-9.]+/include"


def fail(sentence):
    print(f"tidy: {sentence}", file=sys.stderr)
    sys.exit(2)


def tool(name):
    return shutil.which(name) or fail(f"{name} is not there: ./dev setup installs it")


def commands(root, builds):
    """Returns one entry of a compilation database for each source, for clang."""
    done = subprocess.run([tool("clang-19"), "-print-resource-dir"], capture_output=True, text=True, check=True)
    clang_headers = done.stdout.strip() + "/include"
    ours = [root / room for room in ROOMS]
    found = {}
    for build in builds:
        database = build / "compile_commands.json"
        if not database.is_file():
            fail(f"{database} is not there: build it first")
        for entry in json.loads(database.read_text()):
            source = pathlib.Path(entry["file"])
            if source.suffix != ".cpp" or not any(source.is_relative_to(room) for room in ours):
                continue
            if str(source.relative_to(root)) in NOT_FOR_CLANG:
                continue
            words = [clang_headers if re.fullmatch(GCC_HEADERS, word) else word
                     for word in shlex.split(entry["command"]) if word not in LEFT_OUT]
            found.setdefault(source, entry | {"command": shlex.join([*words, "-Wno-everything"])})
    return found or fail("no source was found")


def look_at(database, source):
    done = subprocess.run([tool("clang-tidy-19"), "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
                           "--warnings-as-errors=*", "-p", database, source], capture_output=True, text=True, check=False)
    return source, done.returncode, done.stdout or done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("builds", nargs="+", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    options = parser.parse_args()
    found = commands(options.root, options.builds)
    wrong = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        (pathlib.Path(database) / "compile_commands.json").write_text(json.dumps(list(found.values())))
        runs = [pool.submit(look_at, database, source) for source in found]
        for number, run in enumerate(concurrent.futures.as_completed(runs), 1):
            source, status, findings = run.result()
            if sys.stderr.isatty():
                print(f"\r\033[Ktidy: {number} of {len(runs)}", end="\n" if number == len(runs) else "", file=sys.stderr)
            if status != 0:
                wrong += 1
                print(f"{source.relative_to(options.root)}:\n{findings}", flush=True)
    print(f"tidy: {len(found)} sources, {wrong} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
