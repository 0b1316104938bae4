# SPDX-License-Identifier: Apache-2.0
"""The list of mutants: mutants/*.toml, one for each part of the protocol; host_*.toml: the host's.

    [files]                                      # from the repository's root, each with what kills its mutants
    "tracer/patching/patcher.hpp" = ["unit transition_planner_test *"]   # tried in this order (killers.py)

    [mutants]
    name = ["What the tracer does, and this mutant does not.", "kept [-removed-]{+added+} kept", "KILLER", ...]

The second string is a change in the manner of git's word diff. What it keeps and removes must be exactly once in one of the files,
with any line breaks. It may have more white space than the source, so that none of it looks like a mark (`at[ -1]`). What it adds
is written as it is, and what it keeps stays as it is in the file. Killers follow only if they are other than the file's.
"""

import dataclasses
import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Wrong(Exception):
    """The list is wrong. The message is one sentence."""


def parsed(change):
    """Returns a pattern of what the change keeps and removes, whatever white space the formatter has put between its words and
    signs, and the list of what replaces each of the pattern's groups."""
    pattern, added, before = "", [], ""
    for token in re.findall(r"\[-|-\]|\{\+.*?\+\}|\w+|\s+|[^\w\s]", change, re.DOTALL):
        if token == "[-":
            pattern += "("
            added.append("")
        elif token == "-]":
            pattern += ")"
        elif token.startswith("{+") and token.endswith("+}"):
            pattern += "()"
            added.append(token[2:-2])
        elif token.isspace():
            pattern += r"\s*" if before else ""
        else:
            between_words = before[-1:].isidentifier() and token[0].isidentifier()
            pattern += (r"\s*" if before else "") + (r"\b" if between_words else "") + re.escape(token)
            before = token
    return re.compile(pattern), added


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    part: str        # the list's file name
    step: str
    file: str        # from the repository's root
    change: str
    killed_by: tuple

    def places(self):
        """Returns how often what the change keeps and removes is in the file."""
        return len(parsed(self.change)[0].findall(content_of(self)))

    def source(self):
        """Returns the whole file with the mutation."""
        content = content_of(self)
        pattern, added = parsed(self.change)
        match = pattern.search(content)
        source, at = "", 0
        for group, text in enumerate(added, 1):
            source += content[at:match.start(group)] + text
            at = match.end(group)
        return source + content[at:]


def content_of(mutant):
    try:
        return (ROOT / mutant.file).read_text(encoding="utf-8")
    except OSError as error:
        raise Wrong(f"{mutant.part}.toml: {mutant.name}: there is no file {mutant.file}") from error


def mutant_of(part, files, name, row):
    if not isinstance(row, list) or len(row) < 2:
        raise Wrong(f"{part}.toml: {name}: it has no step, or no change")
    step, change, *killed_by = row
    try:
        found = {mutant: mutant.places() for mutant in (
            Mutant(name, part, step, file, change, tuple(killed_by or killers)) for file, killers in files.items())}
    except re.error as error:
        raise Wrong(f"{part}.toml: {name}: its marks [- and -] are not in pairs") from error
    if sum(found.values()) != 1:
        raise Wrong(f"{part}.toml: {name}: its text occurs {sum(found.values())} times in {', '.join(files)}, not once: "
                    "make it again what the step is there")
    mutant = max(found, key=found.get)
    if not mutant.killed_by:
        raise Wrong(f"{part}.toml: {name}: it has no killers")
    if mutant.source() == content_of(mutant):
        raise Wrong(f"{part}.toml: {name}: nothing is changed")
    return mutant


def load(directory=HERE / "mutants"):
    """Loads all mutants and looks for each one's text."""
    mutants = []
    for file in sorted(directory.glob("*.toml")):
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise Wrong(f"{file.name}: {error}") from error
        stray = content.keys() - {"files", "mutants"}
        if stray:
            raise Wrong(f"{file.name}: no such key: {', '.join(sorted(stray))}")
        mutants += [mutant_of(file.stem, content.get("files", {}), name, row) for name, row in content.get("mutants", {}).items()]
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Wrong(f"two mutants of one name: {', '.join(twice)}")
    return mutants
