# SPDX-License-Identifier: Apache-2.0
"""Runs a guide: a Markdown page's fenced boxes, by the words behind the fence:

    ```sh          commands, for one bash that runs all boxes
    ```LANG FILE   a file; the line before the box also names it for people
    ```text        output of the commands before it: of a report, each function's calls

The rest is only text.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/rules"))
import tree  # noqa: E402
FENCE = re.compile(r"^```(.*)$")
# calls, ..., function, defined at
ROW = re.compile(r"^\s*([\d,]+)  .*?  (\S+)\s+\S+:\d+$", re.M)


@dataclasses.dataclass
class Box:
    line: int   # of its fence, from 1
    kind: str   # sh, text, or a language
    file: str   # empty: none
    text: str


def boxes(page):
    found, box, before = [], None, ""
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line)
        if not fence:
            if box:
                box.text += line + "\n"
            elif line.strip():
                before = line
        elif box:
            found.append(box)
            box = None
        else:
            kind, _, file = fence.group(1).partition(" ")
            if not (file or kind in ("sh", "text")):
                raise ValueError(f"line {number}: a box is ```sh, ```text or ```LANG FILE")
            if file and f"`{file}`" not in before:
                raise ValueError(f"line {number}: the line before the box does not name {file}")
            box = Box(number, kind, file, "")
    if box:
        raise ValueError(f"line {box.line}: a box without an end")
    return found


def script(page_boxes, name):
    """Makes a script for bash from all boxes except texts. It prints its steps; a failure ends it."""
    lines = ["set -euo pipefail"]
    for box in page_boxes:
        if box.kind == "text":
            continue
        lines.append(f"printf '\\n==== %s:%s (%d:%02d)\\n' {name} {box.line} $((SECONDS / 60)) $((SECONDS % 60))")
        if box.file:
            lines += [f"echo {box.file}", f"cat >{box.file} <<'END_OF_BOX'", box.text + "END_OF_BOX"]
        else:
            # The box is printed as on the page. It is not traced, because -x would show expansions.
            lines += ["cat <<'END_OF_BOX'", box.text + "END_OF_BOX", box.text]
    return "\n".join(lines) + "\n"


def reported(text):
    """Returns a report's rows: (calls, function)."""
    return sorted((int(calls.replace(",", "")), name) for calls, name in ROW.findall(text))


def differences(page_boxes, printed):
    """A sentence for each row that is only on the page or only in the output."""
    told = reported("".join(box.text for box in page_boxes if box.kind == "text"))
    came = reported(printed)
    if not told:
        return ["the page shows no profile"]
    return ([f"the page has {row}, which was not printed" for row in told if row not in came]
            + [f"printed was {row}, which the page has not" for row in came if row not in told])


def follow(page_boxes, directory, name, clone_of="nopscope"):
    """Returns the exit status and the output, which it also prints at once. Objects that ./dev test
    has compiled come from its cache, by their place in the clone: `clone_of` in `directory`."""
    printed = ""
    with subprocess.Popen(["bash", "-c", script(page_boxes, name)], cwd=directory, text=True, errors="replace",
                          env=os.environ | {"CCACHE_BASEDIR": str(directory / clone_of)},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as shell:
        for line in shell.stdout:
            print(line, end="", flush=True)
            printed += line
    return shell.returncode, printed


def clone(destination):
    tree.copy(ROOT, destination)
