#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steers an image at random over a line that loses, flips and repeats bytes in both directions. The
test kills its recorder and starts it again, and resets the image at any time, by command and by its
reset line. With one core the image is the demo. With four it is the storm, whose cores all record.

    line_storm.py MACHINE [OPERATIONS [SEED]]

At the end the line is good. The target must answer, and all sites can be patched both ways, which
finds any wrong word. All recordings have exact sums, even if SIGKILL cut them off.
"""

import collections
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import machines  # noqa: E402
from machines import wait_for  # noqa: E402

# For each image: words, QEMU's options, patterns of functions, and one function. One thread runs
# the cores: with several, QEMU sometimes loses a store to text (docs/limits.md).
IMAGES = {
    "demo": (["rounds=1000000", "baud=3000000", "interrupts=1", "cores=1"], [],
             ("lua*", "luaV_*", "luaH_*", "luaK_* luaX_*", "luaD_*", "l_*", "str_* tinsert", "luaL_*", "main"), "luaV_execute"),
    "storm": (["line=300000", "calls=20"], ["-accel", "tcg,thread=single"],
              ("storm_*", "storm_f1*", "storm_f2* storm_f3*", "storm_f?", "storm_f*0", "storm_f63"), "storm_f7"),
}
PARTS = ("delivered", "dropped", "overwritten", "aggregated", "filtered", "lost")


def connected(path):
    """Connects to a socket of the emulator. The socket exists before the emulator listens."""
    end = socket.socket(socket.AF_UNIX)
    wait_for(lambda: path.exists() and end.connect_ex(str(path)) == 0, f"the emulator's socket {path.name}")
    return end

def image_of(machine):
    """The image that all cores of the machine run."""
    return "storm" if machine.endswith("smp4") else "demo"


def start_machine(directory, machine, words, options):
    """Starts QEMU, which waits for a connection to the target's line."""
    command = machines.qemu_command(machine, image_of(machine), words, icount=False) + options
    command[command.index("stdio")] = f"unix:{directory / 'target'},server=on,wait=on"
    command[command.index("-monitor") + 1] = f"unix:{directory / 'monitor'},server=on,wait=off"
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class FaultyLine:
    """A line from the target's socket to one host after another. Without a host, bytes are lost."""

    def __init__(self, target, path, seed):
        self.well, self.done = False, collections.Counter()
        self.target = connected(target)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(4)
        self.host = None
        threading.Thread(target=self.from_target, args=(random.Random(seed),), daemon=True).start()
        threading.Thread(target=self.from_hosts, args=(random.Random(seed + 1),), daemon=True).start()

    def spoilt(self, pending, data, dice):
        """Returns the damaged complete frames, and the rest of `data`. About 1 in 2,000 bytes is
        flipped, or up to 40 bytes from there are lost. 1 frame in 20 comes twice."""
        *frames, pending = (pending + data).split(b"\0")
        if self.well:
            return b"\0".join([*frames, b""]), pending
        out = bytearray()
        for frame in frames:
            twice = dice.random() < 0.05
            self.done["repeated"] += twice
            out += (frame + b"\0") * (1 + twice)
        at = int(dice.expovariate(1 / 2000))
        while at < len(out):
            if dice.random() < 0.5:
                out[at] ^= 1 << dice.randrange(8)
                self.done["flipped"] += 1
            else:
                count = dice.randint(1, 40)
                self.done["lost"] += len(out[at:at + count])
                del out[at:at + count]
            at += 1 + int(dice.expovariate(1 / 2000))
        return bytes(out), pending

    def from_target(self, dice):
        pending = b""
        while data := self.target.recv(1 << 16):
            host = self.host
            arrived, pending = self.spoilt(pending, data, dice)
            if host is None:
                continue
            try:
                host.sendall(arrived)
            except OSError:
                pass  # the host was killed

    def from_hosts(self, dice):
        while True:
            host, _ = self.listener.accept()
            self.host, pending = host, b""
            try:
                while data := host.recv(1 << 16):
                    arrived, pending = self.spoilt(pending, data, dice)
                    self.target.sendall(arrived)
            except OSError:
                pass
            self.host = None
            host.close()


class Storm:
    def __init__(self, directory, machine, seed):
        image = image_of(machine)
        self.directory, self.dice, self.elf = directory, random.Random(seed), machines.elf_of(machine, image)
        words, options, self.globs, self.one = IMAGES[image]
        self.counts, self.recordings, self.recorder = collections.Counter(), [], None
        self.qemu = start_machine(directory, machine, words, options)
        try:
            self.line = FaultyLine(directory / "target", directory / "host", seed)
            self.monitor = connected(directory / "monitor")
            self.record()
        except BaseException:
            self.close()
            raise

    def record(self):
        own = self.directory / str(len(self.recordings))
        own.mkdir()
        wait_for(lambda: self.line.host is None, "the last recorder's end")
        self.recorder = machines.Recorder.steered(own, f"unix:{self.directory / 'host'}", self.elf)
        self.recordings.append(self.recorder.path)
        self.recorder.wait_for(self.recorder.socket.exists)

    def ctl(self, *words):
        """Returns whether the target did it. A failure must be one sentence, on any line."""
        done = subprocess.run([machines.NOPSCOPE, "ctl", "--via", f"unix:{self.recorder.socket}", *words],
                              capture_output=True, text=True, timeout=machines.HANG_SECONDS, check=False)
        one_sentence = len(done.stderr.strip().splitlines()) == 1
        assert done.returncode == 0 or (done.returncode in (2, 3) and one_sentence), f"ctl {words}: {done}"
        self.counts["done" if done.returncode == 0 else "not done"] += 1
        return done.returncode == 0, done.stdout + done.stderr

    def kill(self):
        self.recorder.ended(signal.SIGKILL)
        self.counts["recorders killed"] += 1
        self.record()

    def reset(self):
        self.monitor.sendall(b"system_reset\n")
        self.counts["resets"] += 1

    def operation(self):
        dice = self.dice
        kind = dice.choices(("trace", "untrace", "mode", "mark", "filter", "run", "reset", "pull", "kill", "wait"),
                            (6, 4, 3, 3, 4, 2, 1, 1, 2, 4))[0]
        self.counts[kind] += 1
        commands = {
            "trace": lambda: ("trace", *(["--also"] if dice.random() < 0.3 else []), *dice.choice(self.globs).split(), "--recorder",
                              dice.choice(("graph", "function", "sampled"))),
            "untrace": lambda: ("untrace", *dice.choice(self.globs).split()),
            "mode": lambda: ("mode", dice.choice(("stream", "lossless", "flight"))),
            "mark": lambda: ("mark", str(dice.randrange(1000))),
            "filter": lambda: dice.choice((("depth", str(dice.randrange(1, 20))), ("sample", f"1/{dice.randrange(1, 9)}"),
                                           ("only", self.one), ("only",), ("min-duration", "5us"))),
            "run": lambda: (dice.choice(("stop", "start")),),
            "reset": lambda: ("reset",)}
        if kind in commands:
            self.ctl(*commands[kind]())
        if kind == "mode" and dice.random() < 0.5:
            self.ctl("snapshot", str(dice.randrange(1000)))
        elif kind == "pull":
            self.reset()
        elif kind == "kill":
            self.kill()
        elif kind == "wait":
            time.sleep(dice.random() / 2)

    def must(self, *words):
        """Runs a command on a good line."""
        for _ in range(5):
            done, said = self.ctl(*words)
            if done:
                return said
            time.sleep(0.5)
        raise AssertionError(f"ctl {words}: {said}")

    def calm(self):
        """Makes the line good and checks that the target does each command. Returns the recording."""
        self.line.well = True
        self.kill()
        for words in ("mode stream", "stop", "trace * --recorder function", "untrace *", "trace * --recorder graph", "start"):
            self.must(*words.split())
        time.sleep(1)
        self.must("stats")
        status, errors = self.recorder.ended(signal.SIGINT)
        assert status in (0, 3), errors  # 3: the line was too bad to read the target out
        return self.recorder.path

    def close(self):
        if self.recorder:
            self.recorder.__exit__()
        self.qemu.kill()
        self.qemu.wait()


def integrity(path):
    """Returns a recording's exact sums. None: its recorder was killed before a hello came."""
    if not path.exists():
        return None
    sums = machines.as_json("report", path)["integrity"]
    assert sums["generated"] == sum(sums[part] for part in PARTS), f"{path}: {sums}"
    return sums


def main():
    machine = sys.argv[1]
    operations = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with machines.Directory() as directory:
        storm = Storm(directory, machine, seed)
        try:
            for number in range(operations):
                try:
                    storm.operation()
                except Exception as error:
                    raise AssertionError(f"operation {number} of seed {seed}: {error}") from error
            last = storm.calm()
        finally:
            storm.close()
        known = [sums for sums in map(integrity, storm.recordings) if sums]
        clean = integrity(last)
        cores = int(machines.nopscope("query", last, "select count(distinct core) from tracks").stdout.split()[-1])
    # The recording begins in the middle of a frame.
    assert clean["corrupt_frames"] <= 1 and clean["delivered"] >= 10_000, f"the line loses nothing any more, and yet: {clean}"
    assert cores == (4 if machine.endswith("smp4") else 1), f"{cores} cores have recorded"
    total = collections.Counter()
    for sums in known:
        total.update({key: sums[key] for key in (*PARTS, "generated", "corrupt_frames", "gaps")})
    assert total["corrupt_frames"] and total["gaps"] and storm.line.done["repeated"] and storm.counts["done"] > operations / 4, \
        f"too little has happened: {total} {storm.line.done} {storm.counts}"
    print(f"line storm: {operations} operations, seed {seed}: " + ", ".join(f"{what} {n}" for what, n in sorted(storm.counts.items())))
    print(f"  cores: {cores}; the line: " + ", ".join(f"{what} {n}" for what, n in sorted(storm.line.done.items())) + " (bytes; frames repeated)")
    print(f"  {len(storm.recordings)} recordings, {len(known)} of them with a session: " +
          ", ".join(f"{what} {n}" for what, n in total.items()))


if __name__ == "__main__":
    main()
