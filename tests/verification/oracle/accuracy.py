#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md's tables and picture from truth.py's measurements.

    accuracy.py PROGRAM@MACHINE=FILE...   FILE: from `truth.py ... --format json` or a third-party test

Rewrites the part of docs/accuracy.md between its two marks, and docs/images/accuracy.svg.
"""

import collections
import json
import math
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
BEGIN, END = "<!-- measured: tests/verification/oracle/accuracy.py -->\n", "<!-- end -->\n"
FLOOR, TOP = 0.01, 1000.0  # percent, on the picture's axis
LEFT, RIGHT, UPPER, LOWER = 60, 690, 20, 300


def errors(measured, which):
    """The errors of self times in percent, ascending."""
    return sorted(100 * abs(function[which] - function["true"]) / function["true"]
                  for one in measured for function in one["self"] if function["true"])


def height(error):
    share = math.log(min(max(error, FLOOR), TOP) / FLOOR) / math.log(TOP / FLOOR)
    return LOWER - share * (LOWER - UPPER)


def line(values, colour, dashes=""):
    step = (RIGHT - LEFT) / len(values)
    points = [f"{LEFT + (i + 0.5) * step:.1f},{height(value):.1f}" for i, value in enumerate(values)]
    # A horizontal run of points needs only its two ends.
    kept = [p for i, p in enumerate(points) if not 0 < i < len(points) - 1 or
            not points[i - 1].split(",")[1] == p.split(",")[1] == points[i + 1].split(",")[1]]
    return (f'<polyline points="{" ".join(kept)}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>')


def text(x, y, what, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{what}</text>'


def picture(by_clock):
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 350" font-family="sans-serif" font-size="12">',
             '<rect width="720" height="350" fill="#fff"/>']
    for error in (0.01, 0.1, 1, 2, 10, 100, 1000):
        colour = "#c33" if error == 2 else "#ddd"
        parts.append(f'<path d="M{LEFT} {height(error):.1f}H{RIGHT}" stroke="{colour}"/>')
        if error != 1:
            parts.append(text(LEFT - 6, height(error) + 4, f"{error:g} %", "end"))
    parts += [text(LEFT + share / 100 * (RIGHT - LEFT), LOWER + 18, f"{share} %") for share in range(0, 101, 20)]
    parts.append(text((LEFT + RIGHT) / 2, LOWER + 38, "of all functions have at most this error in their self time"))
    at = UPPER + 10  # the legend's next row
    for tick_ns, measured in sorted(by_clock.items()):
        raw = [("raw", "#888", "5 3", "as recorded")] if tick_ns <= 1 else []
        for which, colour, dashes, what in (*raw, ("reported", "#1667c1" if tick_ns <= 1 else "#e08a1e", "", "corrected")):
            parts += [line(errors(measured, which), colour, dashes),
                      f'<rect x="{LEFT + 14}" y="{at}" width="12" height="4" fill="{colour}"/>',
                      text(LEFT + 32, at + 6, f"{what}, {1000 / tick_ns:g} MHz", "start")]
            at += 18
    return "\n".join(parts) + "\n</svg>\n"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tables, by_clock = [], collections.defaultdict(list)
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        measured = json.loads(pathlib.Path(path).read_text())
        program, machine = name.split("@", 1)
        tables.append(f"**{program}** on {machine}, {1000 / measured['tick_ns']:g} MHz: {measured['summary']}\n\n{measured['table']}\n")
        by_clock[measured["tick_ns"]].append(measured)
    page = DOCS / "accuracy.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n" + "\n".join(tables) + "\n" + END + rest.split(END, 1)[1])
    (DOCS / "images/accuracy.svg").write_text(picture(by_clock))


if __name__ == "__main__":
    main()
