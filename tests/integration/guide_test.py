#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/integration.md as it stands there, from a directory with nothing but a clone of nopscope, and prints
all of it: to a profile that is the page's. Pages with a mistake, made here, do not pass.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import guide

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/integration.md"
SMALL = """# How to
Make `a.txt`:

```text2 a.txt
  12  3 ms  4 ms  loop  x.c:3
```

```sh
cat a.txt
```

```text
  12  9 ms  9 ms  loop  x.c:3
```
"""


def follow(boxes, directory, name):
    """Exit status, and what was printed; that is also printed at once. Objects that ./dev test has compiled come from
    its cache, by their place in the clone."""
    printed = ""
    with subprocess.Popen(["bash", "-c", guide.script(boxes, name)], cwd=directory, text=True, errors="replace",
                          env=os.environ | {"CCACHE_BASEDIR": str(directory / "nopscope")},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as shell:
        for line in shell.stdout:
            print(line, end="", flush=True)
            printed += line
    return shell.returncode, printed


def clone(destination):
    """Of this tree as it is now: what git knows, and what it would be told of."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           check=True, capture_output=True).stdout
    destination.mkdir()
    archive = subprocess.Popen(["tar", "-c", "--null", "-T", "-", "--ignore-failed-read"], cwd=ROOT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    unpack = subprocess.Popen(["tar", "-x", "-C", str(destination)], stdin=archive.stdout)
    archive.stdin.write(names)
    archive.stdin.close()
    if archive.wait() != 0 or unpack.wait() != 0:
        raise RuntimeError(f"cannot copy {ROOT}")


class Guide(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="nopscope-guide-")
        self.addCleanup(self.holder.cleanup)
        self.directory = pathlib.Path(self.holder.name)

    def outcome(self, page):
        boxes = guide.boxes(page)
        status, printed = follow(boxes, self.directory, "small")
        return status, guide.differences(boxes, printed)

    def test_a_small_one(self):
        self.assertEqual(self.outcome(SMALL), (0, []))

    def test_a_failing_step_is_seen(self):
        for step in ("cat b.txt", "false; cat a.txt", "cat b.txt | cat", "cat $b"):
            self.assertNotEqual(self.outcome(SMALL.replace("cat a.txt", step))[0], 0, step)

    def test_another_profile_is_seen(self):
        self.assertEqual(len(self.outcome(SMALL.replace("  12  9", "  13  9"))[1]), 2)
        self.assertEqual(len(self.outcome(SMALL.replace("cat a.txt", "true"))[1]), 1)
        self.assertEqual(self.outcome(SMALL[:SMALL.rindex("```text")])[1], ["the page shows no profile"])

    def test_a_box_that_cannot_be_run_is_seen(self):
        for wrong in (SMALL.replace("```sh", "```"), SMALL.replace("`a.txt`", "it"), SMALL[:-4]):
            with self.assertRaises(ValueError):
                guide.boxes(wrong)

    def test_the_page(self):
        boxes = guide.boxes((ROOT / PAGE).read_text())
        clone(self.directory / "nopscope")
        begun = time.monotonic()
        status, printed = follow(boxes, self.directory, PAGE)
        seconds = round(time.monotonic() - begun)
        print(f"\n==== {seconds // 60}:{seconds % 60:02} minutes", flush=True)
        self.assertEqual(status, 0, "a box of the page failed: the last one above")
        self.assertEqual(guide.differences(boxes, printed), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
