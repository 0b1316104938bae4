// SPDX-License-Identifier: Apache-2.0
// Reads a call trace of any program and converts it to the records of a target's ring. The trace
// has items of 13 bytes, little-endian: u8 type (0 entry, 1 exit, 2 exit added for a longjmp), u32
// function id, u64 ns.
//
// An exit ends the innermost open entry of its function, and the calls above it. If the function
// has no open entry, the call began before the trace. Its entry is added before the first event,
// with that event's clock; the call that ends last is outermost. Added entries cost bytes like all
// others, and are not counted as events.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tracer/protocol/record.hpp"

namespace nopscope::host {

inline constexpr std::size_t ev13_bytes = 13;

struct CallEvent {
    std::uint8_t type = 0;
    std::uint32_t id = 0;
    std::uint64_t ticks = 0;
};

using protocol::StampedRecord;

class Ev13 {
public:
    // Does not copy the bytes. Throws Error if a record is incomplete, has an unknown type, or has
    // an id that is too large for a site (2^29).
    Ev13(std::span<const std::uint8_t> bytes, std::uint64_t tick_hz);

    std::uint64_t events() const { return bytes_.size() / ev13_bytes; }
    std::uint64_t records() const { return entered_before_.size() + events(); }
    CallEvent event(std::uint64_t number) const;

    // The next records of the trace, in order; empty at its end.
    std::span<const StampedRecord> next();

private:
    struct Open {
        std::uint32_t id;
        std::uint64_t index;  // of its entry's record
    };
    // The open calls. entry() and exit() update them.
    struct Stack {
        std::vector<Open> open;
        std::unordered_map<std::uint32_t, std::uint64_t> count;
        void entry(std::uint32_t id, std::uint64_t index);
        // Removes the innermost call of `id` and all above it. False: none is open.
        bool exit(std::uint32_t id, std::uint64_t& index);
    };
    StampedRecord convert(std::uint64_t index);

    std::span<const std::uint8_t> bytes_;
    std::uint64_t tick_hz_;
    std::vector<std::uint32_t> entered_before_;  // added entries' ids, in the order of their exits
    std::vector<StampedRecord> chunk_;
    Stack stack_;
    std::uint64_t converted_ = 0;
    std::uint64_t ended_before_ = 0;  // how many of entered_before_ have ended
};

}  // namespace nopscope::host
