#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host ends the recording of an endless firmware. The recording has all calls up to the stop.

    end_test.py [TEST]...
"""

import functools
import json
import shlex
import signal
import time
import unittest
import urllib.request

import machines  # puts tests/verification/oracle and tests/conformance on the path
from machines import Recorder
import sites
import nsc2
import trace2
from trace2 import Varints

MACHINE = "virt-max"
IMAGE = "endless"
ELF = machines.elf_of(MACHINE, IMAGE)
STOP = "_ZN8nopscope4stopEv"


class End(machines.Case):
    def start(self, uri, *options, verb="record"):
        return self.enterContext(Recorder(self.directory, uri, ELF, *options, verb=verb))

    def target(self, *words, plugin=True):
        """A URI of the image. `plugin`: the oracle counts the calls up to the stop."""
        command = machines.qemu_command(MACHINE, IMAGE, words, icount=False)
        if plugin:
            command += machines.oracle_arguments(ELF, self.directory / "sites", self.directory / "counts", stop=STOP)
        return "exec:" + shlex.join(command)

    def text(self, recorder):
        return machines.nopscope("report", recorder.path, "--image", ELF).stdout

    def check_counts(self, recorder, profiled_and_open=()):
        """The trace's and the profile's calls of each function equal the plugin's up to the stop.
        The profile does not contain calls that are open when it is read."""
        report = recorder.json("report")
        functions = report["functions"] if "adaptive" in report else machines.with_profile(report)
        told = {f["address"]: f["calls"] for f in functions}
        counts = json.loads((self.directory / "counts").read_text())
        seen = {function["address"]: function["before"] for function in counts["functions"] if function["before"]}
        for name in profiled_and_open:
            address = hex(sites.Image(ELF).symbols[name])
            self.assertEqual(seen.pop(address), 1)
        self.assertEqual(told, seen)
        self.assertGreater(sum(seen.values()), 1000)
        integrity = report["integrity"]
        self.assertEqual(integrity["generated_is"], "exact")
        self.assert_generated(integrity, "delivered", "aggregated")
        self.assert_zero(integrity, "lost", "dropped", "gaps")
        self.assertIsNotNone(report["target"]["stopped_ns"])
        return report

    def check_clock_pairs(self, recorder):
        """All pairs agree with an exchange's certain one. The target's clock is the host's here."""
        recording = nsc2.Recording(recorder.path.read_bytes())
        hertz = trace2.hello(recording.hellos[0][1])["clock_hz"]
        items = [Varints(item) for _, kind, _, item in recording.items if kind == nsc2.CLOCK_PAIR]
        pairs = sorted(tuple(item.next() for _ in range(4)) for item in items)  # clock, utc, error, exchanged
        self.assertFalse(any(item.more() for item in items))
        certain = [pair for pair in pairs if pair[3]]
        self.assertEqual(len(certain), 1)
        self.assertGreaterEqual(len(pairs), 3)
        at, utc, error, _ = certain[0]
        self.assertLess(error, 10**9)
        self.assertTrue(recorder.begin * 1e9 < utc < time.time() * 1e9)
        for clock, one, its_error, exchanged in pairs:
            expected = utc + (clock - at) * 10**9 // hertz
            self.assertLessEqual(abs(one - expected), its_error + error, (clock, exchanged))

    def test_adaptive_after_a_duration(self):
        recorder = self.start(self.target("baud=115200"), "-q", "--mode", "adaptive", "--duration", 4)
        self.assertEqual(recorder.ended()[0], 0)
        report = self.check_counts(recorder)
        self.assertGreater(report["integrity"]["aggregated"], 0)
        target = report["target"]
        self.assertEqual([row["what"] for row in target["in_force"]][-1], "graph, adaptive")
        self.assertEqual(target["on_target_only"], [])
        self.assertGreaterEqual(target["profile_read_ns"], target["stopped_ns"])
        text = self.text(recorder)
        self.assertIn("adaptive; stopped at", text)
        self.assertRegex(text, "profile read: last at [0-9.]+ m?s")
        self.check_clock_pairs(recorder)

    def test_a_profile_after_ctrl_c_and_a_lossless_trace_after_sigterm(self):
        for words, kind, number, still_open in (("profile", b"ITEM", signal.SIGINT, ["_ZN12_GLOBAL__N_17foreverEv"]),
                                                ("baud=3000000", b"TRCE", signal.SIGTERM, [])):
            with self.subTest(words):
                recorder = self.start(self.target(words), "-q")
                recorder.wait_for_chunks(4, kind)
                self.assertEqual(recorder.ended(number)[0], 0)
                self.check_counts(recorder, still_open)

    def test_serve_after_its_page_was_closed(self):
        recorder = self.start(self.target("baud=115200", "adaptive"), "--listen", "127.0.0.1:0", verb="serve")
        url = recorder.process.stdout.readline().strip()
        with urllib.request.urlopen(url.rstrip("/") + "/events", timeout=30) as page:
            for _ in range(4):
                page.readline()
        self.assertEqual(recorder.ended()[0], 0)
        self.check_counts(recorder)

    def test_without_input_the_unread_profile_is_said(self):
        recorder = self.start(self.target("deaf", "profile", plugin=False), "-q")
        recorder.wait_for_chunks(4, b"ITEM")
        status, errors = recorder.ended(signal.SIGINT)
        self.assertEqual(status, 0)
        self.assertIn("keeps a profile that was never read out, and takes no commands", errors)
        self.assertIn("profile read: never", self.text(recorder))
        self.assertEqual(recorder.json("report")["integrity"]["generated_is"], "at least")

    def test_a_target_that_never_answers_is_not_waited_for_for_ever(self):
        raw = self.directory / "raw"
        first = self.start(self.target(plugin=False), "-q", "--save-line", raw)
        first.wait_for_chunks(2)
        first.ended(signal.SIGKILL)
        uri = f"exec:cat {raw}; exec sleep 1000"
        silent = self.start(uri, "-q", "--duration", 1)
        status, errors = silent.ended()
        self.assertEqual(status, 3)
        self.assertIn("does not answer commands", errors)
        self.assertIn("what the target has counted since it was last read is not in the recording", errors)
        self.assertLess(silent.seconds, 25)
        # A user who does not want to wait presses Ctrl-C again.
        hasty = self.start(uri, "-q")
        hasty.wait_for_chunks(1, b"SESS")
        hasty.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        begin = time.monotonic()
        self.assertEqual(hasty.ended(signal.SIGINT)[0], 0)
        self.assertLess(time.monotonic() - begin, 4)

    def test_keep_tracing(self):
        line = self.directory / "line"
        uri = f"unix:{line}"
        self.enterContext(machines.Target(line, functools.partial(machines.qemu_command, MACHINE, IMAGE, ["baud=3000000"], icount=False)))
        kept = self.start(uri, "-q", "--keep-tracing", "--duration", 1)
        self.assertEqual(kept.ended()[0], 0)
        self.assertNotIn("stopped at", self.text(kept))
        self.assertRegex(machines.nopscope("ctl", "--from", uri, "stats").stdout, "^recording")


if __name__ == "__main__":
    unittest.main()
