# SPDX-License-Identifier: Apache-2.0
"""The packets of Perfetto's format, without what compresses them."""

import zlib

from hostile_names import Varints

MOST_OF_A_BLOCK = 512 * 1024  # trace_packet.proto
PACKET, COMPRESSED = 1 << 3 | 2, 50 << 3 | 2


def fields(data):
    """Yields (tag, content) of a message that has only length-delimited fields."""
    numbers = Varints(data)
    while numbers.more():
        yield numbers.next(), numbers.take(numbers.next())


def inflated(trace):
    """Returns a trace's bytes with its packets uncompressed."""
    packets = b""
    for tag, packet in fields(trace):
        assert tag == PACKET and len(packet) < MOST_OF_A_BLOCK
        (kind, block), = fields(packet)
        assert kind == COMPRESSED
        packets += zlib.decompress(block)
    return packets
