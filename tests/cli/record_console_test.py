#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recorder whose output nothing reads. It loses nothing of the line, and a signal ends it.

    record_console_test.py [--seconds N]      N: only a terminal stopped for N seconds at full rate
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
import unittest

import cli

sys.path.insert(0, str(cli.GOLDEN))
# pylint: disable=wrong-import-position
import nsc2
import trace2

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BYTES_PER_SECOND = 1_200_000  # a line at 12 Mbaud
ENDS_IN = 2  # seconds


def sessions(count, text):
    """Returns `count` equal sessions, each followed by `text` bytes of a boot loader."""
    frames = [frame for frame in trace2.frames((cli.GOLDEN / "contexts.bin").read_bytes()) if frame]
    line = bytearray()
    for number in range(1, count + 1):
        for stream, core, _, sequence, payload in frames:
            line += trace2.frame(stream, number, payload, sequence, core)
        line += (b"session %d: text in between\n" % number * (1 + text // 28))[:text] + b"\0"
    return bytes(line)


# Writes FILE repeatedly, no faster than a line, then SIGN: COMMAND FILE RATE SECONDS SIGN.
FEEDER = """
import pathlib, sys, time
data, rate, seconds = pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), float(sys.argv[3])
begin, blocks = time.monotonic(), 0
while blocks == 0 or blocks * len(data) < rate * seconds:
    time.sleep(max(0, blocks * len(data) / rate - (time.monotonic() - begin)))
    sys.stdout.buffer.write(data)
    blocks += 1
sys.stdout.flush()
pathlib.Path(sys.argv[4]).write_text(str(blocks))
time.sleep(1000)
"""


class Blocked(cli.Case):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "run.nsc"

    def stopped_terminal(self):
        """A terminal after Ctrl-S. Nothing reads it either."""
        master, slave = os.openpty()
        for end in (master, slave):
            self.addCleanup(os.close, end)
        os.write(master, b"\x13")
        return slave

    def full_pipe(self):
        reader, writer = os.pipe()
        for end in (reader, writer):
            self.addCleanup(os.close, end)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, bytes(4096))
        return writer

    def start(self, uri, stdout, stderr, *options):
        recorder = subprocess.Popen([cli.NOPSCOPE, "record", "--from", uri, "-o", self.file, "--no-until-end", *options],
                                    stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder

    def wait_for(self, condition, seconds=cli.HANG_SECONDS):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "the line is not read to its end")
            time.sleep(0.02)

    def feed(self, block, seconds):
        """Returns a URI, and the file that gets the number of blocks when all were taken."""
        line, sign, feeder = self.directory / "line", self.directory / "sign", self.directory / "feeder.py"
        line.write_bytes(block)
        feeder.write_text(FEEDER)
        return f"exec:exec python3 {feeder} {line} {BYTES_PER_SECOND} {seconds} {sign}", sign

    def end(self, recorder, number):
        begin = time.monotonic()
        recorder.send_signal(number)
        recorder.wait(timeout=cli.HANG_SECONDS)
        self.assertLess(time.monotonic() - begin, ENDS_IN)
        self.assertTrue(nsc2.Recording(self.file.read_bytes()).ended, "no end marker")

    def check_nothing_is_lost(self, seconds, stdout, number, count=10, text=180_000):
        block = sessions(count, text)
        uri, sign = self.feed(block, seconds)
        recorder = self.start(uri, stdout, subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        self.wait_for(sign.exists, seconds * 2 + cli.HANG_SECONDS)
        time.sleep(0.2)  # until the recorder has read the rest in the pipe
        self.end(recorder, number)
        blocks = int(sign.read_text())
        told, spoken = nsc2.Recording(self.file.read_bytes()), nsc2.Spoken(block)
        self.assertEqual(told.counters[0][0], blocks * len(block), "bytes of the line")
        self.assertEqual([session for session, _ in told.hellos], [session for session, _ in spoken.hellos] * blocks)
        for block_number in range(blocks):
            for (session, core), records in spoken.records.items():
                self.assertEqual(told.records[session + block_number * count, core], records)
        self.assertEqual(sum(map(len, told.records.values())), blocks * sum(map(len, spoken.records.values())))
        return recorder.stderr.read().decode(), blocks * count * text

    def test_a_stopped_terminal_loses_nothing(self):
        said, text = self.check_nothing_is_lost(5, self.stopped_terminal(), signal.SIGTERM)
        hidden = int(said.split(" bytes of the console are not shown")[0].split("nopscope: ")[-1].replace(",", ""))
        self.assertGreater(text, hidden)
        self.assertGreater(hidden, text - (3 << 20))

    def test_each_signal_ends_it_whatever_is_blocked(self):
        line = self.directory / "flood"
        line.write_bytes(sessions(1, 2_000_000))
        # A command that SIGTERM ends, and one that ignores it.
        for both, command in ((self.stopped_terminal(), f"cat {line}; exec sleep 1000"),
                              (self.full_pipe(), f"trap '' TERM HUP INT; cat {line}; sleep 1000; sleep 1000")):
            for number in SIGNALS:
                with self.subTest(command=command, signal=number):
                    recorder = self.start("exec:" + command, both, both)
                    self.wait_for(lambda: self.file.exists() and self.file.read_bytes().count(b"COUN"))
                    self.end(recorder, number)
                    self.file.unlink()

    def test_a_signal_ends_it_before_anything_is_heard(self):
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        for uri in ("exec:exec sleep 1000", f"file:{fifo}"):
            for number in SIGNALS:
                with self.subTest(uri=uri, signal=number):
                    recorder = self.start(uri, self.full_pipe(), self.full_pipe())
                    time.sleep(0.3)
                    begin = time.monotonic()
                    recorder.send_signal(number)
                    recorder.wait(timeout=cli.HANG_SECONDS)
                    self.assertLess(time.monotonic() - begin, ENDS_IN)
                    self.assertFalse(self.file.exists())

    def test_a_closed_pipe_ends_the_console_and_not_the_recording(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        said, _ = self.check_nothing_is_lost(0, writer, signal.SIGTERM, count=5, text=100)
        self.assertEqual(said.count("cannot write standard output: Broken pipe; the recording has the rest of the console"), 1, said)

    def test_a_console_that_is_read_slowly_is_shown_whole(self):
        line = self.directory / "line"
        line.write_bytes(sessions(1, 300_000))
        all_of_it = cli.nopscope("record", "--from", f"file:{line}", "-o", self.file).stdout
        self.assertGreater(len(all_of_it), 200_000)
        done = subprocess.run(f"{cli.NOPSCOPE} record --from file:{line} -o {self.file} | (sleep 1; cat)", shell=True,
                              capture_output=True, text=True, check=True, timeout=cli.HANG_SECONDS)
        self.assertEqual(done.stdout, all_of_it)
        self.assertNotIn("not shown", done.stderr)


class Long(Blocked):
    seconds = 60

    def test_a_stopped_terminal_for_long(self):
        said, _ = self.check_nothing_is_lost(self.seconds, self.stopped_terminal(), signal.SIGTERM)
        print(f"{BYTES_PER_SECOND} bytes/s for {self.seconds} s: " + said.strip().splitlines()[0].split(": ", 2)[-1])


if __name__ == "__main__":
    if "--seconds" in sys.argv:
        Long.seconds = float(sys.argv[sys.argv.index("--seconds") + 1])
        unittest.main(argv=sys.argv[:1], defaultTest="Long.test_a_stopped_terminal_for_long")
    del Long  # it has the other class's tests and a long one
    unittest.main()
