// SPDX-License-Identifier: Apache-2.0
// A hello of format 2, with all its parts (docs/trace-format.md, "Hello of format 2").
#pragma once

#include "tracer/protocol/hello.hpp"

namespace nopscope::host::test {

// Returns the payload bytes written; at most protocol::max_payload_bytes.
inline std::size_t write_hello_2(const protocol::Hello& hello, protocol::Byte* to) {
    protocol::Hello head = hello;
    head.version = 2;
    write_hello(head, to);
    protocol::Writer out(to + protocol::hello_head_bytes);
    out.fixed(hello.line_bytes_per_second);
    for (const protocol::Text* text : {&hello.build_id, &hello.board, &hello.image}) {
        out.fixed(text->size);
        out.bytes(text->data, text->size);
    }
    out.fixed(static_cast<std::uint8_t>(hello.clock));
    const std::size_t overheads = hello.calibrated ? hello.overheads.size() : 0;
    out.fixed(static_cast<std::uint8_t>(overheads));
    if (overheads != 0) out.varint(protocol::zigzag(hello.landing_pad));
    for (std::size_t n = 0; n < overheads; ++n) {
        out.varint(protocol::zigzag(hello.overheads[n].inside));
        out.varint(protocol::zigzag(hello.overheads[n].outside));
    }
    const protocol::EventCosts& costs = hello.event_costs;
    for (const std::uint16_t cost :
         {costs.graph_inside, costs.graph_outside, costs.graph_outside_both, costs.profile_inside,
          costs.profile_outside})
        out.varint(cost);
    const protocol::RefusedSites& sites = hello.refused_sites;
    for (const std::uint32_t count : {sites.misaligned, sites.outside, sites.words})
        out.varint(count);
    out.varint(hello.sequences_from);
    return protocol::hello_head_bytes + out.size();
}

}  // namespace nopscope::host::test
