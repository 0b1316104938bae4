#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the page of a long recording in a browser, and speedscope with an export of a part of it.

    page.py [--events 20000000] [--speedscope-events 2000000] [RECORDING]

Without RECORDING: the demo's events under -icount, repeated until there are enough. It reports, and
gates nothing.
"""

import argparse
import json
import os
import pathlib
import shutil
import tempfile

import host

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NOPSCOPE_HOST_BUILD"])


def measured(directory, packages, *words):
    """Runs page.mjs with these packages."""
    scripts = directory / f"scripts-{words[0]}"
    scripts.mkdir()
    shutil.copy(ROOT / "tests/bench/page.mjs", scripts)
    shutil.copy(ROOT / "tests/interop/web/browser.mjs", scripts)
    (scripts / "node_modules").symlink_to(BUILD / packages / "node_modules")
    return json.loads(host.run(os.environ["NODE"], scripts / "page.mjs", *words).stdout)


def table(title, numbers):
    print(f"{title}\n\n| | |\n|---|---:|")
    for name, value in numbers.items():
        print(f"| {name} | {value:.{0 if value >= 100 else 2}f} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--speedscope-events", type=int, default=2_000_000)
    parser.add_argument("recording", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = pathlib.Path(name)
        part, recording = [], options.recording
        if recording is None:
            events, names = host.demo_events(directory)
            recording = host.Inputs(directory, events, names, -(-options.events // len(events))).recording
        report = json.loads(host.run(host.NOPSCOPE, "report", recording, "--format", "json").stdout)
        calls = sum(row["calls"] for row in report["functions"])
        page, exported = directory / "page.html", directory / "x.speedscope.json"
        host.run(host.NOPSCOPE, "html", recording, "-o", page)
        table(f"nopscope: {calls:,} calls, a page of {page.stat().st_size / 1e6:.1f} MB",
              measured(directory, "tests/interop/web/packages", "nopscope", page))
        if 2 * calls > options.speedscope_events:
            part = ["--time", f"..{int(report['duration_ns'] * options.speedscope_events / (2 * calls))}ns"]
        host.run(host.NOPSCOPE, "export", recording, "--format", "speedscope", "-o", exported, *part)
        index = BUILD / "tests/interop/export/packages/node_modules/speedscope/dist/release/index.html"
        table(f"speedscope: about {options.speedscope_events:,} events of it, {exported.stat().st_size / 1e6:.1f} MB",
              measured(directory, "tests/interop/export/packages", "speedscope", index, exported))


if __name__ == "__main__":
    main()
