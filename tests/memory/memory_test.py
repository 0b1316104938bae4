#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures that no command takes more memory than --memory, or long, for any recording or line.

    memory_test.py [RECORDING...]    RECORDING: a fuzzer's seed, which begins with a byte for the fuzzer. NOPSCOPE: the command.
"""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import recordings  # which knows where the next ones are
import command_lines
from suite import reference

NOPSCOPE = os.environ["NOPSCOPE"]
LIMIT_BYTES = 300_000_000
# CPU time in compilations of tests/budget/reference.cpp, so that a slow machine does not change it.
MOST_UNITS = 1.5
MOST_UNITS_OF_CALLS = 3.5  # for `paths`, which holds 3.4 million valid calls
HANG_SECONDS = 60
# Those of one recording that end by themselves; not what goes to standard output instead of a file, which is the same work.
COMMANDS = [line for lines in command_lines.TABLE.values() for line in lines
            if "{nsc}" in line and not line.startswith("serve ") and not line.endswith(" -")]
# {}: a line.
LIVE = (["record", "-q", "--from", "file:{}", "-o", "{}.nsc"], ["report", "{}.nsc"], ["report", "{}"],
        ["top", "--once", "--delay", "0", "--interval", "0.1", "--from", "file:{}"])


def run(directory, words):
    """Returns (status, peak bytes, CPU seconds, stderr's text, the output's path)."""
    out, errors = directory / "out", directory / "errors"
    with open(out, "wb") as to, open(errors, "wb") as complaints:
        process = subprocess.Popen([NOPSCOPE, *words], stdout=to, stderr=complaints,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (HANG_SECONDS, HANG_SECONDS)))
        return ended(process, errors, out)


def ended(process, errors, out=None):
    # A Popen object that nobody holds reaps a child that has ended.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, 1024 * usage.ru_maxrss, usage.ru_utime + usage.ru_stime, errors.read_text(errors="replace"), out


def serve(directory, line):
    """Like run(), for `serve`: a browser asks for what came over the line."""
    errors = directory / "errors"
    with open(errors, "wb") as complaints:
        process = subprocess.Popen([NOPSCOPE, "serve", "--from", f"file:{line}"], stdout=subprocess.PIPE, stderr=complaints)
        url = process.stdout.readline().decode().strip()
        for _ in range(2):
            time.sleep(0.5)
            try:
                with urllib.request.urlopen(url + "view", timeout=HANG_SECONDS) as view:
                    view.read()
            except (OSError, ValueError):
                pass  # it ended, perhaps before it printed its address; its status says why
        os.kill(process.pid, signal.SIGINT)  # if it has ended, Popen would take its status
        done = ended(process, errors)
        process.stdout.close()
    return done


def faults(name, words, done, most_bytes, most_seconds):
    """Lists the errors in `done`, which run() returned."""
    status, peak, seconds, said, _ = done
    where = f"{name}: {' '.join(words)}: status {status}, {peak / 1e6:.0f} MB, {seconds:.2f} s"
    print(where, flush=True)
    if peak > most_bytes:
        yield f"{where}: more than {most_bytes / 1e6:.0f} MB"
    if seconds > most_seconds:
        yield f"{where}: more than {most_seconds:.1f} s"
    if status not in (0, 2, 3, 5):
        yield f"{where}: no exit status of docs/cli.md\n{said}"
    if status != 0 and not re.search(r"^nopscope: .{10}", said, re.MULTILINE):
        yield f"{where}: no sentence\n{said}"
    if "terminate" in said or "std::" in said or "bad_alloc" in said:
        yield f"{where}: {said}"


def large(directory, most_bytes):
    """Valid data: paths beyond the limit are merged, as LittleMemory (tests/unit/host) has it. More memory separates them."""
    functions = roots = 80
    recording = directory / "large.nsc"
    recording.write_bytes(recordings.paths(functions, roots))
    for extra, merged in ([], True), (["--memory", "2GB"], False):
        status, peak, _, said, out = run(directory, ["report", recording, "--format", "json", *extra])
        print(f"large: report {extra}: {peak / 1e6:.0f} MB")
        if status != 0 or (merged and peak > most_bytes):
            yield f"large: status {status}, {peak / 1e6:.0f} MB: {said}"
        report = json.loads(out.read_text())
        if ("others" in report) != merged:
            yield f"large, {extra}: others is {report.get('others')}"
        calls = [row["calls"] for row in report["functions"]]
        if (len(calls), sum(calls)) != (functions, roots * (1 + functions * (1 + functions))):
            yield f"large, {extra}: {len(calls)} functions have {sum(calls)} calls"


def main():
    wrong, unit = [], reference()
    with tempfile.TemporaryDirectory() as holder:
        directory = pathlib.Path(holder)
        status, peak, *_ = run(directory, ["--version"])
        assert status == 0
        most_bytes = LIMIT_BYTES + peak
        cases = [*recordings.HOSTILE.items(), ("paths", recordings.paths)]
        cases += [(str(file), lambda file=file: file.read_bytes()[1:]) for file in map(pathlib.Path, sys.argv[1:])]
        for name, make in cases:
            recording = directory / "recording"
            recording.write_bytes(make())
            for command in COMMANDS:
                seconds = unit * (MOST_UNITS_OF_CALLS if make is recordings.paths else MOST_UNITS)
                with tempfile.TemporaryDirectory(dir=directory) as fresh:
                    done = run(directory, command_lines.words_of(command, {"nsc": recording, "out": f"{fresh}/out"}))
                wrong += faults(name, [command], done, most_bytes, seconds)
        for name, make in recordings.LINES.items():
            line = directory / "line"
            line.write_bytes(make())
            (directory / "line.nsc").unlink(missing_ok=True)
            for command in LIVE:
                done = run(directory, [word.replace("{}", str(line)) for word in command])
                wrong += faults("line of " + name, command, done, most_bytes, unit * MOST_UNITS)
            wrong += faults("line of " + name, ["serve"], serve(directory, line), most_bytes, unit * MOST_UNITS)
        wrong += large(directory, most_bytes)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
