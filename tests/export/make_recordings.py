#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recordings that every export is tried on, into a directory.

    make_recordings.py DIRECTORY

torture   calls of all kinds, some left by longjmp, from an image under QEMU
tasks     several contexts of a core, with marks
samples   samples alone, from the demo
stream, contexts, captured, profile   the golden lines: gaps, a reset, several cores, values, counters
hostile   torture's records under the names of hostile_names.py
pauses    calls that are seconds apart, by a clock whose tick is no whole number of nanoseconds
gaps      the demo's, of which most blocks of records are missing
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
import machines  # noqa: E402
import hostile_names  # noqa: E402

IMAGES = {"torture": ("torture", ["seed=7"]), "tasks": ("tasks", []),
          "samples": ("demo", ["rounds=1", "baud=0", "samples=20000", "recorder=none", "interrupts=1"]),
          "gaps": ("demo", ["rounds=1", "baud=0", "interrupts=1"])}
TRACE = 0x45435254
GOLDEN = ("stream", "contexts", "captured", "profile")


def main(directory):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name, (image, words) in IMAGES.items():
        with machines.Directory() as there:
            run = machines.record(there, "virt-max", image, words)
            if run.status != 0:
                raise SystemExit(f"{image}: {run.errors}")
            shutil.copy(run.recording, directory / f"{name}.nsc")
    gaps = directory / "gaps.nsc"
    gaps.write_bytes(with_holes(gaps.read_bytes()))
    for name in GOLDEN:
        subprocess.run([machines.NOPSCOPE, "record", "-q", "--from", f"file:{HERE.parent / 'golden' / name}.bin",
                        "-o", directory / f"{name}.nsc"], check=True)
    calls = directory / "pauses.ev13"
    calls.write_bytes(with_pauses())
    subprocess.run([os.environ["NOPSCOPE_REPORT_BENCH"], calls, "--nsc", directory / "pauses.nsc"], check=True,
                   stdout=subprocess.DEVNULL)
    torture = (directory / "torture.nsc").read_bytes()
    (directory / "hostile.nsc").write_bytes(hostile_names.renamed(torture))
    machines.check_times(*directory.glob("*.nsc"))


def with_pauses():
    """Calls that are seconds apart: what has few bits for a time must say so."""
    now, out = 1, b""
    for length in (0, 100, 2 ** 27 - 1, 2 ** 27, 2 ** 27 + 1, 2 ** 32 + 7, 10 ** 10, 1, 2 ** 28 + 3):
        for kind, function in ((0, 1), (0, 2), (1, 2), (1, 1)):
            now += length
            out += struct.pack("<BIQ", kind, function, now)
    return out


def with_holes(recording):
    """With two of its blocks of records: small ones."""
    kept, number = bytearray(recording[:hostile_names.FILE_HEADER]), 0
    for kind, chunk in hostile_names.chunks(recording):
        number += kind == TRACE
        if kind != TRACE or number in (2, 5):
            kept += chunk
    return bytes(kept)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
