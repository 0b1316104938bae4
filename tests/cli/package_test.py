#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`, and the bill of materials. tests/packages has the Debian packages."""

import json
import os
import re
import unittest

import cli

HAS = ("bin/nopscope", "share/man/man1/nopscope-report.1.gz", "share/bash-completion/completions/nopscope",
       "share/zsh/vendor-completions/_nopscope", "share/fish/vendor_completions.d/nopscope.fish",
       "share/doc/nopscope/LICENSE", "share/doc/nopscope/nopscope.spdx.json", "share/doc/nopscope/docs/cli.md",
       "share/zsh/site-functions/_nopscope", "share/doc/nopscope/changelog.gz", "share/doc/nopscope/copyright",
       "share/nopscope/nopscope-gdb.py", "share/nopscope/nopscope_unwinder.py", "share/nopscope/nopscope_call_frames.py")


class Package(cli.Case):
    def test_install(self):
        cli.run("cmake", "--install", cli.HOST_BUILD, "--prefix", self.directory / "usr")
        for path in HAS:
            self.assertTrue((self.directory / "usr" / path).is_file(), path)
        self.assertEqual(cli.run(self.directory / "usr/bin/nopscope", "--version").stdout, cli.nopscope("--version").stdout)
        # Documents come with their images.
        shown = 0
        for page in (self.directory / "usr/share/doc/nopscope").rglob("*.md"):
            for image in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text()):
                self.assertTrue((page.parent / image).is_file(), f"{page.name} shows {image}")
                shown += 1
        self.assertGreater(shown, 3)

    def test_the_target_nopscope_alone_can_be_installed(self):
        def commands(*targets):
            return set(cli.run("ninja", "-C", cli.HOST_BUILD, "-t", "commands", *targets).stdout.splitlines())
        outputs = [line.split(": ")[0] for line in cli.run("ninja", "-C", cli.HOST_BUILD, "-t", "targets", "all").stdout.splitlines()]
        built = commands("nopscope")
        script = (cli.HOST_BUILD / "host-tools/cmake_install.cmake").read_text()
        installed = set(re.findall(rf'"{re.escape(str(cli.HOST_BUILD))}/([^"]+)"', script)) - {"host-tools/cmake_install.cmake"}
        self.assertGreater(len(installed), 5)
        for path in installed:
            # For a directory, it is enough that something in it is made.
            made = [output for output in outputs if output == path or output.startswith(path + "/")]
            self.assertTrue(made, f"{path} is installed, and nothing makes it")
            self.assertLessEqual(commands(*made), built, f"{path} is installed, and not made with the target nopscope")

    def test_the_bill_of_materials_has_what_is_linked_and_what_is_in_the_page(self):
        bill = json.loads((cli.HOST_BUILD / "nopscope.spdx.json").read_text())
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        parts = {part["name"]: part["versionInfo"] for part in bill["packages"]}
        self.assertEqual(len(parts), len({part["SPDXID"] for part in bill["packages"]}))
        for library in set(re.findall(r"=> (/\S+)", cli.run("ldd", cli.NOPSCOPE).stdout)):
            # Debian 12 may know a library by its name from before /usr was merged.
            owner = cli.run("dpkg", "-S", library, status=None).stdout or cli.run("dpkg", "-S", os.path.realpath(library)).stdout
            name = owner.split(":")[0]
            self.assertEqual(parts[name], cli.run("dpkg-query", "-W", "-f", "${Version}", name).stdout, library)
        # Header-only and static libraries, and a part of the page that comes with another part.
        for name in ("libcli11-dev", "libboost-math-dev", "llvm-14-dev", "d3-flame-graph", "d3-time-format"):
            self.assertRegex(parts[name], r"^[0-9]")
        self.assertNotIn("esbuild", parts)


if __name__ == "__main__":
    unittest.main()
