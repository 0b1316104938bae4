#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of released versions must say the same as their lines (docs/versions.md).

    old_recordings.py NOPSCOPE

`nopscope record --from file:NAME.bin` of VERSION made recordings/VERSION/NAME.nsc. Each version
adds files, and none is ever written again. Exit status 1: a recording reads differently.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def said(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def breaches(nopscope):
    recordings = sorted(HERE.glob("recordings/*/*.nsc"))
    for path in recordings:
        name = path.relative_to(HERE)
        of_line = said(nopscope, "report", "--format", "csv", HERE / f"{path.stem}.bin")
        if (now := said(nopscope, "report", "--format", "csv", path)) != of_line or len(of_line.splitlines()) < 2:
            yield f"{name} and its line read otherwise:\n{now}{of_line}"
        info = said(nopscope, "info", "--format", "json", path)
        if not info.startswith("{") or json.loads(info)["tool"] != f"nopscope {path.parent.name}":
            yield f"{name}: info does not say nopscope {path.parent.name}: {info[:200]}"
    if not recordings:
        yield "no recordings"


if __name__ == "__main__":
    found = list(breaches(sys.argv[1]))
    print("\n".join(found) if found else "all read as their lines")
    sys.exit(bool(found))
