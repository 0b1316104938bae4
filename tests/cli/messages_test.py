#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines. Each gives one sentence in nopscope's own words, and exit code 2.

The cases come from --help, so a new command or option has its cases automatically.
"""

import concurrent.futures
import os
import re
import unittest

import cli

# Words from CLI11 and from C++.
PARSER_WORDS = re.compile(r"is required|required but|not expected|[Cc]ould not convert|not in range|Check .* value|UINT|TEXT|FLOAT|"
                          r"Run with|excludes|[Ss]ubcommand|At [Mm]ost|INI was|std::|was given a|not an allowed value")
NUMBERS = {"N": ("-1", "nan", "1e3", "10us", "0x", "1.5", "9" * 30, " 1", "+1"),
           "PERCENT": ("-1", "nan", "inf", "10us", "0x10", "1e999", "+1"),
           "SECONDS": ("-1", "nan", "inf", "10us", "0x10", "1e999", "1e10"),
           "LIMIT": ("-1h", "0s", "nan", "5XB", "1", "h"),
           "SIZE": ("-1", "1", "nan", "300XB", "9" * 30, "0x10"),
           "ADDRESS": ("-1", "0x", "x", "0x10000000000000000", "1.5")}
CONTROL = "\x1b[31m\x07\n\x9b"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "XDG_CONFIG_HOME"} | {"NOPSCOPE_CONFIG": "", "HOME": "/none"}
TAKES_MANY = {"diff", "ctl"}  # arguments
MEANT = {
    "reprot": "there is no command reprot: did you mean report?", "help reprot": "there is no command reprot: did you mean report?",
    "zzzzzz": "there is no command zzzzzz: `nopscope help` lists them", "": "no command is given: `nopscope help` lists them",
    "record --fromat x": "record has no option --fromat: did you mean --from or --rotate?",
    "report run.nsc --duration 3": "report has no option --duration: it is an option of record and doctor",
    "report --zzzzzzzzz": "report has no option --zzzzzzzzz: `nopscope help report` lists them",
    "report": "report: give a recording, for example `nopscope report run.nsc --top 20`",
    "outliers x": "outliers: give a function, for example `nopscope outliers run.nsc on_packet --top 5`",
    "export": "export: give a recording, --format and --output, for example `nopscope export run.nsc --format perfetto -o run.perfetto-trace`",
    "report a b": "report: b is one argument too many: it takes a recording",
    "latency a b c": "latency: c is one argument too many: it takes a recording and a function",
    "report x --sort selff": "--sort: expected one of calls, max, self, total, not selff: did you mean self?",
    "report x --top -1": "--top: expected a whole number from 1 to 1000000, not -1",
    "graph x --min-share 200": "--min-share: expected a number of percent from 0 to 100, not 200",
    "report x --top": "--top needs a value: Only the first so many functions", "report x --raw=x": "--raw takes no value",
    "ctl --from a --via b stats": "ctl: give --from or --via, not both", "serve --from a b": "serve: give a recording or --from, not both"}


def cases():
    for command in cli.commands():
        yield command, f"--none-such{CONTROL}"
        yield command, "--none-such=1", "x"
        if command not in TAKES_MANY:
            yield command, "a", "b", "c", f"d{CONTROL}"
        for name, kind in cli.typed_options(command):
            if not kind:
                yield command, f"{name}=x{CONTROL}"
                continue
            yield command, name
            values = NUMBERS.get(kind, ())
            if kind.startswith("{"):
                values = ("", "none-such", kind[1:3])
            for value in values:
                yield command, f"{name}={value}"
            if values:
                yield command, name, f"1{CONTROL}"
    for words in ((), ("reprot",), (f"re{CONTROL}",), ("--none-such",), ("--none-such", "report"), ("help", f"re{CONTROL}"), ("--board",)):
        yield words


class Messages(cli.Case):
    def wrong(self, *words):
        return cli.nopscope(*words, status=2, cwd=self.directory, env=ENVIRONMENT, stdin=cli.subprocess.DEVNULL)

    def test_each_wrong_word_is_one_sentence(self):
        all_cases = list(cases())
        self.assertGreater(len(all_cases), 400)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for words, done in zip(all_cases, pool.map(lambda words: self.wrong(*words), all_cases)):
                with self.subTest(words=words):
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr, r"\Anopscope: [^\x00-\x1f\x7f-\x9f]{10,600}[^.\x00-\x1f\x7f-\x9f]\n\Z")
                    self.assertNotRegex(done.stderr, PARSER_WORDS)

    def test_the_sentence_says_what_was_meant(self):
        for line, sentence in MEANT.items():
            self.assertEqual(self.wrong(*line.split()).stderr, f"nopscope: {sentence}\n", line)

    def test_what_is_missing_is_named_as_a_person_would_with_an_example(self):
        asked = 0
        for command in cli.commands():
            said = cli.nopscope(command, status=None, cwd=self.directory, env=ENVIRONMENT, stdin=cli.subprocess.DEVNULL).stderr
            if f": {command}: give " not in said:
                continue
            asked += 1
            example, = re.findall(rf"\Anopscope: {command}: give (?:(?:a|an|two) [a-zA-Z]+|--[a-z]+|, | and )+, for example `(nopscope {command} .*)`\n\Z", said)
            self.assertIn(f"  {example}\n", cli.nopscope("help", command).stdout)
        self.assertGreater(asked, 18)

    def test_options_stand_before_and_behind_the_command_and_its_arguments(self):
        none = "cannot open {}: No such file or directory"
        for words in (("report", "a.nsc", "--top", "3"), ("report", "--top", "3", "a.nsc"), ("--top", "3", "report", "a.nsc"),
                      ("--top=3", "--raw", "report", "a.nsc"), ("report", "--", "a.nsc"), ("--raw", "report", "a.nsc"),
                      ("report", "--raw", "a.nsc"), ("html", "--source-root", "x", "a.nsc", "-o", "a.html"),
                      ("--source-root", "x", "-o", "a.html", "html", "a.nsc"), ("check", "--allow", "f", "a.nsc"),
                      ("diff", "a.nsc", "b", "--", "c", "d"), ("--top", "3", "diff", "a.nsc", "b", "--", "c", "d"),
                      ("diff", "a.nsc", "--top", "3", "b"), ("diff", "--top", "3", "a.nsc", "--raw", "--", "c", "--raw")):
            said = cli.nopscope(*words, status=3, cwd=self.directory, env=ENVIRONMENT).stderr
            self.assertIn(none.format("a.nsc"), said, words)
        self.assertIn(none.format("--top"), cli.nopscope("report", "--", "--top", status=3, env=ENVIRONMENT).stderr)

    def test_an_old_name_is_taken_and_the_new_one_is_said(self):
        line = ("--from", "file:none", "-o", "x.nsc")
        olds = [("outliers", "none", "f", "--count", "--top", "2"), ("export", "none", "-o", "x", "--to", "--format", "folded"),
                ("graph", "none", "--depth", "--levels", "2"), ("record", *line, "--raw", "--save-line", "x.raw"),
                ("top", "--once", "--from", "file:none", "--after", "--delay", "0"), ("doctor", "--seconds", "--duration", "99999")]
        for command in (("record", *line), ("top", "--once", *line), ("serve", *line)):
            olds += [(*command, "--filter", "--trace", "x"), (*command, "--only-function", "--only", "x"),
                     (*command, "--event", "--events", "x"), (*command, "--mode", "--recorder", "profile")]
        for *words, old, new, value in olds:
            of = f" {value}" if old == "--mode" else ""
            said = f"nopscope: {old}{of} is now {new}{of}: nopscope 0.4.0 will not know the old name\n"
            now = cli.nopscope(*words, new, value, status=None, cwd=self.directory, env=ENVIRONMENT)
            self.assertIn(now.returncode, (2, 3), words)
            for spelled in ((*words, old, value), (*words, f"{old}={value}"), (old, value, *words)):
                done = cli.nopscope(*spelled, status=None, cwd=self.directory, env=ENVIRONMENT)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (now.returncode, now.stdout, said + now.stderr), spelled)
            if old != "--mode":
                self.assertNotIn(old, cli.options_of(words[0]))
        self.assertNotIn(" is now ", cli.nopscope("record", *line, "--mode", "flight", status=2, env=ENVIRONMENT).stderr)
        self.assertNotIn(" is now ", cli.nopscope("report", "--", "--count", status=3, env=ENVIRONMENT).stderr)
        version = cli.nopscope("--version").stdout.split()[1]
        self.assertLess([int(part) for part in version.split(".")], [0, 4, 0], "remove the old names: docs/versions.md")

    def test_an_option_means_the_same_in_each_command(self):
        kinds = {}
        for command in cli.commands():
            for name, kind in cli.typed_options(command):
                # A recording is a file. Each command has its own words for a list.
                kinds.setdefault(name, set()).add("FILE" if kind == "RECORDING" else kind[:1] if kind.startswith("{") else kind)
        self.assertGreater(len(kinds), 50)
        self.assertEqual({name: kind for name, kind in kinds.items() if len(kind) != 1}, {})

    def test_help_is_a_command_too(self):
        self.assertEqual(cli.nopscope("help").stdout, cli.nopscope("--help").stdout)
        for command in cli.commands():
            self.assertEqual(cli.nopscope("help", command).stdout, cli.nopscope(command, "--help").stdout)
        self.assertEqual(cli.nopscope("report", "--version").stdout, cli.nopscope("--version").stdout)

    def test_a_file_that_is_none(self):
        (self.directory / "empty").touch()
        for command in ("report", "graph", "replay", "irq", "stack-depth", "info", "check", "names"):
            for file, said in (("none", "No such file"), (".", "directory"), ("empty", "empty")):
                done = cli.nopscope(command, file, status=3, cwd=self.directory, env=ENVIRONMENT)
                self.assertRegex(done.stderr, rf"\Anopscope: [^\n]*{said}[^\n]*\n\Z", f"{command} {file}")
                self.assertEqual(done.stdout, "", f"{command} {file}")


if __name__ == "__main__":
    unittest.main()
