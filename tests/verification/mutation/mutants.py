# SPDX-License-Identifier: Apache-2.0
"""The list of mutants: mutants/*.toml, one for each part of the protocol; host_*.toml: the host's.

    [files]                                      # from the repository's root, each with what kills its mutants
    "tracer/patching/patcher.hpp" = ["unit transition_planner_test *"]   # tried in this order (killers.py)

    [name-of-the-mutant]
    step = "What the tracer does, and this mutant does not."
    text = "..."                                 # exactly once in one of the files, with any line breaks
    by = "..."                                   # the replacement; nothing if absent
    file = "..."                                 # only if the text is in several of the files
    killed_by = [...]                            # only if other killers than the file's
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

    def places(self):
        """Returns how often the text is in the file."""
        return len(anyhow_spaced(self.text).findall(content_of(self)))

    def source(self):
        """Returns the whole file with the mutation."""
        return anyhow_spaced(self.text).sub(lambda _: self.by.strip(), content_of(self))


def content_of(mutant):
    try:
        return (ROOT / mutant.file).read_text(encoding="utf-8")
    except OSError as error:
        raise Wrong(f"{mutant.part}.toml: {mutant.name}: there is no file {mutant.file}") from error


def mutant_of(part, files, name, entry):
    unknown = set(entry) - {"step", "text", "by", "file", "killed_by"}
    if unknown:
        raise Wrong(f"{part}.toml: {name}: no such key: {', '.join(sorted(unknown))}")
    missing = [key for key in ("step", "text") if not entry.get(key)]
    if missing:
        raise Wrong(f"{part}.toml: {name}: it has no {', '.join(missing)}")
    candidates = [entry["file"]] if "file" in entry else list(files)
    found = {mutant: mutant.places() for mutant in (
        Mutant(name, part, entry["step"], file, entry["text"], entry.get("by", ""),
               tuple(entry.get("killed_by") or files.get(file, ()))) for file in candidates)}
    if sum(found.values()) != 1:
        raise Wrong(f"{part}.toml: {name}: its text occurs {sum(found.values())} times in {', '.join(candidates)}, not once: "
                    "make it again what the step is there")
    mutant = max(found, key=found.get)
    if not mutant.killed_by:
        raise Wrong(f"{part}.toml: {name}: it has no killed_by")
    if mutant.by == mutant.text:
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
        files = content.pop("files", {})
        stray = [name for name, entry in content.items() if not isinstance(entry, dict)]
        if stray:
            raise Wrong(f"{file.name}: no such key: {', '.join(stray)}")
        mutants += [mutant_of(file.stem, files, name, entry) for name, entry in content.items()]
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Wrong(f"two mutants of one name: {', '.join(twice)}")
    return mutants
