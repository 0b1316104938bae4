# SPDX-License-Identifier: Apache-2.0
"""Builds the hostile stub (stub.S) for a machine and an image, and makes QEMU's options for both.

    options = hostile.options("virt-a72", elf, directory)   # instead of -kernel
"""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = ("aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc")

MIB = 1 << 20
# Keys are the stub's names of these numbers. `at`: the stub's address, outside the image's memory.
VIRT = {"at": 0x4E00_0000, "GIC": 3, "GIC_BASE": 0x0800_0000, "GIC_SECOND": 0x080A_0000, "GARBAGE_HIGH": 0x4800_0000}
ZCU102 = {"at": 0x7FF8_0000, "GIC": 2, "GIC_BASE": 0xF901_0000, "GIC_SECOND": 0xF902_0000, "CORES": 4, "ZYNQMP": 1}
# QEMU has no Raspberry Pi 5. A virt machine behind a second stage of translation has the same
# addresses, but another interrupt for the UART.
PI_5 = {"at": 0x7E00_0000, "GIC": 2, "GIC_BASE": 0x0800_0000, "GIC_SECOND": 0x0801_0000, "CORES": 4, "MT": 1,
        "ENTRY_LEVEL": 1, "SECOND_STAGE": 1, "memory": 0x4020_0000}
PI_5_OPTIONS = ["-M", "virt,secure=on,virtualization=on,gic-version=2", "-m", "1G", "-cpu", "cortex-a76", "-smp", "4",
                "-nic", "none", "-global", "arm_gic.num-priority-bits=5"]
PI = {"at": 0x3C00_0000, "GIC": 0, "CORES": 4, "SPIN_TABLE": 0xD8}
VIRT_OPTIONS = ["-M", "virt,secure=on,virtualization=on,gic-version=3", "-m", "256M"]
# A GIC-400 has five priority bits. QEMU's GICv2 has eight by default.
ZCU102_OPTIONS = ["-M", "xlnx-zcu102,secure=on,virtualization=on", "-m", "2G", "-audio", "none", "-global", "arm_gic.num-priority-bits=5"]

# The board, QEMU's options, and the stub's numbers.
MACHINES = {
    "hostile-virt-a72": ("virt", [*VIRT_OPTIONS, "-cpu", "cortex-a72"], VIRT),
    "hostile-virt-max": ("virt", [*VIRT_OPTIONS, "-cpu", "max"], VIRT),
    "hostile-virt-a72-smp4": ("virt", [*VIRT_OPTIONS, "-cpu", "cortex-a72", "-smp", "4"], {**VIRT, "CORES": 4}),
    "hostile-virt-max-smp4": ("virt", [*VIRT_OPTIONS, "-cpu", "max", "-smp", "4"], {**VIRT, "CORES": 4}),
    "hostile-zcu102": ("zcu102", ZCU102_OPTIONS, ZCU102),
    "hostile-zcu102-mt": ("zcu102", ZCU102_OPTIONS, {**ZCU102, "MT": 1, "ENTRY_LEVEL": 1}),
    "hostile-rpi4": ("rpi4", ["-M", "raspi4b"], PI),
    "hostile-rpi5": ("rpi5", PI_5_OPTIONS, PI_5),
}
DEFAULTS = {"CORES": 1, "MT": 0, "ENTRY_LEVEL": 2, "SPIN_TABLE": 0, "ZYNQMP": 0, "GIC_BASE": 0, "GIC_SECOND": 0, "SECOND_STAGE": 0}


def options(machine, elf, symbols, directory):
    """Returns QEMU's options: the machine, the stub, and the image in memory. `symbols`: the
    image's. `directory`: where to build the stub."""
    _, qemu, numbers = MACHINES[machine]
    memory = numbers.get("memory", 0)  # QEMU's address of the image's address 0
    numbers = {**DEFAULTS, "IMAGE_ENTRY": symbols["_start"], "GARBAGE_LOW": symbols["__bss_start"] + memory,
               "GARBAGE_HIGH": symbols["__image_end"] + memory + 16 * MIB, **numbers}
    at = numbers.pop("at")
    stub = pathlib.Path(directory) / "stub.elf"
    compiler = next(filter(None, map(shutil.which, COMPILERS)))
    subprocess.run([compiler, "-nostdlib", "-static", f"-Wl,-Ttext={at:#x}", "-Wl,--build-id=none",
                    "-march=armv8-a", *(f"-D{name}={value:#x}" for name, value in numbers.items()),
                    "-o", stub, HERE / "stub.S"], check=True)
    loaded = f"loader,file={elf}"
    if memory:
        raw = pathlib.Path(elf).with_suffix(".img")
        loaded = f"loader,file={raw},addr={symbols['_start'] + memory:#x},force-raw=on"
    return [*qemu, "-kernel", str(stub), "-device", loaded]
