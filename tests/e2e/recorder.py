# SPDX-License-Identifier: Apache-2.0
"""A recorder that a test steers and ends."""

import re
import subprocess
import time
from signal import SIGINT

import machines


class Recorder:
    """`nopscope record` of a target that runs for long, and commands through it."""

    def __init__(self, directory, uri, elf, *options, verb="record"):
        self.path, self.elf, self.socket = directory / "line.nsc", elf, directory / "control"
        self.path.unlink(missing_ok=True)
        self.begin = time.time()
        self.process = subprocess.Popen([machines.NOPSCOPE, verb, "--from", uri, "--image", elf, "-o", self.path, *map(str, options)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @classmethod
    def steered(cls, directory, uri, elf, *options):
        return cls(directory, uri, elf, "-q", "--control", f"unix:{directory / 'control'}", *options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ctl(self, *words, status=0):
        self.wait_for(self.socket.exists)
        done = machines.nopscope("ctl", "--via", f"unix:{self.socket}", *words, status=status)
        return done.stdout + done.stderr

    def generated(self):
        return int(re.search("generated ([0-9]+)", self.ctl("stats"))[1])

    def wait_for(self, condition):
        def is_so():
            if self.process.poll() is not None:
                raise AssertionError(f"the recorder has ended: {self.process.communicate()[1]}")
            return condition()
        machines.wait_for(is_so, "nothing was recorded")

    def wait_for_chunks(self, count=1, kind=b"TRCE"):
        self.wait_for(lambda: self.path.exists() and self.path.read_bytes().count(kind) >= count)

    def wait_for_more(self, records):
        before = self.generated()
        self.wait_for(lambda: self.generated() > before + records)

    def ended(self, number=None):
        """Waits for its end. Returns exit status and errors. `number`: a signal to send first."""
        if number is not None:
            self.process.send_signal(number)
        errors = self.process.communicate(timeout=machines.HANG_SECONDS)[1]
        self.seconds = time.time() - self.begin
        return self.process.returncode, errors

    def end(self):
        """Ends it and returns its report."""
        status, errors = self.ended(SIGINT)
        assert status == 0, errors
        return self.json("report")

    def json(self, command):
        return machines.as_json(command, self.path, "--image", self.elf)
