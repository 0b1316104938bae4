#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one test's command. Keeps what it made if it fails, and notes its CPU seconds.

    launch.py BUILD NAME COMMAND...

The command's temporary files (TMPDIR) and its output are in BUILD/failed/NAME afterwards if it failed, and gone if it passed.
A test of exports leaves the recordings that it read there, too. BUILD/cpu/NAME has its CPU seconds, its children's included.
A COMMAND that is a Python script runs in this process.
"""

import os
import pathlib
import resource
import runpy
import shutil
import subprocess
import sys
import tempfile
import traceback

BUILD, NAME = pathlib.Path(sys.argv[1]), sys.argv[2]
COMMAND = sys.argv[3:]


def script():
    """Returns the exit status of a script, which may not remove its temporary directories."""
    tempfile.TemporaryDirectory._rmtree = classmethod(lambda *_, **__: None)
    sys.argv = COMMAND
    sys.path[0] = str(pathlib.Path(COMMAND[0]).parent)
    try:
        runpy.run_path(COMMAND[0], run_name="__main__")
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1


def run(output):
    """Runs the command with its output in a file. Returns its exit status."""
    terminal = os.dup(1)
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    try:
        return script() if COMMAND[0].endswith(".py") else subprocess.run(COMMAND, check=False).returncode
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(terminal, 1)


def main():
    kept, seconds = BUILD / "failed" / NAME, BUILD / "cpu" / NAME
    if kept.is_symlink() or not kept.is_dir():
        kept.unlink(missing_ok=True)
    shutil.rmtree(kept, ignore_errors=True)
    for file in (kept, seconds):
        file.parent.mkdir(parents=True, exist_ok=True)
    # Sockets have short names, so the files are elsewhere first. The link leads there if a time limit ends this process.
    work = pathlib.Path(tempfile.mkdtemp(prefix="nopscope-test-"))
    work.chmod(0o755)  # some tests run a command as another user
    kept.symlink_to(work)
    os.environ["TMPDIR"] = tempfile.tempdir = str(work)
    with open(work / "output.txt", "w+b") as output:
        status = run(output)
        output.seek(0)
        shutil.copyfileobj(output, open(1, "wb", closefd=False))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds.write_text(f"{sum(of.ru_utime + of.ru_stime for of in used):.2f}\n")
    kept.unlink()
    if status == 0:
        shutil.rmtree(work, ignore_errors=True)
    else:
        shutil.move(work, kept)
        if read := os.environ.get("NOPSCOPE_RECORDINGS"):
            shutil.copytree(read, kept / "recordings")
    return status


if __name__ == "__main__":
    sys.exit(main())
