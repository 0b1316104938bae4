#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SHIPPING.md's sizes are those of the tracer's memory in firmware/examples/own-startup: of its sections, from the linker's map.
The smallest configuration boots, and its recording is exact. Sizes are not compared if the compiler is not the page's.

    footprint.py --update     prints the tables, and writes them into SHIPPING.md
    footprint.py              tests them

Environment: as tests/guide/integration_test.py.
"""

import collections
import pathlib
import re
import sys
import unittest

import empty_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/guide"))
import integration_test as integration  # noqa: E402  puts tests/e2e on the path
import machines  # noqa: E402

PAGE = ROOT / "SHIPPING.md"
MARKS = ("<!-- footprint: written by tests/shipping/footprint.py --update -->\n", "<!-- /footprint -->\n")
# The smallest ring has 2^13 bytes.
RING_LOG2, FRAMES = 13, 32
# The smallest tested configuration has these limits, too.
SMALL = {"LIST_UNITS": 64, "MOVED_SITES": 16, "SELECTABLE_SITES": 1024}
GC = "MORE_LDFLAGS=-Wl,--gc-sections"
KINDS = {".text": "code", ".rodata": "constants", ".data": "data", ".bss": "zeroed", ".nopscope.ring": "ring"}
# An input section of the tracer in a map. A long name has a separate line.
CONTRIBUTION = re.compile(r"^ (\.text|\.rodata|\.data|\.bss|\.nopscope\.ring)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)"
                          r" \S*libnopscope_tracer\.a\(", re.M)


def package(directory, name, level, cores, limits=()):
    """Installs the library and returns its prefix."""
    prefix = directory / name / "prefix"
    integration.cmake(ROOT, directory / name, *integration.PACKAGE, f"-DCMAKE_BUILD_TYPE={level}",
                      f"-DNOPSCOPE_CORES={cores}", f"-DNOPSCOPE_RING_LOG2={RING_LOG2}", f"-DNOPSCOPE_SHADOW_FRAMES={FRAMES}",
                      *(f"-DNOPSCOPE_{name}={value}" for name, value in dict(limits).items()), f"-DCMAKE_INSTALL_PREFIX={prefix}")
    integration.run("cmake", "--install", directory / name)
    return prefix


def sizes(map_file):
    text = map_file.read_text()
    found = collections.Counter()
    for section, size in CONTRIBUTION.findall(text[text.index("Linker script and memory map"):]):
        found[KINDS[section]] += int(size, 16)
    return found


def measure(directory):
    """Returns (sizes by column, the smallest image)."""
    columns = {}
    fast, fast_two, small = (package(directory, *of) for of in (
        ("O2", "RelWithDebInfo", 1), ("O2-2", "RelWithDebInfo", 2), ("Os", "MinSizeRel", 1, SMALL)))
    for name, prefix, more in (("-O2", fast, ()), ("-O2, gc", fast, (GC,)), ("two", fast_two, ()), ("smallest", small, (GC,))):
        out = directory / name.replace(", ", "-")
        image = integration.make(out, prefix, *more)
        columns[name] = sizes(out / "foreign.map")
    return columns, image


def compiler():
    return integration.run(integration.CROSS + "gcc", "-dumpfullversion").strip()


def tables(columns):
    names = ["-O2", "-O2, gc", "smallest"]

    def row(label, *kinds):
        numbers = [f"{sum(columns[name][kind] for kind in kinds):,}" for name in names]
        return f"| {label} | " + " | ".join(numbers) + " |\n"

    two, one = columns["two"], columns["-O2"]
    ring = 1 << RING_LOG2
    limits = [f"`NOPSCOPE_{name}={value}`" for name, value in SMALL.items()]
    return (f"GCC {compiler()}, bytes, one core, `NOPSCOPE_RING_LOG2={RING_LOG2}`, `NOPSCOPE_SHADOW_FRAMES={FRAMES}`;\n"
            f"*gc*: linked with `--gc-sections`; *smallest*: gc, -Os, {limits[0]},\n{', '.join(limits[1:])}:\n\n"
            "| | -O2 | -O2, gc | smallest |\n|---|---:|---:|---:|\n"
            + row("code", "code") + row("constants", "constants") + row("initialised data", "data")
            + row("zeroed data", "zeroed") + row("ring and shadow stack, not zeroed", "ring")
            + row("**flash**: code, constants, initialised data", "code", "constants", "data")
            + row("**RAM**: all but code and constants", "data", "zeroed", "ring")
            + f"\nA further core takes {two['zeroed'] - one['zeroed']:,} bytes of zeroed data, "
            f"{two['ring'] - one['ring'] - ring:,} of shadow stack\nand descriptions, and its ring.\n")


def parts():
    """Returns the page before, in and after the tables."""
    before, rest = PAGE.read_text().split(MARKS[0])
    table, after = rest.split(MARKS[1])
    return before, table, after


class Footprint(integration.Integration):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(machines.Directory())
        cls.columns, cls.smallest = measure(cls.directory)

    def test_the_page_has_what_is_measured(self):
        page = parts()[1]
        if f"GCC {compiler()}," not in page:
            self.skipTest(f"the page is not about GCC {compiler()}")
        self.assertEqual(page, tables(self.columns), "if this is meant: tests/shipping/footprint.py --update")

    def test_the_smallest_configuration_records_exactly(self):
        machines.nopscope("check", self.smallest)
        for cpu in ("max", "cortex-a72"):
            self.assert_profiled(self.smallest, cpu)

    def test_cmake_s_option_leaves_nothing(self):
        for name, where in (("found", f"-DCMAKE_PREFIX_PATH={self.directory / 'O2/prefix'}"), ("added", f"-DNOPSCOPE_SOURCE={ROOT}")):
            for enabled in ("OFF", "ON"):
                build = self.directory / f"{name}-{enabled}"
                integration.run("cmake", "-S", integration.HERE / "project", "-B", build, "-G", "Ninja", *integration.PROJECT,
                                where, f"-DNOPSCOPE_ENABLED={enabled}")
                if enabled == "OFF":
                    integration.run("cmake", "--build", build)
                    self.assertEqual(empty_test.remains(build / "foreign.elf"), [])
                else:
                    self.assertIn("patchable", (build / "build.ninja").read_text())

    def test_the_package_has_the_tracer(self):
        with self.assertRaisesRegex(AssertionError, "NOPSCOPE_ENABLED=OFF is for the project of a firmware"):
            integration.cmake(ROOT, self.directory / "off", *integration.PACKAGE, "-DNOPSCOPE_ENABLED=OFF")

    def test_sizes_are_those_of_the_image(self):
        # The firmware's memory: code, two page tables, and the padding to its pages.
        own = 12288
        listed = dict(re.findall(r"^(\.\S+)\s+(\d+)", integration.run(integration.CROSS + "size", "-A", self.smallest), re.M))
        self.assertEqual(int(listed[".nopscope.ring"]), self.columns["smallest"]["ring"])
        for section, kind in ((".text", "code"), (".data", "data"), (".bss", "zeroed")):
            self.assertLess(self.columns["smallest"][kind], int(listed[section]))
            self.assertLess(int(listed[section]) - self.columns["smallest"][kind], own)

    def test_a_byte_more_is_noticed(self):
        more = {name: collections.Counter(sizes) for name, sizes in self.columns.items()}
        more["smallest"]["code"] += 1
        self.assertNotEqual(tables(more), tables(self.columns))


def update():
    with machines.Directory() as directory:
        text = tables(measure(directory)[0])
    print(text)
    before, _, after = parts()
    PAGE.write_text(before + MARKS[0] + text + MARKS[1] + after)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:  # without the inherited tests
        unittest.main(defaultTest=[f"Footprint.{name}" for name in vars(Footprint) if name.startswith("test_")])
