# SPDX-License-Identifier: Apache-2.0
"""A clone of the tree with all uncommitted changes, in which tests break things."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import tree

ROOT = Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1",
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
       for what, value in (("NAME", "test"), ("EMAIL", "test@localhost"), ("DATE", "2026-01-02T03:04:05Z"))}}


def git(directory, *words):
    return subprocess.run(["git", "-C", str(directory), *words], env=ENVIRONMENT, capture_output=True, check=True).stdout


@unittest.skipUnless((ROOT / ".git").exists(), "the tree is no clone")
class Scratch(unittest.TestCase):
    PATHS = ()  # the cloned part of the tree; none: all

    @classmethod
    def setUpClass(cls):
        cls.tree = Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "tree"
        tree.copy(ROOT, cls.tree, *cls.PATHS)
        git(cls.tree, "init", "-q", "-b", "main")
        git(cls.tree, "add", "-A")
        git(cls.tree, "commit", "-q", "-m", "first")
        git(cls.tree, "branch", "first")

    def setUp(self):
        self.outside = Path(self.enterContext(tempfile.TemporaryDirectory()))
        git(self.tree, "checkout", "-q", "-f", "-B", "main", "first")
        git(self.tree, "clean", "-fdq")

    def commit(self):
        git(self.tree, "add", "-A")
        git(self.tree, "commit", "-q", "--no-verify", "--allow-empty", "-m", "tree")

    def run_in(self, *command, **options):
        done = subprocess.run(list(map(str, command)), cwd=self.tree, env=ENVIRONMENT | options.pop("env", {}), capture_output=True,
                              text=True, check=False, **options)
        return done.returncode, done.stdout + done.stderr

    def edit(self, path, before, after):
        text = (self.tree / path).read_text(encoding="utf-8")
        self.assertIn(before, text)
        (self.tree / path).write_text(text.replace(before, after, 1), encoding="utf-8")
