// SPDX-License-Identifier: Apache-2.0
// The order of a session's frames: missing ones, duplicates, and numbers that a reset skipped.
#include <algorithm>

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t jumps_kept = 1024;  // for a recovered session whose hello comes late

// The difference is signed, because sequences count modulo 2^32.
std::int32_t ahead_of(std::uint32_t sequence, std::uint32_t other) {
    return static_cast<std::int32_t>(sequence - other);
}

}  // namespace

// Counts a gap when frames of this stream are missing.
SessionReader::Order SessionReader::order_of(const protocol::FrameHeader& header, Core& core) {
    std::uint32_t& next = core.next_sequence[slot(header.stream)];
    // The first frame after the reset: the numbers below it were not lost.
    const bool resumes = sequences_from_ != 0 && ahead_of(next, sequences_from_) <= 0 &&
                         ahead_of(header.sequence, sequences_from_) >= 0;
    if (resumes) next = sequences_from_;
    const std::int32_t ahead = ahead_of(header.sequence, next);
    if (ahead < 0) {
        ++done_.duplicate_frames;
        return Order::seen;
    }
    if (ahead > 0) {
        // For a trace frame, the next records show the gap.
        if (header.stream != protocol::Stream::trace) ++done_.gaps;
        done_.lost_frames += static_cast<std::uint32_t>(ahead);
        if (jumps_.size() < jumps_kept) jumps_.emplace_back();
        jumps_[jump_count_++ % jumps_kept] = {header.stream, next, header.sequence};
    }
    next = header.sequence + 1;
    return ahead > 0 || resumes ? Order::jumped : Order::next;
}

// The line may bring a frame twice: then it equals the last one. If another frame has an old
// number, the target used numbers twice; the model's state for the next frames is unknown.
void SessionReader::mind_repeated(Core& core, const protocol::FrameHeader& header,
                                  std::span<const std::uint8_t> payload) {
    const bool is_last = header.sequence + 1 == core.next_sequence[slot(header.stream)];
    if (!is_last || !std::ranges::equal(payload, core.last_trace)) core.trace.lose();
}

// After a reset, the target sends the rest of the session, and says so in one or more hellos.
void SessionReader::resume(const HelloInfo& info) {
    const bool is_first = !hello_.recovered;
    if (is_first) ++done_.recovered_sessions;
    hello_.recovered = true;
    if (info.sequences_from == 0) {
        // An older target may use numbers twice: the model's state for its frames is unknown.
        for (const auto& core : cores_) {
            if (core && is_first) core->trace.lose();
        }
        return;
    }
    if (ahead_of(info.sequences_from, sequences_from_) <= 0) return;
    sequences_from_ = hello_.sequences_from = info.sequences_from;
    // Some streams have already continued after the reset.
    for (Jump& jump : jumps_) forgive(jump);
}

// Takes back the loss of numbers that the reset skipped.
void SessionReader::forgive(Jump& jump) {
    if (ahead_of(sequences_from_, jump.from) <= 0 || ahead_of(jump.to, sequences_from_) < 0) return;
    done_.lost_frames -= sequences_from_ - jump.from;
    if (jump.to == sequences_from_ && jump.stream != protocol::Stream::trace) --done_.gaps;
    jump.from = sequences_from_;
}

}  // namespace nopscope::host
