// SPDX-License-Identifier: Apache-2.0
// The payload of a trace frame, format 1: plain. Each frame decodes without the ones before it.
//
//     first_index u64   index of the first record: this core's records count from 0 at init
//     base u64          clock (ticks, 64 bits) that the first delta counts from
//     dropped u64       records this core has dropped so far
//     in_context        a record's token and a delta of 0, which is no record and has no index; left out
//                       while the core is in its main context
//     then, to the end of the payload, for each record:
//       varint token    value << 2 | kind
//       varint delta    zigzag of clock minus the record before's (the first: minus base)
//
// value: call, entry: (site - text_base) / 8. ret: distance << 1 | unwound, where distance is the
// ret's own record index minus its entry's, modulo 2^28. extended: the payload of the record.
#pragma once

#include "tracer/wire/frame.hpp"
#include "tracer/wire/record.hpp"

namespace nopscope::wire {

inline constexpr std::uint32_t entry_index_mask = (1u << entry_index_bits) - 1;
inline constexpr std::size_t trace_header_bytes = 24;
inline constexpr std::size_t max_record_bytes = 5 + max_varint_bytes;

struct TraceHeader {
    std::uint64_t first_index = 0;
    std::uint64_t base = 0;
    std::uint64_t dropped = 0;
    std::uint32_t context = 0;  // that the frame begins in
};

// One event as a decoder sees it.
struct Event {
    Kind kind{};
    bool unwound = false;           // ret
    Extended extended{};            // extended
    std::uint32_t site_offset = 0;  // call, entry: bytes from text_base
    std::uint32_t argument = 0;     // extended
    std::uint32_t entry_index = 0;  // ret: low 28 bits of its entry's record index
    std::uint64_t index = 0;        // this record's own index
    std::uint64_t clock = 0;        // ticks
};

class TraceWriter {
public:
    TraceWriter(Byte* payload, const TraceHeader& header, std::uint32_t text_base_low)
        : out_(payload), index_(header.first_index), clock_(header.base), text_base_(text_base_low) {
        out_.fixed(header.first_index);
        out_.fixed(header.base);
        out_.fixed(header.dropped);
    }
    bool has_room() const { return out_.size() + max_record_bytes <= max_payload_bytes; }

    // Before the first record.
    void put_context(std::uint32_t number) {
        const auto what = static_cast<std::uint32_t>(Extended::in_context);
        out_.varint(static_cast<std::uint64_t>(number << 4 | what) << 2 |
                    static_cast<unsigned>(Kind::extended));
        out_.varint(0);
    }

    // The next record in index order; `clock` is its 64-bit clock.
    void put(Record record, std::uint64_t clock) {
        std::uint32_t value = record.payload();
        switch (record.kind()) {
            case Kind::call:
            case Kind::entry: value = (record.site_low() - text_base_) >> 3; break;
            case Kind::ret: {
                const auto own = static_cast<std::uint32_t>(index_);
                value = ((own - record.entry_index()) & entry_index_mask) << 1 | (value & 1);
                break;
            }
            case Kind::extended: break;
        }
        out_.varint(static_cast<std::uint64_t>(value) << 2 | static_cast<unsigned>(record.kind()));
        out_.varint(zigzag(static_cast<std::int64_t>(clock - clock_)));
        clock_ = clock;
        ++index_;
    }
    std::size_t size() const { return out_.size(); }
    std::uint64_t next_index() const { return index_; }
    std::uint64_t clock() const { return clock_; }

private:
    Writer out_;
    std::uint64_t index_;
    std::uint64_t clock_;
    std::uint32_t text_base_;
};

// Reads one frame's payload. ok() is false after next() ran into something malformed.
class TraceReader {
public:
    TraceReader(const Byte* payload, std::size_t count) : in_(payload, count) {
        header_.first_index = in_.fixed<std::uint64_t>();
        header_.base = in_.fixed<std::uint64_t>();
        header_.dropped = in_.fixed<std::uint64_t>();
        clock_ = header_.base;
        index_ = header_.first_index;
        read_context();
    }
    const TraceHeader& header() const { return header_; }
    bool ok() const { return in_.ok(); }
    std::uint64_t next_index() const { return index_; }

    // False at the end of the payload, or when it is malformed.
    bool next(Event& event) {
        if (!in_.ok() || in_.left() == 0) return false;
        const std::uint64_t token = in_.varint();
        const std::uint64_t delta = in_.varint();
        if (!in_.ok() || (token >> 2) >> payload_bits != 0) {
            in_ = Reader(nullptr, 0);
            in_.fixed<std::uint8_t>();  // to "not ok"
            return false;
        }
        const auto value = static_cast<std::uint32_t>(token >> 2);
        clock_ += static_cast<std::uint64_t>(unzigzag(delta));
        event = {};
        event.kind = static_cast<Kind>(token & 3);
        event.clock = clock_;
        event.index = index_;
        switch (event.kind) {
            case Kind::call:
            case Kind::entry: event.site_offset = value << 3; break;
            case Kind::ret:
                event.unwound = (value & 1) != 0;
                event.entry_index =
                    (static_cast<std::uint32_t>(index_) - (value >> 1)) & entry_index_mask;
                break;
            case Kind::extended:
                event.extended = static_cast<Extended>(value & 15);
                event.argument = value >> 4;
                break;
        }
        ++index_;
        return true;
    }

private:
    void read_context() {
        Reader ahead = in_;
        if (!ahead.ok() || ahead.left() == 0) return;
        const std::uint64_t token = ahead.varint();
        constexpr auto in_context = static_cast<std::uint64_t>(Extended::in_context) << 2 |
                                    static_cast<unsigned>(Kind::extended);
        if ((token & 0x3f) != in_context || (token >> 2) >> payload_bits != 0) return;
        if (ahead.varint() != 0 || !ahead.ok()) return;
        header_.context = static_cast<std::uint32_t>(token >> 6);
        in_ = ahead;
    }

    Reader in_;
    TraceHeader header_;
    std::uint64_t clock_ = 0;
    std::uint64_t index_ = 0;
};

}  // namespace nopscope::wire
