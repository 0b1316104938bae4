#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the public headers are documented.

    api_docs.py ROOT    one line for each breach; exit status 1 if there is any

Doxygen makes the pages of ./dev docs without a warning, and each header has a page. Names in
docs/api.md and in the headers' comments must exist: nopscope::init(), Status::ok, pump().
"""

import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import tree

HEADERS = "tracer/include/nopscope"
NO_PAGE = ("empty.h", "empty.hpp")  # they have the functions again, without bodies
# A name with its scope, or a function's name. Not a path or a part of one.
MENTIONED = re.compile(r"(?<![\w/.:])(?:::)?((?:\w+::)+\w+|\w+(?=\(\)))")


def run_doxygen(root, directory):
    """Yields warnings. Makes `directory`/tags (documented names) and `directory`/xml (comments)."""
    configuration = (root / "docs/Doxyfile").read_text(encoding="utf-8")
    done = subprocess.run(["doxygen", "-"], cwd=root, text=True, capture_output=True, check=False,
                          input=f"{configuration}\nOUTPUT_DIRECTORY={directory}\nGENERATE_TAGFILE={directory}/tags\n"
                                "GENERATE_XML=YES\nXML_PROGRAMLISTING=NO\nSTRIP_FROM_PATH=.\n")
    lines = (line.removeprefix(f"{root.resolve()}/") for line in done.stderr.splitlines() if line.strip())
    yield from dict.fromkeys(lines)
    if done.returncode and not done.stderr:
        yield f"doxygen: exit status {done.returncode}"


def enumerators_without_comment(directory):
    """Doxygen 1.9.4 does not warn about these."""
    found = set()
    for file in directory.glob("*.xml"):
        for enumeration in xml.parse(file).iter("memberdef"):
            at = enumeration.find("location")
            for value in enumeration.iter("enumvalue"):
                texts = value.findall("briefdescription") + value.findall("detaileddescription")
                if not any("".join(text.itertext()).strip() for text in texts):
                    found.add(f"{at.get('file')}:{at.get('line')}: enumerator {value.findtext('name')} is not documented")
    return sorted(found)


def names_of(tags):
    """Returns (headers, names with a page), such as nopscope::Status::ok, Status::ok and ok."""
    headers, names = set(), set()
    for compound in tags.iter("compound"):
        name = compound.findtext("name")
        if compound.get("kind") == "file":
            headers.add(name)
        scopes = [name] if compound.get("kind") in ("namespace", "struct", "class") else []
        found = [scopes]
        for member in compound.iter("member"):
            found.append([*scopes, member.findtext("name")])
            found += ([*scopes, member.findtext("name"), value.text] for value in member.iter("enumvalue"))
        for parts in found:
            parts = "::".join(parts).split("::")
            names.update("::".join(parts[n:]) for n in range(len(parts)))
    return headers, names


def comments(file):
    """Yields (number, text) of the lines that Doxygen reads: of a document, or of a header."""
    code = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if file.suffix == ".md":
            code ^= line.startswith("```")
            text = "" if code else line
        else:
            text = line.partition("///")[2]
        if text and not text.startswith("     "):  # not an example
            yield number, text


def breaches(root):
    with tempfile.TemporaryDirectory(prefix="nopscope-api-") as directory:
        yield from run_doxygen(root, directory)
        tags = Path(directory) / "tags"
        if not tags.exists():
            return
        yield from enumerators_without_comment(Path(directory) / "xml")
        with_page, names = names_of(xml.parse(tags))
    headers = sorted(path for path in (root / HEADERS).iterdir() if path.name not in NO_PAGE)
    if not headers:
        yield f"{HEADERS}: no headers"
    for header in headers:
        if header.name not in with_page:
            yield f"{HEADERS}/{header.name}:1: no page: its first comment lacks \\file"
    for file in [root / "docs/api.md", *headers]:
        for number, text in comments(file):
            for name in MENTIONED.findall(text):
                if name not in names:
                    yield f"{file.relative_to(root)}:{number}: {name} has no page"


if __name__ == "__main__":
    tree.main(breaches, __doc__)
