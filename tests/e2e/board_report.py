#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a board reports about itself to a text file for a report (docs/board-report.md).

    board_report.py BOARD --from serial:DEV [--part PART]     a real board: one image at a time
    board_report.py BOARD --qemu [--part PART] [--words WORD...]

Each part is one image on the board: selftest, bench, recording. The result of a part is kept beside the report, so another
call with --part adds to it. From the environment: NOPSCOPE (the command), NOPSCOPE_BUILD_ROOT (holds the boards' builds;
the report goes there, or into --out DIRECTORY). Exit status 1: a part did not reach its end. 2: wrong usage.
"""

import argparse
import collections
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import tty

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))
from pseudo_terminal import wait_until_read  # noqa: E402  # pylint: disable=wrong-import-position
from qemu import MACHINES, qemu_command  # noqa: E402  # pylint: disable=wrong-import-position

NOPSCOPE = os.environ["NOPSCOPE"]
BUILD_ROOT = pathlib.Path(os.environ["NOPSCOPE_BUILD_ROOT"])
SDCARD = HERE.parents[1] / "firmware/tools/sdcard"  # BOARD.txt: `./dev sdcard BOARD` makes a card
IMAGES = {"selftest": "selftest", "bench": "bench", "recording": "demo"}
# The last text of an image. The demo runs for long, and some seconds of it are enough.
ENDS = {"selftest": r"^selftest: \d+ passed, \d+ failed", "bench": "^bench: done"}
RECORDING_SECONDS = 10
WAIT_SECONDS = {"selftest": 300, "bench": 900, "recording": 120}


def say(text):
    print(text, file=sys.stderr, flush=True)


def port_of(uri):
    return uri.removeprefix("serial:").split("?")[0]


def nopscope(*arguments):
    done = subprocess.run([NOPSCOPE, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, check=False)
    return done.stdout + done.stderr


class Board:
    """A real board. A person puts each image onto it."""

    def __init__(self, board, uri):
        self.board, self.uri = board, uri

    def prepare(self, image):
        if (SDCARD / f"{self.board.removesuffix('-mini-uart')}.txt").exists():
            say(f"\nThe next image is {image}. Make its card, and put it into the board, which is off:\n\n"
                f"    ./dev sdcard {self.board} {image}\n"
                f"    sudo dd if=build/{self.board}/sdcard.img of=/dev/sdX bs=1M conv=fsync   # overwrites all of sdX\n")
        else:
            say(f"\nThe next image is build/{self.board}/firmware/{image}.elf: load it as you load others, by JTAG for\n"
                "instance (docs/porting.md), and do not start it yet.\n")
        if sys.stdin.isatty():
            say("Press Enter when that is done.")
            sys.stdin.readline()
        return self.uri

    def start(self):
        say("Now switch the board on, or start the image.")

    def send_byte(self):
        if self.uri.startswith("serial:"):
            port = os.open(port_of(self.uri), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            os.write(port, b"x")
            os.close(port)

    def stop(self):
        pass


class Qemu(Board):
    """The same under QEMU, on a pseudo-terminal. It stays open until all that QEMU sent is read, because a terminal discards
    unread bytes when its other end closes."""

    def __init__(self, board, words):
        super().__init__(board, "")
        self.words, self.process, self.is_stopped = words, None, threading.Event()

    def prepare(self, image):
        self.command = qemu_command("virt-max" if self.board == "virt" else self.board, image, self.words.get(image, []),
                                    icount=image == "bench")
        self.ends = self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.uri = f"serial:{os.ttyname(self.slave)}"
        return self.uri

    def start(self):
        self.is_stopped.clear()
        self.process = subprocess.Popen(self.command, stdin=self.master, stdout=self.master)
        self.closer = threading.Thread(target=self.close_when_read, daemon=True)
        self.closer.start()

    def close_when_read(self):
        self.process.wait()
        wait_until_read(self.slave, self.is_stopped.is_set)
        for end in self.ends:
            os.close(end)

    def stop(self):
        if self.process is not None:
            self.is_stopped.set()
            self.process.kill()
            self.closer.join(10)
        self.process = None


# What a recorder printed and wrote during one boot of an image.
Heard = collections.namedtuple("Heard", "elf console recording raw errors")


def listen(machine, part, directory):
    """Records one boot until the image's end, or until its time is over."""
    image = IMAGES[part]
    recording, raw, errors = (directory / f"{part}.{suffix}" for suffix in ("nsc", "raw", "errors"))
    for old in (recording, raw):
        old.unlink(missing_ok=True)
    uri = machine.prepare(image)
    with open(errors, "w", encoding="utf-8") as error_file:
        recorder = subprocess.Popen([NOPSCOPE, "record", "--from", uri, "-o", str(recording), "--save-line", str(raw)],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error_file)
    try:
        wait_until_open(recorder, uri)
        machine.start()
        console = read_console(recorder, machine, part)
    finally:
        if recorder.poll() is None:
            recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=60)  # the rest of the console; the part has reached its end
        machine.stop()
    elf = BUILD_ROOT / machine.board / "firmware" / f"{image}.elf"
    return Heard(elf, console, recording, raw, errors.read_text(encoding="utf-8", errors="replace"))


def wait_until_open(recorder, uri):
    """Bytes that a board sends before the recorder opens its port are lost."""
    if not uri.startswith("serial:"):
        return
    port, descriptors = os.path.realpath(port_of(uri)), pathlib.Path(f"/proc/{recorder.pid}/fd")
    end = time.monotonic() + 10
    while recorder.poll() is None and time.monotonic() < end:
        try:
            if any(os.path.realpath(one) == port for one in descriptors.iterdir()):
                time.sleep(0.2)  # the recorder sets the rate and discards earlier bytes
                return
        except OSError:
            pass
        time.sleep(0.05)


def read_console(recorder, machine, part):
    text, is_sent, end = "", False, time.monotonic() + WAIT_SECONDS[part]
    while time.monotonic() < end:
        ready, _, _ = select.select([recorder.stdout], [], [], 0.2)
        if ready:
            piece = os.read(recorder.stdout.fileno(), 1 << 16)
            if not piece:
                break
            if part == "recording" and not text:
                end = time.monotonic() + RECORDING_SECONDS
            text += piece.decode(errors="replace")
        if "send a byte" in text and not is_sent:
            is_sent = True
            machine.send_byte()
        if part in ENDS and re.search(ENDS[part], text, re.MULTILINE):
            break
    return text


def first_lines(heard):
    lines = [line for line in heard.console.splitlines() if line.startswith("boot: ")]
    if heard.raw.exists():
        verdict = nopscope("doctor", "--duration", "1", "--from", f"file:{heard.raw}").replace(str(heard.raw), heard.raw.name)
    else:
        verdict = "no byte came\n" + heard.errors
    return ("\n".join(lines) or "(no boot lines were heard)") + "\n\ndoctor:\n" + verdict


def selftest_part(heard):
    """Returns the part's text, and whether it reached its end. So do the other parts' functions."""
    lines = [line for line in heard.console.splitlines() if not line.startswith("boot: ")]
    is_over = re.search(ENDS["selftest"], heard.console, re.MULTILINE) is not None
    if not is_over:
        lines.append("(the last line did not come: the selftest has not ended)\n" + heard.errors)
    return "\n".join(lines) + "\n", is_over


def bench_part(heard):
    rows = [json.loads(line.removeprefix("@bench ")) for line in heard.console.splitlines() if line.startswith("@bench {")]
    if not rows or "bench: done" not in heard.console:
        return "(the bench has not ended)\n" + heard.errors + heard.console[-2000:], False
    head = " ".join(f"{key}={value}" for key, value in rows[0].items())
    out = [head, f"{'case/strategy/R/I':48} {'ns':>10} {'cycles':>10} {'instructions':>12}   a call"]
    for row in rows[1:]:
        key = f"{row['case']}/{row['strategy']}/{row['relevant']}/{row['irrelevant']}"
        if "missing" in row:
            out.append(f"{key:48} missing: {row['missing']}")
        else:
            instructions = row["instructions"] / row["per"] if row.get("instructions") else 0
            out.append(f"{key:48} {row['ns_per_call']:10} {row['cycles_per_call']:10} {instructions:12.1f}")
    return "\n".join(out) + "\n", True


def recording_part(heard):
    if not heard.recording.exists():
        return "(nothing was recorded)\n" + heard.errors, False
    text = nopscope("report", heard.recording, "--image", heard.elf, "--top", "10")
    return heard.errors.replace(str(heard.recording), heard.recording.name) + "\n" + text, True


PARTS = {"selftest": selftest_part, "bench": bench_part, "recording": recording_part}


def commit():
    done = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=40"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "not known (no git)"


def write_report(path, board, how, directory):
    def section(title, name):
        kept = directory / f"{name}.txt"
        body = kept.read_text(encoding="utf-8") if kept.exists() else "not done\n"
        return f"\n==== {title} ====\n\n{body}"
    text = (f"nopscope board report\n\nboard: {board}{how}\nversion: {nopscope('--version').splitlines()[0]}\n"
            f"commit: {commit()}\ndate: {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}\n")
    text += section("first lines", "first")
    for part in PARTS:
        text += section(f"{part} (image {IMAGES[part]})", part)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="./dev board-report", description="One text file about a board.")
    parser.add_argument("board", choices=MACHINES.boards)
    parser.add_argument("--from", dest="uri", default="", help="the board's line, as serial:/dev/ttyUSB0")
    parser.add_argument("--qemu", action="store_true", help="QEMU's model of the board in its place")
    parser.add_argument("--part", choices=PARTS, action="append", help="these parts only; the others stay as they are")
    parser.add_argument("--word", action="append", default=[], metavar="IMAGE:WORD",
                        help="under QEMU: a word of this image's command line")
    parser.add_argument("--out", type=pathlib.Path, default=BUILD_ROOT, help="where the report goes (build/)")
    options = parser.parse_args()
    models = [row[0] for row in MACHINES.values()]
    for is_wrong, why in ((options.qemu == bool(options.uri), "give --from serial:DEV for a real board, or --qemu"),
                          (options.board == "virt" and not options.qemu, "virt is a machine of QEMU's: give --qemu"),
                          (options.qemu and options.board not in models, f"QEMU has no model of {options.board}: give --from serial:DEV")):
        if is_wrong:
            parser.error(why)
    words = {}
    for word in options.word:
        image, _, rest = word.partition(":")
        words.setdefault(image, []).append(rest)
    parts = options.part or list(PARTS)
    if not options.qemu and len(parts) > 1 and not sys.stdin.isatty():
        parser.error("each part is another image on the board, and nobody is there to change it: give one --part")
    machine = Qemu(options.board, words) if options.qemu else Board(options.board, options.uri)
    directory = options.out / f"board-report-{options.board}"
    directory.mkdir(parents=True, exist_ok=True)
    report = options.out / f"board-report-{options.board}.txt"
    all_over = True
    for part in parts:
        heard = listen(machine, part, directory)
        text, is_over = PARTS[part](heard)
        (directory / f"{part}.txt").write_text(text, encoding="utf-8")
        (directory / "first.txt").write_text(first_lines(heard), encoding="utf-8")
        write_report(report, options.board, ", under QEMU" if options.qemu else "", directory)
        all_over &= is_over
        say(f"{part}: " + ("done" if is_over else "it has not come to its end; the report says what came"))
    undone = [part for part in PARTS if not (directory / f"{part}.txt").exists()]
    say(f"{report}" + (f"; not done yet: {', '.join(undone)}" if undone else ""))
    return 0 if all_over else 1


if __name__ == "__main__":
    sys.exit(main())
