# SPDX-License-Identifier: Apache-2.0
"""Runs an image under QEMU together with `nopscope record`, and keeps all results of the run: exit
status, console, the line's bytes, the recording, the report, the oracle's counts.

    with Directory() as directory:
        run = record(directory, "virt-max", "demo", ["rounds=1"], oracle=True)

From the environment: NOPSCOPE (the command), NOPSCOPE_BUILD_ROOT (holds virt/, rpi4/ and the other boards'),
NOPSCOPE_ORACLE (the plugin).
"""

import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "verification/oracle"))
sys.path.append(str(HERE.parent / "conformance"))
from qemu import HANG_SECONDS, elf_of, qemu_command  # noqa: E402
import sites  # noqa: E402
import times  # noqa: E402

NOPSCOPE = os.environ["NOPSCOPE"]
BUILD_ROOT = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"])
ORACLE = os.environ["NOPSCOPE_ORACLE"]


class Directory(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


@dataclasses.dataclass
class Run:
    status: int          # of `nopscope record`
    console: str
    errors: str          # the same command's standard error
    line: bytes          # the UART's bytes
    recording: pathlib.Path
    elf: pathlib.Path
    oracle: dict         # the plugin's result, or None

    def report(self, *arguments):
        return nopscope("report", self.recording, "--image", self.elf, *arguments).stdout

    def report_json(self):
        return as_json("report", self.recording, "--image", self.elf)

    def graph_json(self):
        return as_json("graph", self.recording, "--image", self.elf)


checked = set()


def check_times(*recordings):
    """Checks the times of recordings (times.py). Every recording that a test makes or reads goes through here once."""
    for path in map(pathlib.Path, recordings):
        if path.suffix != ".nsc" or not path.is_file():
            continue
        if version(path) not in checked:
            times.check(NOPSCOPE, path)
            checked.add(version(path))


def version(path):
    of = path.stat()
    return path, of.st_size, of.st_mtime_ns


def nopscope(*arguments, status=0):
    """Runs the command, which must exit with `status`. Checks the recordings that it uses."""
    done = subprocess.run([NOPSCOPE, *map(str, arguments)], capture_output=True, text=True, timeout=HANG_SECONDS, errors="replace")
    if done.returncode != status:
        raise AssertionError(f"nopscope {shlex.join(map(str, arguments))}: exit status "
                             f"{done.returncode}\n{done.stdout}{done.stderr}")
    check_times(*[word for word in arguments if str(word).endswith(".nsc")] if status == 0 else [])
    return done


def endless_demo(machine, *words, serial="stdio"):
    """A demo on one core that would run for minutes."""
    return qemu_command(machine, "demo", ["rounds=100000", "baud=3000000", "cores=1", *words], icount=False, serial=serial)


class Target:
    """A machine whose line is the Unix socket `path`. The test can kill it and start it again."""

    def __init__(self, path, command):
        """`command`: QEMU's, by the line's -serial."""
        self.path, self.command = path, command(serial=f"unix:{path},server=on,wait=on")

    def start(self):
        self.qemu = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not self.path.exists():
            assert time.monotonic() < deadline, "the emulator has not made its socket"
            time.sleep(0.05)

    def kill(self):
        self.qemu.kill()
        self.qemu.wait()
        self.path.unlink(missing_ok=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()


def as_json(*arguments):
    return json.loads(nopscope(*arguments, "--format", "json").stdout)


def oracle_arguments(elf, site_list, out, own):
    image = sites.Image(elf)
    site_list.write_text("".join(
        f"{word:x} {function:x} {image.ends.get(function, 0) if own else 0:x}\n" for word, function in sites.patch_sites(image)))
    switching = sites.switching(image)
    tasks = ",switch=" + ":".join(f"{begin:x}:{end:x}" for begin, end in switching) if switching else ""
    return ["-plugin", f"{ORACLE},sites={site_list},out={out}{tasks}"]


def record(directory, machine, image, words=(), icount=True, oracle=False, options=(),
           own=False, plugin=(), elf=None, plausible=True):
    """`icount`, `elf`: as for qemu_command(). `options`: more options for `record`. `own`: the oracle
    also counts each function's own instructions. `plugin`: QEMU's arguments for another plugin.
    `plausible` False: the recording is wrong on purpose."""
    elf = elf or elf_of(machine, image)
    recording, raw, counts = directory / "line.nsc", directory / "line.raw", directory / "counts"
    command = qemu_command(machine, image, words, icount, elf)
    if oracle:
        command += oracle_arguments(elf, directory / "sites", counts, own)
    command += plugin
    done = subprocess.run([NOPSCOPE, "record", "--from", "exec:" + shlex.join(command), "--image",
                           str(elf), "-o", str(recording), "--save-line", str(raw), *options], capture_output=True,
                          text=True, errors="replace", timeout=HANG_SECONDS, stdin=subprocess.DEVNULL)
    if not plausible:
        checked.add(version(recording))
    check_times(recording)
    return Run(done.returncode, done.stdout, done.stderr, raw.read_bytes(), recording, elf,
               json.loads(counts.read_text()) if oracle else None)
