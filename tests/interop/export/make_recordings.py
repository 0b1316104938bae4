#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a part of the recordings for the tests of all exports, in a directory.

    make_recordings.py DIRECTORY PART      PART: demo, kernels, others

torture   calls of all kinds, some left by longjmp, from an image under QEMU
tasks     several contexts of a core, with marks
cores     two cores
kernel, kernel-1   a preemptive kernel's named tasks, on four cores and on one
counted   events of the PMU, counted for each call
damaged   the demo's line, of which bytes are flipped and missing
samples   samples alone, from the demo
stream, contexts, captured, profile   the golden lines: gaps, a reset, several cores, values, counters
hostile   torture's records under the names of hostile_names.py
demo      the demo's first calls
begin     fewer of them, for what compares all formats with all
gaps      the demo's, of which most blocks of records are missing
pauses    calls that are seconds apart, by a clock whose tick is no whole number of nanoseconds
equal     calls that begin and end at one time
deep      calls inside each other, deeper than Perfetto goes on one track
torture-54, tasks-54, tasks-62   the same records by a clock of 54 MHz, and of 62.5 MHz
"""

import itertools
import os
import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "e2e"))
import machines  # noqa: E402
import hostile_names  # noqa: E402

# By part: how QEMU makes recordings.
IMAGES = {"demo": {"samples": ("virt-max", "demo", ["rounds=1", "baud=0", "samples=20000", "recorder=none", "interrupts=1"]),
                   "gaps": ("virt-max", "demo", ["rounds=1", "baud=0", "interrupts=1"])},
          "kernels": {"kernel": ("virt-max-smp4", "tasks", ["preempt=1", "cores=4", "slice_us=20", "switches=4000", "pump=tick"]),
                      "kernel-1": ("virt-max", "tasks", ["preempt=1", "cores=1", "slice_us=20", "switches=10000", "pump=recorders"])},
          "others": {"torture": ("virt-max", "torture", ["seed=7"]), "tasks": ("virt-max", "tasks", []),
                     "counted": ("virt-max", "events", ["events=0+17"]), "cores": ("virt-max-smp2", "events", ["cores"])}}
GOLDEN = ("stream", "contexts", "captured", "profile")


def main(directory, part):
    directory.mkdir(parents=True, exist_ok=True)

    def path(name):
        return directory / f"{name}.nsc"

    made = []
    for name, (machine, image, words) in IMAGES[part].items():
        with machines.Directory() as there:
            # Cores record at the same time only if each core is a thread of the host.
            run = machines.record(there, machine, image, words, icount="smp" not in machine)
            if run.status != 0:
                raise SystemExit(f"{image}: {run.errors}")
            if name != "gaps":
                shutil.copy(run.recording, path(name))
                continue
            # A recorder that waits for QEMU makes smaller blocks on a busy host. One that reads a file fills them.
            record_line(run, run.line, path(name))
            record_line(run, damaged(run.line), path("damaged"))
    if part == "demo":
        whole = path("gaps").read_bytes()
        for name, blocks in (("demo", range(1, 5)), ("begin", (1,)), ("gaps", (2, 5))):
            path(name).write_bytes(with_blocks(whole, blocks))
        made = ["damaged", "demo", "begin", "gaps"]
    elif part == "others":
        made = make_others(path)
    machines.check_times(*map(path, made))


def make_others(path):
    for name in GOLDEN:
        subprocess.run([machines.NOPSCOPE, "record", "-q", "--from", f"file:{HERE.parents[1] / 'conformance' / name}.bin",
                        "-o", path(name)], check=True)
    for name, events in (("pauses", with_pauses()), ("equal", at_one_time()), ("deep", deep())):
        calls = path(name).with_suffix(".ev13")
        calls.write_bytes(b"".join(struct.pack("<BIQ", *event) for event in events))
        subprocess.run([os.environ["NOPSCOPE_CODEC_BENCH"], calls, "--nsc", path(name)], check=True, stdout=subprocess.DEVNULL)
    clocks = {"torture-54": 54_000_000, "tasks-54": 54_000_000, "tasks-62": 62_500_000}
    for name, hertz in clocks.items():
        path(name).write_bytes(by_clock(path(name[:-3]).read_bytes(), hertz))
    path("hostile").write_bytes(hostile_names.renamed(path("torture").read_bytes()))
    return [*GOLDEN, "pauses", "equal", "deep", *clocks, "hostile"]


def record_line(run, line, to):
    raw = run.recording.with_suffix(".cut")
    raw.write_bytes(line)
    subprocess.run([machines.NOPSCOPE, "record", "-q", "--from", f"file:{raw}", "--image", run.elf, "-o", to], check=True)


def damaged(line):
    """Returns a sixth of the line with a flipped byte, and another sixth from the middle, which a key frame follows."""
    half, part = len(line) // 2, len(line) // 6
    out = bytearray(line[:part] + line[half:half + part])
    out[part // 2] ^= 0x10
    return bytes(out)


def with_pauses():
    """Calls that are seconds apart: a format with few bits for a time must mark them."""
    now, out = 1, []
    for length in (0, 100, 2 ** 27 - 1, 2 ** 27, 2 ** 27 + 1, 2 ** 32 + 7, 10 ** 10, 1, 2 ** 28 + 3):
        for kind, function in ((0, 1), (0, 2), (1, 2), (1, 1)):
            now += length
            out.append((kind, function, now))
    return out


def at_one_time():
    """For readers that sort by time: in each round, some calls begin, end, or do both at the same time."""
    out = []
    for base in range(1000, 200_000, 2000):
        out += [(0, 1, base), (0, 2, base), (0, 3, base), (1, 3, base), (1, 2, base), (0, 4, base), (1, 4, base)]
        out += [(0, 2, base + 500), (0, 3, base + 700), (1, 3, base + 900), (1, 2, base + 900), (0, 3, base + 900)]
        out += [(1, 3, base + 1000), (0, 3, base + 1000), (1, 3, base + 1300), (1, 1, base + 1300)]
    return out


def deep():
    """Three series of nested calls. The last one has calls around a multiple of 512."""
    out, now = [], 1000
    for depth in (600, 1500, 1025):
        for kind, functions in ((0, range(depth)), (1, reversed(range(depth)))):
            for function in functions:
                now += 100
                out.append((kind, function % 700, now))
                if kind == 0 and function % 512 == 511:
                    out += [(0, 800, now), (1, 800, now + 50)] + [(0, 801, now + 50), (1, 801, now + 80)]
    return out


def by_clock(recording, hertz):
    """Changes the clock rate in the hellos (docs/trace-format.md). The records' ticks stay."""
    before, after = (struct.pack("<Q", rate) for rate in (10 ** 9, hertz))

    def change(kind, payload):
        assert kind != "SESS" or payload.count(before) == 1
        return payload.replace(before, after) if kind == "SESS" else payload
    return hostile_names.changed(recording, change)


def with_blocks(recording, wanted):
    """Keeps only the wanted blocks of records."""
    number = itertools.count(1)
    return hostile_names.changed(recording, lambda kind, payload: payload if kind != "TRCE" or next(number) in wanted else None)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
