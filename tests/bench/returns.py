# SPDX-License-Identifier: Apache-2.0
"""Runs an image under QEMU with the model of a return predictor (oracle/return_stack.cpp), and
counts the returns that the model mispredicts. It is not a measurement.

From the environment: NOPSCOPE_BUILD_ROOT (the boards' builds), NOPSCOPE_RETURN_STACK (the plugin).
"""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "e2e"), str(HERE.parent / "verification/oracle")]
import sites  # noqa: E402
import truth  # noqa: E402
from qemu import HANG_SECONDS, MACHINES, elf_of, qemu_command  # noqa: E402

CHAIN_CALLS = 100  # in a row of the image `chain`


def plugin_map(elf, tracer=truth.tracer_ranges):
    """The plugin's description of an image."""
    image = sites.Image(elf)
    lines = [f"site {word:x} {function:x} {image.ends.get(function, function):x}" for word, function in sites.patch_sites(image)]
    hooks = [name for name in image.symbols if name.endswith("_hook") and f"{name}_end" in image.symbols]  # calls return to them
    lines += [f"hook {image.symbols[name]:x} {image.symbols[name + '_end']:x}" for name in hooks]
    lines += [f"tracer {low:x} {high:x}" for low, high in tracer(elf)]
    for what, name in (("mark", "chain_mark"), ("head", "chain_head")):
        if name in image.symbols:
            lines.append(f"{what} {image.symbols[name]:x}")
    return "\n".join(lines) + "\n"


def run(command, map_text):
    """Runs QEMU's command. Returns the plugin's rows by name and QEMU's output."""
    with tempfile.TemporaryDirectory() as directory:
        map_path, out = pathlib.Path(directory) / "map", pathlib.Path(directory) / "out.json"
        map_path.write_text(map_text)
        done = subprocess.run([*command, "-plugin", f"{os.environ['NOPSCOPE_RETURN_STACK']},map={map_path},out={out}"], capture_output=True,
                              text=True, errors="replace", timeout=HANG_SECONDS, stdin=subprocess.DEVNULL)
        if done.returncode != 0 or not out.exists():
            sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        written = json.loads(out.read_text())
    return {row["name"]: row | {"depths": written["depths"]} for row in written["rows"]}, done.stdout


def run_image(machine, image, *words):
    """Returns the plugin's rows."""
    return run_both(machine, image, *words)[0]


@functools.cache
def run_both(machine, image, *words):
    elf = elf_of(machine, image)
    if not elf.exists():
        sys.exit(f"{elf} is missing: build the image `{image}` for {MACHINES[machine][0]} first")
    return run(qemu_command(machine, image, words), plugin_map(elf))


def chain(machine):
    """Rows by "RECORDER/ANCESTORS", of 100 calls each. The rows of "off" are untraced loops."""
    return run_image(machine, "chain")


def missed(row, whose, depth_index, kind="returns"):
    return row[kind][whose]["missed"][depth_index]


def counts(rows):
    """The counts that the expected file has: for each row and stack, the mispredicted returns that
    a call adds to the same untraced loop, by the code they belong to; and the BRs."""
    out = {}
    for name, row in rows.items():
        recorder, above = name.split("/")
        off = rows[f"off/{above}"]
        if recorder == "off":
            continue
        added = {}
        for kind in ("returns", "branches"):
            for whose in row[kind]:
                difference = [(now - then) / CHAIN_CALLS for now, then in zip(row[kind][whose]["missed"], off[kind][whose]["missed"])]
                if any(difference):
                    added[f"{kind} of {whose}"] = difference
        out[name] = added
    return out
