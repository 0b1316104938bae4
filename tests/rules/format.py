#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C and C++ are formatted as clang-format 14 does it with .clang-format.

    format.py ROOT            one line for each file that is not; exit status 1 if there is any
    format.py ROOT --fix      formats them

Headers of assembly macros say "clang-format off".
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import tree

CLANG_FORMAT = "clang-format-14"
SUFFIXES = (".c", ".h", ".cpp", ".hpp")


def breaches(root, files):
    """Yields 'PATH:LINE: what is wrong' for the first place of every file."""
    done = subprocess.run([CLANG_FORMAT, "--dry-run", *files], cwd=root, capture_output=True, text=True, check=True)
    seen = set()
    for file, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be clang-formatted", done.stderr, re.MULTILINE):
        if file not in seen:
            seen.add(file)
            yield f"{file}:{line}: not formatted; tests/rules/format.py . --fix formats it"


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--fix"]):
        sys.exit(__doc__)
    if shutil.which(CLANG_FORMAT) is None:
        sys.exit(f"{CLANG_FORMAT} is not installed: it is in cmake/packages.txt, ./dev setup installs it")
    root = Path(sys.argv[1])
    files = [name for name in tree.files(root) if name.endswith(SUFFIXES)]
    if sys.argv[2:]:
        subprocess.run([CLANG_FORMAT, "-i", *files], cwd=root, check=True)
    tree.tell(breaches(root, files))


if __name__ == "__main__":
    main()
