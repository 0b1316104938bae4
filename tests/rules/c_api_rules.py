#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that C has the whole API of C++, and nothing else.

    c_api_rules.py ROOT    one line for each breach; exit status 1 if there is any

Doxygen reads both sets of headers. What C++ has in X.hpp, C has in X.h, under a name that follows from that in C++:

    enable()                     nopscope_enable(), with at least the same parameters
    Trigger::arm()               nopscope_trigger_arm(), or nopscope_arm()
    Trigger::Trigger()           NOPSCOPE_TRIGGER, an initialiser
    Config, Config::image        nopscope_config, nopscope_config.image
    Config::Output::try_write    nopscope_config.try_write
    Trigger, which is an Ops     nopscope_trigger.ops
    Mode::flight                 NOPSCOPE_MODE_FLIGHT, or NOPSCOPE_FLIGHT

tracer/runtime/c_layout.cpp compares each value, and each field of a C struct that is "the same object as" one of C++.
tracer/runtime/c_api.cpp reads each field of nopscope_config and nopscope_sites. For a field of Config or Sites that it does
not name, the compiler gives no warning.
"""

import re
import tempfile
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import tree
from api_docs import HEADERS, run_doxygen

LAYOUT = "tracer/runtime/c_layout.cpp"
SOURCE = "tracer/runtime/c_api.cpp"
READ_AS = {"nopscope_config": "from->", "nopscope_sites": "sites."}
BOTH = ("enabled.h", "machine.h", "version.h")  # headers for both languages
ELSEWHERE = {"event_refusal.hpp": "events.h"}  # the host includes the first


@dataclass
class Exceptions:
    """What does not follow the rule, with the reason. An entry that is not needed is a breach."""
    renamed: dict  # C++: (C, reason)
    absent: dict  # C++: reason
    added: dict  # C: reason


EXCEPTIONS = Exceptions(
    renamed={
        "Sites::of()": ("nopscope_functions()", "`of` needs the word Sites before it"),
        "Recorder::none": ("NOPSCOPE_NO_RECORDER", "the name is older than this rule"),
        "Config::calibrate": ("nopscope_config.uncalibrated", "zero is the default, which is true in C++"),
        "Config::keep_over_reset": ("nopscope_config.forgets_at_reset", "zero is the default, which is true in C++"),
        "describe(protocol::EventRefusal why)": ("nopscope_describe_event_refusal()", "C has no overloads"),
    },
    absent={
        "for_each_site()": "a template; C counts to nopscope_site_count()",
        "Sites::chosen()": "only the tracer uses it",
        "Sites::bits": "only the tracer uses it",
        "Sites::listed": "in C nopscope_sites.functions is null or not",
    },
    added={
        "nopscope_sites.function_count": "the size of a span",
        "nopscope_config.except_count": "the size of a span",
        "nopscope_config.profile_memory_bytes": "the size of a span",
    })


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Declaration:
    kind: str  # function, type, field, base or value (an enumerator, a constant, a macro)
    scope: tuple  # the structs or the enumeration that it is in; namespaces are left out
    name: str
    file: str
    line: int
    parameters: tuple  # their names
    arguments: str  # the same as they are written
    comment: str
    is_overload: bool = False  # another function has the same name

    @property
    def at(self):
        return f"{HEADERS}/{self.file}:{self.line}"

    @property
    def in_cpp(self):
        arguments = self.arguments if self.is_overload else "()"
        return "::".join([*self.scope, self.name]) + (arguments if self.kind == "function" else "")

    @property
    def in_c(self):
        if self.kind == "field":
            return f"{self.scope[0]}.{self.name}"
        return f"{self.name}()" if self.kind == "function" else self.name

    def names_in_c(self):
        """The names that a declaration of C++ may have in C, the best one first."""
        whole = "_".join(map(snake, [*self.scope, self.name]))
        if self.kind in ("field", "base"):
            return [f"nopscope_{snake(self.scope[0])}.{snake(self.name)}"]
        if self.kind == "value":
            return [f"NOPSCOPE_{name.upper()}" for name in (whole, self.name)]
        if self.scope and self.name == self.scope[-1]:  # a constructor
            return [f"NOPSCOPE_{snake(self.name).upper()}"]
        return [f"nopscope_{name}{'()' if self.kind == 'function' else ''}" for name in (whole, snake(self.name))]

    def may_be(self, c):
        return self.kind != "value" or not self.scope or c.scope == (f"nopscope_{snake(self.scope[-1])}",)


def declaration(element, kind, scope, name):
    at = element.find("location")
    comment = " ".join(" ".join("".join(element.find(part).itertext()) for part in ("briefdescription", "detaileddescription")).split())
    return Declaration(kind, tuple(scope), name, Path(at.get("file")).name, int(at.get("line")),
                       tuple(parameter.findtext("declname") for parameter in element.findall("param")),
                       element.findtext("argsstring") or "", comment)


def of_member(member, scope):
    """Yields the declarations of a member of a file, a namespace or a struct."""
    kind, name = member.get("kind"), member.findtext("name")
    if kind == "function":
        yield declaration(member, "function", scope, name)
    elif kind == "variable":
        of_its_own = "".join(member.find("type").itertext()).startswith("struct nopscope::")
        if not of_its_own:  # as Config::output: its fields are declarations
            yield declaration(member, "field" if scope else "value", scope, name)
    elif kind == "define":
        yield declaration(member, "value", [], name)
    else:
        yield declaration(member, "type", scope, name)
        for value in member.iter("enumvalue"):
            yield declaration(member, "value", [name], value.findtext("name"))


def of_compound(compound):
    """Yields the declarations of a file, a namespace or a struct."""
    kind, name = compound.get("kind"), compound.findtext("compoundname")
    if kind not in ("file", "namespace", "struct"):
        return
    scope = re.sub(r"^nopscope::(protocol::)?", "", name).split("::") if kind == "struct" else []
    if len(scope) == 1:
        yield declaration(compound, "type", [], scope[0])
    for base in compound.findall("basecompoundref"):
        yield declaration(compound, "base", scope, base.text.split("::")[-1])
    for member in compound.iter("memberdef"):
        yield from of_member(member, scope)


def read(directory):
    """Returns the declarations of C++, and those of C by their names, from Doxygen's XML."""
    found = [one for file in sorted(Path(directory).glob("*.xml"))
             for compound in xml.parse(file).iter("compounddef") for one in of_compound(compound)]
    cpp = [one for one in found if one.file.endswith(".hpp")]
    times = Counter(one.in_cpp for one in cpp)
    cpp = [replace(one, is_overload=times[one.in_cpp] > 1) for one in cpp]
    return cpp, {one.in_c: one for one in found if one.file.endswith(".h") and one.file not in BOTH}


def pairs(cpp, c, exceptions):
    """Returns {C's name: the declaration of C++} and the declarations of C++ that C lacks."""
    found, missing = {}, []
    for one in cpp:
        renamed = exceptions.renamed.get(one.in_cpp)
        names = [renamed[0]] if renamed else one.names_in_c()
        name = next((name for name in names if name in c and name not in found and one.may_be(c[name])), None)
        if name is None:
            missing.append((one, names[0]))
        else:
            found[name] = one
    return found, missing


def differences(found, c):
    """A pair must be in headers of the same name, and C must have all parameters."""
    for name, one in found.items():
        header = ELSEWHERE.get(one.file, f"{Path(one.file).stem}.h")
        if c[name].file != header:
            yield f"{c[name].at}: {name} belongs into {header}: {one.in_cpp} is in {one.file}"
        for parameter in one.parameters if one.kind == "function" and c[name].kind == "function" else ():
            if parameter not in c[name].parameters:
                yield f"{c[name].at}: {name} lacks the parameter {parameter} of {one.in_cpp}"


def unneeded(found, missing, c, exceptions):
    lacked = {one.in_cpp for one, _ in missing}
    by_rule = {one.in_cpp: one.names_in_c() for one in [*found.values(), *(one for one, _ in missing)]}
    yield from (name for name, (in_c, _) in exceptions.renamed.items() if in_c in by_rule.get(name, [in_c]))
    yield from (name for name in exceptions.absent if name not in lacked)
    yield from (name for name in exceptions.added if name not in c or name in found)


def not_compared(found, c, layout):
    """Yields the lines that `layout` should have for values and for objects that are the same."""
    has = re.sub(r"protocol::|\s", "", layout)
    same = {name for name in found if "the same object as" in c[name].comment}
    for name, one in found.items():
        line = None
        if one.kind == "value":
            line = f"SAME_VALUE({name}, {one.in_cpp});"
        elif one.kind == "type" and name in same:
            line = f"SAME_TYPE({name}, {one.in_cpp});"
        elif one.kind == "field" and c[name].scope[0] in same:
            line = f"SAME_PLACE({c[name].scope[0]}, {one.scope[0]}, {one.name});"
        if line and line.replace(" ", "") not in has:
            yield line


def not_read(c, source):
    for name, one in c.items():
        if one.kind == "field" and one.scope[0] in READ_AS and not re.search(rf"\b{READ_AS[one.scope[0]]}{one.name}\b", source):
            yield name


def compared(cpp, c, layout, source, exceptions):
    found, missing = pairs(cpp, c, exceptions)
    for one, name in missing:
        if one.in_cpp not in exceptions.absent:
            yield f"{one.at}: C has no {name} for {one.in_cpp}"
    for name, one in c.items():
        if name not in found and name not in exceptions.added:
            yield f"{one.at}: C++ has nothing like {name}"
    yield from differences(found, c)
    for name in unneeded(found, missing, c, exceptions):
        yield f"{Path(__file__).name}: the exception for {name} is not needed"
    for line in not_compared(found, c, layout):
        yield f"{LAYOUT}: lacks {line}"
    for name in not_read(c, source):
        yield f"{SOURCE}: does not read {name}"


def breaches(root):
    with tempfile.TemporaryDirectory(prefix="nopscope-c-api-") as directory:
        yield from run_doxygen(root, directory)
        cpp, c = read(Path(directory) / "xml")
    if not cpp or not c:
        yield f"{HEADERS}: no headers of C++, or none of C"
    texts = ((root / name).read_text(encoding="utf-8") for name in (LAYOUT, SOURCE))
    yield from compared(cpp, c, *texts, EXCEPTIONS)


if __name__ == "__main__":
    tree.main(breaches, __doc__)
