#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the tracer's memory in firmware/examples/own-startup, for SHIPPING.md's tables.

    footprint.py [--update]

Prints the tables. --update writes them into SHIPPING.md, between its marks. Sizes are of the
tracer's sections, from the linker's map. Environment: as tests/guide/integration_test.py.
"""

import collections
import pathlib
import re
import sys

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


def main():
    with machines.Directory() as directory:
        text = tables(measure(directory)[0])
    print(text)
    if sys.argv[1:] == ["--update"]:
        before, _, after = parts()
        PAGE.write_text(before + MARKS[0] + text + MARKS[1] + after)
    elif sys.argv[1:]:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
