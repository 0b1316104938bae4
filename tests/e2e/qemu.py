# SPDX-License-Identifier: Apache-2.0
"""The machines that whole recordings are made on: the board an image is built for, and QEMU's options."""

HANG_SECONDS = 240  # a detector of hangs, never a measure

VIRT = ["-M", "virt,gic-version=3", "-m", "256M", "-nic", "none"]
# A Pi's other cores wait with WFE, which QEMU makes no waiting of: in one thread that costs their turns, not a CPU each.
PI = ["-accel", "tcg,thread=single"]
MACHINES = {
    "virt-max": ("virt", [*VIRT, "-cpu", "max"]),
    "virt-max-smp2": ("virt", [*VIRT, "-cpu", "max", "-smp", "2"]),
    "virt-max-smp4": ("virt", [*VIRT, "-cpu", "max", "-smp", "4"]),
    "virt-a72": ("virt", [*VIRT, "-cpu", "cortex-a72"]),
    "rpi4": ("rpi4", ["-M", "raspi4b", *PI]),
    "rpi4-mini-uart": ("rpi4-mini-uart", ["-M", "raspi4b", *PI, "-serial", "null"]),  # its second
    "rpi3": ("rpi3", ["-M", "raspi3b", *PI]),
    "zcu102": ("zcu102", ["-M", "xlnx-zcu102", "-m", "2G", "-audio", "none"]),
}


def kernel_of(elf, board):
    """What -kernel is given: a Pi's is the raw image, which QEMU enters at EL2 as the boot firmware does."""
    return elf.with_suffix(".img") if board.startswith("rpi") else elf
