#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of api_docs.py once and checks that it is reported."""

import unittest

from api_docs import HEADERS, breaches
from breaking import ROOT, Breaking

DOXYFILE = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8")
# One declaration of each kind.
HEADER = """/// \\file
/// A header: nopscope::init(), Config::cores.
#define NOPSCOPE_API
/// A macro.
#define NOPSCOPE_LIMIT 8
/// A namespace.
namespace nopscope {
/// An enumeration.
enum class Status { ok /** An enumerator. */ };
/// A struct.
struct Config {
    unsigned cores;  ///< A field.
    /// A member function: init(Config()) == Status::ok.
    ///
    ///     Example::not_checked();
    Config& self();
};
/// A function.
Status init(const Config& config);
}  // namespace nopscope
/// A function in C.
NOPSCOPE_API void nopscope_init(void);
/// An inline function in C.
static inline int nopscope_all(void) { return 0; }
"""


class ApiDocs(Breaking):
    def reported(self, header, document="# The API\nnopscope::init()\n```\nnopscope::none()\n```\n"):
        return list(breaches(self.directory({"docs/Doxyfile": DOXYFILE, "docs/api.md": document, f"{HEADERS}/a.hpp": header})))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported(HEADER), [])

    def test_each_kind_of_declaration_needs_a_comment(self):
        for comment, said in [("/// A macro.", "NOPSCOPE_LIMIT"), ("/// An enumeration.", "Status"), (" /** An enumerator. */", "ok"),
                              ("/// A struct.", "Config"), ("  ///< A field.", "cores"), ("/// A function.", "init"),
                              ("/// A function in C.", "nopscope_init"),
                              ("/// An inline function in C.", "nopscope_all")]:
            with self.subTest(comment):
                self.assertIn(comment, HEADER)
                found = self.reported(HEADER.replace(comment, comment.replace("///", "//").replace("/**", "/*"), 1))
                self.assertTrue(any(line.startswith(f"{HEADERS}/a.hpp:") and said in line and "is not documented" in line
                                    for line in found), found)

    def test_each_header_and_name_has_a_page(self):
        self.assertIn(f"{HEADERS}/a.hpp:1: no page: its first comment lacks \\file", self.reported(HEADER.replace("\\file", "")))
        self.one(self.reported(HEADER.replace("Config::cores.", "Config::count.")), f"{HEADERS}/a.hpp:2: Config::count has no page")
        self.one(self.reported(HEADER, "# The API\n\nnopscope::start()\n"), "docs/api.md:3: nopscope::start has no page")

    def test_a_command_that_doxygen_does_not_know(self):
        self.one(self.reported(HEADER.replace("A struct.", "A \\strucct.")), "unknown command")


if __name__ == "__main__":
    unittest.main()
