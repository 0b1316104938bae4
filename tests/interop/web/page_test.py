#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the demo with samples, and runs the browser's tests on its page.

    page_test.py MACHINE CHROMIUM NODE PACKAGES      PACKAGES: where node_modules/ is
"""

import os
import pathlib
import shutil
import subprocess
import sys

machine, chromium, node, packages = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parents[1] / "e2e"))
import machines  # noqa: E402  (its directory is known only now)

with machines.Directory() as directory:
    run = machines.record(directory, machine, "demo", ["samples=1000", "rounds=1", "baud=0", "interrupts=1"])
    # Node finds modules from the directory of the test.
    script = shutil.copy(here / "page_test.mjs", packages)
    done = subprocess.run([node, "--test", script],
                          env=os.environ | {"NOPSCOPE_RECORDING": str(run.recording), "CHROMIUM": chromium})
sys.exit(done.returncode)
