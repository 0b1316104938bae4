# SPDX-License-Identifier: Apache-2.0
"""The list of mutants: mutants/*.toml, one for each part of the protocol; host_*.toml: the host's.

    file = "tracer/patching/patcher.hpp"         # for all mutants here that name no other file
    killed_by = ["unit transition_planner_test *"]  # the same; tried in this order (killers.py)

    [name-of-the-mutant]
    step = "What the tracer does, and this mutant does not."
    text = '''...'''                             # exactly once in the file, with any line breaks
    by = '''...'''                               # the replacement; nothing if absent
"""

import dataclasses
import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Wrong(Exception):
    """The list is wrong. The message is one sentence."""


def anyhow_spaced(text):
    """Finds `text`, whatever white space the formatter has put between its words and signs."""
    tokens = re.findall(r"\w+|[^\w\s]", text)
    spaces = (r"\s+" if left[-1].isidentifier() and right[0].isidentifier() else r"\s*" for left, right in zip(tokens, tokens[1:]))
    return re.compile("".join(re.escape(token) + space for token, space in zip(tokens, [*spaces, ""])))


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    part: str        # the list's file name
    step: str
    file: str        # from the repository's root
    text: str
    by: str
    killed_by: tuple
    short: bool      # it is in the short run, too

    def source(self):
        """Returns the whole file with the mutation."""
        try:
            whole = (ROOT / self.file).read_text(encoding="utf-8")
        except OSError as error:
            raise Wrong(f"{self.part}.toml: {self.name}: there is no file {self.file}") from error
        there = anyhow_spaced(self.text)
        times = len(there.findall(whole))
        if times != 1:
            raise Wrong(f"{self.part}.toml: {self.name}: its text occurs {times} times in {self.file}, not once: "
                        "make it again what the step is there")
        if self.by == self.text:
            raise Wrong(f"{self.part}.toml: {self.name}: nothing is changed")
        return there.sub(lambda _: self.by.strip(), whole)


def mutant_of(part, defaults, name, entry):
    unknown = set(entry) - {"step", "text", "by", "file", "killed_by", "short"}
    if unknown:
        raise Wrong(f"{part}.toml: {name}: no such key: {', '.join(sorted(unknown))}")
    entry = {**defaults, "by": "", "short": False, **entry}
    missing = [key for key in ("step", "text", "file", "killed_by") if not entry.get(key)]
    if missing:
        raise Wrong(f"{part}.toml: {name}: it has no {', '.join(missing)}")
    return Mutant(name, part, entry["step"], entry["file"], entry["text"], entry["by"],
                  tuple(entry["killed_by"]), entry["short"])


def load(directory=HERE / "mutants"):
    """Loads all mutants and looks for each one's text."""
    mutants = []
    for file in sorted(directory.glob("*.toml")):
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise Wrong(f"{file.name}: {error}") from error
        defaults = {key: value for key, value in content.items() if not isinstance(value, dict)}
        mutants += [mutant_of(file.stem, defaults, name, entry)
                    for name, entry in content.items() if isinstance(entry, dict)]
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Wrong(f"two mutants of one name: {', '.join(twice)}")
    for mutant in mutants:
        mutant.source()
    return mutants
