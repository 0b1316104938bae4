#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the README like a new user. Every command in it runs and prints what the page shows. Every figure in it is that of the
page it comes from.

    readme_test.py             in a clean clone
    readme_test.py --here      with this build: nothing is installed or built, and of other verbs of ./dev only the name is checked
    readme_test.py --update    writes the demo's tables into the README
"""

import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
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
PORT, IMAGE = "/dev/ttyUSB0", "firmware.elf"
# The tables come from this compiler, and from this QEMU.
COMPILER, QEMU = "12.2.0", "10.0.2"

# The README's figures and their pages: patterns whose groups must be equal.
FIGURES = (
    (r"takes ([\d.]+) bytes on the line in Lua at 54 MHz", "docs/codec.md", r"\| bytes an event \| ([\d.]+) \|"),
    (r"and ([\d.]+) in cJSON at\s+1 GHz", "docs/codec.md", r"\| bytes an event \|(?: [\d.]+ \|){3} \**([\d.]+)\** \|"),
)
# Numbers that are not figures: of products, standards and commands.
NAMES = re.compile(r"Debian 12|Lua 5\.4|Linux 6\.12|Raspberry Pi [345](?: and [345])?|3 B\+?|\b400\b|License 2\.0|at 54 MHz|at\s+1 GHz")


def compiler_of(elf):
    said = subprocess.run(["readelf", "-p", ".comment", elf], check=True, capture_output=True, text=True).stdout
    return re.search(r"GCC: \(.*\) ([\d.]+)", said)[1]


def demo(elf):
    """QEMU's command of ./dev demo."""
    return machines.qemu_command("virt-max-smp4", "demo", ["interrupts=1", "pumps=20"], elf=elf)


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
    """A board on a serial port: a pseudo-terminal. `command()` is what it sends. It starts when the port is opened."""

    def __init__(self, command):
        super().__init__(daemon=True)
        self.command = command
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
        with subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as sender:
            while piece := sender.stdout.read1(4096):
                while piece and not self.over.is_set():
                    piece = piece[os.write(self.master, piece):]
            sender.kill()


class Commands(unittest.TestCase):
    def setUp(self):
        self.boxes = guide.boxes(README.read_text())
        self.shown = [box.text for box in self.boxes if box.kind == "text"]
        self.assertEqual(len(self.shown), 2)
        self.tree = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nopscope-readme-"))) / "nopscope"

    def follow(self, command):
        """Runs the boxes with a board in the port's place. Returns what they print, without blanks at the lines' ends."""
        board = Board(command)
        board.start()
        for box in self.boxes:
            box.text = box.text.replace(PORT, board.port)
        status, printed = guide.follow(self.boxes, self.tree, "README.md", ".")
        board.over.set()
        self.assertEqual(status, 0, "a command of the page failed: the last one above")
        return "".join(line.rstrip() + "\n" for line in printed.splitlines())

    def check_tables(self, printed, elf):
        self.compare(rows_of(self.shown[0]), rows_of(table_of(printed)), compiler_of(elf))
        tasks = printed[printed.rindex("\n\n", 0, re.search(r"^ *CPU +share", printed, re.M).start()):]
        self.assertEqual(tasks_of(tasks), tasks_of(self.shown[1]))
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
        shown = rows_of(self.shown[0])
        self.compare(shown, shown, COMPILER)
        first = next(iter(shown))
        for wrong in ({**shown, first: (shown[first][0], shown[first][1] * 1.05)},
                      {(*first[:1], "other", first[2]) if row == first else row: times for row, times in shown.items()},
                      {row: times for row, times in shown.items() if row != first}):
            with self.assertRaises(AssertionError):
                self.compare(shown, wrong, COMPILER)


class InAClone(Commands):
    def test_every_command_runs_and_prints_what_the_page_shows(self):
        guide.clone(self.tree)
        elf = self.tree / "build/virt/firmware/demo.elf"
        # The page uses the reader's firmware; this test uses the demo.
        record = next(at for at, box in enumerate(self.boxes) if IMAGE in box.text)
        self.boxes.insert(record, guide.Box(0, "sh", "", f"cp build/virt/firmware/demo.elf {IMAGE}\n"))
        self.assertGreater(record, 1)
        printed = self.follow(lambda: demo(elf))
        self.assertTrue((self.tree / "build/demo/report.html").is_file())
        self.check_tables(printed, elf)


class Here(Commands):
    def test_every_command_runs_and_prints_what_the_page_shows(self):
        elf, line = machines.elf_of("virt-max", "demo"), self.tree / "line"
        (self.tree / "build/demo").mkdir(parents=True)
        shutil.copy(elf, self.tree / IMAGE)
        subprocess.run([machines.NOPSCOPE, "record", "-q", "--from", "exec:" + shlex.join(demo(elf)), "--image", elf, "--save-line", line,
                        "-o", self.tree / "build/demo/demo.nsc"], check=True, stdin=subprocess.DEVNULL)
        usage = subprocess.run([guide.ROOT / "dev", "--help"], capture_output=True, text=True, check=True).stdout
        self.verbs = re.findall(r"^  ([a-z][a-z-]*) ", usage, re.M)
        for box in self.boxes:
            if box.kind == "sh":
                box.text = "".join(self.here(command) + "\n" for command in box.text.splitlines())
        self.assertGreaterEqual(sum(box.text.count(machines.NOPSCOPE) for box in self.boxes), 10)
        printed = self.follow(lambda: ["cat", line])
        self.check_tables(printed, elf)
        if compiler_of(elf) == COMPILER and re.search(r"version ([\d.]+)", subprocess.run(
                ["qemu-system-aarch64", "--version"], capture_output=True, text=True, check=True).stdout)[1] == QEMU:
            for table in self.shown:
                self.assertIn(table, printed, "if this is meant: readme_test.py --update")

    def here(self, command):
        """The command as it runs here: ./dev nopscope is the built one, ./dev demo prints the report of its recording."""
        words = command.split()
        if words[0] != "./dev":
            return command
        self.assertIn(words[1], self.verbs, command)
        if words[1] == "nopscope":
            return command.replace("./dev nopscope", shlex.quote(machines.NOPSCOPE), 1)
        if words[1] == "demo":
            return shlex.join([machines.NOPSCOPE, "report", "build/demo/demo.nsc", "--image", IMAGE, *words[2:]])
        return f"# {command}"

    def test_a_verb_that_is_none_is_seen(self):
        self.verbs = ["demo"]
        with self.assertRaises(AssertionError):
            self.here("./dev fly")


class Page(unittest.TestCase):
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
        begin, end = f"<!-- {name}: written by tests/guide/readme_test.py --update -->\n", f"<!-- /{name} -->\n"
        before, rest = README.read_text().split(begin)
        after = rest.split(end)[1]
        README.write_text(f"{before}{begin}```text\n{table}```\n{end}{after}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        is_here = sys.argv[1:] == ["--here"]
        unittest.main(argv=sys.argv[:1] + ["Page", "Here"] if is_here else sys.argv, defaultTest=["Page", "InAClone"])
