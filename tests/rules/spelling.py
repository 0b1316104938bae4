#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the spelling of all texts in the tree with codespell.

    spelling.py ROOT [FILE...]      FILE: checks only these; exit status 1 if a word is wrong
"""

import subprocess
import sys
from pathlib import Path

import tree

# Names in the code, patterns, a deliberate error, and words that codespell does not know.
WORDS = ("execut", "fro", "hart", "inforce", "positionof", "reprot", "statics")
NOT_OURS = ("package-lock.json", ".png", ".svg", ".bin", ".nsc")


def texts(root):
    return [name for name in tree.files(root) if not name.endswith(NOT_OURS)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root, *files = sys.argv[1:]
    done = subprocess.run(["codespell", "--ignore-words-list", ",".join(WORDS), "--", *(files or texts(Path(root)))],
                          cwd=root, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr or "no breach", end="" if done.stdout else "\n")
    sys.exit(done.returncode != 0)


if __name__ == "__main__":
    main()
