#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples, man pages and completions say what --help says, and their readers take them."""

import re
import shlex
import unittest

import cli

SHARE = cli.HOST_BUILD / "share"


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

    def test_there_is_a_man_page_for_each_command_and_groff_has_nothing_to_say(self):
        pages = {page.stem for page in (SHARE / "man/man1").iterdir()}
        self.assertEqual(pages, {"nopscope"} | {f"nopscope-{command}" for command in cli.commands()})
        for page in (SHARE / "man/man1").iterdir():
            done = cli.run("groff", "-man", "-ww", "-Tutf8", page)
            self.assertEqual(done.stderr, "", page.name)
            plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
            if page.stem != "nopscope":
                for option in cli.options_of(page.stem.removeprefix("nopscope-")):
                    self.assertIn(option, plain, page.name)
        self.assertEqual(cli.run("groff", "-man", "-ww", "-z", "-", input=".XX\n").stderr != "", True, "groff would say")

    def bash(self, *words):
        """What <TAB> offers after these words."""
        script = (f"source {shlex.quote(str(SHARE / 'bash-completion/completions/nopscope'))}\n"
                  f"COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}\n_nopscope\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
        return set(cli.run("bash", "-uc", script, cwd=self.directory).stdout.split())

    def test_bash_completes(self):
        self.assertEqual(self.bash("nopscope", "re"), {"record", "report"})
        self.assertLessEqual(set(cli.commands()), self.bash("nopscope", ""))
        for command in cli.commands():
            self.assertLessEqual(cli.options_of(command), self.bash("nopscope", command, "-"))
        self.assertEqual(self.bash("nopscope", "report", "--format", ""), {"text", "json", "csv"})
        self.assertEqual(self.bash("nopscope", "report", "x.nsc", "--sort", "t"), {"total"})
        self.assertEqual(self.bash("nopscope", "export", "x.nsc", "--to", "c"), {"callgrind", "chrome", "csv", "ctf"})
        self.assertEqual(self.bash("nopscope", "record", "--mode", "l"), {"lossless"})
        self.assertEqual(self.bash("nopscope", "record", "--recorder", "g"), {"graph"})
        self.assertEqual(self.bash("nopscope", "top", "--sort", "p"), {"p50", "p99"})
        self.assertEqual(self.bash("nopscope", "record", "--event", "cpu_c"), {"cpu_cycles"})
        self.assertEqual(self.bash("nopscope", "ctl", "--via", "unix:x", "sta"), {"stats", "start"})
        self.assertEqual(self.bash("nopscope", "help", "gr"), {"graph"})
        (self.directory / "run.nsc").touch()
        self.assertEqual(self.bash("nopscope", "report", "ru"), {"run.nsc"})

    def fish(self, line):
        script = SHARE / "fish/vendor_completions.d/nopscope.fish"
        out = cli.run("fish", "--no-config", "-c", f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}",
                      cwd=self.directory).stdout
        return {entry.split("\t")[0] for entry in out.splitlines()}

    def test_fish_completes(self):
        self.assertEqual(self.fish("nopscope re"), {"record", "report"})
        for command in cli.commands():
            self.assertLessEqual(cli.options_of(command), self.fish(f"nopscope {command} --"))
        self.assertEqual(self.fish("nopscope report --format "), {"text", "json", "csv"})
        self.assertEqual(self.fish("nopscope record --mode l"), {"lossless"})
        self.assertEqual(self.fish("nopscope ctl sta"), {"stats", "start"})

    def zsh(self, line):
        """What it lists, on a terminal of its own (zsh/zpty)."""
        script = f"""
            zmodload zsh/zpty
            zpty -b shell zsh -fi
            zpty -w shell "PS1=; stty -echo; fpath=({SHARE / 'zsh/vendor-completions'} \\$fpath); autoload -Uz compinit; compinit -u -d {self.directory / 'dump'}"
            zpty -w shell "unsetopt beep; LISTMAX=1000; zstyle ':completion:*' list-separator '--'; bindkey '^I' list-choices; print ready-\\$((1+1))"
            text= ; while zpty -r shell part; do text+=$part; [[ $text == *ready-2* ]] && break; done
            zpty -n -w shell {shlex.quote(line)}$'\\t'
            sleep 2
            zpty -n -w shell $'\\C-u'"print over-\\$((1+1))"$'\\n'
            text= ; while zpty -r shell part; do text+=$part; [[ $text == *over-2* ]] && break; done
            print -r -- "$text"
        """
        out = cli.run("zsh", "-f", "-c", script, cwd=self.directory, env={"PATH": "/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200",
                                                                         "HOME": str(self.directory)}).stdout
        return set(re.findall(r"(?<![^\s])(-{0,2}[a-z][a-z-]*)", out))

    def test_zsh_completes(self):
        offered = self.zsh("nopscope re")
        self.assertLessEqual({"record", "report"}, offered)
        self.assertNotIn("graph", offered)
        self.assertLessEqual(cli.options_of("diff"), self.zsh("nopscope diff --"))
        self.assertLessEqual({"text", "json", "csv"}, self.zsh("nopscope report --format "))
        self.assertLessEqual({"stats", "start"}, self.zsh("nopscope ctl sta"))


if __name__ == "__main__":
    unittest.main()
