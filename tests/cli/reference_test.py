#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples, man pages and completions agree with --help, and their readers accept them. And what is installed.

    reference_test.py Reference
    reference_test.py Package        `cmake --install`, and the bill of materials. tests/packages has the Debian packages
"""

import json
import os
import pathlib
import re
import shlex
import unittest

import cli

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = cli.HOST_BUILD / "share"
# The completions ask the command for the boards in nopscope.toml.
ENVIRONMENT = {"PATH": f"{pathlib.Path(cli.NOPSCOPE).parent}:/usr/bin:/bin", "HOME": "/none", "LC_ALL": "C.UTF-8"}
SCHEMES = {"serial:", "tcp:", "unix:", "exec:", "file:", "gdb:"}
# What each shell offers behind the words; a directory without its slash.
OFFERED = {
    "report --format ": {"text", "json", "csv"}, "report x.nsc --sort t": {"total"}, "top --sort p": {"p50", "p99"},
    "export x.nsc --format c": {"callgrind", "chrome", "csv", "ctf"}, "record --mode l": {"lossless"}, "record --recorder g": {"graph"},
    "record --events cpu_c": {"cpu_cycles"}, "ctl sta": {"stats", "start"}, "ctl mode ": {"adaptive", "flight", "lossless", "stream"},
    "help gr": {"graph"}, "report ru": {"run.nsc", "runs"}, "report run.t": {"run.txt"}, "report --image ru": {"run.elf", "runs"},
    "diff run.nsc ru": {"run.nsc", "runs"}, "html -o run.": {"run.nsc", "run.elf", "run.txt"}, "html --source-root ru": {"runs"},
    "report --top ru": set(), "report --board ": {"desk", "lab"}}

HAS = ("bin/nopscope", "share/man/man1/nopscope-report.1.gz", "share/bash-completion/completions/nopscope",
       "share/zsh/vendor-completions/_nopscope", "share/fish/vendor_completions.d/nopscope.fish",
       "share/doc/nopscope/LICENSE", "share/doc/nopscope/nopscope.spdx.json", "share/doc/nopscope/docs/cli.md",
       "share/zsh/site-functions/_nopscope", "share/doc/nopscope/changelog.gz", "share/doc/nopscope/copyright",
       "share/nopscope/nopscope-gdb.py", "share/nopscope/nopscope_unwinder.py", "share/nopscope/nopscope_call_frames.py")


class Reference(cli.Case):
    def test_examples_are_commands_with_options_that_they_have(self):
        for command in cli.commands():
            text = cli.nopscope(command, "--help").stdout
            self.assertIn("Examples:", text, command)
            examples = re.findall(r"^  (nopscope .*)$", text.split("Examples:")[1], re.MULTILINE)
            self.assertTrue(examples, command)
            for example in examples:
                words = shlex.split(example)
                self.assertEqual(words[1], command, example)
                used = {word for word in words if word.startswith("--") and word != "--"}
                self.assertLessEqual(used, cli.options_of(command), example)

    def pages(self):
        """Yields (its name, the page in plain text) for each page."""
        for page in sorted((SHARE / "man/man1").glob("*.1")):
            done = cli.run("groff", "-man", "-ww", "-Tutf8", page)
            self.assertEqual(done.stderr, "", page.name)
            yield page.stem, re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")

    def test_there_is_a_man_page_for_each_command_and_groff_has_nothing_to_say(self):
        pages = dict(self.pages())
        self.assertEqual(set(pages), {"nopscope"} | {f"nopscope-{command}" for command in cli.commands()})
        for name, plain in pages.items():
            if name != "nopscope":
                for option in cli.options_of(name.removeprefix("nopscope-")):
                    self.assertIn(option, plain, name)
            self.assertEqual(plain.count("--help\n"), 1, name)
            sections = re.findall(r"^[A-Z][A-Z ]+$", plain, re.MULTILINE)
            self.assertEqual([one for one in sections if one not in ("COMMANDS", "EXAMPLES", "NOTES")],
                             ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"], name)
            self.assertEqual("EXAMPLES" in sections, name != "nopscope", name)
        self.assertNotEqual(cli.run("groff", "-man", "-ww", "-z", "-", input=".XX\n").stderr, "", "groff would say")

    def test_the_man_pages_name_what_the_command_reads_and_pages_that_there_are(self):
        read = set()
        for source in (ROOT / "host-tools").rglob("*.cpp"):
            read |= set(re.findall(r'\b(?:getenv|variable)\("([A-Z_]+)"\)', source.read_text()))
        self.assertLessEqual({"HOME", "NOPSCOPE_CONFIG", "NO_COLOR"}, read)
        pages = dict(self.pages())
        def section(name, heading):
            return pages[name].split(f"\n{heading}\n")[1].split("\n\n" if heading == "SEE ALSO" else "\nFILES\n")[0]
        told = set(re.findall(r"^ {7}([A-Z_]+)\b", section("nopscope", "ENVIRONMENT"), re.MULTILINE))
        self.assertEqual(told - {"LC_ALL"}, read)
        self.assertEqual(set(re.findall(r"^ {7}([A-Z_]+)\b", section("nopscope-report", "ENVIRONMENT"), re.MULTILINE)),
                         {"NOPSCOPE_CONFIG", "XDG_CONFIG_HOME", "HOME"})
        for name in pages:
            also = re.findall(r"\b([a-z0-9-]+)\(1\)", section(name, "SEE ALSO"))
            self.assertTrue(also, name)
            self.assertEqual(len(also), len(set(also)), name)
            self.assertLessEqual({one for one in also if one.startswith("nopscope")}, set(pages) - {name})

    def files(self):
        """Makes files in the directory where <TAB> is pressed."""
        for name in ("run.nsc", "run.txt", "run.elf"):
            (self.directory / name).touch()
        (self.directory / "runs").mkdir()
        (self.directory / "nopscope.toml").write_text("[lab]\ntop = 3\n[desk.report]\ntop = 3\n")

    def bash(self, *words):
        """Returns bash's completions after these words."""
        script = (f"source {shlex.quote(str(SHARE / 'bash-completion/completions/nopscope'))}\n"
                  f"COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}\n_nopscope\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
        return set(cli.run("bash", "-uc", script, cwd=self.directory, env=ENVIRONMENT).stdout.split())

    def test_bash_completes(self):
        self.assertEqual(self.bash("nopscope", "re"), {"record", "replay", "report"})
        self.assertLessEqual(set(cli.commands()), self.bash("nopscope", ""))
        for command in cli.commands():
            self.assertLessEqual(cli.options_of(command), self.bash("nopscope", command, "-"))
        self.files()
        requests = cli.nopscope("ctl", "--help").stdout.split("Requests:\n")[1]
        self.assertEqual(self.bash("nopscope", "ctl", ""), set(re.findall(r"^  ([a-z-]+) ", requests, re.MULTILINE)))
        documented = set(re.findall("`([a-z-]+)[ `]", (ROOT / "docs/cli.md").read_text()))
        self.assertLessEqual(self.bash("nopscope", "ctl", ""), documented)
        self.assertLess({"trace", "only", "events", "baud", "reset"}, self.bash("nopscope", "ctl", ""))
        for line, words in {  # --filt: an old name; the third word of `callers` is a function
                "record --tr": {"--trace"}, "record --filt": set(), "ctl events cpu_cycles inst_r": {"inst_retired"}, "ctl depth ": set(),
                "ctl --via unix:x sta": {"stats", "start"}, "--board x exp": {"export"}, "report --format = t": {"text"},
                "record --from ": SCHEMES, "report --top 3 run.": {"run.nsc"}, "callers run.nsc ru": set(),
                "record --from file : run.t": {"run.txt"}, **OFFERED}.items():
            self.assertEqual(self.bash("nopscope", *line.split(" ")), words, line)

    def fish(self, line):
        script = SHARE / "fish/vendor_completions.d/nopscope.fish"
        out = cli.run("fish", "--no-config", "-c", f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}",
                      cwd=self.directory, env=ENVIRONMENT).stdout
        return {entry.split("\t")[0] for entry in out.splitlines()}

    def test_fish_completes(self):
        self.assertEqual(self.fish("nopscope re"), {"record", "replay", "report"})
        for command in cli.commands():
            self.assertLessEqual(cli.options_of(command), self.fish(f"nopscope {command} --"))
        self.files()
        for line, words in OFFERED.items():
            self.assertEqual({word.rstrip("/") for word in self.fish(f"nopscope {line}")}, words, line)
        self.assertEqual(self.fish("nopscope export x.nsc --format=ct"), {"--format=ctf"})
        self.assertEqual(self.fish("nopscope record --from file:run.t"), {"file:run.txt"})
        self.assertIn("serial:", self.fish("nopscope record --from "))

    def zsh(self, *lines):
        """Returns zsh's completions for each line, on a terminal (zsh/zpty). zsh shows no list
        while keys wait, so the completion itself prints what it adds, and its end."""
        (self.directory / "setup").write_text(f"""
            PS1=; stty -echo; unsetopt beep; LISTMAX=1000
            fpath=({SHARE / 'zsh/vendor-completions'} $fpath); autoload -Uz compinit; compinit -u -d {self.directory / 'dump'}
            compadd() {{
                if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
                local -a __found
                builtin compadd -A __found "$@"
                (( $#__found )) && print -rl -- '' "offer:"$^__found
                builtin compadd "$@"
            }}
            over() {{ print -r -- over-completion; comppostfuncs=(over) }}
            comppostfuncs=(over)
            bindkey '^I' list-choices
            print rea''dy
        """.replace("\\\\", "\\"))
        asked = "".join(f"""
            zpty -n -w shell $'\\C-u'{shlex.quote(line)}$'\\t'
            zpty -r shell text "*over-completion*"
            print -r -- "$text"; print -r -- "=== next"
            """ for line in lines)
        script = f"""
            zmodload zsh/zpty
            zpty shell zsh -fi
            zpty -w shell ". {self.directory / 'setup'}"
            zpty -r shell text "*ready*"
            {asked}
        """
        out = cli.run("zsh", "-f", "-c", script, cwd=self.directory, env={**ENVIRONMENT, "TERM": "dumb", "COLUMNS": "200",
                                                                         "HOME": str(self.directory)}).stdout
        listed = out.split("=== next")[:-1]
        self.assertEqual(len(listed), len(lines))
        return {line: set(re.findall(r"offer:(\S+)", text)) for line, text in zip(lines, listed)}

    def test_zsh_completes(self):
        self.files()
        expected = {f"nopscope {line}": words for line, words in OFFERED.items()} | {
            "nopscope export x.nsc --format=ct": {"ctf"}, "nopscope callers run.nsc ru": set(), "nopscope record --from ": SCHEMES}
        offered = self.zsh("nopscope re", "nopscope --board x re", "nopscope diff --", *expected)
        for line in ("nopscope re", "nopscope --board x re"):
            self.assertLessEqual({"record", "replay", "report"}, offered[line])
            self.assertNotIn("graph", offered[line])
        self.assertLessEqual(cli.options_of("diff"), {name.rstrip("=") for name in offered["nopscope diff --"]})
        for line, words in expected.items():
            self.assertEqual(offered[line], words, line)


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
        for name in ("libcli11-dev", "llvm-14-dev", "d3-flame-graph", "d3-time-format"):
            self.assertRegex(parts[name], r"^[0-9]")
        self.assertNotIn("esbuild", parts)


if __name__ == "__main__":
    unittest.main()
