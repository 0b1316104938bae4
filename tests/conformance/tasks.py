# SPDX-License-Identifier: Apache-2.0
"""The second reader (decode.py) reads tasks here: their names and facts, and what records tell of them.

It was written from the text in tracer/protocol/tasks.hpp and tracer/protocol/record.hpp."""
from collections import Counter, defaultdict

from trace2 import CONTEXT, EXTENDED, TASK, Malformed, Varints

LEFT, READY, TAKES, GIVES, WAITS = 1, 2, 3, 4, 5
HOW_LEFT = ("unknown", "preempted", "blocked", "gave_way", "ended")
SEVERAL = (1 << 25) - 1
MOST_CORES, MOST_NAME_BYTES = 256, 31
FIELDS = ("number", "core", "flags", "priority", "id", "stack_low", "stack_bytes", "stack_used")
INTERRUPTS, ENDED = 1, 2  # flags


def name_in(item):
    count = item.next()
    if count > MOST_NAME_BYTES:
        raise Malformed(f"a name of {count} bytes")
    return item.take(count)


def read_frame(payload):
    """Returns [fields of a context] and [(id, name) of an object]."""
    contexts, objects, numbers = [], [], Varints(payload)
    while numbers.more():
        what = numbers.take(1)[0]
        item = Varints(numbers.take(numbers.next()))
        if what == 0:
            fields = {name: item.next() for name in FIELDS} | {"name": name_in(item)}
            if fields["number"] > SEVERAL or fields["core"] > MOST_CORES:
                raise Malformed(f"context {fields['number']} of core {fields['core']} - 1")
            contexts.append(fields)
        elif what == 1:
            objects.append((item.next(), name_in(item)))
    return contexts, objects


class Tasks:
    """By session, from 0: the last facts of each context, and the counts of records. Context 0 is each core's own."""

    def __init__(self):
        self.facts, self.names = {}, {}
        self.left, self.ready, self.of_objects = defaultdict(Counter), Counter(), defaultdict(Counter)

    @staticmethod
    def key(session, core, number):
        return session, number, 0 if number else core

    def frame(self, session, payload):
        contexts, objects = read_frame(payload)
        for fields in contexts:
            if fields["number"] != SEVERAL and (fields["number"] or fields["core"]):
                self.facts[self.key(session, fields["core"] - 1, fields["number"])] = fields
        for number, name in objects:
            self.names[session, number] = name

    def report_of(self, session, core, number):
        """What a report says of this context, besides its times."""
        said, key = {}, self.key(session, core, number)
        if key in self.facts:
            of = self.facts[key]
            said = {"name": text(of["name"]), "priority": of["priority"], "id": of["id"],
                    "interrupts": bool(of["flags"] & INTERRUPTS), "ended": bool(of["flags"] & ENDED)}
            if of["stack_bytes"]:
                said["stack"] = {"low": hex(of["stack_low"]), "bytes": of["stack_bytes"], "used": of["stack_used"]}
        if (session, core, number) in self.left:
            said["switched_away"] = {how: self.left[session, core, number][how] for how in HOW_LEFT}
        if self.ready[key]:
            said["ready"] = self.ready[key]
        return said

    def objects(self):
        """{(session, id): (name or None, takes, gives, waits)}."""
        return {key: (text(self.names[key]) if key in self.names else None,
                      *(self.of_objects[key][fact] for fact in (TAKES, GIVES, WAITS)))
                for key in self.names.keys() | self.of_objects.keys()}


class OfCore:
    """The records of one core in one session."""

    def __init__(self, tasks, session, core):
        self.tasks, self.session, self.core = tasks, session, core
        self.before = None  # the context that ran before the last `context` record

    def gap(self):
        self.before = None

    def record(self, kind, value, current):
        """`current`: the context that ran before this record."""
        if kind == EXTENDED and value & 15 == CONTEXT:
            self.before = current
        elif kind == EXTENDED and value & 15 == TASK and value >> 4 & 31 == LEFT:
            if self.before not in (None, SEVERAL):
                how = value >> 14 & 7
                name = HOW_LEFT[how] if how < len(HOW_LEFT) else HOW_LEFT[0]
                self.tasks.left[self.session, self.core, self.before][name] += 1
            self.before = None

    def take(self, argument, data):
        """Takes the data behind a task's record. Returns whether it is complete."""
        fact, words = argument & 31, argument >> 5 & 31
        if len(data) == words:
            if fact == READY and data[0] < SEVERAL:
                self.tasks.ready[Tasks.key(self.session, self.core, data[0])] += 1
            elif fact in (TAKES, GIVES, WAITS):
                self.tasks.of_objects[self.session, data[0]][fact] += 1
        return len(data) >= words


def text(name):
    """UTF-8; each byte that is none becomes U+FFFD."""
    return "".join("\ufffd" if 0xDC80 <= ord(char) <= 0xDCFF else char for char in name.decode("utf-8", "surrogateescape"))
