#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings and lines of earlier formats open, and say what they said when they were made (docs/versions.md).

    old_recordings.py NOPSCOPE [RECORDINGS]
    old_recordings.py NOPSCOPE --add NAME LINE.bin   keeps a line, and a recording of it

recordings/VERSION/NAME.nsc is what `nopscope record --from file:NAME.bin` of that version wrote. recordings/line-N/NAME.bin is what
a target sent in the line's format N, NAME.nsc a recording of it, NAME.csv and NAME.json what `report` and `info` say of both. No
recording and no line is ever written again. Exit status 1: one reads otherwise, or a format that nopscope reads has none.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE / "recordings"
# What info says of the file and not of the target.
OF_THE_FILE = ("source", "tool", "started_unix_ns", "raw_capture", "ended", "exit_status", "has_symbols")


def said(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def info_of(nopscope, path):
    text = said(nopscope, "info", "--format", "json", path)
    return json.loads(text) if text.startswith("{") else {"failed": text}


def facts_of(info):
    return {key: value for key, value in info.items() if key not in OF_THE_FILE}


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def differences(kept, now, where=""):
    """Where `now` says otherwise. Later versions may have more keys and columns."""
    for key, value in kept.items():
        if isinstance(value, dict) and isinstance(now.get(key), dict):
            yield from differences(value, now[key], f"{where}{key}.")
        elif key not in now or now[key] != value:
            yield f"{where}{key} is {now.get(key)}, not {value}"


def of_versions(nopscope, recordings):
    for path in sorted(recordings.glob("[0-9]*/*.nsc")):
        name = path.relative_to(recordings)
        of_line = said(nopscope, "report", "--format", "csv", HERE / f"{path.stem}.bin")
        if (now := said(nopscope, "report", "--format", "csv", path)) != of_line or len(of_line.splitlines()) < 2:
            yield f"{name} and its line read otherwise:\n{now}{of_line}"
        if (tool := info_of(nopscope, path).get("tool")) != f"nopscope {path.parent.name}":
            yield f"{name}: info does not say nopscope {path.parent.name}: {tool}"


def of_lines(nopscope, recordings):
    for table in sorted(recordings.glob("line-*/*.csv")):
        version = int(table.parent.name.removeprefix("line-"))
        kept, rows = json.loads(table.with_suffix(".json").read_text()), rows_of(table.read_text())
        for path in (table.with_suffix(".bin"), table.with_suffix(".nsc")):
            name = path.relative_to(recordings)
            now = rows_of(said(nopscope, "report", "--format", "csv", path))
            if len(rows) != len(now) or not rows:
                yield f"{name}: report has {len(now)} functions, not {len(rows)}"
            for was, row in zip(rows, now):
                for difference in differences(was, row):
                    yield f"{name}: report: {was['address']}: {difference}"
            info = info_of(nopscope, path)
            for difference in differences(kept, info):
                yield f"{name}: info: {difference}"
            if (told := info.get("hello", {}).get("format")) != version:
                yield f"{name}: info says that its line has format {told}"


def breaches(nopscope, recordings):
    yield from of_versions(nopscope, recordings)
    yield from of_lines(nopscope, recordings)
    line, recording = re.search(r"line: reads formats (.*)\nrecording: .*reads format (.*)", said(nopscope, "--version")).groups()
    for version in re.findall(r"\d+", line):
        if not list(recordings.glob(f"line-{version}/*.csv")):
            yield f"no line of format {version} is kept in {recordings.name}/line-{version}: add one (old_recordings.py --add)"
    kept = {path.read_bytes()[8] for path in recordings.glob("*/*.nsc")}
    for version in re.findall(r"\d+", recording):
        if int(version) not in kept:
            yield f"no recording of format {version} is kept in {recordings.name}"


def add(nopscope, name, line):
    version = info_of(nopscope, line)["hello"]["format"]
    directory = RECORDINGS / f"line-{version}"
    directory.mkdir(exist_ok=True)
    shutil.copy(line, directory / f"{name}.bin")
    # A relative path: a recording has it.
    subprocess.run([Path(nopscope).resolve(), "record", "-q", "--from", f"file:{name}.bin", "-o", f"{name}.nsc"], cwd=directory, check=True)
    (directory / f"{name}.csv").write_text(said(nopscope, "report", "--format", "csv", directory / f"{name}.nsc"))
    facts = facts_of(info_of(nopscope, directory / f"{name}.nsc"))
    (directory / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[2:3] == ["--add"]:
        sys.exit(add(sys.argv[1], sys.argv[3], sys.argv[4]))
    found = list(breaches(sys.argv[1], Path(sys.argv[2]) if sys.argv[2:] else RECORDINGS))
    print("\n".join(found) if found else "all read as their lines")
    sys.exit(bool(found))
