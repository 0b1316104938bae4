#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hooks of pre-commit pass on the tree without a network. Each refuses its kind of error."""

import unittest

from scratch import Scratch, git

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
# A proxy that does not exist: a hook that downloads something fails.
NO_NETWORK = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "HTTP", "HTTPS", "ALL")}


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
                ("rules", "tracer/new.hpp", HEAD, "no #pragma once"),
                ("documents", "docs/new.md", "`hal/boards/none.cpp`\n", "there is no hal/boards/none.cpp"),
                ("forms", ".github/ISSUE_TEMPLATE/new.yml", "name: a\n", "lacks description"),
                ("spelling", "docs/new.md", "It is rec" + "ieved.\n", "==> received"),
                ("format", "hal/new.cpp", HEAD + "int  f( );\nint g();\n", "+int f();")]:
            (self.tree / path).write_text(text, encoding="utf-8")
            git(self.tree, "add", path)
            status, said = self.hooks(hook)
            self.assertEqual(status, 1, said)
            self.assertIn(words, said)
            git(self.tree, "reset", "-q", "--hard")

    def test_format_looks_at_added_lines_alone(self):
        (self.tree / "hal/old.cpp").write_text(HEAD + "int  f( );\n", encoding="utf-8")
        self.commit()
        (self.tree / "hal/old.cpp").write_text(HEAD + "int  f( );\n\nint g();\n", encoding="utf-8")
        git(self.tree, "add", "hal/old.cpp")
        self.assertEqual(self.hooks("format")[0], 0)
        # The staged version counts, not later changes in the tree.
        (self.tree / "hal/old.cpp").write_text(HEAD + "int  f( );\nint  g( );\n", encoding="utf-8")
        self.assertEqual(self.run_in("tests/rules/format.py")[0], 0)
        status, said = self.run_in("tests/rules/format.py", "HEAD")
        self.assertEqual(status, 1)
        self.assertIn("-int  g( );\n+int g();", said)


if __name__ == "__main__":
    unittest.main()
