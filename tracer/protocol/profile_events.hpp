// SPDX-License-Identifier: Apache-2.0
// The payload of a profile_events frame: the profile's sums of PMU events for some functions of one
// core, since these events were chosen.
//
//     number varint    of the read-out, as in the profile frames before it
//     part varint      number of the frame in this core's read-out, from 0; << 1, bit 0: the last
//     choice varint    tells one choice of events from the next
//     which varint     the events: as an `events` record's argument (record.hpp)
//     then, to the end of the payload, for each function with a counted call, by ascending site:
//       site varint    (site - text_base) / 8, minus the previous one in this payload (at first 0)
//       calls varint   counted calls
//       total varint, self varint (zigzag), for each event
//
// A later read-out replaces an earlier one of the same choice.
#pragma once

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

struct ProfileEventsHeader {
    std::uint64_t number = 0;
    std::uint64_t part = 0;
    bool last = false;
    std::uint64_t choice = 0;
    std::uint32_t which = 0;
};

struct ProfileEventsEntry {
    std::uint32_t site_offset = 0;  // bytes from text_base
    std::uint64_t calls = 0;
    std::uint64_t total[max_events] = {};
    std::uint64_t self[max_events] = {};  // read as signed
};

// Used like ProfileWriter.
class ProfileEventsWriter {
public:
    ProfileEventsWriter(Byte* payload, std::uint32_t which)
        : payload_(payload), out_(payload + header_room), count_(event_count(which)) {}

    bool has_room() const {
        return header_room + out_.size() + max_entry_bytes <= max_payload_bytes;
    }
    void put(const ProfileEventsEntry& entry) {
        out_.varint((entry.site_offset - before_) >> 3);
        before_ = entry.site_offset;
        out_.varint(entry.calls);
        for (unsigned n = 0; n < count_; ++n) {
            out_.varint(entry.total[n]);
            out_.varint(zigzag(static_cast<std::int64_t>(entry.self[n])));
        }
    }
    // Returns the payload bytes.
    std::size_t finish(const ProfileEventsHeader& header) {
        Writer head(payload_);
        head.varint(header.number);
        head.varint(header.part << 1 | (header.last ? 1 : 0));
        head.varint(header.choice);
        head.varint(header.which);
        head.bytes(payload_ + header_room, out_.size());
        return head.size();
    }

private:
    static constexpr std::size_t header_room = 4 * max_varint_bytes;
    static constexpr std::size_t max_entry_bytes = 5 + (1 + 2 * max_events) * max_varint_bytes;

    Byte* payload_;
    Writer out_;
    unsigned count_;
    std::uint32_t before_ = 0;
};

class ProfileEventsReader {
public:
    ProfileEventsReader(const Byte* payload, std::size_t count) : in_(payload, count) {
        header_.number = in_.varint();
        const std::uint64_t part = in_.varint();
        header_.part = part >> 1;
        header_.last = (part & 1) != 0;
        header_.choice = in_.varint();
        const std::uint64_t which = in_.varint();
        header_.which = static_cast<std::uint32_t>(which) & argument_mask;
        ok_ = which == header_.which;
    }
    const ProfileEventsHeader& header() const { return header_; }
    bool ok() const { return ok_ && in_.ok(); }

    // Returns false at the end of the payload, or if it is malformed: then ok() is false.
    bool next(ProfileEventsEntry& entry) {
        if (!ok() || in_.left() == 0) return false;
        entry = {};
        site_ += in_.varint();
        entry.calls = in_.varint();
        for (unsigned n = 0; n < event_count(header_.which); ++n) {
            entry.total[n] = in_.varint();
            entry.self[n] = static_cast<std::uint64_t>(unzigzag(in_.varint()));
        }
        ok_ = site_ >> 29 == 0;
        entry.site_offset = static_cast<std::uint32_t>(site_) << 3;
        return ok();
    }

private:
    Reader in_;
    ProfileEventsHeader header_;
    std::uint64_t site_ = 0;
    bool ok_ = true;
};

}  // namespace nopscope::protocol
