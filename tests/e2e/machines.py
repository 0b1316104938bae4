# SPDX-License-Identifier: Apache-2.0
"""Runs an image under QEMU together with `nopscope record`, and keeps all results of the run: exit
status, console, the line's bytes, the recording, the report, the oracle's counts.

    with Directory() as directory:
        run = record(directory, "virt-max", "demo", ["rounds=1"], oracle=True)

From the environment: NOPSCOPE (the command), NOPSCOPE_BUILD_ROOT (holds virt/, rpi4/ and the other boards'),
NOPSCOPE_ORACLE (the plugin).
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "verification/oracle"))
sys.path.append(str(HERE.parent / "conformance"))
from qemu import HANG_SECONDS, elf_of, qemu_command  # noqa: E402
import compare  # noqa: E402
import sites  # noqa: E402
import times  # noqa: E402
import wire  # noqa: E402

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

    def json(self, command, *arguments):
        return as_json(command, self.recording, *arguments, "--image", self.elf)

    def report_json(self, *arguments):
        return self.json("report", *arguments)

    def query(self, question):
        """The rows of an answer of a database that has each single call."""
        return [tuple(row.values()) for row in self.json("query", question)]

    def own(self):
        """The instructions of its own of each function, by address, as the oracle counts them."""
        return {int(function["address"], 16): function["own"] for function in self.oracle["functions"]}


def wait_for(condition, what="it has not come", seconds=60):
    """`what`: the error's text, or a function that makes it."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.05)


class Case(unittest.TestCase):
    """A test with a directory of its own, and what tests ask of recordings."""

    def setUp(self):
        self.directory = self.enterContext(Directory())

    def ran(self, machine, image, *words, clean=True, **options):
        """Records an image that must end well. Returns the run and its report."""
        run = record(self.enterContext(Directory()), machine, image, words, **options)
        self.assertEqual(run.status, 0, run.console + run.errors)
        report = run.report_json()
        if clean:
            self.assert_clean(report)
        return run, report

    def assert_clean(self, report):
        self.assertTrue(report["integrity"]["clean"], report["integrity"])

    def assert_zero(self, counts, *names):
        self.assertEqual({name: counts[name] for name in names}, dict.fromkeys(names, 0), counts)

    def assert_generated(self, integrity, *parts):
        """All records that were made are in the parts; none: in any part."""
        parts = parts or ("delivered", "dropped", "overwritten", "aggregated", "filtered", "lost")
        self.assertEqual(integrity["generated"], sum(integrity[part] for part in parts), integrity)

    def assert_as_oracle(self, report, oracle):
        """Each function's calls are the oracle's (compare_test.py)."""
        self.assertEqual(compare.differences(report, oracle), [])

    def assert_second_reader_agrees(self, run, report):
        """conformance/decode.py, which reads a line of several cores or tasks."""
        line, told = (run.recording.with_suffix(suffix) for suffix in (".bytes", ".json"))
        line.write_bytes(run.line)
        told.write_text(json.dumps(report))
        done = subprocess.run([sys.executable, "-B", HERE.parent / "conformance/decode.py", line, told], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_sentence(self, done, pattern):
        """The command has said one sentence. QEMU's lines do not count."""
        said = [line for line in done.stderr.splitlines() if not line.startswith("qemu-system")]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], pattern)


def counts_of_tasks(run):
    """Of each task that ran, the counts by function, as nopscope and as the oracle have them. The two do not name tasks alike."""
    told = collections.defaultdict(dict)
    for core, context, address, calls in run.query("""SELECT tracks.core, tracks.context, functions.address, count(*)
            FROM calls JOIN tracks ON tracks.id = calls.track JOIN functions ON functions.id = calls.function
            WHERE functions.kind = 'function' GROUP BY 1, 2, 3"""):
        told[core if context == 0 else None, context][hex(address)] = calls
    counted = [{function["address"]: function["calls"] for function in task} for task in run.oracle["tasks"]]
    return [collections.Counter(json.dumps(task, sort_keys=True) for task in tasks) for tasks in (told.values(), counted)]


class Recorded(Case):
    """Tests of one recording: of IMAGE with WORDS on MACHINE, by OPTIONS of record()."""

    WORDS, OPTIONS = (), {}

    @classmethod
    def setUpClass(cls):
        cls.run_ = record(cls.enterClassContext(Directory()), cls.MACHINE, cls.IMAGE, cls.WORDS, **cls.OPTIONS)
        cls.report = cls.run_.report_json()
        cls.integrity = cls.report["integrity"]
        cls.functions = {f["name"]: f for f in cls.report["functions"]}
        cls.line = wire.Line(cls.run_.line)

    def ended(self, *said):
        """It ran to its end, printed these texts, and lost nothing."""
        self.assertEqual(self.run_.status, 0, self.run_.console + self.run_.errors)
        for text in said:
            self.assertIn(text, self.run_.console)
        self.assert_clean(self.report)


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
        raise AssertionError(f"nopscope {shlex.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    check_times(*[word for word in arguments if str(word).endswith(".nsc")] if status == 0 else [])
    return done


def with_profile(report):
    """The functions of a report, with the calls that are only in its profile."""
    rows = {f["address"]: dict(f) for f in report["functions"]}
    for profiled in report.get("profile", {"functions": []})["functions"]:
        row = rows.setdefault(profiled["address"], profiled | {"calls": 0})
        row["calls"] += profiled["calls"]
    return list(rows.values())


def recorded(directory, uri, elf, *options, status=0):
    """Returns the line, its report and what `record` said. None: there is no recording."""
    raw, recording = directory / "recorded.raw", directory / "recorded.nsc"
    done = nopscope("record", "-q", "--from", uri, "--image", elf, "-o", recording, "--save-line", raw, *options, status=status)
    return raw.read_bytes() if raw.exists() else None, as_json("report", recording) if recording.exists() else None, done.stderr


def endless_demo(machine, *words, serial="stdio"):
    """A demo on one core that would run for minutes."""
    return qemu_command(machine, "demo", ["rounds=100000", "baud=3000000", "cores=1", *words], icount=False, serial=serial)


class Started:
    """A machine that makes the Unix socket `path`. The test can kill it and start it again."""

    def __init__(self, path, command):
        self.path, self.command = path, command

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.path.exists, "the emulator has not made its socket")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.path.unlink(missing_ok=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()


class Target(Started):
    """Its line is the socket."""

    def __init__(self, path, command):
        """`command`: QEMU's, by the line's -serial."""
        super().__init__(path, command(serial=f"unix:{path},server=on,wait=on"))


def as_json(*arguments):
    return json.loads(nopscope(*arguments, "--format", "json").stdout)


class Recorder:
    """`nopscope record` of a target that runs for long, and commands through it."""

    def __init__(self, directory, uri, elf, *options, verb="record"):
        self.path, self.elf, self.socket = directory / "line.nsc", elf, directory / "control"
        self.path.unlink(missing_ok=True)
        self.begin = time.time()
        self.process = subprocess.Popen([NOPSCOPE, verb, "--from", uri, "--image", elf, "-o", self.path, *map(str, options)],
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
        done = nopscope("ctl", "--via", f"unix:{self.socket}", *words, status=status)
        return done.stdout + done.stderr

    def generated(self):
        return int(re.search("generated ([0-9]+)", self.ctl("stats"))[1])

    def wait_for(self, condition):
        def is_so():
            if self.process.poll() is not None:
                raise AssertionError(f"the recorder has ended: {self.process.communicate()[1]}")
            return condition()
        wait_for(is_so, "nothing was recorded")

    def wait_for_chunks(self, count=1, kind=b"TRCE"):
        self.wait_for(lambda: self.path.exists() and self.path.read_bytes().count(kind) >= count)

    def wait_for_more(self, records):
        before = self.generated()
        self.wait_for(lambda: self.generated() > before + records)

    def ended(self, number=None):
        """Waits for its end. Returns exit status and errors. `number`: a signal to send first."""
        if number is not None:
            self.process.send_signal(number)
        errors = self.process.communicate(timeout=HANG_SECONDS)[1]
        self.seconds = time.time() - self.begin
        return self.process.returncode, errors

    def end(self):
        """Ends it and returns its report."""
        status, errors = self.ended(signal.SIGINT)
        assert status == 0, errors
        return self.json("report")

    def json(self, command):
        return as_json(command, self.path, "--image", self.elf)


def oracle_arguments(elf, path, out, own=False, stop=None, more=()):
    """QEMU's arguments for the oracle, whose map is written to `path`. `stop`: a symbol, up to which it counts, too.
    `more`: lines of the map."""
    image = sites.Image(elf)
    lines = [f"site {word:x} {function:x} {image.ends.get(function, 0) if own else 0:x}" for word, function in sites.patch_sites(image)]
    lines += [f"switch {begin:x} {end:x}" for begin, end in sites.switching(image)]
    lines += [f"stop {image.symbols[stop]:x}"] if stop else []
    lines += more
    path.write_text("\n".join(lines) + "\n")
    return ["-plugin", f"{ORACLE},map={path},out={out}"]


def record(directory, machine, image, words=(), icount=True, oracle=False, options=(), own=False, more=()):
    """`icount`: as for qemu_command(). `options`: more options for `record`. `own`: the oracle also counts each function's
    own instructions. `more`: as for oracle_arguments()."""
    elf = elf_of(machine, image)
    recording, raw, counts = directory / "line.nsc", directory / "line.raw", directory / "counts"
    command = qemu_command(machine, image, words, icount)
    if oracle:
        command += oracle_arguments(elf, directory / "sites", counts, own, more=more)
    done = subprocess.run([NOPSCOPE, "record", "--from", "exec:" + shlex.join(command), "--image",
                           str(elf), "-o", str(recording), "--save-line", str(raw), *options], capture_output=True,
                          text=True, errors="replace", timeout=HANG_SECONDS, stdin=subprocess.DEVNULL)
    check_times(recording)
    return Run(done.returncode, done.stdout, done.stderr, raw.read_bytes(), recording, elf,
               json.loads(counts.read_text()) if oracle else None)
