# SPDX-License-Identifier: Apache-2.0
"""The packets of Perfetto's format, without what compresses them."""

import zlib

MOST_OF_A_BLOCK = 512 * 1024  # trace_packet.proto
PACKET, COMPRESSED = 1 << 3 | 2, 50 << 3 | 2


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Yields (tag, content) of a message that has only length-delimited fields."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        size, at = varint(data, at)
        yield tag, data[at:at + size]
        at += size


def inflated(trace):
    """Returns a trace's bytes with its packets uncompressed."""
    packets = b""
    for tag, packet in fields(trace):
        assert tag == PACKET and len(packet) < MOST_OF_A_BLOCK
        (kind, block), = fields(packet)
        assert kind == COMPRESSED
        packets += zlib.decompress(block)
    return packets
