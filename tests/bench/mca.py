# SPDX-License-Identifier: Apache-2.0
"""Runs llvm-mca on executed instructions: the cycles of straight-line code in LLVM's scheduling
models. It knows no caches, no predictors and no memory dependencies."""

import json
import os
import re
import shutil
import subprocess
import sys

VERSION = "19"
ROUNDS = 100  # of a path, in a row


def run_tool(name, *arguments, text):
    tool = shutil.which(f"{name}-{VERSION}")
    if tool is None:
        sys.exit(f"{name}-{VERSION} is missing: ./dev setup installs it (package llvm-{VERSION})")
    done = subprocess.run([tool, "-triple=aarch64" if name == "llvm-mc" else "-mtriple=aarch64", *arguments],
                          input=text, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        sys.exit(f"{name}-{VERSION} failed:\n{done.stderr}")
    return done.stdout


def disassemble(words):
    """Returns assembly text by word."""
    distinct = sorted(set(words))
    lines = "\n".join(" ".join(f"0x{byte:02x}" for byte in word.to_bytes(4, "little")) for word in distinct)
    text = run_tool("llvm-mc", "-disassemble", "-mattr=+all", text=lines + "\n")
    said = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(".")]
    if len(said) != len(distinct):
        sys.exit(f"llvm-mc-{VERSION} disassembled {len(said)} of {len(distinct)} words")
    return dict(zip(distinct, said))


def cycles(core, paths, iterations):
    """Returns the cycles of each of `paths` (lists of words), executed `iterations` times in a row."""
    text_of = disassemble([word for path in paths for word in path])
    lines = []
    for number, path in enumerate(paths):
        lines += [f"# LLVM-MCA-BEGIN {number}", *(text_of[word] for word in path), f"# LLVM-MCA-END {number}"]
    # A call counts as a branch here: the path contains the called code.
    said = json.loads(run_tool("llvm-mca", f"-mcpu={core}", "-mattr=+v8.3a", f"-iterations={iterations}", "-json",
                               "-call-latency=1", text="\n".join(lines) + "\n"))
    regions = sorted(said["CodeRegions"], key=lambda region: int(region["Name"]))
    return [region["SummaryView"]["TotalCycles"] for region in regions], said["TargetInfo"]["Resources"]


def model_of(resources):
    """The CPU whose model LLVM used, by its resources' names: CortexA55UnitALU, A57UnitB, N1UnitB."""
    prefix = re.match(r"(?:Cortex)?([A-Z][0-9]+)Unit", resources[0])
    return prefix[1] if prefix else resources[0]
