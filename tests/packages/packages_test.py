#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages nopscope and nopscope-target-source.

    packages_test.py Deb          lintian, reproducible bytes, contents, and a firmware built from the sources
    packages_test.py CleanRoot    apt installs them in a clean root, the command runs, and removal leaves no file

From the environment, in addition to cli.py's: NOPSCOPE_CROSS, the prefix of the cross compiler.
"""

import gzip
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import unittest

import clean_root

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
import cli  # noqa: E402

cli.HANG_SECONDS = 300  # a library is compiled, and lintian and apt run
EPOCH = 1790000000  # any time
CROSS = os.environ.get("NOPSCOPE_CROSS", "aarch64-linux-gnu-")
PROJECT = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_C_COMPILER={CROSS}gcc"]
HISTORY = """# Changelog

## [Unreleased]

## [0.2.0] - 2026-11-23
### Added
- `nopscope one`, which is [a long story](docs/one.md) that goes on beyond the seventy-eighth column of its line
  and into the next.
### Fixed
* Two.

## [0.1.0] - 2026-01-02

The first.

[0.2.0]: https://example.org/0.2.0
"""


def make(directory, **environment):
    """Returns (nopscope, nopscope-target-source), made by the command in docs/install.md."""
    cli.run("cpack", "--config", cli.HOST_BUILD / "CPackConfig.cmake", "-B", directory,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), **environment})
    command, = directory.glob("nopscope_*.deb")
    target, = directory.glob("nopscope-target-source_*_all.deb")
    return command, target


def field(deb, name):
    return cli.run("dpkg-deb", "--field", deb, name).stdout.strip()


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nopscope-deb-")))
        cls.command, cls.target = cls.debs = make(cls.directory / "first")
        for deb, name in zip(cls.debs, ("command", "target")):
            cli.run("dpkg-deb", "--extract", deb, cls.directory / name)

    def installed(self, name):
        return self.directory / name / "usr"

    def test_lintian_has_no_error_and_no_warning(self):
        # lintian must complain about this package; otherwise its silence proves nothing.
        poor = self.directory / "poor"
        cli.run("dpkg-deb", "--raw-extract", self.target, poor)
        control = poor / "DEBIAN/control"
        control.write_text(control.read_text().replace("Package: ", "Package: poor-"))
        cli.run("dpkg-deb", "--build", poor, self.directory / "poor.deb")
        done = cli.run("lintian", "--fail-on", "error,warning", *self.debs, self.directory / "poor.deb", status=None)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("E: poor-nopscope-target-source: no-copyright-file\n", done.stdout)
        self.assertEqual([line for line in done.stdout.splitlines() if ": poor-" not in line], [])

    def test_made_again_they_are_the_same_bytes(self):
        again = make(self.directory / "again", TZ="Asia/Tokyo", LC_ALL="C")
        for one, other in zip(self.debs, again):
            self.assertTrue(one.read_bytes() == other.read_bytes(), f"{one.name}: see diffoscope")
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(EPOCH))
        for deb in self.debs:
            listed = cli.run("dpkg-deb", "--contents", deb, env={**os.environ, "TZ": "UTC"}).stdout.splitlines()
            self.assertEqual({" ".join(line.split()[3:5]) for line in listed}, {when})

    def test_the_fields(self):
        version = cli.nopscope("--version").stdout.split()[1]
        for deb in self.debs:
            self.assertEqual(field(deb, "Version"), version)
            self.assertRegex(field(deb, "Maintainer"), r"^.+ <[^@ ]+@[^@ ]+>$")
        depends = field(self.command, "Depends")
        for library in ("libc6", "libdw1", "libsqlite3-0", "libzstd1", "zlib1g"):
            self.assertRegex(depends, rf"\b{library} \(>= ")
        self.assertEqual(field(self.target, "Architecture"), "all")
        self.assertEqual(field(self.target, "Depends"), "")

    def test_modes_owners_and_checksums(self):
        for deb, name in zip(self.debs, ("command", "target")):
            for line in cli.run("dpkg-deb", "--contents", deb).stdout.splitlines():
                mode, owner, path = line.split()[0], line.split()[1], line.split()[5]
                program = path.endswith(("/bin/nopscope", ".sh"))
                self.assertEqual(mode, "drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if program else "-rw-r--r--", path)
                self.assertEqual(owner, "root/root", path)
            control = self.directory / f"{name}-control"
            cli.run("dpkg-deb", "--control", deb, control)
            done = cli.run("md5sum", "--check", "--quiet", control / "md5sums", cwd=self.directory / name)
            self.assertEqual(done.stdout, "")
            files = [path for path in (self.directory / name).rglob("*") if path.is_file()]
            self.assertEqual(len((control / "md5sums").read_text().splitlines()), len(files))

    def test_what_is_compressed_has_no_time(self):
        found = [path for name in ("command", "target") for path in self.installed(name).rglob("*.gz")]
        self.assertGreater(len(found), 20)
        for path in found:
            self.assertEqual(path.read_bytes()[:9], b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02", path)  # no flag, no time, -9
        pages = {path.name.removesuffix(".1.gz") for path in (self.installed("command") / "share/man/man1").iterdir()}
        self.assertEqual(pages, {"nopscope"} | {f"nopscope-{command}" for command in cli.commands()})

    def test_the_copyright_names_what_is_linked_and_what_is_in_the_page(self):
        text = (self.installed("command") / "share/doc/nopscope/copyright").read_text()
        bill = json.loads((self.installed("command") / "share/doc/nopscope/nopscope.spdx.json").read_text())
        bundled = {part["name"] for part in bill["packages"] for ref in part.get("externalRefs", ())
                   if ref["referenceLocator"].startswith("pkg:npm/")}
        self.assertEqual(set(re.findall(r"^Files: page/(\S+)/\*$", text, re.MULTILINE)), bundled)
        self.assertEqual(set(re.findall(r"^Files: linked/(\S+)/\*$", text, re.MULTILINE)),
                         {"CLI11", "nlohmann-json", "cpp-httplib", "fmt", "llvm"})
        used = re.findall(r"^Files: .*\nCopyright: (?:.+\n)+?License: (.*)$", text, re.MULTILINE)
        self.assertEqual(len(used), 1 + 5 + len(bundled))
        texts = dict(re.findall(r"^\nLicense: (.*)\n((?: .+\n)+)", text, re.MULTILINE))
        self.assertEqual(set(used), set(texts))
        self.assertIn("LLVM Exceptions to the Apache 2.0 License", texts["APACHE-2-LLVM-EXCEPTIONS"])

    def changelog(self, history, version):
        source, out = self.directory / "CHANGELOG.md", self.directory / "changelog"
        source.write_text(history)
        cli.run(ROOT / "cmake/deb/changelog.py", source, "nopscope", version, "A Person <a@example.org>", out,
                env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
        done = cli.run("dpkg-parsechangelog", "-l", out, "--all", "--format", "rfc822")
        self.assertEqual(done.stderr, "")
        versions = re.findall(r"^nopscope \((.*)\) unstable; urgency=medium$", out.read_text(), re.MULTILINE)
        return versions, out.read_text()

    def test_the_changelog_is_that_of_the_tree(self):
        versions, text = self.changelog(HISTORY, "0.2.0")
        self.assertEqual(versions, ["0.2.0", "0.1.0"])
        self.assertIn("""
  [ Added ]
  * nopscope one, which is a long story that goes on beyond the seventy-eighth
    column of its line and into the next.

  [ Fixed ]
  * Two.

 -- A Person <a@example.org>  Mon, 23 Nov 2026 00:00:00 +0000
""", text)
        self.assertIn("  * The first.\n", text)
        self.assertNotIn("https", text)
        # For an unreleased version, and without any history.
        versions, text = self.changelog(HISTORY.replace("## [Unreleased]\n", "## [Unreleased]\n- Three.\n"), "0.3.0")
        self.assertEqual(versions, ["0.3.0", "0.2.0", "0.1.0"])
        self.assertIn("  * Three.\n\n -- A Person <a@example.org>  Mon, 21 Sep 2026", text)
        self.assertEqual(self.changelog("# Changelog\n", "0.1")[0], ["0.1"])
        for name, deb in (("nopscope", "command"), ("nopscope-target-source", "target")):
            text = gzip.decompress((self.installed(deb) / f"share/doc/{name}/changelog.gz").read_bytes()).decode()
            self.assertTrue(text.startswith(f"{name} ({field(self.command, 'Version')}) "), text[:100])

    def test_a_heading_that_is_none_is_refused(self):
        with self.assertRaisesRegex(AssertionError, r"a heading that is neither .* ## 0\.2\.0 of yesterday"):
            self.changelog("## 0.2.0 of yesterday\n", "0.2.0")

    def test_a_firmware_is_built_from_the_sources(self):
        # ccache finds objects that lie where the guide's build has them (tests/guide).
        source, prefix = self.directory / "nopscope", self.directory / "prefix"
        cli.run("cp", "-r", self.installed("target") / "src/nopscope", source)
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.directory)}
        cli.run("cmake", "-S", "nopscope", "-B", "package", "-G", "Ninja", "--toolchain", "cmake/aarch64-none-elf.cmake",
                "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DNOPSCOPE_CORES=1", "-DNOPSCOPE_RING_LOG2=16",
                f"-DCMAKE_INSTALL_PREFIX={prefix}", cwd=self.directory, env=environment)
        cli.run("cmake", "--build", "package", cwd=self.directory, env=environment)
        cli.run("cmake", "--install", "package", cwd=self.directory)
        examples = self.installed("target") / "share/doc/nopscope-target-source/examples"
        out = self.directory / "made"
        out.mkdir()
        cli.run("make", "-C", examples / "own-startup", f"OUT={out}", f"CROSS={CROSS}", out / "foreign.elf",
                env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})
        found = self.directory / "found"
        cli.run("cmake", "-S", examples / "project", "-B", found, "-G", "Ninja", *PROJECT, f"-DFOREIGN={examples}/own-startup",
                f"-DCMAKE_PREFIX_PATH={prefix}")
        cli.run("cmake", "--build", found)
        for elf in (out / "foreign.elf", found / "foreign.elf"):
            self.assertRegex(cli.nopscope("check", elf).stdout, r" [1-9]\d* sites, .* 0 problems\n")


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
nopscope html /in/stream.bin -o - >/out/html
nopscope export /in/stream.bin --format csv -o - >/out/export
bash -c '. /usr/share/bash-completion/completions/nopscope; COMP_WORDS=(nopscope expo) COMP_CWORD=1; _nopscope; echo "${COMPREPLY[@]}"' >/out/completed
gzip -dc /usr/share/man/man1/nopscope.1.gz >/out/man
apt-get purge -qq -y nopscope nopscope-target-source
apt-get autoremove -qq -y --purge
list after
"""


class CleanRoot(unittest.TestCase):
    def test_installed_run_and_removed(self):
        with tempfile.TemporaryDirectory(prefix="nopscope-deb-") as holder:
            debs = make(pathlib.Path(holder))
            tar = clean_root.root_tar(field(debs[0], "Depends"))
            status, said, out = clean_root.run(tar, SCRIPT, [*debs, RECORDING])
        self.assertEqual(status, 0, said)
        self.assertIn("nopscope installed\nnopscope-target-source installed\n", said)
        out = {name: data.decode() for name, data in out.items()}
        self.assertEqual(out["version"], cli.nopscope("--version").stdout)
        for name, words in (("report", []), ("html", ["-o", "-"]), ("export", ["--format", "csv", "-o", "-"])):
            self.assertEqual(out[name], cli.nopscope(name, RECORDING, *words).stdout)
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
