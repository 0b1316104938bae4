# SPDX-License-Identifier: Apache-2.0
"""The formats that `nopscope export` has, as its help lists them. NOPSCOPE: the command."""

import os
import re
import subprocess

HELP = subprocess.run([os.environ["NOPSCOPE"], "export", "--help"], capture_output=True, text=True, check=True).stdout
WHAT = dict(re.findall(r"^  (\S+) +(\w.*)$", HELP.split("Formats:\n")[1], re.MULTILINE))
DIRECTORIES = tuple(name for name, what in WHAT.items() if re.search(r"\bdirectory\b", what))
FILES = tuple(name for name in WHAT if name not in DIRECTORIES)
