# SPDX-License-Identifier: Apache-2.0
"""Converts protoc's text form of a message to dictionaries: {field: [values]}."""

import codecs

import exports


def decode(schema, message, path, **options):
    """A field that is not in the schema is an error."""
    with open(path, "rb") as data:
        done = exports.run("protoc", f"--proto_path={schema.parent}", f"--decode={message}", schema.name, stdin=data,
                           **options)
    lines = iter(done.stdout.decode().splitlines())
    return _message(lines)


def _message(lines):
    fields = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            name, value = line[:-2], _message(lines)
        else:
            name, _, text = line.partition(": ")
            value = _value(text)
        if name.isdigit():
            raise AssertionError(f"field {name} is not in the published format")
        fields.setdefault(name, []).append(value)
    return fields


def _value(text):
    if text.startswith('"'):
        return codecs.escape_decode(text[1:-1].encode())[0].decode()
    if text.lstrip("-").isdigit():
        return int(text)
    return text


def one(fields, name, default=None):
    values = fields.get(name, [default])
    assert len(values) == 1, (name, values)
    return values[0]
