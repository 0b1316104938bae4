#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what packing a trace costs on the target: bench-encode.elf under QEMU with -icount.

    encode_test.py MACHINE                      as a test, on a trace that the test makes
    encode_test.py MACHINE FILE.ev13 [HZ]       only measures; prints instructions an event

The target must send exactly the bytes that nopscope-codec-bench makes of the same trace.
From the environment: NOPSCOPE_CODEC_BENCH, NOPSCOPE_BUILD_ROOT.
"""

import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "e2e"), str(HERE.parent / "conformance")]
from qemu import HANG_SECONDS, MACHINES, qemu_command  # noqa: E402
from trace2 import crc32c  # noqa: E402

TRACE_OFFSET = 32 << 20  # firmware/bench/encode.cpp
LINKER = HERE.parents[1] / "linker"


def image_start(board):
    return int(re.search(r"__ram_start = (0x\w+);", (LINKER / f"{board}.ld").read_text())[1], 16)


def program(seed, calls, functions=60):
    """Makes a trace. Each function mostly calls the same others, for similar times."""
    rng = random.Random(seed)
    callees = {f: [rng.randrange(functions) for _ in range(rng.randrange(4))] for f in range(functions)}
    takes = {f: rng.randrange(40, 2000) for f in range(functions)}
    out, clock = [], 0
    stack = []  # (function, remaining callees)
    while len(out) < calls:
        if not stack:
            stack = [(0, list(callees[0]) or [1])]
            out.append((0, 0, clock))
        function, left = stack[-1]
        clock += takes[function] + rng.randrange(2) * 19
        if left and len(stack) < 30:
            callee = left.pop(0) if rng.random() < 0.99 else rng.randrange(functions)
            stack.append((callee, list(callees[callee])))
            out.append((0, callee, clock))
        else:
            stack.pop()
            out.append((1, function, clock))
    return b"".join(struct.pack("<BIQ", *each) for each in out)


def measure(machine, trace, hertz, directory):
    """Returns the image's figures, and the host's bytes of the line with their CRC."""
    records, line = directory / "records", directory / "line"
    subprocess.run([os.environ["NOPSCOPE_CODEC_BENCH"], "--no-bits", "--tick-hz", str(hertz), "--write-records",
                    records, "--write-line", line, trace], check=True, stdout=subprocess.DEVNULL)
    at = image_start(MACHINES[machine][0]) + TRACE_OFFSET
    done = subprocess.run(
        [*qemu_command(machine, "bench-encode", [f"records={records.stat().st_size // 16}"]),
         "-device", f"loader,file={records},addr={at:#x},force-raw=on"], capture_output=True, text=True, errors="replace", timeout=HANG_SECONDS, stdin=subprocess.DEVNULL)
    found = [json.loads(text.removeprefix("@bench ")) for text in done.stdout.replace("\0", "").splitlines()  # of the boot report
             if text.startswith("@bench ")]
    if done.returncode != 0 or len(found) != 1:
        raise AssertionError(f"bench-encode failed on {machine}:\n{done.stdout}{done.stderr}")
    return found[0], line.read_bytes()


class Encode(unittest.TestCase):
    def test_the_target_packs_as_the_host_does_and_no_slower_than_it_should(self):
        with tempfile.TemporaryDirectory() as directory:
            directory = pathlib.Path(directory)
            (directory / "trace").write_bytes(program(1, 100_000))
            figures, line = measure(MACHINE, directory / "trace", 54_000_000, directory)
        self.assertGreaterEqual(figures["per"], 100_000)
        self.assertEqual((figures["bytes"], figures["crc"]), (len(line), crc32c(line)))
        self.assertTrue(figures["counted"])
        each = figures["instructions"] / figures["per"]
        print(f"{MACHINE}: {each:.1f} instructions an event, {len(line) / figures['per']:.3f} bytes")
        self.assertLess(each, 200)
        self.assertGreater(each, 30)


if __name__ == "__main__":
    MACHINE, *REST = sys.argv[1:]
    if not REST:
        unittest.main(argv=sys.argv[:1])
    with tempfile.TemporaryDirectory() as scratch:
        told, sent = measure(MACHINE, REST[0], int(REST[1]) if len(REST) > 1 else 54_000_000, pathlib.Path(scratch))
    same = (told["bytes"], told["crc"]) == (len(sent), crc32c(sent))
    print(f"{MACHINE}, {told['compiler'].split()[0]}: {told['per']} events, "
          f"{told['instructions'] / told['per']:.1f} instructions and {len(sent) / told['per']:.4f} bytes an event; "
          f"{'the same bytes as on the host' if same else 'NOT the bytes of the host'}")
