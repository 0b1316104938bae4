#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares nopscope_call_frames.py with readelf, on every row of an image's call frame information.

    call_frames_test.py IMAGE
"""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "host-tools/gdb"))
from nopscope_call_frames import CallFrames, Elf  # noqa: E402

COLUMNS = {"ra": 30, "sp": 31, "r32": 32, **{f"x{n}": n for n in range(31)}, **{f"v{n}": 64 + n for n in range(32)}}


def rows():
    """Returns (address, CFA, {column: rule}) of each row, from readelf."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", IMAGE], capture_output=True, text=True, check=True).stdout
    columns, ends = [], 0
    for line in text.splitlines():
        if found := re.search(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line):
            begin, ends = (int(part, 16) for part in found.groups())
        elif " CIE " in line:
            ends = 0
        elif line.split()[:1] == ["LOC"]:
            columns = line.split()[2:]
        elif re.match(r"[0-9a-f]{16} ", line) and ends > 0 and begin != 0:
            address, cfa, *rules = re.sub(r" \(\w+\)", "", line).split()
            if int(address, 16) < ends:
                yield int(address, 16), cfa, dict(zip(columns, rules))


class CallFrameInformation(unittest.TestCase):
    def test_every_row(self):
        frames, count, last = CallFrames(Elf(IMAGE)), 0, {}
        for address, *row in rows():
            last[address] = row  # readelf repeats a row for what it does not show: the signature
        for address, (cfa, rules) in last.items():
            ours = frames.row(address)
            self.assertEqual(f"{'sp' if ours.cfa[0] == 31 else f'x{ours.cfa[0]}'}+{ours.cfa[1]}", cfa, hex(address))
            for column, rule in rules.items():
                how, what = ours.rules.get(COLUMNS[column], ("u", 0))
                said = {"at": f"c{what:+}", "register": f"r{what}", "same": "s"}.get(how, "u")
                self.assertEqual(said, rule, f"{address:#x}: {column}")
            count += 1
        self.assertGreater(count, 3000)
        self.assertTrue(any(frames.row(address).signed for address in last))


if __name__ == "__main__":
    IMAGE = sys.argv.pop()
    unittest.main()
