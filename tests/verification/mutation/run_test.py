#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the runner: it reports a wrong list in a sentence, and an undetected mutant as a survivor.
A mutant that does not compile and a killer that fails without a mutant are errors."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import mutants

HERE = pathlib.Path(__file__).resolve().parent
FILES = '[files]\n"tracer/patching/request_lock.hpp" = ["unit request_lock_test *"]\n'
HEAD = FILES + "[mutants]\n"


def row(name, change):
    return f'{name} = ["Something.", "{change}"]\n'


def run(content, *arguments):
    """Returns (exit status, all output) for one list."""
    with tempfile.TemporaryDirectory() as directory:
        lists = pathlib.Path(directory) / "lists"
        lists.mkdir()
        (lists / "part.toml").write_text(content, encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", HERE / "run.py", "--mutants", lists, "--build", directory, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout


class List(unittest.TestCase):
    def test_what_is_wrong_with_it(self):
        for content, said in (
                (HEAD + row("a", "not [-there-]"), "occurs 0 times in tracer/patching/request_lock.hpp, not once"),
                (HEAD + row("a", "[-return-]"), "times in tracer/patching/request_lock.hpp, not once"),
                (HEAD + row("a", "depth - 1"), "nothing is changed"),
                (HEAD + row("a", "depth - [-1-]{+1+}"), "nothing is changed"),
                (HEAD + row("a", "depth [-- 1"), "its marks [- and -] are not in pairs"),
                (HEAD + row("a", "depth [-- 1-]"), "there is no mutant and no part b"),
                (HEAD + 'a = ["Something."]\n', "it has no step, or no change"),
                (HEAD + 'a = "depth - [-1-]"\n', "it has no step, or no change"),
                ("[a", "part.toml:"),
                ('file = "tracer/core/ring.hpp"\n' + HEAD, "no such key: file"),
                (FILES + '"tracer/core/ring.hpp" = ["unit ring_test *"]\n[mutants]\n' + row("a", "#pragma [-once-]"),
                 "occurs 2 times in tracer/patching/request_lock.hpp, tracer/core/ring.hpp, not once"),
                (HEAD.replace('["unit request_lock_test *"]', "[]") + row("a", "depth [-- 1-]"), "it has no killers"),
                (HEAD.replace("request_lock.hpp", "nowhere.hpp") + row("a", "[-x-]"), "there is no file")):
            with self.subTest(said):
                status, output = run(content, "--list", "--only", "b")
                self.assertEqual((status, output.count("\n")), (2, 1), output)
                self.assertIn(said, output)

    def test_a_change_keeps_the_file_s_own_white_space(self):
        file = "tracer/patching/request_lock.hpp"
        mutant = mutants.Mutant("a", "part", "Something.", file, "{+/**/ +}#pragma[- once-]{+ twice+} #include", ())
        source = (mutants.ROOT / file).read_text(encoding="utf-8")
        self.assertEqual(mutant.source(), source.replace("#pragma once", "/**/ #pragma twice"))


class Document(unittest.TestCase):
    def test_it_has_the_table(self):
        done = subprocess.run([sys.executable, "-B", HERE / "run.py", "--table"], stdout=subprocess.PIPE, text=True, check=True)
        document = (HERE.parents[2] / "docs/proof.md").read_text(encoding="utf-8")
        self.assertIn(done.stdout, document, "docs/proof.md should have what tests/verification/mutation/run.py --table prints")


class Run(unittest.TestCase):
    def test_one_that_is_seen_and_one_that_is_not(self):
        status, output = run(HEAD + row("seen", ".depth = depth [-- 1-]}") + row("unseen", "__ATOMIC_ACQUIRE, [-__ATOMIC_RELAXED-]"
                                                                                 "{+__ATOMIC_ACQUIRE+}"))
        self.assertEqual(status, 1, output)
        self.assertIn("seen: killed by MayRequest.", output)
        self.assertIn("SURVIVED: unseen (tracer/patching/request_lock.hpp)", output)
        self.assertIn("mutants: 1 killed of 2", output)

    def test_what_cannot_be_tried(self):
        status, output = run(HEAD + row("a", "[-.depth = depth - 1-]{+x+}}"))
        self.assertEqual(status, 2, output)
        self.assertIn("a does not compile, so nothing was tried", output)
        status, output = run(HEAD.replace("request_lock_test *", "request_lock_test Nothing.*") + row("a", ".depth = depth [-- 1-]}"))
        self.assertEqual(status, 2, output)
        self.assertIn("no test of request_lock_test is Nothing.*", output)


if __name__ == "__main__":
    unittest.main()
