#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The boards and QEMU's machines, from hal/boards/machines.toml.

    qemu.py MACHINE     prints the machine's program and its options

As a module, from the environment: NOPSCOPE_BUILD_ROOT (holds the boards' builds).
"""

import os
import pathlib
import sys
import tomllib

HANG_SECONDS = 240  # detects hangs; it is no measurement
TABLE = pathlib.Path(__file__).resolve().parents[2] / "hal/boards/machines.toml"


class Machines(dict):
    """{name: (board, options)}. The keys are the table's names. Names with -smpN or -el2 are
    derived from them. A board without a QEMU model is only in `boards`."""

    def __init__(self):
        table = tomllib.loads(TABLE.read_text())
        self.boards = list(dict.fromkeys(row["board"] for row in table.values()))
        self._programs = {name: row["qemu"] for name, row in table.items() if "qemu" in row}
        super().__init__({name: (row["board"], row["options"].split()) for name, row in table.items() if "options" in row})

    def __missing__(self, name):
        base, _, variant = name.rpartition("-")
        if variant.startswith("smp") and variant[3:].isdigit():
            board, options = self[base]
            return board, [*options, "-smp", variant[3:]]
        if variant == "el2":
            board, options = self[base]
            at = options.index("-M") + 1
            return board, [*options[:at], options[at] + ",virtualization=on", *options[at + 1:]]
        raise KeyError(name)

    def program(self, name):
        """QEMU's program for a machine, also for a derived one and for one of tests/verification/hostile."""
        rows = [row for row in self._programs if name == row or name.startswith(row + "-")]
        return self._programs[max(rows, key=len)] if rows else "qemu-system-aarch64"

    def __contains__(self, name):
        try:
            return bool(self[name])
        except KeyError:
            return False


MACHINES = Machines()


def elf_of(machine, image):
    return pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"]) / MACHINES[machine][0] / "firmware" / f"{image}.elf"


def qemu_command(machine, image, words=(), icount=True, elf=None, serial="stdio"):
    """`icount`: deterministic, one instruction a nanosecond; sleep=off makes it independent of the host's time. `elf`: an image
    other than the build's. `serial`: where the line is."""
    board, options = MACHINES[machine]
    is_pi = board.startswith("rpi")
    elf = elf or elf_of(machine, image)
    if icount:
        clock = ["-icount", "shift=0,sleep=off"]
    else:
        # A Pi's other cores wait with WFE, which QEMU runs as a busy loop. In one thread this costs their turns, not a CPU for each core.
        clock = ["-accel", "tcg,thread=single"] if is_pi else []
    arguments = ",".join(f"arg={word}" for word in [image, *words])
    # A Pi's raw image starts at EL2 as on the board.
    return [MACHINES.program(machine), *options, "-display", "none", "-monitor", "none", "-serial", serial, *clock,
            "-semihosting-config", f"enable=on,target=native,{arguments}", "-kernel", str(elf.with_suffix(".img") if is_pi else elf)]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        print(MACHINES.program(sys.argv[1]), *MACHINES[sys.argv[1]][1])
    except KeyError as error:
        sys.exit(f"qemu.py: there is no machine {error} in {TABLE}")
