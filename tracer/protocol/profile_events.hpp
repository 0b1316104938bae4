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

#include "tracer/protocol/profile.hpp"
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

class ProfileEventsWriter : public ReadOutWriter<4, 5 + (1 + 2 * max_events) * max_varint_bytes> {
public:
    ProfileEventsWriter(Byte* payload, std::uint32_t which)
        : ReadOutWriter(payload), count_(event_count(which)) {}

    void put(const ProfileEventsEntry& entry) {
        put_site(entry.site_offset);
        out_.varint(entry.calls);
        for (unsigned n = 0; n < count_; ++n) {
            out_.varint(entry.total[n]);
            out_.varint(zigzag(static_cast<std::int64_t>(entry.self[n])));
        }
    }
    std::size_t finish(const ProfileEventsHeader& header) {
        return ReadOutWriter::finish(header, header.choice, header.which);
    }

private:
    unsigned count_;
};

class ProfileEventsReader : public ReadOutReader<ProfileEventsHeader> {
public:
    ProfileEventsReader(const Byte* payload, std::size_t count) : ReadOutReader(payload, count) {
        header_.choice = in_.varint();
        const std::uint64_t which = in_.varint();
        header_.which = static_cast<std::uint32_t>(which) & argument_mask;
        ok_ = which == header_.which;
    }
    bool next(ProfileEventsEntry& entry) {
        entry = {};
        if (!next_site(entry.site_offset)) return false;
        entry.calls = in_.varint();
        for (unsigned n = 0; n < event_count(header_.which); ++n) {
            entry.total[n] = in_.varint();
            entry.self[n] = static_cast<std::uint64_t>(unzigzag(in_.varint()));
        }
        return ok();
    }
};

}  // namespace nopscope::protocol
