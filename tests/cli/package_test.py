#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`, and the Debian package."""

import json
import os
import re
import unittest

import cli

HAS = ("bin/nopscope", "share/man/man1/nopscope-report.1", "share/bash-completion/completions/nopscope",
       "share/zsh/vendor-completions/_nopscope", "share/fish/vendor_completions.d/nopscope.fish",
       "share/doc/nopscope/LICENSE", "share/doc/nopscope/nopscope.spdx.json", "share/doc/nopscope/docs/cli.md",
       "share/nopscope/nopscope-gdb.py", "share/nopscope/nopscope_unwinder.py", "share/nopscope/nopscope_call_frames.py")


class Package(cli.Case):
    def check_tree(self, root):
        for path in HAS:
            self.assertTrue((root / path).is_file() or (root / (path + ".gz")).is_file(), path)
        version = cli.run(root / "bin/nopscope", "--version").stdout
        self.assertEqual(version, cli.nopscope("--version").stdout)
        return version.split()[1]

    def test_install(self):
        cli.run("cmake", "--install", cli.HOST_BUILD, "--prefix", self.directory / "usr")
        self.check_tree(self.directory / "usr")

    def test_the_bill_of_materials_has_what_is_linked_and_what_is_in_the_page(self):
        bill = json.loads((cli.HOST_BUILD / "nopscope.spdx.json").read_text())
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        parts = {part["name"]: part["versionInfo"] for part in bill["packages"]}
        self.assertEqual(len(parts), len({part["SPDXID"] for part in bill["packages"]}))
        for library in set(re.findall(r"=> (/\S+)", cli.run("ldd", cli.NOPSCOPE).stdout)):
            # In Debian 12 a library is known by its name in /usr, or by that before the two were one.
            owner = cli.run("dpkg", "-S", library, status=None).stdout or cli.run("dpkg", "-S", os.path.realpath(library)).stdout
            name = owner.split(":")[0]
            self.assertEqual(parts[name], cli.run("dpkg-query", "-W", "-f", "${Version}", name).stdout, library)
        # Headers alone, and static libraries; and a part of the page that another one brings.
        for name in ("libcli11-dev", "libboost-math-dev", "llvm-14-dev", "d3-flame-graph", "d3-time-format"):
            self.assertRegex(parts[name], r"^[0-9]")
        self.assertNotIn("esbuild", parts)

    def test_the_deb_has_its_dependencies_and_runs_from_where_it_is_unpacked(self):
        cli.run("cpack", "--config", cli.HOST_BUILD / "CPackConfig.cmake", "-B", self.directory)
        deb, = self.directory.glob("*.deb")
        facts = cli.run("dpkg-deb", "--field", deb).stdout
        depends = re.search(r"^Depends: (.*)$", facts, re.MULTILINE).group(1)
        for library in ("libc6", "libdw1", "libelf1", "libsqlite3-0", "libzstd1", "zlib1g"):
            if library != "libelf1":  # libdw's own affair
                self.assertIn(library, depends)
        self.assertIn("Package: nopscope\n", facts)
        cli.run("dpkg-deb", "--extract", deb, self.directory / "root")
        version = self.check_tree(self.directory / "root/usr")
        self.assertIn(f"Version: {version}", facts)


if __name__ == "__main__":
    unittest.main()
