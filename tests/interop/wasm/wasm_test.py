#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The engine of a page answers as the command does: each recording's view byte for byte, each refusal in its words.

    wasm_test.py NODE ENGINE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONFORMANCE = HERE.parents[1] / "conformance"
NOPSCOPE = os.environ["NOPSCOPE"]
BEGIN, END = '<script type="application/json" id="data">', "</script>"
VIEW = '{"ask":"view"}'


class Engine:
    def __init__(self, node, module):
        self.process = subprocess.Popen([node, HERE / "engine.mjs", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, recording, options=None, questions=(VIEW,), **more):
        """Returns {"answers", "stopped"}."""
        asked = {"recording": str(recording), "options": {"file": str(recording), **(options or {})},
                 "questions": questions, **more}
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def page_data(directory, recording, words):
    """Returns what `nopscope html` writes into the page, and its last sentence if it refuses."""
    page = directory / "page.html"
    done = subprocess.run([NOPSCOPE, "html", recording, "-o", page, "--yes", *words], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.splitlines()[-1].removeprefix("nopscope: ")
    text = page.read_text()
    page.unlink()
    at = text.index(BEGIN) + len(BEGIN)
    return text[at:text.index(END, at)], None


def check(engine, directory, recording, options):
    words = [f"--{name.replace('_', '-')}" for name in options]
    data, sentence = page_data(directory, recording, words)
    got = engine.run(recording, {name: True for name in options})
    assert got["stopped"] is None, (recording, got["stopped"])
    opened, view = got["answers"]
    if data is None:
        assert json.loads(opened) == json.loads(view) == {"error": sentence}, (recording, opened, view, sentence)
    else:
        assert opened == "{}" and view.replace("<", "\\u003c") == data, f"{recording} {words}: another view"
    return data is not None


def check_part(engine, directory, recording):
    """A part of the page is what the command's options for it show, except for the timeline."""
    whole = json.loads(page_data(directory, recording, ())[0])
    length = whole["duration"]
    time = f"{length // 4}ns..{length // 2}ns"
    data, sentence = page_data(directory, recording, ("--time", time))
    view = json.loads(engine.run(recording, questions=[json.dumps({"ask": "view", "time": time})])["answers"][1])
    if data is None:
        assert view == {"error": sentence}, (recording, view, sentence)
        return False
    assert view.pop("timeline") is None
    shown = json.loads(data)
    shown.pop("timeline")
    assert view == shown, f"{recording}: another part"
    return True


def damaged(recording, to):
    """Flips a bit in each kilobyte."""
    bytes_ = bytearray(recording.read_bytes())
    for at in range(0, len(bytes_), 1000):
        bytes_[at] ^= 1 << at % 7
    to.write_bytes(bytes_)
    return to


def main():
    engine = Engine(*sys.argv[1:])
    made = sorted(pathlib.Path(os.environ["NOPSCOPE_RECORDINGS"]).glob("*.nsc"))
    kept = sorted((CONFORMANCE / "recordings").rglob("*.nsc"))
    captures = [CONFORMANCE / f"{name}.bin" for name in ("captured", "contexts", "moves", "profile", "stream", "tasks")]
    assert made and kept, "no recordings"
    recordings = made + kept + captures
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        parts = 0
        for recording in recordings:
            for options in ((), ("raw",), ("on_cpu",)):
                assert check(engine, directory, recording, options), recording
            parts += check_part(engine, directory, recording)
            check(engine, directory, damaged(recording, directory / "damaged.nsc"), ())
        assert parts > 5, f"{parts} recordings have a part"
        head = bytearray(recordings[0].read_bytes()[:2000])
        for bytes_ in (b"", b"\n", bytes(range(256)) * 100, b"a text\n" * 1000, head, head[:16]):
            bad = directory / "bad \x1b[31m.nsc"
            bad.write_bytes(bytes_)
            refused = not check(engine, directory, bad, ())
            assert refused or bytes_ is head, bytes_[:20]

        small = min(recordings, key=lambda path: path.stat().st_size)
        got = engine.run(small, {}, ["", "{", "[]", "{}", '{"ask":1}', '{"ask":"nothing"}', '{"ask":"\\ud800"}', "[" * 100000])
        assert got["answers"][0] == "{}" and len(got["answers"]) == 9
        assert all(list(json.loads(answer)) == ["error"] for answer in got["answers"][1:]), got
        got = engine.run(small, {"title": "a <title>"})
        assert json.loads(got["answers"][1])["title"] == "a <title>"
        got = engine.run(small, {}, [VIEW], exhausted=True)
        assert got["answers"] == ["{}"] and got["stopped"].startswith("out of memory: "), got
    engine.close()


sys.exit(main())
