#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nopscope.toml: a board's defaults, which the command line overrides."""

import os
import pathlib
import re
import unittest

import cli

FILE = """
board = "here"          # without --board
[here]
image = "{image}"
format = "json"
[here.check]
format = "text"
[there]
from = "tcp:127.0.0.1:1"
image = "none.elf"
"""


class Defaults(cli.Case):
    def setUp(self):
        super().setUp()
        self.environment = {key: value for key, value in os.environ.items() if key not in ("NOPSCOPE_CONFIG", "XDG_CONFIG_HOME")}
        self.environment["HOME"] = str(self.directory / "home")
        self.write(FILE.format(image=cli.DEMO))

    def write(self, text, name="nopscope.toml"):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def write_bytes(self, data):
        (self.directory / "nopscope.toml").write_bytes(data if isinstance(data, bytes) else data.encode())

    def nopscope(self, *arguments, status=0, **more):
        return cli.nopscope(*arguments, status=status, cwd=self.directory, env=self.environment | more)

    def said(self, status, *arguments, **more):
        return self.nopscope(*arguments, status=status, **more).stderr

    def is_json(self, command, *arguments, **more):
        return self.nopscope(command, cli.DEMO, *arguments, **more).stdout.startswith("{")

    def test_a_command_takes_those_it_has_an_option_for(self):
        self.assertTrue(self.is_json("info"))
        self.assertFalse(self.is_json("check"), "its own section comes first")
        for words in (("--format", "text"), ("--format=text",)):
            self.assertFalse(self.is_json("info", *words), "the command line comes first")
        self.nopscope("events")  # it has no such options

    def test_an_old_name_is_taken(self):
        self.write(FILE.format(image=cli.DEMO) + "[old]\ncount = 2000\ndepth = 3\n[old.graph]\ndepth = 0\n[old.record]\nmode = 'profile'\n")
        for words, said in (("outliers x f", "--count is now --top: .*\n.*old.count: expected a whole"),
                            ("graph x", "--depth is now --levels: .*\n.*old.graph.depth: expected"),
                            ("record --from file:none -o x.nsc", "--mode profile is now --recorder profile: .*\n.*give --image ELF")):
            self.assertRegex(self.said(2, "--board", "old", *words.split()), said)
        self.write(FILE.format(image=cli.DEMO) + "[old]\ndepth = 0\n")
        self.assertNotIn("--levels", self.said(3, "--board", "old", "graph", "x"), "it is record's")

    def test_the_board_is_chosen(self):
        self.assertIn("none.elf", self.said(3, "--board", "there", "record", "-o", "x.nsc"))
        self.assertIn("127.0.0.1", self.said(3, "--board=there", "record", "-o", "x.nsc", "--image", cli.DEMO))
        self.assertIn("there is no section [nowhere]; there are here, there", self.said(2, "--board", "nowhere", "events"))

    def test_what_excludes_an_option_keeps_its_default_away(self):
        said = self.said(3, "--board", "there", "ctl", "--via", "unix:none", "stats", "--image", cli.DEMO)
        self.assertIn("none", said)
        self.assertNotIn("excludes", said)

    def test_defaults_go_where_the_command_line_leaves_room(self):
        self.write("board = 'b'\n[b]\nfrom = 'tcp:127.0.0.1:1'\nfilter = ['lua_*', 'luaV_*']\noutput = 'default.out'\ntop = 3\n"
                   "keep-tracing = true\nraw = true\nmin-share = 1\n[b.record]\nraw = 'raw.bin'\n[b.diff]\ntop = 5\n")
        for line in ("report -- none.nsc", "serve none.nsc", "diff none.nsc b -- c d", "diff none.nsc -- c", "html none.nsc",
                     "irq none.nsc", "graph -- none.nsc"):
            self.assertIn("cannot open none.nsc: No such file or directory", self.said(3, "--board", "b", *line.split()), line)
        for status, line, said in ((2, "ctl", "ctl: give a request"), (2, "serve --from x none.nsc", "give a recording or --from, not both"),
                                   (2, "record", "give --image ELF"),  # its --trace is the file's
                                   (3, "record --image none.elf", "cannot open none.elf")):
            self.assertIn(said, self.said(status, *line.split()))

    def test_each_command_takes_a_file_with_a_value_for_each_of_its_options(self):
        values = {"N": "3", "PERCENT": "1", "SECONDS": "1", "ADDRESS": "64", "SIZE": "'1GB'", "LIMIT": "'1h'", "": "true"}
        given = values | {"TIME": "'1ms'", "RANGE": "'1ms..2ms'"}
        for command in cli.commands():
            options = [(name, kind) for name, kind in cli.typed_options(command)
                       if name not in ("--board", "--help", "--version", "--no-until-end")]
            if not options:
                continue
            lines = [f"[b.{command}]"]
            for name, kind in options:
                value = kind[1:-1].split(",")[0] if kind.startswith("{") else given.get(kind, "'word'")
                lines.append(f"{name[2:]} = {value if kind in given else repr(value.strip(chr(39)))}")
            self.write("board = 'b'\n" + "\n".join(lines) + "\n")
            self.assertIn("Examples:", self.nopscope(command, "--help").stdout)
            self.assertIn(f"{command} has no option --none-such", self.said(2, command, "--none-such"), "\n".join(lines))
            # The same file, with one option at a time set to a wrong value.
            for name, kind in options:
                if kind in {*values, ""} or kind.startswith("{"):
                    self.write(f"board = 'b'\n[b]\n{name[2:]} = 'no such'\n")
                    self.assertRegex(self.said(2, command), rf"\Anopscope: nopscope.toml: b{name.replace('--', '.')}: expected [^\n]*\n\Z")

    def test_the_example_of_the_documentation(self):
        text = (pathlib.Path(__file__).parents[2] / "docs/cli.md").read_text()
        example, = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        self.write(example)
        for line in ("report none.nsc", "serve none.nsc", "info none.nsc", "diff none.nsc b"):
            self.assertRegex(self.said(3, *line.split()), r"cannot open (none.nsc|build/rpi4/firmware/demo.elf): No such file", line)
        self.assertIn("demo.elf", self.said(3, "record", "-o", "run.nsc"))
        self.assertIn("there is no section [virt]; there are rpi4", self.said(2, "--board", "virt", "record", "-o", "x"))

    def test_where_the_file_is_looked_for(self):
        (self.directory / "nopscope.toml").unlink()
        self.assertFalse(self.is_json("info"))
        self.write(FILE.format(image=cli.DEMO), "home/.config/nopscope/config.toml")
        self.assertTrue(self.is_json("info"))
        self.write("board = 'here'\n[here]\nformat = 'text'\n", "other/nopscope/config.toml")
        self.assertFalse(self.is_json("info", XDG_CONFIG_HOME=str(self.directory / "other")))
        mine = self.write("board = 'a'\n[a]\nformat = 'text'\n", "mine.toml")
        self.assertFalse(self.is_json("info", NOPSCOPE_CONFIG=str(mine)))
        self.assertIn("cannot open", self.said(3, "events", NOPSCOPE_CONFIG="none.toml"))

    def test_a_file_that_is_found_starts_no_program(self):
        """The directory may be somebody else's."""
        started = self.directory / "started"
        file = self.write(f"board = 'x'\n[x]\nfrom = 'exec:touch {started}'\n")
        self.assertRegex(self.said(2, "record", "-o", "out.nsc"),
                         r"^nopscope: nopscope\.toml: x\.from: exec: starts a program: .*NOPSCOPE_CONFIG\n$")
        self.assertFalse(started.exists())
        self.nopscope("record", "-o", "out.nsc", status=None, NOPSCOPE_CONFIG=str(file))
        self.assertTrue(started.exists())

    def test_what_makes_no_sense_is_one_sentence(self):
        for text, said in (("[b]\nimgae = 'x'\n", "b.imgae: no command has such an option"),
                           ("[b.info]\nbaud = 1\n", "b.info.baud: no command has such an option"),
                           ("image = 'x'\n", "image: options are in a board's section"),
                           ("board = 'c'\n[b]\nimage = 'x'\n", "there is no section [c]")):
            self.write(text)
            self.assert_sentence(self.nopscope("events", status=2), said)
    def test_a_file_of_any_editor_is_read_or_refused_in_words(self):
        good = FILE.format(image=cli.DEMO)
        for what, data in (("a byte order mark", "\ufeff" + good), ("lines of Windows", good.replace("\n", "\r\n")),
                           ("lines of old Macs", good.replace("\n", "\r")), ("both", "\ufeff" + good.replace("\n", "\r\n")),
                           ("no last line end", good.rstrip()), ("text in quotes", good + "# “a”\n[x]\ntitle = '“\u00a0”'\n"),
                           ("tabs", good.replace(" = ", "\t=\t")), ("Latin 1 in a comment", (good + "# Größe\n").encode("latin-1"))):
            self.write_bytes(data)
            self.assertTrue(self.is_json("info"), what)
        encoded = {name: good.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")}
        for said, data in (*(("not UTF-8", text) for text in encoded.values()),
                           ("line 1 is not UTF-8", "board = \x93here\x94\n[here]\n".encode("latin-1")),
                           ("line 3 is not UTF-8", "[here]\n\nimage = 'Größe.elf'\n".encode("latin-1")),
                           ('line 1 has the character U+201C where " is meant', "board = “here”\n[here]\n"),
                           ("line 2 has the character U+2018 where ' is meant", "[here]\nimage = ‘x’\n"),
                           ('line 1 has the character U+00AB', "board = «here»\n[here]\n"),
                           ("line 2 has the character U+00A0 where a space is meant", "[here]\nimage\u00a0= 'x'\n"),
                           ("line 2 has the character U+2013 where - is meant", "[here]\nmin–share = 1\n"),
                           ("line 3 has the character U+200B where nothing is meant", "[here]\n\nimage\u200b = 'x'\n")):
            self.write_bytes(data)
            self.assert_sentence(self.nopscope("info", cli.DEMO, status=2), f"nopscope: nopscope.toml: {said}")

    def test_without_a_file_there_is_no_board(self):
        (self.directory / "nopscope.toml").unlink()
        self.assertIn("there is no nopscope.toml", self.said(2, "--board", "b", "events"))


if __name__ == "__main__":
    unittest.main()
