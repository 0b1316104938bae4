# SPDX-License-Identifier: Apache-2.0
"""How each command is called. NOPSCOPE: the command.

TABLE has a row for each command of `nopscope --help`. A line of a row is a command line. It writes to {out} if it has that
word, else to standard output. Its lines that read {nsc} are also tried on hostile recordings (tests/memory/memory_test.py).
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "interop/export"))
import export_formats  # noqa: E402  (its directory is known only now)

LIVE = "--once --delay 0 --interval 0.1"
# What a line reads, of {nsc}, {line} and {elf}, must be as before.
TABLE = {
    "record": ["record --from file:{line} -o {new}", "record -q --from file:{line} -o {out}",
               "record -q --from file:{line} -o {new} --save-line {out}"],
    "top": [f"top {LIVE} --from file:{{line}}", f"top {LIVE} --format json --from file:{{line}}",
            f"top {LIVE} --from file:{{line}} -o {{out}}"],
    "ctl": ["ctl --via unix:{socket} hello"],
    "report": ["report {nsc}", "report {nsc} --format json", "report {nsc} --format csv"],
    "replay": ["replay {nsc}", "replay {nsc} --time ..1ms --min-duration 1us", "replay {nsc} --levels 2"],
    "graph": ["graph {nsc}", "graph {nsc} --format json"],
    "html": ["html {nsc} -o {out}", "html {nsc} -o -", "html --viewer -o {out}", "html --viewer -o -"],
    "serve": ["serve {nsc}", "serve --from file:{line} -o {out}"],
    "export": [f"export {{nsc}} --format {name} -o {{out}}" for name in export_formats.WHAT]
              + [f"export {{nsc}} --format {name} -o -" for name in export_formats.FILES],
    "diff": ["diff {nsc} {nsc}", "diff {nsc} {nsc} --format json", "diff {nsc} {nsc} --format folded",
             "diff {nsc} {nsc} --html {out}", "diff {nsc} {nsc} --html -"],
    "query": ["query {nsc} 'SELECT COUNT(*) FROM sums'", "query {nsc} 'SELECT COUNT(*) FROM sums' --format json",
              "query {nsc} 'SELECT COUNT(*) FROM sums' --format csv"],
    "info": ["info {nsc}", "info {nsc} --format json", "info {elf} --sites"],
    "check": ["check {elf}", "check {elf} --format json"],
    "names": ["names {elf}", "names {elf} -o {out}"],
    "events": ["events"],
    "doctor": ["doctor", "doctor --format json"],
    "help": ["help", "help report"],
    "callers": ["callers {nsc} *"],
    "callees": ["callees {nsc} *"],
    "latency": ["latency {nsc} *", "latency {nsc} * --format json"],
    "outliers": ["outliers {nsc} *"],
    "irq": ["irq {nsc}"],
    "tasks": ["tasks {nsc}"],
    "stack-depth": ["stack-depth {nsc}"],
}


def words_of(line, files):
    """The line's words; one in quotes is one word."""
    return [word.strip("'").format_map(files) for word in re.findall(r"'[^']*'|\S+", line)]
