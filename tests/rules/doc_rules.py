#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the things exist which the documents name.

    doc_rules.py ROOT [BUILD]   one line for each breach; exit status 1 if there is any

In each Markdown file: links to files and headings, paths of the tree in `code` and in indented or
fenced blocks, and verbs of ./dev. With BUILD (the host's build directory), also the tests that a
`ctest -R` selects. A path with a word in capitals (hal/boards/NAME.cpp) names a file that the
reader writes: its directory must exist. A list of tasks names as many files as its heading says.
"""

import re
import subprocess
from pathlib import Path

import tree

ROOMS = ("tracer", "hal", "linker", "firmware", "host-tools", "tests", "cmake", "docs", r"\.github", r"\.ci")
TREE_PATH = re.compile(rf"(?<![\w./~$-])((?:{'|'.join(ROOMS)})/[\w./*+-]*[\w*+-]/?)")
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
VERB = re.compile(r"\./dev ([a-z][a-z-]*)")
UNIT = re.compile(r"\./dev unit (\"[^\"]+\"|[\w|]+)")
CTEST = re.compile(r"ctest\b[^`\n]*? -R (\"[^\"]+\"|'[^']+'|[^\s`]+)")
# Paths in the firmware of the guide's reader (docs/integration.md), and images.
NOT_OF_THE_TREE = re.compile(r"^firmware/(Makefile|main\.c|[\w-]+\.(elf|img))$")


def markdown(root):
    return [name for name in tree.files(root) if name.endswith(".md")]


def anchors(text):
    """Yields the anchors that a forge makes of headings."""
    for heading in re.findall(r"^#+ (.*?)\s*$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link_breaches(root, file, text):
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target) or target.startswith("../../"):  # a page of the forge
            continue
        path, _, anchor = target.partition("#")
        at = (root / file).parent / path if path else root / file
        if not at.exists():
            yield f"there is no {target}"
        elif anchor and at.suffix == ".md" and anchor not in anchors(at.read_text(encoding="utf-8")):
            yield f"{path or file} has no heading #{anchor}"


def path_exists(root, path):
    if re.search(r"(?<![A-Z])[A-Z]{2,}(?![A-Z])", Path(path).name) and not (root / path).exists():
        path = str(Path(path).parent)
    if "*" in path:
        return any(root.glob(path))
    return (root / path).exists() or any((root / path).parent.glob(Path(path).name + ".*"))  # NAME.{hpp,cpp}


def path_breaches(root, text):
    for path in TREE_PATH.findall(text):
        if not NOT_OF_THE_TREE.match(path) and not path_exists(root, path.rstrip("/")):
            yield f"there is no {path}"


def verb_breaches(root, text):
    usage = (root / "dev").read_text(encoding="utf-8").split("usage()")[1].split("END\n}")[0]
    verbs = set(re.findall(r"^  ([a-z][a-z-]*)\b", usage, re.MULTILINE)) | {"help"}
    for verb in VERB.findall(text):
        if verb not in verbs:
            yield f"./dev has no verb {verb}"


def count_breaches(text):
    """A list of tasks under "### NAME: N files" must name N files before its colons."""
    for heading, count, section in re.findall(r"^### ([^\n]*): (\d+) files$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL):
        items = re.findall(r"^- \[ \] (.*?)(?=^\S|^$|\Z)", section, re.MULTILINE | re.DOTALL)
        files = {path for item in items for path in re.findall(r"`([\w./-]+)`", item.split(": ")[0])}
        if len(files) != int(count):
            yield f"{heading}: {len(files)} files are listed, not {count}"


def unit_tests(root):
    return [f"{suite}.{name}" for source in sorted((root / "tests").glob("unit/**/*.cpp")) for suite, name in
            re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+), (\w+)\)", source.read_text(encoding="utf-8"), re.MULTILINE)]


def ctest_names(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"Test +#\d+: (\S+)", listed)


def test_breaches(pattern, command, tests, text):
    for words in pattern.findall(text):
        for one in words.strip("'\"").split("|"):
            if not re.fullmatch(r"[A-Z]+", one) and not any(re.search(one, name) for name in tests):
                yield f"{command} {one} selects no test"


def breaches(root, build=None):
    named = [(UNIT, "./dev unit", unit_tests(root)), *([(CTEST, "ctest -R", ctest_names(build))] if build else [])]
    for file in markdown(root):
        text = (root / file).read_text(encoding="utf-8")
        found = [*link_breaches(root, file, text), *path_breaches(root, text), *verb_breaches(root, text), *count_breaches(text)]
        for pattern, command, tests in named:
            found += test_breaches(pattern, command, tests, text)
        for reason in dict.fromkeys(found):
            yield f"{file}: {reason}"


if __name__ == "__main__":
    tree.main(breaches, __doc__, most=2)
