#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the host command on a long recording, and uftrace and llvm-xray on the same events.

    host.py [--events 20000000] [--gate]

The events are the demo's under -icount, repeated until there are enough. Seconds and memory are for
all of them, measured once. Instructions an event come from callgrind, from the demo once and three
times. --gate: measures only nopscope's instructions. Exit status 1: one is above its limit.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from qemu import elf_of, qemu_command  # noqa: E402

NOPSCOPE = os.environ["NOPSCOPE"]
CODEC_BENCH = os.environ["NOPSCOPE_CODEC_BENCH"]
DEMO = elf_of("virt-max", "demo")
HERTZ = 1_000_000_000
# Instructions an event, on x86-64 with GCC 12 at -O1, with decoding at -O2.
LIMITS = {"report": 110, "graph": 118, "html": 303, "export --format perfetto": 745}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False, **options)
    if done.returncode != 0:
        sys.exit(f"host.py: {shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done


def demo_events(directory):
    """Returns [(type, function, ns)] of the demo's calls, with ev13's types, and function names."""
    line = "exec:" + shlex.join(qemu_command("virt-max", "demo", ["rounds=1", "mode=lossless", "baud=0"]))
    recording = directory / "demo.nsc"
    run(NOPSCOPE, "record", "--quiet", "--from", line, "--image", DEMO, "-o", recording)
    calls, names = (json.loads(run(NOPSCOPE, "query", recording, sql, "--format", "json").stdout) for sql in (
        "SELECT function, begin_ns, end_ns, depth, how FROM calls ORDER BY id", "SELECT id, name FROM functions"))
    events, stack = [], []
    for call in [*calls, None]:
        while stack and (call is None or stack[-1]["depth"] >= call["depth"]):
            last = stack.pop()
            events.append((1 if last["how"] == "returned" else 2, last["function"], last["end_ns"]))
        if call:
            events.append((0, call["function"], call["begin_ns"]))
            stack.append(call)
    return events, {row["id"]: row["name"] for row in names}


def repeated(events, times):
    first, length = events[0][2], events[-1][2] - events[0][2] + 1000
    for n in range(times):
        for kind, function, at in events:
            yield kind, function, at - first + 1 + n * length


def write(path, head, form, rows):
    pack = struct.Struct(form).pack
    with open(path, "wb") as file:
        file.write(head)
        file.writelines(pack(*row) for row in rows)


class Inputs:
    """The same events in each tool's format."""

    def __init__(self, directory, events, names, times):
        self.events = len(events) * times
        self.recording = directory / f"{times}.nsc"
        self.uftrace = directory / f"{times}.uftrace"
        self.xray = directory / f"{times}.xray"
        ev13, listed = directory / "calls.ev13", directory / "names.txt"
        write(ev13, b"", "<BIQ", repeated(events, times))
        listed.write_text("".join(f"{number} 0 {re.sub(' ', '_', name)}\n" for number, name in names.items()), encoding="utf-8")
        run(CODEC_BENCH, ev13, "--tick-hz", HERTZ, "--names", listed, "--nsc", self.recording)
        ev13.unlink()

    def for_others(self, events, times):
        run(NOPSCOPE, "export", self.recording, "--format", "uftrace", "-o", self.uftrace)
        # XRay's basic log, version 3 (llvm/lib/XRay/Trace.cpp): header, then records of 32 bytes.
        write(self.xray, struct.pack("<HHIQ16x", 3, 0, 3, HERTZ), "<HBBiQII8x",
              ((0, 0, min(kind, 1), function, at, 1, 1) for kind, function, at in repeated(events, times)))
        return self


def commands(inputs, directory, ours_only):
    ours = {what: (NOPSCOPE, what, inputs.recording) for what in ("report", "graph", "replay")} | {
        "html": (NOPSCOPE, "html", inputs.recording, "-o", directory / "x.html"),
        "export --format perfetto": (NOPSCOPE, "export", inputs.recording, "--format", "perfetto", "-o", directory / "x.perfetto")}
    if ours_only:
        return {what: ours[what] for what in LIMITS}
    others = {f"uftrace {what}": ("uftrace", what, "--no-pager", "-d", inputs.uftrace) for what in ("report", "replay", "graph")}
    return ours | others | {"llvm-xray account": ("llvm-xray-14", "account", inputs.xray, "--keep-going")}


def instructions(command, directory):
    done = run("valgrind", "--tool=callgrind", f"--callgrind-out-file={directory / 'callgrind'}", *command)
    return int(re.search(r"refs: +([\d,]+)", done.stderr)[1].replace(",", ""))


def seconds_and_bytes(command):
    """Polls the memory, because wait4() would also count this process's memory at the fork."""
    before, most = time.monotonic(), 0
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            except OSError:
                break
            found = re.search(r"VmHWM:\s+(\d+) kB", status)
            most = max(most, int(found[1]) * 1024 if found else 0)
            time.sleep(0.002)
    if process.returncode != 0:
        sys.exit(f"host.py: {shlex.join(map(str, command))} failed")
    return time.monotonic() - before, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = pathlib.Path(name)
        events, names = demo_events(directory)
        few, many = (Inputs(directory, events, names, times) for times in (1, 3))
        if not options.gate:
            few.for_others(events, 1)
            many.for_others(events, 3)
        first, second = (commands(inputs, directory, options.gate) for inputs in (few, many))
        costs = {what: (instructions(second[what], directory) - instructions(first[what], directory)) / (many.events - few.events)
                 for what in first}
        if options.gate:
            for what, limit in LIMITS.items():
                print(f"{what}: {costs[what]:.1f} instructions an event, at most {limit}")
            return int(any(costs[what] > limit for what, limit in LIMITS.items()))
        times = -(-options.events // len(events))
        all_ = Inputs(directory, events, names, times).for_others(events, times)
        print(f"{all_.events:,} events of {len(names)} functions\n\n| | instructions an event | seconds | MB |\n|---|---|---|---|")
        for what, command in commands(all_, directory, False).items():
            seconds, most = seconds_and_bytes(command)
            tool = "" if what.split()[0] in ("uftrace", "llvm-xray") else "nopscope "
            print(f"| {tool}{what} | {costs[what]:.0f} | {seconds:.1f} | {most / 1e6:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
