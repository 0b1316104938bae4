#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a board's OpenOCD configuration without the board: openocd reads it, knows its targets and
has its procedures.

    config_test.py BOARD
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHECKS = ("target names", "info body nopscope_load", "info body nopscope_rtt", "help rtt setup")


def main():
    board = sys.argv[1]
    command = ["openocd", "-c", "adapter driver dummy; transport select jtag",
               "-f", f"{ROOT}/firmware/tools/openocd/{board}.cfg"]
    for check in CHECKS:
        command += ["-c", f"echo [{check}]"]
    done = subprocess.run([*command, "-c", "shutdown"], capture_output=True, text=True, timeout=30, check=False)
    said = done.stdout + done.stderr
    for text in ("bcm2711.cpu0", "bcm2711.ap", "nopscope.commands", "load_image $image 0x80000 bin",
                 "rtt server start", "rtt setup <address> <size>"):
        if text not in said:
            sys.exit(f"{text} is missing in:\n{said}")
    if "Error" in said:
        sys.exit(said)


main()
