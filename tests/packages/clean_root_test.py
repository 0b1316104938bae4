#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages in a clean root: apt installs them, the command runs, and removal leaves no file."""

import re
import tempfile
import pathlib
import unittest

import clean_root
import packages
from packages import cli

RECORDING = cli.GOLDEN / "stream.bin"
# Files that apt and dpkg keep for any package.
STATE = re.compile(r"/(var/(log|cache)|var/lib/(apt|systemd)|in|out)(/|$)|/var/lib/dpkg/(status|diversions|statoverride|alternatives.*)-old"
                   r"|/var/lib/dpkg/lock.*|/etc/ld\.so\.cache|/etc/\.pwd\.lock|/root(/|$)")
SCRIPT = """
list() { find / -path /proc -prune -o -path /dev -prune -o -path /tmp -prune -o -printf '%y %m %u:%g %p %l\\n' | sort >/out/$1; }
apt-get -qq update
list before
apt-get install -qq -y --no-install-recommends /in/*.deb
list installed
dpkg-query -W -f '${Package} ${db:Status-Status}\\n' nopscope nopscope-target-source
dpkg --verify nopscope nopscope-target-source
cd /tmp
nopscope --version >/out/version
nopscope report /in/stream.bin >/out/report
nopscope html /in/stream.bin -o - >/out/page
nopscope export /in/stream.bin --format csv -o - >/out/csv
bash -c '. /usr/share/bash-completion/completions/nopscope; COMP_WORDS=(nopscope expo) COMP_CWORD=1; _nopscope; echo "${COMPREPLY[@]}"' >/out/completed
gzip -dc /usr/share/man/man1/nopscope.1.gz >/out/man
apt-get purge -qq -y nopscope nopscope-target-source
apt-get autoremove -qq -y --purge
list after
"""


class CleanRoot(unittest.TestCase):
    def test_installed_run_and_removed(self):
        with tempfile.TemporaryDirectory(prefix="nopscope-deb-") as holder:
            debs = packages.make(pathlib.Path(holder))
            tar = clean_root.root_tar(packages.field(debs[0], "Depends"))
            status, said, out = clean_root.run(tar, SCRIPT, [*debs, RECORDING])
        self.assertEqual(status, 0, said)
        self.assertIn("nopscope installed\nnopscope-target-source installed\n", said)
        out = {name: data.decode() for name, data in out.items()}
        self.assertEqual(out["version"], cli.nopscope("--version").stdout)
        self.assertEqual(out["report"], cli.nopscope("report", RECORDING).stdout)
        self.assertEqual(out["page"], cli.nopscope("html", RECORDING, "-o", "-").stdout)
        self.assertEqual(out["csv"], cli.nopscope("export", RECORDING, "--format", "csv", "-o", "-").stdout)
        self.assertEqual(out["completed"], "export\n")
        self.assertIn(".SH NAME", out["man"])

        before, installed, after = (self.listed(out[name]) for name in ("before", "installed", "after"))
        added = {line.split(" ")[3] for line in installed - before}
        self.assertLessEqual({"/usr/bin/nopscope", "/usr/src/nopscope/tracer/runtime/tracer.cpp", "/usr/share/doc/nopscope-target-source/glue/zephyr/nopscope_zephyr.c",
                              "/usr/share/doc/nopscope/docs/images/diff.png", "/var/lib/dpkg/info/nopscope.list"}, added)
        self.assertTrue([path for path in added if "libdw" in path], "a dependency was not installed: the root is not clean")
        self.assertEqual(after - before, set(), "left behind")
        self.assertEqual(before - after, set(), "taken away")

    def listed(self, text):
        return {line for line in text.splitlines() if not STATE.match(line.split(" ")[3])}


if __name__ == "__main__":
    unittest.main()
