// SPDX-License-Identifier: Apache-2.0
// The frame: the unit of the line. A zero byte ends each (docs/trace-format.md).
//
//     COBS( header | payload | CRC-32C of both ) 0x00
//
// header: stream u8, core u8, session u16, sequence u32, all little-endian.
#pragma once

#include "tracer/protocol/bytes.hpp"
#include "tracer/protocol/cobs.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace nopscope::protocol {

inline constexpr std::uint16_t format_version = 3;

enum class Stream : std::uint8_t {
    hello = 1,
    trace = 2,
    console = 3,
    stats = 4,
    profile = 5,
    command = 6,  // host to target
    reply = 7,
    moved = 8,
    profile_events = 9,
    tasks = 10,
};

struct FrameHeader {
    Stream stream{};
    std::uint8_t core = 0;
    std::uint16_t session = 0;   // identifies one boot of the target
    std::uint32_t sequence = 0;  // per (session, stream, core), from 0, modulo 2^32
};

inline constexpr std::size_t frame_header_bytes = 8;
inline constexpr std::size_t frame_crc_bytes = 4;
inline constexpr std::size_t max_payload_bytes = 1024;
inline constexpr std::size_t max_frame_bytes =
    frame_header_bytes + max_payload_bytes + frame_crc_bytes;
inline constexpr std::size_t max_encoded_bytes = cobs_max_encoded(max_frame_bytes) + 1;

// A frame under construction. Write at most max_payload_bytes through payload(), then encode().
class FrameBuilder {
public:
    Byte* payload() { return raw_ + frame_header_bytes; }

    // Begins to write frame and delimiter to `to` (room for max_encoded_bytes).
    void start(const FrameHeader& header, std::size_t payload_bytes, Byte* to) {
        Writer head(raw_);
        head.fixed(static_cast<std::uint8_t>(header.stream));
        head.fixed(header.core);
        head.fixed(header.session);
        head.fixed(header.sequence);
        covered_ = frame_header_bytes + payload_bytes;
        at_ = 0;
        crc_ = 0;
        to_ = to;
        cobs_.start(to);
    }
    // Goes on with at most `bytes`. Returns the bytes written in all; 0: more are to come.
    std::size_t advance(std::size_t bytes) {
        const std::size_t left = covered_ - at_;
        const std::size_t count = left < bytes ? left : bytes;
        crc_ = crc32c(raw_ + at_, count, crc_);
        cobs_.add(raw_ + at_, count, false);
        at_ += count;
        if (at_ != covered_) return 0;
        Writer(raw_ + covered_).fixed(crc_);
        cobs_.add(raw_ + covered_, frame_crc_bytes, true);
        to_[cobs_.size()] = 0;
        return cobs_.size() + 1;
    }
    // Both at once.
    std::size_t encode(const FrameHeader& header, std::size_t payload_bytes, Byte* to) {
        start(header, payload_bytes, to);
        return advance(frame_header_bytes + payload_bytes);
    }

private:
    Byte raw_[max_frame_bytes]{};
    Byte* to_ = nullptr;
    std::size_t covered_ = 0;  // bytes that the CRC covers
    std::size_t at_ = 0;       // of these, already encoded
    std::uint32_t crc_ = 0;
    CobsEncoder cobs_;
};

struct ParsedFrame {
    bool ok = false;
    FrameHeader header{};
    const Byte* payload = nullptr;
    std::size_t payload_bytes = 0;
};

// Decodes the `count` bytes between two delimiters, in place. Not ok: not COBS, too short, or a
// wrong CRC; then the other fields mean nothing. An unknown stream is ok: a reader skips it.
inline ParsedFrame parse_frame(Byte* bytes, std::size_t count) {
    const CobsResult raw = cobs_decode(bytes, count, bytes);
    if (!raw.ok || raw.count < frame_header_bytes + frame_crc_bytes) return {};
    const std::size_t covered = raw.count - frame_crc_bytes;
    if (Reader(bytes + covered, frame_crc_bytes).fixed<std::uint32_t>() != crc32c(bytes, covered)) {
        return {};
    }
    Reader head(bytes, covered);
    ParsedFrame frame;
    frame.ok = true;
    frame.header.stream = static_cast<Stream>(head.fixed<std::uint8_t>());
    frame.header.core = head.fixed<std::uint8_t>();
    frame.header.session = head.fixed<std::uint16_t>();
    frame.header.sequence = head.fixed<std::uint32_t>();
    frame.payload = bytes + frame_header_bytes;
    frame.payload_bytes = covered - frame_header_bytes;
    return frame;
}

}  // namespace nopscope::protocol
