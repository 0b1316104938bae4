#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A function is the same under each of its names in every command, and in builds of two directories."""

import json
import os
import re
import struct
import unittest

import cli
import command_lines

MAIN = 1
# Its own name, and others by which a user may ask for it.
NAMES = {"Default_Handler": ("ADC_IRQHandler", "ADC_*"), "unpack_it.constprop.0": ("unpack_it", "unpack_i?"), "checksum_v2": ("checksum",),
         "lua::call(int)": ("lua::call", "_ZN3lua4callEi"), "ns::get(char)": ("ns::get", "_ZN2ns3getEc")}
LINKED = {"lua::call(int)": "_ZN3lua4callEi", "ns::get(char)": "_ZN2ns3getEc.isra.0",
          "Default_Handler": "ADC_IRQHandler", "checksum_v2": "checksum"}
SOURCE = """
static void __attribute__((used, noipa)) default_handler(void) { __asm__ volatile(""); }
void ADC_IRQHandler(void) __attribute__((weak, alias("default_handler")));
void WWDG_IRQHandler(void) __attribute__((weak, alias("default_handler")));
__attribute__((noipa)) int checksum_v2(int n) { return n * 31; }
static int __attribute__((noinline)) parse(int n, int mode) { __asm__ volatile(""); return n * mode; }
int feed(int n) { return parse(n, 3) + parse(n + 1, 3); }
void main(void) { default_handler(); feed(checksum_v2(4)); }
"""
FLAGS = ("-O2", "-g", "-ffreestanding", "-nostdlib", "-static", "-falign-functions=8", "-fpatchable-function-entry=4,2",
         "-mbranch-protection=bti", "-Wl,--build-id=sha1,-e,main,--defsym=linker_name=checksum_v2")


class Identity(cli.Case):
    def recording(self, calls, names):
        """Function 1 calls others: (number, ns). `names`: (number, name, file and aliases)."""
        stem = self.directory / f"{len(self.names())}"
        now, events = 1000, [(0, MAIN, 1000)]
        for number, length in calls:
            events += [(0, number, now), (1, number, now + length)]
            now += length
        trace, listed, out = (stem.with_suffix(f".{suffix}") for suffix in ("ev13", "names", "nsc"))
        trace.write_bytes(b"".join(struct.pack("<BIQ", *event) for event in [*events, (1, MAIN, now)]))
        listed.write_text("".join(f"{number} 0 {' '.join(words)}\n" for number, *words in names))
        cli.run(os.environ["NOPSCOPE_CODEC_BENCH"], trace, "--nsc", out, "--tick-hz", "1000000000", "--names", listed)
        return out

    def test_every_command_takes_every_name(self):
        listed = [(MAIN, "main", "main.c")]
        listed += [(number, name, "a.c", *([LINKED[name]] if name in LINKED else [])) for number, name in enumerate(NAMES, 2)]
        nsc = self.recording([(number, 1000 * number) for number, *_ in listed[1:]] * 2, listed)
        files = {"nsc": nsc, "out": self.directory / "out", "new": self.directory / "new.nsc"}
        tried = set()
        for command in cli.commands():
            positional = re.search(r"^  function ", cli.help_of(command), re.MULTILINE)
            options = [()] if positional else [(name,) for name, kind in cli.typed_options(command)
                                               if kind == "GLOB" and name in ("--function", "--under")]
            line = next((line for line in command_lines.TABLE[command] if "{nsc}" in line), None)
            if line is None or not options:
                continue
            words = command_lines.words_of(line, files)
            for option in options:
                for name, others in NAMES.items():
                    answers = []
                    for asked in (name, *others):
                        call = [asked if word == "*" else word for word in words] if positional else [*words, *option, asked]
                        files["out"].unlink(missing_ok=True)
                        done = cli.nopscope(*call).stdout
                        written = files["out"].read_text(errors="replace") if files["out"].exists() else ""
                        whole = rf"(?<!\w)({re.escape(name)}|{re.escape(asked)})(?![\w.])"
                        answers.append(re.sub(whole, "NAME", done + written))
                    self.assertEqual(answers, answers[:1] * len(answers), f"{call} {name}")
                    tried.add((command, *option))
        self.assertGreater(len(tried), 15, tried)

    def test_what_is_asked_of_a_target_takes_every_name(self):
        source, elf = self.directory / "a.c", self.directory / "a.elf"
        source.write_text(SOURCE)
        cli.run("aarch64-linux-gnu-gcc", *FLAGS, source, "-o", elf)
        sites = {site["name"]: site["aliases"] for site in json.loads(cli.nopscope("info", elf, "--sites", "--format", "json").stdout)["sites"]}
        self.assertEqual(sites["default_handler"], ["ADC_IRQHandler", "WWDG_IRQHandler"])
        self.assertEqual(sites["checksum_v2"], ["linker_name"])
        clone, = (name for name in sites if name.startswith("parse"))
        self.assertNotEqual(clone, "parse")
        table = cli.nopscope("names", elf).stdout
        self.assertGreater(len(re.findall(r"\d+", table)), 100)
        lines = {f"{command} {option}": (command, "--from", "exec:true", "--image", elf, *more, option)
                 for command, *more in (("record", "-o", self.directory / "x.nsc"), ("top", "--once"))
                 for option in ("--trace", "--notrace")}
        lines["ctl"] = ("ctl", "--from", "exec:true", "--image", elf, "trace")
        for what, line in lines.items():
            for name in ("default_handler", "ADC_IRQHandler", "WWDG_IRQHandler", "linker_name", "checksum_v2", "parse", clone, "WWDG*"):
                said = cli.nopscope(*line, name, status=None).stderr
                self.assertNotIn("is called", said, f"{what} {name}")
                self.assertIn("no byte came", said, f"{what} {name}")
            self.assertIn("no traceable function", cli.nopscope(*line, "pars", status=2).stderr, what)
        near = cli.nopscope(*lines["ctl"], "ADC_IRQHandlr", status=2).stderr
        self.assertIn("did you mean ADC_IRQHandler", near)

    # Of two builds: each function's name, its file, how long it takes (0: it is not called) and an alias; then the rows' times.
    BUILDS = {
        "two directories": ((("drv_read", "/ws-a/drv.c", 10), ("step", "/ws-a/app.c", 50)),
                            (("drv_read", "/ws-b/drv.c", 20), ("step", "/ws-b/app.c", 40)), {(10, 20), (50, 40)}),
        "static functions": ((("init", "/ws-a/uart.c", 10), ("init", "/ws-a/spi.c", 50)),
                             (("init", "/ws-b/spi.c", 40), ("init", "/ws-b/uart.c", 20)), {(10, 20), (50, 40)}),
        "files of one name": ((("init", "/a/x/init.c", 10), ("init", "/a/y/init.c", 50)),
                              (("init", "/b/y/init.c", 40), ("init", "/b/x/init.c", 20)), {(10, 20), (50, 40)}),
        "one is called on each side": ((("init", "/a/x.c", 10), ("init", "/a/y.c", 0)),
                                       (("init", "/b/x.c", 0), ("init", "/b/y.c", 20)), {(10, 0), (0, 20)}),
        "moved": ((("init", "/a/x.c", 10),), (("init", "/b/lib/y.c", 20),), {(10, 20)}),
        "a clone in one build": ((("init", "/a/x.c", 10), ("init", "/a/y.c", 50)),
                                 (("init.constprop.0", "/b/y.c", 40), ("init", "/b/x.c", 20)), {(10, 20), (50, 40)}),
        "an alias in one build": ((("sum", "/a/x.c", 10),), (("sum_v2", "/b/x.c", 20, "sum"),), {(10, 20)}),
        "without debug information": ((("init", "/a/x.c", 10),), (("init", "", 20),), {(10, 20)}),
        "others of one name": ((("init", "/a/x.c", 10), ("init", "/a/y.c", 50)),
                               (("init", "/b/u.c", 40), ("init", "/b/v.c", 20)), {(10, 0), (50, 0), (0, 40), (0, 20)}),
    }

    def two(self, *builds):
        return [self.recording([(number, length) for number, (_, _, length, *_) in enumerate(build, 2) if length],
                               [(MAIN, "main", "/main.c"), *((number, name, file, *aliases)
                                                             for number, (name, file, _, *aliases) in enumerate(build, 2))])
                for build in builds]

    def test_builds_of_two_directories_are_compared(self):
        for what, (before, after, rows) in self.BUILDS.items():
            with self.subTest(what):
                pair = self.two(before, after)
                answer = json.loads(cli.nopscope("diff", *pair, "--format", "json").stdout)
                self.assertEqual({(row["before"]["self_ns"], row["after"]["self_ns"]) for row in answer["functions"]
                                  if row["name"] != "main"}, rows)
                frames = [re.fullmatch(r"main;(.*) (\d+) (\d+)", line) for line in
                          cli.nopscope("diff", *pair, "--format", "folded").stdout.splitlines()]
                gone = {frame[1] for frame in frames if frame and frame[3] == "0"}
                new = {frame[1] for frame in frames if frame and frame[2] == "0"}
                self.assertEqual(gone & new, set(), "one printed name is both new and gone")

    def test_a_gate_that_compared_nothing_fails(self):
        one, other = ("work", "/a/x.c", 10), ("rest", "/a/x.c", 10)
        for before, after, options, status, said in (
                ((one,), (other,), (), 1, "failed: nothing could be compared"),
                ((one, other), (other,), ("--function", "work"), 1, "nothing could be compared"),
                ((one, other), (other,), (), 0, "nothing is more than 10 % slower (1 compared, 1 new or gone)"),
                ((one,), (("work", "/b/x.c", 10),), (), 0, "(1 compared, 0 new or gone)"),
                ((one,), (("work", "/b/x.c", 12),), (), 1, "failed: work is more than 10 % slower"),
                ((("init", "/a/x.c", 10), ("init", "/a/y.c", 90)), (("init", "/b/x.c", 12), ("init", "/b/y.c", 90)), (), 1,
                 "failed: init (x.c) is more than 10 % slower")):
            pair = self.two(before, after)
            self.assertIn(said, cli.nopscope("diff", *pair, "--fail-above", "10%", *options, status=status).stdout)
            compared = json.loads(cli.nopscope("diff", *pair, "--fail-above", "10%", "--format", "json", *options, status=status).stdout)
            self.assertEqual(compared["compared"] == 0, "could be compared" in said)


if __name__ == "__main__":
    unittest.main()
