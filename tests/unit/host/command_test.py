#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the sanitized command as a user does: every kind of URI, every kind of end, exit codes. And the codec's benchmark."""

import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import sys
import termios
import unittest

sys.path += [str(pathlib.Path(__file__).resolve().parent.parent.parent / name) for name in ("bench", "cli", "conformance")]
import cli  # noqa: E402  # pylint: disable=wrong-import-position
import encode_test  # noqa: E402  # pylint: disable=wrong-import-position
import trace2  # noqa: E402  # pylint: disable=wrong-import-position

HELLO, RECORDS, END = (chunk for chunk in (cli.GOLDEN / "captured.bin").read_bytes().split(b"\0") if chunk)
UNFINISHED = HELLO + trace2.frame(trace2.CONSOLE, 7, b"hello from the target\x1b[31m\n") + RECORDS + b"\0"
WHOLE = UNFINISHED + END + b"\0"
QUESTIONS = ("report", "graph", "stack-depth"), ("callers", "callees", "latency", "outliers")


class Command(cli.Case):
    def setUp(self):
        super().setUp()
        self.line, self.endless, self.file = (self.directory / name for name in ("line", "endless", "x.nsc"))
        self.line.write_bytes(WHOLE)
        self.endless.write_bytes(UNFINISHED)

    def record(self, uri, *options, status=0, **pipes):
        return cli.nopscope("record", "--from", uri, "-o", self.file, *options, status=status, **pipes)

    def begin(self, uri, *options):
        return self.start("record", "--from", uri, "-o", self.file, *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_counts(self):
        """The file that is being recorded has all earlier records then, too."""
        self.wait_until(lambda: self.file.exists() and b"COUN" in self.file.read_bytes())

    def info(self):
        return cli.nopscope("info", self.file).stdout

    def check_recorded(self, console):
        self.assertEqual(console, "hello from the target\\x1b[31m\n", "it drives no terminal")
        report = cli.nopscope("report", self.file, "--format", "csv").stdout
        self.assertIn('0x40080018,"",0,14,480,', report)
        self.file.unlink()

    def check_ended(self, recorder):
        console, errors = recorder.communicate(timeout=cli.HANG_SECONDS)
        self.assertEqual(recorder.returncode, 0, errors)
        info = self.info()
        self.check_recorded(console.decode())
        return info

    def test_a_file_and_standard_input(self):
        self.check_recorded(self.record(f"file:{self.line}").stdout)
        with open(self.line, "rb") as line:
            self.check_recorded(self.record("-", stdin=line).stdout)

    def test_questions_are_answered_from_standard_input_too(self):
        self.record(f"file:{self.line}")
        for questions, function in zip(QUESTIONS, ([], ["0x*"])):
            for question in questions:
                by_name = cli.nopscope(question, self.file, *function).stdout
                with open(self.file, "rb") as file:
                    self.assertEqual(cli.nopscope(question, "-", *function, stdin=file).stdout, by_name, question)
                self.assertIn("generated 402", by_name, question)

    def test_a_command_whose_failure_is_passed_on(self):
        self.check_recorded(self.record(f"exec:cat {self.line}").stdout)
        self.assertIn("exit status 9", self.record(f"exec:cat {self.line}; exit 9", status=4).stderr)
        self.assertIn("exit      9\n", self.info())
        self.record("exec:/nonexistent/tool", status=4)

    def test_a_command_ends_when_the_target_has_finished_or_the_time_is_over(self):
        self.assertIn("the target finished", self.check_ended(self.begin(f"exec:cat {self.line}; sleep 600 & wait")))
        timed = self.begin(f"exec:cat {self.endless}; exec sleep 600", "--duration", "0.3")
        self.assertIn("the time asked for was over", self.check_ended(timed))

    def test_ctrl_c_leaves_a_valid_file(self):
        recorder = self.begin(f"exec:cat {self.line}; exec sleep 600", "--no-until-end")
        self.wait_for_counts()
        recorder.send_signal(signal.SIGINT)
        self.assertIn("interrupted", self.check_ended(recorder))

    def test_processes_that_the_command_started_have_time_to_end(self):
        """A shell ends at once. A process that the shell started may need time to finish."""
        last_words = self.directory / "last_words"
        slow = f"trap 'sleep 0.3; echo bye > {last_words}; exit' TERM; while :; do sleep 0.02; done"
        self.check_ended(self.begin(f'exec:cat {self.line}; sh -c "{slow}"; true'))
        self.assertTrue(last_words.exists())

    def test_a_tcp_connection(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(cli.HANG_SECONDS)
            uri = f"tcp:127.0.0.1:{listener.getsockname()[1]}"
            recorder = self.begin(uri)
            with listener.accept()[0] as connection:
                connection.sendall(WHOLE)
            self.check_ended(recorder)
        self.record(uri, status=3)

    def test_a_serial_port(self):
        """A pseudo-terminal. The recorder must make it raw; otherwise its line discipline changes bytes."""
        adapter, port = pty.openpty()
        recorder = self.begin(f"serial:{os.ttyname(port)}?baud=3000000", "--no-until-end")
        self.wait_until(lambda: not termios.tcgetattr(port)[3] & termios.ICANON)
        os.write(adapter, WHOLE)
        self.wait_for_counts()
        os.close(port)
        os.close(adapter)  # it is unplugged
        self.assertIn("the target finished", self.check_ended(recorder))

    def test_a_failed_open_costs_no_older_recording(self):
        self.record(f"file:{self.line}")
        before = self.file.read_bytes()
        said = self.record("serial:/dev/nonexistent", status=3).stderr
        self.assertTrue(said.startswith("nopscope: cannot open serial port /dev/nonexistent: No such file or directory: "), said)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertNotIn("x.nsc.old", self.names())

    def test_a_uri_that_makes_no_sense_is_wrong_usage(self):
        for uri in ("gopher:x", "serial:/dev/x?speed=3", "tcp:host"):
            self.record(uri, status=2)

    def test_not_a_trace_is_one_sentence(self):
        self.line.write_bytes(b"x" * 1000)
        self.assert_sentence(cli.nopscope("report", self.line, status=3), "not one frame could be read")

    def image(self, build_id):
        elf, source = self.directory / f"{build_id}.elf", self.directory / "work.c"
        source.write_text("".join(f"void work{number}(void) {{}}\n" for number in range(4)))
        cli.run("aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-falign-functions=8", "-fpatchable-function-entry=4,2",
                "-mbranch-protection=bti", f"-Wl,--build-id=0x{build_id},-e,work0", source, "-o", elf)
        return elf

    def test_the_image_names_and_a_wrong_one_is_refused(self):
        right, wrong = self.image("aabbcc"), self.image("9999")
        told = json.loads(cli.nopscope("info", right, "--sites", "--format", "json").stdout)
        site = told["sites"][2]
        self.assertEqual(site["name"], "work2")
        self.assertEqual(int(site["word"], 16) - int(site["address"], 16), 8, "behind `bti c` and `mov`")
        # The records are of the second site behind the text's base, and of others.
        hello = trace2.hello_payload({1: bytes.fromhex("aabbcc")}, text_base=int(site["address"], 16) - 16,
                                     site_table_crc=int(told["site_table_crc"], 16))
        self.line.write_bytes(trace2.frame(trace2.HELLO, 7, hello) + RECORDS + b"\0" + END + b"\0")
        self.record(f"file:{self.line}", "--image", right)
        self.assertIn("work2", cli.nopscope("report", self.file).stdout)
        self.assertIn("work2", cli.nopscope("report", self.line, "--image", right).stdout)
        self.assertIn("give --image ELF for names", cli.nopscope("report", self.line).stderr)
        refused = cli.nopscope("report", self.file, "--image", wrong, status=3)
        self.assert_sentence(refused, "its build-id is 9999, the recording's is aabbcc")
        self.assertIn("its build-id is 9999", self.record(f"file:{self.line}", "--image", wrong, status=3).stderr)
        cli.nopscope("report", self.file, "--image", self.line, status=3)


class CodecBench(cli.Case):
    def measured(self, data, status=0):
        trace = self.directory / "trace"
        trace.write_bytes(data)
        return cli.run(os.environ["NOPSCOPE_CODEC_BENCH"], "--format", "json", trace, status=status).stdout

    def test_it_prints_its_measurements(self):
        data = encode_test.program(2, 25_000)
        told = json.loads(self.measured(data))
        self.assertEqual(told["events"], 25_000)
        self.assertTrue(told["exact"])
        self.assertLess(told["bytes_per_event"], 0.5)
        self.assertGreater(min(told["encode_meps"], told["decode_meps"]), 0)
        # The bytes also contain the coder's loss and the frames.
        share = told["bytes_per_event"] * 8 / (told["identity_bits"] + told["time_bits"])
        self.assertTrue(1 < share < 1.1, share)
        self.measured(data[:-1], 3)
        self.measured(b"\3" + data[1:], 3)


if __name__ == "__main__":
    unittest.main()
