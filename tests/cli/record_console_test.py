#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands and terminals. A recorder whose output nothing reads loses nothing of the line, and a signal ends it. Long work shows
its progress on a terminal, and nowhere else.

    record_console_test.py [CLASS...]
    record_console_test.py --seconds N      only a terminal stopped for N seconds at full rate
"""

import fcntl
import os
import re
import select
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
        master, slave = self.terminal()
        os.write(master, b"\x13")
        return slave

    def full_pipe(self):
        reader, writer = os.pipe()
        for end in (reader, writer):
            self.addCleanup(os.close, end)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, bytes(4096))
        return writer

    def record(self, uri, stdout, stderr):
        return self.start("record", "--from", uri, "-o", self.file, "--no-until-end", stdout=stdout, stderr=stderr)

    def feed(self, block, seconds):
        """Returns a URI, and the file that gets the number of blocks when all were taken."""
        line, sign, feeder = self.directory / "line", self.directory / "sign", self.directory / "feeder.py"
        line.write_bytes(block)
        feeder.write_text(FEEDER)
        return f"exec:exec python3 {feeder} {line} {BYTES_PER_SECOND} {seconds} {sign}", sign

    def end(self, recorder, number, heard=True):
        begin = time.monotonic()
        recorder.send_signal(number)
        recorder.wait(timeout=cli.HANG_SECONDS)
        self.assertLess(time.monotonic() - begin, ENDS_IN)
        if not heard:
            self.assertFalse(self.file.exists())
            return
        self.assertTrue(nsc2.Recording(self.file.read_bytes()).ended, "no end marker")

    def check_nothing_is_lost(self, seconds, stdout, number, count=10, text=180_000):
        block = sessions(count, text)
        uri, sign = self.feed(block, seconds)
        recorder = self.record(uri, stdout, subprocess.PIPE)
        self.wait_until(sign.exists, seconds * 2 + cli.HANG_SECONDS)
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
                    recorder = self.record("exec:" + command, both, both)
                    self.wait_until(lambda: self.file.exists() and self.file.read_bytes().count(b"COUN"))
                    self.end(recorder, number)
                    self.file.unlink()

    def test_a_signal_ends_it_before_anything_is_heard(self):
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        for uri in ("exec:exec sleep 1000", f"file:{fifo}"):
            for number in SIGNALS:
                with self.subTest(uri=uri, signal=number):
                    recorder = self.record(uri, self.full_pipe(), self.full_pipe())
                    time.sleep(0.3)
                    self.end(recorder, number, heard=False)

    def test_a_closed_pipe_ends_the_console_and_not_the_recording(self):
        said, _ = self.check_nothing_is_lost(0, self.closed_pipe(), signal.SIGTERM, count=5, text=100)
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


class Progress(cli.Case):
    def begin(self, stderr, file="-", stdin=subprocess.DEVNULL):
        return self.start("report", file, stdin=stdin, stderr=stderr)

    def fed(self, stderr):
        """Reads a pipe that gets a MB now and then."""
        process = self.begin(stderr, stdin=subprocess.PIPE)
        for _ in range(4):
            process.stdin.write(b"x" * (1 << 20))
            process.stdin.flush()
            time.sleep(0.3)
        return process

    def shown(self, pattern, terminal):
        """Returns the terminal's text up to the match of `pattern`."""
        told, end = b"", time.monotonic() + cli.HANG_SECONDS
        while not re.search(pattern, told):
            self.assertLess(time.monotonic(), end, told)
            if select.select([terminal], [], [], 1)[0]:
                told += os.read(terminal, 4096)
        return told

    def test_a_file_in_percent(self):
        long = self.directory / "long"
        long.touch()
        os.truncate(long, 1 << 40)  # the file has no blocks
        main, other = self.terminal()
        self.begin(other, long)
        self.shown(rb"\r\x1b\[Kreading [^\r]*long: [0-9]+ %, [0-9]+ s left", main)

    def test_a_pipe_in_bytes_and_the_line_goes_away(self):
        main, other = self.terminal()
        process = self.fed(other)
        self.shown(rb"reading -: [0-9.]+ MB", main)
        process.communicate(timeout=cli.HANG_SECONDS)
        # The message that nothing was recorded has its own line.
        self.assertRegex(self.shown(rb"nopscope: [^\r]*\r\n", main).split(b"nopscope:")[0][-8:], rb"\r\x1b\[K$")

    def test_what_is_no_terminal_is_told_nothing(self):
        said = self.fed(subprocess.PIPE).communicate(timeout=cli.HANG_SECONDS)[1]
        self.assertNotIn(b"reading", said)
        self.assertIn(b"nopscope: ", said)


if __name__ == "__main__":
    if "--seconds" in sys.argv:
        Long.seconds = float(sys.argv[sys.argv.index("--seconds") + 1])
        unittest.main(argv=sys.argv[:1], defaultTest="Long.test_a_stopped_terminal_for_long")
    del Long  # it has the other class's tests and a long one
    unittest.main()
