# SPDX-License-Identifier: Apache-2.0
"""A terminal for a test, in tmux: the test types into it and reads its screen.

    with Terminal(directory, columns=120, rows=40) as terminal:
        terminal.type("nopscope top ...\\n")
        terminal.wait_for("core 0")
"""

import re
import subprocess
import time

WAIT_SECONDS = 60


class Terminal:
    """A shell without any user's settings."""

    def __init__(self, directory, columns=120, rows=40):
        self.tmux = ["tmux", "-u", "-S", str(directory / "tmux"), "-f", "/dev/null"]
        self.size = columns, rows

    def __enter__(self):
        columns, rows = self.size
        self.run("new-session", "-d", "-x", str(columns), "-y", str(rows), "env", "PS1=ready> ", "TERM=screen-256color", "sh")
        self.wait_for("^ready>")
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)

    def run(self, *words):
        done = subprocess.run([*self.tmux, *words], capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise AssertionError(f"tmux {words}: {done.stderr}")
        return done.stdout

    def screen(self):
        return self.run("capture-pane", "-p")

    def type(self, text, *patterns):
        """Types the text literally. A newline is Enter. Then waits for the patterns, if there are any, and returns the last match."""
        for n, line in enumerate(text.split("\n")):
            if n > 0:
                self.press("Enter")
            if line:
                self.run("send-keys", "-l", line)
        return self.wait_for(*patterns) if patterns else None

    def press(self, *keys):
        self.run("send-keys", *keys)

    def click(self, column, row):
        """Presses and releases the mouse's first button, as screen-256color says it. Counts from 0."""
        for button in (0, 3):
            self.run("send-keys", "-H", "1b", "5b", "4d", *(f"{32 + value:x}" for value in (button, 1 + column, 1 + row)))

    def resize(self, columns, rows):
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    def shows(self, name):
        """The value of a tmux format: alternate_on, cursor_flag, pane_pid."""
        return self.run("display-message", "-p", f"#{{{name}}}").strip()

    def wait_for(self, *patterns):
        """Waits until the screen matches one pattern after the other. Returns the last match."""
        deadline = time.monotonic() + WAIT_SECONDS
        for pattern in patterns:
            while not (found := re.search(pattern, screen := self.screen(), re.MULTILINE)):
                if time.monotonic() > deadline:
                    raise AssertionError(f"{pattern!r} has not come:\n{screen}")
                time.sleep(0.1)
        return found
