#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py reports each kind of finding, and says when it cannot run."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).resolve().parent / "tidy.py"
MOVED = "#include <string>\n#include <utility>\nstd::size_t f(std::string a) { std::string b = std::move(a); return a.size() + b.size(); }\n"


class Tidy(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nopscope-tidy-"))).resolve()
        (self.root / "hal").mkdir()

    def outcome(self, text, command="ccache g++ -std=c++20 -Werror -fno-ipa-ra -c"):
        """Returns the exit status and the output for a build of one source."""
        source = self.root / "hal/a.cpp"
        source.write_text(text)
        database = [{"directory": str(self.root), "file": str(source), "command": f"{command} {source}"}]
        (self.root / "compile_commands.json").write_text(json.dumps(database))
        return self.run_on(self.root)

    def run_on(self, build):
        done = subprocess.run([TIDY, "--root", self.root, build], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_what_is_clean_passes(self):
        status, said = self.outcome("int f(int a) { return a + 1; }\n")
        self.assertEqual((status, said), (0, "tidy: 1 sources, 0 with findings\n"))

    def test_each_kind_of_finding_fails(self):
        for text, check in ((MOVED, "bugprone-use-after-move"),
                            ("int Wrong(int a) { return a; }\n", "readability-identifier-naming"),
                            ("struct A { virtual ~A(); virtual void f(); };\nstruct B : A { virtual void f(); };\n",
                             "modernize-use-override"),
                            ("int f(int a) { return a; \n", "clang-diagnostic-error")):
            status, said = self.outcome(text)
            self.assertEqual(status, 1, said)
            self.assertIn(check, said)

    def test_what_cannot_be_done_is_said(self):
        self.assertEqual(self.run_on(self.root)[0], 2)
        (self.root / "compile_commands.json").write_text("[]")
        self.assertEqual(self.run_on(self.root), (2, "tidy: no source was found\n"))


if __name__ == "__main__":
    sys.exit(unittest.main())
