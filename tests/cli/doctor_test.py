#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doctor on healthy machines and on faulty ones."""

import json
import os
import shutil
import threading
import tty
import unittest

import cli


class Doctor(cli.Case):
    def setUp(self):
        super().setUp()
        self.devices, self.tools, self.empty = (self.directory / name for name in ("dev", "bin", "empty"))
        for path in (self.devices, self.tools, self.empty):
            path.mkdir()

    def tool(self, name, says):
        path = self.tools / name
        path.write_text(f"#!/bin/sh\ncase $1 in -dumpfullversion) echo {says[1]};; *) echo '{says[0]}';; esac\n")
        path.chmod(0o755)

    def doctor(self, *arguments, status=0, path=None):
        environment = os.environ | {"PATH": path or f"{self.tools}:/usr/bin:/bin", "NOPSCOPE_CONFIG": ""}
        out = cli.nopscope("doctor", "--devices", self.devices, "--format", "json", *arguments, status=status, env=environment).stdout
        return {one["what"]: one for one in json.loads(out)}

    def test_this_machine_is_well(self):
        found = self.doctor("--image", cli.DEMO)
        self.assertEqual(found["QEMU"]["state"], "ok")
        self.assertEqual(found[str(cli.DEMO)]["state"], "ok")
        self.assertIn("patch sites", found[str(cli.DEMO)]["text"])
        self.assertIn("no board is connected", found["serial ports"]["text"])
        self.assertIn("ok ", cli.nopscope("doctor", "--devices", self.devices).stdout)

    def test_tools_that_are_old_or_missing(self):
        self.tool("qemu-system-aarch64", ("QEMU emulator version 7.2.15 (Debian 1:7.2+dfsg-7)", ""))
        self.tool("aarch64-none-elf-gcc", ("aarch64-none-elf-gcc (Arm GNU Toolchain 11.3) 11.3.1", "11.3.1"))
        found = self.doctor(status=1)
        self.assertEqual(found["QEMU"]["state"], "note")
        self.assertIn("9.0", found["QEMU"]["text"])
        self.assertEqual(found["aarch64-none-elf-gcc"]["state"], "problem")
        (self.empty / "sh").symlink_to("/bin/sh")
        found = self.doctor(path=str(self.empty))
        self.assertIn("./dev setup", found["QEMU"]["fix"])
        self.assertIn("cannot be built", found["compiler"]["text"])

    def test_ports_by_who_may_use_them(self):
        for name, mode in (("ttyUSB0", 0o666), ("ttyUSB1", 0o000)):
            (self.devices / name).touch()
            (self.devices / name).chmod(mode)
        # Not as root, because root may use any port.
        self.directory.chmod(0o755)
        command = shutil.copy(cli.NOPSCOPE, self.directory)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        out = cli.run(*other, command, "doctor", "--devices", self.devices, "--format", "json", status=1, cwd="/",
                      env={"PATH": "/usr/bin:/bin", "HOME": "/"}).stdout
        found = {one["what"]: one for one in json.loads(out)}
        self.assertEqual(found[str(self.devices / "ttyUSB0")]["state"], "ok")
        self.assertEqual(found[str(self.devices / "ttyUSB1")]["state"], "problem")
        self.assertIn("sudo ", found[str(self.devices / "ttyUSB1")]["fix"])

    def test_a_line_at_the_wrong_rate_is_silent_or_is_not_there(self):
        noise = self.directory / "noise"
        noise.write_bytes(bytes((17 * n * n + n) % 255 + 1 for n in range(5000)))
        found = self.doctor("--from", f"file:{noise}", status=1)[f"file:{noise}"]
        self.assertIn("5,000 bytes came, and not one frame", found["text"])
        self.assertIn("baud", found["fix"])
        silent = self.doctor("--from", "exec:sleep 5", "--duration", "0.2")["exec:sleep 5"]
        self.assertIn("no byte came in 0.2 s", silent["text"])
        none = self.doctor("--from", f"serial:{self.directory}/none", status=1)[f"serial:{self.directory}/none"]
        self.assertEqual(none["state"], "problem")

    def test_boot_lines_are_judged(self):
        """Board.UnusualWordsAreFindings has each judgement."""
        lines = self.directory / "boot"
        lines.write_bytes(b"boot: nopscope board=rpi4 level=3 dtb=0x2eff3a00\r\nboot: midr=0x410fd083 arm_hz=600000000\r\nok one.test\r\n")
        found = self.doctor("--from", f"file:{lines}", status=1)
        self.assertEqual({what: found[what]["state"] for what in ("CPU", "Arm clock", "exception level", f"file:{lines}")},
                         {"CPU": "ok", "Arm clock": "note", "exception level": "problem", f"file:{lines}": "note"})

    def test_a_port_waits_for_a_reset(self):
        master, slave = self.terminal()
        tty.setraw(slave)
        port = f"serial:{os.ttyname(slave)}"
        found = self.doctor("--from", port, "--duration", "0.3")
        self.assertIn("reset the board", found["boot lines"]["fix"])
        timer = threading.Timer(1, os.write, (master, b"boot: nopscope board=virt level=1 dtb=none\nboot: baud=115200\n"))
        timer.start()
        self.addCleanup(timer.join)
        self.assertIn("virt, entered at EL1", self.doctor("--from", port, "--duration", "2")["board"]["text"])

    def test_a_target_is_heard(self):
        line = (f"exec:qemu-system-aarch64 -M virt,gic-version=3 -cpu max -display none -serial stdio -monitor none "
                f"-semihosting-config enable=on,target=native -kernel {cli.DEMO}")
        found = self.doctor("--from", line, "--duration", "30", path=os.environ["PATH"])[line]
        self.assertIn("a target speaks", found["text"])

    def test_an_image_that_is_none(self):
        for image in ("/bin/sh", str(self.directory / "none")):
            self.assertEqual(self.doctor("--image", image, status=1)[image]["state"], "problem")


if __name__ == "__main__":
    unittest.main()
