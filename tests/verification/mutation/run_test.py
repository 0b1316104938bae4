#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the runner: it reports a wrong list in a sentence, and an undetected mutant as a survivor.
A mutant that does not compile and a killer that fails without a mutant are errors."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEAD = '[files]\n"tracer/patching/request_lock.hpp" = ["unit request_lock_test *"]\n'
STEP = 'step = "Something."\n'


def run(content, *arguments):
    """Returns (exit status, all output) for one list."""
    with tempfile.TemporaryDirectory() as directory:
        lists = pathlib.Path(directory) / "lists"
        lists.mkdir()
        (lists / "part.toml").write_text(content, encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", HERE / "run.py", "--mutants", lists, "--build", directory,
                               "--cxx", os.environ.get("CXX", "c++"), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout


class List(unittest.TestCase):
    def refused(self, content, said):
        status, output = run(content, "--list")
        self.assertEqual(status, 2, output)
        self.assertIn(said, output)
        self.assertEqual(output.count("\n"), 1, output)

    def test_what_is_wrong_with_it(self):
        self.refused(HEAD + "[a]\n" + STEP + 'text = "not there"\n', "occurs 0 times in tracer/patching/request_lock.hpp, not once")
        self.refused(HEAD + "[a]\n" + STEP + 'text = "return"\n', "times in tracer/patching/request_lock.hpp, not once")
        self.refused(HEAD + "[a]\n" + STEP + 'text = "depth - 1"\nby = "depth - 1"\n', "nothing is changed")
        self.refused(HEAD + "[a]\n" + 'text = "depth - 1"\n', "it has no step")
        self.refused(HEAD + "[a]\n" + STEP + 'text = "depth - 1"\nkilled_bye = 1\n', "no such key: killed_bye")
        self.refused("[a", "part.toml:")
        self.refused('file = "tracer/core/ring.hpp"\n' + HEAD, "no such key: file")
        self.refused(HEAD + '"tracer/core/ring.hpp" = ["unit ring_test *"]\n[a]\n' + STEP + 'text = "#pragma once"\n',
                     "occurs 2 times in tracer/patching/request_lock.hpp, tracer/core/ring.hpp, not once")
        self.refused(HEAD.replace('["unit request_lock_test *"]', "[]") + "[a]\n" + STEP + 'text = "depth - 1"\n', "it has no killed_by")
        self.refused(HEAD.replace("request_lock.hpp", "nowhere.hpp") + "[a]\n" + STEP + 'text = "x"\n', "there is no file")

    def test_no_such_mutant(self):
        status, output = run(HEAD + "[a]\n" + STEP + 'text = "depth - 1"\n', "--list", "--only", "b")
        self.assertEqual(status, 2)
        self.assertIn("there is no mutant and no part b", output)


class Document(unittest.TestCase):
    def test_it_has_the_table(self):
        done = subprocess.run([sys.executable, "-B", HERE / "run.py", "--table"], stdout=subprocess.PIPE, text=True,
                              check=True)
        document = (HERE.parents[2] / "docs/proof.md").read_text(encoding="utf-8")
        self.assertIn(done.stdout, document, "docs/proof.md should have what tests/verification/mutation/run.py --table prints")


class Run(unittest.TestCase):
    def test_one_that_is_seen_and_one_that_is_not(self):
        seen = "[seen]\n" + STEP + 'text = ".depth = depth - 1}"\nby = ".depth = depth}"\n'
        unseen = "[unseen]\n" + STEP + 'text = "__ATOMIC_ACQUIRE, __ATOMIC_RELAXED"\nby = "__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE"\n'
        status, output = run(HEAD + seen + unseen)
        self.assertEqual(status, 1, output)
        self.assertIn("seen: killed by MayRequest.", output)
        self.assertIn("SURVIVED: unseen (tracer/patching/request_lock.hpp)", output)
        self.assertIn("mutants: 1 killed of 2", output)

    def test_what_cannot_be_tried(self):
        status, output = run(HEAD + "[a]\n" + STEP + 'text = ".depth = depth - 1}"\nby = "x}"\n')
        self.assertEqual(status, 2, output)
        self.assertIn("a does not compile, so nothing was tried", output)
        status, output = run(HEAD.replace("request_lock_test *", "request_lock_test Nothing.*") + "[a]\n" + STEP +
                             'text = ".depth = depth - 1}"\nby = ".depth = depth}"\n')
        self.assertEqual(status, 2, output)
        self.assertIn("no test of request_lock_test is Nothing.*", output)


if __name__ == "__main__":
    unittest.main()
