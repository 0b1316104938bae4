#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CHANGELOG.md in the form of a Debian changelog (deb-changelog(5)).

    changelog.py CHANGELOG PACKAGE VERSION MAINTAINER OUT

CHANGELOG has an entry a release, `## [0.2.0] - 2026-11-23`, with `### Added` and list items in it; what stands before the
first one is `## [Unreleased]` or an introduction. VERSION is the project's. If no entry has it, it gets one in front, of
what is unreleased, dated SOURCE_DATE_EPOCH or now. A CHANGELOG that does not exist has no entries.
"""

import datetime
import os
import pathlib
import re
import sys
import textwrap

HEADING = re.compile(r"^## \[?v?([0-9][^\]\s]*)\]?\s+-\s+(\d{4}-\d{2}-\d{2})\s*$")


def same_version(one, other):
    return re.sub(r"(\.0)+$", "", one) == re.sub(r"(\.0)+$", "", other)


def plain(text):
    """Without Markdown's marks: links are their text, and code is as it stands."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*|`", "", text)


def entries(text):
    """(version, date, lines) of each `##` heading; version and date of an unreleased one are empty."""
    found = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            found.append((heading[1], heading[2], []))
        elif re.match(r"^## \[?Unreleased\]?", line, re.IGNORECASE):
            found.append(("", "", []))
        elif line.startswith("## "):
            raise ValueError(f"a heading that is neither `## [VERSION] - YYYY-MM-DD` nor `## [Unreleased]`: {line}")
        elif found and not re.match(r"^\[[^\]]+\]: ", line):  # a link's definition
            found[-1][2].append(line)
    return found


def body(lines):
    """Its sections and items. An item goes on in the lines below it that are no item."""
    blocks = []
    for line in lines:
        if line.startswith("### "):
            blocks.append(["section", line[4:].strip()])
        elif re.match(r"^\s*[-*] ", line):
            blocks.append(["item", re.sub(r"^\s*[-*] ", "", line)])
        elif line.strip():
            if blocks and blocks[-1][0] == "item":
                blocks[-1][1] += " " + line.strip()
            else:
                blocks.append(["item", line.strip()])
    out = []
    for kind, text in blocks:
        if kind == "section":
            out += ([""] if out else []) + [f"  [ {plain(text)} ]"]
        else:
            out += textwrap.wrap(plain(text), 78, initial_indent="  * ", subsequent_indent="    ",
                                 break_long_words=False, break_on_hyphens=False)
    return out


def debian(text, package, version, maintainer, now):
    listed = entries(text)
    out = []
    unreleased = [line for number, _, lines in listed if not number for line in lines]
    released = [one for one in listed if one[0]]
    if not any(same_version(number, version) for number, _, _ in released):
        released.insert(0, (version, now, unreleased))
    for number, date, lines in released:
        number = version if same_version(number, version) else number
        stamp = datetime.datetime.strptime(date, "%Y-%m-%d").strftime("%a, %d %b %Y") + " 00:00:00 +0000"
        out += [f"{package} ({number}) unstable; urgency=medium", "", *(body(lines) or [f"  * Version {number}."]), "",
                f" -- {maintainer}  {stamp}", ""]
    return "\n".join(out)


def main():
    source, package, version, maintainer, out = sys.argv[1:]
    path = pathlib.Path(source)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    now = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d")
    try:
        text = debian(path.read_text() if path.exists() else "", package, version, maintainer, now)
    except ValueError as error:
        sys.exit(f"{source}: {error}")
    pathlib.Path(out).write_text(text)


if __name__ == "__main__":
    main()
