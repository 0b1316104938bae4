#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a running demo, and runs the browser's tests on it.

    serve_test.py MACHINE CHROMIUM NODE PACKAGES      PACKAGES: where node_modules/ is

The browser's tests start, stop and restart the target themselves. NOPSCOPE_TARGET is its command.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

machine, chromium, node, packages = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
for neighbour in ("../e2e", "export"):
    sys.path.insert(0, str(here.parent / neighbour))
import hostile_names  # noqa: E402  (its directory is known only now)
import machines  # noqa: E402

with machines.Directory() as directory:
    socket = directory / "target"
    target = machines.qemu_command(machine, "demo", ["rounds=100000", "baud=3000000"], icount=False)
    target[target.index("stdio")] = f"unix:{socket},server=on,wait=on"
    run = machines.record(directory, machine, "demo", ["rounds=1", "baud=0"])
    hostile = directory / "hostile.nsc"
    hostile.write_bytes(hostile_names.renamed(run.recording.read_bytes()))
    # Node finds modules from the directory of the test.
    script = shutil.copy(here / "serve_test.mjs", packages)
    done = subprocess.run([node, "--test", script], env=os.environ | {
        "CHROMIUM": chromium, "NOPSCOPE_TARGET": json.dumps(target), "NOPSCOPE_SOCKET": str(socket),
        "NOPSCOPE_IMAGE": str(machines.elf_of(machine, "demo")), "NOPSCOPE_HOSTILE": str(hostile)})
sys.exit(done.returncode)
