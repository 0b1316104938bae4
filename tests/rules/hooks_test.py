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
                ("format", "hal/new.cpp", HEAD + "int  f( );\n", "hal/new.cpp:2: not formatted")]:
            (self.tree / path).write_text(text, encoding="utf-8")
            git(self.tree, "add", path)
            status, said = self.hooks(hook)
            self.assertEqual(status, 1, said)
            self.assertIn(words, said)
            git(self.tree, "reset", "-q", "--hard")


if __name__ == "__main__":
    unittest.main()
