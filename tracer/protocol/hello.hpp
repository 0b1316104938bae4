// SPDX-License-Identifier: Apache-2.0
// Hello: who is speaking. Sent first, and again about once a second, so a host that comes late
// can decode. Layout in docs/trace-format.md.
#pragma once

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/recorders.hpp"

namespace nopscope::protocol {

// A short byte string inside a parsed payload, or of static storage: not owned.
struct Text {
    const Byte* data = nullptr;
    std::uint8_t size = 0;
};

enum class Clock : std::uint8_t { cntvct = 0, pmccntr = 1 };

inline constexpr unsigned overhead_unit = 256;

// What recording one call takes, in 1/256 ticks, as measured at boot.
struct Overhead {
    std::int32_t inside = 0;   // of that, what the call's own time has in it
    std::int32_t outside = 0;  // and what its caller's has
};

// What a call that counts events has of its recorder's instructions: the INST_RETIRED that are not its own.
struct EventCosts {
    bool known = false;
    std::uint16_t graph_inside = 0;        // in the call's own
    std::uint16_t graph_outside = 0;       // in its caller's, with one event
    std::uint16_t graph_outside_both = 0;  // and with two
    std::uint16_t profile_inside = 0;
    std::uint16_t profile_outside = 0;
};
inline constexpr std::uint16_t EventCosts::*event_cost_fields[] = {
    &EventCosts::graph_inside, &EventCosts::graph_outside, &EventCosts::graph_outside_both,
    &EventCosts::profile_inside, &EventCosts::profile_outside,
};

// Patch sites that the target never changes, by reason. Written behind the event costs.
struct RefusedSites {
    bool known = false;
    std::uint32_t misaligned = 0;  // the slot is not 8-byte aligned
    std::uint32_t outside = 0;     // not in the text
    std::uint32_t words = 0;       // the words there are no patch site
};
inline constexpr std::uint32_t RefusedSites::*refused_sites_fields[] = {
    &RefusedSites::misaligned, &RefusedSites::outside, &RefusedSites::words,
};

struct Hello {
    std::uint16_t version = format_version;
    bool lossless = false;   // the mode it began in; neither: stream
    bool flight = false;
    bool recovered = false;  // found in memory after a warm reset: what came last may be missing
    bool takes_commands = false;
    std::uint8_t cores = 1;
    std::uint64_t clock_hz = 0;
    std::uint64_t text_base = 0;  // run-time address; sites in trace frames count from here
    std::uint64_t load_bias = 0;  // run-time minus link-time address of the image
    std::uint32_t site_count = 0;
    std::uint32_t site_table_crc = 0;  // CRC-32C of the link-time sites, ascending, u64 each
    std::uint32_t line_bytes_per_second = 0;  // what the pump paces itself to; 0: it does not
    Text build_id;
    Text board;
    Text image;
    Clock clock = Clock::cntvct;
    bool calibrated = false;
    std::int32_t landing_pad = 0;  // what one takes, in 1/256 ticks; `overheads` are of functions with one
    Overhead overheads[overhead_count] = {};  // by overhead_index()
    EventCosts event_costs;
    RefusedSites refused_sites;
    std::uint32_t sequences_from = 0;  // recovered: each stream's number after the reset
};

inline constexpr std::size_t max_hello_bytes = 160 + 3 * 256;

// Returns the payload bytes written; at most max_hello_bytes.
inline std::size_t write_hello(const Hello& hello, Byte* to) {
    Writer out(to);
    out.fixed(hello.version);
    out.fixed(static_cast<std::uint8_t>((hello.lossless ? 1 : 0) | (hello.flight ? 2 : 0) |
                                        (hello.recovered ? 4 : 0) |
                                        (hello.takes_commands ? 8 : 0)));
    out.fixed(hello.cores);
    out.fixed(hello.clock_hz);
    out.fixed(hello.text_base);
    out.fixed(hello.load_bias);
    out.fixed(hello.site_count);
    out.fixed(hello.site_table_crc);
    out.fixed(hello.line_bytes_per_second);
    const Text* const texts[] = {&hello.build_id, &hello.board, &hello.image};
    for (const Text* text : texts) {
        out.fixed(text->size);
        out.bytes(text->data, text->size);
    }
    out.fixed(static_cast<std::uint8_t>(hello.clock));
    const std::size_t count = hello.calibrated ? overhead_count : 0;
    out.fixed(static_cast<std::uint8_t>(count));
    if (count != 0) out.varint(zigzag(hello.landing_pad));
    for (std::size_t n = 0; n < count; ++n) {
        out.varint(zigzag(hello.overheads[n].inside));
        out.varint(zigzag(hello.overheads[n].outside));
    }
    if (!hello.event_costs.known && hello.sequences_from == 0) return out.size();
    for (const auto field : event_cost_fields) out.varint(hello.event_costs.*field);
    if (!hello.refused_sites.known && hello.sequences_from == 0) return out.size();
    for (const auto field : refused_sites_fields) out.varint(hello.refused_sites.*field);
    out.varint(hello.sequences_from);
    return out.size();
}

// False: malformed. With another `version` only that field is set, and the result is true.
inline bool read_hello(const Byte* payload, std::size_t count, Hello& hello) {
    Reader in(payload, count);
    hello = {};
    hello.version = in.fixed<std::uint16_t>();
    if (in.ok() && hello.version != format_version) return true;
    const auto flags = in.fixed<std::uint8_t>();
    hello.lossless = (flags & 1) != 0;
    hello.flight = (flags & 2) != 0;
    hello.recovered = (flags & 4) != 0;
    hello.takes_commands = (flags & 8) != 0;
    hello.cores = in.fixed<std::uint8_t>();
    hello.clock_hz = in.fixed<std::uint64_t>();
    hello.text_base = in.fixed<std::uint64_t>();
    hello.load_bias = in.fixed<std::uint64_t>();
    hello.site_count = in.fixed<std::uint32_t>();
    hello.site_table_crc = in.fixed<std::uint32_t>();
    hello.line_bytes_per_second = in.fixed<std::uint32_t>();
    Text* const texts[] = {&hello.build_id, &hello.board, &hello.image};
    for (Text* text : texts) {
        text->size = in.fixed<std::uint8_t>();
        text->data = in.bytes(text->size);
    }
    if (in.ok() && in.left() == 0) return hello.clock_hz != 0 && hello.cores != 0;
    hello.clock = static_cast<Clock>(in.fixed<std::uint8_t>());
    const auto overheads = in.fixed<std::uint8_t>();
    hello.calibrated = overheads != 0;
    if (hello.calibrated) hello.landing_pad = static_cast<std::int32_t>(unzigzag(in.varint()));
    for (std::size_t n = 0; n < overheads && in.ok(); ++n) {
        const Overhead one{static_cast<std::int32_t>(unzigzag(in.varint())),
                           static_cast<std::int32_t>(unzigzag(in.varint()))};
        if (n < overhead_count) hello.overheads[n] = one;
    }
    if (in.ok() && in.left() != 0) {
        for (const auto field : event_cost_fields) hello.event_costs.*field = static_cast<std::uint16_t>(in.varint());
        hello.event_costs.known = in.ok();
    }
    if (in.ok() && in.left() != 0) {
        for (const auto field : refused_sites_fields) {
            hello.refused_sites.*field = static_cast<std::uint32_t>(in.varint());
        }
        hello.refused_sites.known = in.ok();
    }
    if (in.ok() && in.left() != 0) hello.sequences_from = static_cast<std::uint32_t>(in.varint());
    return in.ok() && hello.clock_hz != 0 && hello.cores != 0;
}

}  // namespace nopscope::protocol
