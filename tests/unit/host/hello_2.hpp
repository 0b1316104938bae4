// SPDX-License-Identifier: Apache-2.0
// A hello as targets of format 2 sent it, all parts of it (docs/trace-format.md, "Hello of format
// 2").
#pragma once

#include "tracer/protocol/hello.hpp"

namespace nopscope::host::test {

// Returns the payload bytes written; at most protocol::max_payload_bytes.
inline std::size_t write_hello_2(const protocol::Hello& hello, protocol::Byte* to) {
    protocol::Writer out(to);
    out.fixed(std::uint16_t{2});
    out.fixed(static_cast<std::uint8_t>((hello.lossless ? 1 : 0) | (hello.flight ? 2 : 0) |
                                        (hello.recovered ? 4 : 0) |
                                        (hello.takes_commands ? 8 : 0)));
    out.fixed(hello.cores);
    for (const std::uint64_t each : {hello.clock_hz, hello.text_base, hello.load_bias})
        out.fixed(each);
    for (const std::uint32_t each :
         {hello.site_count, hello.site_table_crc, hello.line_bytes_per_second}) {
        out.fixed(each);
    }
    for (const protocol::Text* text : {&hello.build_id, &hello.board, &hello.image}) {
        out.fixed(text->size);
        out.bytes(text->data, text->size);
    }
    out.fixed(static_cast<std::uint8_t>(hello.clock));
    out.fixed(static_cast<std::uint8_t>(hello.calibrated ? hello.overheads.size() : 0));
    const auto put = [&](auto number) { out.varint(protocol::as_varint(number)); };
    if (hello.calibrated) {
        put(hello.landing_pad);
        protocol::numbers_of(hello.overheads, put);
    }
    const protocol::EventCosts& costs = hello.event_costs;
    for (const std::uint16_t cost :
         {costs.graph_inside, costs.graph_outside, costs.graph_outside_both, costs.profile_inside,
          costs.profile_outside}) {
        put(cost);
    }
    const protocol::RefusedSites& sites = hello.refused_sites;
    for (const std::uint32_t each :
         {sites.misaligned, sites.outside, sites.words, hello.sequences_from})
        put(each);
    return out.size();
}

}  // namespace nopscope::host::test
