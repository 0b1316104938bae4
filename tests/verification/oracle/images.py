# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the oracles' own test images."""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = ("aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc")
QEMU = "qemu-system-aarch64"


def build(source, elf, *options):
    compiler = next(filter(shutil.which, COMPILERS))
    subprocess.run([compiler, "-nostdlib", "-static", "-Wl,-Ttext=0x40080000", "-Wl,--build-id=none",
                    "-march=armv8.5-a", *options, "-o", elf, HERE / source], check=True)


def plugin_of_arguments():
    """Returns the last argument, the plugin. Ends the program if a tool is missing."""
    if not shutil.which(QEMU) or not any(map(shutil.which, COMPILERS)):
        sys.exit("needs qemu-system-aarch64 and one of " + ", ".join(COMPILERS) + ": ./dev setup installs them")
    return pathlib.Path(sys.argv.pop()).resolve()
