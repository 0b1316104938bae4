// SPDX-License-Identifier: Apache-2.0
// Moved: functions that adaptive mode moves from trace to profile and back (docs/trace-format.md).
//
//     moves varint   so far, both ways
//     to the end, for each of some functions, its last move:
//       site varint    (site - text_base) / 8, << 1; bit 0: to the profile, else back to the trace
//       clock varint   ticks >> 16
//
// The target repeats each function's last move, so a later frame replaces a lost one.
#pragma once

#include "tracer/protocol/frame.hpp"

namespace nopscope::protocol {

inline constexpr unsigned moved_clock_shift = 16;

struct Move {
    std::uint32_t site_offset = 0;  // bytes from text_base
    bool to_profile = false;
    std::uint64_t clock = 0;  // ticks, the low 16 bits 0
};

class MovedWriter {
public:
    MovedWriter(Byte* payload, std::uint64_t moves) : out_(payload) { out_.varint(moves); }
    bool has_room() const { return out_.size() + 2 * max_varint_bytes <= max_payload_bytes; }
    void put(const Move& move) {
        out_.varint(std::uint64_t{move.site_offset} / 8 << 1 | (move.to_profile ? 1 : 0));
        out_.varint(move.clock >> moved_clock_shift);
    }
    std::size_t size() const { return out_.size(); }

private:
    Writer out_;
};

class MovedReader {
public:
    MovedReader(const Byte* payload, std::size_t count)
        : in_(payload, count), moves_(in_.varint()) {}
    std::uint64_t moves() const { return moves_; }
    // False: at the end, or malformed.
    bool next(Move& move) {
        if (!ok() || in_.left() == 0) return false;
        const std::uint64_t site = in_.varint();
        const std::uint64_t clock = in_.varint();
        bad_ = site >> 1 >= std::uint64_t{1} << 29 || clock >> (64 - moved_clock_shift) != 0;
        move.site_offset = static_cast<std::uint32_t>(site >> 1 << 3);
        move.to_profile = (site & 1) != 0;
        move.clock = clock << moved_clock_shift;
        return ok();
    }
    bool ok() const { return in_.ok() && !bad_; }

private:
    Reader in_;
    std::uint64_t moves_;
    bool bad_ = false;
};

}  // namespace nopscope::protocol
