// SPDX-License-Identifier: Apache-2.0
// Frames described in a few bytes each, and the line that they make.
//     what u8     bits 0..2, 7: see described_streams; bit 3 skips a sequence; bit 4 repeats one;
//                 bit 5 begins a session; bit 6 leaves the CRC wrong
//     core u8     modulo 4
//     size u8     of the payload that follows
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "tracer/protocol/frame.hpp"

namespace nopscope::host::fuzz {

// By bits 0..2, then those with bit 7. Only a host sends commands, and no stream has the number 0.
inline constexpr protocol::Stream described_streams[] = {
    protocol::Stream::moved,          protocol::Stream::hello, protocol::Stream::trace,
    protocol::Stream::console,        protocol::Stream::stats, protocol::Stream::profile,
    protocol::Stream::profile_events, protocol::Stream::reply, protocol::Stream::tasks,
};

inline protocol::Stream described_stream(std::uint8_t what) {
    return (what & 0x80) != 0 ? described_streams[8] : described_streams[what & 7];
}

inline std::uint8_t description_of(protocol::Stream stream) {
    const auto* const at =
        std::find(std::begin(described_streams), std::end(described_streams), stream);
    const auto number = static_cast<std::uint8_t>(at - std::begin(described_streams));
    return number == 8 ? 0x80 : number;
}

inline std::vector<std::uint8_t> seal(std::span<const std::uint8_t> description) {
    std::vector<std::uint8_t> line;
    protocol::FrameBuilder builder;
    std::map<unsigned, std::uint32_t> sequences;
    std::uint16_t session = 0;
    while (description.size() >= 3) {
        const std::uint8_t what = description[0];
        const std::uint8_t core = description[1] % 4;
        const std::size_t size = std::min<std::size_t>(description[2], description.size() - 3);
        if ((what & 0x20) != 0) {
            ++session;
            sequences.clear();
        }
        const protocol::Stream stream = described_stream(what);
        std::uint32_t& sequence = sequences[static_cast<unsigned>(stream) << 8 | core];
        if ((what & 0x08) != 0) ++sequence;
        if ((what & 0x10) != 0 && sequence != 0) --sequence;
        protocol::Writer(builder.payload()).bytes(description.data() + 3, size);
        const std::size_t at = line.size();
        line.resize(at + protocol::max_encoded_bytes);
        line.resize(at +
                    builder.encode({stream, core, session, sequence++}, size, line.data() + at));
        if ((what & 0x40) != 0) line[at + 1] ^= 0x80;
        description = description.subspan(3 + size);
    }
    return line;
}

inline std::vector<std::uint8_t> line_of(bool described, std::span<const std::uint8_t> input) {
    return described ? seal(input) : std::vector<std::uint8_t>(input.begin(), input.end());
}

}  // namespace nopscope::host::fuzz
