#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unannounced resets at any moment, in every mode, on one core and on four, over perfect and damaged lines. Whatever a reset cuts off, a
recording must contain no call that the target did not make. docs/proof.md ("Storm") lists the checks.

    reset_storm.py [--resets N] [--seed N] [--only TEXT] [--keep DIRECTORY]

The runs share N resets (40). The emulator resets the machine, so memory keeps its contents.

Exit status 1: a check failed, a recording's sums are not exact, or a perfect line lost something.
"""

import argparse
import collections
import json
import pathlib
import random
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "e2e"), str(HERE.parent / "oracle")]
import machines  # noqa: E402
import truth  # noqa: E402
from line_storm import IMAGES, PARTS, FaultyLine, connected, image_of, start_machine, wait_for  # noqa: E402

MODES = ("lossless", "stream", "flight", "adaptive")
RUNS = [(machine, mode, well) for machine in ("virt-max", "virt-max-smp4") for mode in MODES for well in (True, False)]
# These must be 0 on a perfect line.
NEVER = ("duplicate_frames", "malformed_frames", "unknown_sites", "inconsistent_cores", "frames_without_hello", "other_image_sessions")
MOST_BYTES = 150_000  # on the line between two resets
FLIGHT_SECONDS = 0.5  # in flight mode the line is idle
HANG_SECONDS = 60
NOTHING_RECORDED = 5  # the recorder's exit status


class CountedLine(FaultyLine):
    """Counts the bytes that the target has sent."""

    sent = 0

    def spoilt(self, pending, data, dice):
        self.sent += len(data)
        return super().spoilt(pending, data, dice)


def plugin(elf, directory):
    """The plugin's arguments, as truth.py makes them, but the plugin follows calls on every stack."""
    lines = [line for line in truth.shadow_map(elf) if not line.startswith("stack")]
    option, value = machines.oracle_arguments(elf, directory / "truth.map", directory / "truth", more=lines)
    return [option, f"{value},paths=on"]


def record(directory, run, resets, seed):
    """Returns the recording and the plugin's counts. The recording is None if a damaged line carried no hello, which is no fault."""
    machine, mode, well = run
    image = image_of(machine)
    words, options, *_ = IMAGES[image]
    elf, dice = machines.elf_of(machine, image), random.Random(seed)
    raw = directory / "line.raw"
    qemu = start_machine(directory, machine, [*words, f"mode={mode}"], [*options, *plugin(elf, directory), "-S"])
    recorder = None
    try:
        line = CountedLine(directory / "target", directory / "host", seed)
        line.well = well
        recorder = machines.Recorder(directory, f"unix:{directory / 'host'}", elf, "-q", "--save-line", raw)
        monitor = connected(directory / "monitor")
        wait_for(lambda: line.host is not None, "the recorder's connection")
        monitor.sendall(b"cont\n")
        for _ in range(resets):
            # Many resets come early: the boot is still sending the rest of the last session, or has not begun.
            before, most = line.sent, dice.choice((1, 500, 20_000, MOST_BYTES, MOST_BYTES))
            if most > 1:
                wait_for(lambda: line.sent > before, "a boot's first byte")
            end, until = line.sent + dice.randrange(most), time.monotonic() + (FLIGHT_SECONDS if mode == "flight" else HANG_SECONDS)
            while line.sent < end and time.monotonic() < until:
                time.sleep(0.001)
            monitor.sendall(b"system_reset\n")
        before = line.sent
        wait_for(lambda: line.sent > before + 2000, "the last boot")
        monitor.sendall(b"quit\n")
        qemu.wait(machines.HANG_SECONDS)
        size = -1
        while raw.stat().st_size != size:
            size = raw.stat().st_size
            time.sleep(0.1)
        status, errors = recorder.ended(signal.SIGINT)
    finally:
        qemu.kill()
        qemu.wait()
        if recorder:
            recorder.__exit__()
    nothing = status == NOTHING_RECORDED and not well and not recorder.path.exists()
    assert nothing or status in (0, 3), f"the recorder: exit status {status}: {errors}"  # 3: the target is gone: it cannot be read out
    return None if nothing else recorder.path, elf, json.loads((directory / "truth").read_text())


class Seen:
    """The plugin's calls by function, and its pairs of a callee and a call around it: only the next one (`next`), or any (`around`)."""

    def __init__(self, plugins):
        self.calls = {int(row["address"], 16): row["calls"] for row in plugins["functions"]}
        self.next, self.around = set(), set()
        functions, above = [None], [frozenset()]  # by path: its last call, those around it
        for around, address in plugins["paths"]:
            function = int(address, 16)
            functions.append(function)
            above.append(above[around] | ({functions[around]} - {None}))
            self.next.add((functions[around], function))
            self.around.update((caller, function) for caller in above[-1])


def faults(report, graph, seen, exact):
    """Checks a recording. Returns a sentence for each fault, and the number of invented events."""
    found, invented = [], 0

    def fault(sentence, events):
        nonlocal invented
        found.append(sentence)
        invented += events

    for function in report["functions"]:
        address, calls = int(function["address"], 16), function["calls"]
        if address not in seen.calls:
            fault(f"{address:#x} is no patch site, and has {calls} calls", calls)
        elif calls > seen.calls[address]:
            fault(f"{function['name']} has {calls} calls, and was called {seen.calls[address]} times", calls - seen.calls[address])
    pairs = collections.Counter()
    for node in graph["nodes"]:
        parent = None if node["parent"] is None else graph["nodes"][node["parent"]]
        if node["address"] is None or parent is None or parent["address"] is None:
            continue  # an interrupt, a call behind a gap, or the first call on its stack
        pairs[int(parent["address"], 16), int(node["address"], 16), parent["name"], node["name"]] += node["calls"]
    for (caller, callee, name, called), calls in pairs.items():
        if (caller, callee) not in (seen.next if exact else seen.around):
            fault(f"{name} calls {called} {calls} times, and never did", calls)
    return found, invented, sum(pairs.values())


def check(run, recording, elf, plugins):
    """Makes one run. Prints its faults and returns counts."""
    machine, mode, well = run
    if recording is None:
        return collections.Counter(), []
    report, graph = (machines.as_json(command, recording, "--image", elf) for command in ("report", "graph"))
    found, invented, paired = faults(report, graph, Seen(plugins), exact=well and mode == "lossless" and machine == "virt-max")
    sums = report["integrity"]
    if sums["generated"] != sum(sums[part] for part in PARTS):
        found.append(f"the sums are not exact: {sums}")
    found += [f"{name} is {sums[name]}" for name in (NEVER if well else ("unknown_sites",)) if sums.get(name, 0)]
    if well and mode in ("lossless", "stream") and sums["orphan_returns"]:
        found.append(f"{sums['orphan_returns']} returns are of no call")
        invented += sums["orphan_returns"]
    # The next boot sends again what the reset cut off.
    found += [f"{sums[name]} {name} on a perfect line" for name in ("lost", "lost_frames") if well and sums[name]]
    calls = sum(function["calls"] for function in report["functions"])
    return collections.Counter(
        faults=len(found), invented=invented, calls=calls, pairs=paired, sessions=report["sessions"],
        **{name: sums[name] for name in ("recovered_sessions", "corrupt_frames", "lost", "repeated_records")}), found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--resets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    runs = [run for run in RUNS if arguments.only in shown(run)]
    total, wrong = collections.Counter(), 0
    for number, run in enumerate(runs):
        resets = arguments.resets // len(runs) + (number < arguments.resets % len(runs))
        if resets == 0:
            continue
        with machines.Directory() as directory:
            if arguments.keep:
                directory = arguments.keep / shown(run).replace(" ", "-").replace(",", "")
                directory.mkdir(parents=True)
            recording, elf, plugins = record(directory, run, resets, arguments.seed * 1000 + number)
            counts, found = check(run, recording, elf, plugins)
        total += counts
        total["resets"] += resets
        wrong += bool(found)
        print(f"reset storm: {shown(run)}: {resets} resets, " + ", ".join(f"{name} {counts[name]}" for name in counts), flush=True)
        for sentence in found[:10]:
            print(f"  {sentence}", flush=True)
    print(f"reset storm: {total['resets']} resets, {total['invented']} invented events in {total['calls']} calls and {total['pairs']} "
          f"pairs; {total['recovered_sessions']} sessions recovered, {wrong} of {len(runs)} runs with a fault")
    return 1 if wrong or not total["recovered_sessions"] or not total["pairs"] else 0


def shown(run):
    machine, mode, well = run
    return f"{machine}, {mode}, {'perfect' if well else 'damaged'} line"


if __name__ == "__main__":
    sys.exit(main())
