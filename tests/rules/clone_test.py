#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests in a clone of the tree with all uncommitted changes, which they break.

    clone_test.py Hooks       the hooks of pre-commit pass on the tree without a network. Each refuses its kind of error
    clone_test.py Release     ./dev release: its refusals, its reproducible source archive, and its comparison's differences

`./dev proof release` makes the double build, which takes 18 minutes of processor time.
"""

import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import tree

ROOT = Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1",
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
       for what, value in (("NAME", "test"), ("EMAIL", "test@localhost"), ("DATE", "2026-01-02T03:04:05Z"))}}
# A proxy that does not exist: a hook that downloads something fails.
NO_NETWORK = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "HTTP", "HTTPS", "ALL")}


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


class Hooks(Scratch):
    def hooks(self, *words):
        return self.run_in("pre-commit", "run", "--color", "never", *words,
                           env=NO_NETWORK | {"PRE_COMMIT_HOME": str(self.outside / "cache"), "HOME": str(self.outside)})

    def test_they_pass_on_the_tree(self):
        status, said = self.hooks("--all-files")
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("Passed"), 5, said)

    def test_each_refuses(self):
        for hook, path, text, words in [
                ("rules", "tracer/new.hpp", "// SPDX-License-Identifier: Apache-2.0\n", "no #pragma once"),
                ("documents", "docs/new.md", "`hal/boards/none.cpp`\n", "there is no hal/boards/none.cpp"),
                ("forms", ".github/ISSUE_TEMPLATE/new.yml", "name: a\n", "lacks description"),
                ("spelling", "docs/new.md", "It is rec" + "ieved.\n", "==> received"),
                ("format", "hal/new.cpp", "int a;\nint  f( );\n", "hal/new.cpp:2: not formatted")]:
            (self.tree / path).write_text(text, encoding="utf-8")
            git(self.tree, "add", path)
            status, said = self.hooks(hook)
            self.assertEqual(status, 1, said)
            self.assertIn(words, said)
            git(self.tree, "reset", "-q", "--hard")


class Release(Scratch):
    PATHS = ("CHANGELOG.md", "CMakeLists.txt", "NOTICE", ".gitattributes", "dev", "cmake", "hal/boards", "tests/verification/endurance",
             "tracer/include/nopscope/version.h")

    def setUp(self):
        super().setUp()
        self.version = re.search(r"VERSION ([\d.]+)", (self.tree / "CMakeLists.txt").read_text().split("project(")[1])[1]
        (self.tree / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{self.version}] - 2026-01-02\n\n- all\n\n## [0.0.9] - 2026-01-01\n\n- old\n",
                                                encoding="utf-8")
        self.commit()

    def functions(self, script, **options):
        """Runs a script after loading the functions of cmake/release.sh."""
        return self.run_in("bash", "-euc", 'say() { printf "%s\\n" "$*" >&2; }; . cmake/release.sh; ' + script, **options)

    def refused(self, *words, status=1):
        done, said = self.run_in("./dev", "release", *words)
        self.assertEqual(done, status, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertEqual(git(self.tree, "tag"), b"")
        return said

    def test_words(self):
        for words in ([], ["0.2"], ["v0.2.0"], ["00.2.0"], ["0.2.0-dev"], ["--chekc", self.version]):
            self.refused(*words, status=2)

    def test_what_it_refuses(self):
        self.assertEqual(self.functions(f"release_checks {self.version}"), (0, ""))
        self.assertIn("not 7.8.9", self.refused("--check", "7.8.9"))
        (self.tree / "new").touch()
        self.assertIn("not committed: ?? new", self.refused(self.version))
        (self.tree / "new").unlink()
        git(self.tree, "checkout", "-q", "-b", "other")
        self.assertIn("this is other", self.refused(self.version))
        git(self.tree, "checkout", "-q", "main")
        for path, before, after, said in [
                ("tracer/include/nopscope/version.h", f'"{self.version}"', '"7.8.9"', 'tracer/include/nopscope/version.h says "7.8.9"'),
                ("CHANGELOG.md", f"## [{self.version}] - 2026-01-02", "## [Unreleased]", "has no line"),
                ("CHANGELOG.md", f"## [{self.version}] - 2026-01-02", f"## [{self.version}]", "has no line"),
                ("CHANGELOG.md", "- all\n", "", "says nothing")]:
            self.edit(path, before, after)
            self.commit()
            self.assertIn(said, self.refused(self.version))
            git(self.tree, "reset", "-q", "--hard", "HEAD~1")
        git(self.tree, "tag", f"v{self.version}")
        done, said = self.functions(f"release_checks {self.version}")
        self.assertEqual(done, 1)
        self.assertIn(f"the tag v{self.version} exists", said)
        git(self.tree, "tag", "-d", f"v{self.version}")

    def test_the_tag(self):
        built = "setup() { :; }; build_twice() { :; }; "
        self.assertEqual(self.functions(built + f"release --check {self.version}")[0], 0)
        self.assertEqual(git(self.tree, "tag"), b"")
        status, said = self.functions("setup() { :; }; build_twice() { false; }; " + f"release {self.version}")
        self.assertNotEqual(status, 0, said)
        self.assertEqual(git(self.tree, "tag"), b"")
        status, said = self.functions(built + f"release {self.version}")
        self.assertEqual(status, 0, said)
        self.assertEqual(git(self.tree, "cat-file", "-t", f"v{self.version}"), b"tag\n")  # annotated
        self.assertEqual(git(self.tree, "rev-parse", f"v{self.version}^{{}}"), git(self.tree, "rev-parse", "HEAD"))
        git(self.tree, "tag", "-d", f"v{self.version}")

    def archive(self, name, **environment):
        (self.outside / name).mkdir()
        status, said = self.functions(f"umask {environment.pop('umask', '022')}; source_archive {self.version} {self.outside / name}",
                                      env=environment)
        self.assertEqual((status, said), (0, ""))
        return self.outside / name / f"nopscope-{self.version}.tar.xz"

    def test_the_source_archive_is_always_the_same(self):
        one = self.archive("one")
        self.assertEqual(self.archive("two", umask="077", TZ="Pacific/Chatham").read_bytes(), one.read_bytes())
        with tarfile.open(one) as packed:
            names = {member.name for member in packed if member.isfile()}
            commit = packed.extractfile(f"nopscope-{self.version}/cmake/commit.txt").read()
        self.assertEqual(commit, git(self.tree, "rev-parse", "HEAD"))
        tracked = {f"nopscope-{self.version}/{name}" for name in git(self.tree, "ls-files").decode().splitlines()}
        self.assertEqual(names, tracked)
        self.edit("NOTICE", "nopscope", "Nopscope")
        self.commit()
        self.assertNotEqual(self.archive("three").read_bytes(), one.read_bytes())

    def test_a_build_of_the_archive_knows_its_commit(self):
        head = self.outside / "commit.hpp"
        for source, said in ((self.tree, "with changes"), (self.outside / "empty", '"unknown"')):
            (self.outside / "empty/cmake").mkdir(parents=True, exist_ok=True)
            (self.outside / "empty/cmake/commit.txt").write_text("$Format:%H$\n")
            (self.tree / "NOTICE").write_text("changed\n")
            subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={head}", "-P", self.tree / "cmake/commit.cmake"], check=True)
            self.assertIn(said, head.read_text())
        with tarfile.open(self.archive("one")) as packed:
            packed.extractall(self.outside)
        source = self.outside / f"nopscope-{self.version}"
        subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={head}", "-P", source / "cmake/commit.cmake"], check=True)
        self.assertIn(f'"{git(self.tree, "rev-parse", "HEAD").decode()[:12]}"', head.read_text())

    def test_the_comparison_sees_a_difference(self):
        compare = f"compare_builds {self.outside / 'a'} {self.outside / 'b'}"
        for name in "ab":
            (self.outside / name / "deep").mkdir(parents=True)
        self.assertEqual(self.functions(compare)[0], 1)  # the builds are missing
        for name in "ab":
            (self.outside / name / "deep/x.deb").write_text("x")
        self.assertEqual(self.functions(compare), (0, ""))
        (self.outside / "b/deep/x.deb").write_text("y")
        self.assertEqual(self.functions(compare), (1, "not the same in both builds: deep/x.deb\n"))
        (self.outside / "b/deep/x.deb").write_text("x")
        (self.outside / "b/y.deb").touch()
        self.assertEqual(self.functions(compare), (1, "not the same in both builds: y.deb\n"))


if __name__ == "__main__":
    unittest.main()
