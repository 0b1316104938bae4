// SPDX-License-Identifier: Apache-2.0
// A record from the line, split into its fields. Decoders of calls read these.
#pragma once

#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

struct Event {
    Kind kind{};
    bool unwound = false;           // ret
    Extended extended{};            // extended
    std::uint32_t site_offset = 0;  // call, entry: bytes from text_base
    std::uint32_t argument = 0;     // extended
    std::uint32_t entry_index = 0;  // ret: low 28 bits of its entry's record index
    std::uint64_t index = 0;        // this record's own index
    std::uint64_t clock = 0;        // ticks; a data record has its head's clock
    std::uint64_t data = 0;         // extended, data: 57 bits
};

constexpr Event event_of(const StampedRecord& stamped, std::uint64_t index) {
    const Record record = stamped.record;
    Event event;
    event.kind = record.kind();
    event.index = index;
    event.clock = stamped.clock;
    switch (event.kind) {
    case Kind::call:
    case Kind::entry: event.site_offset = record.site_low(); break;
    case Kind::ret:
        event.unwound = record.unwound();
        event.entry_index = record.entry_index();
        break;
    case Kind::extended:
        event.extended = record.extended();
        event.argument = record.argument();
        if (event.extended == Extended::data) event.data = record.data();
        break;
    }
    return event;
}

}  // namespace nopscope::protocol
