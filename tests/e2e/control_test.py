#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Control from the host: it changes what is traced during a recording, also over a line that loses
commands and replies.

    control_test.py MACHINE [TEST]...
"""

import contextlib
import json
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import machines

MACHINE = sys.argv.pop(1)
SEED = 5
COMMAND, REPLY = 6, 7


def functions(report):
    return {f["name"]: f["calls"] for f in report["functions"]}


class Recorder:
    """`nopscope record` of a demo that would run for minutes."""

    def __init__(self, directory, uri, options, words=()):
        self.path = directory / "line.nsc"
        self.socket = directory / "control"
        self.process = subprocess.Popen(
            [machines.NOPSCOPE, "record", "-q", "--from", uri, "--image", ELF, "-o", self.path,
             "--control", f"unix:{self.socket}", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def ctl(self, *words, status=0):
        done = machines.nopscope("ctl", "--via", f"unix:{self.socket}", *words, status=status)
        return done.stdout + done.stderr

    def generated(self):
        return int(re.search("generated ([0-9]+)", self.ctl("stats"))[1])

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"the recorder has ended: {self.process.stderr.read()}")
            if time.monotonic() > deadline:
                raise AssertionError("nothing was recorded")
            time.sleep(0.05)

    def end(self):
        """Ends it and returns its report."""
        self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate(timeout=machines.HANG_SECONDS)[1]
        assert self.process.returncode == 0, errors
        return self.json("report")

    def json(self, command):
        return json.loads(machines.nopscope(command, self.path, "--image", ELF, "--format", "json").stdout)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


ELF = machines.elf_of(MACHINE, "demo")


def demo(*words):
    return machines.qemu_command(MACHINE, "demo", ["rounds=100000", "baud=3000000", *words],
                                 icount=False)


class Steered(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(machines.Directory())

    def record(self, *options, words=()):
        recorder = Recorder(self.directory, "exec:" + shlex.join(demo(*words)), options)
        self.addCleanup(recorder.kill)
        recorder.wait_for(recorder.socket.exists)
        return recorder

    def test_what_is_traced_changes_while_it_is_recorded(self):
        recorder = self.record("--trace", "luaV_*", "--notrace", "luaV_lessthan", "--recorder", "graph",
                               words=["recorder=none"])
        recorder.wait_for(lambda: recorder.generated() > 5000)
        self.assertRegex(recorder.ctl("mark", "4711"), "^ok")
        self.assertRegex(recorder.ctl("trace", "luaH_*", "luaC_step", "--recorder", "function"),
                         "tracing [0-9]+ functions")
        before = recorder.generated()
        recorder.wait_for(lambda: recorder.generated() > before + 1000)
        self.assertRegex(recorder.ctl("trace", "--also", "main"), "1 function more")
        self.assertRegex(recorder.ctl("untrace", "luaH_*"), "no longer")
        self.assertRegex(recorder.ctl("stats"), "^recording; 2 functions traced")
        self.assertRegex(recorder.ctl("stop"), "ok")
        self.assertRegex(recorder.ctl("stats"), "^stopped")
        recorder.ctl("start")
        self.assertRegex(recorder.ctl("baud", "1000000"), "runs at 1000000")
        time.sleep(2.5)  # the target keeps this rate
        self.assertRegex(recorder.ctl("stats"), "^recording")
        for words in (["untrace", "nothing_of_that_name"], ["fly"], ["depth", "deep"], ["baud", "0"]):
            said = recorder.ctl(*words, status=2)
            self.assertEqual(len(said.strip().splitlines()), 1, said)
        report = recorder.end()
        calls = functions(report)
        for name in ("luaV_", "luaH_"):
            self.assertGreater(sum(n for f, n in calls.items() if f.startswith(name)), 10, name)
        self.assertNotIn("luaV_lessthan", calls)
        self.assertFalse([f for f in calls if f.startswith(("luaD_", "luaK_"))], "the filter came late")
        markers = [m["id"] for m in recorder.json("graph")["markers"]]
        self.assertEqual(markers, [4711])
        self.assertEqual(report["integrity"]["corrupt_frames"], 0)
        self.assertEqual(report["integrity"]["gaps"], 0)
        self.assertEqual(report["integrity"]["commands_refused"], 0)

    def test_filters_on_the_target(self):
        recorder = self.record("--trace", "lua*", "--min-duration", "50us")
        recorder.wait_for(lambda: recorder.generated() > 10_000)  # most of them are filtered
        self.assertRegex(recorder.ctl("depth", "3"), "ok")
        self.assertRegex(recorder.ctl("sample", "1/10"), "ok")
        self.assertRegex(recorder.ctl("trace", "lua*", "--recorder", "sampled"), "tracing")
        self.assertRegex(recorder.ctl("only", "luaV_execute"), "only 1 function and below")
        self.assertRegex(recorder.ctl("only"), "all that is traced")
        self.assertRegex(recorder.ctl("capture", "x0,x1,result", "luaV_execute"), "capturing")
        time.sleep(0.5)
        self.assertRegex(recorder.ctl("capture", "none", "luaV_execute"), "capturing none")
        recorder.ctl("stats")  # makes the target send a stats frame
        time.sleep(0.5)
        report = recorder.end()
        self.assertGreater(report["integrity"]["filtered"], 1000)
        self.assertEqual(report["integrity"]["commands_refused"], 0)

    def test_profile_as_a_mode(self):
        recorder = self.record("--recorder", "profile", "--mode", "stream", words=["mode=adaptive"])
        recorder.wait_for(lambda: " 0 selected" not in recorder.ctl("stats"))
        before, since = recorder.generated(), time.monotonic()
        time.sleep(0.5)
        # The tracer's own records continue: two for each of 1,000 pumps a second.
        after, seconds = recorder.generated(), time.monotonic() - since
        self.assertLess(after - before, 3000 * seconds, "calls are still recorded one by one")
        recorder.ctl("send-profile")
        time.sleep(0.5)
        recorder.ctl("stats")  # makes the target send a stats frame
        time.sleep(0.5)
        report = recorder.end()
        self.assertGreater(report["integrity"]["aggregated"], 10_000)
        self.assertEqual(report["integrity"]["commands_refused"], 0)

    def test_a_reset_target_is_asked_again(self):
        recorder = self.record("--trace", "luaV_*")
        recorder.wait_for(lambda: recorder.generated() > 5000)
        self.assertRegex(recorder.ctl("reset"), "has been reset")
        recorder.wait_for(lambda: recorder.generated() > 5000)
        # The demo begins with all functions traced.
        self.assertRegex(recorder.ctl("stats"), "recording; [0-9][0-9]? functions traced")
        self.assertEqual(recorder.end()["sessions"], 2)

    def test_an_option_that_the_target_does_not_know_ends_the_recording_with_one_sentence(self):
        done = machines.nopscope("record", "-q", "--from", "exec:" + shlex.join(demo()), "--image", ELF,
                                 "-o", self.directory / "line.nsc", "--trace", "nothing_of_that_name",
                                 status=2)
        said = [line for line in done.stderr.splitlines() if not line.startswith("qemu-system")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "no traceable function")

    def test_a_line_that_goes_one_way_is_refused(self):
        done = machines.nopscope("ctl", "--from", "file:/dev/null", "stats", status=2)
        self.assertRegex(done.stderr, "commands cannot be sent")
        done = machines.nopscope("ctl", "--via", f"unix:{self.directory / 'none'}", "stats", status=3)
        self.assertRegex(done.stderr, "cannot connect")


class Direct(unittest.TestCase):
    def test_ctl_speaks_to_a_target_that_nobody_records(self):
        with machines.Directory() as directory, target_on(directory / "target"):
            def ctl(*words, status=0):
                return machines.nopscope("ctl", "--from", f"unix:{directory / 'target'}", "--image", ELF,
                                         *words, status=status)
            self.assertRegex(ctl("trace", "lua_*", "--recorder", "function").stdout, "^tracing")
            self.assertRegex(ctl("stats").stdout, "[0-9]+ functions traced")
            self.assertRegex(ctl("trace", "main", "--recorder", "profile", status=3).stderr,
                             "Config::profile_memory")
        with machines.Directory() as directory, socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(directory / "mute"))
            mute.listen(1)
            said = machines.nopscope("ctl", "--from", f"unix:{directory / 'mute'}", "stats", status=3)
            self.assertRegex(said.stderr, "no byte came in 2.[89] s: is the target on")


@contextlib.contextmanager
def target_on(path):
    """A demo whose line is a Unix socket."""
    command = demo()
    command[command.index("stdio")] = f"unix:{path},server=on,wait=on"
    qemu = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not path.exists():
            assert time.monotonic() < deadline, "the emulator has not made its socket"
            time.sleep(0.05)
        yield
    finally:
        qemu.kill()
        qemu.wait()


class LossyProxy(threading.Thread):
    """A line that loses a third of commands and replies, and damages some."""

    def __init__(self, listener, target):
        super().__init__(daemon=True)
        self.random = random.Random(SEED)
        self.listener, self.target = listener, target
        self.lost = {COMMAND: 0, REPLY: 0}

    def forward(self, source, to, stream):
        pending = b""
        while data := source.recv(65536):
            *frames, pending = (pending + data).split(b"\0")
            for frame in frames:
                if frame[1:2] == bytes([stream]) and self.random.random() < 1 / 3:
                    self.lost[stream] += 1
                    if self.random.random() < 1 / 2:
                        continue
                    at = self.random.randrange(len(frame))
                    frame = frame[:at] + frame[at + 1:]
                to.sendall(frame + b"\0")

    def run(self):
        recorder, _ = self.listener.accept()
        with recorder:
            back = threading.Thread(target=self.quietly, args=(recorder, self.target, COMMAND),
                                    daemon=True)
            back.start()
            self.quietly(self.target, recorder, REPLY)
            back.join()

    def quietly(self, *arguments):
        try:
            self.forward(*arguments)
        except OSError:
            pass  # one side has closed


class Lossy(unittest.TestCase):
    def test_each_command_is_done_once_however_often_it_is_sent(self):
        directory = self.enterContext(machines.Directory())
        host_path = str(directory / "host")
        with target_on(directory / "target"), socket.socket(socket.AF_UNIX) as target, \
                socket.socket(socket.AF_UNIX) as listener:
            target.connect(str(directory / "target"))
            listener.bind(host_path)
            listener.listen(1)
            proxy = LossyProxy(listener, target)
            proxy.start()
            recorder = Recorder(directory, f"unix:{host_path}", ["--trace", "luaV_*"])
            self.addCleanup(recorder.kill)
            recorder.wait_for(recorder.socket.exists)
            wanted = list(range(1, 31))
            for number in wanted:
                recorder.ctl("mark", str(number))
            time.sleep(0.3)
            report = recorder.end()
            markers = [m["id"] for m in recorder.json("graph")["markers"]]
        self.assertEqual(markers, wanted)
        self.assertGreater(proxy.lost[COMMAND], 5)
        self.assertGreater(proxy.lost[REPLY], 5)
        self.assertGreater(report["integrity"]["commands_refused"], 0)


if __name__ == "__main__":
    unittest.main()
