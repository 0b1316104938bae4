// SPDX-License-Identifier: Apache-2.0
// A call trace of any program, as records of 13 bytes: u8 type (0 entry, 1 exit, 2 exit made up
// because a longjmp skipped it), u32 function id, u64 ns, little-endian. And what a target's ring
// would hold for it.
//
// An exit names the innermost open entry of its function, wherever that is; what is above it ended
// unseen. An exit of a function that is not open was entered before the trace began: such entries
// are put before the first event, with its clock, the one that ends last outermost. They cost bytes
// like all others and are not counted as events.
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
    bool operator==(const CallEvent&) const = default;
};

using protocol::StampedRecord;

class Ev13 {
public:
    // The bytes are not copied. Throws Error: a part of a record, an unknown type, an id that is
    // too large for a site (2^29).
    Ev13(std::span<const std::uint8_t> bytes, std::uint64_t tick_hz);

    std::uint64_t events() const { return bytes_.size() / ev13_bytes; }
    std::uint64_t records() const { return entered_before_.size() + events(); }
    CallEvent event(std::uint64_t number) const;

    // The next records of the trace, in order; empty at its end.
    std::span<const StampedRecord> next();

    // Counts decoded records from the first on. False: this is not what was encoded.
    bool check(std::span<const StampedRecord> decoded);
    bool all_checked() const { return checked_ == records(); }

private:
    struct Open {
        std::uint32_t id;
        std::uint64_t index;  // of its entry's record
    };
    // The open calls, as events come: entry() and exit() say which.
    struct Stack {
        std::vector<Open> open;
        std::unordered_map<std::uint32_t, std::uint64_t> count;
        void entry(std::uint32_t id, std::uint64_t index);
        // Takes the innermost of `id` off, and all above it. False: there is none.
        bool exit(std::uint32_t id, std::uint64_t& index);
    };
    StampedRecord convert(std::uint64_t index);

    std::span<const std::uint8_t> bytes_;
    std::uint64_t tick_hz_;
    std::vector<std::uint32_t> entered_before_;  // ids, in the order of their exits
    std::vector<StampedRecord> chunk_;
    Stack stack_;
    std::uint64_t converted_ = 0;
    std::uint64_t ended_before_ = 0;    // of entered_before_, so far
    std::vector<std::uint32_t> id_of_;  // by record, as decoded
    std::uint64_t checked_ = 0;
};

}  // namespace nopscope::host
