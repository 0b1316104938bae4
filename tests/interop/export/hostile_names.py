# SPDX-License-Identifier: Apache-2.0
"""A recording with functions whose names may confuse a format."""

import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))
from nsc2 import chunks  # noqa: E402
from trace2 import Varints, crc32c  # noqa: E402

NAMES = [
    b'quote"back\\slash', b"new\nline\rreturn", b"semi;colon;", b"=1+1", b"@SUM(A1)", b"-2", b"+3", b"tab\there",
    b"not utf-8: \xff\xfe\xc0\x80", b"", b" ", b"(1)", b"()", b"nul\0byte", b"<b>&amp;</b>", b"'; DROP TABLE x; --",
    b"%s%n%d", b"{json}[1,2]", b"comma, comma", b"x" * 5000, b"operator new[](unsigned long)",
    "\u00fcml\u00e4ut \u202e\u2028".encode(), b"\x1b[31mred\x1b[0m", b"\\n\\x00", b"a:b/c", b"fn=(2) x", b"$(id) `id`",
    b"*/ } ; env { a = 1; }", b"same", b"same",
]

FILE_HEADER = 16


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def text(data):
    return varint(len(data)) + data


def name(number):
    """Returns a function's name. Repeated names get a number, so that few functions share one."""
    again, which = divmod(number, len(NAMES))
    return NAMES[which] + (b"" if again == 0 else b"%d" % again)


def without_nul(name):
    """The name in perfetto and chrome: Perfetto ends a name at a NUL."""
    return name.replace("\0", "\\x00")


def renamed_symbols(payload):
    """Gives every function that has a site a hostile name and file (docs/nsc-format.md, SYMB)."""
    reader = Varints(payload)

    def one_text():
        return reader.take(reader.next())

    out = text(one_text()) + text(one_text()) + reader.take(4)
    count = reader.next()
    out += varint(count)
    for number in range(count):
        out += varint(reader.next()) + varint(reader.next())
        one_text(), one_text()
        out += text(name(number)) + text(name(number + 1)) + varint(reader.next())
    return out + payload[reader.at:]


def changed(recording, change):
    """The recording with the chunks' payloads that `change` makes of (type, payload). None: without the chunk."""
    payloads = ((kind, change(kind, payload)) for kind, payload in chunks(recording))
    return recording[:FILE_HEADER] + b"".join(chunk(int.from_bytes(kind.encode(), "little"), payload)
                                              for kind, payload in payloads if payload is not None)


def renamed(recording):
    return changed(recording, lambda kind, payload: renamed_symbols(payload) if kind == "SYMB" else payload)


def chunk(kind, payload):
    header = struct.pack("<III", kind, len(payload), crc32c(payload))
    return header + struct.pack("<I", crc32c(header)) + payload
