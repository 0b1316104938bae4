#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule once, and checks that it is reported. What is nearly the same and right passes.

    can_fail_test.py CLASS
"""

import copy
import re
import subprocess
import tempfile
import types
import unittest
from dataclasses import replace
from pathlib import Path

import api_docs
import c_api_rules
import code_rules
import doc_rules
import forge_rules
import source_rules
import version_rules
from c_api_rules import EXCEPTIONS, HEADERS, LAYOUT, SOURCE
from code_rules import RESTARTS, UNPUSHES, Rules

ROOT = Path(__file__).resolve().parents[2]
DOXYFILE = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8")
HEAD = "// SPDX-License-Identifier: Apache-2.0\n"


class Breaking(unittest.TestCase):
    def directory(self, files):
        """A directory that has these files, {path: text}, alone."""
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    def one(self, found, words):
        """One breach was found, and this is it."""
        found = list(found)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])


class SourceRules(Breaking):
    def reported(self, path, text):
        return list(source_rules.breaches(self.directory({path: text})))

    def test_what_is_right_passes(self):
        includes = "".join(f'#include "{name}"\n' for name in ("tracer/protocol/a.hpp", "nopscope/ops.hpp", "tracer/arch/machine.hpp"))
        for path, text in [("tracer/core/a.cpp", includes + "#include <span>\n"), ("tracer/arch/arm64/a.S", "nop\n"),
                           ("hal/newlib/a.cpp", "#include <errno.h>\n"),
                           ("tracer/core/a.cpp", "// tracer/arch/arm64/recorders.S stores x30.\n"),
                           ("tracer/core/a.cpp", "int elbow = 0x30, table = 1;\n"),
                           ("host-tools/image/arch/arm64/a.cpp", "int bti;\n"), ("hal/riscv64/a.cpp", 'asm("csrr a0, mepc");\n'),
                           ("hal/drivers/clint_plic.cpp", "int mie;\n"), ("host-tools/cli/commands/check.cpp", "int bti;\n")]:
            self.assertEqual(self.reported(path, HEAD + text), [])

    def test_files_that_are_no_source(self):
        for path, text, words in [("hal/core", "\x7fELF\0", "neither text nor data"), ("tests/conformance/a.elf", "\0", "neither text nor data"),
                                  ("docs/images/a.png", "\0" * 300_000, "more than 250000 bytes")]:
            self.assertEqual([words in one for one in self.reported(path, text) if "no source files" not in one], [True])
        self.assertEqual([one for one in self.reported("tests/conformance/a.bin", "\0") if "no source files" not in one], [])

    def test_each_breach(self):
        includes = [("tracer/core/a.cpp", "hal/hal.hpp firmware/demo/options.hpp tracer/stream/pump.hpp"),
                    ("tracer/adaptive/a.cpp", "tracer/control/control.hpp"),
                    ("tracer/include/nopscope/a.cpp", "tracer/protocol/record.hpp"),
                    ("tracer/protocol/a.cpp", "nopscope/nopscope.hpp"), ("tracer/a.cpp", "nopscope/nopscope.hpp"),
                    ("hal/a.cpp", "nopscope/nopscope.hpp tracer/protocol/frame.hpp"),
                    ("firmware/demo/a.cpp", "tracer/protocol/frame.hpp host-tools/a.hpp"),
                    ("host-tools/a.cpp", "nopscope/nopscope.hpp hal/hal.hpp")]
        architecture = [("tracer/patching/a.hpp", "#pragma once\nconstexpr auto bti_c = 1;", "bti"),
                        ("tracer/runtime/a.cpp", 'const char* text = "runs at EL1 only";', "EL1"),
                        ("tracer/arch/pmu.hpp", "#pragma once\nint read_pmcr();", "pmcr"),
                        ("host-tools/image/a.cpp", "constexpr int em_aarch64 = 183;", "aarch64"),
                        ("host-tools/views/a.cpp", 'const char* text = "needs x30";', "x30"),
                        ("firmware/demo/a.cpp", "int tpidr;", "tpidr"), ("hal/riscv64/a.cpp", "int sctlr;", "sctlr")]
        of_riscv = [("hal/a.cpp", "int mepc;", "mepc"), ("hal/arm64/a.cpp", "int mstatus;", "mstatus"),
                    ("tracer/arch/arm64/a.cpp", '#include "tracer/arch/riscv64/cpu.hpp"', "riscv64")]
        for path, text, words in [
                *((path, f'{HEAD}#include "{name}"\n', "is not for") for path, names in includes for name in names.split()),
                *((path, f"{HEAD}{line}\n", f"'{word}' is arm64's") for path, line, word in architecture),
                *((path, f"{HEAD}{line}\n", f"'{word}' is riscv64's") for path, line, word in of_riscv),
                ("tracer/a.cpp", HEAD + "#include <cstdio>\n", "not freestanding"),
                ("hal/drivers/a.cpp", HEAD + "#include <string.h>\n", "not freestanding"),
                ("tracer/a.cpp", HEAD + 'void f() { asm volatile("nop"); }\n', "arm64"),
                ("hal/drivers/a.cpp", HEAD + '__asm__("nop");\n', "arm64"), ("firmware/demo/a.S", HEAD, "arm64"),
                ("host-tools/cli/commands/check.cpp", HEAD, "take it out of MAY_NAME"),
                ("tests/a.cpp", HEAD + "// Whoever goes, as far as there is room.\n", "as far as"),
                ("hal/a.cpp", HEAD + 'const char* text = "this is Nobody\'s";\n', "name the owner"),
                ("tests/a.cpp", "int a;\n", "SPDX"), ("tracer/a.hpp", HEAD, "#pragma once")]:
            with self.subTest(path=path, words=words):
                self.one(self.reported(path, text), words)
        found = self.reported("tracer/core/a.cpp", HEAD + '#include "tracer/arch/arm64/patch_site.hpp"\n')  # by both rules
        self.assertTrue(any("'arm64' is arm64's" in one for one in found), found)


# ---- doc_rules.py ----

DEV = "usage() {\n  setup   installs\n  test    tests\nEND\n}\n"


class DocRules(Breaking):
    def reported(self, text):
        return list(doc_rules.breaches(self.directory({"dev": DEV, "hal/boards/virt.cpp": "", "docs/a.md": text, "docs/b.md": "# One Thing\n"})))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported("# Here\n[b](b.md#one-thing) [here](#here) `hal/boards/virt.cpp` `hal/boards/*.cpp` "
                                       "`hal/boards/NAME.cpp` `./dev test` [x](https://example.org/x)\n"), [])

    def test_breaches(self):
        for text, said in [("[c](c.md)", "there is no c.md"), ("[b](b.md#two)", "no heading #two"), ("[b](#two)", "no heading #two"),
                           ("`hal/boards/pi.cpp`", "there is no hal/boards/pi.cpp"), ("`hal/boards/*.S`", "there is no hal/boards/*.S"),
                           ("`hal/devices/NAME.cpp`", "there is no hal/devices/NAME.cpp"), ("    ./dev fly\n", "no verb fly"),
                           ("### Z: 0 files\n\nx\n\n### A: 2 files\n\n- [ ] `dev`: x\n\nSee `docs/b.md`\n", "1 files are listed, not 2")]:
            with self.subTest(text=text):
                self.one(self.reported(text), said)

    def test_tests(self):
        for pattern, command in ((doc_rules.CTEST, "ctest -R"), (doc_rules.UNIT, "./dev unit")):
            for names, said in ((f"`{command} NAME` `{command} line`", []), (f'`{command} "line|lion"`', [f"{command} lion selects no test"])):
                self.assertEqual(list(doc_rules.test_breaches(pattern, command, ["cli.line"], names)), said)


# ---- forge_rules.py, version_rules.py ----

FORM = {"name": "n", "description": "d", "body": [
    {"type": "markdown", "attributes": {"value": "v"}},
    {"type": "input", "id": "a", "attributes": {"label": "A"}, "validations": {"required": True}},
    {"type": "dropdown", "id": "b", "attributes": {"label": "B", "options": ["x", "y"]}},
    {"type": "checkboxes", "id": "c", "attributes": {"label": "C", "options": [{"label": "x"}]}}]}
STEPS = [{"uses": "a/b@v1"}, {"run": ".ci/run"}]
HEADER = '#define NOPSCOPE_VERSION "1.2.3"\n#define NOPSCOPE_VERSION_MAJOR 1\n#define NOPSCOPE_VERSION_MINOR 2\n#define NOPSCOPE_VERSION_PATCH 3\n'
SAID = "nopscope 1.2.3\nline: reads formats 2, 3 and 4\nrecording: writes format 2, reads format 2\nbuild: GNU 12.2.0, Release, commit unknown\n"


class ForgeRules(Breaking):
    def test_forms(self):
        self.assertEqual(list(forge_rules.form_breaches(FORM)), [])
        for change, words in [
                (lambda form, body: form.pop("name"), "lacks name"),
                (lambda form, body: form.update(description=True), "description is no text"),
                (lambda form, body: form.update(about="x"), "may not have about"),
                (lambda form, body: form.update(body=[]), "body is no list"),
                (lambda form, body: body[1].update(type="text"), "type is text"),
                (lambda form, body: body[0].update(id="m"), "may not have id"),
                (lambda form, body: body[1]["attributes"].pop("label"), "lacks label"),
                (lambda form, body: body[1]["attributes"].update(render="text"), "may not have render"),
                (lambda form, body: body[1].update(validations={"require": True}), "validations"),
                (lambda form, body: body[2]["attributes"].update(options=["x", "x"]), "two are equal"),
                (lambda form, body: body[3]["attributes"].update(options=["x"]), "is no map"),
                (lambda form, body: body[2].update(id="a"), "two fields have one id"),
                (lambda form, body: form.update(body=body[:1]), "nothing to fill in")]:
            form = copy.deepcopy(FORM)
            change(form, form["body"])
            self.one(forge_rules.form_breaches(form), words)

    def test_the_rest(self):
        def workflow(*steps):
            return forge_rules.workflow_breaches(ROOT, {True: 1, "jobs": {"j": {"runs-on": "u", "steps": steps}}})

        self.assertEqual(list(workflow(*STEPS)), [])
        for wrong, words in [(forge_rules.chooser_breaches({"blank_issues": True}), "blank_issues"),
                             (forge_rules.chooser_breaches({"contact_links": [{"name": "n", "url": "u"}]}), "lacks about"),
                             (workflow({"run": "make"}), "nothing runs"), (workflow(*STEPS, {"uses": "a/b"}), "no version"),
                             (forge_rules.workflow_breaches(ROOT, {"jobs": {"j": {"runs-on": "u", "steps": STEPS}}}), "lacks on")]:
            self.one(wrong, words)

    def test_versions(self):
        log = "## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n## [1.2.2] - 2026-01-01\n"
        header, said, changelog = version_rules.header_breaches, version_rules.said_breaches, version_rules.changelog_breaches
        for right in (header("1.2.3", HEADER), said("1.2.3", SAID), changelog("1.2.4", log)):
            self.assertEqual(list(right), [])
        for wrong, words in [(header("1.2.3", HEADER.replace("MINOR 2", "MINOR 3")), "MINOR is 3"), (said("1.2.4", SAID), "says"),
                             (said("1.2.3", SAID.replace("commit unknown", "commit unknown, Nov 23 2026")), "says"),
                             (changelog("1.2.4", log.replace("## [Unreleased]\n", "")), "neither"),
                             (changelog("1.2.3", log.replace("[1.2.3] - 2026-01-02", "[1.2.3]")), "has no date"),
                             (changelog("1.2.3", log.replace("[1.2.2]", "[1.2.9]")), "do not fall")]:
            self.one(wrong, words)


# ---- api_docs.py ----

# One declaration of each kind.
DOCUMENTED = """/// \\file
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
        return list(api_docs.breaches(self.directory({"docs/Doxyfile": DOXYFILE, "docs/api.md": document, f"{HEADERS}/a.hpp": header})))

    def test_what_is_right_passes(self):
        self.assertEqual(self.reported(DOCUMENTED), [])

    def test_each_kind_of_declaration_needs_a_comment(self):
        for comment, said in [("/// A macro.", "NOPSCOPE_LIMIT"), ("/// An enumeration.", "Status"), (" /** An enumerator. */", "ok"),
                              ("/// A struct.", "Config"), ("  ///< A field.", "cores"), ("/// A function.", "init"),
                              ("/// A function in C.", "nopscope_init"),
                              ("/// An inline function in C.", "nopscope_all")]:
            with self.subTest(comment):
                self.assertIn(comment, DOCUMENTED)
                found = self.reported(DOCUMENTED.replace(comment, comment.replace("///", "//").replace("/**", "/*"), 1))
                self.assertTrue(any(line.startswith(f"{HEADERS}/a.hpp:") and said in line and "is not documented" in line
                                    for line in found), found)

    def test_each_header_and_name_has_a_page(self):
        self.assertIn(f"{HEADERS}/a.hpp:1: no page: its first comment lacks \\file", self.reported(DOCUMENTED.replace("\\file", "")))
        self.one(self.reported(DOCUMENTED.replace("Config::cores.", "Config::count.")), f"{HEADERS}/a.hpp:2: Config::count has no page")
        self.one(self.reported(DOCUMENTED, "# The API\n\nnopscope::start()\n"), "docs/api.md:3: nopscope::start has no page")

    def test_a_command_that_doxygen_does_not_know(self):
        self.one(self.reported(DOCUMENTED.replace("A struct.", "A \\strucct.")), "unknown command")


# ---- c_api_rules.py ----

OVERLOAD = "describe(protocol::EventRefusal why)"


class CApi(unittest.TestCase):
    """Each breach is one change to what the headers declare."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            list(api_docs.run_doxygen(ROOT, directory))
            cls.cpp, cls.c = c_api_rules.read(Path(directory) / "xml")
        cls.layout, cls.source = ((ROOT / name).read_text(encoding="utf-8") for name in (LAYOUT, SOURCE))

    def reported(self, cpp=None, c=None, layout=None, source=None, **exceptions):
        return list(c_api_rules.compared(cpp or self.cpp, c or self.c, layout or self.layout, source or self.source,
                                         replace(EXCEPTIONS, **exceptions)))

    def without(self, name):
        """C's declarations without one."""
        self.assertIn(name, self.c)
        return {other: one for other, one in self.c.items() if other != name}

    def changed(self, name, **change):
        """C's declarations with a change in one."""
        return self.c | {name: replace(self.c[name], **change)}

    def cpp_with(self, name, **change):
        """Those of C++ with a change in one, or without it."""
        self.assertIn(name, [one.in_cpp for one in self.cpp])
        return [replace(one, **change) if one.in_cpp == name else one for one in self.cpp if change or one.in_cpp != name]

    def test_each_breach(self):
        layout = "".join(self.layout.split())
        for change, words in [
                # C lacks a declaration.
                *(({"c": self.without(name)}, f"C has no {in_c or name} for {in_cpp}") for name, in_c, in_cpp in [
                    ("nopscope_set_mode()", None, "set_mode()"), ("nopscope_trigger_arm()", None, "Trigger::arm()"),
                    ("NOPSCOPE_TRIGGER", None, "Trigger::Trigger()"), ("nopscope_trigger.ops", None, "Trigger::Ops"),
                    ("nopscope_config.try_write", None, "Config::Output::try_write"),
                    ("NOPSCOPE_FLIGHT", "NOPSCOPE_MODE_FLIGHT", "Mode::flight"), ("nopscope_describe_event_refusal()", None, OVERLOAD)]),
                # C++ does.
                *(({"cpp": self.cpp_with(in_cpp)}, f"C++ has nothing like {name}") for in_cpp, name in [
                    ("set_mode()", "nopscope_set_mode()"), ("Ops::user", "nopscope_ops.user"), ("Mode::flight", "NOPSCOPE_FLIGHT")]),
                # Parameters, headers, and the two files that compare and read.
                ({"cpp": self.cpp_with("set_mode()", parameters=("now",))}, "nopscope_set_mode() lacks the parameter now of set_mode()"),
                ({"c": self.changed("nopscope_set_mode()", file="b.h")}, "nopscope_set_mode() belongs into nopscope.h: set_mode() is in"),
                ({"source": self.source.replace("from->try_write", "")}, f"{SOURCE}: does not read nopscope_config.try_write"),
                *(({"layout": layout.replace(line.replace(" ", ""), "")}, f"{LAYOUT}: lacks {line}") for line in [
                    "SAME_VALUE(NOPSCOPE_FLIGHT, Mode::flight);", "SAME_TYPE(nopscope_ops, Ops);", "SAME_PLACE(nopscope_ops, Ops, user);"]),
                # Exceptions that are not needed.
                *(({kind: getattr(EXCEPTIONS, kind) | {name: value}}, f"the exception for {name} is not needed") for kind, name, value in [
                    ("absent", "set_mode()", ""), ("absent", "gone()", ""),
                    ("renamed", "set_mode()", ("nopscope_set_mode()", "")), ("renamed", "gone()", ("nopscope_gone()", "")),
                    ("added", "nopscope_set_mode()", ""), ("added", "nopscope_gone()", "")])]:
            with self.subTest(words):
                found = self.reported(**change)
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])

    def test_an_overload_needs_a_name_of_its_own(self):
        renamed = {name: of for name, of in EXCEPTIONS.renamed.items() if name != OVERLOAD}
        found = self.reported(c=self.without("nopscope_describe_event_refusal()"), renamed=renamed)
        self.assertIn("C has no nopscope_describe() for describe(", found[0])

    def test_an_enumerator_of_another_enumeration_does_not_count(self):
        found = self.reported(c=self.changed("NOPSCOPE_FLIGHT", scope=("nopscope_other",)))
        self.assertEqual(["C has no NOPSCOPE_MODE_FLIGHT for Mode::flight" in found[0], "C++ has nothing like NOPSCOPE_FLIGHT" in found[1]],
                         [True, True], found)

    def test_a_struct_that_is_another_has_its_own_fields(self):
        layout = re.sub(r"SAME_(TYPE|PLACE)\(nopscope_ops,.*\n", "", self.layout)
        self.assertEqual(self.reported(c=self.changed("nopscope_ops", comment=""), layout=layout), [])


# ---- code_rules.py ----

BEGIN = 0x40200000
FINISHES_X9, FINISHES_X14 = 32, 64


def rules(*parts):
    """`parts`: (how many instructions, actions), one rule behind the other."""
    made = Rules.__new__(Rules)
    made.begin = made.end = BEGIN
    made.rules = []
    for count, actions in parts:
        made.rules.append(((made.end - BEGIN) // 4, 0, actions))
        made.end += 4 * count
    return made


def faults(parts, *lines):
    code = [(BEGIN + 4 * n, *line.split(" ", 1)) if " " in line else (BEGIN + 4 * n, line, "") for n, line in enumerate(lines)]
    function = types.SimpleNamespace(name="made_up", address=BEGIN, instructions=code)
    return [fault.split(": ", 2)[2] for fault in code_rules.faults_of(rules(*parts), function)]


class Deferral(unittest.TestCase):
    def test_each_rule(self):
        """(parts, what is wrong with it, lines of code)"""
        stores, calls, elsewhere = "stores, and then begins again", "a call with interrupts masked", "goes on where another rule holds"
        other_value = "it has another value if an interrupt was deferred"
        part = [(2, RESTARTS | UNPUSHES)]
        x9, x14 = [(2, FINISHES_X9)], [(2, FINISHES_X14)]
        next_word = f"{BEGIN + 4:x} <made_up+0x4>"
        for parts, fault, *lines in [
                # Code that begins again has stored nothing.
                ([(2, RESTARTS)], stores, "str x1, [x10]", "ret "), ([(1, RESTARTS), (1, 0)], None, "str x1, [x10]", "ret "),
                ([(2, RESTARTS)], None, "stxr w16, x1, [x10]", "ret "),
                # Only the top and its frame are taken back.
                (part, None, "stp x9, x13, [x17]", "str x14, [x10, #24]"),
                (part, "a store that nothing takes back", "str x9, [x15, #8]", "ret "),
                # Code that finishes keeps its exit, and calls nothing.
                (x9, other_value, "add x9, x1, #8", "ret x9"), (x14, other_value, "add x14, x1, #8", "ret x14"),
                (x9, other_value, "str w9, [x2]", "ret x9"), (x14, other_value, "str w14, [x2]", "ret x14"),
                (x9, None, "add x14, x1, #8", "ret x9"), (x14, None, "add x9, x1, #8", "ret x14"),
                (x9, calls, f"bl {BEGIN:x} <made_up>", "ret x9"), (x9, calls, "blr x3", "ret x9"), ([(2, 0)], None, "blr x3", "ret x9"),
                # It goes on only where it finishes alike.
                ([(1, FINISHES_X9), (1, FINISHES_X14)], elsewhere, f"b.ne {next_word}", "ret x14"),
                (x9, None, f"cbz x1, {next_word}", "ret x9"), ([(1, FINISHES_X9)], elsewhere, f"b {BEGIN + 0x400:x} <elsewhere>")]:
            with self.subTest(lines):
                self.assertEqual(faults(parts, *lines), [fault] if fault else [])



# ---- cmake/link_with_names.sh ----

# The second link has one more argument.
LINK = """#!/bin/sh
[ $# -lt 3 ] || {second}
echo "$@" >image.elf
"""
# `names IMAGE -o FILE` and `names IMAGE`: prints the first word of the image.
NOPSCOPE = """#!/bin/sh
cut -d' ' -f1 "$2" >"${4:-/dev/stdout}"
"""


class LinkWithNames(Breaking):
    """With a fake linker and nopscope. A step that fails leaves no image."""

    def linked(self, second=":"):
        at = self.directory({"link": LINK.replace("{second}", second), "nopscope": NOPSCOPE})
        for name in ("link", "nopscope"):
            (at / name).chmod(0o755)
        done = subprocess.run([ROOT / "cmake/link_with_names.sh", at / "nopscope", at / "link", "-o", "image.elf"], cwd=at,
                              stderr=subprocess.PIPE, text=True, check=False)
        image = at / "image.elf"
        return done.returncode, image.read_text() if image.exists() else None, done.stderr

    def test_it(self):
        self.assertEqual(self.linked(), (0, "-o image.elf image.elf.names.s\n", ""), "the second link has the names")
        self.assertEqual(self.linked(second="exit 7")[:2], (7, None))
        status, image, said = self.linked(second="set -- moved $@")
        self.assertEqual((status, image), (1, None))
        self.assertIn("moved or changed names", said)


if __name__ == "__main__":
    unittest.main()
