# SPDX-License-Identifier: Apache-2.0
"""A recorder that a test steers."""

import re
import signal
import subprocess
import time

import machines


class Recorder:
    """`nopscope record` of a target that runs for long, and commands through it."""

    def __init__(self, directory, uri, elf, options):
        self.path, self.elf = directory / "line.nsc", elf
        self.socket = directory / "control"
        self.process = subprocess.Popen(
            [machines.NOPSCOPE, "record", "-q", "--from", uri, "--image", elf, "-o", self.path,
             "--control", f"unix:{self.socket}", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def ctl(self, *words, status=0):
        self.wait_for(self.socket.exists)
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

    def wait_for_more(self, records):
        before = self.generated()
        self.wait_for(lambda: self.generated() > before + records)

    def end(self):
        """Ends it and returns its report."""
        self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate(timeout=machines.HANG_SECONDS)[1]
        assert self.process.returncode == 0, errors
        return self.json("report")

    def json(self, command):
        return machines.as_json(command, self.path, "--image", self.elf)
