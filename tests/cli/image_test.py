#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What info and check say about an image with faults."""

import json
import pathlib
import struct
import sys
import unittest

import cli

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "verification/oracle"))
import sites

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

    def test_a_taken_address_needs_a_landing_pad(self):
        """But a number in the data may have a local function's address by chance."""
        demo = sites.Image(cli.DEMO)
        bti, nop = 0xD503245F, 0xD503201F
        pointed, = struct.unpack("<Q", demo.bytes(demo.symbols["loadedlibs"] + 8, 8))
        self.assertEqual(pointed, demo.symbols["luaopen_base"])
        self.assertEqual(demo.word(pointed), bti)
        of_lua = demo.symbols["luaV_execute"]
        bare = next(function for word, function in sites.patch_sites(demo)
                    if abs(function - of_lua) < 0x8000 and demo.word(function) == nop)
        for at, value, sentence in ((pointed, struct.pack("<I", nop), "luaopen_base at .* its address taken at .* begins with no landing pad"),
                                    (demo.symbols["loadedlibs"] + 8, struct.pack("<Q", bare), None)):
            image = self.directory / "image.elf"
            data = bytearray(demo.data)
            offset = demo.offset(at, len(value))
            data[offset:offset + len(value)] = value
            image.write_bytes(data)
            done = cli.nopscope("check", image, status=1 if sentence else 0)
            self.assertRegex(done.stdout, sentence or "0 problems")


if __name__ == "__main__":
    unittest.main()
