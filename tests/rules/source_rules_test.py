#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of source_rules.py once and checks that it is reported."""

import unittest

from breaking import Breaking
from source_rules import breaches

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"


class SourceRules(Breaking):
    def reported(self, path, text):
        return list(breaches(self.directory({path: text})))

    def assert_breach(self, path, text, words):
        self.one(self.reported(path, text), words)

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported("tracer/core/a.cpp", HEAD + '#include "tracer/protocol/a.hpp"\n#include "nopscope/ops.hpp"\n'
                                       '#include "tracer/arch/machine.hpp"\n#include <span>\n'), [])
        self.assertEqual(self.reported("tracer/arch/arm64/a.S", HEAD + "nop\n"), [])
        self.assertEqual(self.reported("hal/newlib/a.cpp", HEAD + "#include <errno.h>\n"), [])

    def test_files_that_are_no_source(self):
        for path, text, words in [("hal/core", "\x7fELF\0", "neither text nor data"), ("tests/conformance/a.elf", "\0", "neither text nor data"),
                                  ("docs/images/a.png", "\0" * 300_000, "more than 250000 bytes")]:
            self.assertEqual([words in one for one in self.reported(path, text) if "no source files" not in one], [True])
        self.assertEqual([one for one in self.reported("tests/conformance/a.bin", "\0") if "no source files" not in one], [])

    def test_includes(self):
        for path, name in [
            ("tracer/core/a.cpp", "hal/hal.hpp"),
            ("tracer/core/a.cpp", "firmware/demo/options.hpp"),
            ("tracer/core/a.cpp", "tracer/stream/pump.hpp"),
            ("tracer/adaptive/a.cpp", "tracer/control/control.hpp"),
            ("tracer/include/nopscope/a.cpp", "tracer/protocol/record.hpp"),
            ("tracer/protocol/a.cpp", "nopscope/nopscope.hpp"),
            ("tracer/a.cpp", "nopscope/nopscope.hpp"),
            ("hal/a.cpp", "nopscope/nopscope.hpp"),
            ("hal/a.cpp", "tracer/protocol/frame.hpp"),
            ("firmware/demo/a.cpp", "tracer/protocol/frame.hpp"),
            ("firmware/demo/a.cpp", "host-tools/a.hpp"),
            ("host-tools/a.cpp", "nopscope/nopscope.hpp"),
            ("host-tools/a.cpp", "hal/hal.hpp"),
        ]:
            with self.subTest(path=path, name=name):
                self.assert_breach(path, f'{HEAD}#include "{name}"\n', "is not for")

    def test_hosted_headers(self):
        self.assert_breach("tracer/a.cpp", HEAD + "#include <cstdio>\n", "not freestanding")
        self.assert_breach("hal/drivers/a.cpp", HEAD + "#include <string.h>\n", "not freestanding")

    def test_instructions(self):
        self.assert_breach("tracer/a.cpp", HEAD + 'void f() { asm volatile("nop"); }\n', "arm64")
        self.assert_breach("hal/drivers/a.cpp", HEAD + '__asm__("nop");\n', "arm64")
        self.assert_breach("firmware/demo/a.S", HEAD, "arm64")

    def test_architecture(self):
        for path, line, word in [
            ("tracer/core/a.cpp", '#include "tracer/arch/arm64/patch_site.hpp"', "arm64"),
            ("tracer/patching/a.hpp", "constexpr auto bti_c = 1;", "bti"),
            ("tracer/runtime/a.cpp", 'const char* text = "runs at EL1 only";', "EL1"),
            ("tracer/arch/pmu.hpp", "#pragma once\nint read_pmcr_el0();", "pmcr"),
            ("host-tools/image/a.cpp", "constexpr int em_aarch64 = 183;", "aarch64"),
            ("host-tools/views/a.cpp", 'const char* text = "needs x30";', "x30"),
            ("firmware/demo/a.cpp", "int tpidr;", "tpidr"),
        ]:
            with self.subTest(path=path, line=line):
                found = self.reported(path, f"{HEAD}{line}\n")
                self.assertTrue(any(f"'{word}' is arm64's" in one for one in found), found)

    def test_architecture_is_named_where_it_may_be(self):
        self.assertEqual(self.reported("tracer/core/a.cpp", HEAD + "// tracer/arch/arm64/recorders.S stores x30.\n"), [])
        self.assertEqual(self.reported("tracer/core/a.cpp", HEAD + "int elbow = 0x30, table = 1;\n"), [])
        self.assertEqual(self.reported("host-tools/image/arch/arm64/a.cpp", HEAD + "int bti;\n"), [])
        self.assertEqual(self.reported("host-tools/cli/commands/check.cpp", HEAD + "int bti;\n"), [])

    def test_an_exception_that_nobody_needs(self):
        self.assert_breach("host-tools/cli/commands/check.cpp", HEAD, "take it out of MAY_NAME")

    def test_phrases(self):
        self.assert_breach("tests/a.cpp", HEAD + "// Whoever goes, as far as there is room.\n", "as far as")
        self.assert_breach("hal/a.cpp", HEAD + 'const char* text = "this is Nobody\'s";\n', "name the owner")

    def test_files(self):
        self.assert_breach("tests/a.cpp", "int a;\n", "SPDX")
        self.assert_breach("tracer/a.hpp", HEAD, "#pragma once")


if __name__ == "__main__":
    unittest.main()
