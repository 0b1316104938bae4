// SPDX-License-Identifier: Apache-2.0
// The payload of a trace frame, format 2: packed.
//
//     flags u8          bit 0: key, this frame begins a group
//     count u16         records
//     dropped varint    records this core dropped: so far if key, else since the frame before
//     if key:
//       first_index varint    of the first record; this core's records count from 0
//       base u64              clock (ticks, 64 bits) that its delta counts from
//       overwritten varint    records so far that never were sent, since newer ones took their place
//       context varint        number of the one that the frame begins in
//     then, to the end, the range coder's output (range_coder.hpp) for trace_model.hpp's decisions
//
// The range coder starts anew in each frame, the model in each key frame. So a group decodes
// without the ones before it, and a frame that is lost takes the rest of its group along: how many
// records follows from the counts and from the next first_index. A group is at most max_group_bytes
// of line.
#pragma once

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/trace_model.hpp"

namespace nopscope::protocol {

inline constexpr std::size_t max_group_bytes = 64 * 1024;
inline constexpr std::uint32_t max_group_frame_records = 0xffff;
// More than any record takes, 96: data with the largest delta and value makes 140 decisions. Of them 50
// have odds of their own and cost at most 11.1 bits; the others repeat more_bits[14], which learns: 46 bits
// in each of the two sizes. And 117 plain bits.
inline constexpr std::size_t max_packed_record_bytes = 176;

struct GroupHeader {
    bool key = false;
    std::uint16_t count = 0;
    std::uint64_t dropped = 0;
    std::uint64_t first_index = 0;  // key only
    std::uint64_t base = 0;         // key only
    std::uint64_t overwritten = 0;  // key only
    std::uint32_t context = 0;      // key only
};

// Where a frame begins.
struct GroupStart {
    std::uint64_t index = 0;        // of its first record
    std::uint64_t clock = 0;        // of the record before
    std::uint64_t dropped = 0;      // by this core so far
    std::uint64_t overwritten = 0;  // likewise
    std::uint32_t context = 0;      // that the record before left it in
};

// One core's, for as long as it records. About 63 KiB: static, never on a stack.
class TraceEncoder {
public:
    TraceEncoder() = default;
    TraceEncoder(const TraceEncoder&) = delete;
    TraceEncoder& operator=(const TraceEncoder&) = delete;

    // The next frame begins a group. After a frame was not sent, or at a reader's request.
    void restart() { group_bytes_ = 0; }

    // A frame's payload goes to `payload`, max_payload_bytes.
    void begin(Byte* payload, const GroupStart& from) {
        const bool key = group_bytes_ == 0 || group_bytes_ + max_encoded_bytes > max_group_bytes ||
                         from.index != next_index();
        Writer out(payload);
        out.fixed(static_cast<std::uint8_t>(key));
        out.fixed(std::uint16_t{0});
        out.varint(key ? from.dropped : from.dropped - dropped_);
        if (key) {
            out.varint(from.index);
            out.fixed(from.clock);
            out.varint(from.overwritten);
            out.varint(from.context);
            model_.reset(walk_, static_cast<std::uint32_t>(from.index), from.clock);
            group_bytes_ = 0;
        }
        payload_ = payload;
        dropped_ = from.dropped;
        first_ = from.index;
        full_ = payload + max_payload_bytes - max_packed_record_bytes - max_flush_bytes;
        walk_.start(payload + out.size());
    }

    // Takes records in index order while there is room, at most `at_most`: `next(record, clock)`
    // fills in one and its 64-bit clock, or returns false.
    template <typename Next>
    void fill(std::size_t at_most, Next next) {
        TraceWalk<RangeEncoder> walk = walk_;
        Record record;
        std::uint64_t clock = 0;
        const Byte* const full = full_;
        const std::size_t room = max_group_frame_records - count();
        for (std::size_t left = at_most < room ? at_most : room;
             left != 0 && walk.at() <= full && next(record, clock); --left) {
            model_.code(walk, record, clock);
        }
        walk_ = walk;
    }
    // The frame that has been begun begins a group.
    bool is_key() const { return (payload_[0] & 1) != 0; }
    bool has_room() const { return walk_.at() <= full_ && count() != max_group_frame_records; }

    // Returns the payload's bytes.
    std::size_t end() {
        const auto bytes = static_cast<std::size_t>(walk_.finish() - payload_);
        Writer(payload_ + 1).fixed(static_cast<std::uint16_t>(count()));
        group_bytes_ += cobs_max_encoded(frame_header_bytes + bytes + frame_crc_bytes) + 1;
        return bytes;
    }

    std::uint64_t next_index() const { return first_ + count(); }
    std::uint64_t clock() const { return walk_.clock; }
    // Records in this frame.
    std::uint32_t count() const { return walk_.index - static_cast<std::uint32_t>(first_); }

private:
    TraceModel model_;
    TraceWalk<RangeEncoder> walk_;
    Byte* payload_ = nullptr;
    const Byte* full_ = nullptr;
    std::uint64_t first_ = 0;
    std::uint64_t dropped_ = 0;
    std::size_t group_bytes_ = 0;  // at most what the group's frames so far are on the line
};
static_assert(sizeof(TraceEncoder) <= 64 * 1024);

class TraceDecoder {
public:
    enum class Opened : std::uint8_t {
        ready,    // read() gives its records
        skipped,  // no key frame yet, since the start or since lose(): header().count records are
                  // lost
        malformed,
    };

    TraceDecoder() = default;
    TraceDecoder(const TraceDecoder&) = delete;
    TraceDecoder& operator=(const TraceDecoder&) = delete;

    // The frame before this one is lost.
    void lose() { in_group_ = false; }

    Opened open(const Byte* payload, std::size_t count) {
        Reader in(payload, count);
        header_ = {};
        left_ = 0;
        const auto flags = in.fixed<std::uint8_t>();
        bool bad = false;
        header_.key = (flags & 1) != 0;
        header_.count = in.fixed<std::uint16_t>();
        header_.dropped = in.varint();
        if (header_.key) {
            header_.first_index = in.varint();
            header_.base = in.fixed<std::uint64_t>();
            header_.overwritten = in.varint();
            const std::uint64_t context = in.varint();
            header_.context = static_cast<std::uint32_t>(context) & argument_mask;
            bad = context > argument_mask;
        }
        if (!in.ok() || flags > 1 || bad) {
            in_group_ = false;
            return Opened::malformed;
        }
        if (header_.key) {
            first_ = header_.first_index;
            model_.reset(walk_, static_cast<std::uint32_t>(header_.first_index), header_.base);
            dropped_ = 0;
            in_group_ = true;
        }
        if (!in_group_) return Opened::skipped;
        dropped_ += header_.dropped;
        left_ = header_.count;
        const std::size_t left = in.left();
        walk_.start(in.bytes(left), left);
        return Opened::ready;
    }
    const GroupHeader& header() const { return header_; }
    // So far, as the frames of this group say.
    std::uint64_t dropped() const { return dropped_; }

    // Gives `each(record, clock)` the frame's records. False: it was malformed, and its group is
    // lost from there on.
    template <typename Each>
    bool read(Each each) {
        TraceWalk<RangeDecoder> walk = walk_;
        Record record;
        std::uint64_t clock = 0;
        for (; left_ != 0; --left_) {
            if (!model_.code(walk, record, clock)) [[unlikely]] {
                left_ = 0;
                in_group_ = false;
                return false;
            }
            each(record, clock);
        }
        walk_ = walk;
        return true;
    }
    // Of the record that comes next; in a group.
    std::uint64_t next_index() const {
        return first_ + (walk_.index - static_cast<std::uint32_t>(first_));
    }

private:
    TraceModel model_;
    TraceWalk<RangeDecoder> walk_;
    GroupHeader header_;
    std::uint64_t first_ = 0;  // of the group
    std::uint64_t dropped_ = 0;
    std::uint32_t left_ = 0;
    bool in_group_ = false;
};

}  // namespace nopscope::protocol
