# SPDX-License-Identifier: Apache-2.0
"""For the tests that break a rule, to prove that its check can fail."""

import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Breaking(unittest.TestCase):
    def directory(self, files):
        """A directory that has these files, {path: text}, alone."""
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    def without(self, text, part):
        self.assertIn(part, text)
        return text.replace(part, "")

    def one(self, found, words):
        """One breach was found, and this is it."""
        found = list(found)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
