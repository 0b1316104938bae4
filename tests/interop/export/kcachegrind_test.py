#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callgrind's format, opened by KCachegrind in a window of Xvfb, which saves what it shows as a graph: inclusive costs, and calls.
formats_test.py reads more recordings.

    kcachegrind_test.py
    kcachegrind_test.py FILE OUT      inside the X server and the D-Bus session that graph_of() starts
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import time

import exports

SERVER = ("xvfb-run", "--auto-servernum", "--server-args=-screen 0 1200x800x24", "dbus-run-session", "--")
SECONDS = 60
NODE = re.compile(r'^ *F(\w+) \[label="(.*)\\n([\d ]+)"\];$', re.MULTILINE)
EDGE = re.compile(r'^ *F(\w+) -> F(\w+) \[weight=\d+,label="([\d ]+) \(([\d ]+)x\)"\];$', re.MULTILINE)
WINDOW = "/kcachegrind/MainWindow_1"


def graph_of(path, directory):
    """Returns the cost of all and {(caller, callee): (inclusive ns, calls)} of what KCachegrind shows below the root. It leaves
    small calls out. So what it writes on a function, or on a pair, is the sum of the calls that it shows."""
    home = directory / "home"
    (home / ".config").mkdir(parents=True, exist_ok=True)
    (home / ".config/kcachegrindrc").write_text("[TipOfDay]\nRunOnStart=false\n")
    out = directory / f"{path.name}.dot"
    exports.run(*SERVER, sys.executable, "-B", __file__, path, out, env=os.environ | {"HOME": str(home), "LC_ALL": "C.UTF-8"})
    text = out.read_text()
    names = {node: name for node, name, _ in NODE.findall(text)}
    return (next(number(cost) for _, name, cost in NODE.findall(text) if name == "(root)"),
            {(names[caller], names[callee]): (number(cost), number(calls)) for caller, callee, cost, calls in EDGE.findall(text)})


def number(text):
    return int(text.replace(" ", ""))


def until(what, find):
    deadline = time.monotonic() + SECONDS
    while not (found := find()):
        if time.monotonic() > deadline:
            sys.exit(f"kcachegrind_test.py: not within {SECONDS} s: {what}")
        time.sleep(0.2)
    return found


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def window(title):
    return until(f"a window {title}", lambda: said("xdotool", "search", "--name", title).split())[-1]


def choose_root_and_export(viewer):
    """The first row is the root. KCachegrind saves no graph without a chosen function. Its answer comes when the dialog is closed."""
    subprocess.run(["xdotool", "mousemove", "230", "139", "click", "1"], check=True)
    time.sleep(1)
    with subprocess.Popen(["gdbus", "call", "--session", "--timeout", "5", "--dest", f"org.kde.kcachegrind-{viewer.pid}", "--object-path",
                           WINDOW, "--method", "org.kde.KMainWindow.activateAction", "export"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL):
        pass
    return said("xdotool", "search", "--name", "Export Graph")


def save(path, out):
    with subprocess.Popen(["kcachegrind", path]) as viewer:
        try:
            main = window(re.escape(path.name))
            subprocess.run(["xdotool", "windowmove", main, "0", "0", "windowsize", main, "1190", "790"], check=True)
            until("the dialog that asks for a file", lambda: choose_root_and_export(viewer))
            subprocess.run(["xdotool", "type", "--delay", "30", str(out)], check=True)
            subprocess.run(["xdotool", "key", "Return"], check=True)
            until(f"{out.name}", lambda: out.exists() and out.read_text().endswith("}\n"))
        finally:
            viewer.kill()


class KCachegrind(exports.Case):
    def test_calls_and_inclusive_times(self):
        """KCachegrind leaves small calls out, also of a pair that it shows. In this recording no pair that it shows has such calls."""
        path = self.directory / "callgrind.out.tasks.gz"
        exports.nopscope("export", exports.recording("tasks"), "--format", "callgrind", "-o", path)
        whole, calls = graph_of(path, self.directory)
        # By (caller, callee): ns on the CPU, and calls. Time in other contexts is another cost, which is not shown first.
        expected = collections.defaultdict(lambda: [0, 0])
        for names, node in exports.paths("tasks"):
            names = ("(root)", *names)
            expected[names[-2:]][1] += node["calls"]
            for pair in set(zip(names, names[1:])):
                expected[pair][0] += node["corrected_self_ns"]
        self.assertEqual(whole, sum(node["corrected_self_ns"] for _, node in exports.paths("tasks")))
        self.assertGreater(len(calls), 8)
        self.assertEqual(calls, {pair: tuple(expected[pair]) for pair in calls})


if __name__ == "__main__":
    if len(sys.argv) == 3:
        save(*map(pathlib.Path, sys.argv[1:]))
    else:
        exports.main()
