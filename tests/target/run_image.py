#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an image under QEMU and compares its console with an expected file.

    run_image.py --machine virt-max --image selftest.elf [--expected x.expected] [--status N]
                 [--contains TEXT]... [--update] [--dirty-bss] [--input TEXT] [WORD]...

WORDs are the semihosting command line; with --no-semihosting there is none. Before comparing, what
may differ from run to run or CPU to CPU is made equal: the boot report's lines go (boot_report_test.py
looks at those); a backtrace line shows the function's name instead of its address, other 64-bit numbers
become 0x*, all registers become one line, the notes in parentheses behind `ok NAME` go. --contains asks
for text in what was printed before that. --update writes the expected file.
--input is sent to the UART when the first line after the boot report has been printed.
--dirty-bss (raw images) fills what the image must zero itself with 0xa5 before it starts.
On a machine hostile-... the hostile stub (tests/verification/hostile) stands in front of the image.
"""

import argparse
import bisect
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "verification/hostile"), str(TESTS / "verification/oracle"), str(TESTS / "e2e")]
import hostile  # noqa: E402
import sites  # noqa: E402
from qemu import MACHINES  # noqa: E402

HANG_SECONDS = 100
# The exception reporter's lines with registers, of each architecture.
REGISTERS = ["  ESR  0x*   ELR  0x*   FAR  0x*\n  SPSR 0x*   SP   0x*\n" + "".join(
    "  " + "   ".join(f"x{n:<4}0x*" for n in range(row, min(row + 3, 31))) + "\n" for row in range(0, 31, 3))]
RISCV = "ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split()
REGISTERS.append("  mcause  0x*   mepc 0x*   mtval 0x*\n  mstatus 0x*\n" + "".join(
    "  " + "   ".join(f"{name:<5}0x*" for name in RISCV[row:row + 3]) + "\n" for row in range(0, 31, 3)))


def normalised(text, image):
    functions = image.names_by_address()
    is_exception = "exception" in text

    def frame(match):
        # A return address may be the next function's, behind a call that never returns.
        is_exact = is_exception and match.group(1).strip() == "#0"
        address = int(match.group(2), 16) - (0 if is_exact else 1)
        index = bisect.bisect_right(functions, (address, "~"))
        return match.group(1) + functions[index - 1][1] if index else match.group()

    text = text.replace("\r", "")
    text = re.sub(r"^boot: .*\n\0?", "", text, flags=re.M)
    text = re.sub(r"^( +(?:#\d+ +|x30 |x9 |ra |t0 ))0x([0-9a-f]{16})", frame, text, flags=re.M)
    text = re.sub(r"0x[0-9a-f]{16}", "0x*", text)
    for registers in REGISTERS:
        text = text.replace(registers, "  (all registers)\n")
    text = re.sub(r" on core \d", " on core *", text)
    text = re.sub(r"^( +#\d+ +\w+)\.(isra|constprop|part)\S*", r"\1", text, flags=re.M)
    return re.sub(r"^(ok \S+) \(.*\)$", r"\1", text, flags=re.M)


def run(arguments, image, directory):
    if arguments.machine in hostile.MACHINES:
        options = hostile.options(arguments.machine, arguments.elf or arguments.image, image.symbols, directory)
    else:
        options = [*MACHINES[arguments.machine][1], "-kernel", arguments.image]
    command = [MACHINES.program(arguments.machine), *options, "-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio", *arguments.qemu]
    if not arguments.no_semihosting:
        words = ["arg=" + word for word in ["selftest", *arguments.words]]
        command += ["-semihosting-config", ",".join(["enable=on", "target=native", *words])]
    garbage = tempfile.NamedTemporaryFile()
    if arguments.dirty_bss:
        start, end = (image.symbols[name] for name in ("__bss_start", "__bss_end"))
        garbage.write(b"\xa5" * (end - start))
        garbage.flush()
        command += ["-device", f"loader,file={garbage.name},addr={start:#x},force-raw=on"]
    try:
        # Without a buffer, in which communicate() would not look.
        qemu = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        first = b""
        if arguments.input:
            for line in qemu.stdout:
                first += line
                if not line.lstrip(b"\0").startswith(b"boot: "):
                    break
        rest, _ = qemu.communicate(arguments.input.encode(), timeout=arguments.seconds)
        return (first + rest).decode(errors="replace"), qemu.returncode
    except subprocess.TimeoutExpired as hang:
        qemu.kill()
        print((hang.stdout or b"").decode(errors="replace"))
        sys.exit(f"no end within {arguments.seconds} s: " + " ".join(command))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", required=True)
    parser.add_argument("--image", required=True)
    parser.add_argument("--elf", help="with the symbols, where the image is raw")
    parser.add_argument("--expected")
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--contains", action="append", default=[])
    parser.add_argument("--qemu", action="append", default=[], help="an argument of QEMU's")
    parser.add_argument("--seconds", type=int, default=HANG_SECONDS, help="it hangs if it takes longer")
    parser.add_argument("--no-semihosting", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--dirty-bss", action="store_true")
    parser.add_argument("--input", default="")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    if arguments.machine not in MACHINES and arguments.machine not in hostile.MACHINES:
        parser.error(f"there is no machine {arguments.machine}: hal/boards/machines.toml, tests/verification/hostile/hostile.py")

    image = sites.Image(arguments.elf or arguments.image)
    with tempfile.TemporaryDirectory() as directory:
        output, status = run(arguments, image, directory)
    actual = normalised(output, image)
    if arguments.update:
        with open(arguments.expected, "w", encoding="utf-8") as file:
            file.write(actual)
        return
    expected = actual
    if arguments.expected:
        with open(arguments.expected, encoding="utf-8") as file:
            expected = file.read()
    difference = list(difflib.unified_diff(expected.splitlines(), actual.splitlines(),
                                           arguments.expected or "", "console", lineterm=""))
    problems = ["\n".join(difference)] if difference else []
    problems += [f"not printed: {text}" for text in arguments.contains if text not in output]
    if status != arguments.status:
        problems.append(f"exit status {status}, not {arguments.status}")
    if problems:
        print(output)
        sys.exit("\n".join(problems))


main()
