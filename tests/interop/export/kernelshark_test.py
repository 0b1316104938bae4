#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace.dat, opened by KernelShark's own library. trace-cmd_test.py reads more recordings."""

import re

import exports
import kernelshark
import readers

RUNS = (*((name, ()) for name in ("torture", "tasks", "cores", "contexts", "stream", "gaps", "pauses", "equal", "deep")),
        ("tasks", (exports.CUT,)))


class KernelShark(exports.Case):
    FORMAT = "trace-cmd"

    def lines(self, name, *options):
        path = self.export(name, *options)
        return kernelshark.entries(path.rename(path.with_suffix(".dat")))  # it refuses other names

    def test_calls_and_times_are_the_report_s(self):
        for name, options in RUNS:
            sums = kernelshark.sums_of(self.lines(name, *options), exports.Sums())
            self.check_events(name, sums, options, readers.kernel_name)

    def test_tasks_and_cpus(self):
        for name in ("tasks", "cores"):
            shown = {(line.cpu, line.pid, line.task) for line in self.lines(name) if line.pid != 0}
            tasks = {(row["core"], f"core{row['core']}/{row['context']}") for row in exports.report(name)["contexts"]}
            self.assertEqual({(cpu, task) for cpu, _, task in shown}, tasks)
            self.assertEqual(len({pid for _, pid, _ in shown}), len(tasks))

    def test_printed_events(self):
        text = "\n".join(line.info for line in self.lines("captured") if line.event == "ftrace/print")
        self.assertRegex(text, "times are raw: ")
        self.assertEqual(sorted(map(int, re.findall(r": mark (\d+)$", text, re.MULTILINE))),
                         sorted(mark["id"] for mark in exports.report("captured")["markers"]))

    def test_hostile_names(self):
        sums = kernelshark.sums_of(self.lines("hostile"), exports.Sums())
        self.assertEqual(sum(sums.calls.values()) - sums.calls[exports.TRACER], exports.calls_of_hostile())


if __name__ == "__main__":
    exports.main()
