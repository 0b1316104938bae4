#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the README like a new user. Every command in it runs in a clean clone and prints what the
page shows. Every figure in it is that of the page it comes from.

    readme_test.py [--update]      --update: writes the demo's tables into the README
"""

import json
import os
import pathlib
import pty
import re
import select
import shlex
import subprocess
import sys
import tempfile
import threading
import tty
import unittest

import guide

sys.path.insert(0, str(guide.ROOT / "tests/e2e"))
import machines  # noqa: E402

README = guide.ROOT / "README.md"
def marks(name):
    return f"<!-- {name}: written by tests/guide/readme_test.py --update -->\n", f"<!-- /{name} -->\n"


PORT, IMAGE = "/dev/ttyUSB0", "firmware.elf"
# The table comes from this compiler.
COMPILER = "12.2.0"

# The README's figures and their pages: patterns whose groups must be equal.
FIGURES = (
    (r"takes ([\d.]+) bytes on the line in Lua at 54 MHz", "docs/codec.md", r"\| bytes an event \| ([\d.]+) \|"),
    (r"and ([\d.]+) in cJSON at\s+1 GHz", "docs/codec.md", r"\| bytes an event \|(?: [\d.]+ \|){3} \**([\d.]+)\** \|"),
)
# Numbers that are not figures: of products, standards and commands.
NAMES = re.compile(r"Debian 12|Lua 5\.4|Linux 6\.12|Raspberry Pi [345](?: and [345])?|3 B\+?|\b400\b|License 2\.0|at 54 MHz|at\s+1 GHz")


def compiler_of(tree):
    said = subprocess.run(["readelf", "-p", ".comment", str(tree / "build/virt/firmware/demo.elf")], check=True,
                          capture_output=True, text=True).stdout
    return re.search(r"GCC: \(.*\) ([\d.]+)", said)[1]


def table_of(printed):
    """Returns the text from the recording's line to the account's, except what each commit changes."""
    lines = printed.splitlines()
    begin = next(at for at, line in enumerate(lines) if re.search(r" recorded\W", line))
    end = next(at for at, line in enumerate(lines) if line.startswith("integrity: "))
    return "\n".join(lines[begin:end + 1]) + "\n"


def tasks_of(table):
    """The names in a table of `nopscope tasks`."""
    lines = table.splitlines()
    head = next(at for at, line in enumerate(lines) if line.split()[:2] == ["CPU", "share"])
    rows = lines[head + 1:lines.index("", head)]
    return {row[lines[head].index("task"):].split("  ")[0].strip() for row in rows}


def rows_of(table):
    """(calls, function, place) -> (total, self), in ns."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    row = r"^\s*([\d,]+) +([\d.]+) (\w+) +[\d.]+ \w+ +([\d.]+) (\w+) +[\d.]+ % .*?  ([A-Za-z_]\S*) .*?(\S+:\d+)$"
    return {(calls, name, place): (float(total) * units[unit], float(own) * units[own_unit])
            for calls, total, unit, own, own_unit, name, place in re.findall(row, table, re.M)}


class Board(threading.Thread):
    """The demo on a serial port: a pseudo-terminal. QEMU starts when the port is opened."""

    def __init__(self, elf):
        super().__init__(daemon=True)
        self.elf = elf
        self.master, port = pty.openpty()
        tty.setraw(port)
        self.port = os.ttyname(port)
        self.over = threading.Event()
        os.close(port)

    def run(self):
        poll = select.poll()
        poll.register(self.master, 0)
        while any(what & select.POLLHUP for _, what in poll.poll(0)):
            if self.over.wait(0.05):
                return
        command = machines.qemu_command("virt-max-smp4", "demo", ["interrupts=1", "pumps=20"], True, self.elf())
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as qemu:
            while piece := qemu.stdout.read1(4096):
                while piece and not self.over.is_set():
                    piece = piece[os.write(self.master, piece):]
            qemu.kill()


class Readme(unittest.TestCase):
    def test_every_command_runs_in_a_clean_clone_and_prints_what_the_page_shows(self):
        boxes = guide.boxes(README.read_text())
        with tempfile.TemporaryDirectory(prefix="nopscope-readme-") as holder:
            clone = pathlib.Path(holder) / "nopscope"
            guide.clone(clone)
            board = Board(lambda: clone / "build/virt/firmware/demo.elf")
            board.start()
            for box in boxes:
                box.text = box.text.replace(PORT, board.port)
            # The page uses the reader's firmware; this test uses the demo.
            record = next(at for at, box in enumerate(boxes) if IMAGE in box.text)
            boxes.insert(record, guide.Box(0, "sh", "", f"cp build/virt/firmware/demo.elf {IMAGE}\n"))
            self.assertGreater(record, 1)
            status, printed = guide.follow(boxes, clone, "README.md", ".")
            board.over.set()
            self.assertEqual(status, 0, "a command of the page failed: the last one above")
            shown = [box.text for box in boxes if box.kind == "text"]
            self.assertEqual(len(shown), 2)
            self.assertTrue((clone / "build/demo/report.html").is_file())
            self.compare(rows_of(shown[0]), rows_of(table_of(printed)), compiler_of(clone))
            tasks = printed[printed.rindex("\n\n", 0, re.search(r"^ *CPU +share", printed, re.M).start()):]
            self.assertEqual(tasks_of(tasks), tasks_of(shown[1]))
            self.assertGreater(len(tasks_of(tasks)), 4)

    def compare(self, shown, printed, compiler):
        self.assertEqual(len(printed), len(shown))
        if compiler != COMPILER:
            print(f"the README's table is of GCC {COMPILER}, this is {compiler}: only its length is compared")
            return
        self.assertEqual(list(shown), list(printed), "the README's table: readme_test.py --update writes it")
        for row, times in shown.items():
            # QEMU's version changes where interrupts come.
            for said, told in zip(times, printed[row]):
                self.assertAlmostEqual(said, told, delta=0.02 * told, msg=row)

    def test_another_table_is_seen(self):
        shown = rows_of(next(box.text for box in guide.boxes(README.read_text()) if box.kind == "text"))
        self.compare(shown, shown, COMPILER)
        first = next(iter(shown))
        for wrong in ({**shown, first: (shown[first][0], shown[first][1] * 1.05)},
                      {(*first[:1], "other", first[2]) if row == first else row: times for row, times in shown.items()},
                      {row: times for row, times in shown.items() if row != first}):
            with self.assertRaises(AssertionError):
                self.compare(shown, wrong, COMPILER)

    def test_every_figure_is_its_page_s(self):
        text = README.read_text()
        for pattern, page, source in FIGURES:
            said, told = re.search(pattern, text), re.search(source, (guide.ROOT / page).read_text())
            self.assertTrue(said and told, f"{pattern} or {source} is not there any more")
            self.assertEqual(said[1], told[1], pattern)

    def test_every_figure_has_a_page(self):
        """Except in boxes, the bench's table (tests/bench compares it) and names."""
        text = README.read_text()
        text = re.sub(r"<!-- bench:.*<!-- /bench -->", "", text, flags=re.S)
        text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        text = re.sub(r"`[^`]*`|\]\([^)]*\)|^\d\. ", "", text, flags=re.M)
        for pattern, _, _ in FIGURES:
            text = re.sub(pattern, "", text)
        left = re.findall(r"(?<![\w.])\d[\d.,]*(?: \w+)?", NAMES.sub("", text))
        self.assertEqual(left, [], "figures that FIGURES does not compare with their source")

    def said(self, pattern):
        words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen")
        return words.index(re.search(pattern, README.read_text())[1])

    def test_every_format_that_is_counted_exists(self):
        listed = machines.nopscope("export", "--help").stdout.split("Formats:\n")[1]
        self.assertEqual(self.said(r"one of (\w+) formats"), len(re.findall(r"^  \S", listed, re.M)))

    def test_an_idle_site_costs_what_is_said(self):
        figures = json.loads((guide.ROOT / "tests/bench/baseline.json").read_text())[COMPILER]["virt-max"]
        instructions, calls = figures["off//0/0"]
        self.assertEqual(self.said(r"costs (\w+) instructions a call"), instructions / calls)

    def test_the_second_command_is_what_the_forge_runs(self):
        self.assertIn("`./dev test`", README.read_text())
        self.assertTrue((guide.ROOT / ".ci/run").read_text().endswith("exec ./dev test\n"))


def update():
    done = subprocess.run(shlex.split(next(box.text for box in guide.boxes(README.read_text()) if "demo" in box.text)),
                          cwd=guide.ROOT, check=True, capture_output=True, text=True)
    tasks = subprocess.run([guide.ROOT / "dev", "nopscope", "tasks", "build/demo/demo.nsc"], cwd=guide.ROOT, check=True,
                           capture_output=True, text=True).stdout
    tasks = "\n".join(line.rstrip() for line in tasks.splitlines()) + "\n"
    for name, table in ("demo", table_of(done.stdout)), ("tasks", tasks):
        begin, end = marks(name)
        before, rest = README.read_text().split(begin)
        after = rest.split(end)[1]
        README.write_text(f"{before}{begin}```text\n{table}```\n{end}{after}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
