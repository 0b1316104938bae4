#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of c_api_rules.py once and checks that it is reported."""

import unittest

from breaking import ROOT, Breaking
from c_api_rules import HEADERS, LAYOUT, SOURCE, Exceptions, breaches

DOXYFILE = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8")
CPP = """/// \\file
/// The tracer.

namespace nopscope {
/// An enumeration.
enum class Mode { stream /** Streams. */, flight /** Flies. */ };
/// A struct.
struct Ops {
    void* user;  ///< A field.
    /// A template.
    template <typename T> void each(T visit);
};
/// A struct in a struct.
struct Config {
    /// The line.
    struct Output {
        int baud;  ///< Its rate.
    } output;      ///< The line.
};
/// A struct that derives from another one.
struct Trigger : Ops {
    /// A constructor.
    constexpr Trigger(int entries) {}
    /// A member function.
    void arm(int entries);
};
/// A function.
bool set_mode(Mode mode);
/// A function with a list.
bool attach(span<Ops> ops);
/// A function of a mode.
const char* describe(Mode mode);
/// The same name.
const char* describe(Ops ops);
}  // namespace nopscope
"""
C = """/// \\file
/// The tracer for C.

/// An enumeration.
enum nopscope_mode { NOPSCOPE_MODE_STREAM /** Streams. */, NOPSCOPE_FLIGHT /** Flies. */ };
/// A struct: the same object as nopscope::Ops.
struct nopscope_ops {
    void* user;  ///< A field.
};
/// The configuration.
struct nopscope_config {
    int baud;  ///< The line's rate.
};
/// A trigger.
struct nopscope_trigger {
    struct nopscope_ops ops;  ///< The base.
};
/// Initialises a trigger.
#define NOPSCOPE_TRIGGER(n) {(n)}
/// A member function.
void nopscope_trigger_arm(struct nopscope_trigger* trigger, int entries);
/// A function.
bool nopscope_set_mode(enum nopscope_mode mode);
/// A function with a list.
bool nopscope_attach(struct nopscope_ops* ops, size_t count, size_t unlike);
/// A function of a mode.
const char* nopscope_describe(enum nopscope_mode mode);
/// A function of an ops.
const char* nopscope_describe_ops(struct nopscope_ops ops);
/// A limit.
#define NOPSCOPE_LIMIT 8
"""
SAME = """SAME_VALUE(NOPSCOPE_MODE_STREAM, Mode::stream);
SAME_VALUE(NOPSCOPE_FLIGHT,
           Mode::flight);
SAME_TYPE(nopscope_ops, Ops);
SAME_PLACE(nopscope_ops, Ops, user);
"""
READ = "init(from->baud);\n"
RENAMED = {"describe(Ops ops)": ("nopscope_describe_ops()", "an overload")}
ABSENT = {"Ops::each()": "a template"}
ADDED = {"NOPSCOPE_LIMIT": "for C alone"}


class CApi(Breaking):
    def reported(self, cpp=CPP, c=C, same=SAME, read=READ, name="a.h", renamed=RENAMED, absent=ABSENT, added=ADDED):
        root = self.directory({"docs/Doxyfile": DOXYFILE, "docs/api.md": "# The API\n", f"{HEADERS}/a.hpp": cpp,
                               f"{HEADERS}/{name}": c, LAYOUT: same, SOURCE: read})
        return list(breaches(root, Exceptions(renamed, absent, added)))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported(), [])

    def test_c_lacks_a_declaration(self):
        for part, words in [
                ("bool nopscope_set_mode(enum nopscope_mode mode);", "C has no nopscope_set_mode() for set_mode()"),
                ("void nopscope_trigger_arm(struct nopscope_trigger* trigger, int entries);",
                 "C has no nopscope_trigger_arm() for Trigger::arm()"),
                ("#define NOPSCOPE_TRIGGER(n) {(n)}", "C has no NOPSCOPE_TRIGGER for Trigger::Trigger()"),
                ("    int baud;  ///< The line's rate.\n", "C has no nopscope_config.baud for Config::Output::baud"),
                ("    struct nopscope_ops ops;  ///< The base.\n", "C has no nopscope_trigger.ops for Trigger::Ops"),
                (", NOPSCOPE_FLIGHT /** Flies. */", "C has no NOPSCOPE_MODE_FLIGHT for Mode::flight"),
                ("const char* nopscope_describe_ops(struct nopscope_ops ops);",
                 "C has no nopscope_describe_ops() for describe(Ops ops)")]:
            with self.subTest(words):
                self.one(self.reported(c=self.without(C, part)), words)

    def test_an_overload_needs_a_name_of_its_own(self):
        c = self.without(C, "const char* nopscope_describe_ops(struct nopscope_ops ops);")
        self.one(self.reported(c=c, renamed={}), "C has no nopscope_describe() for describe(Ops ops)")

    def test_an_enumerator_of_another_enumeration_does_not_count(self):
        c = self.without(C, ", NOPSCOPE_FLIGHT /** Flies. */") + "/// Another one.\nenum nopscope_other { NOPSCOPE_FLIGHT /** Flies. */ };\n"
        found = self.reported(c=c)
        self.assertIn(f"{HEADERS}/a.hpp:6: C has no NOPSCOPE_MODE_FLIGHT for Mode::flight", found)
        self.assertEqual(len([line for line in found if "C++ has nothing like" in line]), 2, found)

    def test_cpp_lacks_a_declaration(self):
        for part, words in [("bool set_mode(Mode mode);", "C++ has nothing like nopscope_set_mode()"),
                            ("    void* user;  ///< A field.\n", "C++ has nothing like nopscope_ops.user"),
                            (", flight /** Flies. */", "C++ has nothing like NOPSCOPE_FLIGHT")]:
            with self.subTest(words):
                self.one(self.reported(cpp=self.without(CPP, part)), words)

    def test_c_lacks_a_parameter(self):
        cpp = CPP.replace("set_mode(Mode mode)", "set_mode(Mode mode, bool now = true)")
        self.one(self.reported(cpp=cpp), "nopscope_set_mode() lacks the parameter now of set_mode()")

    def test_headers_have_the_same_name(self):
        found = self.reported(name="b.h")
        self.assertIn(f"{HEADERS}/b.h:23: nopscope_set_mode() belongs into a.h: set_mode() is in a.hpp", found)

    def test_values_and_objects_are_compared(self):
        for line in ("SAME_VALUE(NOPSCOPE_MODE_STREAM, Mode::stream);", "SAME_TYPE(nopscope_ops, Ops);",
                     "SAME_PLACE(nopscope_ops, Ops, user);"):
            with self.subTest(line):
                self.one(self.reported(same=self.without(SAME, line)), f"{LAYOUT}: lacks {line}")
        # Another struct has its own fields.
        self.assertEqual(self.reported(c=C.replace("the same object as", "as"), same=SAME.split("SAME_TYPE")[0]), [])

    def test_fields_of_the_configuration_are_read(self):
        self.one(self.reported(read="init(from->baud_rate);\n"), f"{SOURCE}: does not read nopscope_config.baud")

    def test_each_exception_is_needed(self):
        for name, lists in [("set_mode()", {"absent": ABSENT | {"set_mode()": ""}}),
                            ("gone()", {"absent": ABSENT | {"gone()": ""}}),
                            ("set_mode()", {"renamed": RENAMED | {"set_mode()": ("nopscope_set_mode()", "")}}),
                            ("gone()", {"renamed": RENAMED | {"gone()": ("nopscope_gone()", "")}}),
                            ("nopscope_set_mode()", {"added": ADDED | {"nopscope_set_mode()": ""}}),
                            ("nopscope_gone()", {"added": ADDED | {"nopscope_gone()": ""}})]:
            with self.subTest(name):
                self.one(self.reported(**lists), f"the exception for {name} is not needed")


if __name__ == "__main__":
    unittest.main()
