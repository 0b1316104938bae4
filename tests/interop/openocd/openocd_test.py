#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces through a debug probe. OpenOCD finds the RTT block in a running machine's memory by a
virtual JTAG probe. `nopscope` uses OpenOCD's server. Nothing stops the machine.

    openocd_test.py [OpenOcd.TEST|Config] VIRTUAL_PROBE
"""

import pathlib
import socket
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "e2e"), str(HERE.parents[1] / "conformance")]
import machines  # noqa: E402
import wire  # noqa: E402
from sites import Image  # noqa: E402

RAM_BYTES, RAM_BASE = 256 << 20, 0x40000000
ROOT = HERE.parents[2]
ID = b"SEGGER RTT\0"


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


class Probed:
    """A machine whose RAM is a file, a probe on that RAM, and OpenOCD with the probe."""

    def __init__(self, at, words):
        self.at, self.processes = at, []
        self.elf = machines.elf_of("virt-max", "demo")
        self.ram, self.uart = at / "ram", at / "uart"
        self.port, self.gdb_port = free_port(), free_port()
        block = Image(self.elf).symbols["__rtt_start"]
        with self.ram.open("wb") as ram:
            ram.truncate(RAM_BYTES)
        command = machines.qemu_command("virt-max", "demo", words, icount=False, serial=f"file:{self.uart}")
        command[command.index("virt,gic-version=3")] += ",memory-backend=ram"
        command += ["-object", f"memory-backend-file,id=ram,size={RAM_BYTES},mem-path={self.ram},share=on"]
        self.qemu = self.run(command)
        machines.wait_for(lambda: self.memory(block, len(ID)) == ID, "the firmware makes no RTT block")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(at / "probe"))
            listener.listen()
            self.run([PROBE, self.ram, hex(RAM_BASE)], stdin=listener)
        self.log = (at / "openocd.log").open("w+")
        self.run(["openocd", "-c", f"set PROBE {at}/probe", "-f", HERE / "probe.cfg",
                  "-c", f"soc.ap configure -gdb-port {self.gdb_port}",
                  "-f", ROOT / "firmware/tools/openocd/nopscope.cfg", "-c", "nopscope_rtt_prepare soc.dap; init",
                  "-c", f"nopscope_rtt soc.ap {block:#x} {self.port}"], stderr=self.log)
        machines.wait_for(lambda: f"port {self.port} for rtt" in self.said(), "openocd does not listen")

    def run(self, command, stdin=subprocess.DEVNULL, **more):
        process = subprocess.Popen([str(word) for word in command], stdin=stdin, stdout=subprocess.DEVNULL, **more)
        self.processes.append(process)
        return process

    def memory(self, address, count):
        with self.ram.open("rb") as ram:
            ram.seek(address - RAM_BASE)
            return ram.read(count)

    def said(self):
        return (self.at / "openocd.log").read_text()

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()

    def record(self, *options, uri=None, status=0):
        return machines.recorded(self.at, uri or f"tcp:localhost:{self.port}", self.elf, *options, status=status)


class OpenOcd(machines.Case):
    def probed(self, *words):
        probed = Probed(self.directory, words)
        self.addCleanup(probed.close)
        return probed

    def expect_clean(self, report):
        self.assert_clean(report)
        self.assertGreater(report["integrity"]["delivered"], 100000)

    def test_the_probe_has_what_the_uart_has(self):
        # Half of OpenOCD's speed with the virtual probe.
        probed = self.probed("rounds=1", "rtt=both", "baud=200000", "recorder=function")
        self.assertRegex(probed.said(), "Control block found at 0x")
        raw, report, _ = probed.record()
        self.expect_clean(report)
        frames, line = probed.at / "frames", probed.at / "line.nsc"
        frames.write_bytes(wire.without_boot_report(probed.uart.read_bytes()))
        self.assertEqual(raw, frames.read_bytes())
        machines.nopscope("record", "-q", "--from", f"file:{frames}", "--image", probed.elf, "-o", line)
        self.assertEqual(report, machines.as_json("report", line))

    def test_the_probe_alone(self):
        probed = self.probed("rounds=1", "rtt=only", "baud=0")
        raw, report, _ = probed.record()
        self.expect_clean(report)
        self.assertEqual(wire.faults(wire.Line(raw)), [])
        self.assertEqual(wire.without_boot_report(probed.uart.read_bytes()), b"")
        self.assertEqual(probed.qemu.wait(timeout=30), 0)

    def test_frames_for_which_there_is_no_room_are_left_out_whole(self):
        probed = self.probed("rounds=1", "rtt=both", "baud=0")
        probed.qemu.wait(timeout=machines.HANG_SECONDS)
        uart = probed.uart.read_bytes()
        raw, report, _ = probed.record("--duration", "10", status=3)  # no read-out: the target has ended
        self.assertEqual(report["integrity"]["corrupt_frames"], 0)
        self.assertLess(len(raw), len(uart))
        frames, rest = raw.split(b"\0")[:-1], iter(uart.split(b"\0"))
        self.assertGreater(len(frames), 50)
        for frame in frames:  # each frame is one of the UART's, in order
            self.assertIn(frame, rest)

    def test_commands_by_the_down_channel(self):
        probed = self.probed("rounds=100000", "rtt=only", "baud=0", "recorder=none")
        # Few calls: a full line sends hellos late, and a busy machine's probe is slow.
        for command, said in (("stats", "^recording; 0 functions traced"),
                              ("trace luaL_openlibs --recorder function", "tracing 1 function"), ("stats", "1 function[s]? traced")):
            done = machines.nopscope("ctl", "--from", f"tcp:localhost:{probed.port}", "--image", probed.elf, *command.split())
            self.assertRegex(done.stdout, said)

    def test_openocd_as_a_gdb_stub(self):
        """A stub other than QEMU's. The machine has ended, but its memory is still there."""
        probed = self.probed("rounds=1", "rtt=both", "baud=0", "mode=flight")
        probed.qemu.wait(timeout=machines.HANG_SECONDS)
        line, _, said = probed.record(uri=f"gdb:localhost:{probed.gdb_port}")
        self.assertIn("left stopped: the stub does not say", said)
        self.assertEqual(line, probed.record("--memory-base", hex(RAM_BASE), uri=f"file:{probed.ram}")[0])
        self.assertGreater(len(wire.Line(line).events), 30000)


class Config(unittest.TestCase):
    def test_the_board_s_file(self):
        """Without the board: openocd reads the file, knows its targets and has its procedures."""
        checks = ("target names", "info body nopscope_load", "info body nopscope_rtt", "help rtt setup")
        command = ["openocd", "-c", "adapter driver dummy; transport select jtag", "-f", ROOT / "firmware/tools/openocd/rpi4.cfg",
                   *(word for check in checks for word in ("-c", f"echo [{check}]")), "-c", "shutdown"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        for text in ("bcm2711.cpu0", "bcm2711.ap", "nopscope.commands", "load_image $image 0x80000 bin", "rtt server start",
                     "rtt setup <address> <size>"):
            self.assertIn(text, done.stdout + done.stderr)
        self.assertNotIn("Error", done.stdout + done.stderr)


if __name__ == "__main__":
    PROBE = sys.argv.pop()
    unittest.main()
