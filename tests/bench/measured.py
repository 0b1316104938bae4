#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads counts of a board's PMU, which replace the model of cycles (model.py).

    measured.py FILE

FILE has the output of the image `chain`. Exit status: 0; 1: it is incomplete; 2: wrong usage.
"""

import argparse
import json
import pathlib
import sys

import bench

ABOVE = 4  # untraced functions above the traced one, for the cost of each ancestor
COUNTS = ("instructions", "cycles", "mispredicted")


def read(sent, path):
    """Returns the rows that the image printed, by "RECORDER/ANCESTORS". `sent`: the content of `path`."""
    rows = {}
    for line in sent.split(b"@chain ")[1:]:
        try:
            row = json.loads(line.splitlines()[0])
            rows[row["row"]] = {key: row[key] for key in ("calls", *COUNTS)}
        except (ValueError, KeyError, IndexError):
            sys.exit(f"{path}: a line after @chain is not whole: {line[:60]!r}: record the board's output again")
    recorders = {row.split("/")[0] for row in rows} | {"off"}
    missing = {f"{recorder}/{above}" for recorder in recorders for above in (0, ABOVE)} - set(rows)
    if missing:
        sys.exit(f"{path}: no row {sorted(missing)[0]!r}: is this all that the image `chain` has sent?")
    return rows


def figures(rows):
    """By recorder and kind of count: what a call adds to the same untraced loop, and what it adds
    for each untraced ancestor. None: the board did not count it."""
    def added(recorder, key, above):
        on, off = rows[f"{recorder}/{above}"], rows[f"off/{above}"]
        return None if on[key] is None else (on[key] - off[key]) / on["calls"]

    def both(recorder, key):
        of_call = added(recorder, key, 0)
        return of_call, None if of_call is None else (added(recorder, key, ABOVE) - of_call) / ABOVE
    recorders = dict.fromkeys(row.split("/")[0] for row in rows if not row.startswith("off/"))
    return {recorder: {key: both(recorder, key) for key in COUNTS} for recorder in recorders}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    if not options.file.is_file():
        sys.exit(f"{options.file}: no such file")
    body = [(recorder, *("-" if figure is None else f"{figure:.1f}" for key in COUNTS for figure in of[key]))
            for recorder, of in figures(read(options.file.read_bytes(), options.file)).items()]
    print("measured by a PMU: what recording one call adds\n")
    head = ("recorder", *(f"{key}{which}" for key in COUNTS for which in ("", ", each untraced ancestor")))
    print(bench.format_table(head, body))


if __name__ == "__main__":
    main()
