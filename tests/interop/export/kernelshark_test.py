#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace.dat, opened by KernelShark's own library. agree_test.py compares its calls."""

import re

import exports
import kernelshark


class KernelShark(exports.Case):
    FORMAT = "trace-cmd"

    def test_tasks_and_cpus(self):
        for name in ("tasks", "cores"):
            shown = {(line.cpu, line.pid, line.task) for line in kernelshark.entries(self.export(name)) if line.pid != 0}
            tasks = {(row["core"], f"core{row['core']}/{row['context']}") for row in exports.report(name)["contexts"]}
            self.assertEqual({(cpu, task) for cpu, _, task in shown}, tasks)
            self.assertEqual(len({pid for _, pid, _ in shown}), len(tasks))

    def test_printed_events(self):
        text = "\n".join(line.info for line in kernelshark.entries(self.export("captured")) if line.event == "ftrace/print")
        self.assertRegex(text, "times are raw: ")
        self.check_others(re.findall(r": mark (\d+)$", text, re.MULTILINE))


if __name__ == "__main__":
    exports.main()
