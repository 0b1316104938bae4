// SPDX-License-Identifier: Apache-2.0
// The payload of a trace frame, formats 2 and 3: packed.
//
//     flags u8          bit 0: key, this frame begins a group
//     count u16         records
//     dropped varint    records this core dropped: so far if key, else since the frame before
//     if key:
//       first_index varint    index of the first record; this core's records count from 0
//       base u64              clock (ticks, 64 bits) that the first record's delta counts from
//       overwritten varint    records so far that newer ones overwrote before they were sent
//       context varint        number of the context that the frame begins in
//     then, to the end, the range coder's output (range_coder.hpp) for trace_model.hpp's decisions
//
// The range coder restarts in each frame, the model in each key frame. So a group decodes without
// the groups before it. If a frame is lost, the rest of its group is lost too; the counts and the
// next first_index tell how many records that was. A group takes at most max_group_bytes of line.
#pragma once

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/trace_model.hpp"

namespace nopscope::protocol {

inline constexpr std::size_t max_group_bytes = 64 * 1024;
inline constexpr std::uint32_t max_group_frame_records = 0xffff;
// More than any record takes. The worst one, a data record with the largest delta and value, takes
// 96 bytes: 117 plain bits and 140 decisions. 50 of these use a probability once and cost at most
// 11.1 bits each. The others repeat more_bits[14], which adapts: 46 bits in each of two sizes.
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
    std::uint64_t dropped = 0;      // records of this core, so far
    std::uint64_t overwritten = 0;  // records of this core, so far
    std::uint32_t context = 0;      // after the record before
};

// Encodes one core's records. About 63 KiB: static, never on a stack.
class TraceEncoder {
public:
    TraceEncoder() = default;
    TraceEncoder(const TraceEncoder&) = delete;
    TraceEncoder& operator=(const TraceEncoder&) = delete;

    // Makes the next frame begin a group. Needed if a frame was not sent, or if a reader asks.
    void restart() { group_bytes_ = 0; }

    // Begins a frame, whose payload goes to `payload` (room for max_payload_bytes).
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
            model_.start(walk_, static_cast<std::uint32_t>(from.index), from.clock);
            forgotten_ = 0;
            group_bytes_ = 0;
        }
        payload_ = payload;
        dropped_ = from.dropped;
        first_ = from.index;
        full_ = payload + max_payload_bytes - max_packed_record_bytes - max_flush_bytes;
        walk_.start(payload + out.size());
    }

    // After begin(): a frame that begins a group has the model forget the group before. Does at
    // most `pieces` (TraceModel::pieces) of this work. False: there was some to do.
    bool prepare(std::size_t pieces) {
        if (forgotten_ == TraceModel::pieces) return true;
        for (; pieces != 0 && forgotten_ != TraceModel::pieces; --pieces)
            model_.forget(forgotten_++);
        return false;
    }

    // Encodes records in index order while there is room, at most `at_most`. `next(record, clock)`
    // fills in one record and its 64-bit clock, or returns false if there is none. Does what
    // prepare() has left.
    template <typename Next>
    void fill(std::size_t at_most, Next next) {
        prepare(TraceModel::pieces);
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
    // True if the current frame begins a group.
    bool is_key() const { return (payload_[0] & 1) != 0; }
    bool has_room() const { return walk_.at() <= full_ && count() != max_group_frame_records; }

    // Ends the frame. Returns the payload's size in bytes.
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
    unsigned forgotten_ = TraceModel::pieces;  // pieces that prepare() has reset
    std::size_t group_bytes_ = 0;  // upper bound for the group's frames so far, on the line
};
static_assert(sizeof(TraceEncoder) <= 64 * 1024);

class TraceDecoder {
public:
    enum class Opened : std::uint8_t {
        ready,    // call read()
        skipped,  // no key frame yet (since the start or lose()): header().count records are lost
        malformed,
    };

    TraceDecoder() = default;
    TraceDecoder(const TraceDecoder&) = delete;
    TraceDecoder& operator=(const TraceDecoder&) = delete;

    // Call it if the frame before the next one is lost.
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
    // Records that this core has dropped, by the frames of this group so far.
    std::uint64_t dropped() const { return dropped_; }

    // Calls each(record, clock) for the frame's records. False: malformed; the group's rest is
    // lost.
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
    // The index of the next record. Only within a group.
    std::uint64_t next_index() const {
        return first_ + (walk_.index - static_cast<std::uint32_t>(first_));
    }

private:
    TraceModel model_;
    TraceWalk<RangeDecoder> walk_;
    GroupHeader header_;
    std::uint64_t first_ = 0;  // index of the group's first record
    std::uint64_t dropped_ = 0;
    std::uint32_t left_ = 0;
    bool in_group_ = false;
};

}  // namespace nopscope::protocol
