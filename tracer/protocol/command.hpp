// SPDX-License-Identifier: Apache-2.0
// Commands, host to target, and their replies (docs/control.md).
//
//     command frame   header: stream 6, core 0, session: the target's,
//                     sequence: the command's number
//       payload       what u8, then its arguments
//     reply frame     header: stream 7, core 0, sequence: the reply stream's
//       payload       number u32 of the command, what u8, answer u8, then the result
//
// A command names sites by index, in ranges up to the end of the payload. A range is two varints:
// how many sites to skip after the last range, and how many to take. So ranges do not overlap.
#pragma once

#include "nopscope/event_refusal.hpp"
#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

// Numbers never change their meaning.
enum class Command : std::uint8_t {
    ping = 0,   // has no number: always executed. Result: last number varint, refused varint
    hello = 1,  // send a hello, and key frames
    stats = 2,  // send stats; result: TargetReport
    start = 3,
    stop = 4,
    mark = 5,      // id varint
    snapshot = 6,  // id varint
    send_profile = 7,
    select_clear = 8,
    select_add = 9,      // ranges; result of 8 to 10: sites selected, varint
    select_remove = 10,  // ranges
    set_recorder = 11,   // recorder u8, flags u8 (bit 0: all other sites get none), selected varint
    set_mode = 12,       // mode u8
    set_depth = 13,      // calls, varint; 0: no limit
    set_min_duration = 14,  // ticks varint
    set_sample = 15,        // n varint: record every n-th call
    set_subtree = 16,       // on u8; selected varint: record only below the selected functions
    set_capture = 17,       // argument mask u8, result u8, selected varint
    set_baud = 18,          // bits per second, u32
    reset = 19,
    set_events = 20,  // how many u8, then the number of each PMU event, u16
};
inline constexpr unsigned command_count = 21;

// The largest number that a command takes as its first argument; a larger one makes it malformed.
// Other commands take no number, or numbers that are checked where they are used.
constexpr std::uint64_t most_argument(Command what) {
    switch (what) {
    case Command::mark:
    case Command::snapshot: return argument_mask;
    case Command::set_depth: return 1u << 16;
    case Command::set_sample: return 1u << 24;
    case Command::set_min_duration: return std::uint64_t{1} << 62;
    case Command::set_baud: return 100'000'000;
    case Command::set_subtree: return 1;
    default: return ~std::uint64_t{0};
    }
}

enum class Answer : std::uint8_t {
    ok = 0,
    unknown = 1,          // no such command in this version
    malformed = 2,        // invalid arguments, or sites that do not exist
    foreign_session = 3,  // the command is for another boot
    stale = 4,            // an old number, whose reply is no longer kept
    unsupported = 5,      // the firmware has not given the tracer the function that this needs
    busy = 6,             // for a second the tracer could not execute it; nothing was changed
    selection = 7,        // the command and the target disagree about how many sites are selected
    unexpected_text = 8,  // a patch site's word is not as expected; nothing was changed
    out_of_reach = 9,     // 9 to 12: see Status in nopscope/nopscope.hpp; nothing was changed
    too_many = 10,
    conflict = 11,
    no_profile_memory = 12,
    timeout = 13,         // done, but a core was still in the tracer's code after a second
    events_refused = 14,  // result: EventRefusal u8, event u16, counters u8; nothing was changed
    partly = 15,          // a step was done, the next refused; result: its Answer u8, its result
};
inline constexpr unsigned answer_count = 16;
constexpr bool has_result(Answer answer) {
    return answer == Answer::ok || answer == Answer::unexpected_text ||
           answer == Answer::events_refused || answer == Answer::partly;
}

inline constexpr std::uint8_t recorder_as_before = 0xff;  // the recorder that was set last
inline constexpr std::uint8_t only_selected = 1;          // set_recorder's flag

// The limit keeps the target's receive buffer small.
inline constexpr std::size_t max_command_bytes = 240;  // of payload
inline constexpr std::size_t max_encoded_command_bytes =
    cobs_max_encoded(frame_header_bytes + max_command_bytes + frame_crc_bytes);
inline constexpr std::size_t max_result_bytes = 96;
inline constexpr std::size_t reply_head_bytes = 6;

struct SiteRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // never 0
};

// Reads the ranges of a command. next() returns false at the end, or if a range is malformed.
class RangeReader {
public:
    constexpr RangeReader(Reader in, std::uint32_t site_count) : in_(in), sites_(site_count) {}
    constexpr bool next(SiteRange& range) {
        if (!ok_ || in_.left() == 0) return false;
        const std::uint64_t gap = in_.varint();
        const std::uint64_t count = in_.varint();
        ok_ = in_.ok() && count != 0 && gap <= sites_ - at_ && count <= sites_ - at_ - gap;
        if (!ok_) return false;
        range.first = static_cast<std::uint32_t>(at_ + gap);
        range.count = static_cast<std::uint32_t>(count);
        at_ += gap + count;
        return true;
    }
    constexpr bool ok() const { return ok_; }

private:
    Reader in_;
    std::uint64_t sites_;
    std::uint64_t at_ = 0;
    bool ok_ = true;
};

// The result of `stats`, a varint for each field. Later versions may append fields.
struct TargetReport {
    std::uint64_t now = 0;        // clock, ticks
    std::uint64_t recording = 0;  // 0: stopped
    std::uint64_t enabled = 0;    // sites that are traced
    std::uint64_t selected = 0;   // sites
    std::uint64_t generated = 0;
    std::uint64_t dropped = 0;
    std::uint64_t shadow_stack_full = 0;
    std::uint64_t off_stack = 0;
    std::uint64_t refused = 0;  // commands
};
inline constexpr std::uint64_t TargetReport::*report_fields[] = {
    &TargetReport::now,
    &TargetReport::recording,
    &TargetReport::enabled,
    &TargetReport::selected,
    &TargetReport::generated,
    &TargetReport::dropped,
    &TargetReport::shadow_stack_full,
    &TargetReport::off_stack,
    &TargetReport::refused,
};
static_assert(sizeof report_fields / sizeof *report_fields * max_varint_bytes <= max_result_bytes);

// False: malformed.
inline bool read_report(const Byte* result, std::size_t count, TargetReport& report) {
    Reader in(result, count);
    for (const auto field : report_fields) report.*field = in.varint();
    return in.ok();
}

struct Reply {
    std::uint32_t number = 0;
    Command what{};
    Answer answer{};
    const Byte* result = nullptr;
    std::size_t result_bytes = 0;
};

// False: malformed.
inline bool read_reply(const Byte* payload, std::size_t count, Reply& reply) {
    Reader in(payload, count);
    reply.number = in.fixed<std::uint32_t>();
    reply.what = static_cast<Command>(in.fixed<std::uint8_t>());
    reply.answer = static_cast<Answer>(in.fixed<std::uint8_t>());
    reply.result_bytes = in.left();
    reply.result = in.bytes(reply.result_bytes);
    return in.ok();
}

}  // namespace nopscope::protocol
