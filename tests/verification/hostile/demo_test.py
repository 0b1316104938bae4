#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the demo behind the hostile stub. Nothing is lost or damaged, and Lua's calls are there.

    demo_test.py MACHINE    one of hostile.MACHINES

From the environment: NOPSCOPE, NOPSCOPE_BUILD_ROOT, NOPSCOPE_ORACLE (tests/e2e/machines.py).
"""

import pathlib
import shlex
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "e2e")]
import hostile  # noqa: E402
import machines  # noqa: E402


def main(machine):
    board, *_ = hostile.MACHINES[machine]
    elf = machines.BUILD_ROOT / board / "firmware" / "demo.elf"
    with machines.Directory() as directory:
        recording = directory / "demo.nsc"
        qemu = ["qemu-system-aarch64",
                *hostile.options(machine, elf, machines.sites.Image(elf).symbols, directory), "-nic", "none",
                "-display", "none", "-monitor", "none", "-serial", "stdio", "-icount", "shift=0,sleep=off",
                "-semihosting-config", "enable=on,target=native,arg=demo,arg=rounds=1,arg=interrupts=1"]
        machines.nopscope("record", "--from", "exec:" + shlex.join(qemu), "--image", elf, "-o", recording)
        report = machines.as_json("report", recording, "--image", elf)
    integrity = report["integrity"]
    calls = {function["name"]: function["calls"] for function in report["functions"]}.get("luaV_execute", 0)
    if not integrity["clean"] or not integrity["complete"] or calls == 0:
        sys.exit(f"{machine}: {integrity}, luaV_execute called {calls} times")


main(sys.argv[1])
