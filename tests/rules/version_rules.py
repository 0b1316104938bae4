#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all files have the same version as CMakeLists.txt.

    version_rules.py ROOT NOPSCOPE BILL    one line for each difference; exit status 1 if any
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import tree


def header_breaches(version, header):
    said = dict(re.findall(r"^#define (NOPSCOPE_VERSION\w*) (\S+)$", header, re.MULTILINE))
    numbers = dict(zip(("MAJOR", "MINOR", "PATCH"), version.split(".")))
    expected = {"NOPSCOPE_VERSION": f'"{version}"', **{f"NOPSCOPE_VERSION_{name}": number for name, number in numbers.items()}}
    for name, value in expected.items():
        if said.get(name) != value:
            yield f"tracer/include/nopscope/version.h: {name} is {said.get(name)}, not {value}"


def changelog_breaches(version, changelog):
    """The newest section is for this version or for the unreleased one."""
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", changelog, re.MULTILINE)
    if not headings or headings[0][0] not in ("Unreleased", version):
        yield f"CHANGELOG.md: the first section is neither [Unreleased] nor [{version}]"
    for name, date in headings:
        if (name == "Unreleased") == bool(date):
            yield f"CHANGELOG.md: [{name}] {'has a' if date else 'has no'} date"
    numbers = [tuple(map(int, name.split("."))) for name, _ in headings if name != "Unreleased"]
    if numbers != sorted(set(numbers), reverse=True):
        yield "CHANGELOG.md: the versions do not fall"


def said_breaches(version, said):
    expected = [rf"nopscope {re.escape(version)}", r"line: reads formats \d+(, \d+)* and \d+", r"recording: writes format \d+, reads format \d+",
                r"build: \S+ [\d.]+, [^,]+, commit ([0-9a-f]{12}(, with changes)?|unknown)"]
    lines = said.splitlines()
    if len(lines) != len(expected) or not all(map(re.fullmatch, expected, lines)):
        yield f"nopscope --version says {lines}, not {expected}"


def main():
    root, nopscope, bill = map(Path, sys.argv[1:])
    version = re.search(r"^project\(nopscope VERSION (\d+\.\d+\.\d+) ", (root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    said = subprocess.run([nopscope, "--version"], capture_output=True, text=True, check=True).stdout
    found = [*header_breaches(version, (root / "tracer/include/nopscope/version.h").read_text()), *said_breaches(version, said),
             *changelog_breaches(version, (root / "CHANGELOG.md").read_text())]
    if (in_bill := json.loads(bill.read_text())["packages"][0]["versionInfo"]) != version:
        found.append(f"{bill.name} says {in_bill}, not {version}")
    tree.tell(found)


if __name__ == "__main__":
    main()
