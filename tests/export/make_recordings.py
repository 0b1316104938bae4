#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recordings that every export is tried on, into a directory.

    make_recordings.py DIRECTORY

torture   calls of all kinds, some left by longjmp, from an image under QEMU
tasks     several contexts of a core, with marks
samples   samples alone, from the demo
stream, contexts, captured, profile   the golden lines: gaps, a reset, several cores, values, counters
hostile   torture's records under the names of hostile_names.py
gaps      the demo's, of which most blocks of records are missing
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
import machines  # noqa: E402
import hostile_names  # noqa: E402

IMAGES = {"torture": ("torture", ["seed=7"]), "tasks": ("tasks", []),
          "samples": ("demo", ["rounds=1", "baud=0", "samples=20000", "recorder=none"]),
          "gaps": ("demo", ["rounds=1", "baud=0"])}
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
    torture = (directory / "torture.nsc").read_bytes()
    (directory / "hostile.nsc").write_bytes(hostile_names.renamed(torture))


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
