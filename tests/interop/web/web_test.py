#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the browser's tests in NAME_test.mjs. Makes what they need: recordings, or the command of a target.

    web_test.py NAME[.PART] CHROMIUM NODE PACKAGES OBJDUMP      PACKAGES: where node_modules/ is
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "e2e"), str(HERE.parent / "export")]
import hostile_names  # noqa: E402
import machines  # noqa: E402
import make_recordings  # noqa: E402

MACHINE = "virt-max"


def record(directory):
    return machines.record(directory, MACHINE, "demo", ["samples=1000", "rounds=1", "baud=0", "interrupts=1"])


def page(directory):
    return {"NOPSCOPE_RECORDING": record(directory).recording}


def details(directory):
    (directory / "tasks").mkdir()
    demo, tasks = record(directory), machines.record(directory / "tasks", MACHINE, "tasks")
    gaps, hostile = directory / "gaps.nsc", directory / "hostile.nsc"
    gaps.write_bytes(make_recordings.with_blocks(demo.recording.read_bytes(), (2, 5)))
    hostile.write_bytes(hostile_names.renamed(demo.recording.read_bytes()))
    return {"NOPSCOPE_IMAGE": demo.elf, "NOPSCOPE_SOURCE": HERE.parents[2], "NOPSCOPE_DEMO": demo.recording,
            "NOPSCOPE_TASKS": tasks.recording, "NOPSCOPE_GAPS": gaps, "NOPSCOPE_HOSTILE": hostile}


def timeline(directory):
    (directory / "kernel").mkdir()
    kernel = machines.record(directory / "kernel", MACHINE, "tasks", ["preempt=1", "slice_us=20", "switches=10000"])
    return details(directory) | {"NOPSCOPE_KERNEL": kernel.recording}


def serve(directory):
    """The tests start, stop and restart the target themselves."""
    socket = directory / "target"
    target = machines.endless_demo(MACHINE, serial=f"unix:{socket},server=on,wait=on")
    return {"NOPSCOPE_TARGET": json.dumps(target), "NOPSCOPE_SOCKET": socket, "NOPSCOPE_IMAGE": machines.elf_of(MACHINE, "demo")}


NEEDS = {"page": page, "details.code": details, "details.timeline": timeline, "serve": serve}


def main():
    test, chromium, node, packages, objdump = sys.argv[1:]
    name, _, part = test.partition(".")
    with machines.Directory() as directory:
        needs = NEEDS.get(test, NEEDS.get(name, lambda _: {}))(directory)
        # Node finds modules from the directory of the test.
        (directory / "node_modules").symlink_to(pathlib.Path(packages) / "node_modules")
        for script in ("browser.mjs", f"{name}_test.mjs"):
            shutil.copy(HERE / script, directory)
        return subprocess.run([node, "--test", f"{name}_test.mjs"], cwd=directory, env=os.environ | {
            "CHROMIUM": chromium, "PART": part, "OBJDUMP": objdump, **{key: str(value) for key, value in needs.items()}}).returncode


sys.exit(main())
