#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an image under the coherence oracle (docs/proof.md).

    coherence.py PLUGIN --elf IMAGE.elf [--machine virt-a72] [--cores N] [--threads] [--json FILE]
                 [--running N] [--at-least EVENT=N]... [--expect KIND]... [--seconds N] [WORD]...

PLUGIN: libcoherence.so. WORDs: the image's command line. Cores run one after another, repeatably (-icount). With --threads each has its own
thread. Exit status 0: no fault, and at least as many events as --at-least says. 1: faults, each reported in a sentence. With --expect: the
kinds of fault are not exactly these. 2: the run failed, the image failed, or there were too few events.
"""

import argparse
import bisect
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "e2e"))
import coherence_image  # noqa: E402
from qemu import qemu_command  # noqa: E402

SHOWN = 20


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin", type=pathlib.Path)
    parser.add_argument("--elf", type=pathlib.Path, required=True)
    parser.add_argument("--machine", choices=("virt-a72", "virt-max"), default="virt-a72")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--running", type=int, help="cores that the image starts, where not all of them")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, help="what the plugin wrote, with symbols")
    parser.add_argument("--at-least", action="append", default=[], metavar="EVENT=N")
    parser.add_argument("--expect", action="append", default=[], metavar="KIND")
    parser.add_argument("--seconds", type=int, default=240, help="a detector of hangs")
    parser.add_argument("words", nargs="*")
    return parser.parse_intermixed_args(argv)


def symbol_of(names, address):
    """The function whose slot is at `address`, or the last symbol before it."""
    slot_of = bisect.bisect_left(names, (address + 8, ""))
    if slot_of < len(names) and names[slot_of][0] == address + 8:
        return f"slot of {names[slot_of][1]}"
    at = bisect.bisect_right(names, (address, chr(0x10FFFF))) - 1
    return f"{names[at][1]}+{address - names[at][0]:#x}" if at >= 0 else "?"


def observe(arguments, directory):
    """Returns (the plugin's result or None, the error of the run or '')."""
    out = directory / "out.json"
    command = qemu_command(f"{arguments.machine}-smp{arguments.cores}", arguments.elf.stem, arguments.words, not arguments.threads,
                           arguments.elf)
    plugin = f"{arguments.plugin.resolve()},image={directory / 'image'},text={directory / 'text'},out={out}"
    try:
        names = coherence_image.describe(arguments.elf, directory / "image", directory / "text")
    except (OSError, ValueError, KeyError) as error:
        return None, f"{arguments.elf}: cannot be watched: {error}"
    try:
        done = subprocess.run([*command, "-plugin", plugin], capture_output=True, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, timeout=arguments.seconds)
    except OSError as error:
        return None, f"cannot start QEMU: {error}"
    except subprocess.TimeoutExpired:
        return None, f"no end within {arguments.seconds} s"
    wrong = ""
    if done.returncode != 0:
        wrong = f"exit status {done.returncode} of the image\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    if not out.exists():
        return None, wrong or "the plugin wrote nothing"
    found = json.loads(out.read_text())
    # With a thread for each core, or only one core, QEMU names the right core.
    if found["unknown"] and ("CTR" in found["unknown"] or (arguments.cores > 1 and not arguments.threads)):
        return None, found["unknown"]
    for fault in found["faults"]:
        fault["symbol"] = symbol_of(names, int(fault["address"], 16))
    return found, wrong


def main(argv):
    arguments = arguments_of(argv)
    with tempfile.TemporaryDirectory() as directory:
        found, wrong = observe(arguments, pathlib.Path(directory))
    if found is None:
        print(f"coherence: {wrong}")
        return 2
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))
    print(f"coherence: {arguments.elf.name} on {arguments.machine}, {found['cores']} of {arguments.cores} cores "
          "ran: " + ", ".join(f"{name} {number}" for name, number in found["events"].items()))
    for fault in found["faults"][:SHOWN]:
        print(f"coherence: {fault['kind']}: {fault['sentence']} ({fault['symbol']}; {fault['times']} times)")
    if {fault["kind"] for fault in found["faults"]} != set(arguments.expect):
        print(f"coherence: {len(found['faults'])} faults" + "; expected: ".join(["", *arguments.expect]))
        return 1
    running = arguments.running or arguments.cores
    few = [f"{found['cores']} cores ran, not {running}"] if found["cores"] != running else []
    for name, number in (each.split("=") for each in arguments.at_least):
        seen = found["events"].get(name, 0)
        few += [f"{name}: {seen}, fewer than {number}"] if seen < int(number) else []
    if wrong or few:
        print("\n".join(["coherence: cannot say: ", wrong, *few]))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
