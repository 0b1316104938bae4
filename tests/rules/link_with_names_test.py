#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cmake/link_with_names.sh with a fake linker and nopscope. A step that fails leaves no image."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent.parent.parent / "cmake/link_with_names.sh"
# The second link has one more argument.
LINK = """#!/bin/sh
[ $# -lt 3 ] || {second}
echo "$@" >image.elf
"""
# `names IMAGE -o FILE` and `names IMAGE`: prints the first word of the image.
NOPSCOPE = """#!/bin/sh
cut -d' ' -f1 "$2" >"${4:-/dev/stdout}"
"""


class LinkWithNames(unittest.TestCase):
    def linked(self, second=":"):
        with tempfile.TemporaryDirectory() as directory:
            at = Path(directory)
            for name, text in ("link", LINK.replace("{second}", second)), ("nopscope", NOPSCOPE):
                (at / name).write_text(text, encoding="utf-8")
                (at / name).chmod(0o755)
            done = subprocess.run([SCRIPT, at / "nopscope", at / "link", "-o", "image.elf"],
                                  cwd=at, stderr=subprocess.PIPE, text=True, check=False)
            image = at / "image.elf"
            return done.returncode, image.read_text() if image.exists() else None, done.stderr

    def test_the_second_link_has_the_names(self):
        self.assertEqual(self.linked(), (0, "-o image.elf image.elf.names.s\n", ""))

    def test_a_link_that_fails(self):
        status, image, _ = self.linked(second="exit 7")
        self.assertEqual((status, image), (7, None))

    def test_functions_that_moved(self):
        status, image, said = self.linked(second="set -- moved $@")
        self.assertEqual((status, image), (1, None))
        self.assertIn("moved or changed names", said)


if __name__ == "__main__":
    unittest.main()
