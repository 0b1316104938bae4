#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spells every tracked text with codespell.

    spelling.py ROOT [FILE...]      FILE: instead of the tracked ones; exit status 1 if a word is wrong
"""

import subprocess
import sys
from pathlib import Path

# Names of the code and of patterns, and words that are right: codespell splits at the case of no letter.
WORDS = ("execut", "fro", "inforce", "positionof", "reprot", "statics")
NOT_OURS = ("package-lock.json", ".png", ".svg", ".bin", ".nsc")


def tracked(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    return [name for name in names.split("\0") if name and not name.endswith(NOT_OURS) and (Path(root) / name).is_file()]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root, *files = sys.argv[1:]
    done = subprocess.run(["codespell", "--ignore-words-list", ",".join(WORDS), "--", *(files or tracked(root))],
                          cwd=root, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr or "no breach", end="" if done.stdout else "\n")
    sys.exit(done.returncode != 0)


if __name__ == "__main__":
    main()
