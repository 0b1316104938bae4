#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What info and check say about an image with faults."""

import json
import unittest

import cli

BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # sizes, NT_GNU_BUILD_ID


class Image(cli.Case):
    def test_a_missing_build_id_is_said(self):
        image = self.directory / "image.elf"
        text = cli.DEMO.read_bytes()
        self.assertEqual(text.count(BUILD_ID), 1)
        image.write_bytes(text.replace(BUILD_ID, BUILD_ID.replace(b"\x03", b"\x63")))
        self.assertIn("(none: nopscope cannot tell whether an ELF fits", cli.nopscope("info", image).stdout)
        self.assertIn("link with --build-id\n", cli.nopscope("check", image).stdout)
        self.assertFalse(json.loads(cli.nopscope("check", image, "--format", "json").stdout)["has_build_id"])
        for command in ("info", "check"):
            self.assertNotIn("--build-id", cli.nopscope(command, cli.DEMO).stdout)

    def test_bti_and_functions_without_sites_are_said(self):
        found = json.loads(cli.nopscope("check", cli.DEMO, "--format", "json").stdout)
        self.assertTrue(found["bti_is_enforced"], "the demo's functions have landing pads")
        self.assertEqual(found["without_landing_pad"], 0)
        self.assertLessEqual(set(found["prebuilt"]), set(found["uninstrumented"]))
        self.assertFalse(json.loads(cli.nopscope("check", cli.DEMO, "--no-bti", "--format", "json").stdout)["bti_is_enforced"])
        said = cli.nopscope("check", cli.DEMO).stdout
        self.assertEqual(f"{len(found['prebuilt'])} functions of source files without any site" in said, len(found["prebuilt"]) > 1)


if __name__ == "__main__":
    unittest.main()
