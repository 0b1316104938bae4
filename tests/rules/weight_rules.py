#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What keeps the tree light: each room has at most the lines that tests/budget.toml allows, tests/moved.toml has at most ten
tests, each with a reason, and CONTRIBUTING.md has the table of proofs.

    weight_rules.py ROOT [--lines]     --lines: only prints the lines of each room

A line counts if it is not blank and its file's name ends as in COUNTED. Prints a sentence for each breach; exit status 1.
"""

import collections
import pathlib
import subprocess
import sys
import tomllib

COUNTED = (".cpp", ".hpp", ".h", ".c", ".S", ".py", ".mjs", ".ts", ".sh", ".toml")
MOST_MOVED = 10


def lines_of(root):
    """{room: lines}, by the first directory of each path."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True).stdout
    count = collections.Counter()
    for name in files.splitlines():
        path = root / name
        if "/" in name and name.endswith(COUNTED) and path.is_file():
            count[name.split("/")[0]] += sum(1 for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip())
    return count


def breaches(root):
    budget = tomllib.loads((root / "tests/budget.toml").read_text())["lines"]
    for room, lines in sorted(lines_of(root).items()):
        if room not in budget:
            yield f"tests/budget.toml: [lines] has no {room}/, which has {lines} lines"
        elif lines > budget[room]:
            yield f"{room}/ has {lines} lines, and tests/budget.toml allows {budget[room]}: remove some, or raise it with a reason in the commit"
    moved = tomllib.loads((root / "tests/moved.toml").read_text())
    for name, reason in moved.items():
        print(f"moved to ./dev proof moved: {name}: {reason}")
        if not reason.strip():
            yield f"tests/moved.toml: {name} has no reason"
    if len(moved) > MOST_MOVED:
        yield f"tests/moved.toml: {len(moved)} tests, at most {MOST_MOVED}: mend one before you move another"
    table = subprocess.run([sys.executable, "-B", root / "tests/proof.py", "--table"], capture_output=True, text=True, check=True).stdout
    if table not in (root / "CONTRIBUTING.md").read_text():
        yield "CONTRIBUTING.md: the table of proofs is not that of tests/proofs.toml; tests/proof.py --table prints it"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if "--lines" in sys.argv:
        for room, lines in sorted(lines_of(root).items()):
            print(f"{lines:7} {room}")
        return 0
    found = list(breaches(root))
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
