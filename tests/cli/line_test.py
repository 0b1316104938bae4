#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines without a target: the messages, their times, and the exit code."""

import ctypes
import fcntl
import grp
import os
import pty
import socket
import struct
import subprocess
import sys
import time
import tty
import unittest

import cli
from cli import GOLDEN

sys.path.append(str(GOLDEN))
import trace2  # noqa: E402  # pylint: disable=wrong-import-position
sys.path.append(str(GOLDEN.parent / "e2e"))
from pseudo_terminal import wait_until_read  # noqa: E402  # pylint: disable=wrong-import-position


def without_root_s_rights():
    """Takes root's right to open any file, from the next exec() on."""
    pr_capbset_drop, cap_dac_override, cap_dac_read_search = 24, 1, 2
    if os.getuid() == 0:
        for capability in (cap_dac_override, cap_dac_read_search):
            assert ctypes.CDLL(None).prctl(pr_capbset_drop, capability, 0, 0, 0) == 0


def hello_of(line):
    return next(of[4] for of in trace2.frames(line) if of is not None and of[0] == trace2.HELLO)


class Silent(cli.Case):
    def record(self, uri, *options, status):
        done = cli.nopscope("record", "--from", uri, "-o", self.directory / "line.nsc", *options, status=status)
        return done.stderr

    def test_nothing_recorded_is_an_exit_code_of_its_own(self):
        self.assertIn("nothing was recorded: no byte came", self.record("exec:true", status=5))
        self.assertIn("nothing was recorded: no byte came in 0.", self.record("exec:sleep 9", "--duration", "0.3", status=5))
        self.assertIn("6 bytes of text came", self.record("exec:echo hello", status=5))
        # It prints both messages.
        said = self.record("exec:exit 7", status=4)
        self.assertIn("nothing was recorded", said)
        self.assertIn("exit status 7", said)

    def test_a_target_of_another_version_is_said_and_the_next_one_is_recorded(self):
        good = (GOLDEN / "stream.bin").read_bytes()
        line = self.directory / "line"
        other = trace2.frame(trace2.HELLO, 99, struct.pack("<H", 77) + hello_of(good)[2:])
        line.write_bytes(other)
        self.assertIn("speaks trace format 77", self.record(f"file:{line}", status=3))
        line.write_bytes(other + b"\0" + good)
        said = self.record(f"file:{line}", status=0)
        self.assertIn("speaks trace format 77, and this nopscope reads 2 to 4: its sessions were left out", said)
        self.assertIn("in 1 session;", said)

    def test_refused_sites_and_a_missing_build_id_are_said_once(self):
        # Board, image, refused sites; no build-id.
        hello = trace2.hello_payload({2: b"b", 3: b"i", 8: b"\3\0\2"}, site_count=100)
        line = self.directory / "line"
        line.write_bytes(trace2.frame(trace2.HELLO, 1, hello) + trace2.frame(trace2.HELLO, 2, hello))
        said = self.record(f"file:{line}", "-q", status=0)
        sites = "5 of 100 functions with a patch site cannot be traced: 3 not 8-byte aligned, 2 not the words of a patch site\n"
        build_id = "so nopscope cannot tell whether an ELF fits a recording: link with --build-id\n"
        self.assertEqual(said.count(sites), 1, said)
        self.assertEqual(said.count("the image has no build-id, " + build_id), 1, said)
        self.assertIn("in 2 sessions;", said)
        report = cli.nopscope("report", self.directory / "line.nsc").stdout
        self.assertIn("refused: " + sites, report)
        self.assertIn("build-id: none, " + build_id, report)
        self.assertIn(f"(none: {build_id[3:-1]})", cli.nopscope("info", self.directory / "line.nsc").stdout)

    def test_a_silent_port_is_said_within_three_seconds_and_listened_to_on(self):
        master, slave = pty.openpty()
        tty.setraw(slave)
        begin = time.monotonic()
        with subprocess.Popen([cli.NOPSCOPE, "record", "-q", "--from", f"serial:{os.ttyname(slave)}", "-o",
                               self.directory / "line.nsc"], stderr=subprocess.PIPE, text=True) as recorder:
            self.assertIn("no byte came in 2.8 s: is the target on, is this its port", recorder.stderr.readline())
            seconds = time.monotonic() - begin
            self.assertGreater(seconds, 2.7)
            os.write(master, (GOLDEN / "stream.bin").read_bytes())
            wait_until_read(slave)
            os.close(slave)
            os.close(master)
            self.assertRegex(recorder.communicate()[1], "in 1 session;")
        self.assertEqual(recorder.returncode, 0)

    def test_top_says_it_too(self):
        for uri, said in (("exec:true", "the line is over: no byte came"), ("exec:echo hello", "bytes of text came")):
            self.assert_sentence(cli.nopscope("top", "--once", "--delay", "0.2", "--from", uri, status=3), said)
        done = cli.nopscope("top", "--once", "--delay", "9", "--from", "exec:echo no such machine >&2; exit 3", status=3)
        self.assertEqual(done.stderr.splitlines()[0], "no such machine")
        self.assertRegex(done.stderr, "no byte came: .*; the command ended with exit status 3: no such machine")
        done = cli.nopscope("top", "--once", "--delay", "0.2", "--interval", "0.2", "--from", "exec:sleep 9", status=3)
        self.assertIn("no byte came in ", done.stderr)

    def test_ctl_says_it_too(self):
        for uri, said in (("exec:true", "the line is over: no byte came"), ("exec:sleep 9", "no byte came in 2.8 s"),
                          ("exec:yes", "bytes of text came, and not one frame")):
            begin = time.monotonic()
            self.assertIn(said, cli.nopscope("ctl", "--from", uri, "stats", status=3).stderr)
            self.assertLess(time.monotonic() - begin, 3.5)


class Refused(cli.Case):
    def test_a_name_that_no_function_has_before_the_target_starts(self):
        started = self.directory / "started"
        uri = f"exec:touch {started}; sleep 9"
        for command, options in (("record", ["-o", self.directory / "line.nsc"]), ("top", ["--once"]), ("serve", [])):
            for option in ("--trace", "--notrace", "--only"):
                done = cli.nopscope(command, "--from", uri, "--image", cli.DEMO, *options, option, "luaV_exicute", status=2)
                self.assertIn("is called luaV_exicute: did you mean luaV_execute?", done.stderr)
        done = cli.nopscope("ctl", "--from", uri, "--image", cli.DEMO, "trace", "no_such_name", status=2)
        self.assertIn("info --sites", done.stderr)
        self.assertFalse(started.exists())

    def test_options_and_words_that_a_request_does_not_use(self):
        for words, said in ((["mode", "stream", "--notrace", "x"], "mode does not use --notrace"),
                            (["stop", "--also"], "stop does not use --also"),
                            (["untrace", "x", "--recorder", "graph"], "untrace does not use --recorder"),
                            (["only", "--size-above", "9"], "only does not use --size-above"),
                            (["depth", "3", "4"], "depth takes at most 1 argument, and 2 came"),
                            (["capture", "x0"], "capture takes at least 2 arguments, and 1 came")):
            self.assertIn(said, cli.nopscope("ctl", "--from", "exec:sleep 9", *words, status=2).stderr)

    def test_a_port_that_cannot_be_opened(self):
        def said(uri, status):
            return cli.nopscope("record", "--from", uri, "-o", self.directory / "line.nsc", status=status).stderr
        self.assertIn("give serial:/dev/ttyUSB7, or serial:/dev/ttyUSB7?baud=N with its rate", said("/dev/ttyUSB7", 2))
        self.assertIn(f"give file:{self.directory}", said(self.directory, 2))
        self.assertRegex(said("serial:/dev/ttyUSB7", 3), "No such file or directory: (no serial port|these are there: /dev/)")

    def test_a_port_of_another_group(self):
        _, slave = self.terminal()
        if os.getuid() == 0:
            os.fchown(slave, -1, grp.getgrnam("dialout").gr_gid)
        os.fchmod(slave, 0)
        done = cli.nopscope("record", "--from", f"serial:{os.ttyname(slave)}", "-o", self.directory / "line.nsc", status=3,
                            preexec_fn=without_root_s_rights)
        group = grp.getgrgid(os.fstat(slave).st_gid).gr_name
        self.assertIn(f"Permission denied: sudo usermod -aG {group} $USER, and log in again", done.stderr)


class Damaged(cli.Case):
    """What the host says of each change is in tests/unit/host/damage_test.cpp."""
    CHANGES = [  # of a line; what record, report and doctor say
        (lambda line: line, None),
        (lambda line: line.replace(b"\r", b"\n"), "CR (0x0d) came as LF (0x0a)"),
        (lambda line: line.replace(b"\n", b"\r\n"), "LF (0x0a) came as CR LF"),
        (lambda line: line.replace(b"\xff", b"\xff\xff").replace(b"\r", b"\r\0"), "a telnet server does that"),
        (lambda line: bytes(byte & 0x7F for byte in line), "bit 7 is lost"),
        (lambda line: line.replace(b"\x11", b"").replace(b"\x13", b""), "XON and XOFF (0x11, 0x13) are missing"),
        (lambda line: line[:1000] + line[2000:3000] + line[3500:], "is another program reading this line"),
    ]

    def test_record_report_and_doctor_name_the_cause(self):
        line = (GOLDEN / "tasks.bin").read_bytes()
        path, nsc = self.directory / "line", self.directory / "line.nsc"
        for change, cause in self.CHANGES:
            path.write_bytes(change(line))
            record = cli.nopscope("record", "-q", "--from", f"file:{path}", "-o", nsc, status=None)
            doctor = cli.nopscope("doctor", "--from", f"file:{path}", status=None)
            said = [record.stderr, doctor.stdout, *(done.stdout + done.stderr for done in (
                cli.nopscope("report", of, status=None) for of in (path, nsc) if of.exists()))]
            for one in said:
                if cause is None:
                    self.assertNotIn("damaged", one)
                else:
                    self.assertIn(cause, one)
            if cause is not None:
                self.assertEqual(doctor.returncode, 1, doctor.stdout)
                self.assertRegex(doctor.stdout, f"problem *file:{path}")
            nsc.unlink(missing_ok=True)

    def test_another_program_has_the_port(self):
        _, slave = self.terminal()
        port = os.ttyname(slave)
        with subprocess.Popen(["cat", port], stdout=subprocess.DEVNULL) as cat:
            self.addCleanup(cat.kill)
            self.wait_until(lambda: any(os.path.realpath(f"/proc/{cat.pid}/fd/{n}") == port for n in range(10)))
            record = ("record", "-q", "--from", f"serial:{port}", "-o", self.directory / "line.nsc", "--duration", "0.3")
            self.assertIn(f"cat ({cat.pid}) has the port open, too", cli.nopscope(*record, status=5).stderr)
            fcntl.flock(slave, fcntl.LOCK_EX)
            self.assertIn(f"another program uses it, cat ({cat.pid}): end that", cli.nopscope(*record, status=3).stderr)
            cat.kill()
        self.assertIn("another program uses it (sudo fuser -v", cli.nopscope(*record, status=3).stderr)
        fcntl.flock(slave, fcntl.LOCK_UN)
        recorder = self.start(*record[:-1], "60")
        self.wait_until(lambda: self.is_exclusive(slave))
        doctor = cli.nopscope("doctor", "--from", f"serial:{port}", "--duration", "0.1", status=1).stdout
        self.assertIn(f"another program uses it, nopscope ({recorder.pid})", doctor)
        recorder.kill()
        recorder.wait()
        cli.nopscope(*record, status=5)
        self.assertFalse(self.is_exclusive(slave))

    def is_exclusive(self, port):
        tiocgexcl = 0x80045440
        return struct.unpack("i", fcntl.ioctl(port, tiocgexcl, bytes(4)))[0] != 0

    def test_a_target_that_does_not_answer(self):
        for name in ("stream.bin", "tasks.bin"):
            done = cli.nopscope("record", "-q", "--from", f"exec:cat {GOLDEN / name}", "-o", self.directory / "line.nsc",
                                "--mode", "flight", status=3)
            self.assertIn("the target was not set as the options ask, so it recorded as its firmware chose: ", done.stderr)


class Control(cli.Case):
    def test_silent_peers_do_not_lock_the_socket(self):
        path = self.directory / "control"
        recorder = self.start("record", "-q", "--from", "exec:sleep 60", "-o", self.directory / "line.nsc", "--control", f"unix:{path}")
        self.wait_until(path.exists)
        peers = [self.connect(path) for _ in range(16)]
        time.sleep(0.3)
        asking = self.connect(path)
        asking.sendall(b'{"words": ["fly"]}\n')
        self.assertRegex(asking.recv(4096), b'"status":2.*fly')
        for peer in peers:
            self.assertEqual(peer.recv(1), b"", "it is closed after two seconds")
        again = ("record", "--from", "exec:true", "-o", self.directory / "other.nsc", "--control", f"unix:{path}")
        self.assertIn("is another recorder's control socket", cli.nopscope(*again, status=3).stderr)
        recorder.kill()
        recorder.wait()
        # The killed recorder has left this file.
        self.assertTrue(path.exists())
        cli.nopscope(*again, status=5)

    def connect(self, path):
        peer = socket.socket(socket.AF_UNIX)
        self.addCleanup(peer.close)
        peer.settimeout(20)
        peer.connect(str(path))
        return peer


if __name__ == "__main__":
    unittest.main()
