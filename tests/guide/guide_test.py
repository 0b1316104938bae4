#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/integration.md exactly, from a directory with only a clone of nopscope, and prints
all output. The resulting profile must be the page's. Pages with a mistake, made here, must fail.
"""

import pathlib
import sys
import tempfile
import time
import unittest

import guide

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


class Guide(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nopscope-guide-")))

    def outcome(self, page):
        boxes = guide.boxes(page)
        status, printed = guide.follow(boxes, self.directory, "small")
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
        boxes = guide.boxes((guide.ROOT / PAGE).read_text())
        guide.clone(self.directory / "nopscope")
        begun = time.monotonic()
        status, printed = guide.follow(boxes, self.directory, PAGE)
        seconds = round(time.monotonic() - begun)
        print(f"\n==== {seconds // 60}:{seconds % 60:02} minutes", flush=True)
        self.assertEqual(status, 0, "a box of the page failed: the last one above")
        self.assertEqual(guide.differences(boxes, printed), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
