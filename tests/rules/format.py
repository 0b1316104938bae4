#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that added C and C++ lines have clang-format's format. It ignores older lines.

    format.py [COMMIT]      the staged changes, or those since COMMIT; exit status 1: prints a diff
"""

import difflib
import re
import subprocess
import sys

CLANG_FORMAT = "clang-format-19"


def added_lines(diff):
    """Returns {file: [(first, last)]} from a diff without context."""
    found, file = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = line[6:] if line.startswith("+++ b/") else None
        elif (at := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line)) and file:
            first, count = int(at[1]), int(at[2] or 1)
            if count:
                found.setdefault(file, []).append((first, first + count - 1))
    return found


def main():
    since = sys.argv[1:] or ["--cached"]
    root = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
    diff = subprocess.run(["git", "diff", "--no-color", "--no-ext-diff", "-U0", *since, "--", "*.c", "*.h", "*.cpp", "*.hpp"],
                          cwd=root, capture_output=True, text=True, check=True).stdout
    wrong = False
    for file, ranges in added_lines(diff).items():
        lines = [f"--lines={first}:{last}" for first, last in ranges]
        # Reads the staged version, not the one in the tree.
        source = subprocess.run(["git", "show", f":{file}"] if since == ["--cached"] else ["cat", file], cwd=root, capture_output=True, check=True)
        made = subprocess.run([CLANG_FORMAT, *lines, f"--assume-filename={file}"], cwd=root, input=source.stdout, capture_output=True,
                              check=True).stdout
        if made != source.stdout:
            wrong = True
            sys.stdout.writelines(difflib.unified_diff(source.stdout.decode().splitlines(True), made.decode().splitlines(True),
                                                       file, f"{file}, formatted", n=1))
    sys.exit(wrong)


if __name__ == "__main__":
    main()
