#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes recordings with a timeline and code, and runs the browser's tests on their pages.

    details_test.py MACHINE CHROMIUM NODE PACKAGES OBJDUMP      PACKAGES: where node_modules/ is
"""

import os
import pathlib
import shutil
import subprocess
import sys

machine, chromium, node, packages, objdump = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
for neighbour in ("../e2e", "export"):
    sys.path.insert(0, str(here.parent / neighbour))
import hostile_names  # noqa: E402  (their directories are known only now)
import machines  # noqa: E402
import make_recordings  # noqa: E402

with machines.Directory() as directory:
    made = {}
    for name, words in (("demo", ["samples=1000", "rounds=1", "baud=0", "interrupts=1"]), ("tasks", [])):
        (directory / name).mkdir()
        run = machines.record(directory / name, machine, name, words)
        made[name] = run.recording
        if name == "demo":
            elf = run.elf
    whole = made["demo"].read_bytes()
    for name, bytes_ in (("gaps", make_recordings.with_blocks(whole, (2, 5))), ("hostile", hostile_names.renamed(whole))):
        made[name] = directory / f"{name}.nsc"
        made[name].write_bytes(bytes_)
    # Node finds modules from the directory of the test.
    script = shutil.copy(here / "details_test.mjs", packages)
    done = subprocess.run([node, "--test", script], env=os.environ | {
        "CHROMIUM": chromium, "OBJDUMP": objdump, "NOPSCOPE_IMAGE": str(elf),
        "NOPSCOPE_SOURCE": str(here.parents[2]),
        **{f"NOPSCOPE_{name.upper()}": str(path) for name, path in made.items()}})
sys.exit(done.returncode)
